"""`Named`: things by name, found whatever the case of its letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from ..._checks import did_you_mean
from ...errors import DataError

T = TypeVar("T")


class Named(Mapping[str, T]):
    """Things by name; those with another name beside their own are found by both, and counted once.

    Examples
    --------
    >>> Named("fruit", {"Pear": 1}, {"bell": "Pear"})["pear"]
    1
    """

    def __init__(self, kind: str, things: Mapping[str, T], others: Mapping[str, str] | None = None) -> None:
        self._kind = kind
        self._things = dict(things)
        self._known = {name.casefold(): name for name in things}
        self._known |= {other.casefold(): name for other, name in (others or {}).items()}

    def __getitem__(self, name: str) -> T:
        known = self._known.get(str(name).casefold())
        if known is None:
            raise DataError(f"There is no {self._kind} {name!r}. {did_you_mean(name, self._things)}")
        return self._things[known]

    def __contains__(self, name: object) -> bool:
        return str(name).casefold() in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def __repr__(self) -> str:
        return f"Named({self._kind}: {', '.join(self._things)})"
