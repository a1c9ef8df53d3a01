"""The selectors by name."""

from __future__ import annotations

from typing import Any

from .._text import suggest_name
from ..errors import ArgumentError
from .feedback_selectors import FeedbackSelector, NearMissSelector
from .generators import validate_options
from .selector_base import MRGSART, MRGSIPART, MRGSRPART, MRGSARTPlus, MRGSDistance, RandomSelector, Selector

SELECTORS: dict[str, type[Selector]] = {
    selector_class.name: selector_class
    for selector_class in (
        RandomSelector,
        MRGSART,
        MRGSARTPlus,
        MRGSIPART,
        MRGSRPART,
        MRGSDistance,
        FeedbackSelector,
        NearMissSelector,
    )
}


def make_selector(name: Any, relations: Any, **options: Any) -> Selector:
    """Return a selector by its name."""
    selector_class = find_selector(name)
    validate_options(selector_class, options)
    return selector_class(relations, **options)


def find_selector(name: Any) -> type[Selector]:
    """Return a selector by its name, however it is written.

    Examples
    --------
    >>> find_selector("mrgs-art").name
    'MRGS-ART'
    """
    if isinstance(name, type) and issubclass(name, Selector):
        return name
    for known, selector_class in SELECTORS.items():
        if known.lower() == str(name).lower():
            return selector_class
    raise ArgumentError(f"There is no selector {name!r}. {suggest_name(name, SELECTORS)}")
