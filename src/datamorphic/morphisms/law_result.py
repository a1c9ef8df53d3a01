"""What a law check found: a result a law, a report in all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._text import pluralize

if TYPE_CHECKING:
    import pandas as pd

    from ..space.features import Codes


@dataclass(frozen=True)
class LawResult:
    """What became of one law.

    Attributes
    ----------
    law : str
        Its name.
    says : str
        What it demands.
    state : {"HOLDS", "BROKEN", "NOT CHECKED"}
        The outcome.
    words : str
        The counter-example, or why it was not checked.
    culprit : str
        The function that broke it.
    cases : DataFrame or None
        The points of the counter-example.
    first : tuple of bool
        Whether they still break it, for each of the counter-examples of earlier checks that were tried first.
    again : array or None
        Codes of a triple to try first the next time, where one was found and this was asked for.
    """

    law: str
    says: str
    state: str
    words: str = ""
    culprit: str = ""
    cases: pd.DataFrame | None = field(default=None, compare=False, repr=False)
    first: tuple[bool, ...] = ()
    again: Codes | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.law}: {self.state}" + (f". {self.words}" if self.words else "")


@dataclass(frozen=True)
class LawReport:
    """The outcome of a law check.

    Attributes
    ----------
    system : str
        The name of the test system.
    results : list of LawResult
        One a law.
    examples : int
        How many triples of points were tried.
    """

    system: str
    results: list[LawResult]
    examples: int
    seed: int

    @property
    def holds(self) -> bool:
        """Whether no law is broken."""
        return not self.broken

    @property
    def broken(self) -> list[LawResult]:
        """The broken laws, each with its counter-example in words."""
        return [result for result in self.results if result.state == "BROKEN"]

    @property
    def tried_first(self) -> dict[str, int]:
        """How many counter-examples of earlier checks were tried, and how many are still breaking, how many mended."""
        outcomes = [breaks for result in self.results for breaks in result.first]
        return {"tried": len(outcomes), "breaking": sum(outcomes), "mended": len(outcomes) - sum(outcomes)}

    def format_tried_first(self) -> str:
        """Return what was tried first in words; nothing if nothing was."""
        counts = self.tried_first
        if not counts["tried"]:
            return ""
        tried_text = pluralize(counts["tried"], "counter-example")
        return f"tried first: {tried_text} of earlier checks, {counts['breaking']} still breaking, {counts['mended']} mended"

    def __str__(self) -> str:
        return "\n".join([*map(str, self.results), *filter(None, [self.format_tried_first()])])
