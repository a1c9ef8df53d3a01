"""The system that the guide is about: its inputs with their ranges, its answers, and trials of patterns on it."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._text import format_short, pluralise, suggest_name
from ...errors import DatamorphicWarning, SystemFailed, WrongAnswer
from ...morphisms.subject import SubjectUnderTest, build_subject
from ...runs.driver import drive
from ...space.answers import is_collection
from ...space.features import Categorical, Continuous, Feature, Integer
from ...space.points import Rows
from ...space.space import Space
from ...space.text_feature import Text
from ...systems.base import Function
from ..algebra.base import INAPPLICABLE, JudgedGroups, Mask
from ..patterns.outputs import Equal
from ..patterns.relation import Answers, InputPattern, PatternRelation
from .steps import NONE, format_item, pick_names, read_list, read_number, read_range, split_settings

TRIAL_CASES = 100  # on which a change is tried to see what the answers do
TEST_CASES = 300  # of the relation in the end, and of the test that is written
MAX_LISTED_VALUES = 8
MAX_CATEGORIES = 30  # more different texts are free text
MAX_LISTED_COLUMNS = 30


@dataclass(frozen=True, kw_only=True)
class InputParameter:
    """An input of the system with the values it may have."""

    name: str
    kind: str  # "number", "whole number", "category" or "text"
    low: float = math.nan
    high: float = math.nan
    values: tuple[Any, ...] = ()  # of a category; some of a text

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.kind in ("number", "whole number")

    def describe(self) -> str:
        """Return its range in words."""
        if self.is_number:
            return f"{self.name}: {self.kind}s from {self.low:g} to {self.high:g}"
        values = ", ".join(format_short(value) for value in self.values[:MAX_LISTED_VALUES])
        return f"{self.name}: {values}{', ...' if len(self.values) > MAX_LISTED_VALUES or self.kind == 'text' else ''}"

    def read_value(self, text: str) -> Any:
        """Return a text as a value of this input: a number, a known category, or the text."""
        if self.is_number:
            return read_number(text)
        for value in self.values:
            if str(value) == text:
                return value
        known_types = {type(value) for value in self.values}
        if known_types and known_types <= {int, float}:
            return read_number(text)
        return text


@dataclass(frozen=True, kw_only=True)
class TriedChange:
    """What a change of the inputs did to the answers."""

    input: InputPattern
    groups: JudgedGroups

    @property
    def judged(self) -> Mask:
        """The groups to which the change applies and whose cases were all answered."""
        judged = (self.groups.verdicts != INAPPLICABLE) & self.groups.before.ok & self.groups.after.ok
        for _, outputs in self.groups.further:
            judged = judged & outputs.ok
        return judged

    @property
    def before(self) -> Answers:
        """The answers to the source cases."""
        return self.groups.before.values[self.judged]

    @property
    def afters(self) -> list[Answers]:
        """The answers to the follow-up cases, one array per follow-up."""
        outputs = [self.groups.after, *(item for _, item in self.groups.further)]
        return [item.values[self.judged] for item in outputs]

    @property
    def frame(self) -> pd.DataFrame:
        """The source cases."""
        return self.groups.source.take(np.flatnonzero(self.judged)).frame


@dataclass(frozen=True, kw_only=True)
class GuidedSystem:
    """A system with its inputs, as the answers to the first questions describe it."""

    model_name: str  # as it was named: a file, or module:object
    data_name: str  # as it was named; "none" if the inputs are drawn from ranges
    model: Any
    subject: SubjectUnderTest
    inputs: tuple[InputParameter, ...]
    frame: pd.DataFrame | None  # the data as they were read
    ranges: Mapping[str, tuple[float, float]]  # that the user set; rows outside of them are left out
    outcome: int | None = None  # the class whose probability counts as the answer, as its position
    outcome_label: Any = None  # that class
    trust: bool = False
    seed: int = 0

    @property
    def name(self) -> str:
        """The name of the system in reports."""
        return self.subject.name

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs."""
        return [parameter.name for parameter in self.inputs]

    def find_input(self, name: str) -> InputParameter | None:
        """Return an input by its name."""
        return next((parameter for parameter in self.inputs if parameter.name == name), None)

    @property
    def outcomes(self) -> tuple[Any, ...]:
        """The classes whose probabilities the system can answer."""
        has_probabilities = self.subject.sut.score_kind == "probability" and self.subject.sut.labels
        return tuple(self.subject.sut.labels or ()) if has_probabilities else ()

    @property
    def outcomes_text(self) -> str:
        """The class whose probability counts as the answer, in words."""
        return "" if self.outcome is None else str(self.outcome_label)

    def with_outcome(self, outcome: int) -> GuidedSystem:
        """Return the system whose answer is the probability of a class."""
        inner, rows = self.subject.sut, self.subject.seeds

        def answer(frame: pd.DataFrame) -> Any:
            scores = inner.execute(Rows(frame), scores=True).scores  # changed rows may be outside the space
            if scores is None:
                raise SystemFailed(f"{inner.name} answered no probabilities.")
            return scores[:, outcome]

        system = Function(answer, rows.space, name=inner.name)
        return replace(
            self, subject=replace(self.subject, sut=system), outcome=outcome, outcome_label=self.outcomes[outcome]
        )

    @cached_property
    def answers(self) -> Answers:
        """The answers to some cases, without those that failed."""
        groups = self._drive(PatternRelation(_Unchanged(), Equal()), TRIAL_CASES)
        return groups.before.values[groups.before.ok]

    def try_input(self, change: InputPattern, count: int = TRIAL_CASES) -> TriedChange:
        """Change some cases, and return what the answers did."""
        tried = TriedChange(input=change, groups=self._drive(PatternRelation(change, Equal()), count))
        if not tried.judged.any():
            applicable = int((tried.groups.verdicts != INAPPLICABLE).sum())
            reason = "applies to none of them" if not applicable else "leads to cases that get no answer"
            raise WrongAnswer(
                f"The change ({change.describe()}) {reason}: {pluralise(len(tried.groups), 'case')} were tried. Expected a change "
                "that applies to some cases."
            )
        return tried

    def try_relation(self, relation: PatternRelation, count: int = TEST_CASES) -> JudgedGroups:
        """Return the verdicts of a relation on some cases."""
        return self._drive(relation, count)

    def _drive(self, relation: PatternRelation, count: int) -> JudgedGroups:
        points = self.subject.seeds.take(slice(0, count))
        with _explain_errors(relation.input.describe() if relation.input.pattern else "the query"):
            flow = relation.check(points, np.random.default_rng(self.seed))
            return drive(flow, self.subject.sut, progress=False, recheck=0)


