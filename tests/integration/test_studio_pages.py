"""Every page of the studio: nothing in the console, nothing from elsewhere, rules of accessibility, and the keyboard."""

import pytest

from datamorphic.web.studio import PAGES
from support.studio import find_violations

pytest_plugins = ["support.studio"]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_page_opens_and_keeps_the_rules_of_accessibility(studio_server, open_page, take_screenshot, dark):
    page = open_page(dark=dark)
    choose_box(page)
    problems = []
    for _, address, title, _ in PAGES:
        page.goto(studio_server.url + address)
        page.get_by_role("heading", level=1, name=title).wait_for()
        page.wait_for_timeout(300)  # what is drawn after the page was loaded
        take_screenshot(page, title)
        problems += [f"{title}: {violation}" for violation in find_violations(page)]
    assert not problems, "\n".join(problems)


def choose_box(page):
    """Choose Box 2, so that pages have something to show."""
    page.get_by_role("button", name="Box 2").click()
    page.wait_for_url("**/activities")
    page.locator("h1").wait_for()


def test_the_navigation_works_by_keyboard(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    for _ in range(40):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.textContent").endswith("Runs"):
            break
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name="Runs").wait_for()
    assert page.locator("a[aria-current=page]").inner_text().endswith("Runs")


def test_every_page_is_readable_on_a_phone(studio_server, open_page, take_screenshot):
    page = open_page(width=360, height=740)
    for _, address, title, _ in PAGES:
        page.goto(studio_server.url + address)
        page.get_by_role("heading", level=1, name=title).wait_for()
        take_screenshot(page, title)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 362, f"{title} is {width} pixels wide"


def test_light_and_dark_are_remembered(open_page):
    page = open_page()
    assert page.evaluate("document.body.classList.contains('body--dark')") is False
    page.get_by_role("button", name="Light or dark").click()
    page.wait_for_function("document.body.classList.contains('body--dark')")
    page.reload()
    page.locator("h1").wait_for()
    page.wait_for_function("document.body.classList.contains('body--dark')")
