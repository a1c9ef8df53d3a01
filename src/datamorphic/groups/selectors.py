"""The selectors by name."""

from __future__ import annotations

from typing import Any

from .._checks import did_you_mean
from ..errors import ArgumentError
from .generators import check_options
from .learning import Feedback, NearMiss
from .selection import MRGSART, MRGSIPART, MRGSRPART, MRGSARTPlus, MRGSDistance, RandomSelection, Selector

SELECTORS: dict[str, type[Selector]] = {
    each.name: each
    for each in (RandomSelection, MRGSART, MRGSARTPlus, MRGSIPART, MRGSRPART, MRGSDistance, Feedback, NearMiss)
}


def make_selector(name: Any, relations: Any, **options: Any) -> Selector:
    """Return a selector by its name."""
    kind = find_selector(name)
    check_options(kind, options)
    return kind(relations, **options)


def find_selector(name: Any) -> type[Selector]:
    """Return a selector by its name, however it is written.

    Examples
    --------
    >>> find_selector("mrgs-art").name
    'MRGS-ART'
    """
    if isinstance(name, type) and issubclass(name, Selector):
        return name
    for known, kind in SELECTORS.items():
        if known.lower() == str(name).lower():
            return kind
    raise ArgumentError(f"There is no selector {name!r}. {did_you_mean(name, SELECTORS)}")
