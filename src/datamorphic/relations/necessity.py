"""Learners: what they are given, how they are fitted, and which relations they must keep.

A relation that a learner must keep is *necessary*: a violation is a fault of the implementation. Any other is a
hypothesis, and a violation tells how the algorithm behaves. When in doubt, a relation is not necessary.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from .._checks import plural
from ..errors import DataError
from ..outputs import Outputs
from ..sut.answers import as_outputs

if TYPE_CHECKING:
    import pandas as pd

Array = npt.NDArray[Any]
Strictness = Literal["class_exact", "score_exact", "class_stat", "score_stat", "expected_failure"]
STRICTNESS: tuple[Strictness, ...] = get_args(Strictness)
FAILURES = (Exception, SystemExit)  # what a learner may raise without ending the run


@dataclass(frozen=True, eq=False)
class Training:
    """What a learner is given: training rows `x` with their labels `y`, and the test cases `t` it then labels."""

    x: pd.DataFrame
    y: Array
    t: pd.DataFrame

    def __post_init__(self) -> None:
        object.__setattr__(self, "y", np.asarray(self.y))
        columns = list(self.x.columns)
        if len(set(columns)) < len(columns) or not columns:
            raise DataError(f"Training rows need columns, each with a name of its own. Got {columns}.")
        if list(self.t.columns) != columns:
            raise DataError(f"Test cases need the columns of the training rows, {columns}. Got {list(self.t)}.")
        if self.y.shape != (len(self.x),):
            raise DataError(f"{plural(len(self.x), 'training row')} need a label each. Got shape {self.y.shape}.")
        if not len(self.x) or not len(self.t):
            raise DataError("A learner needs a training row and a test case at least. Got none.")

    @property
    def classes(self) -> Array:
        """The different labels, sorted where they can be."""
        import pandas as pd

        found = pd.unique(self.y.astype(object))
        try:
            return np.array(sorted(found), dtype=self.y.dtype)
        except TypeError:
            return np.asarray(found)

    @property
    def numbers(self) -> pd.DataFrame:
        """The numeric attributes of training rows and test cases, one below the other."""
        import pandas as pd

        x, t = (each.select_dtypes("number", exclude=["timedelta", "complex"]) for each in (self.x, self.t))
        return pd.concat([x, t], ignore_index=True, join="inner").astype(np.float64)

    def with_numbers(self, numbers: pd.DataFrame) -> Training:
        """Return the same data with other numbers in their numeric attributes."""
        names, rows = list(numbers.columns), len(self.x)
        x, t = self.x.copy(), self.t.copy()
        x[names], t[names] = numbers[:rows].to_numpy(), numbers[rows:].to_numpy()
        return replace(self, x=x, t=t)


def learnt(learner: Any, data: Training, seed: int) -> tuple[Outputs, Array]:
    """Fit a copy of a learner and return its answers for the test cases, and the classes its scores are of.

    Its own warnings are not shown; what it raises is raised.
    """
    scores = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = _copy(learner, seed)
        model.fit(data.x.copy(), data.y.copy())  # copies: some learners write on what they are given
        outputs = as_outputs(model.predict(data.t.copy()), len(data.t))
        classes = np.asarray(getattr(model, "classes_", ()))
        score = getattr(model, "predict_proba", None) or getattr(model, "decision_function", None)
        with suppress(*FAILURES):  # labels are answers without scores, too
            scores = np.asarray(score(data.t.copy()), dtype=np.float64)  # type: ignore[misc]
            scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    if scores is not None and scores.shape != (len(data.t), *classes.shape):
        scores = None
    return replace(outputs, scores=scores), classes


def _copy(learner: Any, seed: int) -> Any:
    """Return an unfitted copy in which nothing is left to chance."""
    from sklearn.base import clone

    if not hasattr(learner, "get_params"):
        return copy.deepcopy(learner)
    model = clone(learner)
    loose = [name for name, value in _deep(model) if name.endswith("random_state") and value is None]
    return model.set_params(**dict.fromkeys(loose, seed))


def _deep(learner: Any) -> list[tuple[str, Any]]:
    with suppress(*FAILURES):
        return list(learner.get_params(deep=True).items())
    return []


def parameters(learner: Any, name: str) -> list[Any]:
    """Return the values of all parameters of a name, of the learner and of its parts."""
    return [value for key, value in _deep(learner) if key.rpartition("__")[2] == name]


def is_regressor(learner: Any, y: Array | None = None) -> bool:
    """Tell whether a learner says that it is a regressor, or learns numbers that are not whole."""
    from sklearn import base

    with suppress(AttributeError, TypeError):  # not of scikit-learn's kin
        if base.is_regressor(learner):
            return True
    return y is not None and y.dtype.kind == "f" and bool((y % 1 > 0).any())


@dataclass(frozen=True)
class Stance:
    """What a relation is for a learner: whether each right implementation keeps it, how strictly, and why.

    Strictness is "class_exact" (labels), "score_exact" (scores, too), "class_stat" and "score_stat" (labels or scores
    are distributed alike over many trainings), or "expected_failure" (it is known to be violated).
    """

    necessary: bool
    strictness: Strictness
    reason: str


def _must(reason: str, strictness: Strictness = "class_exact") -> Stance:
    return Stance(True, strictness, reason)


def _may(reason: str, strictness: Strictness = "class_exact") -> Stance:
    return Stance(False, strictness, reason)


_fails = partial(_may, strictness="expected_failure")
_varies = partial(_may, strictness="class_stat")
Rows = Mapping[str, Stance]

_TIES = "cases that hang on equal distances are set aside"
_SAME: Rows = {
    "refit": _must("nothing is left to chance", "score_exact"),
    "label renaming": _must("labels count by their order alone, so nothing else is computed", "score_exact"),
}


def _neighbours(model: Any, data: Training | None, scaled: bool) -> Rows:
    lengths = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
    if model.metric not in lengths or model.metric_params or model.weights not in ("uniform", "distance"):
        return _SAME
    permuted = (_fails if model.weights == "uniform" else _may)("a tied vote goes to the label that sorts first")
    if model.n_neighbors == 1:
        permuted = _must(f"the label of the nearest row, whatever it is called; {_TIES}")
    return {
        **_SAME,
        "MR-0": _must(f"all distances are multiplied by k; {_TIES}"),
        "MR-1.1": permuted,
        "MR-1.2": _must(f"a distance is a sum over attributes, whatever their order; {_TIES}"),
        "MR-2.1": _must(f"no distance changes; {_TIES}"),
        "MR-3.2": _must(f"the doubled class takes more of the k places and no other does; {_TIES}"),
        "sample order": _must(f"neighbours are found by distance, not by place; {_TIES}"),
    }


def _bayes(model: Any, data: Training | None, scaled: bool) -> Rows:
    if model.priors is None:
        permuted = _must("classes are modelled one by one, whatever they are called")
        doubled = _must("mean and variance of the class stay and its prior rises; smoothing (var_smoothing) aside")
    else:
        permuted = _fails("`priors` belong to labels by their order")
        doubled = _may("`priors` do not rise; smoothing changes with the spread of all rows")
    if model.var_smoothing > 1e-8 or (data is not None and _smoothed(data, model.var_smoothing)):
        doubled = _may("smoothing (var_smoothing) changes with the spread of all rows, and here it tells")
    return {
        **_SAME,
        "MR-0": _must("variances, smoothing too, are all multiplied by k squared"),
        "MR-1.1": permuted,
        "MR-1.2": _must("the log-likelihood is a sum over attributes, whatever their order"),
        "MR-2.1": _must("a constant is equally likely in all classes"),
        "MR-3.2": doubled,
        "sample order": _must("means and variances are sums over rows, whatever their order"),
    }


def _smoothed(data: Training, var_smoothing: float) -> bool:
    """Tell whether another smoothing can outweigh the log 2 that a class gains by being doubled."""
    numbers = data.numbers
    width2 = ((numbers.max() - numbers.min()) ** 2).to_numpy()
    smallest = numbers[: len(data.x)].groupby(data.y).var(ddof=0).min().to_numpy()
    most = var_smoothing * width2.max(initial=0) / 4  # no variance is larger than a quarter of the width squared
    if not (smallest > 0).all():
        return True
    return bool(most * (width2 / smallest**2 + 1 / smallest).sum() > np.log(2) / 2)


def _tree(model: Any, data: Training | None, scaled: bool) -> Rows:
    split = "equally good splits are chosen among by the order and number of the columns"
    return {
        **_SAME,
        "MR-0": _order_only(data),
        "MR-1.1": _may("a leaf in which classes tie answers the label that sorts first"),
        **dict.fromkeys(("MR-1.2", "MR-2.1"), _fails(split)),
        "MR-3.2": _fails("a class with more weight leads to other splits"),
        "sample order": _must("splits depend on counts of rows, which are exact in any order")
        if model.class_weight is None
        else _may("weights are added up in the order of the rows, and rounding decides between equal splits"),
    }


def _order_only(data: Training | None) -> Stance:
    widths = np.array([1.0]) if data is None else (data.numbers.max() - data.numbers.min()).to_numpy()
    if ((widths > 0) & (widths < 1e-3)).any():
        return _may("splits depend on the order of values, but values closer than 1e-7 are never split")
    return _must("splits depend on the order of values, which stays; cases on a threshold are set aside")


def _forest(model: Any, data: Training | None, scaled: bool) -> Rows:
    drawn = "rows and columns are drawn by their places, so this is another forest"
    rows = {**_SAME, "MR-0": _order_only(data)}
    if model.n_jobs not in (None, 1):
        rows = dict.fromkeys(rows, _may("votes are added up by threads, in any order"))
    return {
        **rows,
        "MR-1.1": _fails("a tied vote of the trees goes to the label that sorts first"),
        **dict.fromkeys(("MR-1.2", "MR-2.1", "MR-3.2", "sample order"), _varies(drawn)),
    }


def _boosting(model: Any, data: Training | None, scaled: bool) -> Rows:
    split = "equally good splits are chosen among by the order of the columns and by chance"
    return {
        **_SAME,
        "MR-0": _order_only(data) if model.init in (None, "zero") else _may("`init` is a learner of its own"),
        "MR-1.1": _may("the classes' trees are grown in the order of the labels, each with other random numbers"),
        **dict.fromkeys(("MR-1.2", "MR-2.1"), _fails(split)),
        "MR-3.2": _fails("a class with more weight leads to other splits"),
        "sample order": _may("sums in another order are rounded, and that may decide between equal splits"),
    }


def _histograms(model: Any, data: Training | None, scaled: bool) -> Rows:
    rows = {
        **_SAME,
        "MR-0": _must("values are put into bins by their order, which stays"),
        "MR-1.1": _may("sums over classes in another order are rounded, and that may decide between equal splits"),
        "MR-1.2": _fails("of equally good splits the one of the first column is taken"),
        "MR-2.1": _must("a last column that cannot be split changes nothing"),
        "MR-3.2": _fails("a class with more weight leads to other splits"),
        "sample order": _may("sums in another order are rounded, and that may decide between equal splits"),
    }
    if model.categorical_features not in (None, "from_dtype"):
        rows["MR-0"] = _may("numbers of categories are no numbers")
    if model.max_features != 1.0 or model.monotonic_cst is not None or model.interaction_cst is not None:
        rows["MR-2.1"] = _may("columns are drawn or named by their places")
    return rows


def _logistic(model: Any, data: Training | None, scaled: bool) -> Rows:
    exact = model.solver == "newton-cholesky" or (model.solver == "lbfgs" and scaled)
    if exact and model.C <= 100 and not isinstance(model.class_weight, dict):
        one = _must("there is one optimum, and the solver comes close to it")
    else:
        one = _may("there is one optimum, but the solver may stop short of it, depending on the last digit")
    return {
        **_SAME,
        "MR-0": _fails("the penalty (C) is on coefficients, which the scale changes"),
        **dict.fromkeys(("MR-1.1", "MR-1.2", "sample order"), one),
        "MR-2.1": _may("the solver takes another way to the same optimum, and stops within `tol` of it"),
        "MR-3.2": _may("a border that a class pushes away turns, too, and may come nearer elsewhere"),
    }


def _support(model: Any, data: Training | None, scaled: bool) -> Rows:
    way = "the solver takes another way, and stops within `tol` of the optimum"
    digit = "where no support vector is free the intercept is not unique, and the last digit decides"
    if model.kernel not in ("linear", "rbf"):
        return _SAME
    undone = model.kernel == "rbf" and model.gamma == "scale"  # it is divided by the variance of all values
    fixed = model.kernel == "linear" or not isinstance(model.gamma, str)
    return {
        **_SAME,
        "MR-0": _may(digit) if undone else _fails("C and gamma are for one scale"),
        "MR-1.1": _fails("tied votes of pairs of classes go to the label that sorts first"),
        "MR-1.2": _may(digit),
        "MR-2.1": _may(digit) if fixed else _fails("gamma depends on the number of attributes"),
        "MR-3.2": _may("a border that a class pushes away turns, too, and may come nearer elsewhere"),
        "sample order": _may(way),
    }


def _network(model: Any, data: Training | None, scaled: bool) -> Rows:
    start = "first weights are drawn by the places of attributes and classes, so this is another network"
    return {
        **_SAME,
        "MR-0": _fails("weights are drawn and learnt for one scale"),
        **dict.fromkeys(("MR-1.1", "MR-1.2", "MR-2.1"), _varies(start)),
        **dict.fromkeys(("MR-3.2", "sample order"), _varies("steps are taken for other batches of rows")),
    }


_TABLE: dict[str, Callable[[Any, Training | None, bool], Rows]] = {
    "DecisionTreeClassifier": _tree,
    "GaussianNB": _bayes,
    "GradientBoostingClassifier": _boosting,
    "HistGradientBoostingClassifier": _histograms,
    "KNeighborsClassifier": _neighbours,
    "KNeighborsRegressor": _neighbours,
    "LogisticRegression": _logistic,
    "MLPClassifier": _network,
    "RandomForestClassifier": _forest,
    "SVC": _support,
}
_SCALERS = ("StandardScaler", "MinMaxScaler")
# blind to labels, and nothing in them is left to chance
_BLIND = (*_SCALERS, "MaxAbsScaler", "OneHotEncoder", "OrdinalEncoder", "RobustScaler", "SimpleImputer")


def stance(relation: str, learner: Any, data: Training | None = None) -> Stance:
    """Return whether a learner must keep a relation, how strictly, and why.

    Knows the learners of scikit-learn, alone or as the last step of a `Pipeline`. For an implementation of your own
    of one of these algorithms, ask with scikit-learn's. A few relations are necessary on some data only: give the
    `data` that are to be used, and the answer is about them.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> stance("MR-1.1", KNeighborsClassifier(1)).necessary
    True
    >>> stance("MR-1.1", KNeighborsClassifier(3))
    Stance(necessary=False, strictness='expected_failure', reason='a tied vote goes to the label that sorts first')
    """
    *steps, last = _steps(learner)
    scaled = any(_name(step) in _SCALERS for step in steps)
    rows = _TABLE[_name(last)](last, data, scaled) if _name(last) in _TABLE else {}
    if relation not in rows:
        return _may(f"{relation} of {type(last).__name__} is not in the table")
    for place, step in enumerate(steps):
        effect = _effect(step, relation)
        if effect == "undoes" and all(_effect(each, "refit") for each in steps[place:]):
            if _name(last) in ("MLPClassifier", "SVC"):
                return _may(f"{_name(step)} undoes the map but for the last digit, which may tell")
            return replace(rows["refit"], strictness="class_exact", reason=f"{_name(step)} undoes the map")
        if effect != "keeps":
            return _may(f"{relation} with a step {type(step).__name__} is not in the table")
    return rows[relation]


def _effect(step: Any, relation: str) -> str:
    """Tell what a transformer makes of a relation: it "keeps" it, "undoes" the change, or, empty, nobody knows."""
    name = _name(step)
    if name in _SCALERS and relation == "MR-0":
        return "undoes" if name == "MinMaxScaler" or (step.with_mean and step.with_std) else ""
    if name in _SCALERS and relation in ("MR-1.2", "MR-2.1", "sample order"):
        return "keeps"
    parts = [step]
    if name == "ColumnTransformer":
        parts = [
            part
            for part in (*(each[1] for each in step.transformers), step.remainder)
            if not isinstance(part, str)
        ]
    blind = all(_name(each) in _BLIND for part in parts for each in _steps(part))
    return "keeps" if blind and relation in (*_SAME, "MR-1.1") else ""


def _steps(learner: Any) -> list[Any]:
    """Return the steps of a pipeline, also of one within another; the learner itself where it is none."""
    if _name(learner) != "Pipeline":
        return [learner]
    steps = [step for _, step in learner.steps if step is not None and not isinstance(step, str)]
    return [each for step in steps for each in _steps(step)] or [learner]


def _name(learner: Any) -> str:
    """Return the name of a class of scikit-learn itself; a class derived from it may be anything."""
    kind = type(learner)
    return kind.__name__ if kind.__module__.partition(".")[0] == "sklearn" else ""
