"""A reverse proxy, like nginx or Caddy: it has an address of its own, and passes on requests and websockets."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

LOCAL_ADDRESS = "127.0.0.1"
MAX_HEAD_BYTES = 100_000
#: the loop of a proxy, and what ends it
ProxyControls = tuple[asyncio.AbstractEventLoop, asyncio.Event]


@contextmanager
def run_reverse_proxy(port: int, server_port: int, *, keep_host: bool) -> Iterator[None]:
    """Pass everything that comes to one port of this computer on to another one.

    Proxies say which address people asked for in ``X-Forwarded-Host``; the header ``Host`` is that address, too, if
    `keep_host` is set, and else the address of the server behind the proxy.
    """
    started: Future[ProxyControls] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(port, server_port, keep_host, started)))
    thread.start()
    loop, stopped = started.result()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()


async def _serve(port: int, server_port: int, keep_host: bool, started: Future[ProxyControls]) -> None:
    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            server_reader, server_writer = await asyncio.open_connection(LOCAL_ADDRESS, server_port)
            server_writer.write(rewrite_head(head, f"{LOCAL_ADDRESS}:{server_port}", keep_host=keep_host))
            await asyncio.gather(_copy(reader, server_writer), _copy(server_reader, writer))
        except (OSError, asyncio.IncompleteReadError):  # one of the two has gone
            pass
        finally:
            writer.close()

    stopped = asyncio.Event()
    server = await asyncio.start_server(pass_on, LOCAL_ADDRESS, port, limit=MAX_HEAD_BYTES)
    started.set_result((asyncio.get_running_loop(), stopped))
    await stopped.wait()
    server.close()


def rewrite_head(head: bytes, server: str, *, keep_host: bool) -> bytes:
    """Return the head of a request as a proxy sends it on; each connection carries one request, or one websocket."""
    request, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    fields = [line.partition(": ") for line in lines]
    headers = {name.lower(): value for name, _, value in fields}
    public_host = headers["host"]
    headers |= {"x-forwarded-host": public_host, "x-forwarded-proto": "http", "x-forwarded-for": LOCAL_ADDRESS}
    if not keep_host:
        headers["host"] = server
    if "upgrade" not in headers:
        headers["connection"] = "close"
    return "\r\n".join([request, *(f"{name}: {value}" for name, value in headers.items()), "\r\n"]).encode("latin-1")


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy bytes until one side has no more, then close the other."""
    try:
        while data := await reader.read(MAX_HEAD_BYTES):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
