"""Verdicts on published tables: whether our figures agree with them, by a rule that is the same for all tables."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from .._text import pluralise
from .rows import list_reasons, split_sentences

if TYPE_CHECKING:
    from .result import Study

AGREEMENT_SHARE = 0.1  # of the published figure, by which ours may differ and still agree
MAX_EXCEPTION_SHARE = 0.1  # of the figures of a table: some 95% intervals miss the true value
MAX_REASONS = 3  # of a verdict; the notes of the table have all

RULE = (
    f"A figure agrees if the published one is in the 95% interval of ours, or if ours differs by at most {AGREEMENT_SHARE:.0%} of "
    "the published one. A figure that differs is explained if a note gives a reason: a misprint, or a difference in method or "
    f"scale. A table agrees if at least {1 - MAX_EXCEPTION_SHARE:.0%} of its measured figures agree, and is explained if that many "
    "agree or are explained. Otherwise, or if none of its figures was measured, it is not reproducible here. Studies "
    "without published figures have no verdict."
)


class VerdictKind(StrEnum):
    """The outcome of comparing a table or figure with the published one."""

    AGREES = "agrees"
    EXPLAINED = "explained"
    NOT_REPRODUCIBLE = "not reproducible"
    NOT_PUBLISHED = "not published"  # there is nothing to compare with
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class StudyVerdict:
    """A verdict on a study, the numbers of its figures, and the most frequent reasons of differences."""

    kind: VerdictKind
    agreeing: int = 0
    explained: int = 0
    differing: int = 0
    unmeasured: int = 0
    reason: str = ""

    @property
    def counts(self) -> str:
        """The numbers of figures in words."""
        numbers = {"agree": self.agreeing, "explained": self.explained, "differ": self.differing}
        parts = [f"{number:,} {word}" for word, number in numbers.items() if number]
        return ", ".join([*parts, *([f"{self.unmeasured:,} not measured"] if self.unmeasured else [])])


def judge_figure(published: float, ours: float, margin: float, note: str) -> VerdictKind:
    """Return the verdict on one figure that is published and measured.

    Examples
    --------
    >>> judge_figure(100.0, 109.0, math.nan, ""), judge_figure(100.0, 120.0, 25.0, "").value
    (<VerdictKind.AGREES: 'agrees'>, 'agrees')
    >>> judge_figure(100.0, 120.0, math.nan, "A misprint.").value, judge_figure(100.0, 120.0, 5.0, "").value
    ('explained', 'not reproducible')
    """
    if published == ours:  # infinite, too
        return VerdictKind.AGREES
    tolerance = max(AGREEMENT_SHARE * abs(published), 0.0 if math.isnan(margin) else margin)
    if math.isfinite(published) and math.isfinite(ours) and abs(ours - published) <= tolerance:
        return VerdictKind.AGREES
    return VerdictKind.EXPLAINED if list_reasons(note) else VerdictKind.NOT_REPRODUCIBLE


def judge_study(study: Study) -> StudyVerdict:
    """Return the verdict on a study from its figures and notes."""
    counts = Counter[VerdictKind]()
    reasons = Counter[str]()
    unmeasured = 0
    rows: list[dict[str, Any]] = study.rows.to_dict("records")
    for row in rows:
        if math.isnan(row["published"]):
            continue
        if math.isnan(row["ours"]):
            unmeasured += 1
            reasons.update(split_sentences(row["note"]))
            continue
        kind = judge_figure(row["published"], row["ours"], row.get("margin", math.nan), row["note"])
        counts[kind] += 1
        if kind is VerdictKind.EXPLAINED:
            reasons.update(list_reasons(row["note"]))
    measured = counts.total()
    agreeing, explained = counts[VerdictKind.AGREES], counts[VerdictKind.EXPLAINED]
    enough = (1 - MAX_EXCEPTION_SHARE) * measured
    if not measured:
        kind = VerdictKind.NOT_REPRODUCIBLE if unmeasured else VerdictKind.NOT_PUBLISHED
    elif agreeing >= enough:
        kind = VerdictKind.AGREES
    elif agreeing + explained >= enough:
        kind = VerdictKind.EXPLAINED
    else:
        kind = VerdictKind.NOT_REPRODUCIBLE
    differing = counts[VerdictKind.NOT_REPRODUCIBLE]
    texts = [text for text, _ in reasons.most_common(MAX_REASONS)]
    if differing and kind is VerdictKind.NOT_REPRODUCIBLE:
        texts.insert(0, f"{pluralise(differing, 'figure')} of {measured:,} differ, and we do not know why.")
    elif kind is VerdictKind.NOT_REPRODUCIBLE:
        texts.insert(0, "None of its figures were measured.")
    return StudyVerdict(
        kind=kind,
        agreeing=agreeing,
        explained=explained,
        differing=differing,
        unmeasured=unmeasured,
        reason=" ".join(texts),
    )
