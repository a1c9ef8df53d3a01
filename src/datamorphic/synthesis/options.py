"""What `combine` and `optimise` share: the test system, and the names of its functions to use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._validation import reject
from ..core.parsing import parse_names

NAMES = "a name, or a list of names"


def parse_datamorphisms(text: str) -> list[str]:
    """Return the names of datamorphisms from ``swap,double``."""
    return parse_names(text, "--datamorphisms")


def parse_filters(text: str) -> list[str]:
    """Return the names of set filters from ``few,far``."""
    return parse_names(text, "--filters")


def to_name_list(parameter: str, owner: str, value: Any) -> list[str] | None:
    """Return one name or several as a list; raise `ArgumentError` if they are none."""
    names = [value] if isinstance(value, str) else value
    if names is None:
        return None
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        reject(parameter, owner, NAMES, value)
    return list(names)
