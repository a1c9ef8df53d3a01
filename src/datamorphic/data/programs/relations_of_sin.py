"""The relations of the sine and the hyperbolic tangent."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...relations.box import Box
from ...relations.function import ColumnList, FunctionRelation
from .appendix import add, index_by_name, make_relation, multiply_by, subtract_from
from .program import RelationErratum

LINE = Box.of((0, 1000))


def _get_opposite_sides(x: ColumnList, y: ColumnList) -> tuple[Any, Any]:
    return y[0], -y[1]


def _make_fivefold_sides(power: int, sign: float) -> Any:
    """Return 10 S1 = 5 S2 - S3 + sign 16 S4^power."""
    return lambda x, y: (10 * y[0], 5 * y[1] - y[2] + sign * 16 * y[3] ** power)


def sin_relations() -> dict[str, FunctionRelation]:
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
    return index_by_name(
        make_relation(f"Sin{number}", LINE, says, changes, equal=sides)
        for number, (says, changes, sides) in enumerate(table, 1)
    )


def sin_misprints() -> dict[str, FunctionRelation]:
    """Return Sin11 and Sin12 as printed."""
    says = "three and five times the angle, and {}: 10 S1 = 5 S2 - S3 {} 16 S4"
    return index_by_name(
        make_relation(
            name,
            LINE,
            says.format(angle_text, sign),
            [multiply_by(3), multiply_by(5), change],
            equal=_make_fivefold_sides(1, float(f"{sign}1")),
            necessary=False,
        )
        for name, angle_text, sign, change in (
            ("Sin11", "its negative", "-", subtract_from(0)),
            ("Sin12", "half a turn less it", "+", subtract_from(np.pi)),
        )
    )


SIN_ERRATA = tuple(
    RelationErratum(
        name,
        f"10 S(x1) = 5 S(x2) - S(x3) {sign} 16 S(x4)",
        f"10 S(x1) = 5 S(x2) - S(x3) {sign} 16 S(x4)^5",
        "sin 5x = 16 sin^5 x - 20 sin^3 x + 5 sin x: the fifth power is missing",
    )
    for name, sign in (("Sin11", "-"), ("Sin12", "+"))
)


def tanh_relations() -> dict[str, FunctionRelation]:
    """Return the relation of the hyperbolic tangent."""
    says = "three times the number: T2 = (T1^3 + 3 T1) / (1 + 3 T1^2)"
    return index_by_name(
        [
            make_relation(
                "tripling",
                LINE,
                says,
                multiply_by(3),
                equal=lambda x, y: (y[1], (y[0] ** 3 + 3 * y[0]) / (1 + 3 * y[0] ** 2)),
            )
        ]
    )
