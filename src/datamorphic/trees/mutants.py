"""Mutants of a tree: one decision changed in each, by another comparison (ORRN) or another constant (Cccr)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._checks import reject
from .model import EQUAL, OPERATORS, WITHIN, WITHOUT, Floats, Nodes, Tree

KINDS = ("ORRN", "Cccr")
ORRN, CCCR = range(len(KINDS))
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


def mutants_of(tree: Tree, per_node: PerNode = NEIGHBOURS) -> Mutants:
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
    >>> from datamorphic.trees.reading import trees_of
    >>> [tree] = trees_of(DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True)))
    >>> found = mutants_of(tree)
    >>> len(found), int((found.kind == 0).sum()), int((found.kind == 1).sum())
    (42, 32, 10)
    """
    check_per_node(per_node)
    alike: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for node in tree.inner.tolist():
        alike[_looks_at(tree, node)].append(node)
    changes: list[tuple[int, int, int, int]] = []
    place = {node: i for nodes in alike.values() for i, node in enumerate(nodes)}
    for node in tree.inner.tolist():
        now = int(tree.operator[node])
        others = (WITHIN, WITHOUT) if now >= WITHIN else range(EQUAL + 1)
        changes += [(node, ORRN, other, node) for other in others if other != now]
        same = alike[_looks_at(tree, node)]
        changes += [(node, CCCR, now, donor) for donor in _donors(tree, same, place[node], per_node)]
    table = np.array(changes, dtype=np.intp).reshape(-1, 4)
    node, kind, operator, donor = table.T
    return Mutants(node, kind.astype(np.int8), operator.astype(np.int8), tree.threshold[donor], donor)


def check_per_node(per_node: Any) -> None:
    """Raise `ArgumentError` if this says nothing about which constants to take."""
    whole = isinstance(per_node, int) and not isinstance(per_node, bool) and per_node >= 0
    if per_node is not None and per_node != NEIGHBOURS and not whole:
        reject("per_node", "mutants of trees", f"{NEIGHBOURS!r}, a number of constants, or None for all", per_node)


def _looks_at(tree: Tree, node: int) -> tuple[int, bool]:
    """Return what a node compares: a set of categories is no constant for a node that compares numbers."""
    return int(tree.feature[node]), bool(tree.operator[node] >= WITHIN)


def _donors(tree: Tree, same: list[int], place: int, per_node: PerNode) -> list[int]:
    """Return the nodes whose constants a node is given in turn, out of those that look at the same column."""
    if per_node == NEIGHBOURS:
        return same[max(0, place - 1) : place] + same[place + 1 : place + 2]
    first = {float(tree.threshold[node]): node for node in reversed(same)}
    first.pop(float(tree.threshold[same[place]]))
    donors = sorted(first.values(), key=same.index)
    assert per_node is None or isinstance(per_node, int)
    return donors[:per_node]


def mutated(tree: Tree, mutants: Mutants, number: int) -> Tree:
    """Return the tree that one mutant is."""
    from dataclasses import replace

    node = int(mutants.node[number])
    operator, threshold = tree.operator.copy(), tree.threshold.copy()
    operator[node], threshold[node] = mutants.operator[number], mutants.threshold[number]
    told = tree.told
    if told is not None:
        told = told.copy()
        told[node] = told[mutants.donor[number]]
    return replace(tree, operator=operator, threshold=threshold, told=told)


def told_change(
    tree: Tree, mutants: Mutants, number: int, categories: Mapping[str, Sequence[Any]] | None = None
) -> str:
    """Return what a mutant changes, in words; `categories` as for `rules.rule`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from datamorphic.trees.reading import trees_of
    >>> [tree] = trees_of(DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True)))
    >>> told_change(tree, mutants_of(tree), 0), told_change(tree, mutants_of(tree), 4)
    ('x3 <= 0.8 becomes x3 < 0.8', 'x3 <= 0.8 becomes x3 <= 1.75')
    """
    node, donor = int(mutants.node[number]), int(mutants.donor[number])
    before = _comparison(tree, node, int(tree.operator[node]), node, categories or {})
    return f"{before} becomes {_comparison(tree, node, int(mutants.operator[number]), donor, categories or {})}"


def _comparison(tree: Tree, node: int, operator: int, donor: int, categories: Mapping[str, Sequence[Any]]) -> str:
    from .rules import among, passing, told_limit

    thresholds = tree.told if tree.told is not None else tree.threshold
    limit = float(thresholds[donor])
    name = tree.names[int(tree.feature[node])]
    if name in categories:
        return among(name, passing(operator, limit, True, False, tree.sets), categories[name]) or f"{name} is any"
    if operator >= WITHIN:
        text = "{" + ", ".join(map(str, sorted(tree.sets[int(limit)]))) + "}"
    else:
        text = told_limit(limit, tree.single and tree.told is None)[0]
    return f"{name} {OPERATORS[operator]} {text}"
