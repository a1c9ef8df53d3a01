"""Takes the screenshots of the studio: python docs/images/studio.py

It starts the studio on an empty folder, clicks in it as the tour in docs/guides/studio.md does, and saves what a reader sees,
in few colours so that the pictures stay small. It needs playwright and Debian's Chromium.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from support.studio import CHROMIUM, FLAGS, StudioServer  # noqa: E402

COLOURS = 128
WIDTH, HEIGHT = 1200, 860
TIMEOUT_MILLISECONDS = 180_000


def save(page: Page, name: str, height: int = HEIGHT) -> None:
    """Save the top of a page."""
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.mouse.move(0, 0)
    page.wait_for_timeout(1_500)  # animations
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = HERE / f"studio-{name}.png"
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


def take_pictures(page: Page, url: str) -> None:
    """Follow the tour."""
    page.goto(url)
    page.get_by_text("A classifier with a known border").wait_for()
    save(page, "start")
    page.get_by_role("button", name="Test the demo model").click()
    page.wait_for_url("**/check-up")
    page.get_by_text("finished").first.wait_for()
    page.evaluate("document.querySelector('[data-job]').scrollIntoView()")
    page.evaluate("window.scrollBy(0, -60)")
    save(page, "check-up", 870)
    page.goto(url)
    page.get_by_role("button", name="Box 2").click()
    page.wait_for_url("**/activities")
    page.get_by_role("button", name="Make seed cases").click()
    page.get_by_text("Box 2: 200 cases").wait_for()
    page.get_by_role("button", name="Execute", exact=True).click()
    page.wait_for_timeout(4_000)
    save(page, "activities", 1_240)
    page.goto(f"{url}/exploration")
    page.get_by_role("button", name="Explore", exact=True).click()
    page.get_by_text("finished").first.wait_for()
    page.locator("canvas").first.wait_for()
    page.evaluate("document.querySelector('[data-job]').scrollIntoView()")
    page.evaluate("window.scrollBy(0, -60)")
    save(page, "exploration", 900)


def main() -> None:
    """Start the studio and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        served = Path(folder, "served")
        served.mkdir()
        server = StudioServer(served, Path(folder)).start()
        try:
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
                page.set_default_timeout(TIMEOUT_MILLISECONDS)
                take_pictures(page, server.url)
                browser.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main()