class _Unchanged(InputPattern):
    """No change: the answers to the source cases alone count."""

    def describe(self) -> str:
        return "nothing changes"

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        return [frame]


@contextmanager
def _explain_errors(change: str) -> Iterator[None]:
    """Turn errors of a pattern that met unsuitable values into wrong answers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DatamorphicWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            yield
    except (TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise WrongAnswer(
            f"The change ({change}) cannot be made with these inputs: {type(error).__name__}: {format_short(error)}."
        ) from error


# -- inputs ------------------------------------------------------------------------------------------------------------


def open_system(
    *, model_name: str, model: Any, data_name: str, data: Any, target: str | None, trust: bool, seed: int
) -> GuidedSystem:
    """Return the system with the inputs that its data have; it is tried on a few of them.

    `data` is a frame, or a space to draw cases from.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DatamorphicWarning)
        subject = build_subject(
            model, data, target=target, seeds=TEST_CASES, rng=np.random.default_rng(seed), owner="guide"
        )
    frame = None if isinstance(data, Space) else data
    system = GuidedSystem(
        model_name=model_name,
        data_name=data_name,
        model=model,
        subject=subject,
        inputs=tuple(map(describe_feature, subject.seeds.space.features)),
        frame=frame,
        ranges={},
        trust=trust,
        seed=seed,
    )
    if not len(system.answers):
        raise SystemFailed(f"{subject.name} answers none of the first {TRIAL_CASES} cases. {subject.sut.hint}".strip())
    return system


def describe_feature(feature: Feature) -> InputParameter:
    """Return a feature as an input of a system."""
    if isinstance(feature, Text):
        return InputParameter(name=feature.name, kind="text", values=tuple(feature.examples[: MAX_CATEGORIES + 1]))
    if isinstance(feature, Categorical):
        kind = "category" if len(feature.values) <= MAX_CATEGORIES else "text"
        return InputParameter(name=feature.name, kind=kind, values=tuple(feature.values))
    kind = "whole number" if isinstance(feature, Integer) else "number"
    return InputParameter(name=feature.name, kind=kind, low=feature.low, high=feature.high)


def restrict_ranges(system: GuidedSystem, text: str) -> GuidedSystem:
    """Return the system with ranges as an answer sets them; the cases outside of them are left out."""
    ranges = {}
    for name, setting in split_settings(text):
        parameter = system.find_input(pick_names([name], system.input_names, "input")[0])
        assert parameter is not None
        bounds = read_range(setting)
        if bounds is None or not parameter.is_number:
            raise WrongAnswer(
                f"{name} = {format_short(setting)} is not understood. Expected a range of a number, such as: age = 18 to 70."
            )
        ranges[parameter.name] = bounds
    points = system.subject.seeds
    within = np.ones(len(points), dtype=bool)
    for name, (low, high) in ranges.items():
        values = points.frame[name]
        within &= np.asarray((values >= low) & (values <= high), dtype=bool)
    if not within.any():
        raise WrongAnswer("No case is inside these ranges. Expected ranges that some of the data are in.")
    inputs = tuple(
        replace(item, low=ranges[item.name][0], high=ranges[item.name][1]) if item.name in ranges else item
        for item in system.inputs
    )
    subject = replace(system.subject, seeds=points.take(np.flatnonzero(within)))
    return replace(system, subject=subject, inputs=inputs, ranges=ranges)


