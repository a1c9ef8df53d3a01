"""Which relations a learner must keep, how strictly, and why.

A relation that a learner must keep is *necessary*: a violation is a fault of the implementation. Any other is a
hypothesis, and a violation tells how the algorithm behaves. When in doubt, a relation is not necessary.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from .._checks import one_of
from ..sut.training import Training
from .promised import PROMISES
from .stances import (
    CONSTANTS,
    COPIES,
    FLIPPED,
    INFORMED,
    OVERRULED,
    REMOVALS,
    SAME,
    STRICTNESS,
    UNDONE,
    Rows,
    Stance,
    Strictness,
    may,
)
from .unless import UNLESS

__all__ = ["STRICTNESS", "Stance", "Strictness", "known", "overridden", "stance"]

_SCALERS = ("MinMaxScaler", "StandardScaler")
# blind to labels, and nothing in them is left to chance
_BLIND = (*_SCALERS, "MaxAbsScaler", "OneHotEncoder", "OrdinalEncoder", "RobustScaler", "SimpleImputer")
_OF_LABELS = (*SAME, "MR-1.1", "MR-4.2")  # nothing but labels changes
_OF_ROWS = ("MR-3.1", "MR-3.2", "MR-3.2 odds", *COPIES, *REMOVALS)  # there are more or fewer rows
_OF_COLUMNS = ("MR-1.2", *CONSTANTS, *INFORMED, "MR-NBC", "sample order")  # no column gets another scale


def stance(relation: str, learner: Any, data: Training | None = None) -> Stance:
    """Return whether a learner must keep a relation, how strictly, and why.

    Knows the learners of scikit-learn, alone or as the last step of a `Pipeline`. An implementation of your own of one
    of these algorithms says so with an attribute `like`: the estimator of scikit-learn whose algorithm it is.

    Some relations are necessary on most data only: give the `data` that are used, and the answer is about them.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> stance("MR-1.1", KNeighborsClassifier(1)).necessary
    True
    >>> stance("MR-1.1", KNeighborsClassifier(3))
    Stance(necessary=False, strictness='expected_failure', reason='a tied vote goes to the label that sorts first')
    """
    *steps, last = _steps(learner)
    name = _name(last)
    scaler = next((_name(step) for step in reversed(steps) if _name(step) in _SCALERS), "")
    rows: Rows = PROMISES[name](last, scaler) if name in PROMISES else {}
    unlike = getattr(learner, "unlike", None)
    if isinstance(unlike, Mapping) and relation in unlike:
        return may(str(unlike[relation]))
    left = relation
    for step in steps:
        left = _left(step, left)
        if not left and _name(step) in _SCALERS and relation in _OF_ROWS:
            return may(f"{_name(step)} learns from the changed rows, too")
        if not left:
            return may(f"{relation} with a step {type(step).__name__} is not in the table")
        if data is not None:
            data = _scaled(step, data) if _name(step) in _SCALERS else None
    if left == "overruled" and rows:
        rows = {left: OVERRULED, **rows}
    if left not in rows:
        return may(f"{relation} of {type(last).__name__} is not in the table")
    row = rows[left]
    if row.necessary and left == UNDONE:
        row = replace(row, reason=f"{scaler} undoes the map")
    if row.necessary and data is not None and left not in SAME and name in UNLESS:
        why = UNLESS[name](left, last, data)
        return may(why) if why else row
    return row


def known(learner: Any) -> bool:
    """Tell whether the table has a learner at all.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> known(GaussianNB()), known(make_pipeline(PCA(), GaussianNB())), known(object())
    (True, False, False)
    """
    *steps, last = _steps(learner)
    return _name(last) in PROMISES and all(_left(step, "refit") for step in steps)


def overridden(view: Stance, strictness: str | None = None, expected_failure: str | None = None) -> Stance:
    """Return a stance as a user has it: judged in another way, or known to be violated, for a reason.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> overridden(stance("sample order", SVC()), expected_failure="our solver stops early").strictness
    'expected_failure'
    """
    if expected_failure is not None:
        return Stance(False, "expected_failure", expected_failure)
    if strictness is None:
        return view
    one_of("strictness", "overridden", strictness, STRICTNESS)
    necessary = view.necessary and strictness != "expected_failure"
    return replace(view, necessary=necessary, strictness=cast(Strictness, strictness))


def _left(step: Any, relation: str) -> str:
    """Return which relation the learner sees when a transformer stands before it; empty where nobody knows."""
    name = _name(step)
    if name == "MinMaxScaler" or (name == "StandardScaler" and step.with_mean and step.with_std):
        if relation in ("MR-0", UNDONE):
            return UNDONE
        if relation in ("MR-0 mirrored", "MR-0 subset", FLIPPED):
            return FLIPPED
        if relation in _OF_COLUMNS:
            return relation
    parts = [step]
    if name == "ColumnTransformer":
        chosen = (*(part[1] for part in step.transformers), step.remainder)
        parts = [part for part in chosen if not isinstance(part, str)]
    blind = all(_name(each) in _BLIND for part in parts for each in _steps(part))
    return relation if blind and relation in _OF_LABELS else ""


def _scaled(step: Any, data: Training) -> Training | None:
    """Return data as a scaler hands them on; none where it refuses them, and there is nothing to be learnt."""
    from sklearn.base import clone

    with suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return data.with_numbers(clone(step).fit(data.numbers[: len(data.y)]).transform(data.numbers))
    return None


def _steps(learner: Any) -> list[Any]:
    """Return the steps of a pipeline, also of one within another; the learner, or what it is like, where it is none."""
    if _name(learner) == "Pipeline":
        steps = [step for _, step in learner.steps if step is not None and not isinstance(step, str)]
        return [each for step in steps for each in _steps(step)] or [learner]
    like = None
    with suppress(Exception):  # whatever else it may mean to others
        like = getattr(learner, "like", None)
    return _steps(like) if not _name(learner) and _name(like) else [learner]


def _name(learner: Any) -> str:
    """Return the name of a class of scikit-learn itself; a class derived from it may be anything."""
    kind = type(learner)
    return kind.__name__ if kind.__module__.partition(".")[0] == "sklearn" else ""
