"""Mutants of a tree: one decision changed in each, by another comparison (ORRN) or another constant (Cccr)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import reject
from .tree import EQUAL, OPERATORS, WITHIN, WITHOUT, Floats, Nodes, Tree

MUTANT_KINDS = ("ORRN", "Cccr")
ORRN, CCCR = range(len(MUTANT_KINDS))
NEIGHBOURS = "neighbours"

PerNode = str | int | None


@dataclass(frozen=True, eq=False)
class Mutants:
    """Mutants of one tree, as columns, those of a node together and nodes in pre-order.

    Attributes
    ----------
    node : array of int
        The node that is changed.
    kind : array of int
        How, as a place in `KINDS`.
    operator : array of int
        How the node compares then, as a place in `OPERATORS`.
    threshold : array of float
        With what it compares then.
    donor : array of int
        The node this constant comes from: the node itself where only the comparison changes.
    """

    node: Nodes
    kind: npt.NDArray[np.int8]
    operator: npt.NDArray[np.int8]
    threshold: Floats
    donor: Nodes

    def __len__(self) -> int:
        return len(self.node)


def generate_mutants(tree: Tree, per_node: PerNode = NEIGHBOURS) -> Mutants:
    """Return the mutants of a tree.

    Each comparison is replaced by each of the four others; "in" becomes "not in". Each constant is replaced by
    constants that other nodes compare the same column with.

    Parameters
    ----------
    tree : Tree
        The tree.
    per_node : "neighbours", int or None
        Which constants: "neighbours" takes those of the last node before and of the first node after it, in pre-order,
        that look at the same column; a number as many different ones at most, in pre-order; None all there are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from datamorphic.trees.read import trees_of
    >>> [tree] = trees_of(DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True)))
    >>> found = mutants_of(tree)
    >>> len(found), int((found.kind == 0).sum()), int((found.kind == 1).sum())
    (42, 32, 10)
    """
    validate_per_node(per_node)
    nodes_by_column: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for node in tree.inner.tolist():
        nodes_by_column[_get_compared_column(tree, node)].append(node)
    changes: list[tuple[int, int, int, int]] = []
    place = {node: i for nodes in nodes_by_column.values() for i, node in enumerate(nodes)}
    for node in tree.inner.tolist():
        current = int(tree.operator[node])
        others = (WITHIN, WITHOUT) if current >= WITHIN else range(EQUAL + 1)
        changes += [(node, ORRN, operator_code, node) for operator_code in others if operator_code != current]
        same_column_nodes = nodes_by_column[_get_compared_column(tree, node)]
        changes += [
            (node, CCCR, current, donor) for donor in _find_donors(tree, same_column_nodes, place[node], per_node)
        ]
    table = np.array(changes, dtype=np.intp).reshape(-1, 4)
    node, kind, operator, donor = table.T
    return Mutants(node, kind.astype(np.int8), operator.astype(np.int8), tree.threshold[donor], donor)


def validate_per_node(per_node: Any) -> None:
    """Raise `ArgumentError` if this says nothing about which constants to take."""
    is_count = isinstance(per_node, int) and not isinstance(per_node, bool) and per_node >= 0
    if per_node is not None and per_node != NEIGHBOURS and not is_count:
        reject("per_node", "mutants of trees", f"{NEIGHBOURS!r}, a number of constants, or None for all", per_node)


def _get_compared_column(tree: Tree, node: int) -> tuple[int, bool]:
    """Return what a node compares: a set of categories is no constant for a node that compares numbers."""
    return int(tree.feature[node]), bool(tree.operator[node] >= WITHIN)


def _find_donors(tree: Tree, same_column_nodes: list[int], place: int, per_node: PerNode) -> list[int]:
    """Return the nodes whose constants a node is given in turn, out of those that look at the same column."""
    if per_node == NEIGHBOURS:
        return same_column_nodes[max(0, place - 1) : place] + same_column_nodes[place + 1 : place + 2]
    node_by_threshold = {float(tree.threshold[node]): node for node in reversed(same_column_nodes)}
    node_by_threshold.pop(float(tree.threshold[same_column_nodes[place]]))
    donors = sorted(node_by_threshold.values(), key=same_column_nodes.index)
    assert per_node is None or isinstance(per_node, int)
    return donors[:per_node]


def build_mutant(tree: Tree, mutants: Mutants, number: int) -> Tree:
    """Return the tree that one mutant is."""
    from dataclasses import replace

    node = int(mutants.node[number])
    operator, threshold = tree.operator.copy(), tree.threshold.copy()
    operator[node], threshold[node] = mutants.operator[number], mutants.threshold[number]
    data_thresholds = tree.data_thresholds
    if data_thresholds is not None:
        data_thresholds = data_thresholds.copy()
        data_thresholds[node] = data_thresholds[mutants.donor[number]]
    return replace(tree, operator=operator, threshold=threshold, data_thresholds=data_thresholds)


def format_change(
    tree: Tree, mutants: Mutants, number: int, categories: Mapping[str, Sequence[Any]] | None = None
) -> str:
    """Return what a mutant changes, in words; `categories` as for `rules.rule`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from datamorphic.trees.read import trees_of
    >>> [tree] = trees_of(DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True)))
    >>> told_change(tree, mutants_of(tree), 0), told_change(tree, mutants_of(tree), 4)
    ('x3 <= 0.8 becomes x3 < 0.8', 'x3 <= 0.8 becomes x3 <= 1.75')
    """
    node, donor = int(mutants.node[number]), int(mutants.donor[number])
    before = _format_comparison(tree, node, int(tree.operator[node]), node, categories or {})
    return f"{before} becomes {_format_comparison(tree, node, int(mutants.operator[number]), donor, categories or {})}"


def _format_comparison(
    tree: Tree, node: int, operator: int, donor: int, categories: Mapping[str, Sequence[Any]]
) -> str:
    from .rules import build_range, format_categories, format_limit

    thresholds = tree.data_thresholds if tree.data_thresholds is not None else tree.threshold
    limit = float(thresholds[donor])
    name = tree.names[int(tree.feature[node])]
    if name in categories:
        return (
            format_categories(name, build_range(operator, limit, True, False, tree.sets), categories[name])
            or f"{name} is any"
        )
    if operator >= WITHIN:
        text = "{" + ", ".join(map(str, sorted(tree.sets[int(limit)]))) + "}"
    else:
        text = format_limit(limit, tree.single and tree.data_thresholds is None)[0]
    return f"{name} {OPERATORS[operator]} {text}"
