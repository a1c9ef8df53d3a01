"""Mutants of a tree: one comparison (ORRN) or one constant (Cccr) changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import reject
from .rules import build_range, format_categories, format_limit
from .tree import EQUAL, OPERATORS, WITHIN, WITHOUT, Floats, Nodes, Tree

MUTANT_KINDS = ("ORRN", "Cccr")
ORRN, CCCR = range(len(MUTANT_KINDS))
NEIGHBOURS = "neighbours"

PerNode = str | int | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Mutants:
    """The mutants of one tree, as arrays, grouped by node in pre-order."""

    node: Nodes  # the node that is changed
    kind: npt.NDArray[np.int8]  # the kind of change, as an index of `MUTANT_KINDS`
    operator: npt.NDArray[np.int8]  # the new comparison, as an index of `OPERATORS`
    threshold: Floats  # the new constant
    donor: Nodes  # the node that the constant comes from: the node itself if only the comparison changes

    def __len__(self) -> int:
        return len(self.node)

    @classmethod
    def empty(cls) -> Mutants:
        """Return no mutants."""
        codes, nodes = np.empty(0, dtype=np.int8), np.empty(0, dtype=np.intp)
        return cls(node=nodes, kind=codes, operator=codes, threshold=np.empty(0), donor=nodes)


def generate_mutants(tree: Tree, per_node: PerNode = NEIGHBOURS) -> Mutants:
    """Generate the mutants of a tree.

    Each comparison is replaced by each of the other four; "in" becomes "not in". Each constant is replaced by constants
    that other nodes compare the same column with. `per_node` "neighbours" are those of the last node before and the
    first node after it in pre-order; a number is the maximum of different constants, in pre-order; None means all.
    """
    validate_per_node(per_node, "generate_mutants")
    nodes_by_column: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for node in tree.inner.tolist():
        nodes_by_column[int(tree.feature[node]), bool(tree.operator[node] >= WITHIN)].append(node)
    changes: list[tuple[int, int, int, int]] = []
    location = {node: (nodes, place) for nodes in nodes_by_column.values() for place, node in enumerate(nodes)}
    for node in tree.inner.tolist():
        current = int(tree.operator[node])
        others = (WITHIN, WITHOUT) if current >= WITHIN else range(EQUAL + 1)
        changes += [(node, ORRN, operator_code, node) for operator_code in others if operator_code != current]
        changes += [(node, CCCR, current, donor) for donor in _find_donors(tree, *location[node], per_node)]
    node, kind, operator, donor = np.array(changes, dtype=np.intp).reshape(-1, 4).T
    return Mutants(
        node=node,
        kind=kind.astype(np.int8),
        operator=operator.astype(np.int8),
        threshold=tree.threshold[donor],
        donor=donor,
    )


def validate_per_node(per_node: object, owner: str) -> None:
    """Raise `ArgumentError` if `per_node` is invalid."""
    is_count = isinstance(per_node, int) and not isinstance(per_node, bool) and per_node >= 0
    is_name = isinstance(per_node, str) and per_node == NEIGHBOURS
    if per_node is not None and not is_name and not is_count:
        reject("per_node", owner, f"{NEIGHBOURS!r}, a number of constants, or None for all", per_node)


def _find_donors(tree: Tree, same_column_nodes: list[int], place: int, per_node: PerNode) -> list[int]:
    """Return the nodes whose constants replace that of a node."""
    threshold = tree.threshold[same_column_nodes[place]]
    if per_node == NEIGHBOURS:
        neighbours = same_column_nodes[max(0, place - 1) : place] + same_column_nodes[place + 1 : place + 2]
        return [node for node in neighbours if tree.threshold[node] != threshold]  # an equal constant changes nothing
    node_by_threshold = {float(tree.threshold[node]): node for node in reversed(same_column_nodes)}
    node_by_threshold.pop(float(threshold))
    donors = sorted(node_by_threshold.values(), key=same_column_nodes.index)
    assert per_node is None or isinstance(per_node, int)
    return donors[:per_node]


def build_mutant(tree: Tree, mutants: Mutants, number: int) -> Tree:
    """Build the tree of one mutant."""
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
    """Return the change of a mutant as text; `categories` as for `rules.format_rule`."""
    node, donor = int(mutants.node[number]), int(mutants.donor[number])
    before = _format_comparison(tree, node, int(tree.operator[node]), node, categories or {})
    return f"{before} becomes {_format_comparison(tree, node, int(mutants.operator[number]), donor, categories or {})}"


def _format_comparison(
    tree: Tree, node: int, operator: int, donor: int, categories: Mapping[str, Sequence[Any]]
) -> str:
    thresholds = tree.data_thresholds if tree.data_thresholds is not None else tree.threshold
    limit, name = float(thresholds[donor]), tree.names[int(tree.feature[node])]
    if name in categories:
        range_ = build_range(operator, limit, True, False, tree.sets)
        return format_categories(name, range_, categories[name]) or f"{name} is any"
    if operator >= WITHIN:
        text = "{" + ", ".join(map(str, sorted(tree.sets[int(limit)]))) + "}"
    else:
        text = format_limit(limit, tree.single and tree.data_thresholds is None)[0]
    return f"{name} {OPERATORS[operator]} {text}"
