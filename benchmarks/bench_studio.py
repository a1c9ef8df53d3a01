"""The studio: its start, the first page, a first-time user's clicks, and ten people with a run each."""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import line

PEOPLE = 10
ROUNDS = 3
MAX_CLICKS = 10
PAGES = ("/", "/check-up", "/activities", "/exploration", "/runs")
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]


def write_files(folder):
    """Write a model whose decision falls with income in places, and its data."""
    import skops.io

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 160), "income": rng.normal(3_000, 900, 160).round(-1)})
    labels = np.where(frame["income"] + rng.normal(0, 400, 160) > 3_000, "yes", "no")
    skops.io.dump(DecisionTreeClassifier(max_depth=5, random_state=0).fit(frame, labels), folder / "loans.skops")
    frame.assign(approved=labels).to_csv(folder / "loans.csv", index=False)
    frame.to_csv(folder / "others.csv", index=False)


def start(home):
    """Return the process of a studio, its address, and the seconds until it was ready."""
    served = home / "served"
    served.mkdir()
    write_files(served)
    own = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "DATAMORPHIC_STORE": str(home / "runs.sqlite")}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "datamorphic", "web", str(served), "--port=0", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **own, "OMP_NUM_THREADS": "1"},
    )
    words = process.stdout.readline().split()
    return process, next(word for word in words if word.startswith("http")), time.perf_counter() - began


def open_first_page(browser, url):
    """Measure the first page, with an empty cache and with a full one, and what it loads."""
    context = browser.new_context()
    page = context.new_page()
    sizes = []
    page.on("response", lambda response: sizes.append(int(response.headers.get("content-length") or 0)))
    for name in ("first page, nothing in the cache", "first page again"):
        sizes.clear()
        began = time.perf_counter()
        page.goto(url)
        page.locator("h1").wait_for()
        line(name, f"{time.perf_counter() - began:.2f} s", f"{len(sizes)} requests, {sum(sizes) / 1e3:,.0f} kB")
    context.close()


def follow_first_path(browser, url):
    """Count the clicks from the first page to the first finding on a model and a CSV file."""
    context = browser.new_context()
    page = context.new_page()
    clicks = 0
    began = time.perf_counter()

    def click(locator):
        nonlocal clicks
        locator.click()
        clicks += 1

    page.goto(url)
    click(page.get_by_label("Data", exact=True))  # the only model is chosen already
    click(page.get_by_role("option", name="loans.csv"))
    page.get_by_text("160 rows").wait_for()
    click(page.get_by_role("button", name="Test this model"))
    page.wait_for_url("**/check-up")
    click(page.get_by_role("button", name="Test", exact=True))
    page.locator(".finding, .finding-card").first.wait_for(timeout=120_000)
    line("from the first page to the first finding", f"{time.perf_counter() - began:.1f} s", f"{clicks} clicks")
    if clicks >= MAX_CLICKS:
        raise RuntimeError(f"a first-time user needs {clicks} clicks")
    page.get_by_role("button", name="Stop").click()
    context.close()


def start_run(browser, url):
    """Let one more person explore a classifier for a long time, and return the cookies of this person."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(url, wait_until="networkidle")  # connected: clicks before that can be lost
    page.get_by_role("button", name="Box 2").click()
    page.wait_for_url("**/activities", wait_until="commit", timeout=60_000)
    page.goto(url + "/exploration", wait_until="networkidle")
    page.get_by_label("Walks").fill("2000000")
    page.get_by_role("button", name="Explore", exact=True).click()
    page.get_by_role("button", name="Stop").wait_for(timeout=60_000)
    cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in context.cookies())
    context.close()
    return cookies


def measure_answers(url, people):
    """Return the seconds of each page for each person."""
    seconds = []
    for _ in range(ROUNDS):
        for cookies in people:
            for address in PAGES:
                began = time.perf_counter()
                request = urllib.request.Request(url + address, headers={"Cookie": cookies})
                urllib.request.urlopen(request, timeout=60).read()
                seconds.append(time.perf_counter() - began)
    return seconds


def main():
    """Print the figures; skip without a browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("  needs playwright: pip install playwright")
        return
    if not Path(CHROMIUM).exists():
        print("  needs Chromium: apt-get install chromium")
        return
    with tempfile.TemporaryDirectory() as folder:
        process, url, seconds = start(Path(folder))
        try:
            line("from the command to a studio that answers", f"{seconds:.2f} s")
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                open_first_page(browser, url)
                follow_first_path(browser, url)
                people = [start_run(browser, url) for _ in range(PEOPLE)]
                browser.close()
            answers = measure_answers(url, people)
            line(f"a page, {PEOPLE} people with a run each, median", f"{statistics.median(answers):.2f} s")
            line(f"a page, {PEOPLE} people with a run each, slowest", f"{max(answers):.2f} s", f"of {len(answers)}")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
            process.stdout.close()


if __name__ == "__main__":
    main()
