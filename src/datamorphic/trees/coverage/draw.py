"""Draw a tree with its covered leaves and live mutants; parents are centred over their children."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import accumulate
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import numpy as np

from ..._text import format_short, pluralise
from ..._validation import is_number, validate_integer
from ...reporting.document import Drawing, Shape, TextLabel
from ...reporting.html import render_drawing
from ...reporting.svg import MIN_DRAWING_SCALE
from ...reporting.text import cut, to_one_line
from ...reporting.thinning import wrap_text
from ..mutants import MUTANT_KINDS, build_mutant
from ..rules import format_rule
from ..tree import LEAF, Nodes, Tree
from .coverage import Coverage
from .mutation import MAX_EXPLAINED_MUTANTS, MutationScore

# in pixels
LETTER_WIDTH, LINE_HEIGHT = 7.7, 17.0
BOX_PADDING = 9.0
SIBLING_GAP, LEVEL_GAP = 14.0, 46.0
CORNER_CUT = 9.0
TREE_GAP, TITLE_HEIGHT = 40.0, 30.0  # between two trees, and of their titles
MAX_BOXES = 160
MAX_MUTANT_BOXES = 80  # of a tree beside its mutant
MAX_WHOLE_DEPTH = 20  # levels of a tree that is drawn without folding
MAX_PATH_DEPTH = 24  # levels of a path to an uncovered leaf or a killable mutant
MAX_COVERED_DEPTH = 3  # levels of parts where nothing is missing
MAX_PAGE_WIDTH = 930  # pixels; a wider tree is drawn from left to right
MAX_NAME_LENGTH, MAX_LINE_LENGTH, MAX_NOTE_LENGTH, MAX_TITLE_LENGTH = 34, 20, 400, 100
MAX_LISTED_MUTANTS = 6  # per node
MAX_LISTED_LEAVES = 6  # in the text for screen readers
MARGIN = 16.0  # pixels
SMALL_LETTER_WIDTH = 0.92 * LETTER_WIDTH
FRAMED = "asks framed"  # the kind of the box of a changed decision
BADGE_SHAPES = {"killable": "killable", "equivalent": "spared", "live": "spared"}
COMPARISON = re.compile(r" (<=|<|>=|>|is) ")


class BoxLine(NamedTuple):
    """A line of text in a box; `badge` is the state of the mutants it counts."""

    text: str
    style: str = "mid"
    is_strong: bool = False
    badge: Literal["", "killable", "equivalent", "live"] = ""


@dataclass(kw_only=True)
class NodeBox:
    """A box of a drawing; `x` and `y` are its centre, `children` are list indices."""

    kind: str  # "asks" for a decision, "reached" or "absent" for a leaf, "folded" for a part that is not drawn
    lines: Sequence[BoxLine]
    note: str = ""
    rows: int = 0
    children: list[int] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        """The width in pixels."""
        letters = max(measure_text(line.text, line.is_strong) for line in self.lines)
        return max(56.0, LETTER_WIDTH * letters + 2 * BOX_PADDING)

    @property
    def height(self) -> float:
        """The height in pixels."""
        return LINE_HEIGHT * len(self.lines) + BOX_PADDING

    @property
    def outline(self) -> str:
        """The outline as an SVG path, in a shape of its own for each kind."""
        w, h, x, y = self.width, self.height, self.x - self.width / 2, self.y - self.height / 2
        if self.kind == "absent":
            c = CORNER_CUT
            return (
                f"M{x + c:.1f} {y:.1f}h{w - 2 * c:.1f}l{c} {c}v{h - 2 * c:.1f}l-{c} {c}"
                f"h-{w - 2 * c:.1f}l-{c}-{c}v-{h - 2 * c:.1f}z"
            )
        r = {"reached": 10.0, "asks": 3.0}.get(self.kind, 2.0)
        path = (
            f"M{x + r:.1f} {y:.1f}h{w - 2 * r:.1f}q{r} 0 {r} {r}v{h - 2 * r:.1f}q0 {r}-{r} {r}"
            f"h-{w - 2 * r:.1f}q-{r} 0-{r}-{r}v-{h - 2 * r:.1f}q0-{r} {r}-{r}z"
        )
        behind = f"M{x + 5:.1f} {y + h + 4:.1f}h{w:.1f}v-{h:.1f}"
        return f"{path}{behind}" if self.kind == "folded" else path


def measure_text(text: str, strong: bool = False) -> float:
    """Return the width of a text in letters; wide characters count twice."""
    letter_widths = {"W": 2.0, "F": 2.0, "A": 1.4}
    width = sum(letter_widths.get(unicodedata.east_asian_width(letter), 1.0) for letter in text)
    return (1.1 if strong else 1.0) * width


def lay_out(boxes: Sequence[NodeBox], sideways: bool = False) -> tuple[float, float]:
    """Place boxes as a tidy tree, and return the width and height of all of them.

    In the list, parents come before their children. The root is on top and children are side by side; `sideways`, the
    root is on the left and children are one below the other. Children are as close as the boxes below them allow.
    """
    breadth = [box.height if sideways else box.width for box in boxes]
    offset = [0.0] * len(boxes)  # from the middle of the parent
    extents: dict[int, list[tuple[float, float]]] = {}  # how far a subtree reaches to both sides, level by level
    for place in range(len(boxes) - 1, -1, -1):
        own_extent = (-breadth[place] / 2, breadth[place] / 2)
        if not boxes[place].children:
            extents[place] = [own_extent]
            continue
        first, second = boxes[place].children
        first_extents, second_extents = extents.pop(first), extents.pop(second)
        pairs = zip(first_extents, second_extents, strict=False)
        distance = max(right - left for (_, right), (left, _) in pairs) + SIBLING_GAP
        half = distance / 2
        offset[first], offset[second] = -half, half
        first_extents = [(low - half, high - half) for low, high in first_extents]
        second_extents = [(low + half, high + half) for low, high in second_extents]
        left_sides = first_extents + second_extents[len(first_extents) :]
        right_sides = second_extents + first_extents[len(second_extents) :]
        below = [(low, high) for (low, _), (_, high) in zip(left_sides, right_sides, strict=True)]
        extents[place] = [own_extent, *below]
    left, right = min(low for low, _ in extents[0]), max(high for _, high in extents[0])
    positions, level = [0.0] * len(boxes), [0] * len(boxes)
    positions[0] = -left
    for place, box in enumerate(boxes):
        for child in box.children:
            positions[child], level[child] = positions[place] + offset[child], level[place] + 1
    level_sizes = [0.0] * (max(level) + 1)
    for box, box_level in zip(boxes, level, strict=True):
        level_sizes[box_level] = max(level_sizes[box_level], box.width if sideways else box.height)
    starts = list(accumulate(level_sizes, lambda start, size: start + size + LEVEL_GAP, initial=0.0))
    for box, position, at in zip(boxes, positions, level, strict=True):
        if sideways:
            box.x, box.y = starts[at] + box.width / 2, position
        else:
            box.x, box.y = position, starts[at] + box.height / 2
    total = starts[-1] - LEVEL_GAP
    return (total, right - left) if sideways else (right - left, total)


def draw_edge(parent: NodeBox, child: NodeBox, sideways: bool = False) -> tuple[str, tuple[float, float]]:
    """Return the line from a box to one of its children, and its middle."""
    if sideways:
        x, y, to_x, to_y = parent.x + parent.width / 2, parent.y, child.x - child.width / 2, child.y
        middle = (x + to_x) / 2
        path = f"M{x:.1f} {y:.1f}C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
    else:
        x, y, to_x, to_y = parent.x, parent.y + parent.height / 2, child.x, child.y - child.height / 2
        middle = (y + to_y) / 2
        path = f"M{x:.1f} {y:.1f}C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
    return path, ((x + to_x) / 2, (y + to_y) / 2)


def format_tree_svg(
    coverage: Coverage, score: MutationScore | None = None, *, tree: int = 0, max_boxes: int = MAX_BOXES
) -> str:
    """Draw one tree as SVG, with at most `max_boxes` boxes.

    In a larger tree, the paths to uncovered leaves and to killable mutants are drawn, and the rest is folded.
    """
    return render_drawing(draw_tree(coverage, score, tree=tree, max_boxes=max_boxes))


def format_mutant_svg(score: MutationScore, mutant: int) -> str:
    """Draw a tree and one of its mutants as SVG; see `draw_mutant`."""
    return render_drawing(draw_mutant(score, mutant))


def draw_tree(
    coverage: Coverage, score: MutationScore | None = None, *, tree: int = 0, max_boxes: int = MAX_BOXES
) -> Drawing:
    """Draw one tree for a page; see `format_tree_svg`."""
    tree = validate_integer("tree", "to_svg", tree, high=len(coverage.trees) - 1)
    validate_integer("max_boxes", "to_svg", max_boxes, low=3)
    facts = NodeFacts(coverage, tree, score)
    boxes = _build_boxes(facts, _choose_opened(facts, max_boxes))
    sideways = lay_out(boxes)[0] > MAX_PAGE_WIDTH
    size = lay_out(boxes, sideways)
    return _join_drawings([_PlacedTree(facts, boxes, size)], sideways, coverage.criterion == "BVA")


def draw_mutant(score: MutationScore, mutant: int, *, max_boxes: int = MAX_MUTANT_BOXES) -> Drawing:
    """Draw a tree and one of its mutants, side by side or one below the other, with the changed decision framed.

    Of a tree with more than `max_boxes` nodes, the path to the changed decision is drawn, and the rest is folded.
    """
    number, place = score.place(mutant)
    mutants, leaves = score.of[number], score.leaves
    node = int(mutants.node[place])
    changed_tree = build_mutant(leaves.trees[number], mutants, place)
    changed_leaves = leaves.with_tree(number, changed_tree)
    opened = _choose_path(changed_tree, max_boxes, node)
    kind = MUTANT_KINDS[mutants.kind[place]]
    parts = []
    for title, coverage in (
        ("The tree", leaves),
        (f"Mutant {mutant} ({kind}): {score.change(mutant)}", changed_leaves),
    ):
        facts = NodeFacts(coverage, number)
        boxes = _build_boxes(facts, opened, node)
        parts.append(_PlacedTree(facts, boxes, (0.0, 0.0), cut(to_one_line(title), MAX_TITLE_LENGTH)))
    sideways = max(lay_out(part.boxes)[0] for part in parts) > MAX_PAGE_WIDTH
    parts = [part._replace(size=lay_out(part.boxes, sideways)) for part in parts]
    killers = pluralise(int(score.counts[mutant]), "row")
    caption = f"{score.change(mutant)}: {killers} of {score.rows:,} get another answer"
    return replace(_join_drawings(parts, sideways, False), caption=cut(to_one_line(caption), MAX_NOTE_LENGTH))


class _PlacedTree(NamedTuple):
    """A tree to draw: its figures, and its boxes with the room that they take."""

    facts: NodeFacts
    boxes: list[NodeBox]
    size: tuple[float, float]
    title: str = ""


def _join_drawings(parts: Sequence[_PlacedTree], sideways: bool, at_limits: bool) -> Drawing:
    """Draw trees below a legend: side by side if the page has room for all, otherwise one below the other."""
    widths = [max(part.size[0], LETTER_WIDTH * 1.1 * measure_text(part.title)) for part in parts]
    beside = sum(widths) + TREE_GAP * (len(parts) - 1) <= MAX_PAGE_WIDTH
    width = sum(widths) + TREE_GAP * (len(parts) - 1) if beside else max(widths)
    room = min(max(width, 520.0), MAX_PAGE_WIDTH - MARGIN)
    key, top = _draw_key([box for part in parts for box in part.boxes], sideways, at_limits, room)
    marks, left, bottom = [*key], MARGIN, top + MARGIN
    for part, tree_width in zip(parts, widths, strict=True):
        start = top + MARGIN if beside else bottom
        if part.title:
            marks.append(TextLabel(left, start + TITLE_HEIGHT / 2, part.title, "strong"))
            start += TITLE_HEIGHT
        for box in part.boxes:
            box.x, box.y = box.x + left, box.y + start
        marks += _draw_edges(part.boxes, sideways, int(part.facts.rows[0]))
        for box in part.boxes:
            marks += _draw_box(box)
        bottom = max(bottom, start + part.size[1]) if beside else start + part.size[1] + TREE_GAP
        left += tree_width + TREE_GAP if beside else 0.0
    bottom -= 0.0 if beside else TREE_GAP
    key_width = max(
        (mark.x + SMALL_LETTER_WIDTH * measure_text(mark.text) for mark in key if isinstance(mark, TextLabel)),
        default=0.0,
    )
    texts = [_describe_drawing(part.facts, part.boxes) for part in parts]
    return Drawing(
        width=math.ceil(max(width + MARGIN, key_width) + MARGIN),
        height=math.ceil(bottom + MARGIN + 5),
        shapes=marks,
        alt=" ".join(f"{part.title}: {text}" if part.title else text for part, text in zip(parts, texts, strict=True)),
        caption="The tree is wider than the page: scroll sideways to see all of it."
        if MIN_DRAWING_SCALE * width > MAX_PAGE_WIDTH
        else "",
    )


# -- figures per node --------------------------------------------------------------------------------------------------


class NodeFacts:
    """The figures of the nodes of one tree: arrays with one element per node."""

    def __init__(self, coverage: Coverage, number: int, score: MutationScore | None = None) -> None:
        self.coverage, self.score, self.tree = coverage, score, coverage.trees[number]
        self.first = sum(len(tree.leaves) for tree in coverage.trees[:number])  # the number of its first leaf
        counts, reached = np.zeros((2, len(self.tree)), dtype=np.intp)
        counts[self.tree.leaves] = coverage.counts[self.first : self.first + len(self.tree.leaves)]
        reached[self.tree.leaves] = counts[self.tree.leaves] > 0
        self.rows = self._sum_upwards(counts)  # that reach each node
        self.leaves = self._sum_upwards((self.tree.left == LEAF).astype(np.intp))  # at or below each node
        self.uncovered = self.leaves - self._sum_upwards(reached)  # leaves at or below each node
        self.live_mutants: dict[int, list[int]] = defaultdict(list)  # of each node, by their numbers over all trees
        if score is not None:
            start, mutants = sum(map(len, score.of[:number])), score.of[number]
            for place in np.flatnonzero(~score.killed[start : start + len(mutants)]).tolist():
                self.live_mutants[int(mutants.node[place])].append(start + place)
        # whether there are few enough live mutants to explain all of them
        self.explained = sum(map(len, self.live_mutants.values())) <= MAX_EXPLAINED_MUTANTS

    def _sum_upwards(self, counts: Nodes) -> Nodes:
        """Return the sum of each node and all nodes below it."""
        total, left, right = counts.tolist(), self.tree.left.tolist(), self.tree.right.tolist()
        for node in self.tree.inner[::-1].tolist():  # children before parents
            total[node] += total[left[node]] + total[right[node]]
        return np.array(total, dtype=np.intp)

    def list_killable(self, node: int) -> list[bool | None]:
        """Return whether a row could kill each live mutant of a node; None if unknown."""
        score, mutants = self.score, self.live_mutants.get(node, ())
        return [score.why(mutant).killable if score is not None and self.explained else None for mutant in mutants]

    @cached_property
    def killable_mutants(self) -> Nodes:
        """The number of killable live mutants at or below each node."""
        counts = np.zeros(len(self.tree), dtype=np.intp)
        for node in self.live_mutants:
            counts[node] = sum(is_killable is True for is_killable in self.list_killable(node))
        return self._sum_upwards(counts)

    def format_question(self, node: int) -> str:
        """Return the condition under which rows go left at a node, as text."""
        tree, leaf = self.tree, int(self.tree.leaves[0])
        name = tree.names[int(tree.feature[node])]
        short_name = cut(to_one_line(name), MAX_NAME_LENGTH)
        arrays = ("feature", "operator", "threshold", "missing_left", "answer", "value", "weight")
        parts: dict[str, Any] = {attribute: getattr(tree, attribute)[[node, leaf, leaf]] for attribute in arrays}
        if tree.data_thresholds is not None:
            parts["data_thresholds"] = tree.data_thresholds[[node, leaf, leaf]]
        # the rule of the first leaf of a tree with this one decision is the question
        left, right = np.array([1, LEAF, LEAF], dtype=np.int32), np.array([2, LEAF, LEAF], dtype=np.int32)
        names = tuple(short_name if column == name else column for column in tree.names)
        stump = replace(tree, left=left, right=right, names=names, **parts)
        missing = {short_name} if name in self.coverage.missing else ()
        categories = self.coverage.categories
        values = {short_name: categories[name]} if name in categories else None
        return format_rule(stump, 1, missing=missing, categories=values)


def _choose_opened(facts: NodeFacts, max_boxes: int) -> set[int]:
    """Choose the decisions that are drawn with their children."""
    tree = facts.tree
    if len(tree) <= max_boxes and int(tree.depth.max()) <= MAX_WHOLE_DEPTH:
        return set(tree.inner.tolist())
    # uncovered leaves come first, then killable mutants
    priority = np.where(facts.uncovered > 0, 0, np.where(facts.killable_mutants > 0, 1, 2)).tolist()
    opened, pending, boxes = set(), [(0, 0, 0)], 1
    while pending and boxes + 2 <= max_boxes:
        _, depth, node = heappop(pending)
        if tree.left[node] == LEAF or depth >= (MAX_PATH_DEPTH if priority[node] < 2 else MAX_COVERED_DEPTH):
            continue
        opened.add(node)
        boxes += 2
        for child in (int(tree.left[node]), int(tree.right[node])):
            heappush(pending, (priority[child], depth + 1, child))
    return opened


def _choose_path(tree: Tree, max_boxes: int, changed: int) -> set[int]:
    """Choose the decisions that are drawn with their children: all of a small tree, otherwise those on the path to one."""
    if len(tree) <= max_boxes and int(tree.depth.max()) <= MAX_WHOLE_DEPTH:
        return set(tree.inner.tolist())
    return {changed, *(node for node, _ in tree.path(changed))}


# -- boxes -------------------------------------------------------------------------------------------------------------


def _build_boxes(facts: NodeFacts, opened: set[int], changed: int = LEAF) -> list[NodeBox]:
    """Build the boxes, parents before children; that of the `changed` decision is framed."""
    tree = facts.tree
    numbers = {int(node): facts.first + place for place, node in enumerate(tree.leaves)}
    boxes: list[NodeBox] = []
    pending: list[tuple[int, NodeBox | None]] = [(0, None)]
    while pending:
        node, parent = pending.pop()
        if tree.left[node] == LEAF:
            box = _build_leaf_box(facts, node, numbers[node])
        elif node in opened:
            box = _build_decision_box(facts, node)
            box.kind = FRAMED if node == changed else box.kind
        else:
            box = _build_folded_box(facts, node)
        box.rows = int(facts.rows[node])
        if parent is not None:
            parent.children.append(len(boxes))
        boxes.append(box)
        if node in opened:
            pending += [(int(tree.right[node]), box), (int(tree.left[node]), box)]
    return boxes


def _build_leaf_box(facts: NodeFacts, node: int, number: int) -> NodeBox:
    answer = facts.tree.answer_at(node)
    answer_text = f"{answer:.5g}" if is_number(answer) and facts.tree.labels is None else format_short(answer)
    rows = int(facts.rows[node])
    count = BoxLine(f"✓ {pluralise(rows, 'row')}", "mid small good") if rows else BoxLine("✗ no row", "mid small bad")
    note = f"leaf {number}: {facts.coverage.rule(number)}"
    answer_line = BoxLine(cut(to_one_line(answer_text), MAX_LINE_LENGTH) or "(empty)", "mid strong", is_strong=True)
    return NodeBox(kind="reached" if rows else "absent", lines=[answer_line, count], note=cut(note, MAX_NOTE_LENGTH))


def _build_decision_box(facts: NodeFacts, node: int) -> NodeBox:
    # keep a comparison and its number on one line
    question = COMPARISON.sub(r" \1" + "\N{NO-BREAK SPACE}", facts.format_question(node)) + "?"
    lines = [BoxLine(line.replace("\N{NO-BREAK SPACE}", " ")) for line in wrap_text(question, MAX_LINE_LENGTH)]
    live_mutants = facts.live_mutants.get(node, [])
    if live_mutants:
        lines.append(_build_badge(len(live_mutants), facts.list_killable(node)))
    return NodeBox(kind="asks", lines=lines, note=cut(_describe_node(facts, node), MAX_NOTE_LENGTH))


def _build_badge(live: int, killable: list[bool | None]) -> BoxLine:
    if any(killable):
        return BoxLine(f"{live} live, {killable.count(True)} killable", "mid small on", badge="killable")
    if all(is_killable is False for is_killable in killable):
        return BoxLine(f"{live} live, equivalent", "mid small", badge="equivalent")
    return BoxLine(f"{live} live", "mid small", badge="live")


def _describe_node(facts: NodeFacts, node: int) -> str:
    """Return the rows and the live mutants of a node, as text."""
    lines = [f"node {node}: reached by {pluralise(int(facts.rows[node]), 'row')}"]
    live_mutants = facts.live_mutants.get(node, [])
    for mutant in live_mutants[:MAX_LISTED_MUTANTS]:
        assert facts.score is not None
        reason = f": {facts.score.why(mutant).why}" if facts.explained else ""
        lines.append(f"mutant {mutant}: {facts.score.change(mutant)}{reason}")
    if len(live_mutants) > MAX_LISTED_MUTANTS:
        lines.append(f"and {len(live_mutants) - MAX_LISTED_MUTANTS} more")
    return "\n".join(lines)


def _build_folded_box(facts: NodeFacts, node: int) -> NodeBox:
    leaves, uncovered = int(facts.leaves[node]), int(facts.uncovered[node])
    status, line = "all of its leaves are reached", BoxLine(f"✓ all {leaves:,} leaves", "mid small good")
    if uncovered:
        status = f"{uncovered:,} of its leaves are not reached"
        line = BoxLine(f"✗ {uncovered:,} of {leaves:,} leaves", "mid small bad")
    lines = [BoxLine(f"… {2 * leaves - 1:,} nodes"), line]
    killable = int(facts.killable_mutants[node])
    if killable:
        lines.append(BoxLine(f"{killable:,} killable", "mid small on", badge="killable"))
    return NodeBox(kind="folded", lines=lines, note=f"folded: {status}")


# -- shapes and labels -------------------------------------------------------------------------------------------------


def _draw_box(box: NodeBox) -> list[Shape | TextLabel]:
    marks: list[Shape | TextLabel] = [Shape(box.outline, box.kind, box.note)]
    top = box.y - box.height / 2 + BOX_PADDING / 2
    for place, line in enumerate(box.lines):
        line_top = top + LINE_HEIGHT * place
        if line.badge:
            width = SMALL_LETTER_WIDTH * measure_text(line.text) + 14
            marks.append(_draw_pill(box.x, line_top + 0.5, width, BADGE_SHAPES[line.badge]))
        marks.append(TextLabel(box.x, line_top + 12.5, line.text, line.style))
    return marks


def _draw_pill(middle: float, top: float, width: float, kind: str) -> Shape:
    left = middle - width / 2
    path = f"M{left + 7:.1f} {top:.1f}h{width - 14:.1f}a7.5 7.5 0 0 1 0 15h-{width - 14:.1f}a7.5 7.5 0 0 1 0-15z"
    return Shape(path, kind)


def _draw_edges(boxes: list[NodeBox], sideways: bool, rows: int) -> list[Shape | TextLabel]:
    """Draw the lines between boxes, thicker where more rows pass, and their labels."""
    lines: list[Shape | TextLabel] = []
    sides: list[Shape | TextLabel] = []
    for box in boxes:
        for child, answer in zip(box.children, ("yes", "no"), strict=False):
            path, (x, y) = draw_edge(box, boxes[child], sideways)
            count = boxes[child].rows
            thickness = math.ceil(5 * math.sqrt(count / rows)) if rows else 0
            lines.append(Shape(path, f"edge w{thickness}", f"{answer}: {pluralise(count, 'row')}"))
            sides.append(TextLabel(x, y + 4, answer, "mid side"))
    return lines + sides


def _draw_key(
    boxes: list[NodeBox], sideways: bool, at_limits: bool, room: float
) -> tuple[list[Shape | TextLabel], float]:
    """Draw the legend in as many lines as it needs, and return it with its height."""
    kinds = {box.kind for box in boxes}
    badges = {line.badge for box in boxes if box.kind == "asks" for line in box.lines}
    yes, no = ("up", "down") if sideways else ("left", "right")
    rows, none = ("rows at its limits", "no row at its limits") if at_limits else ("rows", "no row")
    items = [
        ("", f"yes: {yes}, no: {no}", True),
        ("", "thick: many rows, dotted: none", True),
        ("reached", f"leaf with {rows}", "reached" in kinds),
        ("absent", f"leaf with {none}", "absent" in kinds),
        ("killable", "live mutants, some of which a row could kill", "killable" in badges),
        ("spared", "live mutants that no possible input kills", "equivalent" in badges),
        ("spared", "live mutants", "live" in badges),
        ("folded", "part of the tree, folded", "folded" in kinds),
        (FRAMED, "the decision that the mutant changes", FRAMED in kinds),
    ]
    marks: list[Shape | TextLabel] = []
    x, y = MARGIN, MARGIN
    for kind, text, _ in filter(itemgetter(2), items):
        width = SMALL_LETTER_WIDTH * measure_text(text) + (34 if kind else 0)
        if x > MARGIN and x + width > room:
            x, y = MARGIN, y + 24
        if kind in ("killable", "spared"):
            marks.append(_draw_pill(x + 13, y, 26, kind))
        elif kind:
            marks.append(Shape(_format_sample_path(kind, x, y), kind))
        marks.append(TextLabel(x + (34 if kind else 0), y + 12, text, "small"))
        x += width + SIBLING_GAP
    return marks, y + 24


def _format_sample_path(kind: str, x: float, y: float) -> str:
    """Return the outline of a small box for the legend."""
    if kind == "absent":
        return f"M{x + 5:.1f} {y:.1f}h16l5 5v5l-5 5h-16l-5-5v-5z"
    turn = 6 if kind == "reached" else 1
    path = f"M{x + turn:.1f} {y:.1f}h{26 - 2 * turn}q{turn} 0 {turn} {turn}v{15 - 2 * turn}q0 {turn}-{turn} {turn}"
    path += f"h-{26 - 2 * turn}q-{turn} 0-{turn}-{turn}v-{15 - 2 * turn}q0-{turn} {turn}-{turn}z"
    return path + (f"M{x + 4:.1f} {y + 18:.1f}h25v-15" if kind == "folded" else "")


def _describe_drawing(facts: NodeFacts, boxes: list[NodeBox]) -> str:
    """Return the picture as text for screen readers."""
    leaves, uncovered = len(facts.tree.leaves), int(facts.uncovered[0])
    lines = [
        f"A decision tree of {pluralise(len(facts.tree), 'node')}: {leaves - uncovered:,} of {leaves:,} leaves are reached."
    ]
    live = sum(map(len, facts.live_mutants.values()))
    if live:
        killable_text = f", {int(facts.killable_mutants[0]):,} could be killed" if facts.explained else ""
        lines.append(f"{pluralise(live, 'mutant')} live{killable_text}.")
    folded = sum(box.kind == "folded" for box in boxes)
    if folded:
        lines.append(f"{pluralise(folded, 'part')} folded.")
    notes = [box.note for box in boxes if box.kind == "absent"]
    if notes:
        end = " and more." if len(notes) > MAX_LISTED_LEAVES else "."
        lines.append(f"Not reached: {'; '.join(notes[:MAX_LISTED_LEAVES])}{end}")
    return " ".join(lines)
