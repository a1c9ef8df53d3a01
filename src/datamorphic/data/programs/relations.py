"""The relations in the appendix of Ying (2024), with misprints corrected.

For each program, `<module>_relations` returns the relations that must hold, given the domain of the program,
`<module>_misprints` those that do not hold as printed, and `<MODULE>_ERRATA` are the corrections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...relations.algebra.box import Affine, Box
from ...relations.algebra.function import ColumnList, FunctionRelation
from .program import RelationErratum

Relations = list[FunctionRelation]
BOTH_SIDES = Box.of((-500, 500))


def multiply_by(factor: float, dimension: int = 1) -> Affine:
    """Return the change that multiplies every input by a factor."""
    return Affine.scaled(factor, dimension)


def add(shift: float, dimension: int = 1) -> Affine:
    """Return the change that adds a number to every input."""
    return Affine.scaled(1.0, dimension, shift)


def subtract_from(number: float) -> Affine:
    """Return the change that subtracts the input from a number."""
    return Affine.scaled(-1.0, 1, number)


def make_relation(
    name: str, box: Box, statement: str, changes: Affine | Sequence[Affine], **promise: Any
) -> FunctionRelation:
    """Return a relation whose sources, and follow-ups if possible, lie in a domain.

    Reflected follow-ups may lie outside, because hardly any would stay in the domain.
    """
    full_relation = FunctionRelation(name=name, domain=box, follow_up=changes, statement=statement, **promise)
    not_reflected = [change for change in full_relation.follow_up if not (change.matrix < 0).any()]
    if not not_reflected or full_relation.make_inputs is not None:
        return full_relation
    return full_relation.over(replace(full_relation, follow_up=not_reflected).within(box).domain)


def make_swapped_relation(name: str, box: Box, order: str, statement: str, **promise: Any) -> FunctionRelation:
    """Return the relation that the inputs, named x y z p, may be given in another order."""
    return make_relation(
        name, box, statement, Affine.permuted(["xyzp".index(letter) for letter in order.split()]), **promise
    )


# -- the sine and the hyperbolic tangent --------------------------------------------------------------------------------


def _get_rising_sides(x: ColumnList, y: ColumnList) -> tuple[Any, Any]:
    return y[0], y[1]


def _get_opposite_sides(x: ColumnList, y: ColumnList) -> tuple[Any, Any]:
    return y[0], -y[1]


def _make_fivefold_sides(power: int, sign: float) -> Any:
    """Return 10 S1 = 5 S2 - S3 + sign 16 S4^power."""
    return lambda x, y: (10 * y[0], 5 * y[1] - y[2] + sign * 16 * y[3] ** power)


def sin_relations(domain: Box) -> Relations:
    """Return the 13 relations of the sine."""
    three, five, back = multiply_by(3), multiply_by(5), subtract_from(0)
    half_turn, whole_turn = np.pi, 2 * np.pi
    table: list[tuple[str, Any, Any]] = [
        ("the negative angle: the negative sine", back, _get_opposite_sides),
        ("half a turn less the angle: the same sine", subtract_from(half_turn), None),
        ("a turn more: the same sine", add(whole_turn), None),
        ("a turn less the angle: the negative sine", subtract_from(whole_turn), _get_opposite_sides),
        (
            "three and five times the angle: 16 S1^5 - 10 S1 = S3 - 5 S2",
            [three, five],
            lambda x, y: (16 * y[0] ** 5 - 10 * y[0], y[2] - 5 * y[1]),
        ),
        ("three times the angle: 3 S1 - 4 S1^3 = S2", three, lambda x, y: (3 * y[0] - 4 * y[0] ** 3, y[1])),
        ("half a turn more: the negative sine", add(half_turn), _get_opposite_sides),
        (
            "a quarter of a turn less the angle: S1^2 = 1 - S2^2",
            subtract_from(np.pi / 2),
            lambda x, y: (y[0] * y[0], 1 - y[1] * y[1]),
        ),
        (
            "three times the angle, and its negative: 3 S1 = S2 - 4 S3^3",
            [three, back],
            lambda x, y: (3 * y[0], y[1] - 4 * y[2] ** 3),
        ),
        (
            "three times the angle, and a turn less it: 4 S1^3 = -S2 - 3 S3",
            [three, subtract_from(whole_turn)],
            lambda x, y: (4 * y[0] ** 3, -y[1] - 3 * y[2]),
        ),
        (
            "three and five times the angle, and its negative: 10 S1 = 5 S2 - S3 - 16 S4^5",
            [three, five, back],
            _make_fivefold_sides(5, -1),
        ),
        (
            "three and five times the angle, and half a turn less it: 10 S1 = 5 S2 - S3 + 16 S4^5",
            [three, five, subtract_from(half_turn)],
            _make_fivefold_sides(5, 1),
        ),
        ("a third of the angle: S1 = 3 S2 - 4 S2^3", multiply_by(1 / 3), lambda x, y: (y[0], 3 * y[1] - 4 * y[1] ** 3)),
    ]
    return [
        make_relation(f"Sin{number}", domain, statement, changes, equal=sides)
        for number, (statement, changes, sides) in enumerate(table, 1)
    ]


def sin_misprints(domain: Box) -> Relations:
    """Return Sin11 and Sin12 as printed."""
    statement = "three and five times the angle, and {}: 10 S1 = 5 S2 - S3 {} 16 S4"
    return [
        make_relation(
            name,
            domain,
            statement.format(angle_text, sign),
            [multiply_by(3), multiply_by(5), change],
            equal=_make_fivefold_sides(1, float(f"{sign}1")),
            necessary=False,
        )
        for name, angle_text, sign, change in (
            ("Sin11", "its negative", "-", subtract_from(0)),
            ("Sin12", "half a turn less it", "+", subtract_from(np.pi)),
        )
    ]


SIN_ERRATA = tuple(
    RelationErratum(
        name,
        f"10 S(x1) = 5 S(x2) - S(x3) {sign} 16 S(x4)",
        f"10 S(x1) = 5 S(x2) - S(x3) {sign} 16 S(x4)^5",
        "sin 5x = 16 sin^5 x - 20 sin^3 x + 5 sin x: the fifth power is missing",
    )
    for name, sign in (("Sin11", "-"), ("Sin12", "+"))
)


def tanh_relations(domain: Box) -> Relations:
    """Return the relation of the hyperbolic tangent."""

    def get_sides(x: ColumnList, y: ColumnList) -> tuple[Any, Any]:
        return y[1], (y[0] ** 3 + 3 * y[0]) / (1 + 3 * y[0] ** 2)

    statement = "three times the number: T2 = (T1^3 + 3 T1) / (1 + 3 T1^2)"
    return [make_relation("tripling", domain, statement, multiply_by(3), equal=get_sides)]


# -- the error function -------------------------------------------------------------------------------------


def erf_relations(domain: Box) -> Relations:
    """Return the 8 relations of the error function."""
    statement = "the negative number: the negative answer"
    negative = make_relation("Erf1", domain, statement, subtract_from(0), equal=_get_opposite_sides)
    shifted_relations = [
        make_relation(f"Erf{number}", domain, f"{shift} more: no less", add(shift), at_most=_get_rising_sides)
        for number, shift in enumerate((1, 5, 10, 100), 2)
    ]
    scaled_relations = [
        make_relation(
            f"Erf{number}",
            domain,
            f"{factor} times a number that is not negative: no less",
            multiply_by(factor),
            at_most=_get_rising_sides,
            applies=lambda x, y: x[0] >= 0,
        )
        for number, factor in enumerate((5, 10, 100), 6)
    ]
    return [negative, *shifted_relations, *scaled_relations]


def erf_misprints(domain: Box) -> Relations:
    """Return Erf6 to Erf8 as printed, for negative numbers as well."""
    return [
        FunctionRelation(
            name=f"Erf{number}",
            domain=BOTH_SIDES,
            follow_up=multiply_by(factor),
            at_most=_get_rising_sides,
            statement=f"{factor} times the number: no less",
            necessary=False,
        )
        for number, factor in enumerate((5, 10, 100), 6)
    ]


ERF_ERRATA = tuple(
    RelationErratum(
        f"Erf{number}",
        f"if x2 = {factor} x1, then E(x1) <= E(x2)",
        f"if x1 >= 0 and x2 = {factor} x1, then E(x1) <= E(x2)",
        f"{factor} times a negative number is less than it, and E rises",
    )
    for number, factor in enumerate((5, 10, 100), 6)
)

# -- the Bessel function ------------------------------------------------------------------------------------


def besselj_relations(domain: Box) -> Relations:
    """Return the 3 relations of the Bessel function; two draw free numbers."""
    neighbours = [Affine.of(np.eye(2), (0, 1)), Affine.of(np.eye(2), (0, -1))]
    table: list[tuple[str, Any, dict[str, Any]]] = [
        (
            "an order more, and an order less: J2 + J3 = 2 y J1 / x",
            neighbours,
            {"equal": lambda x, y: (y[1] + y[2], 2 * x[0][:, 1] * y[0] / x[0][:, 0])},
        ),
        (
            "from x = 0 and order 0 to any x and order of 1 to 100: less",
            multiply_by(1, 2),
            {"make_inputs": np.zeros_like, "less": lambda x, y: (y[1], y[0])},
        ),
        (
            "at x = 0, another order of 1 to 100: the same",
            Affine.of([[0, 0], [0, 1]]),
            {"make_inputs": lambda free: np.stack([np.zeros(len(free)), free[:, 0]], axis=1)},
        ),
    ]
    return [
        make_relation(f"BesselJ{number}", domain, statement, changes, **promise)
        for number, (statement, changes, promise) in enumerate(table, 1)
    ]


def besselj_misprints(domain: Box) -> Relations:
    """Return BesselJ3 as printed: y1 is set twice, and y2 not at all, so it is 0."""
    statement = "at x = 0, order 0 in place of one of 1 to 100: the same"
    order_zero = Affine.of(np.zeros((2, 2)))

    def give_sources(free: Any) -> Any:
        return np.stack([np.zeros(len(free)), free[:, 1]], axis=1)

    relation = make_relation("BesselJ3", domain, statement, order_zero, make_inputs=give_sources, necessary=False)
    return [relation]


BESSELJ_ERRATA = (
    RelationErratum(
        "BesselJ3",
        "x2 = x1 = 0, y1 = x1 + a, y1 = x1 + b",
        "x2 = x1 = 0, y1 = x1 + a, y2 = x1 + b",
        "y1 is set twice and y2 not at all; with the order 0 for y2, J is 1 there and not 0",
    ),
)

# -- elliptic functions and integrals -----------------------------------------------------------------------


def _get_parameter_sides(x: ColumnList, y: ColumnList) -> tuple[Any, Any]:
    """Return k^2 sn^2 + dn^2 of source and follow-up, with k^2 = 1 - y."""
    sides = [(1 - inputs[:, 1]) * outputs[:, 0] ** 2 + outputs[:, 2] ** 2 for inputs, outputs in zip(x, y, strict=True)]
    return sides[0], sides[1]


def sncndn_relations(domain: Box) -> Relations:
    """Return the 8 relations of sn, cn and dn."""
    changes = [(f"{factor} times both inputs", multiply_by(factor, 2)) for factor in (2, 3, 4, 5)]
    changes += [(f"{shift} more for both inputs", add(shift, 2)) for shift in (1, 2, 5, 10)]
    return [
        make_relation(
            f"sncndn{number}",
            domain,
            f"{change_text}: the same (1 - y) sn^2 + dn^2",
            change,
            equal=_get_parameter_sides,
        )
        for number, (change_text, change) in enumerate(changes, 1)
    ]


def rj_relations(domain: Box) -> Relations:
    """Return the 6 relations of R_J."""
    # relative tolerance, because the integral ranges from 0.001 to more than a million
    statement = "three times all inputs: no more"
    smaller = make_relation(
        "rj1", domain, statement, multiply_by(3, 4), at_most=lambda x, y: (y[1], y[0]), relative=True
    )
    orders = ("y x z p", "z y x p", "x z y p", "z x y p", "y z x p")
    same = [
        make_swapped_relation(f"rj{number}", domain, order, f"inputs in the order {order}: the same", relative=True)
        for number, order in enumerate(orders, 2)
    ]
    return [smaller, *same]


# -- areas of triangles, and the position of a point ----------------------------------------------------------------------


def _make_scaled_relation(name: str, domain: Box, factor: int, area: int) -> FunctionRelation:
    def get_sides(x: ColumnList, y: ColumnList) -> tuple[Any, Any]:
        return area * y[0], y[1]

    statement = f"{factor} times all sides: {area} times the area"
    return make_relation(name, domain, statement, multiply_by(factor, 3), equal=get_sides, necessary=area == factor**2)


def _make_triangle_relations(prefix: str, domain: Box) -> list[FunctionRelation]:
    """Return the 11 relations that both programs have."""
    orders = ("z x y", "y x z", "x z y", "z y x")
    swapped = [
        make_swapped_relation(f"{prefix}{number}", domain, order, f"sides in the order {order}: the same area")
        for number, order in enumerate(orders, 1)
    ]
    return swapped + [
        _make_scaled_relation(f"{prefix}{factor + 3}", domain, factor, factor**2) for factor in range(2, 9)
    ]


def trisquare_relations(domain: Box) -> Relations:
    """Return the 11 relations of TriSquare."""
    return _make_triangle_relations("TriSquare", domain)


def trisquareplus_relations(domain: Box) -> Relations:
    """Return the 12 relations of TriSquarePlus."""
    third = make_relation(
        "TriPlus12",
        domain,
        "a third of all sides: a ninth of the area",
        multiply_by(1 / 3, 3),
        equal=lambda x, y: (y[0], 9 * y[1]),
    )
    return [*_make_triangle_relations("TriPlus", domain), third]


def trisquare_misprints(domain: Box) -> Relations:
    """Return TriSquare11 as printed."""
    return [_make_scaled_relation("TriSquare11", domain, 8, 81)]


def trisquareplus_misprints(domain: Box) -> Relations:
    """Return TriPlus11 as printed."""
    return [_make_scaled_relation("TriPlus11", domain, 8, 81)]


def _make_area_errata(name: str) -> tuple[RelationErratum, ...]:
    return (RelationErratum(name, "81 T1 = T2", "64 T1 = T2", "eight times the sides make 8^2 times the area"),)


TRISQUARE_ERRATA = _make_area_errata("TriSquare11")
TRISQUAREPLUS_ERRATA = _make_area_errata("TriPlus11")


def _get_swapped_sides(x: ColumnList, y: ColumnList) -> tuple[Any, Any]:
    # the thesis only requires another output for 0 and 3; it is the other one of these
    return np.where(np.isin(y[0], (0, 3)), 3 - y[0], y[0]), y[1]


def pntlinepos_relations(domain: Box) -> Relations:
    """Return the 8 relations of PntLinePos."""
    changes = [(f"{factor} times all coordinates", multiply_by(factor, 6)) for factor in (2, 3, 4)]
    changes += [
        ("all coordinates 1 less" if shift < 0 else f"all coordinates {shift} more", add(shift, 6))
        for shift in (1, -1, 5, 10)
    ]
    same = [
        make_relation(f"Pnt{number}", domain, f"{change_text}: the same", change)
        for number, (change_text, change) in enumerate(changes, 1)
    ]
    reversed_segment = make_relation(
        "Pnt8",
        domain,
        "the ends of the segment swapped: the other side, or the same on the line",
        Affine.permuted([2, 3, 0, 1, 4, 5]),
        equal=_get_swapped_sides,
    )
    return [*same, reversed_segment]
