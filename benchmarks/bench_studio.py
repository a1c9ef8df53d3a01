"""The studio: its start, the first page, a first-time user's clicks, ten people with a run each, and Stop.

At the end it prints what the studio promises beside what was measured.
"""

from __future__ import annotations

import asyncio
import compileall
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

import datamorphic
from benchmarks.timing import line
from datamorphic.web.jobs import StudioJob, WorkerPool
from datamorphic.web.studio import PAGES

PEOPLE = 10
ROUNDS = 2
MAX_CLICKS = 10
MAX_FIRST_PAGE_SECONDS, MAX_PAGE_SECONDS, MAX_STOP_SECONDS = 2.0, 1.0, 2.0
MAX_START_SECONDS = 60.0  # of a job, until it says how far it is
#: jobs that take long, to be stopped; mutants run in processes of their own
LONG_JOBS = {
    "explore": ["explore", "--subject=Box 2", "--walks=2000000"],
    "test": ["test", "loans.skops", "loans.csv", "--target=approved", "--budget=30m"],
    "hunt": ["hunt", "program:tanh", "--budget=100000000", "--stop-after=all"],
    "script": ["script", "long.scr", "--subject=Box 2"],
    "mutate": ["mutate", "datamorphic.data.knn"],
}
LONG_SCRIPT = "makeSeed([RandomValue200])\nrandomWalkExplore([upward, mid, leftward];20;2000000)\n"
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
    (folder / "long.scr").write_text(LONG_SCRIPT, encoding="utf-8")


def build_environment(home):
    """Return an environment in which nothing but the folder is used."""
    own = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "DATAMORPHIC_STORE": str(home / "runs.sqlite")}
    return {**os.environ, **own, "OMP_NUM_THREADS": "1"}


def start(home):
    """Return the process of a studio, its address, and the seconds until it was ready."""
    served = home / "served"
    compileall.compile_dir(Path(datamorphic.__file__).parent, quiet=2)  # as pip does
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "datamorphic", "web", str(served), "--port=0", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        env=build_environment(home),
    )
    words = process.stdout.readline().split()
    return process, next(word for word in words if word.startswith("http")), time.perf_counter() - began


def read_cpu_seconds(process):
    """Return the processor time of a process, which other programs influence less than the time on the clock."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_first_page(context, url):
    """Return the seconds of the first page with an empty cache; print those with a full one and what it loads, too."""
    page = context.pages[0]
    sizes, seconds = [], []
    page.on("response", lambda response: sizes.append(int(response.headers.get("content-length") or 0)))
    for name in ("first page, nothing in the cache", "first page again"):
        sizes.clear()
        began = time.perf_counter()
        page.goto(url)
        page.locator("h1").wait_for()
        seconds.append(time.perf_counter() - began)
        line(name, f"{seconds[-1]:.2f} s", f"{len(sizes)} requests, {sum(sizes) / 1e3:,.0f} kB")
    context.close()
    return seconds[0]


def follow_first_path(browser, url):
    """Count the clicks from the first page to the first finding on a model and a CSV file; return the seconds of Stop."""
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
    began = time.perf_counter()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("stopped after").wait_for()
    seconds = time.perf_counter() - began
    line("from a click on Stop to its end in the page: check-up", f"{seconds:.2f} s")
    context.close()
    return seconds


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
            for _, address, *_ in PAGES:
                began = time.perf_counter()
                request = urllib.request.Request(url + address, headers={"Cookie": cookies})
                urllib.request.urlopen(request, timeout=60).read()
                seconds.append(time.perf_counter() - began)
    return seconds


async def measure_stops(home):
    """Return the seconds from Stop to the end of a job, for long jobs of all kinds."""
    seconds = []
    pool = WorkerPool(build_environment(home))
    for number, (name, words) in enumerate(LONG_JOBS.items(), 1):
        folder = home / "jobs" / str(number)
        arguments = [*words, "--json", f"--html={folder / 'report.html'}"]
        job = StudioJob(number=number, title=name, arguments=arguments, folder=folder)
        task = asyncio.create_task(job.execute(pool, home / "served"))
        began = time.perf_counter()
        while not (job.text or job.share or job.ended) and time.perf_counter() - began < MAX_START_SECONDS:
            await asyncio.sleep(0.05)
        await asyncio.sleep(1)
        if job.ended:
            raise RuntimeError(f"{name} ended before it was stopped: {job.state}, {job.error}")
        began = time.perf_counter()
        await job.stop()
        await task
        seconds.append(time.perf_counter() - began)
        line(f"from Stop to the end of the job: {name}", f"{seconds[-1]:.2f} s")
    await pool.close()
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
        home = Path(folder)
        (home / "served").mkdir()
        write_files(home / "served")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            context = browser.new_context()
            context.new_page()  # before the start of the studio: the first page must come right after it
            process, url, seconds = start(home)
            try:
                line(
                    "from the command to a studio that answers",
                    f"{seconds:.2f} s",
                    f"{read_cpu_seconds(process):.2f} s of processor time",
                )
                first_page = open_first_page(context, url)
                stops = [follow_first_path(browser, url)]
                people = [start_run(browser, url) for _ in range(PEOPLE)]
                browser.close()
                answers = measure_answers(url, people)
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(20)
                process.stdout.close()
        line(f"a page, {PEOPLE} people with a run each, median", f"{statistics.median(answers):.2f} s")
        line(f"a page, {PEOPLE} people with a run each, slowest", f"{max(answers):.2f} s", f"of {len(answers)}")
        stops += asyncio.run(measure_stops(home))
    print(f"  promises, on {os.cpu_count()} cores")
    for name, value, limit in (
        ("first page, nothing in the cache", first_page, MAX_FIRST_PAGE_SECONDS),
        (f"slowest page, {PEOPLE} people with a run each", max(answers), MAX_PAGE_SECONDS),
        ("slowest Stop", max(stops), MAX_STOP_SECONDS),
    ):
        line(name, f"{value:.2f} s", f"{'kept' if value < limit else 'NOT KEPT'}: under {limit:.0f} s")


if __name__ == "__main__":
    main()
