"""Which relations a learner must satisfy, how strictly, and why.

A relation that a learner must satisfy is *necessary*: a violation is a fault of the implementation. Any other relation is
a hypothesis, and a violation shows how the algorithm behaves. In doubt, a relation is not necessary.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from ..._typing import SupportsFit
from ..._validation import validate_choice
from ...systems.learner import read_parameters
from ...systems.training import Training
from ...systems.traits import read_traits
from .exemptions import EXEMPTIONS
from .requirement import (
    INFORMATIVE_RELATIONS,
    SCALING_UNDONE,
    SIGNS_FLIPPED,
    STRICTNESS,
    EstimatorParameters,
    Requirement,
    RequirementTable,
    Strictness,
    may_fail,
)
from .table import build_requirements, read_learners

__all__ = ["STRICTNESS", "Requirement", "Strictness", "find_requirement", "is_known_learner", "override_requirement"]

_SCALERS = ("MinMaxScaler", "StandardScaler")
# transformers that ignore the labels and are deterministic
_LABEL_BLIND_STEPS = (*_SCALERS, "MaxAbsScaler", "OneHotEncoder", "OrdinalEncoder", "RobustScaler", "SimpleImputer")
# they hold on all data
_SHARED_RELATIONS = (
    *("refit", "queried again", "queried alone", "queried backwards", "label renaming", "label type"),
    *("fitted before", "frames", "accepts sparse", "answers", "probabilities"),
    *("fitted to other rows", "rows in frames", "sparse rows", "rows answered", "one place"),
)
_LABEL_RELATIONS = (*_SHARED_RELATIONS, "unit weights", "MR-1.1", "MR-4.2")  # no row changes
_ROW_RELATIONS = (  # the rows change
    *("MR-3.1", "MR-3.2", "MR-3.2 odds", "MR-4.1", "MR-4.1 subset", "MR-5.1", "MR-5.2"),
    *("row on its centre", "far cluster"),
)
_COLUMN_RELATIONS = (  # no column is scaled, so a scaler gives the same numbers
    *("MR-1.2", "MR-2.1", "constant column", *INFORMATIVE_RELATIONS, "MR-NBC", "sample order"),
    *("fitted again", "rows reordered", "rows doubled", "features reordered", "constant feature", "equal rows"),
)


def find_requirement(relation: str, learner: object, data: Training | None = None) -> Requirement:
    """Return whether a learner must satisfy a relation, how strictly, and why.

    The table has the learners of scikit-learn, alone or as the last step of a `Pipeline`. Your own implementation of one of
    these algorithms says so with an attribute `like`: the estimator of scikit-learn whose algorithm it implements.

    Some relations are necessary on most data only. With `data`, the answer is about these data.
    """
    *steps, last = _list_steps(learner)
    name = _get_sklearn_name(last)
    scaler = next((_get_sklearn_name(step) for step in reversed(steps) if _get_sklearn_name(step) in _SCALERS), "")
    learner_row = read_learners().get(name) if _has_known_parts(last) else None
    table = build_requirements(learner_row, last, scaler) if learner_row else {}
    unlike = getattr(learner, "unlike", None)
    if isinstance(unlike, Mapping) and relation in unlike:
        return may_fail(str(unlike[relation]))
    inner_relation = relation
    for step in steps:
        inner_relation = _map_through_step(step, inner_relation)
        if not inner_relation and _get_sklearn_name(step) in _SCALERS and relation in _ROW_RELATIONS:
            return may_fail(f"{_get_sklearn_name(step)} learns from the changed rows as well")
        if not inner_relation:
            return build_general_requirements(learner).get(relation) or may_fail(
                f"it is unknown whether {relation} must hold in a pipeline with {type(step).__name__}"
            )
        if data is not None:
            data = _scale(step, data) if _get_sklearn_name(step) in _SCALERS else None
    if inner_relation not in table:
        return build_general_requirements(learner).get(relation) or may_fail(
            f"it is unknown whether {type(last).__name__} must satisfy {relation}"
        )
    row = table[inner_relation]
    if (
        steps and relation not in _LABEL_RELATIONS
    ):  # a scaler adds up other rows, or in another order, and rounds differently
        row = replace(row, ties=True)
    if row.necessary and inner_relation == SCALING_UNDONE:
        row = replace(row, reason=f"{scaler} undoes the change of scale")
    if row.necessary and data is not None and inner_relation not in _SHARED_RELATIONS:
        exempt = EXEMPTIONS.get(learner_row.exemption if learner_row else "")
        exemption = exempt(inner_relation, last, data) if exempt else ""
        return may_fail(exemption) if exemption else row
    return row


def build_general_requirements(learner: object) -> RequirementTable:
    """Return what every learner of a known library must satisfy, whatever its algorithm; nothing for other learners."""
    traits = read_traits(learner)
    row = read_learners().get(f"any {traits.kind}")
    if row is None or not (traits.is_known_library and traits.repeatable and _has_known_parts(learner)):
        return {}
    return build_requirements(row, cast(EstimatorParameters, learner), "")


def _has_known_parts(learner: object) -> bool:
    """Return whether the learners that are parameters of a learner, at any depth, keep the conventions of scikit-learn."""
    parts = [read_traits(part) for part in read_parameters(learner).values() if hasattr(part, "fit")]
    return all(part.is_known_library and part.repeatable for part in parts)


def is_known_learner(learner: object) -> bool:
    """Return whether the table has a learner."""
    *steps, last = _list_steps(learner)
    row = read_learners().get(_get_sklearn_name(last))
    if row is not None and row.kind == "clusterer":
        return all(_get_sklearn_name(step) in _SCALERS for step in steps)
    return row is not None and all(_map_through_step(step, "refit") for step in steps)


def override_requirement(
    requirement: Requirement, strictness: str | None = None, expected_failure: str | None = None
) -> Requirement:
    """Return a requirement with the strictness or the failure that the user expects."""
    if expected_failure is not None:
        return Requirement(False, "expected_failure", expected_failure)
    if strictness is None:
        return requirement
    validate_choice("strictness", "check", strictness, STRICTNESS)
    necessary = requirement.necessary and strictness != "expected_failure"
    return replace(requirement, necessary=necessary, strictness=cast(Strictness, strictness))


def _map_through_step(step: EstimatorParameters, relation: str) -> str:
    """Return the relation that a learner behind a transformer sees, if known."""
    name = _get_sklearn_name(step)
    if name == "MinMaxScaler" or (name == "StandardScaler" and step.with_mean and step.with_std):
        if relation in ("MR-0", SCALING_UNDONE, "all features scaled", "all features shifted"):
            return SCALING_UNDONE
        if relation in ("MR-0 mirrored", "MR-0 subset", SIGNS_FLIPPED):
            return SIGNS_FLIPPED
        if relation in _COLUMN_RELATIONS:
            return relation
    parts = [step]
    if name == "ColumnTransformer":
        transformers = (*(part[1] for part in step.transformers), step.remainder)
        parts = [part for part in transformers if not isinstance(part, str)]
    blind = all(_get_sklearn_name(substep) in _LABEL_BLIND_STEPS for part in parts for substep in _list_steps(part))
    return relation if blind and relation in _LABEL_RELATIONS else ""


def _scale(step: SupportsFit, data: Training) -> Training | None:
    """Return data as a scaler transforms them; None if it rejects them."""
    from sklearn.base import clone

    with suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return data.with_numbers(clone(step).fit(data.numbers[: len(data.y)]).transform(data.numbers))
    return None


def _list_steps(learner: object) -> list[Any]:
    """Return the steps of a pipeline, or the learner itself or what it is like."""
    if _get_sklearn_name(learner) == "Pipeline":
        named_steps = getattr(learner, "steps", [])
        steps = [step for _, step in named_steps if step is not None and not isinstance(step, str)]
        return [substep for step in steps for substep in _list_steps(step)] or [learner]
    like = None
    with suppress(Exception):  # the attribute may have another meaning, and raise anything
        like = getattr(learner, "like", None)
    return _list_steps(like) if not _get_sklearn_name(learner) and _get_sklearn_name(like) else [learner]


def _get_sklearn_name(learner: object) -> str:
    """Return the name of a class of scikit-learn itself; else empty."""
    kind = type(learner)
    return kind.__name__ if kind.__module__.partition(".")[0] == "sklearn" else ""
