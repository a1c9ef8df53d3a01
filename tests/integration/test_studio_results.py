"""Check-up, Hunts, Relations, Trees and Studies as a person uses them, in Chromium."""

import ast
import json
import re
from contextlib import suppress

import pytest
from typer.testing import CliRunner

from datamorphic.cli.main import app
from datamorphic.web.stored_runs import read_runs
from support.studio import MODEL, find_violations

pytest_plugins = ["support.studio"]
pytestmark = [pytest.mark.slow, pytest.mark.studio]


def start_and_wait(page, button):
    page.get_by_role("button", name=button, exact=True).click()
    page.get_by_text("finished after").wait_for()


def pick_far_option(page, name):
    """Click an option of a list that is longer than what is drawn of it, and is drawn again while it is scrolled."""
    from playwright.sync_api import TimeoutError as PlaywrightTimeout

    for _ in range(30):
        with suppress(PlaywrightTimeout):
            page.get_by_role("option", name=name, exact=True).click(timeout=2_000)
            return
        page.mouse.wheel(0, 200)
    raise AssertionError(f"no option {name}")


def test_check_up_from_the_form_to_a_pinned_finding(open_with, take_screenshot):
    page = open_with(MODEL, "/check-up")
    page.get_by_label("Budget", exact=True).click()
    page.get_by_role("option", name="10000 runs", exact=True).click()
    for label, promise in (("One direction only", "income=up"), ("“Up” leads towards", "yes")):  # it breaks the promise
        page.get_by_label(label).click()
        page.get_by_role("option", name=promise, exact=True).click()
        page.keyboard.press("Escape")
    page.get_by_text("More options").click()
    page.get_by_label("Run only these checks").click()
    page.get_by_role("option", name="monotone", exact=True).click()
    pick_far_option(page, "suggestions")
    page.keyboard.press("Escape")
    start_and_wait(page, "Test")
    page.locator("section#findings").wait_for()
    cards = page.locator(".finding-card")
    assert cards.count() > 0
    assert page.locator(".report .verdict").is_visible()
    assert page.locator(".report .tiles li").count() == 7
    assert find_violations(page) == []
    take_screenshot(page, "result")

    boxes = page.get_by_role("search").get_by_role("checkbox").all()
    for box in boxes:
        box.click()
    page.get_by_text(f"0 of {cards.count()} findings shown").wait_for()
    assert not any(card.is_visible() for card in cards.all())
    for box in boxes:
        box.click()

    for name, check in (("JSON", json.loads), ("SARIF", json.loads), ("JUnit", str), ("Markdown", str)):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        assert check(download.value.path().read_text(encoding="utf-8"))
    with page.expect_download() as download:
        page.get_by_role("button", name="pytest file", exact=True).click()
    ast.parse(download.value.path().read_text(encoding="utf-8"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Pin as a pytest file").first.click()
    text = download.value.path().read_text(encoding="utf-8")
    ast.parse(text)
    assert "monotone" in text
    assert "income" in text
    page.get_by_role("button", name="Declare: ").first.click()
    page.get_by_text("Added to the promises above").wait_for()

    page.reload()  # the result is found again
    page.locator(".finding-card").first.wait_for()
    page.get_by_role("button", name="Run again").first.click()
    page.get_by_role("heading", name="again").wait_for()
    page.get_by_text("finished after").wait_for()
    page.get_by_label("Show an earlier check-up").click()
    page.get_by_role(
        "option", name="Check-up of"
    ).first.click()  # its number depends on earlier tests: one person for all
    page.get_by_role("heading", name="Check-up of loans.skops").wait_for()


def test_a_hunt_draws_sources_and_follow_ups_for_one_person(open_page, studio_server, take_screenshot):
    page = open_page("/hunts", dark=True)
    page.get_by_label("Generator of groups").click()
    page.get_by_role("option", name="MT-RT").click()
    page.get_by_label("Trials").fill("3")
    start_and_wait(page, "Hunt")
    legend = page.locator("section#sources .legend")
    legend.wait_for()
    assert "follow-up of a violation" in legend.inner_text()
    assert find_violations(page) == []
    take_screenshot(page, "result")

    url = f"{studio_server.url}/jobs/1"
    report, download = [page.context.request.get(f"{url}/{name}") for name in ("report", "files/report.html")]
    assert report.status == 200
    assert "sandbox" in report.headers["content-security-policy"]
    assert download.headers["content-disposition"].startswith("attachment")
    assert page.context.request.get(f"{url}/files/job.json").status == 404
    page.context.clear_cookies()  # somebody else
    assert page.context.request.get(f"{url}/report").status == 404


def test_a_promise_about_the_chosen_model_is_hunted(open_with, take_screenshot):
    page = open_with(MODEL, "/hunts")
    page.get_by_label("Column", exact=True).click()
    page.get_by_role("option", name="income").click()
    page.get_by_role("button", name="Add this promise").click()
    page.get_by_text("income: raises yes", exact=True).wait_for()
    start_and_wait(page, "Hunt")
    legend = page.locator("section#sources .legend").first
    legend.wait_for()
    assert "follow-up of a violation" in legend.inner_text()
    assert find_violations(page) == []
    take_screenshot(page, "result")


def test_relations_of_a_learner(open_page, take_screenshot):
    page = open_page("/relations", width=400)
    page.get_by_label("Relations (all that apply").click()
    for name in ("MR-1.1:", "MR-1.2:"):
        page.get_by_role("option", name=name).click()
    page.keyboard.press("Escape")
    page.get_by_label("Inputs per relation").fill("20")
    start_and_wait(page, "Check")
    page.locator("section#verification, section#validation").first.wait_for()
    assert find_violations(page) == []
    take_screenshot(page, "result")


def test_the_tree_is_drawn_and_rows_that_are_missing_are_downloaded(open_with, take_screenshot):
    page = open_with(MODEL, "/trees")
    start_and_wait(page, "Start")
    page.locator("section#tree svg").wait_for()
    page.get_by_text("Measured so far").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download rows that cover").click()
    assert "income" in download.value.path().read_text(encoding="utf-8")
    assert find_violations(page) == []
    take_screenshot(page, "result")


def test_a_study_is_chosen_from_the_list(open_page, take_screenshot):
    page = open_page("/studies")
    page.get_by_label("Search the studies").fill("002-14")
    page.get_by_label("Choose the study 002-14").click()
    page.get_by_text("002-14: ").wait_for()
    start_and_wait(page, "Run the chosen study")
    page.locator(".report table").first.wait_for()
    assert find_violations(page) == []
    take_screenshot(page, "result")


@pytest.mark.parametrize("command", ["combine", "script"])
def test_a_run_of_the_terminal_is_repeated_stopped_and_resumed(
    open_page, studio_server, slow_answers, monkeypatch, command
):
    words = {
        "combine": ["slow_system:Shore", "--strategy=combinatorialComplete"],
        "script": ["places.scr", "--system=slow_system:Shore"],
    }
    (studio_server.folder / "places.scr").write_text("makeSeed([grid])\nmakeMutant([east])\nexecuteTestCases()\n" * 3)
    monkeypatch.chdir(studio_server.folder)
    monkeypatch.syspath_prepend(studio_server.folder)
    slow_answers.unlink()
    store = str(studio_server.home / "runs.sqlite")
    result = CliRunner().invoke(app, [command, *words[command], f"--store={store}", "--json"])
    number = json.loads(result.stdout)["run"]
    slow_answers.write_text("20")

    page = open_page(f"/runs?run={number}")
    page.locator("[data-state]", has_text="finished").wait_for()
    page.get_by_role("button", name="Run it again").click()
    page.locator(".state-running").wait_for()
    while read_runs(store).rows[0].number == number:
        page.wait_for_timeout(50)
    page.get_by_role("button", name="Stop").click()
    page.locator(".state-interrupted").wait_for()
    page.goto(f"{studio_server.url}/runs?run={number + 1}")
    page.locator("[data-state]", has_text=re.compile("interrupted|killed")).wait_for()
    slow_answers.unlink()
    page.get_by_role("button", name="Resume").click()
    page.get_by_text("finished after").wait_for()
    page.locator("[data-state]", has_text="finished").wait_for()
