"""Explorations in the studio, in Chromium: estimate, plot, pairs, comparisons, large fronts, and a server that is killed."""

import importlib
import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.exploration.front import Front
from support.studio import START_SECONDS

pytest_plugins = ["support.studio"]
pytestmark = [pytest.mark.slow, pytest.mark.studio]

WALKS = 200
MANY_PAIRS = 100_000
MAX_PAGE_MEGABYTES = 300


def set_option(page, name, value):
    page.locator(f'[data-option="{name}"] input, input[data-option="{name}"]').first.fill(str(value))


def wait_for_plot(page):
    page.locator(".front-plot[data-ready=true]").first.wait_for()


def explore(page, server):
    """Start an exploration, wait for its end, and return the folder of the job."""
    numbers = page.locator("[data-job]").evaluate_all("panels => panels.map(panel => panel.dataset.job)")
    page.get_by_role("button", name="Explore", exact=True).click()
    page.wait_for_function(
        """numbers => [...document.querySelectorAll("[data-job]")].some(
            panel => !numbers.includes(panel.dataset.job) && panel.querySelector(".state-finished"))""",
        arg=numbers,
    )
    wait_for_plot(page)
    fronts = (server.home / "data").rglob("jobs/*/front.parquet")
    return max(fronts, key=lambda path: path.stat().st_mtime).parent


def test_explore_look_at_pairs_and_compare(studio_server, open_with, take_screenshot):
    page = open_with("Box 2", "/exploration")
    set_option(page, "walks", WALKS)
    page.get_by_role("button", name="Moves").click()
    page.get_by_text("The subject has 4 moves.").wait_for()
    page.get_by_role("button", name="Estimate size and time").click()
    estimate = page.get_by_role("region", name="Estimate")
    estimate.get_by_text("random target").wait_for()
    folders = [explore(page, studio_server) for _ in range(2)]
    runs = [json.loads((folder / "job.json").read_text())["run"] for folder in folders]
    document = json.loads((folders[1] / "output.txt").read_text())
    assert document["walks"] == WALKS
    assert page.get_by_text(f"from {WALKS} walks").first.is_visible()

    # a pair by keyboard, as the plot and as the table have it
    plot = page.get_by_role("application")
    plot.focus()
    page.keyboard.press("Enter")
    details = page.get_by_label("The chosen pair", exact=True)
    details.get_by_text("How it was found").wait_for()
    assert details.get_by_text("started from seed case").is_visible()
    page.get_by_text(f"Table of the {document['pairs']} pairs").click()
    page.get_by_role("button", name="Open pair 5", exact=True).click()
    details.get_by_role("heading", name="Pair 5").wait_for()

    # other axes: the columns are fetched
    with page.expect_response(lambda response: "/columns/" in response.url) as response:
        page.get_by_label("Across", exact=True).click()
        page.get_by_role("option", name="distance of the two cases").click()
    assert len(response.value.body()) >= 8 * document["pairs"]
    take_screenshot(page, "pair")

    # the same options give the same border
    page.reload()
    assert page.locator('input[data-option="walks"], [data-option="walks"] input').first.input_value() == str(WALKS)
    page.get_by_label("Earlier run").click()
    page.get_by_role("option", name=f"{runs[0]}: Box 2").click()
    page.get_by_label("Later run").click()
    page.get_by_role("option", name=f"{runs[1]}: Box 2").click()
    page.get_by_role("button", name="Compare the runs").click()
    page.get_by_text("No change of the border was found.").wait_for()

    # another classifier has another border
    page.get_by_label("The other model").click()
    page.get_by_role("option", name="Box 1").click()
    page.get_by_role("button", name="Compare the models").click()
    page.get_by_text("The border changed.").wait_for()
    assert page.frame_locator("iframe.report-frame").first.locator("h1").is_visible()


def test_a_large_front_stays_small_and_fluid(studio_server, open_with, take_screenshot):
    page = open_with("Box 1", "/exploration")
    set_option(page, "walks", 50)
    write_many_pairs(explore(page, studio_server) / "front.parquet")
    page.reload()
    page.get_by_text(f"Table of the {MANY_PAIRS:,} pairs").wait_for()
    wait_for_plot(page)
    assert page.locator(".front-plot").get_attribute("data-painter") == "webgl"
    frames = page.evaluate(
        """async () => {
            const plot = document.querySelector(".front-plot"), area = plot.querySelector(".front-plot-area");
            const box = area.getBoundingClientRect(), first = Number(plot.dataset.frames);
            for (let i = 0; i < 10; i++) {
                const place = { clientX: box.left + 300, clientY: box.top + 150, deltaY: -80 };
                area.dispatchEvent(new WheelEvent("wheel", { ...place, bubbles: true, cancelable: true }));
                await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            }
            return Number(plot.dataset.frames) - first;
        }"""
    )
    assert frames == 10  # every turn of the wheel is drawn
    take_screenshot(page, "zoomed")
    session = page.context.browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    sizes = [read_megabytes(process["id"]) for process in processes if process["type"] == "renderer"]
    assert max(sizes) < MAX_PAGE_MEGABYTES


