"""The generators by name."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from .._checks import did_you_mean
from ..errors import ArgumentError
from .base import Generator
from .distance import FSCS, RRT, SFIDMT, EdgeCentre, MetamorphicDistance, MTARTAvg, MTARTMax, MTARTMin
from .partition import BART, IPART, MTBART, MTIPART, MTRPART, RPART, SFIDMTBART
from .random import MTRT, Halton, Sobol

#: by name; groups first, then single inputs, then sequences
GENERATORS: dict[str, type[Generator]] = {
    each.name: each
    for each in (
        MTRT, MTARTMin, MTARTAvg, MTARTMax, SFIDMT, MTBART, MTIPART, MTRPART, SFIDMTBART,
        FSCS, EdgeCentre, MetamorphicDistance, RRT, RPART, BART, IPART, Sobol, Halton,
    )
}  # fmt: skip
#: what they are called elsewhere, and variants
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "RT": ("MT-RT", {}),
    "FSCS": ("FSCS-ART", {}),
    "SFIDMT-ART-joint": ("SFIDMT-ART", {"joint": True}),
    **{f"MT-ART-{which}-2": (f"MT-ART-{which}", {"strategy": 2}) for which in ("Min", "Avg", "Max")},
}


def find(name: Any) -> tuple[type[Generator], dict[str, Any]]:
    """Return a generator by its name, however it is written, and what the name says of its options."""
    if isinstance(name, type) and issubclass(name, Generator):
        return name, {}
    plain = {_plain(known): known for known in (*GENERATORS, *VARIANTS)}
    known = plain.get(_plain(str(name)))
    if known is None:
        raise ArgumentError(f"There is no generator {name!r}. {did_you_mean(name, [*GENERATORS, *VARIANTS])}")
    if known in VARIANTS:
        of, options = VARIANTS[known]
        return GENERATORS[of], dict(options)
    return GENERATORS[known], {}


def make(name: Any, relation: Any, **options: Any) -> Generator:
    """Return a generator of groups by its name.

    Examples
    --------
    >>> make("BART", [(0, 1), (0, 1)], seed=0)
    BART((0, 1) x (0, 1), k=1, 0 groups)
    """
    kind, implied = find(name)
    check_options(kind, options)
    return kind(relation, **{**implied, **options})


def check_options(kind: type, options: Iterable[str]) -> None:
    """Raise `ArgumentError` for an option that a generator or selector does not have."""
    known = {
        name
        for each in kind.__mro__
        for name, parameter in inspect.signature(each.__init__).parameters.items()  # type: ignore[misc]
        if parameter.kind == parameter.KEYWORD_ONLY
    }
    for name in options:
        if name not in known:
            raise ArgumentError(
                f"{kind.name} has no option {name!r}. {did_you_mean(name, sorted(known))}"  # type: ignore[attr-defined]
            )


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum() or sign == "+")
