"""Every page of the studio: nothing in the console, nothing from elsewhere, rules of accessibility, and the keyboard."""

import pytest

from datamorphic.web.studio import PAGES
from support.studio import VIEWPORT, find_violations, wait_until_drawn

TimeoutError = pytest.importorskip("playwright.sync_api", reason="pip install playwright").TimeoutError

pytest_plugins = ["support.studio"]
pytestmark = [pytest.mark.slow, pytest.mark.studio]
PHONE = {"width": 360, "height": 740}


def test_every_page_keeps_the_rules_of_accessibility_and_fits_a_phone(studio_server, open_with, take_screenshot):
    page = open_with("Box 2", "/")
    problems = []
    for address, title in ((page.address, page.title) for page in PAGES):
        if address != "/":
            page.goto(studio_server.url + address)
        page.get_by_role("heading", level=1, name=title).wait_for()
        wait_until_drawn(page)
        take_screenshot(page, title)
        problems += [f"{title}: {violation}" for violation in find_violations(page)]
        page.emulate_media(color_scheme="dark")
        page.wait_for_function("document.body.classList.contains('body--dark')")
        take_screenshot(page, f"{title}-dark")
        problems += [f"{title}, dark: {violation}" for violation in find_violations(page, "color-contrast")]
        page.set_viewport_size(PHONE)
        try:
            page.wait_for_function(f"document.documentElement.scrollWidth <= {PHONE['width'] + 2}", timeout=30_000)
        except TimeoutError:
            problems.append(f"{title} is too wide for a phone")
        take_screenshot(page, f"{title}-phone")
        page.set_viewport_size(VIEWPORT)
        page.emulate_media(color_scheme="light")
    assert not problems, "\n".join(problems)


def test_the_navigation_works_by_keyboard(open_page):
    page = open_page("/studies")
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


def test_light_and_dark_are_remembered(open_page):
    page = open_page("/studies")
    assert page.evaluate("document.body.classList.contains('body--dark')") is False
    page.get_by_role("button", name="Light or dark").click()
    page.wait_for_function("document.body.classList.contains('body--dark')")
    page.reload()
    page.locator("h1").wait_for()
    page.wait_for_function("document.body.classList.contains('body--dark')")