def read_space(text: str) -> Space:
    """Return the space of inputs that an answer describes: ``x = -10 to 10; n = 0 to 5 whole; sort = up, down``.

    Examples
    --------
    >>> read_space("x = -1 to 1; n = 0 to 5 whole; sort = up, down").names
    ('x', 'n', 'sort')
    """
    features: list[Feature] = []
    for name, setting in split_settings(text):
        whole = setting.endswith(" whole")
        bounds = read_range(setting.removesuffix(" whole"))
        if bounds is not None:
            features.append(Integer(name, *map(round, bounds)) if whole else Continuous(name, *bounds))
        elif setting == "?":
            raise WrongAnswer(f"The range of {name} is missing. Expected: {name} = low to high, or {name} = a, b, c.")
        else:
            features.append(Categorical(name, read_list(setting)))
    if not features:
        raise WrongAnswer("There is no input. Expected at least one: x = -10 to 10.")
    return Space(features)


def list_parameters(model: Any) -> list[str]:
    """Return the names of the parameters of a function of one case; empty if they are not known."""
    try:
        parameters = inspect.signature(model).parameters.values()
    except (TypeError, ValueError):
        return []
    names = [item.name for item in parameters if item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)]
    return [] if names in (["frame"], ["rows"], ["case"], ["X"]) else names


def describe_inputs(system: GuidedSystem) -> str:
    """Return the inputs with their ranges, one per line."""
    lines = [f"  {parameter.describe()}" for parameter in system.inputs[:MAX_LISTED_COLUMNS]]
    if len(system.inputs) > MAX_LISTED_COLUMNS:
        lines.append(f"  ... and {len(system.inputs) - MAX_LISTED_COLUMNS} more")
    return "\n".join(lines)


# -- answers -----------------------------------------------------------------------------------------------------------


def find_answer_kind(answers: Answers) -> str:
    """Return what the answers are: "number", "label", "text", "list", "set" or "dict"."""
    if answers.dtype.kind in "iuf":
        return "number"
    if not len(answers):
        return "label"
    first = answers[0]
    if isinstance(first, Mapping):
        return "dict"
    if isinstance(first, set | frozenset):
        return "set"
    if is_collection(first):
        return "list"
    is_text = isinstance(first, str) and len(set(answers.tolist())) > min(MAX_CATEGORIES, len(answers) // 2)
    return "text" if is_text else "label"


def list_parts(answers: Answers) -> list[str]:
    """Return the keys that all answers have, if they are dicts."""
    if find_answer_kind(answers) != "dict":
        return []
    keys = [key for key in answers[0] if isinstance(key, str)]
    return [key for key in keys if all(isinstance(item, Mapping) and key in item for item in answers)]


def describe_answers(answers: Answers) -> str:
    """Return what the system answers, in words."""
    kind = find_answer_kind(answers)
    if kind == "number":
        return f"It answers numbers, here from {answers.min():g} to {answers.max():g}."
    if kind == "label":
        labels = sorted({str(answer) for answer in answers})
        listing = ", ".join(format_short(label) for label in labels[:MAX_LISTED_VALUES])
        return f"It answers {pluralise(len(labels), 'label')} here: {listing}{', ...' if len(labels) > 8 else ''}."
    if kind == "dict":
        return f"It answers records with the parts {', '.join(list_parts(answers)) or 'none in common'}."
    if kind == "text":
        return f"It answers texts, such as {format_short(answers[0])!r}."
    sizes = [len(answer) for answer in answers if is_collection(answer)]
    return f"It answers {kind}s of {min(sizes)} to {max(sizes)} items."


def suggest_ranges(names: list[str]) -> str:
    """Return the beginning of an answer that gives every parameter a range."""
    return "; ".join(f"{name} = -10 to 10" for name in names) if names else ""


def read_target(text: str, columns: list[str]) -> str | None:
    """Return the column of the labels; None without one."""
    if text == NONE:
        return None
    if text not in columns:
        raise WrongAnswer(f"There is no column {format_short(text)!r}. {suggest_name(text, columns)}")
    return text


def format_values(values: tuple[Any, ...], limit: int = 3) -> str:
    """Return some values of an input as an example of an answer."""
    return ", ".join(format_item(value) for value in values[:limit])
