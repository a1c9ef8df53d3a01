"""`select`: choose a test set that exercises a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._typing import DataLike, ModelLike
from ...space.options import SpaceOptions
from ...space.space import Space
from ..boundaries import STEP, Offset
from ..mutants import NEIGHBOURS, PerNode
from .api import read_trees_and_rows, resolve_kill_rule
from .options import SelectOptions
from .selection import Selection, select_rows


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
