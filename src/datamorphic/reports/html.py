"""A report as one HTML file: offline, light and dark, every user string escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import UsageError
from .plots import picture_html
from .summary import Drawing, Report, Table
from .svg import drawing_svg
from .texts import NOTHING, blocks
from .trim import Limits, TooMuch, Trimmer

if TYPE_CHECKING:
    from markupsafe import Markup

LARGEST = 7_500_000  # bytes of a page, plotly's library included
MOST_LINKS = 40  # within one entry of the contents
_NUMBER = re.compile(r"[<>≈~]?\s*[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?\s*(?:%|s|ms)?")


def render(report: Report) -> str:
    """Return the page.

    However much a report says, the page stays small enough to be sent by mail: what is too much is left out, and the
    page says where.
    """
    library = _plotly() if _has(report.sections, "picture") else ""
    for times in count():
        try:
            trimmed = Trimmer(Limits().halved(times), LARGEST - len(library)).report(report)
        except TooMuch:
            continue
        page = _page(trimmed, library)
        if len(page.encode("utf-8")) <= LARGEST:
            return page
    raise AssertionError("a page of nothing fits")  # pragma: no cover


def write(report: Report, path: str | Path) -> Path:
    """Write the page and return where it is."""
    return written(render(report), path, "report")


def written(text: str, path: str | Path, what: str) -> Path:
    """Write a text and return where it is; `what` it is, for the message if it cannot be."""
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The {what} cannot be written to {str(file)!r}: {error.strerror}. Choose another place."
        ) from None
    return file


def _page(report: Report, library: str) -> str:
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "picture": picture_html, "drawing": _drawing_html, "blocks": blocks, "numeric": _numeric
    }  # fmt: skip
    tables, drawings = _has(report.sections, "table"), _has(report.sections, "drawing")
    scripts = [library] * bool(library) + [_resource("report.js")] * bool(library or tables)
    return environment.from_string(_resource("report.html.j2")).render(
        report=report,
        version=__version__,
        style=_resource("report.css") + _resource("drawing.css") * drawings,
        scripts=scripts,
        policy=_policy(scripts),
        most_links=MOST_LINKS,
    )


def alone(drawing: Drawing) -> str:
    """Return a drawing as an SVG file of its own, in the colours of a page, light and dark."""
    colours, _, _ = _resource("report.css").partition("* {")
    return drawing_svg(drawing, colours + _resource("drawing.css")) + "\n"


def _drawing_html(drawing: Drawing) -> Markup:
    from markupsafe import Markup

    return Markup(drawing_svg(drawing))


def _policy(scripts: list[str]) -> str:
    """Return what a browser may do with the page: run these scripts and no others, and ask nobody for anything."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )


def _numeric(table: Table) -> list[bool]:
    """Tell which columns of a table hold numbers: they are set to the right, and sorted as numbers."""
    cells = list(zip(*table.rows, strict=True)) if table.rows else []
    return [
        any(cell != NOTHING for cell in column)
        and all(cell == NOTHING or (any(map(str.isdigit, cell)) and _NUMBER.fullmatch(cell)) for cell in column)
        for column in cells
    ] or [False] * len(table.columns)


def _has(sections: Any, what: str) -> bool:
    """Tell whether there is a picture, a drawing, or a table in any of the sections."""
    return any(getattr(each, what) is not None or _has(each.parts, what) for each in sections)


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())
