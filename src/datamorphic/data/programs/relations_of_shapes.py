"""What is promised of the areas of triangles and of the place of a point beside a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...relations.boxes import Affine, Box
from ...relations.numeric import Columns, FunctionRelation
from .appendix import by_name, plus, relation, times
from .program import Erratum

SIDES = Box.of([(0, 100)] * 3)
THREE_POINTS = Box.of([(0, 100)] * 6)
ORDERS = {"z x y": (2, 0, 1), "y x z": (1, 0, 2), "x z y": (0, 2, 1), "z y x": (2, 1, 0)}


def _area(number: float) -> Any:
    return lambda x, y: (number * y[0], y[1])


def _scaled(name: str, factor: int, area: int) -> FunctionRelation:
    says = f"{factor} times all sides: {area} times the area"
    right = area == factor**2
    return relation(name, SIDES, says, times(factor, 3), equal=_area(area), necessary=right)


def _of_triangles(prefix: str) -> list[FunctionRelation]:
    """Return the 11 relations that both programs have."""
    orders = [
        relation(f"{prefix}{number}", SIDES, f"sides in the order {words}: the same area", Affine.permuted(order))
        for number, (words, order) in enumerate(ORDERS.items(), 1)
    ]
    return orders + [_scaled(f"{prefix}{factor + 3}", factor, factor**2) for factor in range(2, 9)]


def trisquare_relations() -> dict[str, FunctionRelation]:
    """Return the 11 relations of TriSquare."""
    return by_name(_of_triangles("TriSquare"))


def trisquareplus_relations() -> dict[str, FunctionRelation]:
    """Return the 12 relations of TriSquarePlus."""
    third = relation(
        "TriPlus12",
        SIDES,
        "a third of all sides: a ninth of the area",
        times(1 / 3, 3),
        equal=lambda x, y: (y[0], 9 * y[1]),
    )
    return by_name([*_of_triangles("TriPlus"), third])


def trisquare_misprints() -> dict[str, FunctionRelation]:
    """Return TriSquare11 as printed."""
    return by_name([_scaled("TriSquare11", 8, 81)])


def trisquareplus_misprints() -> dict[str, FunctionRelation]:
    """Return TriPlus11 as printed."""
    return by_name([_scaled("TriPlus11", 8, 81)])


def _of_81(name: str) -> tuple[Erratum, ...]:
    return (Erratum(name, "81 T1 = T2", "64 T1 = T2", "eight times the sides make 8^2 times the area"),)


TRISQUARE_ERRATA = _of_81("TriSquare11")
TRISQUAREPLUS_ERRATA = _of_81("TriPlus11")


def _sides_change(x: Columns, y: Columns) -> tuple[Any, Any]:
    # the document asks only for another answer where this is 0 or 3; it is the other one of these
    return np.where(np.isin(y[0], (0, 3)), 3 - y[0], y[0]), y[1]


def pntlinepos_relations() -> dict[str, FunctionRelation]:
    """Return the 8 relations of PntLinePos."""
    changes = [(f"{factor} times all coordinates", times(factor, 6)) for factor in (2, 3, 4)]
    changes += [
        ("all coordinates 1 less" if shift < 0 else f"all coordinates {shift} more", plus(shift, 6))
        for shift in (1, -1, 5, 10)
    ]
    same = [
        relation(f"Pnt{number}", THREE_POINTS, f"{words}: the same", change)
        for number, (words, change) in enumerate(changes, 1)
    ]
    turned = relation(
        "Pnt8",
        THREE_POINTS,
        "the ends of the segment swapped: the other side, or the same on the line",
        Affine.permuted([2, 3, 0, 1, 4, 5]),
        equal=_sides_change,
    )
    return by_name([*same, turned])
