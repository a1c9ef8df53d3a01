"""Every page of the studio: no error in the console, no request to another host, and rules of accessibility."""

import pytest

from datamorphic.web.studio import PAGES

pytest_plugins = ["support.studio"]
pytestmark = pytest.mark.slow


def test_every_page_opens(studio_server, open_page, take_screenshot):
    page = open_page()
    for _, address, title, _ in PAGES:
        page.goto(studio_server.url + address)
        page.get_by_role("heading", level=1, name=title).wait_for()
        take_screenshot(page, title)
