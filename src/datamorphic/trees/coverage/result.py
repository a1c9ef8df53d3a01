"""The base classes of what `cover` and `select` return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ..._text import format_percent
from ..._validation import check_types, validate_integer
from ...core.execute import Execution
from ...core.result import Result
from ...reporting.export import FilePath, load_renderer, write_export

if TYPE_CHECKING:
    from ...reporting.junit import JUnitCase

MAX_DOCUMENT_ITEMS = 100  # leaves and mutants listed in a document
DEFAULT_LISTED_ITEMS = 5  # leaves and mutants listed in a text


@dataclass(frozen=True, eq=False, kw_only=True)
class AdequacyResult(Result):
    """A result about rows and the trees they exercise.

    Attributes
    ----------
    criterion : {"DTC", "BVA", "DTMT"}
        What has to be covered: every leaf; every leaf by a row at its limits; every mutant of a decision.
    notes : tuple of str
        Remarks for the reader, such as columns that were ignored.
    unfinished : tuple of str
        What was not measured, because the budget was spent or the user ended the run.
    interrupted : bool
        Whether the user ended the run.
    """

    criterion: str = "DTC"
    notes: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether everything was measured."""
        return not self.unfinished

    def end(self, execution: Execution[Any]) -> Self:
        """Return the result with what was not measured."""
        notes = [f"Not measured: {question}. The budget was spent." for question in execution.unfinished]
        return replace(
            self,
            notes=(*self.notes, *notes),
            unfinished=tuple(execution.unfinished),
            interrupted=execution.counter.interrupted,
        )

    def headline(self, subject: str = "The tests") -> str:
        """Return the main figure in one sentence about `subject`, which is a plural."""
        raise NotImplementedError

    def describe(self, n: int = DEFAULT_LISTED_ITEMS, **options: Any) -> str:
        """Return the result as text that lists at most `n` leaves and `n` mutants."""
        return super().describe(n=n, **options)

    @check_types
    def test_cases(self, at_least: float | None = None) -> Sequence[JUnitCase]:
        """Return one test case, which fails if less than `at_least` is covered."""
        from ...reporting.junit import JUnitCase

        name, text, share = f"covers {self.criterion}", self.describe(20), self._get_share()
        if at_least is None or share >= at_least:
            return [JUnitCase(name=name, output=text)]
        message = f"{format_percent(share)} is covered, at least {format_percent(at_least)} is required"
        return [JUnitCase(name=name, outcome="failed", kind="coverage", message=message, detail=text)]

    def _get_share(self) -> float:
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawableResult(AdequacyResult):
    """Numbered parts of trees, leaves or mutants, that rows cover; the trees can be drawn."""

    counts: npt.NDArray[np.int64]

    @property
    def covered(self) -> npt.NDArray[np.bool_]:
        """Whether some row covers each part."""
        return self.counts > 0

    @property
    def share(self) -> float:
        """The share of all parts that are covered."""
        return float(self.covered.mean())

    def _get_share(self) -> float:
        return self.share

    @cached_property
    def _starts(self) -> npt.NDArray[np.intp]:
        """The number of the first part of each tree, and the number of parts at the end."""
        return np.concatenate([[0], np.cumsum(self._count_by_tree())]).astype(np.intp)

    def _count_by_tree(self) -> Sequence[int]:
        raise NotImplementedError

    def _locate(self, noun: str, number: int) -> tuple[int, int]:
        """Return the tree that holds a part, and the number of the part in that tree."""
        number = validate_integer(noun, type(self).__name__, number, high=len(self.counts) - 1)
        tree = int(np.searchsorted(self._starts, number, side="right")) - 1
        return tree, number - int(self._starts[tree])

    def to_junit(self, path: FilePath | None = None, at_least: float | None = None) -> str:
        """Return JUnit XML with one test case, and write it to `path` if given.

        The test case fails if a smaller share than `at_least` is covered.
        """
        from ...reporting.junit import JUnitSuite, format_junit

        suite = JUnitSuite(name=self._export_name(), cases=self.test_cases(at_least))
        return write_export(format_junit(suite), path, "JUnit file")

    @check_types
    def to_svg(self, path: FilePath | None = None, tree: int = 0) -> str:
        """Return one tree as SVG, and write it to `path` if given.

        Leaves that rows reach have round corners and a tick. The others have eight corners, a dashed outline and a
        cross. Decisions show how many of their mutants are alive. In a large tree, covered parts are folded.
        """
        svg: str = load_renderer("trees.coverage.draw:format_tree_svg")(*self._get_drawn(), tree=tree)
        return write_export(svg, path, "SVG file")

    def _get_drawn(self) -> tuple[Any, ...]:
        """Return the coverage to draw, and the mutation score if there is one."""
        raise NotImplementedError
