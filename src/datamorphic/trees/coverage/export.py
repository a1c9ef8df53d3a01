"""What every finding on rows and trees can be turned into: a page, a drawing, plain data."""

from __future__ import annotations

from os import PathLike
from typing import Any

OutputPath = str | PathLike[str] | None


class AdequacyExport:
    """Pages and plain data of a finding."""

    def to_html(self, path: OutputPath = None) -> str:
        """Return it as one HTML page, and write it to a file if one is named."""
        from .text import to_html

        return to_html(self, path)  # type: ignore[arg-type]

    def to_json(self, path: OutputPath = None) -> str:
        """Return it as JSON, and write it to a file if one is named."""
        from .text import to_json

        return to_json(self, path)  # type: ignore[arg-type]

    def document(self) -> dict[str, Any]:
        """Return it as plain lists and dicts; at most a hundred leaves and mutants are told one by one."""
        from .text import build_document

        return build_document(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        from .text import format_notebook_html

        return format_notebook_html(self)  # type: ignore[arg-type]


class DrawableExport(AdequacyExport):
    """The same, with trees to draw."""

    def to_junit(self, path: OutputPath = None, at_least: float | None = None) -> str:
        """Return it as a JUnit file of one test, which fails if a smaller share than `at_least` is covered."""
        from .text import to_junit

        return to_junit(self, path, at_least)  # type: ignore[arg-type]

    def to_svg(self, path: OutputPath = None, tree: int = 0) -> str:
        """Return one tree as an SVG file, and write it if a path is given.

        Leaves that rows reach have round corners and a tick, the others eight corners, a dashed outline and a cross;
        decisions say how many of their mutants live. Of a large tree the parts where nothing is missing are folded.
        """
        from .text import to_svg

        return to_svg(self, path, tree)  # type: ignore[arg-type]
