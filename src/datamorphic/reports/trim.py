"""A report that fits on a page: what is too much is left out, and the page says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from .._checks import plural
from .pictures import fewer_points, fewer_steps
from .summary import Drawing, Facts, Line, Mark, Picture, Report, Section, Table
from .texts import cell, cut

MARKUP = 40  # characters that a piece of text costs beyond itself, about; less than it really does


class TooMuch(Exception):
    """A report does not fit even when it is cut to these limits."""


@dataclass(frozen=True)
class Limits:
    """How much of everything a page shows."""

    rows: int = 1_000
    columns: int = 60
    letters: int = 300  # of a cell
    text: int = 8_000
    points: int = 4_000
    note: int = 300  # letters told of a point
    parts: int = 500  # sections within one
    drawing: int = 2_000_000  # letters of one

    def halved(self, times: int) -> Limits:
        """Return tighter limits."""
        return Limits(
            max(3, self.rows >> times),
            max(5, self.columns >> times // 2),
            max(20, self.letters >> times // 2),
            max(100, self.text >> times),
            max(20, self.points >> times),
            max(20, self.note >> times),
            max(1, self.parts >> times),
            self.drawing >> times,
        )


class Trimmer:
    """Cuts a report to limits, and gives up as soon as it is clear that what is left is too much all the same."""

    def __init__(self, limits: Limits, most: int):
        self.limits = limits
        self.left = most
        self.anchors: set[str] = set()

    def report(self, report: Report) -> Report:
        """Return the report with every text clean and everything within the limits."""
        return replace(
            report,
            title=self._words(report.title, 200),
            lead=self._text(report.lead),
            sections=self._sections(report.sections, "part"),
            verdict=self._words(report.verdict, 400),
            facts=self._facts(report.facts),
        )

    def _words(self, text: object, most: int) -> str:
        words = cut(str(text), most)
        self.left -= len(words) + MARKUP
        if self.left < 0:
            raise TooMuch
        return words

    def _text(self, text: str) -> str:
        over = len(text) - self.limits.text
        shown = self._words(text, self.limits.text)
        return f"{shown}\n({plural(over, 'more character')} left out.)" if over > 0 else shown

    def _facts(self, facts: Facts) -> Facts:
        some = [(self._words(term, 100), self._text(said)) for term, said in facts[: self.limits.rows]]
        return [*some, ("more", f"{len(facts) - len(some):,} left out")] if len(some) < len(facts) else some

    def _sections(self, sections: Sequence[Section], name: str) -> list[Section]:
        some = [
            self._section(section, f"{name}-{i + 1}") for i, section in enumerate(sections[: self.limits.parts])
        ]
        if len(some) < len(sections):
            head = f"{plural(len(sections) - len(some), 'more section')} left out"
            some.append(Section(head, "They would make this page too large.", anchor=f"{name}-more"))
        return some

    def _section(self, section: Section, name: str) -> Section:
        anchor = "".join(c if c.isascii() and c.isalnum() else "-" for c in section.anchor[:60].lower())
        anchor = anchor if anchor and anchor not in self.anchors else name
        self.anchors.add(anchor)
        return replace(
            section,
            heading=self._words(section.heading, 300),
            text=self._text(section.text),
            table=self._table(section.table) if section.table is not None else None,
            picture=self._picture(section.picture) if section.picture is not None else None,
            drawing=self._drawing(section.drawing) if section.drawing is not None else None,
            badge=self._words(section.badge, 40),
            facts=self._facts(section.facts),
            again=self._words(section.again, 4_000),
            parts=self._sections(section.parts, anchor),
            anchor=anchor,
        )

    def _table(self, table: Table) -> Table:
        most = self.limits.letters
        columns = [self._words(name, most) for name in table.columns[: self.limits.columns]]
        longest = 0
        rows = []
        for row in islice(table.rows, self.limits.rows):
            cells = [str(cell(value)) for value in islice(row, len(columns))]
            longest = max(longest, *map(len, cells), 0)
            cells += [""] * (len(columns) - len(cells))
            rows.append([self._words(text, most) for text in cells])
        said = [table.note] if table.note else []
        if len(rows) < len(table.rows):
            sorts = "; sorting sorts these" if table.sortable and len(rows) > 1 else ""
            said.append(f"The first {len(rows):,} of {len(table.rows):,} rows are shown{sorts}.")
        if len(columns) < len(table.columns):
            said.append(f"The first {len(columns):,} of {len(table.columns):,} columns are shown.")
        if longest > most:
            said.append("Long texts are cut short.")
        return replace(
            table, columns=columns, rows=rows, caption=self._text(table.caption), note=self._text(" ".join(said))
        )

    def _drawing(self, drawing: Drawing) -> Drawing | None:
        """Return a drawing as it is, unless it is too large: half of it would be wrong."""
        size = sum(
            len(each.path) + len(each.note) if isinstance(each, Mark) else len(each.text) for each in drawing.shown
        )
        size += MARKUP * len(drawing.shown)
        if size > self.limits.drawing:
            return None
        self.left -= size
        if self.left < 0:
            raise TooMuch
        return replace(drawing, caption=self._text(drawing.caption))

    def _picture(self, picture: Picture) -> Picture:
        points, note = self.limits.points, self.limits.note
        fewer: Picture
        if isinstance(picture, Line):
            fewer = fewer_steps(picture, points, note)
        else:
            fewer = fewer_points(picture, points, note)
        self.left -= sum(len(note) + MARKUP for note in fewer.notes)
        if self.left < 0:
            raise TooMuch
        return fewer
