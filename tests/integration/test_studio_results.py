"""Check-up, Hunts, Relations, Trees and Studies as a person uses them, in Chromium."""

import ast
import json

import pytest
from axe_playwright_python.sync_playwright import Axe

pytest_plugins = ["support.studio"]
pytestmark = pytest.mark.slow

SERIOUS = ("serious", "critical")


@pytest.fixture
def open_with_model(open_page):
    """Open a page of the studio for somebody who has chosen the model of the served folder."""

    def open_one(address, **options):
        page = open_page("/", **options)
        page.get_by_role("button", name="Test this model").click()
        page.wait_for_url("**/check-up")
        if address != "/check-up":
            page.goto(page.url.replace("/check-up", address))
        return page

    return open_one


def start_and_wait(page, button):
    page.get_by_role("button", name=button, exact=True).click()
    page.get_by_text("finished after").wait_for(timeout=90_000)


def find_violations(page):
    page.mouse.move(2, 2)
    page.wait_for_timeout(400)  # until colours have faded in
    response = Axe().run(page).response["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary'][:200]}"
        for rule in response
        if rule["impact"] in SERIOUS
        for node in rule["nodes"][:3]
    ]


def test_check_up_from_the_form_to_a_pinned_finding(open_with_model, take_screenshot):
    page = open_with_model("/check-up")
    page.get_by_label("Budget", exact=True).click()
    page.get_by_role("option", name="10s").click()
    page.get_by_text("More options").click()
    page.get_by_label("Run only these checks").click()
    for name in ("answers", "adequacy", "dependence", "suggestions"):
        page.get_by_role("option", name=name, exact=True).click()
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
    page.get_by_text("0 of").wait_for()
    assert not any(card.is_visible() for card in cards.all())
    for box in boxes:
        box.click()

    for name, check in (("JSON", json.loads), ("SARIF", json.loads), ("JUnit", str), ("Markdown", str)):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        assert check(download.value.path().read_text(encoding="utf-8"))
    with page.expect_download() as download:
        page.get_by_role("button", name="pytest file").click()
    ast.parse(download.value.path().read_text(encoding="utf-8"))
    page.get_by_role("button", name="Declare: ").first.click()
    page.get_by_text("Added to the promises above").wait_for()

    page.reload()  # the result is found again
    page.locator(".finding-card").first.wait_for()
    page.get_by_role("button", name="Run again").first.click()
    page.get_by_role("heading", name="again").wait_for()
    page.get_by_text("finished after").wait_for(timeout=60_000)
    page.get_by_label("Show an earlier check-up").click()
    page.get_by_role("option", name="1. Check-up of").click()
    page.get_by_role("heading", name="Check-up of loans.skops").wait_for()


def test_a_hunt_draws_sources_and_follow_ups(open_page, take_screenshot):
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


def test_a_promise_about_the_chosen_model_is_hunted(open_with_model, take_screenshot):
    page = open_with_model("/hunts")
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


def test_the_tree_is_drawn_and_rows_that_are_missing_are_downloaded(open_with_model, take_screenshot):
    page = open_with_model("/trees")
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
