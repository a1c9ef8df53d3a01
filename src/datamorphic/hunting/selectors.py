"""The selectors by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._text import suggest_name
from ..errors import ArgumentError
from ..relations.function import FunctionRelation
from .feedback_selectors import FeedbackSelector, NearMissSelector
from .generators import validate_options
from .selector_base import MRGS_SELECTORS, RandomSelector, Selector, SelectorLike

SELECTORS: dict[str, type[Selector]] = {
    selector_class.name: selector_class
    for selector_class in (RandomSelector, *MRGS_SELECTORS, FeedbackSelector, NearMissSelector)
}


def make_selector(name: SelectorLike, relations: Sequence[FunctionRelation], **options: Any) -> Selector:
    """Return a selector by its name."""
    selector_class = find_selector(name)
    validate_options(selector_class, options)
    return selector_class(relations, **options)


def find_selector(name: SelectorLike) -> type[Selector]:
    """Return the class of a selector by its name, whatever the case of its letters."""
    if isinstance(name, type) and issubclass(name, Selector):
        return name
    for known, selector_class in SELECTORS.items():
        if known.lower() == str(name).lower():
            return selector_class
    raise ArgumentError(f"There is no selector {name!r}. {suggest_name(name, SELECTORS)}")
