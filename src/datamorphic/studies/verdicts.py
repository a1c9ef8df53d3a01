"""Verdicts on published tables: whether our figures agree with them, by a rule that is the same for all tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING, Any

from .published import INCOMPARABLE_KINDS, Kind
from .rows import split_sentences

if TYPE_CHECKING:
    from .result import Study

MAX_INTERVAL_SHARE = 0.1  # of the published figure: a wider interval of ours decides nothing
MIN_CLASS_SHARE = 0.9  # of the figures of a table that its class, or a better one, must have
MAX_REASONS = 3  # of a verdict; the notes of the table have all

RULE = (
    "A figure **agrees** if it lies in our 95% interval, and the interval of our mean is at most "
    f"{MAX_INTERVAL_SHARE:.0%} of the published figure wide. If it is wider, or ours covers only a part of what was published, "
    "there are **too few repetitions**. Where the publication says how often it repeated an experiment, the interval is that of "
    "a mean of that many repetitions. Otherwise the figure **differs**. The **cause** is **proven** if the study is computed again with "
    "the cause switched on and then agrees, or if other figures or sentences in print contradict the figure. Otherwise it is **unknown**. "
    "A figure is **not comparable**, whatever its value, if ours comes from other data, another system, other mutants or another "
    "machine: then only the order of figures and the signs of differences are compared. Of these classes (agrees, cause proven, too few "
    "repetitions, not comparable, cause unknown) a table has the first such that "
    f"{MIN_CLASS_SHARE:.0%} of its measured figures have it or one before it. Studies without published figures have no verdict."
)


class VerdictKind(StrEnum):
    """The class of a published figure or table, from the best to the worst."""

    AGREES = "agrees"
    CAUSE_PROVEN = "differs, cause proven"
    TOO_FEW = "too few repetitions"
    NOT_COMPARABLE = "not comparable"
    CAUSE_UNKNOWN = "differs, cause unknown"
    NOT_MEASURED = "not measured"
    NOT_PUBLISHED = "not published"  # there is nothing to compare with
    FAILED = "failed"


#: the classes of figures that are published and measured
CLASSES = (
    VerdictKind.AGREES,
    VerdictKind.CAUSE_PROVEN,
    VerdictKind.TOO_FEW,
    VerdictKind.NOT_COMPARABLE,
    VerdictKind.CAUSE_UNKNOWN,
)


@dataclass(frozen=True, kw_only=True)
class StudyVerdict:
    """A verdict on a study: its class, the numbers of its figures by class, and the most frequent reasons."""

    kind: VerdictKind
    counts_by_class: dict[VerdictKind, int]
    unmeasured: int = 0
    reason: str = ""
    same_order: float = math.nan  # the share of pairs of figures of a column that are in the published order
    same_sign: float = math.nan  # the share of figures with the published sign, where a column has both

    @property
    def counts(self) -> str:
        """The numbers of figures in words."""
        parts = [f"{number:,} {kind.value.removeprefix('differs, ')}" for kind, number in self.counts_by_class.items()]
        return ", ".join([*parts, *([f"{self.unmeasured:,} not measured"] if self.unmeasured else [])])

    @property
    def order(self) -> str:
        """How far the order and the signs of the figures are the published ones, in words."""
        shares = {"pairs in the published order": self.same_order, "figures with the published sign": self.same_sign}
        return ", ".join(f"{share:.0%} of {what}" for what, share in shares.items() if not math.isnan(share))


def judge_figure(row: Any) -> VerdictKind:
    """Return the class of a figure that is published and measured.

    Parameters
    ----------
    row : Row
        A row of a study.

    Examples
    --------
    >>> from datamorphic.studies.rows import Row
    >>> judge_figure(Row("a", "b", 100.0, 101.0, margin=2.0)).value, judge_figure(Row("a", "b", 100.0, 101.0, margin=9.0)).value
    ('agrees', 'too few repetitions')
    >>> row = Row("a", "b", 100.0, 120.0, margin=2.0, cause="first_step", ours_with_cause=99.0, margin_with_cause=2.0)
    >>> judge_figure(row).value, judge_figure(row._replace(ours_with_cause=110.0)).value
    ('differs, cause proven', 'differs, cause unknown')
    >>> judge_figure(row._replace(kinds="print")).value, judge_figure(row._replace(kinds="data print")).value
    ('differs, cause proven', 'not comparable')
    """
    kinds = set(row.kinds.split())
    if kinds & INCOMPARABLE_KINDS:
        return VerdictKind.NOT_COMPARABLE
    if Kind.PART in kinds:
        return VerdictKind.TOO_FEW
    kind = _compare(row, row.ours, row.margin, row.printed_margin)
    if kind is not VerdictKind.CAUSE_UNKNOWN:
        return kind
    if Kind.PRINT in kinds:
        return VerdictKind.CAUSE_PROVEN
    if not math.isnan(row.ours_with_cause):
        printed_margin = row.printed_margin
        with_cause = _compare(row, row.ours_with_cause, row.margin_with_cause, printed_margin)
        if with_cause is VerdictKind.AGREES:
            return VerdictKind.CAUSE_PROVEN
        return with_cause
    return kind


def judge_measured_figure(row: Any) -> str:
    """Return the class of a figure in words; nothing if it is not published or not measured."""
    return "" if math.isnan(row.published) or math.isnan(row.ours) else judge_figure(row).value


def _compare(row: Any, ours: float, margin: float, printed_margin: float) -> VerdictKind:
    """Return whether the published figure lies in an interval of ours, and whether that is narrow enough to tell."""
    rounding = row.unit / 2
    if row.published == ours or abs(row.published - ours) <= rounding:  # infinite, too
        exact = row.published == ours and math.isinf(ours)
        return VerdictKind.AGREES if exact or _is_narrow(row, margin) else VerdictKind.TOO_FEW
    if math.isnan(margin):
        return VerdictKind.TOO_FEW
    reach = max(margin, 0.0 if math.isnan(printed_margin) else printed_margin) + rounding
    if not (math.isfinite(row.published) and math.isfinite(ours) and abs(row.published - ours) <= reach):
        return VerdictKind.CAUSE_UNKNOWN
    return VerdictKind.AGREES if _is_narrow(row, margin) else VerdictKind.TOO_FEW


def _is_narrow(row: Any, margin: float) -> bool:
    """Return whether the interval of ours is narrow beside the published figure, or beside its last digit."""
    return not math.isnan(margin) and 2 * margin <= max(MAX_INTERVAL_SHARE * abs(row.published), row.unit)


def judge_study(study: Study) -> StudyVerdict:
    """Return the verdict on a study from its figures."""
    counts, reasons, unmeasured = Counter[VerdictKind](), Counter[str](), 0
    compared = []
    for row in study.rows.itertuples(index=False):
        if math.isnan(row.published):
            continue
        if math.isnan(row.ours):
            unmeasured += 1
            reasons.update(split_sentences(row.note))
            continue
        kind = judge_figure(row)
        compared.append(row)
        counts[kind] += 1
        if kind is not VerdictKind.AGREES:
            reasons.update(split_sentences(row.note))
    texts = [text for text, _ in reasons.most_common(MAX_REASONS)]
    same_order, same_sign = compare_order(compared)
    return StudyVerdict(
        kind=_find_class(counts, unmeasured),
        counts_by_class={kind: counts[kind] for kind in CLASSES if counts[kind]},
        unmeasured=unmeasured,
        reason=" ".join(texts),
        same_order=same_order,
        same_sign=same_sign,
    )


def _find_class(counts: Counter[VerdictKind], unmeasured: int) -> VerdictKind:
    """Return the first class such that enough figures have it or a better one."""
    if not counts:
        return VerdictKind.NOT_MEASURED if unmeasured else VerdictKind.NOT_PUBLISHED
    total, enough = 0, MIN_CLASS_SHARE * counts.total()
    for kind in CLASSES:
        total += counts[kind]
        if total >= enough:
            return kind
    raise AssertionError("all figures have a class")


def compare_order(rows: Iterable[Any]) -> tuple[float, float]:
    """Return the share of pairs of figures of a column in the published order, and of figures with the published sign.

    Pairs whose published figures are equal do not count. Signs count in columns that have both.

    Examples
    --------
    >>> from datamorphic.studies.rows import Row
    >>> compare_order([Row("a", "d", 1.0, 5.0), Row("b", "d", 2.0, 7.0), Row("c", "d", -1.0, 6.0)])
    (0.6666666666666666, 0.6666666666666666)
    """
    pairs = Counter[bool]()
    signs = Counter[bool]()
    columns: dict[str, list[Any]] = {}
    for row in rows:
        columns.setdefault(row.column, []).append(row)
    for members in columns.values():
        for a, b in combinations(members, 2):
            if a.published != b.published:
                pairs[(a.published < b.published) == (a.ours < b.ours)] += 1
        if {row.published > 0 for row in members if row.published} == {True, False}:
            signs.update((row.published > 0) == (row.ours > 0) for row in members if row.published)
    return tuple(count[True] / count.total() if count else math.nan for count in (pairs, signs))  # type: ignore[return-value]
