"""Work with a test pool by clicks: seeds, a walk, its front, the script of it, edits, Stop, and a reload meanwhile."""

import pytest

from support.studio import HOSTILE

pytest_plugins = ["support.studio"]
pytestmark = [pytest.mark.slow, pytest.mark.studio]


def make_seeds(page):
    page.get_by_role("button", name="Make seed cases").click()
    page.get_by_text("200 cases added").wait_for()


def read_editor(page):
    return "\n".join(page.locator(".cm-line").all_inner_texts())


def test_walk_record_and_replay(open_page, take_screenshot):
    page = open_page("/")
    page.get_by_role("button", name="Box 2").click()
    make_seeds(page)
    page.get_by_role("tab", name="Explore").click()
    page.get_by_role("button", name="Walk at random").click()
    page.get_by_text("936 cases added").or_(page.get_by_text(" border pairs, ")).first.wait_for()
    page.get_by_text("in 1,000 walks").wait_for()
    page.locator(".front-view canvas").first.wait_for()
    take_screenshot(page, "front")

    # edit a row and execute it again
    page.get_by_label("Value", exact=True).fill("original")
    page.get_by_label("Column").click()
    page.get_by_role("option", name="kind").click()
    page.get_by_role("button", name="Filter").click()
    page.get_by_text("of 200 cases that match").wait_for()
    page.get_by_role("button", name="Open case 3", exact=True).click()
    page.get_by_text("It was made from no other case.").wait_for()
    take_screenshot(page, "case")
    page.get_by_label("x", exact=True).fill("3.25")
    page.get_by_role("button", name="Save and execute").click()
    page.get_by_text("editTestCase(3;x;3.25)").wait_for()
    row = page.locator(".case-table tbody tr").filter(has=page.get_by_role("button", name="Open case 3", exact=True))
    row.get_by_text("edit", exact=True).wait_for()
    assert row.locator("td").nth(1).inner_text() == "3.25"
    assert row.locator("td").nth(3).inner_text() in ("red", "blue")

    # a mutant is traced back to its seed
    page.get_by_role("button", name="Remove the filter on kind").click()
    page.get_by_role("button", name="Last page").click()
    page.locator(".case-table .link-button").last.click()
    page.get_by_text(", a seed case: ").first.wait_for()
    page.get_by_role("button", name="Close", exact=True).click()

    # the script of it gives the same front
    page.get_by_role("link", name="Scripts", exact=True).click()
    page.get_by_text("No mistakes found").wait_for()
    assert "randomWalkExplore" in read_editor(page)
    assert "editTestCase(3;x;3.25)" in read_editor(page)
    page.get_by_label("Name", exact=True).fill("walk of box 2")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved as walk of box 2.scr").wait_for()
    page.get_by_role("button", name="Replay and compare").click()
    page.get_by_text("Same front: ").wait_for()
    page.get_by_text("Same cases: ").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "walk of box 2.scr"
    assert "randomWalkExplore" in download.value.path().read_text()
    take_screenshot(page, "replay")


def test_mistakes_are_marked_and_markup_is_text(open_with, take_screenshot):
    page = open_with("Box 2", "/scripts")
    page.get_by_label("Script", exact=True).first.click()
    page.get_by_role("option", name="<i>hostile.scr (served folder)").click()
    page.get_by_text("1 mistake found").wait_for()
    page.get_by_role("button", name="Line 2, column 11").wait_for()
    page.locator(".cm-line.script-error-line").get_by_text("onerror").wait_for()
    page.get_by_text(f'Box 2 has no seed maker named "{HOSTILE}"').wait_for()
    page.get_by_role("button", name="Run on the pool").click()
    page.locator(".entry-failed").wait_for()
    assert page.locator("img[src=x]").count() == 0
    take_screenshot(page, "mistakes")
    page.get_by_label("Name", exact=True).fill("../up")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("is not a name for a script").wait_for()


def test_a_long_command_survives_a_reload_and_is_stopped(open_page, take_screenshot, slow_answers):
    page = open_page("/")
    page.get_by_role("button", name="Test with it").click()
    page.get_by_role("checkbox", name="grid").click()
    page.get_by_role("checkbox", name="RandomValue").click()
    page.get_by_role("button", name="Make seed cases").click()
    page.get_by_text("16 cases added").wait_for()
    page.get_by_role("checkbox", name="east").click()
    page.get_by_role("button", name="Make mutants").click()
    page.locator(".entry-done").get_by_text("16 cases added").nth(1).wait_for()  # one command at a time
    page.get_by_role("button", name="Execute", exact=True).click()
    page.get_by_text("32 runs").first.wait_for()
    page.get_by_role("button", name="Judge the cases").click()
    page.get_by_text("same_side: 4 violations in 16 cases").wait_for()
    assert page.locator("td.verdict-violated").first.inner_text() == "violated"
    assert page.locator("th", has_text="<b>y</b>").count() == 1
    take_screenshot(page, "verdicts")
    page.get_by_role("tab", name="Explore").click()
    page.get_by_role("button", name="Walk at random").click()
    page.get_by_role("button", name="Stop").wait_for()
    page.reload()
    page.get_by_text("randomWalkExplore([east").first.wait_for()
    page.get_by_role("button", name="Stop").wait_for()
    take_screenshot(page, "running")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped. So far").wait_for()
    page.get_by_role("button", name="Stop").wait_for(state="hidden")
    slow_answers.unlink()
    page.get_by_role("link", name="Open the script").click()
    page.get_by_role("button", name="Replay and compare").click()
    page.get_by_text("Same cases: ").wait_for()


def test_two_people_do_not_see_each_others_work(open_with):
    ada = open_with("Box 2", "/activities")
    make_seeds(ada)
    ben = open_with("Box 1", "/activities")
    ben.get_by_text("Testing Box 1").wait_for()
    ben.get_by_role("button", name="Make seed cases").wait_for()
    assert ben.get_by_text("200 cases").count() == 0
    make_seeds(ben)
    ada.reload()
    ada.get_by_text("Testing Box 2").wait_for()
    ada.get_by_text("Box 2: 200 cases").wait_for()
