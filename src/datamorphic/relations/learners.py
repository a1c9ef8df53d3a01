"""Relations of learners: change the training data in a known way, and the labels must change in a known way.

The learner is fitted on the source data and on the follow-up data, and each test case gets a verdict. Whether a
violation is a fault depends on the learner: `datamorphic.relations.necessity` knows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from .._checks import one_of, plural, reject
from ..errors import TestSystemError, told
from .base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, Mask, Verdicts
from .necessity import FAILURES, STRICTNESS, Training, is_regressor, learnt, parameters

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

__all__ = ["LEARNER_RELATIONS", "Learned", "LearnerRelation", "Training", "check_learner"]

SUMS = 1e-6  # scores and real answers may differ by so much of their range: sums are taken in another order
HAIR = 1e-3  # of a column's middle half; much less makes new ties in single precision, which trees use
COPIES = 3  # with all numbers moved by a hair; most must show a violation again


class LearnerRelation:
    """A promise about a learner: train it on data changed in a known way, and its labels change in a known way.

    To make one of your own, say how the follow-up data are made; without `expected` the labels must stay.

    Attributes
    ----------
    name, says : str
        What it is called in reports and in the table of necessity; the promise in a sentence.
    shares : {"all", "label", "case"}
        Which test cases share one follow-up: all, those with one predicted label, or each has its own.
    regressors, scores : bool
        Whether it is about regressors, too; whether the scores of the classes must stay, too.
    firm : bool
        Whether a violation must show again in most copies of the data with all numbers moved by a hair. Of
        neighbours at equal distance one is taken by chance, and which one is nobody's promise.

    Examples
    --------
    >>> class Backwards(LearnerRelation):
    ...     name = "backwards"
    ...     says = "training rows in reverse order: the same labels"
    ...
    ...     def follow_up(self, data, labels, rng):
    ...         return Training(data.x[::-1], data.y[::-1], data.t)
    """

    name: str = ""
    says: str = ""
    shares: ClassVar[Literal["all", "label", "case"]] = "all"
    regressors: ClassVar[bool] = False
    scores: ClassVar[bool] = True
    firm: ClassVar[bool] = True

    def why_not(self, learner: Any, data: Training) -> str:
        """Return why the relation says nothing about a learner and data; an empty text where it does."""
        import pandas as pd

        if pd.isna(data.y).any():
            return "some training rows have no label"
        if is_regressor(learner, data.y):
            if not self.regressors:
                return "it is about labels, and the learner is given numbers"
        elif len(data.classes) < 2:
            return "the training rows are all of one class"
        for k in parameters(learner, "n_neighbors"):
            if isinstance(k, Integral) and int(k) > len(data.x):
                return f"the learner looks for {k} neighbours, and there are {plural(len(data.x), 'training row')}"
        return "" if (data.x.nunique(dropna=False) > 1).any() else "no attribute of the training rows varies"

    def follow_up(self, data: Training, labels: Array, rng: np.random.Generator) -> Training:
        """Return the follow-up data; `labels` are those that the source fit gave ``data.t``.

        Test cases must be as many and in the same order. Where they share by label, the labels are all the same.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how follow-up data are made: follow_up()")

    def expected(self, labels: Array, data: Training, made: Training) -> Array:
        """Return the label expected of the follow-up fit in place of each source label; by default the same."""
        return labels

    def groups(self, labels: Array) -> list[Places]:
        """Return, for each follow-up, the places of the test cases that share it."""
        if self.shares == "case":
            return [np.array([i]) for i in range(len(labels))]
        import pandas as pd

        codes = (
            pd.factorize(labels.astype(object))[0] if self.shares == "label" else np.zeros(len(labels), np.intp)
        )
        return [np.flatnonzero(codes == code) for code in range(codes.max(initial=-1) + 1)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


# -- the catalogue -------------------------------------------------------------------------------------------


class _SameMap(LearnerRelation):
    name = "MR-0"
    says = "all numbers, of training rows and test cases, mapped by one k*x + b with k > 0: the same labels"

    def why_not(self, learner: Any, data: Training) -> str:
        return super().why_not(learner, data) or ("" if _widths(data).any() else "no numeric attribute varies")

    def follow_up(self, data: Training, labels: Array, rng: np.random.Generator) -> Training:
        # a shift wider than the narrowest column would cost it digits, and labels differ with nobody to blame
        widths = _widths(data)
        b = widths[widths > 0].min() * rng.uniform(0.25, 1) * rng.choice([-1, 1])
        return data.with_numbers(rng.uniform(1.25, 2) ** rng.choice([-1, 1]) * data.numbers + b)


class _PermutedLabels(LearnerRelation):
    name = "MR-1.1"
    says = "the classes exchange their labels: predicted labels are exchanged alike"

    def follow_up(self, data: Training, labels: Array, rng: np.random.Generator) -> Training:
        return _relabelled(data, data.classes[_shuffled(len(data.classes), rng)])

    def expected(self, labels: Array, data: Training, made: Training) -> Array:
        import pandas as pd

        places, known = pd.factorize(data.y.astype(object))
        new = made.y[np.unique(places, return_index=True)[1]].astype(object)
        found = pd.Index(known, dtype=object).get_indexer(pd.Index(labels, dtype=object))
        return np.where(found < 0, labels.astype(object), new[found])


class _RenamedLabels(_PermutedLabels):
    name = "label renaming"
    says = "the classes get other names, which sort alike: predicted labels are renamed alike"
    firm = False  # the computation is the same to the last digit

    def why_not(self, learner: Any, data: Training) -> str:
        if any(isinstance(each, dict | list) for each in parameters(learner, "class_weight")):
            return "the learner's class_weight calls the classes by name"
        mixed = len({isinstance(label, str) for label in data.classes}) > 1
        return super().why_not(learner, data) or ("labels of several types have no order" if mixed else "")

    def follow_up(self, data: Training, labels: Array, rng: np.random.Generator) -> Training:
        width = len(str(len(data.classes)))
        return _relabelled(data, np.array([f"class {i:0{width}d}" for i in range(len(data.classes))]))


class _PermutedAttributes(LearnerRelation):
    name = "MR-1.2"
    says = "the attributes in another order: the same labels"
    regressors = True

    def why_not(self, learner: Any, data: Training) -> str:
        return super().why_not(learner, data) or ("" if data.x.shape[1] > 1 else "there is one attribute only")

    def follow_up(self, data: Training, labels: Array, rng: np.random.Generator) -> Training:
        order = _shuffled(data.x.shape[1], rng)
        return replace(data, x=data.x.iloc[:, order], t=data.t.iloc[:, order])


class _ConstantAttribute(LearnerRelation):
    name = "MR-2.1"
    says = "one attribute more, the last, with one value everywhere: the same labels"
    regressors = True

    def follow_up(self, data: Training, labels: Array, rng: np.random.Generator) -> Training:
        name: Any = "constant"
        while name in data.x.columns:
            name += "_"
        if all(isinstance(each, Integral) for each in data.x.columns):
            name = max(data.x.columns) + 1  # scikit-learn refuses names of several types
        known = data.numbers.to_numpy()  # a number of the data's, lest it be of another magnitude
        known = known[np.isfinite(known)]
        x, t = data.x.copy(), data.t.copy()
        x[name] = t[name] = rng.choice(known) if len(known) else 1.0
        return replace(data, x=x, t=t)


class _DuplicatedClass(LearnerRelation):
    name = "MR-3.2"
    says = "each training row of the predicted class twice: the same label"
    shares = "label"  # one follow-up serves all test cases that got the label
    scores = False

    def follow_up(self, data: Training, labels: Array, rng: np.random.Generator) -> Training:
        again = np.flatnonzero(data.y.astype(object) == labels[0])
        return _rows(data, np.concatenate([np.arange(len(data.x)), again]))


class _Refit(LearnerRelation):
    name = "refit"
    says = "fitted again on the same data, with the same random_state: the same labels"
    regressors = True
    firm = False  # what cannot be repeated cannot be judged by any relation

    def follow_up(self, data: Training, labels: Array, rng: np.random.Generator) -> Training:
        return data


class _SampleOrder(LearnerRelation):
    name = "sample order"
    says = "the training rows in another order: the same labels"
    regressors = True

    def follow_up(self, data: Training, labels: Array, rng: np.random.Generator) -> Training:
        return _rows(data, _shuffled(len(data.x), rng))


LEARNER_RELATIONS: dict[str, LearnerRelation] = {
    relation.name: relation
    for relation in (_SameMap(), _PermutedLabels(), _PermutedAttributes(), _ConstantAttribute(), _DuplicatedClass(),
                     _Refit(), _SampleOrder(), _RenamedLabels())
}  # fmt: skip


def _widths(data: Training, low: float = 0.0, high: float = 1.0) -> Floats:
    """Return how far two quantiles of each numeric attribute are apart."""
    numbers = data.numbers.replace([np.inf, -np.inf], np.nan)
    return np.asarray((numbers.quantile(high) - numbers.quantile(low)).fillna(0))


def _shuffled(n: int, rng: np.random.Generator) -> Places:
    """Return 0 to n - 1 in another order than that."""
    order = rng.permutation(n)
    return np.roll(order, 1) if (order == np.arange(n)).all() else order


def _relabelled(data: Training, names: Array) -> Training:
    """Return data whose classes, as they sort, have other names."""
    import pandas as pd

    return replace(data, y=names[pd.Index(data.classes, dtype=object).get_indexer(pd.Index(data.y, dtype=object))])


def _rows(data: Training, rows: Places) -> Training:
    return Training(data.x.iloc[rows].reset_index(drop=True), data.y[rows], data.t)


# -- the check -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Learned:
    """What became of a relation on one training set, test case by test case.

    `before` and `after` are the labels of the two fits, `expected` what the second should have given; scores have a
    column a class, the same one in both. Test case i was asked with the follow-up ``made[follow_up[i]]``. Where
    `tied`, a violation was set aside; `message` says why there is nothing to judge, or why answers are missing.
    """

    relation: str
    data: Training
    made: tuple[Training, ...]
    follow_up: Places
    verdicts: Verdicts
    before: Array
    after: Array
    expected: Array
    scores_before: Floats | None
    scores_after: Floats | None
    tied: Mask
    message: str = ""

    def count(self, verdict: int) -> int:
        """Return how many test cases have a verdict."""
        return int((self.verdicts == verdict).sum())


def check_learner(
    learner: Any,
    relation: LearnerRelation,
    data: Training,
    rng: np.random.Generator,
    *,
    strictness: str = "class_exact",
    ties: str = "aside",
) -> Learned:
    """Fit copies of a learner on data and on their follow-ups, and judge its labels; where it raises: UNDEFINED.

    Parameters named ``random_state`` that are None get one number for all fits. With the strictness "score_exact"
    scores count as well as labels, where there are any. Violations that are gone in most copies of the data with
    all numbers moved by a hair hang on a tie: they are set aside as INAPPLICABLE, unless ``ties="count"``.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import pandas as pd
    >>> x = pd.DataFrame({"a": [1.0, 2.0, 8.0], "b": [3.0, 1.0, 7.0]})
    >>> data, rng = Training(x, np.array(["low", "low", "high"]), x + 0.4), np.random.default_rng(0)
    >>> check_learner(KNeighborsClassifier(1), LEARNER_RELATIONS["MR-1.2"], data, rng).after
    array(['low', 'low', 'high'], dtype=object)
    """
    if isinstance(learner, type) or not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        reject("learner", "check_learner", "an object with fit and predict", learner)
    one_of("strictness", "check_learner", strictness, STRICTNESS)
    one_of("ties", "check_learner", ties, ("aside", "count"))
    reason = relation.why_not(learner, data)
    if reason:
        return _blank(relation, data, INAPPLICABLE, reason)
    seed, replay, moving = (int(each) for each in rng.integers(2**31, size=3))
    found = _judged(learner, relation, data, seed, replay, strictness)
    hair = np.random.default_rng(moving)
    doubted = np.flatnonzero(found.verdicts == VIOLATED) if relation.firm and ties == "aside" else np.arange(0)
    shown = np.zeros(len(doubted), dtype=np.intp)
    for _ in range(COPIES if len(doubted) else 0):
        again = _judged(learner, relation, _moved(data, hair), seed, replay, strictness)
        shown += again.verdicts[doubted] != HOLDS
    found.tied[doubted[2 * shown < COPIES]] = True
    found.verdicts[found.tied] = INAPPLICABLE
    return found


def _judged(
    learner: Any, relation: LearnerRelation, data: Training, seed: int, replay: int, strictness: str
) -> Learned:
    found, rng = _blank(relation, data, UNDEFINED), np.random.default_rng(replay)
    try:
        source, classes = learnt(learner, data, seed)
    except FAILURES as error:
        return replace(found, message=f"fitted on the source data: {told(error)}")
    made: list[Training] = []
    messages = list(source.messages.values())
    before, scores = source.values, source.scores
    scores_after = None if scores is None else np.full(scores.shape, np.nan)
    answered = np.flatnonzero(source.ok)
    for places in relation.groups(before[answered]):
        rows = answered[places]
        part = replace(data, t=data.t.iloc[rows])
        follow = relation.follow_up(part, before[rows], rng)
        expected = np.asarray(relation.expected(before[rows], part, follow))
        if (len(follow.t), expected.shape) != (len(rows), rows.shape):
            raise TestSystemError(
                f"The relation {relation.name!r} gave {plural(len(follow.t), 'test case')} and labels of shape "
                f"{expected.shape} for {plural(len(rows), 'test case')}. It must give one for each, in the same order."
            )
        found.follow_up[rows], found.expected[rows] = len(made), expected
        made.append(follow)
        try:
            after, names = learnt(learner, follow, seed)
        except FAILURES as error:
            messages.append(f"fitted on the follow-up data: {told(error)}")
            continue
        messages += after.messages.values()
        found.after[rows] = after.values
        kept = _same(found.after[rows], found.expected[rows], data.y if is_regressor(learner, data.y) else None)
        if scores is not None and scores_after is not None and after.scores is not None:
            scores_after[rows] = _aligned(after.scores, names, relation.expected(classes, part, follow))
            if strictness == "score_exact" and relation.scores:
                close = np.isclose(scores[rows], scores_after[rows], rtol=SUMS, atol=SUMS, equal_nan=True)
                kept &= close.all(axis=1)
        found.verdicts[rows] = np.where(after.ok, np.where(kept, HOLDS, VIOLATED), UNDEFINED)
    found = replace(found, made=tuple(made), before=before, message=messages[0] if messages else "")
    return replace(found, scores_before=scores, scores_after=scores_after)


def _blank(relation: LearnerRelation, data: Training, verdict: int, message: str = "") -> Learned:
    n = len(data.t)
    labels, after, expected = np.full((3, n), None, dtype=object)
    verdicts, nowhere, tied = np.full(n, verdict, np.int8), np.full(n, -1, np.intp), np.zeros(n, bool)
    return Learned(relation.name, data, (), nowhere, verdicts, labels, after, expected, None, None, tied, message)


def _moved(data: Training, rng: np.random.Generator) -> Training:
    """Return data without ties: every number is moved by a hair."""
    half, whole = _widths(data, 0.25, 0.75), _widths(data)
    shape = data.numbers.shape
    return data.with_numbers(data.numbers + HAIR * np.where(half > 0, half, whole) * rng.uniform(-1, 1, shape))


def _same(after: Array, expected: Array, numbers: Array | None) -> Mask:
    """Tell which answers are as expected; those of regressors may differ by rounding."""
    if numbers is None:
        return np.asarray(after == expected, dtype=bool)
    import pandas as pd

    answered, wanted, y = (pd.to_numeric(pd.Series(each), errors="coerce") for each in (after, expected, numbers))
    return np.asarray((answered - wanted).abs() <= SUMS * (y.max() - y.min() + SUMS * y.abs().max()))


def _aligned(scores: Floats, classes: Array, wanted: Array) -> Floats:
    """Return scores with a column for each class that is wanted; NaN where it has none."""
    import pandas as pd

    places = pd.Index(classes, dtype=object).get_indexer(pd.Index(wanted, dtype=object))
    return np.where(places < 0, np.nan, scores[:, places])
