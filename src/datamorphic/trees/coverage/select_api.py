"""`select`: a test set that exercises a tree: reaches its leaves, lies at their limits, or kills its mutants."""

from __future__ import annotations

from typing import Any

from ..._validation import to_generator, validate_choice
from ...space.space import Space
from ..boundaries import STEP, Offset, validate_offset
from ..mutants import NEIGHBOURS, PerNode, validate_per_node
from .api import CRITERIA, read_model_and_data, resolve_kill_rule
from .selection import Selection, select_rows
from .surrogate_api import fit_surrogate_to_model


def select(
    model: Any,
    data: Any,
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
    surrogate: Any = False,
) -> Selection:
    """Choose test rows from data, or make some, that exercise a tree, or the trees of a forest.

    Use them on any model of the same data: rows chosen by the structure of a tree are harder to get right than random
    ones.

    Parameters
    ----------
    model : estimator, Forest or Surrogate
        What `dm.cover` takes.
    data : DataFrame, array or Points
        The rows to choose from.
    criterion : {"DTC", "BVA", "DTMT"}
        Decision-tree coverage: a row for each leaf. Boundary values: for each leaf a row made of a real one, every column
        on the path put just inside one of its limits. Mutation: for each mutant of a decision a row to which the mutant
        answers differently.
    target : str, optional
        The column that holds the label and is no input. Rows that are made get the tree's own answer there.
    minimal : bool
        Whether to look for the smallest set rather than choose at random, as published. Makes no difference to "BVA".
    seed : int
        For what is chosen at random.
    space : Space, optional
        The values that columns may have: what is put into rows that are made keeps to them.
    offset : "step", "unit", float or "beyond"
        For "BVA", how far inside a limit: one representable step, one unit, or a share of the usual spacing of the
        column's values; whole numbers stay whole. "beyond" draws values beyond the limits instead.
    per_node : "neighbours", int or None
        For "DTMT", the constants a decision is given in turn: those of the nodes before and after it that look at the same
        column; as many different ones at most; or all.
    joint : bool, optional
        For "DTMT" and a forest: whether the whole forest must answer differently, or the tree that was changed. By
        default the whole where trees only add to a score.
    tolerance : float, optional
        For "DTMT" and models that answer numbers: from what difference on an answer counts as different.
    surrogate : bool or DataFrame
        Whether to fit a tree to the answers of a model that has none, and to take that; or the rows to fit it to.

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
    validate_choice("criterion", "select", criterion, CRITERIA)
    validate_offset(offset, "select")
    validate_per_node(per_node)
    rng = to_generator("seed", "select", seed)
    if surrogate is not False:
        background = None if surrogate is True else surrogate
        model, space = fit_surrogate_to_model(model, data, background, target=target, space=space, seed=seed), None
    forest, leaves, rows = read_model_and_data(model, data, "select", target=target, space=space)
    joint, tolerance = resolve_kill_rule(forest, criterion, joint, tolerance)
    return select_rows(
        forest, leaves, rows, criterion, rng,
        target=target, minimal=minimal, offset=offset, per_node=per_node, joint=joint, tolerance=tolerance,
    )  # fmt: skip
