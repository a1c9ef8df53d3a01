"""Trim pages to a size limit, with notes on what is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice

from .._text import pluralise
from .document import Chart, Drawing, Facts, Line, Link, Meter, Page, Picture, Section, Shape, Snippet, Table, Tile
from .marked_text import MarkedText
from .text import clean, cut, format_cell
from .thinning import choose_tooltip_rows, thin_line, thin_scatter

MARKUP_CHARACTERS = 40  # a low estimate of the markup around a piece of text
POINT_CHARACTERS = 10  # a low estimate of a point of a picture


class PageTooLarge(Exception):
    """A page does not fit even if it is trimmed to these limits."""


@dataclass(frozen=True, kw_only=True)
class PageLimits:
    """How much of each thing a page shows."""

    rows: int = 1_000
    columns: int = 60
    cell: int = 300  # characters
    text: int = 8_000  # characters
    points: int = 4_000
    note: int = 300  # characters of a tooltip
    parts: int = 500  # sections within a section
    drawing: int = 600_000  # characters
    snippet: int = 40_000  # characters

    def halve(self, times: int) -> PageLimits:
        """Return limits that are halved so many times, but not below a minimum."""
        return PageLimits(
            rows=max(3, self.rows >> times),
            columns=max(5, self.columns >> times // 2),
            cell=max(20, self.cell >> times // 2),
            text=max(100, self.text >> times),
            points=max(20, self.points >> times),
            note=max(20, self.note >> times),
            parts=max(1, self.parts >> times),
            drawing=self.drawing >> times,
            snippet=self.snippet >> times,
        )


def fit_page(
    page: Page, size: int, render: Callable[[Page], str], limits: PageLimits, max_characters: int
) -> tuple[Page, str]:
    """Return a page, trimmed as far as needed, and its rendering, which has at most `size` bytes.

    A page with more than `max_characters`, by a low estimate, is not rendered.
    """
    for times in count():
        try:
            trimmed_page = PageTrimmer(limits.halve(times), max_characters).trim_page(page)
        except PageTooLarge:
            continue
        text = render(trimmed_page)
        if len(text.encode("utf-8")) <= size:
            return trimmed_page, text
    raise AssertionError("an empty page fits")  # pragma: no cover


def _to_anchor(text: str) -> str:
    """Return a text as the target of links: ASCII letters, digits and dashes."""
    return "".join(character if character.isascii() and character.isalnum() else "-" for character in text[:60].lower())


class PageTrimmer:
    """Trims a page to limits, and gives up as soon as it is clear that the result will be too large."""

    def __init__(self, limits: PageLimits, max_characters: int):
        self.limits = limits
        self.characters_left = max_characters
        self.anchors: set[str] = set()

    def trim_page(self, page: Page) -> Page:
        """Return the page with clean texts, within the limits."""
        return replace(
            page,
            title=self._cut_text(page.title, 200),
            lead=self._trim_text(page.lead),
            sections=self._trim_sections(page.sections, "part"),
            verdict=self._cut_text(page.verdict, 400),
            facts=self._trim_facts(page.facts),
            tiles=[self._trim_tile(tile) for tile in page.tiles],
        )

    def _cut_text(self, text: object, limit: int) -> str:
        short_text = cut(str(text), limit)
        self._spend(len(short_text) + MARKUP_CHARACTERS)
        return short_text

    def _cut_cell(self, text: str, limit: int) -> str:
        if isinstance(text, Link):
            return Link(self._cut_text(text, limit), text.target)
        if not isinstance(text, MarkedText):
            return self._cut_text(text, limit)
        short_text = text.shorten(2 * limit)
        self._spend(len(short_text) + MARKUP_CHARACTERS * (1 + len(short_text.pieces)))
        return short_text

    def _spend(self, characters: int) -> None:
        self.characters_left -= characters
        if self.characters_left < 0:
            raise PageTooLarge

    def _trim_text(self, text: str) -> str:
        excess = len(text) - self.limits.text
        short_text = self._cut_text(text, self.limits.text)
        return f"{short_text}\n({pluralise(excess, 'more character')} left out.)" if excess > 0 else short_text

    def _trim_value(self, value: str) -> str:
        return self._cut_cell(value, self.limits.text) if isinstance(value, Link) else self._trim_text(value)

    def _trim_facts(self, facts: Facts) -> Facts:
        kept_facts = [(self._cut_text(term, 100), self._trim_value(value)) for term, value in facts[: self.limits.rows]]
        omitted_count = len(facts) - len(kept_facts)
        return [*kept_facts, ("more", f"{omitted_count:,} left out")] if omitted_count else kept_facts

    def _trim_sections(self, sections: Sequence[Section], name: str) -> list[Section]:
        kept_sections = [
            self._trim_section(section, f"{name}-{i + 1}") for i, section in enumerate(sections[: self.limits.parts])
        ]
        if len(kept_sections) < len(sections):
            heading = f"{pluralise(len(sections) - len(kept_sections), 'more section')} left out"
            kept_sections.append(
                Section(heading=heading, text="They would make this page too large.", anchor=f"{name}-more")
            )
        return kept_sections

    def _trim_section(self, section: Section, name: str) -> Section:
        anchor = _to_anchor(section.anchor)
        anchor = anchor if anchor and anchor not in self.anchors else name
        self.anchors.add(anchor)
        return replace(
            section,
            heading=self._cut_text(section.heading, 300),
            text=self._trim_text(section.text),
            table=self._trim_table(section.table) if section.table is not None else None,
            picture=self._trim_picture(section.picture) if section.picture is not None else None,
            drawing=self._trim_drawing(section.drawing) if section.drawing is not None else None,
            chart=self._trim_chart(section.chart) if section.chart is not None else None,
            badge=self._cut_text(section.badge, 40),
            facts=self._trim_facts(section.facts),
            again=self._cut_text(section.again, 4_000),
            meters=[self._trim_meter(meter) for meter in section.meters],
            snippets=self._trim_snippets(section.snippets),
            snippets_title=self._cut_text(section.snippets_title, 100),
            beside=self._trim_sections(section.beside, f"{anchor}-beside"),
            parts=self._trim_sections(section.parts, anchor),
            anchor=anchor,
        )

    def _trim_tile(self, tile: Tile) -> Tile:
        return replace(
            tile,
            label=self._cut_text(tile.label, 40),
            value=self._cut_text(tile.value, 40),
            target=_to_anchor(tile.target),
        )

    def _trim_meter(self, meter: Meter) -> Meter:
        return replace(meter, label=self._cut_text(meter.label, 40), text=self._cut_text(meter.text, self.limits.cell))

    def _trim_snippets(self, snippets: Sequence[Snippet]) -> list[Snippet]:
        """Return the snippets that are short enough: a part of one would be wrong."""
        kept_snippets = [snippet for snippet in snippets if len(snippet.text) <= self.limits.snippet]
        self._spend(sum(len(snippet.text) + MARKUP_CHARACTERS for snippet in kept_snippets))
        return [Snippet(label=cut(snippet.label, 40), text=clean(snippet.text)) for snippet in kept_snippets]

    def _trim_table(self, table: Table) -> Table:
        limit = self.limits.cell
        columns = [self._cut_text(name, limit) for name in table.columns[: self.limits.columns]]
        longest = 0
        rows = []
        for row in islice(table.rows, self.limits.rows):
            cells = [format_cell(value) for value in islice(row, len(columns))]
            longest = max(longest, *map(len, cells), 0)
            cells += [""] * (len(columns) - len(cells))
            rows.append([self._cut_cell(text, limit) for text in cells])
        remarks = [table.note] if table.note else []
        if len(rows) < len(table.rows):
            sorts = "; sorting sorts these" if table.sortable and len(rows) > 1 else ""
            remarks.append(f"The first {len(rows):,} of {len(table.rows):,} rows are shown{sorts}.")
        if len(columns) < len(table.columns):
            remarks.append(f"The first {len(columns):,} of {len(table.columns):,} columns are shown.")
        if longest > limit:
            remarks.append("Long texts are cut short.")
        return replace(
            table,
            columns=columns,
            rows=rows,
            marked=[tuple(place) for place in table.marked],
            caption=self._trim_text(table.caption),
            note=self._trim_text(" ".join(remarks)),
        )

    def _trim_drawing(self, drawing: Drawing) -> Drawing | None:
        """Return a drawing unchanged, or None if it is too large: a part of it would be wrong."""
        size = sum(
            len(shape.path) + len(shape.note) if isinstance(shape, Shape) else len(shape.text)
            for shape in drawing.shapes
        )
        size += MARKUP_CHARACTERS * len(drawing.shapes)
        if size > self.limits.drawing:
            return None
        self._spend(size)
        return replace(drawing, caption=self._trim_text(drawing.caption))

    def _trim_chart(self, chart: Chart) -> Chart | None:
        """Return a chart unchanged, or None if one of its panels is too large."""
        panels = [panel for panel in map(self._trim_drawing, chart.panels) if panel is not None]
        if len(panels) < len(chart.panels):
            return None
        legend = [(symbol, self._cut_text(label, 100)) for symbol, label in chart.legend]
        return replace(chart, panels=panels, legend=legend, caption=self._trim_text(chart.caption))

    def _trim_picture(self, picture: Picture) -> Picture:
        points, note = self.limits.points, self.limits.note
        thinned_picture: Picture
        if isinstance(picture, Line):
            thinned_picture = thin_line(picture, points, note)
        else:
            thinned_picture = thin_scatter(picture, points, note)
        notes = [thinned_picture.notes[row] for row in choose_tooltip_rows(thinned_picture)]
        self._spend(sum(len(note) + MARKUP_CHARACTERS for note in notes))
        self._spend(POINT_CHARACTERS * len(thinned_picture.notes))
        return thinned_picture
