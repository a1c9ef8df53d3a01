"""A deadline for whole requests: the time-outs of httpx bound single reads, so that a slow answer could take any time."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpcore
    import httpx

MAX_WRITE_BYTES = 1 << 16  # per write, after which the deadline is checked again

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)  # on the monotonic clock


@contextmanager
def limit_request(seconds: float) -> Iterator[None]:
    """Limit the total time of what is sent and received in this context by clients with `apply_deadlines`."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def apply_deadlines(client: httpx.Client) -> None:
    """Make all connections of a client, including those through proxies, respect the deadline of the request."""
    for transport in (client._transport, *client._mounts.values()):
        pool = getattr(transport, "_pool", None)
        if pool is not None:  # httpx has no parameter for it; httpcore has
            pool._network_backend = _DeadlineBackend(pool._network_backend)


def _limit(timeout: float | None, kind: str) -> float | None:
    """Return the seconds that one operation may take; raise an error if the deadline has passed."""
    import httpcore

    deadline = _deadline.get()
    if deadline is None:
        return timeout
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise getattr(httpcore, kind)("the request is not complete at its deadline")
    return seconds if timeout is None else min(timeout, seconds)


class _DeadlineBackend:
    """A network backend of httpcore whose streams respect the deadline."""

    def __init__(self, inner: httpcore.NetworkBackend) -> None:
        self.inner = inner

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> _DeadlineStream:
        return _DeadlineStream(self.inner.connect_tcp(host, port, _limit(timeout, "ConnectTimeout"), **options))

    def connect_unix_socket(self, path: str, timeout: float | None = None, **options: Any) -> _DeadlineStream:
        return _DeadlineStream(self.inner.connect_unix_socket(path, _limit(timeout, "ConnectTimeout"), **options))

    def sleep(self, seconds: float) -> None:
        self.inner.sleep(seconds)


class _DeadlineStream:
    """A stream of httpcore that respects the deadline."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self.inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.inner.read(max_bytes, _limit(timeout, "ReadTimeout"))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), MAX_WRITE_BYTES):
            self.inner.write(buffer[start : start + MAX_WRITE_BYTES], _limit(timeout, "WriteTimeout"))

    def close(self) -> None:
        self.inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _DeadlineStream:
        seconds = _limit(timeout, "ConnectTimeout")
        return _DeadlineStream(self.inner.start_tls(ssl_context, server_hostname, seconds))

    def get_extra_info(self, info: str) -> Any:
        return self.inner.get_extra_info(info)
