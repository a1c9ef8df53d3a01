"""Start the studio: build the application from its pages, and serve it."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import sys
import webbrowser
from typing import Any

from ..errors import MissingExtra, UsageError
from .options import WebOptions
from .security import Gatekeeper
from .studio import PAGES, Studio
from .workspaces import MAX_AGE_DAYS

READY_MESSAGE = "The studio is at {address} (Ctrl-C ends it)"
SOCKET_BACKLOG = 512
MAX_MESSAGE_BYTES = 2**24  # of the websocket


def build_application(options: WebOptions) -> tuple[Gatekeeper, Studio]:
    """Return the ASGI application and what its pages share."""
    studio = Studio(options)
    os.environ["NICEGUI_STORAGE_PATH"] = str(studio.workspaces.root / "nicegui")  # read when NiceGUI is imported
    try:
        from fastapi import FastAPI
        from nicegui import app, ui
    except ImportError:
        raise MissingExtra("The studio needs NiceGUI. Install it: pip install 'datamorphic[web]'.") from None
    from . import error_pages, files
    from .layout import register_page

    for facts in PAGES:
        register_page(studio, facts)
    files.register(studio)
    error_pages.register(app)
    app.on_connect(studio.workspaces.workers.prepare)  # not before: its imports would delay the first page
    app.on_shutdown(studio.workspaces.close)
    secret = studio.workspaces.read_secret()
    application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(
        application,
        title="datamorphic studio",
        language="en-US",
        dark=None,
        tailwind=False,
        storage_secret=secret,
        session_middleware_kwargs={
            "same_site": "strict",
            "session_cookie": studio.workspaces.session_cookie,
            "max_age": MAX_AGE_DAYS * 86_400,
        },
        reconnect_timeout=30.0,
        show_welcome_message=False,
    )
    return Gatekeeper(application, options, secret), studio


def run_server(options: WebOptions, *, open_browser: bool = True, path: str = "/") -> None:
    """Serve the studio until Ctrl-C."""
    with _bind(options) as listening_socket:  # before NiceGUI is loaded: a port in use is reported at once
        gc.disable()  # what is imported stays
        try:
            gatekeeper, _ = build_application(options)
            import uvicorn

            gc.freeze()  # later collections need not look at it again, and NiceGUI finds the server among fewer objects
        finally:
            gc.enable()
        logging.getLogger("nicegui").setLevel(logging.ERROR)
        config = uvicorn.Config(
            gatekeeper,
            host=options.host,
            port=options.port,
            log_level="warning",
            ws_max_size=MAX_MESSAGE_BYTES,
            server_header=False,
            proxy_headers=False,  # anybody could claim another address, and try tokens without end
        )
        server = _build_server(config, options, path if open_browser else None)
        server.run(sockets=[listening_socket])


def _bind(options: WebOptions) -> socket.socket:
    """Return a socket at the address, or raise if it cannot be used."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening_socket = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UsageError(
            f"The address {options.host!r} is unknown: {error.strerror}. Give one of this computer."
        ) from None
    try:
        if sys.platform != "win32":  # there, another program could take the port over
            listening_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening_socket.bind(address)
        listening_socket.listen(SOCKET_BACKLOG)  # now: until then, another program could bind the port as well
    except OSError as error:
        listening_socket.close()
        raise UsageError(
            f"Port {options.port} of {options.host} cannot be used: {error.strerror}. Choose another one: "
            f"--port {options.port + 1}, or --port 0 for a free one."
        ) from None
    return listening_socket


def _build_server(config: Any, options: WebOptions, path: str | None) -> Any:
    """Return a server that says its address when it is ready, and opens a browser if a path is given."""
    import uvicorn

    class ReadyServer(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if not self.started:
                return
            port = self.servers[0].sockets[0].getsockname()[1]
            host = f"[{options.host}]" if ":" in options.host else options.host
            address = f"http://{host}:{port}"
            print(READY_MESSAGE.format(address=address), flush=True)
            if path is not None and sys.stdout.isatty():
                asyncio.get_running_loop().run_in_executor(None, webbrowser.open, address + path)

    return ReadyServer(config)
