"""Boxes of a tree laid out tidily: parents over the middle of their children, nothing over anything else."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

LETTER, LINE = 7.7, 17.0  # how wide a letter is, about, and how high a line
PAD = 9.0  # between the words of a box and its outline
APART, BETWEEN = 14.0, 46.0  # boxes side by side, and a box and its children
CUT = 9.0  # how much of each corner is cut off where a box has eight


@dataclass
class Box:
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
        return max(56.0, LETTER * max(units(text, "strong" in kind) for text, kind in self.lines) + 2 * PAD)

    @property
    def height(self) -> float:
        """How high it is."""
        return LINE * len(self.lines) + PAD

    @property
    def outline(self) -> str:
        """Its outline: eight corners where no row comes, round ones where some do, two sheets where more is folded."""
        w, h, x, y = self.width, self.height, self.x - self.width / 2, self.y - self.height / 2
        if self.kind == "absent":
            return (
                f"M{x + CUT:.1f} {y:.1f}h{w - 2 * CUT:.1f}l{CUT} {CUT}v{h - 2 * CUT:.1f}l-{CUT} {CUT}"
                f"h-{w - 2 * CUT:.1f}l-{CUT}-{CUT}v-{h - 2 * CUT:.1f}z"
            )
        turn = {"reached": 10.0, "asks": 3.0}.get(self.kind, 2.0)
        path = (
            f"M{x + turn:.1f} {y:.1f}h{w - 2 * turn:.1f}q{turn} 0 {turn} {turn}v{h - 2 * turn:.1f}q0 {turn}-{turn} {turn}"
            f"h-{w - 2 * turn:.1f}q-{turn} 0-{turn}-{turn}v-{h - 2 * turn:.1f}q0-{turn} {turn}-{turn}z"
        )
        behind = f"M{x + 5:.1f} {y + h + 4:.1f}h{w:.1f}v-{h:.1f}"
        return f"{path}{behind}" if self.kind == "folded" else path


def units(text: str, strong: bool = False) -> float:
    """Return how wide a text is in letters: those of East Asia, and most pictures, count twice."""
    wide = {"W": 2.0, "F": 2.0, "A": 1.4}
    return (1.1 if strong else 1.0) * sum(wide.get(unicodedata.east_asian_width(letter), 1.0) for letter in text)


def lay_out(boxes: Sequence[Box], sideways: bool = False) -> tuple[float, float]:
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
    outer: dict[int, list[tuple[float, float]]] = {}  # how far a subtree reaches to both sides, level by level
    for place in range(len(boxes) - 1, -1, -1):
        own = (-breadth[place] / 2, breadth[place] / 2)
        if not boxes[place].children:
            outer[place] = [own]
            continue
        first, second = boxes[place].children
        one, two = outer.pop(first), outer.pop(second)
        apart = max(right - left for (_, right), (left, _) in zip(one, two, strict=False)) + APART
        offset[first], offset[second] = -apart / 2, apart / 2
        below = [
            (
                min([one[i][0] - apart / 2] if i < len(one) else [two[i][0] + apart / 2]),
                max([two[i][1] + apart / 2] if i < len(two) else [one[i][1] - apart / 2]),
            )
            for i in range(max(len(one), len(two)))
        ]
        outer[place] = [own, *below]
    left, right = min(low for low, _ in outer[0]), max(high for _, high in outer[0])
    across, level = [0.0] * len(boxes), [0] * len(boxes)
    across[0] = -left
    for place, box in enumerate(boxes):
        for child in box.children:
            across[child], level[child] = across[place] + offset[child], level[place] + 1
    deep = [0.0] * (max(level) + 1)
    for box, at in zip(boxes, level, strict=True):
        deep[at] = max(deep[at], box.width if sideways else box.height)
    starts = [0.0]
    for each in deep:
        starts.append(starts[-1] + each + BETWEEN)
    for box, along, at in zip(boxes, across, level, strict=True):
        if sideways:
            box.x, box.y = starts[at] + box.width / 2, along
        else:
            box.x, box.y = along, starts[at] + box.height / 2
    total = starts[-1] - BETWEEN
    return (total, right - left) if sideways else (right - left, total)


def edge(parent: Box, child: Box, sideways: bool = False) -> tuple[str, tuple[float, float]]:
    """Return the line from a box to one of its children, and the middle of it."""
    if sideways:
        x, y, to_x, to_y = parent.x + parent.width / 2, parent.y, child.x - child.width / 2, child.y
        turn = (x + to_x) / 2
        path = f"M{x:.1f} {y:.1f}C{turn:.1f} {y:.1f} {turn:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
    else:
        x, y, to_x, to_y = parent.x, parent.y + parent.height / 2, child.x, child.y - child.height / 2
        turn = (y + to_y) / 2
        path = f"M{x:.1f} {y:.1f}C{x:.1f} {turn:.1f} {to_x:.1f} {turn:.1f} {to_x:.1f} {to_y:.1f}"
    return path, ((x + to_x) / 2, (y + to_y) / 2)
