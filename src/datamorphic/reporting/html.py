"""Render a page as one HTML file that needs no network, with all text from users escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Sequence
from importlib.resources import files
from itertools import count
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .. import __version__
from ..errors import UsageError
from .document import Drawing, Page, Section, Table
from .plots import picture_to_html
from .svg import drawing_to_svg
from .text import NO_VALUE_TEXT, split_blocks
from .trim import PageLimits, PageTooLarge, PageTrimmer

if TYPE_CHECKING:
    from markupsafe import Markup

MAX_PAGE_BYTES = 7_500_000  # including the library of plotly
MAX_LINKS_PER_ENTRY = 40  # of the list of contents
_NUMBER = re.compile(r"[<>≈~]?\s*[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?\s*(?:%|s|ms)?")


def render_page(page: Page) -> str:
    """Return a page as HTML that is small enough to be sent by mail.

    If the page is too large, parts of it are left out, and the page says where.
    """
    library = _load_plotly() if _has_content(page.sections, "picture") else ""
    for times in count():
        try:
            trimmed_page = PageTrimmer(PageLimits().halve(times), MAX_PAGE_BYTES - len(library)).trim_page(page)
        except PageTooLarge:
            continue
        text = _fill_template(trimmed_page, library)
        if len(text.encode("utf-8")) <= MAX_PAGE_BYTES:
            return text
    raise AssertionError("an empty page fits")  # pragma: no cover


def render_fragment(page: Page, height: int = 640) -> str:
    """Return a page as HTML for a notebook, in a frame of its own so that styles do not mix."""
    source = html.escape(render_page(page), quote=True)
    return f'<iframe sandbox="allow-scripts" style="width:100%;height:{height}px;border:0" srcdoc="{source}"></iframe>'


def write_page(page: Page, path: str | Path) -> Path:
    """Write a page as HTML, and return its path."""
    return write_text(render_page(page), path, "report")


def write_text(text: str, path: str | PathLike[str], noun: str) -> Path:
    """Write a text to a file, and return its path; `noun` names the file in error messages."""
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The {noun} cannot be written to {str(file)!r}: {error.strerror}. Choose another place."
        ) from None
    return file


def _fill_template(page: Page, library: str) -> str:
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "picture": picture_to_html,
        "drawing": _drawing_to_html,
        "blocks": split_blocks,
        "numeric": _find_numeric_columns,
    }
    scripts = [library] if library else []
    if library or _has_content(page.sections, "table"):
        scripts.append(_read_resource("report.js"))
    style = _read_resource("report.css")
    if _has_content(page.sections, "drawing"):
        style += _read_resource("drawing.css")
    return environment.from_string(_read_resource("report.html.j2")).render(
        page=page,
        version=__version__,
        style=style,
        scripts=scripts,
        policy=_build_policy(scripts),
        max_links=MAX_LINKS_PER_ENTRY,
    )


def render_drawing(drawing: Drawing) -> str:
    """Return a drawing as a complete SVG file, with the light and dark colours of a page."""
    colours, _, _ = _read_resource("report.css").partition("* {")
    return drawing_to_svg(drawing, colours + _read_resource("drawing.css")) + "\n"


def _drawing_to_html(drawing: Drawing) -> Markup:
    from markupsafe import Markup

    return Markup(drawing_to_svg(drawing))


def _build_policy(scripts: list[str]) -> str:
    """Return a content security policy that allows only these scripts and no network access."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )


def _find_numeric_columns(table: Table) -> list[bool]:
    """Return for each column whether it holds numbers, which are right-aligned and sorted as numbers."""
    cells = list(zip(*table.rows, strict=True)) if table.rows else []
    return [
        any(cell != NO_VALUE_TEXT for cell in column)
        and all(
            cell == NO_VALUE_TEXT or (any(map(str.isdigit, cell)) and _NUMBER.fullmatch(cell)) for cell in column
        )
        for column in cells
    ] or [False] * len(table.columns)


def _has_content(sections: Sequence[Section], content: Literal["picture", "drawing", "table"]) -> bool:
    """Return whether any of the sections has such content."""
    return any(
        getattr(section, content) is not None or _has_content(section.parts, content) for section in sections
    )


def _read_resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _load_plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())
