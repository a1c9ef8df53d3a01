"""Start, Set-up and Patterns in Chromium: uploads, the demo, the space changed, and a relation from the guide."""

import re
from pathlib import Path

import pytest

from support.studio import HOSTILE

pytest_plugins = ["support.studio"]
pytestmark = [pytest.mark.slow, pytest.mark.studio]


def test_uploads_are_shown_and_large_ones_refused(studio_server, open_page, tmp_path):
    page = open_page(allowed=("413",))
    page.get_by_text("160 rows and 4 columns").wait_for()
    lines = (studio_server.folder / "loans.csv").read_text().splitlines()
    own = tmp_path / "own <b>loans.csv"
    own.write_text("\n".join([f'"{HOSTILE}",{lines[0]}', *(f"1,{line}" for line in lines[1:])]))
    page.locator("input[type=file]").set_input_files(own)
    page.get_by_text("160 rows and 5 columns").wait_for()
    assert page.get_by_role("columnheader").first.inner_text() == HOSTILE
    assert "owned" not in page.title()
    large = tmp_path / "large.csv"
    large.write_bytes(b"a,b\n" + b"1,2\n" * 300_000)
    page.locator("input[type=file]").set_input_files(large)
    page.get_by_text("has more than 1 MB, the limit.").wait_for()
    for name, reason in (
        ("m.pkl", "it is a pickle"),
        ("m.py", "is code"),
        ("m.toml", "can send secrets"),
        ("m.x", "cannot read"),
    ):
        (tmp_path / name).write_bytes(b"x")
        page.locator("input[type=file]").set_input_files(tmp_path / name)
        page.get_by_text(f"'{name}' cannot be uploaded").filter(has_text=reason).wait_for()
    page.get_by_text("Your uploads (1)").click()
    page.get_by_role("button", name="Delete own").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("is deleted").wait_for()
    page.get_by_text("160 rows and 4 columns").wait_for()  # the only table that is left


def test_the_demo_is_tested_by_one_click_and_has_trees(studio_server, open_page, take_screenshot):
    page = open_page("/?demo=1")
    page.get_by_text("are ready").wait_for()
    take_screenshot(page, "demo")
    page.get_by_role("button", name="Test the demo model").click()
    page.wait_for_url("**/check-up")
    page.get_by_text("Testing demo-loans.skops").wait_for()
    page.get_by_text("income=up", exact=True).wait_for()  # what a lender expects is filled in
    page.locator(".state-running").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator(".state-interrupted").wait_for()

    page.goto(studio_server.url + "/trees")
    page.get_by_text("So a tree is fitted to its answers").wait_for()
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("finished after").wait_for()
    page.locator("section#tree svg").wait_for()
    take_screenshot(page, "trees")
    page.set_viewport_size({"width": 400, "height": 800})
    take_screenshot(page, "trees-narrow")


def test_the_space_is_changed_and_its_laws_are_checked(studio_server, open_page, take_screenshot):
    page = open_page()
    page.get_by_text("160 rows and 4 columns").wait_for()
    page.get_by_role("button", name="Look at its set-up first").click()
    page.wait_for_url("**/set-up")
    low = page.get_by_label("Lowest value of age")
    low.fill("99")
    page.get_by_role("button", name="Apply changes").click()
    page.get_by_text("is above the highest").wait_for()
    low.fill("10")
    page.get_by_role("button", name="Apply changes").click()
    page.get_by_text("changed", exact=True).wait_for()
    page.reload()
    page.get_by_text("changed", exact=True).wait_for()
    assert page.get_by_label("Lowest value of age").input_value() == "10"
    page.get_by_role("button", name="Check the laws").click()
    page.get_by_text("No law is broken").wait_for()
    take_screenshot(page, "laws")
    page.get_by_role("button", name="The same in a terminal").click()
    assert "--bounds=age=10:" in page.locator("pre.command").inner_text()
    page.get_by_role("button", name="Reset to what the data suggest").click()
    page.get_by_text("changed", exact=True).wait_for(state="detached")


def test_the_guide_leads_to_a_module(studio_server, open_page, take_screenshot):
    page = open_page("/patterns")
    page.get_by_text("35 of 35 patterns").wait_for()
    page.get_by_label("Search").fill("additive")
    page.get_by_text(re.compile(r"^\d of 35 patterns")).wait_for()
    page.get_by_role("tab", name="Trees").click()
    page.locator("svg.shapes").first.wait_for()
    page.get_by_role("tab", name="Guide").click()
    page.get_by_label("What is it about?").click()
    page.get_by_role("option", name="Example: Sin").click()
    page.get_by_role("button", name="Start", exact=True).click()
    heading = page.locator("#guide-question")
    answers = {"input side follow": "Additive", "numeric columns": "x"}
    for number in range(1, 20):
        heading.get_by_text(f"{number}. ").or_(page.get_by_role("heading", name="The relation")).wait_for()
        page.locator("#guide-question:focus").wait_for()  # it is scrolled to: until then, a click may miss its button
        text = heading.inner_text()
        if text == "The relation":
            break
        if number == 3:
            page.reload()  # the answers are kept
            heading.get_by_text("3. ").and_(page.locator(":focus")).wait_for()
        for part, answer in answers.items():
            if part in text:
                page.get_by_role("radio", name=answer).first.click()
        page.get_by_role("button", name="Next").click()
    take_screenshot(page, "module")
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile(r"Download test_.*\.py")).click()
    module = Path(download.value.path()).read_text()
    assert "def test_the_relation_holds" in module
    assert not list(studio_server.folder.glob("test_*.py"))
    page.get_by_role("button", name="Back").click()
    heading.get_by_text("Derive a new pattern").wait_for()