def write_many_pairs(path):
    """Repeat the pairs of a front, a little apart, until there are many."""
    front = Front.load(path)
    rows = np.arange(MANY_PAIRS) % len(front)
    arrays = {name: getattr(front, name)[rows] for name in ("a_output", "b_output", "distance", "part", "walk")}
    arrays |= {name: getattr(front, name)[rows] for name in ("pair_runs", "walked_by")}
    kinds = [front.kinds[row] for row in rows]
    replace(front, a=front.a.take(rows), b=front.b.take(rows), kinds=kinds, **arrays).save(path)


def read_megabytes(process):
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1_000


def test_a_killed_server_resumes_the_run_to_the_same_front(own_server, open_page, take_screenshot, monkeypatch):
    slow_file = own_server.folder / "slow"
    slow_file.touch()
    page = open_page("/", server=own_server, allowed=("WebSocket", "ERR_CONNECTION", "Failed to load", "socket"))
    page.get_by_role("button", name="Test with it").click()
    page.wait_for_url("**/activities")
    page.goto(own_server.url + "/exploration")
    set_option(page, "walks", 150)
    page.get_by_role("button", name="Explore", exact=True).click()
    page.get_by_text("running").wait_for()
    page.wait_for_function(
        """() => Number(document.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow')) > 0.05"""
    )
    workers = list_children(own_server.process.pid)
    assert workers
    own_server.kill()
    deadline = time.monotonic() + START_SECONDS
    while (alive := [worker for worker in workers if is_alive(worker)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not alive  # no process outlives the server

    page.goto("about:blank")  # or the page would load itself again as soon as there is a server
    own_server.start()
    page.goto(own_server.url + "/runs")
    page.get_by_role("link", name="Open run").first.click()
    state = page.locator("[data-state]")
    state.wait_for()
    assert state.inner_text() in ("killed", "interrupted")
    take_screenshot(page, "killed")
    slow_file.unlink()
    page.get_by_role("button", name="Resume").click()
    wait_for_plot(page)
    page.locator("[data-state]", has_text="finished").wait_for()
    page.goto(own_server.url + "/exploration")
    page.get_by_text("The studio ended while this job was running").wait_for()
    page.get_by_role("link", name="It was resumed later").wait_for()

    [resumed_path] = [
        path
        for path in (own_server.home / "data").rglob("front.parquet")
        if "resumed" in (path.parent / "job.json").read_text()
    ]
    resumed = Front.load(resumed_path)
    monkeypatch.syspath_prepend(own_server.folder)
    expected = dm.explore(importlib.import_module("shore").Shore, walks=150)
    assert len(resumed) == len(expected) > 10
    assert np.array_equal(resumed.a.codes, expected.a.codes)
    assert np.array_equal(resumed.b.codes, expected.b.codes)
    assert list(resumed.a_output) == list(expected.a_output)
    assert np.array_equal(resumed.walk, expected.walk)


def test_a_killed_worker_is_reported_and_the_next_job_works(own_server, open_page, take_screenshot):
    page = open_page("/", server=own_server)
    page.get_by_role("button", name="Test with it").click()
    page.get_by_role("button", name="Make seed cases").click()
    page.get_by_text("cases added").wait_for()
    kill_workers(own_server)  # of the test pool, and the spare one, between two commands
    page.get_by_role("button", name="Execute", exact=True).click()
    page.locator(".entry-failed").get_by_text("The process of the test pool has ended").wait_for()
    page.get_by_role("button", name="Make seed cases").click()
    page.locator(".entry-done").nth(1).wait_for()

    slow_file = own_server.folder / "slow"
    slow_file.write_text("30")
    page.goto(own_server.url + "/exploration")
    set_option(page, "walks", 20)
    page.get_by_role("button", name="Explore", exact=True).click()
    page.locator(".state-running").wait_for()
    kill_workers(own_server)
    page.get_by_text("was killed (SIGKILL). Somebody ended it, or the memory ran out.").wait_for()
    take_screenshot(page, "killed worker")
    slow_file.unlink()
    explore(page, own_server)


def kill_workers(server):
    for process in list_children(server.process.pid):
        os.kill(process, signal.SIGKILL)


def list_children(process):
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
