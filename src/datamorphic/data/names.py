"""`CaseInsensitiveMapping`: items by name, whatever the case of its letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from .._text import suggest_name
from ..errors import DataError

T = TypeVar("T")


class CaseInsensitiveMapping(Mapping[str, T]):
    """Items by name, whatever the case of its letters.

    An item with aliases is found by all its names and counted once.

    Examples
    --------
    >>> CaseInsensitiveMapping("fruit", {"Pear": 1}, {"bell": "Pear"})["pear"]
    1
    """

    def __init__(self, kind: str, items: Mapping[str, T], aliases: Mapping[str, str] | None = None) -> None:
        self._kind = kind
        self._items = dict(items)
        self._names = {name.casefold(): name for name in items}
        self._names |= {alias.casefold(): name for alias, name in (aliases or {}).items()}

    def __getitem__(self, name: str) -> T:
        full_name = self._names.get(str(name).casefold())
        if full_name is None:
            raise DataError(f"There is no {self._kind} {name!r}. {suggest_name(name, self._items)}")
        return self._items[full_name]

    def __contains__(self, name: object) -> bool:
        return str(name).casefold() in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"CaseInsensitiveMapping({self._kind}: {', '.join(self._items)})"
