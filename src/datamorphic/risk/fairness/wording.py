"""Shares, levels and effects in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..._text import format_short, join_names
from ...core.result import Measure
from .answers import AnswerReader, LevelKind

MAX_LISTED_NAMES = 3


def format_round_percent(share: float) -> str:
    """Return a share in percent with two digits, which is enough for readers; 0% and 100% are exact.

    Examples
    --------
    >>> [format_round_percent(share) for share in (0.0, 0.00286, 0.0473, 0.1234, 0.997, 1.0)]
    ['0%', '0.29%', '4.7%', '12%', '>99%', '100%']
    """
    if 0.995 <= share < 1:
        return ">99%"
    if 0 < share < 1e-4:
        return "<0.01%"
    return f"{100 * share:.0f}%" if share >= 0.0995 or share <= -0.0995 else f"{100 * share:.2g}%"


def shorten_names(names: Sequence[str]) -> str:
    """Return names as a list in a sentence; many are counted instead."""
    return join_names(names) if len(names) <= MAX_LISTED_NAMES else f"{len(names)} columns together"


def format_of_hundred(share: float) -> str:
    """Return a share as people of 100, with one decimal below 10."""
    return f"{100 * share:.0f}" if share >= 0.0995 else f"{100 * share:.2g}"


@dataclass(frozen=True, kw_only=True)
class Wording:
    """How the levels of one model are put into words."""

    measure: LevelKind
    decision: str  # the decision that is counted
    spread: float = 1.0  # the standard deviation of answers that are numbers

    @classmethod
    def of(cls, reader: AnswerReader) -> Wording:
        """Return the words for the answers that a reader reads."""
        import numpy as np

        spread = float(np.nanstd(reader.own_answers.levels)) if reader.measure == "number" else 1.0
        return cls(measure=reader.measure, decision=reader.decision_name, spread=spread)

    def scale(self, share: float) -> float:
        """Return a share in the unit of the levels: of numbers, of their spread."""
        return share * self.spread if self.measure == "number" else share

    @property
    def subject(self) -> str:
        """What depends on an attribute, at the start of a sentence."""
        if self.measure == "number":
            return "The answer"
        return "The decision" if self.measure == "decision" else f"The probability of {self.decision}"

    @property
    def another_answer(self) -> str:
        """What people would get."""
        if self.measure == "decision":
            return "another decision"
        return (
            "another answer"
            if self.measure == "number"
            else "a probability that differs by one percentage point or more"
        )

    @property
    def column(self) -> str:
        """The heading of a column of levels."""
        if self.measure == "decision":
            return f"get {self.decision}"
        return "average answer" if self.measure == "number" else f"average probability of {self.decision}"

    def format_people(self, share: Measure) -> str:
        """Return a share of people with its interval."""
        count = round(share.value * (share.cases or 0))
        low, high = format_round_percent(share.low), format_round_percent(share.high)
        return f"{count:,} of {share.cases:,} people ({format_round_percent(share.value)}; between {low} and {high})"

    def format_level(self, level: float) -> str:
        """Return the level of a group as the rest of a sentence."""
        if self.measure == "decision":
            return f"{format_round_percent(level)} would get {self.decision}"
        if self.measure == "probability":
            return f"the average probability of {self.decision} would be {format_round_percent(level)}"
        return f"the average answer would be {format_short(float(f'{level:.4g}'))}"

    def format_value(self, level: float) -> str:
        """Return a level as the text of a cell."""
        return f"{level:.4g}" if self.measure == "number" else format_round_percent(level)

    def format_interval(self, level: Measure) -> str:
        """Return an interval as the text of a cell."""
        return f"{self.format_value(level.low)} to {self.format_value(level.high)}"

    def format_effect(self, who: str, condition: str, effect: float, interval: Measure) -> str:
        """Return a difference of levels as a sentence.

        For example: "of 100 women, 8 more would get a loan as men (between 5 and 11)".
        """
        low, high = sorted((abs(interval.low), abs(interval.high)))
        if self.measure == "decision":
            more = "more" if effect > 0 else "fewer"
            bounds = f"between {format_of_hundred(low)} and {format_of_hundred(high)}"
            return f"of 100 {who}, {format_of_hundred(abs(effect))} {more} would get {self.decision} {condition} ({bounds})"
        direction = "rise" if effect > 0 else "fall"
        if self.measure == "probability":
            return (
                f"for {who}, the probability of {self.decision} would {direction} by {100 * abs(effect):.2g} percentage points "
                f"{condition} (between {100 * low:.2g} and {100 * high:.2g})"
            )
        return f"for {who}, the answer would {direction} by {abs(effect):.3g} {condition} (between {low:.3g} and {high:.3g})"

    def format_difference(self, effect: float) -> str:
        """Return a difference of levels as the text of a cell."""
        if self.measure == "decision":
            return f"{format_of_hundred(abs(effect))} {'more' if effect > 0 else 'fewer'} of 100 get {self.decision}"
        if self.measure == "probability":
            return f"{100 * effect:+.2g} percentage points"
        return f"{effect:+.3g}"
