"""The relations of triangle areas and of the position of a point."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...relations.box import Affine, Box
from ...relations.function import ColumnList, FunctionRelation
from .appendix import add, index_by_name, make_relation, multiply_by
from .program import RelationErratum

SIDES = Box.of([(0, 100)] * 3)
THREE_POINTS = Box.of([(0, 100)] * 6)
ORDERS = {"z x y": (2, 0, 1), "y x z": (1, 0, 2), "x z y": (0, 2, 1), "z y x": (2, 1, 0)}


def _make_area_sides(number: float) -> Any:
    return lambda x, y: (number * y[0], y[1])


def _make_scaled_relation(name: str, factor: int, area: int) -> FunctionRelation:
    says = f"{factor} times all sides: {area} times the area"
    is_right = area == factor**2
    return make_relation(name, SIDES, says, multiply_by(factor, 3), equal=_make_area_sides(area), necessary=is_right)


def _make_triangle_relations(prefix: str) -> list[FunctionRelation]:
    """Return the 11 relations that both programs have."""
    orders = [
        make_relation(
            f"{prefix}{number}", SIDES, f"sides in the order {order_text}: the same area", Affine.permuted(order)
        )
        for number, (order_text, order) in enumerate(ORDERS.items(), 1)
    ]
    return orders + [_make_scaled_relation(f"{prefix}{factor + 3}", factor, factor**2) for factor in range(2, 9)]


def trisquare_relations() -> dict[str, FunctionRelation]:
    """Return the 11 relations of TriSquare."""
    return index_by_name(_make_triangle_relations("TriSquare"))


def trisquareplus_relations() -> dict[str, FunctionRelation]:
    """Return the 12 relations of TriSquarePlus."""
    third = make_relation(
        "TriPlus12",
        SIDES,
        "a third of all sides: a ninth of the area",
        multiply_by(1 / 3, 3),
        equal=lambda x, y: (y[0], 9 * y[1]),
    )
    return index_by_name([*_make_triangle_relations("TriPlus"), third])


def trisquare_misprints() -> dict[str, FunctionRelation]:
    """Return TriSquare11 as printed."""
    return index_by_name([_make_scaled_relation("TriSquare11", 8, 81)])


def trisquareplus_misprints() -> dict[str, FunctionRelation]:
    """Return TriPlus11 as printed."""
    return index_by_name([_make_scaled_relation("TriPlus11", 8, 81)])


def _make_area_errata(name: str) -> tuple[RelationErratum, ...]:
    return (RelationErratum(name, "81 T1 = T2", "64 T1 = T2", "eight times the sides make 8^2 times the area"),)


TRISQUARE_ERRATA = _make_area_errata("TriSquare11")
TRISQUAREPLUS_ERRATA = _make_area_errata("TriPlus11")


def _get_swapped_sides(x: ColumnList, y: ColumnList) -> tuple[Any, Any]:
    # the thesis only requires another output for 0 and 3; it is the other one of these
    return np.where(np.isin(y[0], (0, 3)), 3 - y[0], y[0]), y[1]


def pntlinepos_relations() -> dict[str, FunctionRelation]:
    """Return the 8 relations of PntLinePos."""
    changes = [(f"{factor} times all coordinates", multiply_by(factor, 6)) for factor in (2, 3, 4)]
    changes += [
        ("all coordinates 1 less" if shift < 0 else f"all coordinates {shift} more", add(shift, 6))
        for shift in (1, -1, 5, 10)
    ]
    same = [
        make_relation(f"Pnt{number}", THREE_POINTS, f"{change_text}: the same", change)
        for number, (change_text, change) in enumerate(changes, 1)
    ]
    reversed_segment = make_relation(
        "Pnt8",
        THREE_POINTS,
        "the ends of the segment swapped: the other side, or the same on the line",
        Affine.permuted([2, 3, 0, 1, 4, 5]),
        equal=_get_swapped_sides,
    )
    return index_by_name([*same, reversed_segment])
