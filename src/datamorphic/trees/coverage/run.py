"""`cover` and `select`: measure how well rows exercise a tree, and choose rows that do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..._lazy import pd
from ..._text import format_short
from ..._typing import DataLike, ModelLike
from ..._validation import to_generator
from ...core.capability import capability
from ...core.execute import Execution
from ...errors import ArgumentError, DataError, ModelError
from ...morphisms.subject import SubjectUnderTest
from ...space.labels import shorten_label
from ...space.space import Space
from ...systems.estimator import Estimator
from ..forest import Forest
from ..inputs import read_data
from ..read import load_tree_model, read_forest
from .coverage import Coverage, measure_coverage
from .mutation import MutationScore, measure_kills
from .options import CoverOptions, SelectOptions
from .selection import Selection, select_rows
from .surrogate import Surrogate, fit_surrogate_to_model


@capability(CoverOptions)
def cover(options: CoverOptions, execution: Execution[SubjectUnderTest | None]) -> Coverage | MutationScore:
    """Measure how well rows exercise a tree, or the trees of a forest.

    Each leaf stands for inputs that a tree treats alike. If no row reaches a leaf, this kind of input was never tested. If
    no row kills a mutant, the tests would not notice this fault.

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
    forest, leaves, _ = _read_trees(options, execution)
    if options.criterion == "DTMT":
        joint, tolerance = resolve_kill_rule(forest, options.joint, options.tolerance)
        result: Coverage | MutationScore = measure_kills(
            forest,
            leaves,
            per_node=options.per_node,
            joint=joint,
            tolerance=tolerance,
            notes=leaves.notes,
            progress=options.progress,
            execution=execution,
        )
    elif options.criterion == "BVA":
        result = measure_coverage(
            leaves.trees, leaves.frame, leaves.inputs, leaves.notes, options.criterion, options.offset
        )
    else:
        result = leaves
    return result.end(execution)


@capability(SelectOptions)
def select(options: SelectOptions, execution: Execution[SubjectUnderTest | None]) -> Selection:
    """Choose or make test rows that exercise a tree, or the trees of a forest.

    The rows can test any model of the same data: rows chosen by the structure of a tree are harder to get right than
    random ones (Silveira et al. 2025).

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
    forest, leaves, rows = _read_trees(options, execution)
    joint, tolerance = False, 0.0
    if options.criterion == "DTMT":
        joint, tolerance = resolve_kill_rule(forest, options.joint, options.tolerance)
    # the same rows are chosen with a surrogate, whose inputs are drawn from the generator of the run, and without
    rng = to_generator("seed", options.OWNER, execution.seed)
    selection = select_rows(forest, leaves, rows, options, rng, execution, joint=joint, tolerance=tolerance)
    return selection.end(execution)


def _read_trees(
    options: CoverOptions, execution: Execution[SubjectUnderTest | None]
) -> tuple[Forest, Coverage, pd.DataFrame]:
    """Return the trees of the model, or of a surrogate of it, their coverage, and the rows with all columns."""
    subject, space = execution.subject, options.infer_space()
    if subject is None:
        model = load_tree_model(options.model, trust=options.trust)
    else:
        has_background = options.surrogate is not True
        model = fit_surrogate_to_model(subject, execution, space, has_background=has_background, seed=options.seed)
        space = None
    return read_trees_and_rows(model, options.data, target=options.target, space=space, name=options.name)


def read_trees_and_rows(
    model: ModelLike, data: DataLike, *, target: str | None = None, space: Space | None = None, name: str | None = None
) -> tuple[Forest, Coverage, pd.DataFrame]:
    """Return the trees of a model, their coverage, and the rows with all columns; messages call the model `name`."""
    if isinstance(model, Estimator):
        model = model.model
    if isinstance(model, Surrogate):
        if space is not None:
            raise ArgumentError("A surrogate has its own space, so no other can be given. Leave space out.")
        leaves = model.cover(data, target=target)
        forest = model.forest
    else:
        forest = read_forest(model, data)
        forest = forest if name is None else replace(forest, owner=name)
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


def resolve_kill_rule(forest: Forest, joint: bool | None, tolerance: float | None) -> tuple[bool, float]:
    """Return whether the whole forest must answer differently, and by how much."""
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
