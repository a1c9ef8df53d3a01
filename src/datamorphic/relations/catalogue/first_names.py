"""First names by group, to see whether answers depend on them: first_names.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..._tables import read_document


@dataclass(frozen=True)
class _NameTable:
    groups: Mapping[str, tuple[str, ...]]


#: names by group
FIRST_NAMES = read_document(__package__, "first_names.toml", _NameTable).groups


@lru_cache(maxsize=256)
def build_name_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return an expression that finds any of the names as a whole word, with its capital letter."""
    alternatives = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)")


def find_group(name: str, groups: Mapping[str, Sequence[str]] = FIRST_NAMES) -> str:
    """Return the group of a name; empty if it is in none.

    Examples
    --------
    >>> find_group("Jamal"), find_group("Xyz")
    ('African American men', '')
    """
    return next((group for group, names in groups.items() if name in names), "")
