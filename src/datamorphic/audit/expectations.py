"""`Expectations`: what the user declares about a model, in Python or in a TOML or YAML file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from .._text import suggest_name
from .._typing import FilePath
from .._validation import reject, validate_choice
from ..errors import DataError, PromiseError, UsageError
from ..morphisms.subject import SubjectUnderTest
from ..relations.algebra.base import MetamorphicRelation, SystemRelation
from ..relations.algebra.feature import DIRECTION_SIGNS, Monotone
from ..relations.catalogue.promises import Promises, read_promises
from ..relations.learners.base import LearnerRelation
from ..space.document_files import read_document
from ..space.labels import to_label_key
from ..space.space import Space

EXPECTATION_KEYS = ("monotone", "invariant", "protected", "outcome", "relations")
FORMER_KEYS = {"towards": "outcome"}


#: A mapping of expectations, relations of the user, or the path of a TOML or YAML file.
ExpectLike: TypeAlias = (
    Mapping[str, Any] | MetamorphicRelation | Sequence[MetamorphicRelation] | str | os.PathLike[str] | None
)
#: The path of a promises file, or the promises of one.
PromisesLike: TypeAlias = Promises | str | os.PathLike[str] | None


@dataclass(frozen=True, kw_only=True)
class Expectations:
    """What a model is expected to satisfy."""

    monotone: Mapping[str, str]  # "up" if more of a feature must not lower the answer, "down" if not raise it
    invariant: tuple[str, ...] = ()  # features that must not matter
    protected: tuple[str, ...] = ()  # features on which the decision must not depend, such as attributes of people
    outcome: Any = None  # the class that "up" makes more likely
    relations: tuple[MetamorphicRelation, ...] = ()  # of the user
    promises: Promises | None = None  # where some of these come from

    @property
    def model_relations(self) -> list[SystemRelation]:
        """The user's relations about the model as it is."""
        return [relation for relation in self.relations if isinstance(relation, SystemRelation)]

    @property
    def learner_relations(self) -> dict[str, LearnerRelation]:
        """The user's relations about training, by name."""
        return {relation.name: relation for relation in self.relations if isinstance(relation, LearnerRelation)}

    def validate_subject(self, subject: SubjectUnderTest, columns: Sequence[str]) -> None:
        """Raise `DataError` if an expectation names a feature or a class that does not exist; `columns` are those of the data."""
        if self.promises is not None:
            self.promises.validate(subject.seeds.space, subject.sut.labels, columns)
        self.validate_features(subject.seeds.space, columns)
        for relation in self.build_monotone_relations():
            relation.find_obstacle(subject.sut, subject.seeds)  # raises if `towards` is not a class of the model

    def validate_features(self, space: Space, unused_columns: Collection[str] = ()) -> None:
        """Raise `DataError` if an expectation names a feature that does not exist.

        Invariant and protected features need not be inputs of the model: other columns of the data are accepted.
        """
        for expectation, names, allowed in (
            ("monotone", self.monotone, ()),
            ("invariant", self.invariant, unused_columns),
            ("protected", self.protected, unused_columns),
        ):
            for name in names:
                if name not in space.names and name not in allowed:
                    raise DataError(
                        f"{name!r} is declared {expectation}, but is not an input of the model. "
                        f"{suggest_name(name, space.names)}"
                    )

    def build_monotone_relations(self) -> list[Monotone]:
        """Return the declared directions as relations."""
        relations = []
        for name, direction in self.monotone.items():
            relation = Monotone(name, direction, self.outcome)
            promise = None if self.promises is None else self.promises.columns.get(name)
            if promise is not None:
                relation.low, relation.high, relation.unavailable = promise.low, promise.high, promise.unavailable
            relations.append(relation)
        return relations

    def add_promises(self, promises: Promises) -> Expectations:
        """Return the expectations with those of a promises file; contradictions are refused."""

        def fail(line: int, message: str) -> PromiseError:
            return PromiseError(message, file=promises.file, line=line)

        outcome, own_outcome = promises.outcome, self.outcome
        if outcome is not None and own_outcome is not None and to_label_key(outcome) != to_label_key(own_outcome):
            raise fail(
                promises.outcome_line,
                f"the promises are about {outcome!r}, but the other expectations are about {own_outcome!r}. Name one class.",
            )
        for name, promise in promises.columns.items():
            direction, declared = promises.monotone.get(name), self.monotone.get(name)
            sign, declared_sign = (None if text is None else DIRECTION_SIGNS[text] for text in (direction, declared))
            is_fixed = name in self.invariant or name in self.protected
            if (declared is not None and sign != declared_sign) or (direction is not None and is_fixed):
                other = "must not matter" if declared is None else f"is declared {declared!r}"
                raise fail(promise.line, f"{name!r} {promise.kind} here, but {other} among the other expectations.")
        return replace(
            self,
            monotone={**self.monotone, **promises.monotone},
            invariant=tuple(dict.fromkeys([*self.invariant, *promises.invariant])),
            protected=tuple(dict.fromkeys([*self.protected, *promises.protected])),
            outcome=outcome if own_outcome is None else own_outcome,
            relations=(*self.relations, *promises.build_relations(own_outcome).values()),
            promises=promises,
        )


