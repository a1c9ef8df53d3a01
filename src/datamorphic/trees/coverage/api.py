"""`cover`: is a test set good enough for a tree: does it reach its leaves, their limits, and kill its mutants?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import format_short
from ..._validation import is_number, reject, validate_choice
from ...errors import ArgumentError, DataError, ModelError
from ...space.space import Space
from ...systems.estimator import Estimator
from ..boundaries import STEP, Offset, validate_offset
from ..forest import Forest
from ..inputs import read_data
from ..mutants import NEIGHBOURS, PerNode, validate_per_node
from ..read import forest_of
from .coverage import Coverage, measure_coverage
from .mutation import MutationScore, measure_kills
from .surrogate import Surrogate
from .surrogate_api import fit_surrogate_to_model

if TYPE_CHECKING:
    import pandas as pd

CRITERIA = ("DTC", "BVA", "DTMT")


def cover(
    model: Any,
    data: Any,
    *,
    target: str | None = None,
    space: Space | None = None,
    criterion: str = "DTC",
    offset: Offset = STEP,
    per_node: PerNode = NEIGHBOURS,
    joint: bool | None = None,
    tolerance: float | None = None,
    surrogate: Any = False,
    progress: bool | None = None,
) -> Coverage | MutationScore:
    """Tell how well some rows exercise a tree, or the trees of a forest.

    Each leaf stands for the inputs that a tree treats alike. A leaf that no row reaches is a kind of input that was
    never tried; a mutant that no row kills is a bug that would not be noticed.

    Parameters
    ----------
    model : estimator, Forest or Surrogate
        A fitted decision tree of scikit-learn, a random forest, extra trees, gradient boosting (its histogram kind too),
        AdaBoost or bagging of trees; a model of XGBoost, LightGBM or CatBoost; a pipeline that ends in one of these after
        scalers and imputers; trees read from PMML; or a surrogate.
    data : DataFrame, array or Points
        The rows, e.g. those of a test set. Columns that are no inputs are left aside, where the model knows its own.
    target : str, optional
        The column that holds the label and is no input.
    space : Space, optional
        The values that columns may have; what is put into rows that are made keeps to them.
    criterion : {"DTC", "BVA", "DTMT"}
        What has to be covered: every leaf; every leaf by a row at its limits; every mutant of a decision by a row to
        which it answers differently.
    offset : "step", "unit" or float
        For "BVA", how near a limit a value must lie: see `dm.select`.
    per_node, joint, tolerance
        For "DTMT": see `dm.select`.
    surrogate : bool or DataFrame
        Whether to fit a tree to the answers of a model that has none, and to take that. How often it answers as the
        model does is told with the result. Best give rows to fit it to other than those that are judged, e.g. those the
        model was trained on; with a space, random inputs of it are asked, too.
    progress : bool, optional
        Whether to show progress on stderr; by default if that is a terminal.

    Returns
    -------
    Coverage or MutationScore
        With `share`, `uncovered()`, `example(number)`, `fix()` and `describe()`.

    Examples
    --------
    >>> from datamorphic.trees.coverage.api import cover
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> iris = load_iris(as_frame=True)
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(iris.data, iris.target_names[iris.target])
    >>> coverage = cover(tree, iris.data[:70])
    >>> print(coverage.describe())
    2 of 3 leaves reached, 66.7 %, by 70 rows (DTC).
    Not reached, first where most training rows were:
      leaf 2: petal width (cm) > 1.75 -> virginica
    >>> coverage.example(2)["petal width (cm)"].item()
    1.76
    >>> cover(tree, iris.data[:70], criterion="DTMT")
    MutationScore(8 of 10 mutants killed, 80.00 %)
    """
    validate_choice("criterion", "cover", criterion, CRITERIA)
    validate_offset(offset, "cover", beyond=False)
    validate_per_node(per_node)
    if surrogate is not False:
        background = None if surrogate is True else surrogate
        model, space = (
            fit_surrogate_to_model(model, data, background, target=target, space=space, progress=progress),
            None,
        )
    forest, leaves, _ = read_model_and_data(model, data, "cover", target=target, space=space)
    joint, tolerance = resolve_kill_rule(forest, criterion, joint, tolerance)
    if criterion == "DTC":
        return leaves
    if criterion == "BVA":
        return measure_coverage(leaves.trees, leaves.frame, leaves.inputs, leaves.notes, criterion, offset)
    return measure_kills(
        forest, leaves, per_node=per_node, joint=joint, tolerance=tolerance, notes=leaves.notes, progress=progress
    )


def read_model_and_data(
    model: Any, data: Any, owner: str, *, target: str | None = None, space: Space | None = None
) -> tuple[Forest, Coverage, pd.DataFrame]:
    """Return the trees of a model, which leaves the data reach, and the rows of the data with all their columns."""
    if space is not None and not isinstance(space, Space):
        reject("space", owner, "a Space", space)
    if target is not None and not isinstance(target, str):
        reject("target", owner, "the name of a column", target)
    if isinstance(model, Estimator):
        model = model.model
    if isinstance(model, Surrogate):
        if space is not None:
            raise ArgumentError("A surrogate has its own space. Leave space out.")
        leaves = model.cover(data, target=target)
        forest = model.forest
    else:
        forest = forest_of(model, data)
        inputs, frame, notes = read_data(forest, data, target=target, space=space)
        leaves = measure_coverage([tree.with_names(inputs.names) for tree in forest.trees], frame, inputs, notes)
    _validate_decisions(forest)
    rows = _get_full_rows(data, leaves)
    if target is not None:
        _validate_labels(forest, rows[target], target)
    return forest, leaves, rows


def _get_full_rows(data: Any, leaves: Coverage) -> pd.DataFrame:
    """Return the rows of the data with all columns they came with."""
    import pandas as pd

    return data if isinstance(data, pd.DataFrame) else leaves.frame


def _validate_decisions(forest: Forest) -> None:
    if all(len(tree) == 1 for tree in forest.trees):
        answer = forest.trees[0].answer_at(0)
        raise ModelError(
            f"This {forest.owner} makes no decision: it has one leaf and answers {answer!r} to every input, so there is "
            "nothing to cover. Was it fitted on data with one label only?"
        )


def _validate_labels(forest: Forest, column: pd.Series[Any], target: str) -> None:
    """Raise `DataError` if the labels of the data are none of those of the model."""
    if forest.labels is None or (forest.joining is not None and forest.joining.parts):
        return
    data_labels = set(column.dropna().unique().tolist())
    if data_labels and not data_labels & set(forest.labels):
        data_label, model_label = format_short(sorted(data_labels, key=str)[0]), format_short(forest.labels[0])
        kinds = type(sorted(data_labels, key=str)[0]).__name__, type(forest.labels[0]).__name__
        text = f" ({kinds[0]} against {kinds[1]})" if kinds[0] != kinds[1] else ""
        raise DataError(
            f"The target {target!r} holds labels such as {data_label!r}, and {forest.owner} answers {model_label!r} and the "
            f"like{text}: none of them is the same. Give the labels as they were for fitting."
        )


def resolve_kill_rule(
    forest: Forest, criterion: str, joint: bool | None, tolerance: float | None
) -> tuple[bool, float]:
    """Return whether the whole forest must answer differently to kill a mutant, and by how much."""
    if tolerance is not None and (not is_number(tolerance) or not 0 <= float(tolerance) < np.inf):
        reject("tolerance", "mutants of trees", "a number, 0 or more", tolerance)
    if criterion != "DTMT":
        return False, 0.0
    has_several_numbers = (
        forest.labels is None and forest.trees[0].labels is not None
    )  # numbers: only the whole can compare them
    if joint is None:
        joint = has_several_numbers or any(tree.meaning for tree in forest.trees)
    if has_several_numbers and not joint:
        raise ModelError(
            f"This {forest.owner} answers with several numbers at once, which are compared as a whole: joint=True."
        )
    is_numeric = forest.labels is None if joint else forest.trees[0].labels is None
    if is_numeric and tolerance is None:
        owner_text = "its trees" if not joint and forest.labels is not None else f"this {forest.owner}"
        raise ModelError(
            f"DTMT counts a mutant as killed when the answer differs, and {owner_text} answers with numbers, which differ by "
            "next to nothing most of the time. Say from what difference on counts: tolerance=0.1, or tolerance=0 for any "
            "(--tolerance on the command line)."
        )
    if joint and forest.joining is None:
        raise ModelError(
            f"The trees of this {forest.owner} do not make its answer alone: it starts from another model. Look at each "
            "tree by itself: joint=False."
        )
    return joint, float(tolerance or 0.0) if is_numeric else 0.0  # labels are the same or not
