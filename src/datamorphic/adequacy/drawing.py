"""One tree drawn: which leaves are reached, at which decisions mutants live; large trees with parts of them folded."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from operator import itemgetter
from typing import Any

import numpy as np

from .._checks import is_number, plural, short, whole_number
from ..reports.html import alone
from ..reports.pictures import wrapped
from ..reports.summary import Drawing, Mark, Words
from ..reports.texts import cut, one_line
from ..trees.model import LEAF, Nodes, Tree
from ..trees.rules import rule
from .coverage import Coverage
from .layout import APART, LETTER, LINE, PAD, Box, edge, lay_out, units
from .mutation import LOOKED_THROUGH, MutationScore

MOST = 160  # boxes
WHOLE, DEEPEST, SHALLOW = 20, 24, 3  # levels: of a tree that is drawn whole, of paths, of what is covered anyway
WIDEST = 930  # what a page has room for; a tree that is wider is drawn from left to right
LONGEST_NAME, LONGEST_LINE, LONGEST_NOTE = 34, 20, 400
TOLD = 6  # mutants of one node
EDGE = 16.0  # around all
SMALL = 0.92 * LETTER
COMPARISON = re.compile(r" (<=|<|>=|>|is) ")


def tree_svg(found: Coverage | MutationScore, tree: int = 0, *, most: int = MOST) -> str:
    """Return one tree of a coverage or a mutation score as an SVG file.

    Parameters
    ----------
    found : Coverage or MutationScore
        What is drawn.
    tree : int
        Which tree.
    most : int
        How many boxes to draw. Of a larger tree the paths to leaves that are not reached, and to mutants that could be
        killed, are drawn; the rest is folded.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    >>> svg = tree_svg(dm.cover(tree, X[:70]))
    >>> svg[:4], svg.count("✗ no row")
    ('<svg', 1)
    """
    return alone(drawing_of(found, tree, most=most))


def drawing_of(found: Coverage | MutationScore, tree: int = 0, *, most: int = MOST) -> Drawing:
    """Return one tree as marks and words; see `tree_svg`."""
    leaves = found.leaves if isinstance(found, MutationScore) else found
    tree = whole_number("tree", "tree_svg", tree, high=len(leaves.trees) - 1)
    whole_number("most", "tree_svg", most, low=3)
    facts = Facts(leaves, tree, found if isinstance(found, MutationScore) else None)
    boxes = _boxes(facts, _opened(facts, most))
    sideways = lay_out(boxes)[0] > WIDEST
    width, height = lay_out(boxes, sideways)
    room = min(max(width, 520.0), WIDEST - EDGE)
    key, top = _key(boxes, sideways, leaves.criterion == "BVA", room)
    for box in boxes:
        box.x, box.y = box.x + EDGE, box.y + EDGE + top
    shown = [*key, *_edges(boxes, sideways, int(facts.rows[0]))]
    for box in boxes:
        shown += _drawn(box)
    key_width = max((each.x + SMALL * units(each.text) for each in key if isinstance(each, Words)), default=0.0)
    return Drawing(
        math.ceil(max(width + EDGE, key_width) + EDGE),
        math.ceil(height + top + 2 * EDGE + 5),
        shown,
        _in_words(facts, boxes),
        "It is wider than the page: scroll sideways to see all of it." if width > WIDEST else "",
    )


# -- what is known of the nodes ----------------------------------------------------------------------------------------


@dataclass
class Facts:
    """What is known of the nodes of one tree: arrays with an element for each."""

    coverage: Coverage
    number: int
    score: MutationScore | None = None

    @cached_property
    def tree(self) -> Tree:
        """The tree."""
        return self.coverage.trees[self.number]

    @cached_property
    def first(self) -> int:
        """The number of its first leaf."""
        return sum(len(tree.leaves) for tree in self.coverage.trees[: self.number])

    def _heaped(self, own: Nodes) -> Nodes:
        """Return the sum over all nodes at and below each."""
        total, left, right = own.tolist(), self.tree.left.tolist(), self.tree.right.tolist()
        for node in self.tree.inner[::-1].tolist():  # children before parents
            total[node] += total[left[node]] + total[right[node]]
        return np.array(total, dtype=np.intp)

    def _at_leaves(self, of_leaves: Any) -> Nodes:
        own = np.zeros(len(self.tree), dtype=np.intp)
        own[self.tree.leaves] = of_leaves[self.first : self.first + len(self.tree.leaves)]
        return self._heaped(own)

    @cached_property
    def rows(self) -> Nodes:
        """How many rows come by."""
        return self._at_leaves(self.coverage.counts)

    @cached_property
    def absent(self) -> Nodes:
        """How many leaves at or below are not reached."""
        return self._at_leaves(~self.coverage.covered)

    @cached_property
    def leaves(self) -> Nodes:
        """How many leaves are at or below."""
        return self._heaped((self.tree.left == LEAF).astype(np.intp))

    @cached_property
    def living(self) -> dict[int, list[int]]:
        """The mutants of each node that live, by their numbers over all trees."""
        found: dict[int, list[int]] = defaultdict(list)
        if self.score is not None:
            start = sum(map(len, self.score.of[: self.number]))
            mutants = self.score.of[self.number]
            killed = self.score.killed[start : start + len(mutants)]
            for place in np.flatnonzero(~killed).tolist():
                found[int(mutants.node[place])].append(start + place)
        return found

    @cached_property
    def explained(self) -> bool:
        """Whether it is told which of them could be killed; of very many nobody looks it up."""
        return sum(map(len, self.living.values())) <= LOOKED_THROUGH

    def killable(self, node: int) -> list[bool | None]:
        """Return for each mutant of a node that lives whether a row could kill it; None where that is not known."""
        if self.score is None or not self.explained:
            return [None for _ in self.living.get(node, ())]
        return [self.score.why(each).killable for each in self.living.get(node, ())]

    @cached_property
    def wanted(self) -> Nodes:
        """How many mutants at or below live and could be killed."""
        own = np.zeros(len(self.tree), dtype=np.intp)
        for node in self.living:
            own[node] = sum(each is True for each in self.killable(node))
        return self._heaped(own)

    def asked(self, node: int) -> str:
        """Return what a node asks, in words: what holds of the rows that go left."""
        tree, leaf = self.tree, int(self.tree.leaves[0])
        name = tree.names[int(tree.feature[node])]
        brief = cut(one_line(name), LONGEST_NAME)
        arrays = ("feature", "operator", "threshold", "missing_left", "answer", "value", "weight")
        parts: dict[str, Any] = {each: getattr(tree, each)[[node, leaf, leaf]] for each in arrays}
        if tree.told is not None:
            parts["told"] = tree.told[[node, leaf, leaf]]
        # a tree of this one decision: the rule of its first leaf is what it asks
        left, right = np.array([1, LEAF, LEAF], dtype=np.int32), np.array([2, LEAF, LEAF], dtype=np.int32)
        one = replace(tree, left=left, right=right, **parts).named(
            tuple(brief if each == name else each for each in tree.names)
        )
        known = self.coverage.categories
        return rule(
            one,
            1,
            missing={brief} if name in self.coverage.missing else (),
            categories={brief: known[name]} if name in known else None,
        )


def _opened(facts: Facts, most: int) -> set[int]:
    """Return the decisions that are drawn with what is below them."""
    tree = facts.tree
    if len(tree) <= most and int(tree.depth.max()) <= WHOLE:
        return set(tree.inner.tolist())
    # leaves that are not reached come first, then mutants that could be killed
    turn = np.where(facts.absent > 0, 0, np.where(facts.wanted > 0, 1, 2)).tolist()
    opened, waiting, boxes = set(), [(0, 0, 0)], 1
    while waiting and boxes + 2 <= most:
        _, depth, node = heappop(waiting)
        if tree.left[node] == LEAF or depth >= (DEEPEST if turn[node] < 2 else SHALLOW):
            continue
        opened.add(node)
        boxes += 2
        for child in (int(tree.left[node]), int(tree.right[node])):
            heappush(waiting, (turn[child], depth + 1, child))
    return opened


# -- boxes -------------------------------------------------------------------------------------------------------------


def _boxes(facts: Facts, opened: set[int]) -> list[Box]:
    """Return the boxes, parents first."""
    tree = facts.tree
    numbers = {int(node): facts.first + place for place, node in enumerate(tree.leaves)}
    boxes: list[Box] = []
    waiting: list[tuple[int, Box | None]] = [(0, None)]
    while waiting:
        node, parent = waiting.pop()
        if tree.left[node] == LEAF:
            box = _leaf(facts, node, numbers[node])
        elif node in opened:
            box = _decision(facts, node)
        else:
            box = _folded(facts, node)
        box.rows = int(facts.rows[node])
        if parent is not None:
            parent.children.append(len(boxes))
        boxes.append(box)
        if node in opened:
            waiting += [(int(tree.right[node]), box), (int(tree.left[node]), box)]
    return boxes


def _leaf(facts: Facts, node: int, number: int) -> Box:
    answer = facts.tree.answer_at(node)
    told = f"{answer:.5g}" if is_number(answer) and facts.tree.labels is None else short(answer)
    rows = int(facts.rows[node])
    count = (f"✓ {plural(rows, 'row')}", "mid small good") if rows else ("✗ no row", "mid small bad")
    note = f"leaf {number}: {facts.coverage.rule(number)}"
    answer_line = (cut(one_line(told), LONGEST_LINE) or "(empty)", "mid strong")
    return Box("reached" if rows else "absent", [answer_line, count], cut(note, LONGEST_NOTE))


def _decision(facts: Facts, node: int) -> Box:
    # a comparison stays on one line with its number
    asked = COMPARISON.sub(r" \1" + "\N{NO-BREAK SPACE}", facts.asked(node)) + "?"
    lines = [(line.replace("\N{NO-BREAK SPACE}", " "), "mid") for line in wrapped(asked, LONGEST_LINE)]
    living = facts.living.get(node, [])
    if living:
        lines.append(_badge(len(living), facts.killable(node)))
    return Box("asks", lines, cut(_of_node(facts, node), LONGEST_NOTE))


def _badge(live: int, killable: list[bool | None]) -> tuple[str, str]:
    if any(killable):
        return f"{live} live, {killable.count(True)} killable", "mid small on"
    return f"{live} live, equivalent" if killable == [False] * live else f"{live} live", "mid small"


def _of_node(facts: Facts, node: int) -> str:
    """Return what a node decides and which of its mutants live, in words."""
    lines = [f"node {node}: {plural(int(facts.rows[node]), 'row')} come by"]
    living = facts.living.get(node, [])
    for each in living[:TOLD]:
        assert facts.score is not None
        why = f": {facts.score.why(each).why}" if facts.explained else ""
        lines.append(f"mutant {each}: {facts.score.change(each)}{why}")
    lines += [f"and {len(living) - TOLD} more"] if len(living) > TOLD else []
    return "\n".join(lines)


def _folded(facts: Facts, node: int) -> Box:
    nodes, leaves, absent = 2 * int(facts.leaves[node]) - 1, int(facts.leaves[node]), int(facts.absent[node])
    lines = [(f"… {nodes:,} nodes", "mid")]
    if absent:
        lines.append((f"✗ {absent:,} of {leaves:,} leaves", "mid small bad"))
    else:
        lines.append((f"✓ all {leaves:,} leaves", "mid small good"))
    wanted = int(facts.wanted[node])
    if wanted:
        lines.append((f"{wanted:,} killable", "mid small on"))
    missed = "all of its leaves are reached" if not absent else f"{absent:,} of its leaves are not reached"
    return Box("folded", lines, f"folded: {missed}")


# -- marks and words ---------------------------------------------------------------------------------------------------


def _drawn(box: Box) -> list[Mark | Words]:
    shown: list[Mark | Words] = [Mark(box.outline, box.kind, box.note)]
    top = box.y - box.height / 2 + PAD / 2
    for place, (text, kind) in enumerate(box.lines):
        at = top + LINE * place
        if " on" in kind or (box.kind == "asks" and "small" in kind):
            shown.append(
                _pill(box.x, at + 0.5, SMALL * units(text) + 14, "killable" if " on" in kind else "spared")
            )
        shown.append(Words(box.x, at + 12.5, text, kind))
    return shown


def _pill(middle: float, top: float, width: float, kind: str) -> Mark:
    left = middle - width / 2
    return Mark(
        f"M{left + 7:.1f} {top:.1f}h{width - 14:.1f}a7.5 7.5 0 0 1 0 15h-{width - 14:.1f}a7.5 7.5 0 0 1 0-15z",
        kind,
    )


def _edges(boxes: list[Box], sideways: bool, rows: int) -> list[Mark | Words]:
    """Return the lines between boxes, the thicker the more rows come by, and what they stand for."""
    lines: list[Mark | Words] = []
    sides: list[Mark | Words] = []
    for box in boxes:
        for child, answer in zip(box.children, ("yes", "no"), strict=False):
            path, (x, y) = edge(box, boxes[child], sideways)
            count = boxes[child].rows
            thick = math.ceil(5 * math.sqrt(count / rows)) if rows else 0
            lines.append(Mark(path, f"edge w{thick}", f"{answer}: {plural(count, 'row')}"))
            sides.append(Words(x, y + 4, answer, "mid side"))
    return lines + sides


def _key(boxes: list[Box], sideways: bool, at_limits: bool, room: float) -> tuple[list[Mark | Words], float]:
    """Return what shapes and colours mean, in as many lines as it takes, and how high that is."""
    kinds = {box.kind for box in boxes}
    badges = {text for box in boxes if box.kind == "asks" for text, kind in box.lines[1:] if "small" in kind}
    yes, no = ("up", "down") if sideways else ("left", "right")
    rows, none = ("rows at its limits", "no row at its limits") if at_limits else ("rows", "no row")
    items = [
        ("", f"yes: {yes}, no: {no}", True),
        ("", "thick: many rows, dotted: none", True),
        ("reached", f"leaf with {rows}", "reached" in kinds),
        ("absent", f"leaf with {none}", "absent" in kinds),
        ("killable", "live mutants, some of which a row could kill", any("killable" in each for each in badges)),
        ("spared", "live mutants that nothing can kill", any("equivalent" in each for each in badges)),
        ("spared", "live mutants", any(each.endswith("live") for each in badges)),
        ("folded", "part of the tree, folded", "folded" in kinds),
    ]
    shown: list[Mark | Words] = []
    x, y = EDGE, EDGE
    for kind, text, _ in filter(itemgetter(2), items):
        width = SMALL * units(text) + (34 if kind else 0)
        if x > EDGE and x + width > room:
            x, y = EDGE, y + 24
        if kind in ("killable", "spared"):
            shown.append(_pill(x + 13, y, 26, kind))
        elif kind:
            shown.append(Mark(_sample(kind, x, y), kind))
        shown.append(Words(x + (34 if kind else 0), y + 12, text, "small"))
        x += width + APART
    return shown, y + 24


def _sample(kind: str, x: float, y: float) -> str:
    """Return a small shape of a kind of box."""
    if kind == "absent":
        return f"M{x + 5:.1f} {y:.1f}h16l5 5v5l-5 5h-16l-5-5v-5z"
    turn = 6 if kind == "reached" else 1
    path = f"M{x + turn:.1f} {y:.1f}h{26 - 2 * turn}q{turn} 0 {turn} {turn}v{15 - 2 * turn}q0 {turn}-{turn} {turn}"
    path += f"h-{26 - 2 * turn}q-{turn} 0-{turn}-{turn}v-{15 - 2 * turn}q0-{turn} {turn}-{turn}z"
    return path + (f"M{x + 4:.1f} {y + 18:.1f}h25v-15" if kind == "folded" else "")


def _in_words(facts: Facts, boxes: list[Box]) -> str:
    """Return the picture in words, for those who cannot see it."""
    leaves, absent = len(facts.tree.leaves), int(facts.absent[0])
    lines = [
        f"A decision tree of {plural(len(facts.tree), 'node')}: {leaves - absent:,} of {leaves:,} leaves are reached."
    ]
    live = sum(map(len, facts.living.values()))
    if live:
        could = f", {int(facts.wanted[0]):,} could be killed" if facts.explained else ""
        lines.append(f"{plural(live, 'mutant')} live{could}.")
    folded = sum(box.kind == "folded" for box in boxes)
    if folded:
        lines.append(f"{plural(folded, 'part')} folded.")
    missing = [box.note for box in boxes if box.kind == "absent"]
    if missing:
        lines.append("Not reached: " + "; ".join(missing[:TOLD]) + (" and more." if len(missing) > TOLD else "."))
    return " ".join(lines)