def parse_promises_option(promises: PromisesLike, owner: str) -> Promises | None:
    """Return the promises that a user passed, or the path of: the file is read."""
    if promises is None or isinstance(promises, Promises):
        return promises
    if not isinstance(promises, str | os.PathLike):
        reject("promises", owner, "the path of a promises file", promises)
    return read_promises(promises)


def parse_expectations(expect: ExpectLike = None, protected: Sequence[str] | str = ()) -> Expectations:
    """Return expectations from a mapping, relations, or the path of a TOML or YAML file."""
    if expect is None:
        expect = {}
    elif isinstance(expect, str | os.PathLike):
        expect = read_expectations(expect)
    elif isinstance(expect, MetamorphicRelation):
        expect = {"relations": [expect]}
    elif isinstance(expect, Sequence) and expect and all(isinstance(item, MetamorphicRelation) for item in expect):
        expect = {"relations": list(expect)}
    if not isinstance(expect, Mapping):
        reject("expect", "test", "a mapping, relations, or the path of a TOML or YAML file", expect)
    expect = _rename_former_keys(expect)
    for name in expect:
        if name not in EXPECTATION_KEYS:
            raise DataError(f"{name!r} is not a known expectation. {suggest_name(name, EXPECTATION_KEYS)}")
    monotone = expect.get("monotone") or {}
    if not isinstance(monotone, Mapping):
        reject("monotone", "expect", 'a mapping of features to "up" or "down"', monotone)
    for name, direction in monotone.items():
        validate_choice(f"monotone.{name}", "expect", direction, DIRECTION_SIGNS)
    relations = expect.get("relations") or ()
    if isinstance(relations, str) or not all(isinstance(item, MetamorphicRelation) for item in relations):
        reject("relations", "expect", "relations (objects, so only in Python)", relations)
    protected_names = [
        *_validate_option_names("protected", expect.get("protected")),
        *_validate_option_names("protected", protected),
    ]
    return Expectations(
        monotone={str(name): str(direction) for name, direction in monotone.items()},
        invariant=_validate_option_names("invariant", expect.get("invariant")),
        protected=tuple(dict.fromkeys(protected_names)),
        outcome=expect.get("outcome"),
        relations=tuple(relations),
    )


def merge_expectations(request: Mapping[str, Any], file: FilePath | None = None) -> dict[str, Any]:
    """Return the expectations in a request, ``{"monotone": ["income=up"], ...}``, which win over those of a file."""
    expectations = {} if file is None else _rename_former_keys(read_expectations(file))
    directions = {}
    for text in request.get("monotone") or ():
        name, _, direction = str(text).rpartition("=")
        directions[name] = direction
        if not name:
            raise UsageError(f"--monotone takes a feature and a direction, as in income=up. Got {text!r}.")
    if directions:
        expectations["monotone"] = {**(expectations.get("monotone") or {}), **directions}
    if request.get("invariant"):
        expectations["invariant"] = [*(expectations.get("invariant") or ()), *request["invariant"]]
    if request.get("towards") is not None:
        expectations["outcome"] = request["towards"]
    return expectations


def _rename_former_keys(expect: Mapping[str, Any]) -> dict[str, Any]:
    """Return expectations by the names that they have today."""
    for former in FORMER_KEYS.keys() & expect.keys():
        warnings.warn(
            f"The expectation {former!r} is now called {FORMER_KEYS[former]!r}.", DeprecationWarning, stacklevel=3
        )
    return {FORMER_KEYS.get(name, name): value for name, value in expect.items()}


def _validate_option_names(key: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
        reject(key, "expect", "the names of features", value)
    return tuple(value)


def read_expectations(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a TOML, YAML or JSON file declares, without evaluating anything in it."""
    return read_document(path, "expectations", 'monotone = {income = "up"}')
