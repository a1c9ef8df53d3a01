"""The findings of a comparison, in words: what changed, for whom, and whether it is for the worse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._text import format_percent, join_names, pluralise
from ..core.result import Finding, Level, count_rows
from ..reporting.document import Section
from .directions import DirectionChange
from .groups import Mask
from .judgement import ChangedGroup, ChangeJudgement
from .measures import RECALL, FigurePair

CHECK = "compare"
MIN_ERROR_RISE = 0.01  # of all rows: more wrong answers than that are a concern
MIN_RECALL_DROP = 0.05  # of recall
MIN_RELATIVE_ERROR_RISE = 0.05  # of the mean absolute error
#: A direction is new if at most so many rows are moved the other way now, and at least so many were before; or the reverse.
MAX_SHARE_OF_KEPT_DIRECTION, MIN_SHARE_OF_BROKEN_DIRECTION = 0.005, 0.1
MIN_MOVED_SHARE = 0.2  # of the rows: columns that move nothing have no direction
MAX_DIRECTIONS = 3
CONFIRMATION_TEXT = "The group was found on one half of the rows and confirmed on the other."


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupReport:
    """A changed group, what the labels say about it, and how to show it."""

    group: ChangedGroup
    errors: FigurePair | None  # wrong answers, or the absolute error; None without labels
    transitions: Sequence[tuple[str, str, int]] = ()  # the most frequent changes: old answer, new answer, rows
    sections: tuple[Section, ...] = ()


def find_transitions(
    old: npt.NDArray[np.object_], new: npt.NDArray[np.object_], rows: Mask
) -> list[tuple[str, str, int]]:
    """Return the changes of answers among some rows, the most frequent first."""
    counts: dict[tuple[str, str], int] = {}
    for before, after in zip(old[rows].tolist(), new[rows].tolist(), strict=True):
        pair = (str(before), str(after))
        counts[pair] = counts.get(pair, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(before, after, count) for (before, after), count in ordered]


def build_group_finding(report: GroupReport, judgement: ChangeJudgement) -> Finding:
    """Return the finding about a group in which answers changed."""
    group, errors = report.group, report.errors
    counts = f"{group.changed:,} of {pluralise(group.all_changed, 'changed answer')}"
    level: Level = "concern"
    is_worse = errors is not None and errors.difference.low > 0
    if errors is None:
        title = f"Answers changed where {group.text}: {counts}, more than training again explains"
        remedy = (
            "Look at what changed for these rows: the labels, the filters and the sources of their training data. If the change is "
            "intended, accept it; with labels (target=), the report says whether the change is for the better."
        )
    elif is_worse:
        figures = _format_figures(errors)
        title = f"The new model is worse where {group.text}: {errors.name} {figures}"
        remedy = (
            "Do not replace the old model yet. Look at the training data of this group: labels, filters, joins and units that changed "
            "since the old model."
        )
    else:
        level = "advice"
        better = errors.difference.high < 0
        outcome = "and fit the labels better" if better else "and fit the labels no worse"
        title = f"Answers changed where {group.text}: {counts}, {outcome}"
        remedy = (
            "Decide whether this change is intended for these people or things, and tell those who use the answers."
        )
    sentences = [
        f"{_format_range(group.share.value, group.share.low, group.share.high)} of the {pluralise(group.rows, 'row')} with "
        f"{group.text} get another answer, and {_format_range(*group.outside)} of the others."
    ]
    if group.loss is not None and judgement.spread is not None:
        sentences.append(
            f"The lead of the old answers over the next best class fell by {group.loss.value:.2f} more there than elsewhere (of at most "
            f"2); training again with another seed moves scores at random, and not those of one group."
        )
    elif group.loss is None and judgement.spread is not None:
        sentences.append(f"Training again would change about {format_percent(group.expected)} of the answers there.")
    if report.transitions:
        text = ", ".join(f"{before} → {after} ({count:,})" for before, after, count in report.transitions[:3])
        sentences.append(f"The changes: {text}.")
    if errors is not None:
        sentences.append(_describe_figure(errors, "in the group"))
    sentences.append(CONFIRMATION_TEXT)
    return Finding(
        check=CHECK,
        about=group.text,
        title=title,
        level=level,
        confidence=0.95,
        detail=" ".join(filter(None, sentences)),
        remedy=remedy,
        columns=group.columns,
        sections=report.sections,
        answer_changes=True,
        effect=group.share.value - group.outside.value,
        inputs="given",
        **count_rows(group.changed, group.rows),
    )


def build_overall_finding(
    judgement: ChangeJudgement, errors: FigurePair | None, is_number: bool, tolerance_text: str, has_other_cause: bool
) -> Finding | None:
    """Return the finding about all changed answers, unless there are none or a group is named."""
    if judgement.verdict in ("unchanged", "group"):
        return None
    share = format_percent(judgement.changed / judgement.rows)
    rows = f"{judgement.changed:,} of {pluralise(judgement.rows, 'row')}"
    noun = f"answers changed by more than {tolerance_text}" if is_number else "answers changed"
    if judgement.verdict == "reseed" and has_other_cause:
        title = f"{rows} get another answer, in no group more than elsewhere"
        detail = f"{share} of the {noun}, mostly where the model is undecided."
        remedy = "The other findings say what changed. Decide whether it is intended."
        level: Level = "advice"
    elif judgement.verdict == "reseed":
        title = f"{rows} get another answer, no more than training again with another seed changes"
        detail = f"{share} of the {noun}, mostly where the model is undecided, and in no group more than elsewhere."
        remedy = "Nothing is wrong. If these changes disturb people, average several models, or keep the old answers where they are close."
        level = "advice"
    else:
        level = "advice" if errors is not None and not _is_clearly_worse(errors) else "concern"
        title = f"{rows} get another answer, all over the data: more than training again explains"
        detail = f"{share} of the {noun}; training again explains at most {format_percent(judgement.expected)}."
        remedy = (
            "Find out what else changed between the two models: the data, the features, the learner or its settings."
        )
        if errors is None:
            remedy += " With labels (target=) it is said whether the new answers are better."
    if errors is not None:
        detail += f" {_describe_figure(errors, 'overall')}"
    return Finding(
        check=CHECK,
        about="answers",
        title=title,
        level=level,
        confidence=0.95,
        detail=detail.replace("  ", " ").strip(),
        remedy=remedy,
        answer_changes=True,
        inputs="given",
        effect=judgement.changed / judgement.rows,
        **count_rows(judgement.changed, judgement.rows),
    )


def build_error_findings(figures: Sequence[FigurePair], has_group_concern: bool) -> list[Finding]:
    """Return findings about figures that are clearly worse, of all rows and of classes, unless a group explains them."""
    findings = []
    for figure in figures:
        if figure.is_error and not has_group_concern and _is_clearly_worse(figure):
            findings.append(
                _build_figure_finding(figure, f"The new model is worse: {figure.name} {_format_figures(figure)}")
            )
        elif figure.name == RECALL and not has_group_concern and figure.surely_worse_by > MIN_RECALL_DROP:
            title = f"The new model misses more of {figure.label}: {_format_figures(figure)} of them are recognised"
            findings.append(_build_figure_finding(figure, title))
    return findings


def _build_figure_finding(figure: FigurePair, title: str) -> Finding:
    return Finding(
        check=CHECK,
        about=figure.label or figure.name,
        title=title,
        level="concern",
        confidence=0.99,
        detail=f"{_describe_figure(figure, 'on the given rows')} Both models answered the same {pluralise(figure.rows, 'row')}, so "
        f"the difference is paired (p = {figure.p_value:.2g}).",
        remedy="Do not replace the old model yet. Look at the rows that only the old model answers correctly: result.rows.",
        rows=figure.rows,
        inputs="given",
        effect=abs(figure.difference.value),
        answer_changes=True,
    )


def build_direction_findings(
    changes: Sequence[DirectionChange], draw: Callable[[DirectionChange], Section]
) -> list[Finding]:
    """Return findings about directions that hold now and did not before, or the reverse."""
    findings: list[Finding] = []
    ordered = sorted(changes, key=lambda change: -abs(change.old_share - change.new_share))
    for change in ordered:
        is_new = change.new_share <= MAX_SHARE_OF_KEPT_DIRECTION and change.old_share >= MIN_SHARE_OF_BROKEN_DIRECTION
        is_lost = change.old_share <= MAX_SHARE_OF_KEPT_DIRECTION and change.new_share >= MIN_SHARE_OF_BROKEN_DIRECTION
        if not (is_new or is_lost) or change.moved_share < MIN_MOVED_SHARE or len(findings) == MAX_DIRECTIONS:
            continue
        verb = "lowers" if change.direction == "up" else "raises"
        effect = f"the probability of {change.outcome}" if change.outcome else "the answer"
        other = format_percent(change.old_share if is_new else change.new_share)
        if is_new:
            title = f"More {change.column} never {verb} {effect} now; before, it did for {other} of the rows"
            remedy = "If the new model was trained with this constraint, it keeps it. Otherwise accept it as a change."
        else:
            title = f"More {change.column} {verb} {effect} for {other} of the rows now; before, it never did"
            remedy = (
                "If it must not, train with a monotone constraint, and declare the direction as a promise (promises=)."
            )
        findings.append(
            Finding(
                check=CHECK,
                about=change.column,
                title=title,
                level="advice",
                confidence=0.9,
                detail=f"{pluralise(change.rows, 'row')} were moved along {change.column} in {len(change.values)} steps, all else equal.",
                remedy=remedy,
                columns=(change.column,),
                sections=(draw(change),),
                inputs="changed",
                effect=abs(change.old_share - change.new_share),
                rows=change.rows,
            )
        )
    return findings


def build_missing_finding(lost: int, gained: int, rows: int) -> list[Finding]:
    """Return findings about rows that get no answer any more."""
    if not lost:
        return []
    return [
        Finding(
            check=CHECK,
            about="no answer",
            title=f"{pluralise(lost, 'row')} get no answer from the new model, but got one from the old",
            level="fault",
            confidence=1.0,
            detail=f"The new model fails for {format_percent(lost / rows)} of the rows"
            + (f", and answers {gained:,} that the old one did not." if gained else "."),
            remedy="Fix what fails, or say which inputs the new model does not take.",
            answer_changes=True,
            inputs="given",
            **count_rows(lost, rows),
        )
    ]


def build_class_findings(old: Sequence[str], new: Sequence[str], rows: int) -> list[Finding]:
    """Return a finding about classes that only one of the models answers."""
    gone, added = [name for name in old if name not in new], [name for name in new if name not in old]
    if not gone and not added:
        return []
    parts = [f"{join_names(gone[:5])} {'is' if len(gone) == 1 else 'are'} no longer among them"] if gone else []
    parts += [f"{join_names(added[:5])} {'is' if len(added) == 1 else 'are'} new"] if added else []
    return [
        Finding(
            check=CHECK,
            about="classes",
            title=f"The classes of the models differ: {' and '.join(parts)}",
            level="concern" if gone else "advice",
            confidence=1.0,
            detail="Whoever uses the answers must know all classes of the new model, and miss none.",
            remedy="Make sure that the training data of the new model hold all classes, and that users expect the new ones.",
            rows=rows,
        )
    ]


def _is_clearly_worse(figure: FigurePair) -> bool:
    limit = MIN_ERROR_RISE if figure.is_share else MIN_RELATIVE_ERROR_RISE * max(figure.old, 1e-12)
    return figure.surely_worse_by > limit


def _format_figures(figure: FigurePair) -> str:
    return f"{format_figure(figure, figure.old)} → {format_figure(figure, figure.new)}"


def format_figure(figure: FigurePair, value: float) -> str:
    """Return a figure with three digits, in percent if it is a share."""
    return f"{100 * value:.3g}%" if figure.is_share else f"{value:.3g}"


def format_change_range(figure: FigurePair) -> str:
    """Return the interval of the difference as text."""
    low, high = format_change(figure, figure.difference.low), format_change(figure, figure.difference.high)
    return f"{low.removesuffix(' points')} to {high}"


def _describe_figure(figure: FigurePair, place: str) -> str:
    return (
        f"{figure.name[0].upper()}{figure.name[1:]} {place}: {format_figure(figure, figure.old)} before, "
        f"{format_figure(figure, figure.new)} now (a difference of {format_change_range(figure)})."
    )


def format_change(figure: FigurePair, value: float) -> str:
    """Return a difference with its sign; of shares, in percentage points."""
    return f"{100 * value:+.2g} points" if figure.is_share else f"{value:+.2g}"


def _format_range(value: float, low: float, high: float) -> str:
    return f"{format_percent(value)} ({format_percent(low)} to {format_percent(high)})"
