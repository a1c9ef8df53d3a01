"""Boxes of a tree laid out tidily: parents over the middle of their children, nothing over anything else."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

LETTER_WIDTH, LINE_HEIGHT = 7.7, 17.0  # how wide a letter is, about, and how high a line
BOX_PADDING = 9.0  # between the words of a box and its outline
SIBLING_GAP, LEVEL_GAP = 14.0, 46.0  # boxes side by side, and a box and its children
CORNER_CUT = 9.0  # how much of each corner is cut off where a box has eight


@dataclass
class NodeBox:
    """A box with lines of text, each with its kind, and where it lies; `children` are places in the list of boxes."""

    kind: str
    lines: Sequence[tuple[str, str]]
    note: str = ""
    rows: int = 0
    children: list[int] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        """How wide it is."""
        return max(
            56.0,
            LETTER_WIDTH * max(measure_text(text, "strong" in kind) for text, kind in self.lines)
            + 2 * BOX_PADDING,
        )

    @property
    def height(self) -> float:
        """How high it is."""
        return LINE_HEIGHT * len(self.lines) + BOX_PADDING

    @property
    def outline(self) -> str:
        """Its outline: eight corners where no row comes, round ones where some do, two sheets where more is folded."""
        w, h, x, y = self.width, self.height, self.x - self.width / 2, self.y - self.height / 2
        if self.kind == "absent":
            return (
                f"M{x + CORNER_CUT:.1f} {y:.1f}h{w - 2 * CORNER_CUT:.1f}l{CORNER_CUT} {CORNER_CUT}v{h - 2 * CORNER_CUT:.1f}l-{CORNER_CUT} {CORNER_CUT}"
                f"h-{w - 2 * CORNER_CUT:.1f}l-{CORNER_CUT}-{CORNER_CUT}v-{h - 2 * CORNER_CUT:.1f}z"
            )
        radius = {"reached": 10.0, "asks": 3.0}.get(self.kind, 2.0)
        path = (
            f"M{x + radius:.1f} {y:.1f}h{w - 2 * radius:.1f}q{radius} 0 {radius} {radius}v{h - 2 * radius:.1f}q0 {radius}-{radius} {radius}"
            f"h-{w - 2 * radius:.1f}q-{radius} 0-{radius}-{radius}v-{h - 2 * radius:.1f}q0-{radius} {radius}-{radius}z"
        )
        behind = f"M{x + 5:.1f} {y + h + 4:.1f}h{w:.1f}v-{h:.1f}"
        return f"{path}{behind}" if self.kind == "folded" else path


def measure_text(text: str, strong: bool = False) -> float:
    """Return how wide a text is in letters: those of East Asia, and most pictures, count twice."""
    letter_widths = {"W": 2.0, "F": 2.0, "A": 1.4}
    return (1.1 if strong else 1.0) * sum(
        letter_widths.get(unicodedata.east_asian_width(letter), 1.0) for letter in text
    )


def lay_out(boxes: Sequence[NodeBox], sideways: bool = False) -> tuple[float, float]:
    """Place boxes, parents before their children in the list, and return how wide and how high they are together.

    The root is on top and children are side by side; or, `sideways`, the root is on the left and children are one
    below the other. Children are put as near to each other as what is below them allows, level by level.

    Examples
    --------
    >>> boxes = [Box("asks", [("a?", "")], children=[1, 2]), Box("reached", [("b", "")]), Box("absent", [("c", "")])]
    >>> lay_out(boxes)
    (126.0, 98.0)
    >>> [box.x for box in boxes], [box.y for box in boxes]
    ([63.0, 28.0, 98.0], [13.0, 85.0, 85.0])
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
        distance = (
            max(right - left for (_, right), (left, _) in zip(first_extents, second_extents, strict=False))
            + SIBLING_GAP
        )
        offset[first], offset[second] = -distance / 2, distance / 2
        below = [
            (
                min(
                    [first_extents[i][0] - distance / 2]
                    if i < len(first_extents)
                    else [second_extents[i][0] + distance / 2]
                ),
                max(
                    [second_extents[i][1] + distance / 2]
                    if i < len(second_extents)
                    else [first_extents[i][1] - distance / 2]
                ),
            )
            for i in range(max(len(first_extents), len(second_extents)))
        ]
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
    starts = [0.0]
    for size in level_sizes:
        starts.append(starts[-1] + size + LEVEL_GAP)
    for box, position, at in zip(boxes, positions, level, strict=True):
        if sideways:
            box.x, box.y = starts[at] + box.width / 2, position
        else:
            box.x, box.y = position, starts[at] + box.height / 2
    total = starts[-1] - LEVEL_GAP
    return (total, right - left) if sideways else (right - left, total)


def draw_edge(parent: NodeBox, child: NodeBox, sideways: bool = False) -> tuple[str, tuple[float, float]]:
    """Return the line from a box to one of its children, and the middle of it."""
    if sideways:
        x, y, to_x, to_y = parent.x + parent.width / 2, parent.y, child.x - child.width / 2, child.y
        middle = (x + to_x) / 2
        path = f"M{x:.1f} {y:.1f}C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
    else:
        x, y, to_x, to_y = parent.x, parent.y + parent.height / 2, child.x, child.y - child.height / 2
        middle = (y + to_y) / 2
        path = f"M{x:.1f} {y:.1f}C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
    return path, ((x + to_x) / 2, (y + to_y) / 2)
