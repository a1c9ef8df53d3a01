"""Render a page as one HTML file that needs no network, with all text from users escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .. import __version__
from .._files import write_file
from ..runs.events import is_watched, publish
from .document import Drawing, Link, Page, Picture, Section
from .marked_text import MarkedText
from .svg import NARROW_PICTURE_WIDTH, PICTURE_WIDTH, drawing_to_svg, legend_to_html, picture_to_svg
from .text import find_numeric_columns, split_blocks
from .trim import PageLimits, fit_page

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MAX_PAGE_BYTES = 800_000
MAX_LINKS_PER_ENTRY = 40  # of the list of contents


def render_page(page: Page) -> str:
    """Return a page as HTML that is small enough to be sent by mail.

    If the page is too large, parts of it are left out, and the page says where.
    """
    trimmed_page, text = fit_page(page, MAX_PAGE_BYTES, _fill_template, PageLimits(), MAX_PAGE_BYTES)
    if is_watched():
        publish("page", page=trimmed_page)
    return text


def render_fragment(page: Page, height: int = 640) -> str:
    """Return a page as HTML for a notebook, in a frame of its own so that styles do not mix."""
    source = html.escape(render_page(page), quote=True)
    return f'<iframe sandbox="allow-scripts" style="width:100%;height:{height}px;border:0" srcdoc="{source}"></iframe>'


def write_page(page: Page, path: str | Path) -> Path:
    """Write a page as HTML, and return its path."""
    write_file(path, render_page(page), "report")
    return Path(path)


def _build_environment() -> Environment:
    from jinja2 import Environment
    from markupsafe import Markup

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "picture": _picture_to_html,
        "drawing": lambda drawing: Markup(drawing_to_svg(drawing)),
        "blocks": split_blocks,
        "marks": _mark_cell,
        "numeric": lambda table: find_numeric_columns(table.rows, len(table.columns)),
    }
    return environment


def _fill_template(page: Page) -> str:
    environment = _build_environment()
    needs_script = page.contents or any(
        _has_content(page.sections, content) for content in ("picture", "table", "folding", "snippets")
    )
    script = _read_resource("report.js") if needs_script else ""
    style = _read_resource("report.css")
    if _has_content(page.sections, "drawing") or _has_content(page.sections, "chart"):
        style += _read_resource("drawing.css")
    template = _read_resource("sections.html.j2") + _read_resource("report.html.j2")
    return environment.from_string(template).render(
        page=page,
        version=__version__,
        style=style,
        script=script,
        policy=_build_policy(script),
        max_links=MAX_LINKS_PER_ENTRY,
    )


# -- parts of a page, to be shown within another page ------------------------------------------------------------------


def render_parts(page: Page, level: int = 2) -> dict[str, Any]:
    """Return the parts of a page as pieces of HTML, to be shown within another page; their headings begin at `level`.

    The page must be small enough already, as `render_page` publishes it. A section that readers can search has its parts one by
    one, so that the other page can select them, and add to each of them. The pieces need `build_part_style` and, for tables
    and pictures, `read_script`.

    Examples
    --------
    >>> page = Page(title="A page", lead="", sections=[Section(heading="<One>", text="")], verdict="Good.", state="good")
    >>> parts = render_parts(page)
    >>> parts["verdict"].strip(), parts["sections"][0]["heading"]
    ('<p class="verdict good">Good.</p>', '<One>')
    """
    macros: Any = _build_environment().from_string(_read_resource("sections.html.j2")).module

    def render_section(section: Section, depth: int) -> dict[str, Any]:
        parts = section.parts if section.searchable else ()
        own = replace(section, parts=(), searchable=False) if parts else section
        return {
            "anchor": section.anchor,
            "heading": section.heading,
            "badge": section.badge,
            "state": section.state,
            "html": str(macros.section(own, depth)),
            "parts": [render_section(part, depth + 1) for part in parts],
        }

    return {
        "title": page.title,
        "state": page.state,
        "verdict": str(macros.verdict(page)),
        "tiles": str(macros.tiles(page)),
        "lead": str(macros.text(page.lead)),
        "facts": str(macros.facts(page.facts)),
        "sections": [render_section(section, level) for section in page.sections],
    }


def build_part_style(scope: str, dark_scope: str) -> str:
    """Return the style of pages for the elements that a selector names, and for those in the dark.

    Rules about printing and about the page as a whole are left out. The others apply within the scope only.
    """
    rules, colours = [], []
    for head, block in _split_rules(_read_resource("report.css") + _read_resource("drawing.css")):
        if head.startswith(("@media print", "@page", "html", ".skip", ".page", "nav", "header", "footer")):
            continue
        if head == ":root":
            colours.append(f"{scope} {{{block}}}")
        elif "prefers-color-scheme: dark" in head:
            colours.append(f"{dark_scope} {{{block.partition('{')[2].rpartition('}')[0]}}}")
        elif head in ("body", "main"):
            colours.append(f"{scope} {{{block}}}")
        else:
            rules.append(f"{head.replace('main >', '& >')} {{{block.replace('main >', '& >')}}}")
    return "\n".join([*colours, f"{scope} {{", *rules, "}"])


def _split_rules(style: str) -> Iterator[tuple[str, str]]:
    """Return the rules of a style sheet of ours: what comes before the outer braces, and what is between them."""
    depth, begin, head = 0, 0, ""
    for match in re.finditer(r"[{}]", style):
        if match[0] == "{":
            if depth == 0:
                head, begin = style[begin : match.start()].strip(), match.end()
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                yield head, style[begin : match.start()]
                begin = match.end()


def read_script() -> str:
    """Return the script of pages, which defines ``setUpReport(element)`` for parts that are added later."""
    return _read_resource("report.js")


def _mark_cell(cell: object) -> Any:
    """Return a link or a text with marked words as HTML, and any other cell as it is."""
    from markupsafe import Markup

    if isinstance(cell, Link):
        return Markup('<a href="{}">{}</a>').format(cell.target, str(cell))
    return Markup(cell.to_html()) if isinstance(cell, MarkedText) else cell


def render_drawing(drawing: Drawing) -> str:
    """Return a drawing as a complete SVG file, with the light and dark colours of a page."""
    colours, _, _ = _read_resource("report.css").partition("* {")
    return drawing_to_svg(drawing, colours + _read_resource("drawing.css")) + "\n"


def _picture_to_html(picture: Picture, narrow: bool = False) -> Markup:
    from markupsafe import Markup

    title = "; ".join(filter(None, (picture.title, picture.subtitle)))
    svg = picture_to_svg(picture, NARROW_PICTURE_WIDTH if narrow else PICTURE_WIDTH)
    return Markup(
        f'<figure class="picture"><figcaption>{html.escape(title)}</figcaption>'
        f'<div class="drawing">{svg}</div>{legend_to_html(picture)}</figure>'
    )


def _build_policy(script: str) -> str:
    """Return a content security policy that allows only this script and no network access."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _has_content(
    sections: Sequence[Section], content: Literal["picture", "drawing", "chart", "table", "folding", "snippets"]
) -> bool:
    """Return whether any of the sections has such content."""
    return any(
        getattr(section, content) or _has_content([*section.parts, *section.beside], content) for section in sections
    )


def _read_resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
