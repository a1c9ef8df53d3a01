"""Lay out the boxes of a tree, parents centred over their children."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, NamedTuple

# in pixels
LETTER_WIDTH, LINE_HEIGHT = 7.7, 17.0
BOX_PADDING = 9.0
SIBLING_GAP, LEVEL_GAP = 14.0, 46.0
CORNER_CUT = 9.0


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
