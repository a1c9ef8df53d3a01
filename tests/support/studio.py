"""The studio in a process of its own, and Chromium to click in it: `pytest_plugins = ["support.studio"]`.

`studio_server` and `chromium` are shared by all tests of the process. Every test is another person: `open_page` opens a page
for somebody who has done nothing yet, `open_with` for somebody who has chosen what to test. A test fails on errors in the
console, on exceptions in a page or in the server, and on requests to other hosts. `own_server` is for tests that kill it.

`take_screenshot(page, "name")` keeps a picture in $DATAMORPHIC_SCREENSHOTS, if that is set. If a test fails, what its pages
looked like is kept there, or in ``.pytest_cache/studio``.

Tests may also import names from here, so pytest leaves the module as it is (PYTEST_DONT_REWRITE).
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    *("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
READY = re.compile(r"The studio is at (http\S+)")
START_SECONDS = 180  # of a busy machine
TIMEOUT_MILLISECONDS = 180_000  # of a click or of a text that must appear: the machine may be busy
VIEWPORT = {"width": 1280, "height": 900}
UPLOAD_MEGABYTES = 1  # the limit of the shared server
MODEL, DATA, TARGET = "loans.skops", "loans.csv", "approved"
HOSTILE = "<img src=x onerror=document.title='owned'>"
HOSTILE_SCRIPT = f'makeSeed([RandomValue5])\nmakeSeed(["{HOSTILE}"])\n'
#: what moves or fades in costs frames, and has other colours meanwhile
WITHOUT_MOTION = """
const sheet = new CSSStyleSheet();
sheet.replaceSync("*, *::before, *::after { transition: none !important; animation: none !important }");
document.adoptedStyleSheets = [sheet];
"""
#: a test system that takes its time as long as there is a file "slow" beside it, which may hold the seconds per query
SLOW_SYSTEM = '''
import time
from pathlib import Path

import numpy as np
import pandas as pd

import datamorphic as dm

SLOW = Path(__file__).with_name("slow")


class Shore:
    """Land and sea."""

    space = dm.Space([dm.Continuous("x", 0, 300), dm.Continuous("<b>y</b>", 0, 300)])

    @dm.seed_maker
    def grid(self):
        """Make places all over the map."""
        axis = np.linspace(3, 95, 4)
        return pd.DataFrame({"x": np.repeat(axis, 4), "<b>y</b>": np.tile(axis, 4)})

    @dm.datamorphism
    def east(self, place):
        """Go east."""
        return place.assign(x=place.x + 3)

    @dm.datamorphism
    def north(self, place):
        """Go north."""
        return place.assign(**{"<b>y</b>": place["<b>y</b>"] + 3})

    @dm.metamorphism(of="east", applies_to="mutant")
    def same_side(self, cases, origins):
        """Going east changes nothing."""
        return cases.output == origins.output

    @dm.executor
    def classify(self, place):
        """Tell land from sea."""
        if SLOW.exists():
            time.sleep(float(SLOW.read_text() or 0.15) + 0.004 * len(place))
        return np.where(place.x + place["<b>y</b>"] > 100, "land", "sea")
'''


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
        return self.process.wait(START_SECONDS)

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


def write_files(folder: Path) -> Path:
    """Write what the studio of the tests serves: a model and its data, test systems, a script, and links out of the folder."""
    write_model(folder)
    (folder / "slow_system.py").write_text(SLOW_SYSTEM, encoding="utf-8")
    (folder / "<i>hostile.scr").write_text(HOSTILE_SCRIPT, encoding="utf-8")
    (folder / "link.csv").symlink_to("/etc/passwd")
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    return folder


@contextmanager
def run_server(folder: Path, home: Path, *options: str) -> Iterator[StudioServer]:
    """Start a server, and press Ctrl-C at the end unless it has ended."""
    pytest.importorskip("nicegui", reason="pip install 'datamorphic[web]'")
    server = StudioServer(folder, home, list(options)).start()
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            try:
                server.stop()
            except subprocess.TimeoutExpired:
                server.kill()
                raise


@pytest.fixture(scope="session")
def studio_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    """The server of all tests of the process."""
    folder = write_files(tmp_path_factory.mktemp("served"))
    with run_server(folder, tmp_path_factory.mktemp("studio"), f"--upload-limit={UPLOAD_MEGABYTES}") as server:
        yield server


@pytest.fixture
def slow_answers(studio_server: StudioServer) -> Iterator[Path]:
    """Let the test system of the served folder take its time, until the file is removed."""
    file = studio_server.folder / "slow"
    file.touch()
    yield file
    file.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    """A server that tests may kill, and start again; it serves the test system only, as a module of another name."""
    folder, home = tmp_path_factory.mktemp("served"), tmp_path_factory.mktemp("home")
    (folder / "shore.py").write_text(SLOW_SYSTEM, encoding="utf-8")
    with run_server(folder, home) as server:
        yield server


@dataclass
class SharedBrowser:
    """Chromium without a window, and the context that tests take turns in: its cache has the files of the studio.

    The event loop of Playwright counts as running until it ends. Tests with loops of their own need it out of the way.
    """

    browser: Any
    loop: asyncio.AbstractEventLoop | None
    context: Any = None
    cookies: dict[str, list[Any]] = field(default_factory=dict)  # of people who have chosen what to test, by its name

    @contextmanager
    def use(self) -> Iterator[None]:
        """Let Playwright run its event loop in the block."""
        asyncio._set_running_loop(self.loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    def make_context(self) -> Any:
        """Return the storage of a new person."""
        context = self.browser.new_context(viewport=VIEWPORT, accept_downloads=True, reduced_motion="reduce")
        context.set_default_timeout(TIMEOUT_MILLISECONDS)
        context.add_init_script(WITHOUT_MOTION)
        return context


@pytest.fixture(scope="session")
def chromium() -> Iterator[SharedBrowser]:
    """The browser of all tests of the process."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    if not Path(CHROMIUM).exists():
        pytest.skip("no browser: apt-get install chromium")
    driver = playwright.sync_playwright().start()
    browser = SharedBrowser(driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS), asyncio._get_running_loop())
    browser.context = browser.make_context()
    asyncio._set_running_loop(None)
    yield browser
    with browser.use():
        browser.browser.close()
        driver.stop()


