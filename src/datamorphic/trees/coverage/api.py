"""`cover` and `select`: measure how well rows exercise a tree, and choose rows that do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..._text import format_short
from ..._typing import DataLike, ModelLike
from ..._validation import check_types
from ...errors import ArgumentError, DataError, ModelError
from ...space.labels import shorten_label
from ...space.options import SpaceOptions
from ...space.space import Space
from ...space.table_forms import accept_tables
from ...systems.estimator import Estimator
from ..boundaries import STEP, Offset
from ..forest import Forest
from ..inputs import read_data
from ..mutants import NEIGHBOURS, PerNode
from ..read import read_forest
from .coverage import Coverage, measure_coverage
from .mutation import MutationScore, measure_kills
from .options import CoverOptions, SelectOptions
from .selection import Selection, select_rows
from .surrogate import Surrogate, fit_surrogate_to_model

if TYPE_CHECKING:
    import pandas as pd


@accept_tables
@check_types
def cover(
    model: ModelLike,
    data: DataLike,
    *,
    target: str | None = None,
    space: Space | None = None,
    criterion: str = "DTC",
    offset: Offset = STEP,
    per_node: PerNode = NEIGHBOURS,
    joint: bool | None = None,
    tolerance: float | None = None,
    surrogate: bool | DataLike = False,
    progress: bool | None = None,
    kinds: Mapping[str, str] | None = None,
    steps: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
) -> Coverage | MutationScore:
    """Measure how well rows exercise a tree, or the trees of a forest.

    Each leaf stands for inputs that a tree treats alike. If no row reaches a leaf, this kind of input was never tested. If
    no row kills a mutant, the tests would not notice this fault.

    Parameters
    ----------
    model : estimator, Forest or Surrogate
        A fitted decision tree, random forest, extra trees, gradient boosting (the histogram kind too), AdaBoost or bagging
        of trees of scikit-learn; a model of XGBoost, LightGBM or CatBoost; a pipeline of scalers and imputers that ends in
        one of these; trees read from PMML; or a surrogate.
    data : DataFrame, array or Points
        The rows, for example a test set. Columns that are not inputs are ignored if the model knows its columns.
    target : str, optional
        The column of the label, which is not an input.
    space : Space, optional
        The values that columns may have. Rows that are made keep to them.
    criterion : {"DTC", "BVA", "DTMT"}
        What has to be covered: every leaf; every leaf by a row at its limits; every mutant of a decision by a row for which
        its answer differs.
    offset : "step", "unit" or float
        For "BVA", how near to a limit a value must lie: see `dm.select`.
    per_node, joint, tolerance
        For "DTMT": see `dm.select`.
    surrogate : bool or DataFrame
        Whether to fit a tree to the answers of a model without trees, and to cover that tree. The result reports how
        often both agree. Preferably pass the rows to fit it to, other than `data`: for example the training data. With a space, the
        model also answers random inputs.
    progress : bool, optional
        Whether to show progress on stderr; by default if stderr is a terminal.
    kinds, steps, bounds, orders : mapping, optional
        Hints by column for inferring the space from the data, see `dm.Space.from_frame`; not together with `space`.

    Returns
    -------
    Coverage or MutationScore
        With `share`, `uncovered()`, `example(number)`, `fix()` and `describe()`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> iris = load_iris(as_frame=True)
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(iris.data, iris.target_names[iris.target])
    >>> coverage = dm.cover(tree, iris.data[:70])
    >>> print(coverage.describe())
    The tests reach 2 of 3 leaves (66.7%)
    Criterion: DTC: every leaf is reached by a row
    Rows:      70
    Model:     5 nodes, 3 leaves
    <BLANKLINE>
    1 leaf that no row reaches
      Leaves that most training rows reached come first.
      leaf  condition                answer     training rows
         2  petal width (cm) > 1.75  virginica          30.7%
    >>> coverage.example(2)["petal width (cm)"].item()
    1.76
    >>> dm.cover(tree, iris.data[:70], criterion="DTMT")
    MutationScore(8 of 10 mutants killed, 80%)
    """
    options = CoverOptions(
        target=target,
        space=space,
        hints=SpaceOptions(kinds=kinds, steps=steps, bounds=bounds, orders=orders),
        criterion=criterion,
        offset=offset,
        per_node=per_node,
        joint=joint,
        tolerance=tolerance,
        surrogate=surrogate,
    )
    forest, leaves, _ = read_trees_and_rows(model, data, options, progress=progress)
    joint, tolerance = resolve_kill_rule(forest, options)
    if criterion == "DTC":
        return leaves
    if criterion == "BVA":
        return measure_coverage(leaves.trees, leaves.frame, leaves.inputs, leaves.notes, criterion, offset)
    return measure_kills(
        forest, leaves, per_node=per_node, joint=joint, tolerance=tolerance, notes=leaves.notes, progress=progress
    )


@accept_tables
@check_types
def select(
    model: ModelLike,
    data: DataLike,
    criterion: str = "DTC",
    target: str | None = None,
    minimal: bool = False,
    seed: int = 0,
    *,
    space: Space | None = None,
    offset: Offset = STEP,
    per_node: PerNode = NEIGHBOURS,
    joint: bool | None = None,
    tolerance: float | None = None,
    surrogate: bool | DataLike = False,
    kinds: Mapping[str, str] | None = None,
    steps: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
) -> Selection:
    """Choose or make test rows that exercise a tree, or the trees of a forest.

    The rows can test any model of the same data: rows chosen by the structure of a tree are harder to get right than
    random ones (Silveira et al. 2025).

    Parameters
    ----------
    model : estimator, Forest or Surrogate
        What `dm.cover` takes.
    data : DataFrame, array or Points
        The rows to choose from.
    criterion : {"DTC", "BVA", "DTMT"}
        "DTC" (decision-tree coverage): one row per leaf. "BVA" (boundary values): one row per leaf, made from a real row by
        setting every column on the path just inside one of its limits. "DTMT" (mutation): one row per mutant of a decision,
        for which the answer of the mutant differs.
    target : str, optional
        The column of the label, which is not an input. In rows that are made, it holds the answer of the model.
    minimal : bool
        Whether to search for the smallest set, rather than to choose at random as published. Has no effect for "BVA".
    seed : int
        The seed of random choices.
    space : Space, optional
        The values that columns may have. Rows that are made keep to them.
    offset : "step", "unit", float or "beyond"
        For "BVA", how far inside a limit: one representable step, one unit, or a share of the usual spacing of the column's
        values. Integers stay integers. "beyond" draws values beyond the limits instead.
    per_node : "neighbours", int or None
        For "DTMT", the constants that replace the one of a decision: those of the nodes before and after it that compare the
        same column; at most so many different ones; or all.
    joint : bool, optional
        For "DTMT" and a forest: whether the answer of the whole forest must differ, or that of the mutated tree. By default
        the whole forest if its trees only add to a score.
    tolerance : float, optional
        For "DTMT" and models that answer numbers: answers that differ by more than this count as different.
    surrogate : bool or DataFrame
        Whether to fit a tree to the answers of a model without trees, and to use that tree; or the rows to fit it to.
    kinds, steps, bounds, orders : mapping, optional
        Hints by column for inferring the space from the data, see `dm.Space.from_frame`; not together with `space`.

    Returns
    -------
    Selection
        With `rows`, `mutants`, `score`, `nodes`, `decision_nodes` and `describe()`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> iris = dm.data.load("iris")
    >>> tree = DecisionTreeClassifier(random_state=0).fit(iris.drop(columns="target"), iris.target)
    >>> dm.select(tree, iris, "DTC", target="target")
    Selection(DTC, 9 rows of 150)
    >>> chosen = dm.select(tree, iris, "DTMT", target="target", minimal=True)
    >>> chosen.nodes, chosen.decision_nodes, len(chosen.mutants), round(100 * chosen.score, 2), len(chosen.rows)
    (17, 8, 42, 80.95, 9)
    """
    options = SelectOptions(
        target=target,
        space=space,
        hints=SpaceOptions(kinds=kinds, steps=steps, bounds=bounds, orders=orders),
        criterion=criterion,
        offset=offset,
        per_node=per_node,
        joint=joint,
        tolerance=tolerance,
        surrogate=surrogate,
        minimal=minimal,
        seed=seed,
    )
    forest, leaves, rows = read_trees_and_rows(model, data, options, seed=seed)
    joint, tolerance = resolve_kill_rule(forest, options)
    return select_rows(forest, leaves, rows, options, joint=joint, tolerance=tolerance)


def read_trees_and_rows(
    model: ModelLike, data: DataLike, options: CoverOptions, *, seed: int = 0, progress: bool | None = None
) -> tuple[Forest, Coverage, pd.DataFrame]:
    """Return the trees of a model, their coverage, and the rows with all columns; `seed` is for a surrogate."""
    import pandas as pd

    space, target = options.get_space(data), options.target
    if options.surrogate is not False:
        background = None if isinstance(options.surrogate, bool) else options.surrogate
        model = fit_surrogate_to_model(
            model, data, background, target=target, space=space, seed=seed, progress=progress
        )
        space = None
    if isinstance(model, Estimator):
        model = model.model
    if isinstance(model, Surrogate):
        if space is not None:
            raise ArgumentError("A surrogate has its own space, so no other can be given. Leave space out.")
        leaves = model.cover(data, target=target)
        forest = model.forest
    else:
        forest = read_forest(model, data)
        inputs, frame, notes = read_data(forest, data, target=target, space=space)
        leaves = measure_coverage([tree.with_names(inputs.names) for tree in forest.trees], frame, inputs, notes)
    if all(len(tree) == 1 for tree in forest.trees):
        answer = forest.trees[0].answer_at(0)
        raise ModelError(
            f"This {forest.owner} makes no decision: it has one leaf and answers {answer!r} to every input, so there is "
            "nothing to cover. Was it fitted on data with only one label?"
        )
    rows = data if isinstance(data, pd.DataFrame) else leaves.frame
    if target is not None:
        _validate_labels(forest, rows[target], target)
    return forest, leaves, rows


def _validate_labels(forest: Forest, column: pd.Series[Any], target: str) -> None:
    """Raise `DataError` if the data and the model have no label in common."""
    if forest.labels is None or (forest.joining is not None and forest.joining.parts):
        return
    data_labels = set(map(shorten_label, column.dropna().unique().tolist()))
    if data_labels and not data_labels & set(forest.labels):
        data_label, model_label = sorted(data_labels, key=str)[0], forest.labels[0]
        data_type, model_type = type(data_label).__name__, type(model_label).__name__
        types = f" ({data_type} and {model_type})" if data_type != model_type else ""
        raise DataError(
            f"The target {target!r} holds labels such as {format_short(data_label)!r}, but {forest.owner} answers "
            f"{format_short(model_label)!r} and others{types}: they have no label in common. Give the labels as they were "
            "for fitting."
        )


def resolve_kill_rule(forest: Forest, options: CoverOptions) -> tuple[bool, float]:
    """Return whether the whole forest must answer differently, and by how much."""
    joint, tolerance = options.joint, options.tolerance
    if options.criterion != "DTMT":
        return False, 0.0
    has_several_numbers = forest.labels is None and forest.trees[0].labels is not None
    if joint is None:
        joint = has_several_numbers or any(tree.meaning for tree in forest.trees)
    if has_several_numbers and not joint:
        raise ModelError(
            f"This {forest.owner} answers with several numbers at once, which can only be compared for the whole forest. "
            "Pass joint=True."
        )
    is_numeric = forest.labels is None if joint else forest.trees[0].labels is None
    if is_numeric and tolerance is None:
        owner = "its trees answer" if not joint and forest.labels is not None else f"this {forest.owner} answers"
        raise ModelError(
            f"DTMT counts a mutant as killed if an answer differs, but {owner} with numbers, which nearly always differ a "
            "little. Pass the smallest difference that counts: tolerance=0.1, or tolerance=0 for any (--tolerance on the "
            "command line)."
        )
    if joint and forest.joining is None:
        raise ModelError(
            f"The trees of this {forest.owner} do not determine its answer alone: it starts from another model. Judge each "
            "tree by itself: joint=False."
        )
    return joint, float(tolerance or 0.0) if is_numeric else 0.0  # labels are equal or not
