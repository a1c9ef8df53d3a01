"""The relations of the error, Bessel and elliptic functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...relations.box import Affine, Box
from ...relations.function import ColumnList, FunctionRelation
from .appendix import add, index_by_name, make_relation, multiply_by, subtract_from
from .program import RelationErratum

LINE = Box.of((0, 1000))
BOTH_SIDES = Box.of((-500, 500))
BESSELJ_DOMAIN = Box.of([(1, 100)] * 2)
SNCNDN_DOMAIN = Box.of([(0, 100)] * 2)
RJ_DOMAIN = Box.of([(0, 100)] * 4)


def _get_rising_sides(x: ColumnList, y: ColumnList) -> tuple[Any, Any]:
    return y[0], y[1]


def _is_not_negative(x: ColumnList, y: ColumnList) -> Any:
    return x[0] >= 0


# -- the error function -------------------------------------------------------------------------------------


def erf_relations() -> dict[str, FunctionRelation]:
    """Return the 8 relations of the error function."""
    negative = make_relation(
        "Erf1", LINE, "the negative number: the negative answer", subtract_from(0), equal=lambda x, y: (y[0], -y[1])
    )
    shifted_relations = [
        make_relation(f"Erf{number}", LINE, f"{shift} more: no less", add(shift), at_most=_get_rising_sides)
        for number, shift in enumerate((1, 5, 10, 100), 2)
    ]
    scaled_relations = [
        make_relation(
            f"Erf{number}",
            LINE,
            f"{factor} times a number that is not negative: no less",
            multiply_by(factor),
            at_most=_get_rising_sides,
            applies=_is_not_negative,
        )
        for number, factor in enumerate((5, 10, 100), 6)
    ]
    return index_by_name([negative, *shifted_relations, *scaled_relations])


def erf_misprints() -> dict[str, FunctionRelation]:
    """Return Erf6 to Erf8 as printed, for negative numbers as well."""
    return index_by_name(
        FunctionRelation(
            name=f"Erf{number}",
            domain=BOTH_SIDES,
            follow_up=multiply_by(factor),
            at_most=_get_rising_sides,
            says=f"{factor} times the number: no less",
            necessary=False,
        )
        for number, factor in enumerate((5, 10, 100), 6)
    )


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


def besselj_relations() -> dict[str, FunctionRelation]:
    """Return the 3 relations of the Bessel function; two draw free numbers."""
    neighbours = [Affine.of(np.eye(2), (0, 1)), Affine.of(np.eye(2), (0, -1))]
    return index_by_name(
        [
            make_relation(
                "BesselJ1",
                BESSELJ_DOMAIN,
                "an order more, and an order less: J2 + J3 = 2 y J1 / x",
                neighbours,
                equal=lambda x, y: (y[1] + y[2], 2 * x[0][:, 1] * y[0] / x[0][:, 0]),
            ),
            make_relation(
                "BesselJ2",
                BESSELJ_DOMAIN,
                "from x = 0 and order 0 to any x and order of 1 to 100: less",
                multiply_by(1, 2),
                given=np.zeros_like,
                less=lambda x, y: (y[1], y[0]),
            ),
            make_relation(
                "BesselJ3",
                BESSELJ_DOMAIN,
                "at x = 0, another order of 1 to 100: the same",
                Affine.of([[0, 0], [0, 1]]),
                given=lambda free: np.stack([np.zeros(len(free)), free[:, 0]], axis=1),
            ),
        ]
    )


def besselj_misprints() -> dict[str, FunctionRelation]:
    """Return BesselJ3 as printed: y1 is set twice, and y2 not at all, so it is 0."""
    return index_by_name(
        [
            make_relation(
                "BesselJ3",
                BESSELJ_DOMAIN,
                "at x = 0, order 0 in place of one of 1 to 100: the same",
                Affine.of(np.zeros((2, 2))),
                given=lambda free: np.stack([np.zeros(len(free)), free[:, 1]], axis=1),
                necessary=False,
            )
        ]
    )


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


def sncndn_relations() -> dict[str, FunctionRelation]:
    """Return the 8 relations of sn, cn and dn."""
    changes = [(f"{factor} times both inputs", multiply_by(factor, 2)) for factor in (2, 3, 4, 5)]
    changes += [(f"{shift} more for both inputs", add(shift, 2)) for shift in (1, 2, 5, 10)]
    return index_by_name(
        make_relation(
            f"sncndn{number}",
            SNCNDN_DOMAIN,
            f"{change_text}: the same (1 - y) sn^2 + dn^2",
            change,
            equal=_get_parameter_sides,
        )
        for number, (change_text, change) in enumerate(changes, 1)
    )


def rj_relations() -> dict[str, FunctionRelation]:
    """Return the 6 relations of R_J."""
    # relative tolerance, because the integral ranges from 0.001 to more than a million
    smaller = make_relation(
        "rj1",
        RJ_DOMAIN,
        "three times all inputs: no more",
        multiply_by(3, 4),
        at_most=_get_falling_sides,
        relative=True,
    )
    swaps = {
        "y x z p": (1, 0, 2),
        "z y x p": (2, 1, 0),
        "x z y p": (0, 2, 1),
        "z x y p": (2, 0, 1),
        "y z x p": (1, 2, 0),
    }
    same = [
        make_relation(
            f"rj{number}",
            RJ_DOMAIN,
            f"inputs in the order {order_text}: the same",
            Affine.permuted([*order, 3]),
            relative=True,
        )
        for number, (order_text, order) in enumerate(swaps.items(), 2)
    ]
    return index_by_name([smaller, *same])


def _get_falling_sides(x: ColumnList, y: ColumnList) -> tuple[Any, Any]:
    return y[1], y[0]
