"""The exports that every result has: text, JSON, HTML, Markdown, JUnit and notebooks.

A result is plain data. It says what it holds by `document()` and `test_cases()`, and names the function that shows it as
a page. It does not import it: the page imports the result, and is loaded when it is needed.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .._files import write_file
from .._typing import FilePath as FilePath
from .._validation import is_path, reject, validate_option_names

if TYPE_CHECKING:
    from .document import Page
    from .junit import JUnitCase


class Exportable:
    """The base class of results.

    A subclass names the function that builds its page in `_PAGE`, as ``"module:function"`` relative to the package, for
    example ``"hunting.page:build_page"``. The function takes the result, and keyword arguments it documents itself; with
    ``brief=True`` it builds the short form for terminals. A subclass implements `document` and, where single outcomes pass
    or fail, `test_cases`.
    """

    _PAGE: ClassVar[str]

    # -- what a subclass says ------------------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """Return the result as a JSON-serialisable dict."""
        raise NotImplementedError

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return the outcomes as test cases for CI servers."""
        raise NotImplementedError

    def _json_document(self) -> dict[str, Any]:
        """Return what `to_json` writes."""
        return self.document()

    def _export_name(self) -> str:
        """Return what the result is about, as the name of its JUnit suite."""
        return type(self).__name__

    def _export_properties(self) -> Mapping[str, str]:
        """Return the settings that a JUnit file lists."""
        return {}

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the run before it was complete."""
        return False

    # -- what every result offers --------------------------------------------------------------------------------------

    def page(self, **options: Any) -> Page:
        """Return the result as a page, ready to be rendered."""
        return self._render(self._PAGE, "page", options)

    def describe(self, **options: Any) -> str:
        """Return the result as text for a terminal: its page in the short form."""
        from .terminal import format_page

        return format_page(self._render(self._PAGE, "describe", {"brief": True} | options))

    def _render(self, reference: str, owner: str, options: Mapping[str, Any]) -> Any:
        renderer = load_renderer(reference)
        validate_option_names(f"{type(self).__name__}.{owner}", options, renderer)
        return renderer(self, **options)

    def to_json(self, path: FilePath | None = None) -> str:
        """Return the result as JSON, and write it to `path` if given."""
        # ASCII only: labels may hold halves of surrogate pairs, which UTF-8 cannot encode
        text = json.dumps(self._json_document(), indent=1, allow_nan=False)
        return write_export(text + "\n", path, "JSON file")

    def to_html(self, path: FilePath | None = None, **options: Any) -> str:
        """Return the result as one self-contained HTML page, and write it to `path` if given."""
        from .html import render_page

        return write_export(render_page(self.page(**options)), path, "report")

    def to_markdown(self, path: FilePath | None = None) -> str:
        """Return the result as Markdown, and write it to `path` if given."""
        from .markdown import format_page

        return write_export(format_page(self.page()), path, "Markdown file")

    def to_junit(self, path: FilePath | None = None) -> str:
        """Return the result as JUnit XML, and write it to `path` if given."""
        from .junit import JUnitSuite, format_junit

        suite = JUnitSuite(
            name=self._export_name(),
            cases=self.test_cases(),
            seconds=getattr(self, "seconds", None),
            properties=self._export_properties(),
            output="\n".join(getattr(self, "notes", ())),
        )
        return write_export(format_junit(suite), path, "JUnit file")

    def _repr_html_(self) -> str:
        from .html import render_fragment

        return render_fragment(self.page())


def write_export(text: str, path: FilePath | None, noun: str) -> str:
    """Write `text` to `path` if one is given, and return it; `noun` names the file in the error message."""
    if path is not None:
        if not is_path(path):
            reject("path", f"the export of the {noun}", "a path", path)
        write_file(path, text, noun)
    return text


def load_renderer(reference: str) -> Callable[..., Any]:
    """Import and return the function named ``"module:function"``, relative to the package."""
    module, _, function = reference.partition(":")
    return getattr(importlib.import_module(f"datamorphic.{module}"), function)
