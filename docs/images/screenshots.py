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

COLOURS = 256
MARGIN = 8  # pixels around an element


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A part of a page that the documentation shows."""

    source: str  # the page of the documentation whose code writes the file
    file: str
    selector: str = ""  # of the element; without one and without a heading, the top of the page
    heading: str = ""  # the first words of the heading of the section
    width: int = 1000
    height: int = 0  # at most as many pixels


MISTAKES = "examples/mistakes.py"
SHOTS = {
    "report": Shot(source="README.md", file="report.html", width=1400, height=1180),
    "curve": Shot(source="README.md", file="report.html", selector="[data-badge=Fault] .beside", width=820),
    "finding": Shot(source="README.md", file="report.html", selector="[data-badge=Fault]", width=820),
    "border": Shot(source="README.md", file="report.html", heading="Where the answer changes"),
    "checks": Shot(source="README.md", file="report.html", selector="#checks-passed", height=620),
    "tutorial-report": Shot(source="docs/tutorial.md", file="report.html", width=1200, height=960),
    "interface": Shot(source=MISTAKES, file="interface.html", heading="What happens to data"),
    "response": Shot(source=MISTAKES, file="response.html", selector="[data-badge=Concern]", width=820),
    "calibration": Shot(source=MISTAKES, file="calibration.html", selector="[data-badge=Advice]", width=820),
    "protected": Shot(
        source="docs/guides/protected.md", file="protected.html", selector="[data-badge=Fault]", width=820
    ),
    "fairness": Shot(source="docs/guides/fairness.md", file="fairness.html", width=1000, height=960),
    "credit-verdict": Shot(source="docs/guides/credit.md", file="verdict.html", width=900, height=1180),
    "front": Shot(source="docs/borders.md", file="front.html", heading="The border in a picture"),
    "hunt": Shot(source="docs/guides/hunting.md", file="hunt.html", height=1280),
    "mutants": Shot(source="docs/guides/mutants.md", file="mutants.html", height=900),
    "learner": Shot(source="docs/guides/promises-of-learners.md", file="promises.html", width=1200, height=900),
    "tree": Shot(source="docs/guides/test-sets.md", file="coverage.html", selector="#tree"),
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


def run_mistake(check: str, folder: Path) -> None:
    """Write the report of what a check finds about the mistake that is planted for it."""
    if str(ROOT / "examples") not in sys.path:
        sys.path.insert(0, str(ROOT / "examples"))
    import mistakes

    mistakes.test(check).to_html(folder / f"{check}.html")


def take(browser: Browser, shot: Shot, html: Path, file: Path) -> None:
    """Open a page and save a part of it."""
    page = browser.open(html, width=shot.width, height=shot.height or 900)
    page.run("{ for (const part of document.querySelectorAll('details:not(.snippets)')) part.open = true }")
    clip = {"x": 0, "y": 0, "width": shot.width, "height": shot.height}
    if shot.selector or shot.heading:
        element = f"document.querySelector({shot.selector!r})"
        if shot.heading:
            element = (
                "[...document.querySelectorAll('section')].findLast("
                f"part => part.querySelector('h2, h3, h4, h5').textContent.trim().startsWith({shot.heading!r}))"
            )
        box = f"{element}.getBoundingClientRect()"
        place = page.run(
            f"(() => {{ const r = {box}; return [r.left + scrollX, r.top + scrollY, r.width, r.height] }})()"
        )
        left, top, width, height = (float(value) for value in place)
        margin = 0 if "beside" in shot.selector else MARGIN  # the text ends where the pictures beside it begin
        clip = {
            "x": max(0.0, left - MARGIN),
            "y": max(0.0, top - margin),
            "width": min(shot.width, width + 2 * MARGIN),
            "height": min(height + margin + MARGIN, shot.height or height + 2 * MARGIN),
        }
    picture = page.send("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip | {"scale": 1})
    image = Image.open(io.BytesIO(base64.b64decode(picture["data"]))).convert("RGB")
    image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name}: {image.width} x {image.height}, {file.stat().st_size / 1000:.0f} kB")


def main(names: list[str]) -> None:
    """Take the screenshots with these names; all without one."""
    os.environ["DATAMORPHIC_STORE"] = "none"
    shots = {name: SHOTS[name] for name in names or SHOTS}
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for source in dict.fromkeys(shot.source for shot in shots.values()):
            place = Path(folder) / source.replace("/", "-")
            place.mkdir()
            if source != MISTAKES:
                run_page(ROOT / source, place)
            for name, shot in shots.items():
                if shot.source == source:
                    if source == MISTAKES:
                        run_mistake(Path(shot.file).stem, place)
                    take(browser, shot, place / shot.file, HERE / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
