"""A process that works for the studio, so that the page never waits: ``python -m datamorphic.web.worker``.

A process is started before there is work for it, because the imports take longer than most of the work. It reads one request
per line from stdin, as JSON, and writes events, as JSON, to stdout. What commands print goes to files of the job. When stdin
is closed the studio has ended, and the process ends, too.

A request is ``{"kind": "command", "arguments": ["test", ...], "folder": ..., "output": ...}``: one command of the command line,
then the process ends. Or it is a request of `PoolSession`: a test pool that lives as long as the process. Or, with
``"session": "queries"``, it is a question of `QuerySession`.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import IO, Any

from .._files import write_file
from .._text import to_jsonable
from ..runs.events import EventListener, watch
from .interruption import allow_interrupts, ignore_interrupts
from .jobs import INTERRUPT, PARTS_FILE

NICENESS = 5  # the page answers first
PROGRESS_INTERVAL_SECONDS = 0.1
PART_HEADING_LEVEL = 3  # of sections of reports: below the page and the job
END_GRACE_SECONDS = 1.5  # for a command to keep what it has, when the studio has ended


class EventWriter:
    """Writes events as lines of JSON, progress at most ten times a second."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._last_progress = 0.0

    def write(self, kind: str, data: Mapping[str, Any]) -> None:
        """Write an event."""
        if kind == "progress":
            now = time.monotonic()
            if now - self._last_progress < PROGRESS_INTERVAL_SECONDS:
                return
            self._last_progress = now
        line = json.dumps(to_jsonable({"event": kind, **data}))
        # a studio that was killed reads no more: that must not look like a failure of the work
        with self._lock, suppress(OSError):
            self._stream.write(line + "\n")
            self._stream.flush()


def main() -> None:
    """Serve requests until stdin is closed."""
    events = EventWriter(os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8"))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a system prints is not an event
    ignore_interrupts()
    _let_others_go_first()
    requests: queue.Queue[dict[str, Any] | None] = queue.Queue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    _import_ahead()
    events.write("ready", {})
    session: Any = None
    while (request := requests.get()) is not None:
        with watch(_build_listener(events, request)):
            if request["kind"] == "command":
                code = run_command(request["arguments"], Path(request["folder"]), Path(request["output"]))
                events.write("end", {"code": code})
                os._exit(0)  # threads of a system that hangs must not keep the process
            if session is None:
                session = _make_session(request)
            session.serve(request, events.write)


def _let_others_go_first() -> None:
    """Leave the processor to the studio and to the browser as long as they need it."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with suppress(OSError):  # Linux shares the processor among sessions, and this process has its own
        Path("/proc/self/autogroup").write_text(str(NICENESS), encoding="ascii")


def _build_listener(events: EventWriter, request: Mapping[str, Any]) -> EventListener:
    """Return what sends events to the studio. The page of a report is written to the folder of the job, in parts."""

    def listen(kind: str, data: Mapping[str, Any]) -> None:
        if kind != "page":
            events.write(kind, data)
        elif request["kind"] == "command":
            from ..reporting.html import render_parts

            parts = render_parts(data["page"], PART_HEADING_LEVEL)
            write_file(Path(request["output"]) / PARTS_FILE, json.dumps(parts))

    return listen


def _make_session(request: Mapping[str, Any]) -> Any:
    """Return what serves the requests of this process, of which this is the first."""
    if request.get("session") == "queries":
        from .query_session import QuerySession

        return QuerySession()
    from .pool_session import PoolSession

    return PoolSession()


def _read_requests(requests: queue.Queue[dict[str, Any] | None]) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if request == INTERRUPT:
            _interrupt()
        else:
            requests.put(request)
    requests.put(None)
    _interrupt()  # the studio has ended: keep what there is
    time.sleep(END_GRACE_SECONDS)
    os._exit(1)


def _interrupt() -> None:
    """Interrupt the main thread, as Ctrl-C does."""
    if os.name == "posix":
        os.kill(os.getpid(), signal.SIGINT)  # also while it waits for something outside Python
    else:
        signal.raise_signal(signal.SIGINT)  # os.kill would end the process


def _import_ahead() -> None:
    """Import what nearly every command needs."""
    import pandas
    import sklearn.base

    from ..cli import main as cli_main
    from ..exploration import run

    del pandas, sklearn, cli_main, run


def run_command(arguments: list[str], folder: Path, output: Path) -> int:
    """Run a command of the command line in a folder; write what it prints to ``output.txt`` and ``errors.txt``."""
    from ..cli.main import main as run_main

    os.chdir(folder)
    sys.path.insert(0, str(folder))  # modules of the folder, as for the command
    sys.argv = ["datamorphic", *arguments]
    code = 0
    with (
        (output / "output.txt").open("w", encoding="utf-8") as printed,
        (output / "errors.txt").open("w", encoding="utf-8") as errors,
        redirect_stdout(printed),
        redirect_stderr(errors),
    ):
        try:
            with allow_interrupts():
                run_main()
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
        except KeyboardInterrupt:
            code = 130
    return code


if __name__ == "__main__":
    main()
