"""Answers that are collections: lists, sets and dicts in a form that can be compared, hashed and stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


class Record(dict[Any, Any]):
    """A dict that a system answered; it is hashable, because answers are counted and cached like labels.

    Its values are hashable. It must not be changed, which nothing prevents, as with the cells of a frame.

    Examples
    --------
    >>> Record(total=3) == {"total": 3}, len({Record(a=1, b=2), Record(b=2, a=1)})
    (True, 1)
    """

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


def to_hashable(answer: Any) -> Any:
    """Return an answer with lists as tuples, sets as frozensets and dicts as records, however deep.

    Examples
    --------
    >>> to_hashable({"items": ["b", "a"], "tags": {"x"}})
    {'items': ('b', 'a'), 'tags': frozenset({'x'})}
    """
    if isinstance(answer, np.generic):
        return answer.item()
    if isinstance(answer, list | tuple):
        return tuple(map(to_hashable, answer))
    if isinstance(answer, np.ndarray):
        return to_hashable(answer.tolist())
    if isinstance(answer, set | frozenset):
        return frozenset(map(to_hashable, answer))
    if isinstance(answer, Mapping):
        return Record((key, to_hashable(value)) for key, value in answer.items())
    return answer


def is_collection(answer: object) -> bool:
    """Return whether an answer has parts: a list, a set, a dict or an array, but not a text."""
    return isinstance(answer, list | tuple | set | frozenset | Mapping | np.ndarray)


def format_answer(answer: object) -> str:
    """Return an answer as Python would write it, with sets in a fixed order.

    Examples
    --------
    >>> format_answer(frozenset("cab")), format_answer(Record(n=np.float64(1.5), tags=frozenset())), format_answer(("a",))
    ("{'a', 'b', 'c'}", "{'n': 1.5, 'tags': set()}", "('a',)")
    """
    if isinstance(answer, np.generic):
        answer = answer.item()
    if isinstance(answer, set | frozenset):
        return f"{{{', '.join(sorted(map(format_answer, answer)))}}}" if answer else "set()"
    if isinstance(answer, Mapping):
        return f"{{{', '.join(f'{key!r}: {format_answer(value)}' for key, value in answer.items())}}}"
    if isinstance(answer, tuple):
        return f"({', '.join(map(format_answer, answer))}{',' if len(answer) == 1 else ''})"
    return repr(answer)
