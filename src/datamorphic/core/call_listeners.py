"""Notify listeners, such as a recorder of scripts, of calls of public functions on test systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

#: called with the name of a function and its arguments by name, after the function has returned
CallListener = Callable[[str, dict[str, Any]], None]
_LISTENERS: ContextVar[tuple[CallListener, ...]] = ContextVar("call_listeners", default=())


@contextmanager
def notify_of_call(function: str, arguments: dict[str, Any]) -> Iterator[None]:
    """Notify listeners of a call when the block that does its work has ended."""
    listeners = _LISTENERS.get()
    token = _LISTENERS.set(())  # calls inside the function are part of it
    try:
        yield
    finally:
        _LISTENERS.reset(token)
    for listener in listeners:
        listener(function, arguments)


@contextmanager
def listen(listener: CallListener) -> Iterator[None]:
    """Notify a listener of the calls inside the block."""
    token = _LISTENERS.set((*_LISTENERS.get(), listener))
    try:
        yield
    finally:
        _LISTENERS.reset(token)
