"""The studio in a process of its own, and Chromium to click in it: `pytest_plugins = ["support.studio"]`.

`studio_server` is one server per module, with its own port and folders; `open_page` opens pages of it, each by another person
(`same_person=page` for a second tab). A test fails on errors in the console, on exceptions in a page or in the server, and
on requests to other hosts. What every page looked like at the end is kept as a picture in $DATAMORPHIC_SCREENSHOTS, or in
the temporary folder of the test; `take_screenshot(page, "name")` keeps more of them.

A module can override `studio_files` (what is in the served folder) and `studio_options` (more words for the command line).
Tests may also import names from here, so pytest leaves the module as it is (PYTEST_DONT_REWRITE).
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    *("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
READY = re.compile(r"The studio is at (http\S+)")
START_SECONDS = 180  # of a busy machine
TIMEOUT_MILLISECONDS = 30_000  # of a click or of a text that must appear: the machine may be busy
MODEL, DATA, TARGET = "loans.skops", "loans.csv", "approved"


@dataclass
class StudioServer:
    """``datamorphic web`` in a process: it can be ended, killed and started again with the same port and folders."""

    folder: Path  # that it serves
    home: Path  # of its workspaces, store and log
    options: list[str] = field(default_factory=list)
    port: int = 0
    url: str = ""
    process: subprocess.Popen[str] | None = None
    output: list[str] = field(default_factory=list)

    @property
    def log(self) -> str:
        """What it wrote to stderr."""
        file = self.home / "server.log"
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "DATAMORPHIC_STORE": str(self.home / "runs.sqlite"),
            "OMP_NUM_THREADS": "1",
        }

    def start(self) -> StudioServer:
        """Start the process, and wait until it says its address."""
        self.port = self.port or find_free_port()
        command = [sys.executable, "-m", "datamorphic", "web", str(self.folder), f"--port={self.port}", "--no-browser"]
        with (self.home / "server.log").open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*command, *self.options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self.environment,
                cwd=self.folder,
            )
        announced = threading.Event()
        threading.Thread(target=self._read_output, args=(self.process, announced), daemon=True).start()
        if not announced.wait(START_SECONDS) or not self.url:
            self.kill()
            raise AssertionError(f"The studio did not start: {self.output} {self.log[-2_000:]}")
        return self

    def _read_output(self, process: subprocess.Popen[str], announced: threading.Event) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self.output.append(line)
                if match := READY.search(line):
                    self.url = match[1]
                    announced.set()
        announced.set()

    def stop(self) -> int:
        """Press Ctrl-C, and return the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def find_free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_model(folder: Path) -> None:
    """Write a small model whose decision falls with income in places, and its data."""
    import numpy as np
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier

    io = pytest.importorskip("skops.io", reason="pip install 'datamorphic[skops]'")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 160),
            "income": rng.normal(3_000, 900, 160).round(-1).clip(500),
            "debt": rng.integers(0, 20, 160) * 100.0,
        }
    )
    chance = frame["income"] / 1_500 - frame["debt"] / 900 + rng.normal(0, 0.4, 160)
    labels = np.where(chance > chance.median(), "yes", "no")
    io.dump(DecisionTreeClassifier(max_depth=5, random_state=0).fit(frame, labels), folder / MODEL)
    frame.assign(**{TARGET: labels}).to_csv(folder / DATA, index=False)


@pytest.fixture(scope="module")
def studio_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The served folder: a small model and its data."""
    folder = tmp_path_factory.mktemp("served")
    write_model(folder)
    return folder


@pytest.fixture(scope="module")
def studio_options() -> list[str]:
    """More words for the command line."""
    return []


@pytest.fixture(scope="module")
def studio_server(
    studio_files: Path, studio_options: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StudioServer]:
    """A server of the module's own."""
    pytest.importorskip("nicegui", reason="pip install 'datamorphic[web]'")
    server = StudioServer(studio_files, tmp_path_factory.mktemp("studio"), list(studio_options)).start()
    yield server
    if server.process is not None and server.process.poll() is None:
        try:
            server.stop()
        except subprocess.TimeoutExpired:
            server.kill()
            raise


@pytest.fixture(scope="module")
def chromium():
    """Chromium without a window. It ends with the module: no other event loop can run meanwhile."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    if not Path(CHROMIUM).exists():
        pytest.skip("no browser: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def take_screenshot(request: pytest.FixtureRequest, tmp_path: Path):
    """Keep what a page looks like as a picture with the name of the test: `take_screenshot(page, "name")`."""
    folder = Path(os.environ.get("DATAMORPHIC_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)

    def take(page, name: str = "end") -> Path:
        stem = re.sub(r"[^\w-]+", "_", f"{request.path.stem}-{request.node.name}-{name}").strip("_")
        file = folder / f"{stem}.png"
        page.screenshot(path=file, full_page=True)
        return file

    return take


@pytest.fixture
def open_page(studio_server: StudioServer, chromium, take_screenshot):
    """Open a page of the studio: `open_page("/runs", dark=True, width=400)`; see the module.

    `allowed` are parts of console messages that the test provokes.
    """
    from playwright.sync_api import Error

    contexts, problems, allowed_messages = [], [], []
    begin = len(studio_server.log)

    def note(text: str) -> None:
        if not any(message in text for message in allowed_messages):
            problems.append(text)

    def note_request(request) -> None:
        if not request.url.startswith((studio_server.url, "data:", "blob:", "about:")):
            note(f"request to another host: {request.url}")

    def open_one(
        address: str = "/",
        *,
        dark: bool = False,
        width: int = 1280,
        height: int = 900,
        same_person=None,
        allowed: tuple[str, ...] = (),
        ready: str = "h1",
    ):
        allowed_messages.extend(allowed)
        if same_person is not None:
            context = same_person.context
        else:
            context = chromium.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
                accept_downloads=True,
            )
            context.set_default_timeout(TIMEOUT_MILLISECONDS)
            context.on("console", lambda message: note(f"console: {message.text}") if message.type == "error" else None)
            context.on("weberror", lambda error: note(f"exception in the page: {error.error}"))
            context.on("request", note_request)
            contexts.append(context)
        page = context.new_page()
        page.goto(studio_server.url + address)
        page.locator(ready).first.wait_for()
        return page

    yield open_one
    for number, page in enumerate([page for context in contexts for page in context.pages]):
        try:
            take_screenshot(page, f"end-{number}")
        except Error:  # it was closed, or its server is gone
            continue
    for context in contexts:
        context.close()
    time.sleep(0.05)
    new_log = studio_server.log[begin:]
    if "Traceback" in new_log and not any(message in new_log for message in allowed_messages):
        problems.append(f"the server wrote: {new_log[-3_000:]}")
    if problems:
        pytest.fail("\n".join(problems))


def find_violations(page) -> list[str]:
    """Return the serious and critical violations of the rules of axe-core on a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    report = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response
    return [
        f"{violation['id']}: {node['target']} {node['html'][:160]}"
        for violation in report["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:5]
    ]