def save_picture(page: Any, request: pytest.FixtureRequest, folder: Path, name: str) -> None:
    """Write a picture of a page, with the name of the test."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^\w-]+", "_", f"{request.path.stem}-{request.node.name}-{name}").strip("_")
    page.screenshot(path=folder / f"{stem}.png", full_page=True)


@pytest.fixture
def take_screenshot(request: pytest.FixtureRequest):
    """Keep what a page looks like, if somebody wants to look: `take_screenshot(page, "name")`."""

    def take(page: Any, name: str = "end") -> None:
        if folder := os.environ.get("DATAMORPHIC_SCREENSHOTS"):
            save_picture(page, request, Path(folder), name)

    return take


class PageWatch:
    """Collects what goes wrong on the pages of a test: messages of the console, exceptions, requests to other hosts, tracebacks."""

    def __init__(self, server: StudioServer) -> None:
        self.problems: list[str] = []
        self.allowed_messages: list[str] = []  # parts of messages that the test provokes
        self.servers: dict[int, tuple[StudioServer, int]] = {}
        self.add_server(server)
        self.listeners = {"console": self.note_message, "weberror": self.note_exception, "request": self.note_request}

    def add_server(self, server: StudioServer) -> None:
        """Watch what a server logs from now on."""
        self.servers.setdefault(id(server), (server, len(server.log)))

    def is_allowed(self, text: str) -> bool:
        return any(message in text for message in self.allowed_messages)

    def note(self, text: str) -> None:
        if not self.is_allowed(text):
            self.problems.append(text)

    def note_request(self, sent: Any) -> None:
        urls = [server.url for server, _ in self.servers.values()]
        if not sent.url.startswith((*urls, "data:", "blob:", "about:")):
            self.note(f"request to another host: {sent.url}")

    def note_message(self, message: Any) -> None:
        if message.type == "error":
            self.note(f"console: {message.text}")

    def note_exception(self, error: Any) -> None:
        self.note(f"exception in the page: {error.error}")

    def listen(self, context: Any) -> None:
        for event, listener in self.listeners.items():
            context.on(event, listener)

    def stop_listening(self, context: Any) -> None:
        for event, listener in self.listeners.items():
            context.remove_listener(event, listener)

    def read_logs(self) -> None:
        """Note the tracebacks that servers wrote."""
        for server, begin in self.servers.values():
            new_log = server.log[begin:]
            if "Traceback" in new_log and not self.is_allowed(new_log):
                self.problems.append(f"the server wrote: {new_log[-3_000:]}")


@pytest.fixture
def open_page(studio_server: StudioServer, chromium: SharedBrowser, request: pytest.FixtureRequest):
    """Open a page of the studio: `open_page("/runs", width=400)`; see the module.

    The second call is by another person, unless `same_person` is a page of the first one. `server` is another server, and
    `allowed` are parts of console messages that the test provokes.
    """
    from playwright.sync_api import Error

    pages: list[Any] = []
    contexts: list[Any] = []
    watch = PageWatch(studio_server)
    failure_count = request.session.testsfailed

    def open_one(
        address: str = "/",
        *,
        dark: bool = False,
        width: int = VIEWPORT["width"],
        same_person: Any = None,
        cookies: list[Any] | None = None,
        server: StudioServer = studio_server,
        allowed: tuple[str, ...] = (),
    ) -> Any:
        watch.allowed_messages.extend(allowed)
        watch.add_server(server)
        if same_person is not None:
            context = same_person.context
        else:
            context = chromium.make_context() if contexts else chromium.context
            contexts.append(context)
            watch.listen(context)
            context.add_cookies(cookies or [])
        page = context.new_page()
        pages.append(page)
        if dark:
            page.emulate_media(color_scheme="dark")
        if width != VIEWPORT["width"]:
            page.set_viewport_size({**VIEWPORT, "width": width})
        page.goto(server.url + address)
        page.locator("h1").first.wait_for()
        return page

    with chromium.use():
        yield open_one
        if request.session.testsfailed > failure_count or watch.problems:
            folder = os.environ.get("DATAMORPHIC_SCREENSHOTS") or request.config.rootpath / ".pytest_cache" / "studio"
            for number, page in enumerate(pages):
                try:
                    save_picture(page, request, Path(folder), f"failed-{number}")
                except Error:  # it was closed, or its server is gone
                    continue
        for page in pages:
            page.close()
        for context in contexts:
            watch.stop_listening(context)
            if context is chromium.context:
                context.clear_cookies()
            else:
                context.close()
    watch.read_logs()
    if watch.problems:
        pytest.fail("\n".join(watch.problems))


@pytest.fixture
def open_with(open_page, studio_server: StudioServer, chromium: SharedBrowser):
    """Open a page for somebody who tests the model, or a built-in classifier: `open_with("Box 2", "/trees")`.

    It is the same person in all tests: the processes that answer the questions of that person are started once.
    """

    def open_one(name: str, address: str, **options: Any) -> Any:
        if name in chromium.cookies:
            return open_page(address, cookies=chromium.cookies[name], **options)
        page = open_page("/", **options)
        choose_subject(page, name)
        chromium.cookies[name] = page.context.cookies()
        page.goto(studio_server.url + address)
        page.locator("h1").wait_for()
        return page

    return open_one


def choose_subject(page: Any, name: str) -> None:
    """Choose the model of the served folder, or a built-in classifier, on the page Start."""
    if name == MODEL:
        page.get_by_role("button", name="Test this model").click()
        page.wait_for_url("**/check-up")
    else:
        page.get_by_role("button", name=name).first.click()
        page.wait_for_url("**/activities")


def wait_until_drawn(page: Any) -> None:
    """Wait for what is drawn after the page was loaded."""
    page.wait_for_function(
        "!document.querySelector('.q-spinner, .cm-content:not([aria-label])') && !/^(Reading|Starting) /m.test(document.body.innerText)"
    )


def find_violations(page: Any, *rules: str) -> list[str]:
    """Return the serious and critical violations of the rules of axe-core on a page; of all rules if none are named."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    page.mouse.move(2, 2)  # nothing looks as it does under the mouse
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe.Axe().axe_script)
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    return [
        f"{violation['id']}: {node['target']} {node['html'][:160]}"
        for violation in page.evaluate("async (options) => (await axe.run(options)).violations", options)
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:5]
    ]
