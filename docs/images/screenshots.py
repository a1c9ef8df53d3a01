"""Takes the screenshots of the documentation: python docs/images/screenshots.py [NAME ...]

The code and the commands on a page of the documentation write HTML files. This script runs them, opens the files in a
browser (apt-get install chromium), and saves parts of what a reader sees, in few colours so that they stay small.
"""

from __future__ import annotations

import base64
import contextlib
import io
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import Browser  # noqa: E402
from support.pages import find_blocks, find_commands, write_block  # noqa: E402
from support.run_code import run_program  # noqa: E402

COLOURS = 64
MARGIN = 8  # pixels around an element


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A part of a page that the documentation shows."""

    page: str  # of the documentation: its code writes the file
    file: str
    selector: str = ""  # of the element; without one, the top of the page
    width: int = 1100
    height: int = 0  # at most as many pixels
    script: str = ""  # runs first, for example to open a section


SHOTS = {
    "report": Shot(page="README.md", file="report.html", width=1200, height=900),
    "finding": Shot(page="README.md", file="report.html", selector="section[data-badge=Fault]"),
}


def run_page(page: Path, folder: Path) -> None:
    """Run the code and the commands of a page in a folder."""
    names = {"__name__": "page"}
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        sys.path.insert(0, str(folder))
        for block in find_blocks(page):
            if block.title is not None:
                write_block(block, folder)
            elif block.kind == "python":
                exec(compile(block.text, page.name, "exec"), names)
            elif block.kind == "console" and page.name == "tutorial.md":
                for words, _ in find_commands(block):
                    if words[0] in ("datamorphic", "python", "pytest"):
                        run_program(*words)
        sys.path.remove(str(folder))


def take(browser: Browser, shot: Shot, html: Path, file: Path) -> None:
    """Open a page and save a part of it."""
    page = browser.open(html, width=shot.width, height=shot.height or 900)
    if shot.script:
        page.run(f"{{{shot.script}}}")
    clip = {"x": 0, "y": 0, "width": shot.width, "height": shot.height}
    if shot.selector:
        place = f"document.querySelector({shot.selector!r}).getBoundingClientRect()"
        box = page.run(
            f"(() => {{ const r = {place}; return [r.left + scrollX, r.top + scrollY, r.width, r.height] }})()"
        )
        left, top, width, height = (float(value) for value in box)
        clip = {
            "x": max(0.0, left - MARGIN),
            "y": max(0.0, top - MARGIN),
            "width": min(shot.width, width + 2 * MARGIN),
            "height": min(height + 2 * MARGIN, shot.height or height + 2 * MARGIN),
        }
    picture = page.send("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip | {"scale": 1})
    image = Image.open(io.BytesIO(base64.b64decode(picture["data"]))).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name}: {image.width} x {image.height}, {file.stat().st_size / 1000:.0f} kB")


def main(names: list[str]) -> None:
    """Take the screenshots with these names; all without one."""
    os.environ["DATAMORPHIC_STORE"] = "none"
    shots = {name: SHOTS[name] for name in names or SHOTS}
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for source in dict.fromkeys(shot.page for shot in shots.values()):
            place = Path(folder) / source.replace("/", "-")
            place.mkdir()
            run_page(ROOT / source, place)
            for name, shot in shots.items():
                if shot.page == source:
                    take(browser, shot, place / shot.file, HERE / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
