"""A real browser for tests: Chromium without a window, driven through a pipe.

One start takes a second or two and serves many pages. What a page logs and every address it asks for are kept.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WHY_NOT = "no browser: apt-get install chromium"
#: Chromium reads commands from descriptor 3 and writes to 4
LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)


@dataclass
class Page:
    """One open page."""

    browser: Browser
    session: str
    console: list[str] = field(default_factory=list)  # errors and warnings, also of the security policy
    requests: list[str] = field(default_factory=list)  # every address that was asked for

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def run(self, script):
        """Return what an expression is in the page; the page's own security policy does not matter to it."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, script, seconds=60):
        """Wait until an expression is true in the page."""
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({script})"):
            if time.monotonic() > end:
                raise AssertionError(f"still false after {seconds} s: {script}; the console: {self.console}")
            time.sleep(0.05)

    def look(self, width=1400, height=900, dark=False, media="", scripts=True):
        """Set the width, the colour scheme and the medium, and whether scripts run when the page is loaded again."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.send("Emulation.setScriptExecutionDisabled", value=not scripts)

    def load(self, file):
        self.browser.loaded.discard(self.session)
        self.send("Page.navigate", url=Path(file).as_uri())
        self.browser.until(lambda: self.session in self.browser.loaded)

    def press(self, key, code, number, text=""):
        about = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        self.send("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **about)

    def screenshot(self, file, whole=True):
        image = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        Path(file).write_bytes(base64.b64decode(image["data"]))
        return Path(file)

    def pdf(self, file):
        Path(file).write_bytes(base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"]))
        return Path(file)


class Browser:
    """Chromium while the block runs: ``with Browser() as browser: page = browser.open(file)``."""

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="datamorphic-browser-")
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        pair = [os.dup(end) for end in (theirs_in, theirs_out)]  # neither is 3 or 4 by now
        command = [sys.executable, "-c", LAUNCH, *map(str, pair), CHROMIUM, *FLAGS, f"--user-data-dir={self.home}"]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(command, pass_fds=pair, stdin=quiet, stdout=quiet, stderr=quiet)
        for end in (theirs_in, theirs_out, *pair):
            os.close(end)
        self.count, self.buffer = 0, b""
        self.answers, self.pages, self.loaded = {}, {}, set()
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close")
            self.process.wait(20)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.home, ignore_errors=True)

    def open(self, file, **look):
        """Load a file in a page of its own, with everything it logs and asks for recorded; see `Page.look`."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.look(**look)
        page.load(file)
        return page

    def send(self, method, session=None, **params):
        self.count += 1
        number = self.count
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self.out, json.dumps(message).encode() + b"\0")
        self.until(lambda: number in self.answers)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def until(self, true, seconds=90):
        end = time.monotonic() + seconds
        while not true():
            if not select.select([self.into], [], [], max(0.0, end - time.monotonic()))[0]:
                raise AssertionError(f"the browser did not answer within {seconds} s")
            some = os.read(self.into, 1 << 20)
            if not some:
                raise AssertionError("the browser has gone")
            *messages, self.buffer = (self.buffer + some).split(b"\0")
            for message in messages:
                self._heard(json.loads(message))

    def _heard(self, message):
        if "id" in message:
            self.answers[message["id"]] = message
            return
        page, about = self.pages.get(message.get("sessionId")), message.get("params", {})
        if page is None:
            return
        match message["method"]:
            case "Page.loadEventFired":
                self.loaded.add(page.session)
            case "Network.requestWillBeSent":
                page.requests.append(about["request"]["url"])
            case "Network.webSocketCreated":
                page.requests.append(about["url"])
            case "Runtime.exceptionThrown":
                page.console.append(str(about["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if about["type"] in ("error", "warning", "assert"):
                page.console.append(f"{about['type']}: {about['args']}")
            case "Log.entryAdded" if about["entry"]["level"] in ("error", "warning"):
                page.console.append(f"{about['entry']['level']}: {about['entry']['text']}")
