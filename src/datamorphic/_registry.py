"""Items by name, whatever the case of its letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ._text import suggest_name
from .errors import DataError

T = TypeVar("T")


class CaseInsensitiveMapping(Mapping[str, T]):
    """Items by name, whatever the case of its letters; one with aliases is found by all names and counted once.

    A subclass may override `__getitem__` to build an item when it is first used.
    """

    def __init__(
        self,
        kind: str,
        items: Mapping[str, Any],
        aliases: Mapping[str, str] | None = None,
        normalise: Callable[[str], str] = str.casefold,
    ) -> None:
        self._kind, self._normalise = kind, normalise
        self._items = dict(items)
        self._full_names = {normalise(name): name for name in items}
        self._full_names |= {normalise(alias): name for alias, name in (aliases or {}).items()}

    def find_name(self, name: str) -> str:
        """Return the name of an item as it is written; raise `DataError` if there is none."""
        full_name = self._full_names.get(self._normalise(str(name)))
        if full_name is None:
            raise DataError(f"There is no {self._kind} {name!r}. {suggest_name(name, self._items)}")
        return full_name

    def __getitem__(self, name: str) -> T:
        item: T = self._items[self.find_name(name)]
        return item

    def __contains__(self, name: object) -> bool:
        return self._normalise(str(name)) in self._full_names

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        kind = f"{self._kind}: " if type(self) is CaseInsensitiveMapping else ""
        return f"{type(self).__name__}({kind}{', '.join(self._items)})"
