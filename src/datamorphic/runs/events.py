"""Events of running work, for whoever watches it: progress, outcomes of checks, the number of the stored run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

#: called with the kind of an event and its data, in the thread in which the event happens
EventListener = Callable[[str, Mapping[str, Any]], None]

_listeners: list[EventListener] = []


def is_watched() -> bool:
    """Return whether anybody listens, so that the data of an event need not be built for nobody."""
    return bool(_listeners)


def publish(kind: str, **data: Any) -> None:
    """Send an event to all listeners."""
    for listener in tuple(_listeners):
        listener(kind, data)


@contextmanager
def watch(listener: EventListener) -> Iterator[None]:
    """Send the events inside the block to a listener, whichever thread they happen in.

    Examples
    --------
    >>> with watch(lambda kind, data: print(kind, data)):
    ...     publish("progress", text="walking", share=0.5)
    progress {'text': 'walking', 'share': 0.5}
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
