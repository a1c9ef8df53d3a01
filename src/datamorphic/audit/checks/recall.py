"""Check whether the model finds every class as often as the data allow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ..._stats import Z_95, compute_wilson_interval
from ..._text import format_percent, pluralise
from ...core.result import Example, Finding, Measure, count_rows, format_share
from ...reporting.document import Section, Table
from ..case_text import format_label, to_plain
from ..check import CheckBudget, CheckFindings, find_label_obstacle, get_facts, make_check
from ..context import CheckContext
from ..judged_rows import build_judged_example
from ..plain_models import find_similar_models
from ..reference_model import MIN_REFERENCE_ROWS
from ..rivals import Rivals, collect_rivals, get_explained_rows

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MIN_CLASS_ROWS = 20  # to judge a class
MIN_EASY_ROWS = 10  # of a class: those that all other models find
MAX_RECALL_RATIO = 2 / 3  # of the recall to that of the quick model, for a concern
MAX_RECALL_RATIO_TO_ALL = 0.75  # of the upper end of the recall to the lowest one of all models, for a concern
MIN_LOWEST_RECALL = 0.1  # of all models, for this comparison
MIN_MISSED_RATIO_TO_ALL = 2.5  # of the share that is missed, at the lower end, to the largest one of all models
MIN_MISSED_EXCESS_TO_ALL = 0.1
MAX_BETTER_ELSEWHERE = (
    0.03  # of the recall of another class over the highest of all models: then a class is preferred on purpose
)
MIN_MISSED_SHARE = 0.3  # of the easy rows of a class; an honest model misses hardly any
MIN_MISSED_SHARE_AT_LOWER_END = 0.2
MIN_MISSED_SHARE_OVERALL = 0.15  # of the easy rows of all classes
MIN_MISSED_SHARE_OVERALL_AT_LOWER_END = 0.1
MIN_ERROR_RATIO = 1.3  # of the model's error rate to the quick model's, for advice
MIN_ERROR_DIFFERENCE = 0.03  # at the lower end of the interval
SIGNIFICANCE = 0.01  # of all classes together
MAX_CLASSES_IN_TITLE = 3
PLAIN_KINDS = "a quick one, a linear one, a tree, neighbours, naive Bayes and a support vector machine"


@dataclass(frozen=True, kw_only=True)
class _ClassFigures:
    """How well a class is found, by the model and by the quick model."""

    code: int
    name: str  # quoted as in titles
    rows: int
    recall: float
    quick_recall: float
    precision: float  # NaN if it is never the answer
    quick_precision: float
    confused_with: str  # the most frequent wrong answer to rows of the class; empty if there is none
    confused_rows: int


def check_recall(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Compare the recall of each class with that of the quick model, and with what all models find."""
    rivals = collect_rivals(context, budget)
    if rivals is None or not rivals.classes:
        reason = f"fewer than {MIN_REFERENCE_ROWS} rows have an answer and a label that can be compared"
        return CheckFindings(basis=reason, conclusive=False, skip_reason="inapplicable")
    figures = _measure_classes(context, rivals)
    judged = [item for item in figures if item.rows >= MIN_CLASS_ROWS]
    section = _build_section(figures)
    basis = f"{pluralise(len(judged), 'class', 'classes')} in {pluralise(len(rivals.labels), 'row')}"
    findings: list[Finding] = []
    if not rivals.is_coarse and _is_worse_in_some_class(rivals):
        easy = rivals.find_easy_rows(context, budget) & ~get_explained_rows(context)[rivals.data.rows]
        missed = easy & (rivals.answers != rivals.labels)
        findings = _judge_easy_rows(context, rivals, easy, missed, section) or _judge_classes(
            context, budget, rivals, judged, easy, missed, section
        )
    if not findings and not get_explained_rows(context).any():
        findings = _advise(rivals, section)
    return CheckFindings(basis=basis, findings=findings, sections=[] if findings else [section])


def _is_worse_in_some_class(rivals: Rivals) -> bool:
    """Tell whether the model has more errors than the quick one in any class: only then other models must be fitted."""
    own, quick = rivals.data.errors, rivals.data.reference_errors
    differences = [float((own - quick)[rivals.labels == code].sum()) for code in range(len(rivals.classes))]
    return max(differences) >= MIN_MISSED_SHARE * MIN_EASY_ROWS


def _measure_classes(context: CheckContext, rivals: Rivals) -> list[_ClassFigures]:
    """Return the figures of all classes of the data, the rarest first."""
    labels, answers, quick = rivals.labels, rivals.answers, rivals.predictions
    figures = []
    for code in range(len(rivals.classes)):
        rows = labels == code
        wrong_answers = answers[rows & (answers != code)].astype(np.intp)
        most, count = "", 0
        if len(wrong_answers):
            codes, counts = np.unique(wrong_answers, return_counts=True)
            count = int(counts.max())
            most_code = int(codes[counts.argmax()])
            most = "another class" if most_code < 0 else _name_class(rivals, most_code)
        figures.append(
            _ClassFigures(
                code=code,
                name=_name_class(rivals, code),
                rows=int(rows.sum()),
                recall=float((answers[rows] == code).mean()),
                quick_recall=float((quick[rows] == code).mean()),
                precision=float(rows[answers == code].mean()) if (answers == code).any() else math.nan,
                quick_precision=float(rows[quick == code].mean()) if (quick == code).any() else math.nan,
                confused_with=most,
                confused_rows=count,
            )
        )
    return sorted(figures, key=lambda item: item.rows)


def _name_class(rivals: Rivals, code: int) -> str:
    """Return the label of a class for a title."""
    row = int((rivals.labels == code).argmax())
    return format_label(to_plain(rivals.data.labels[row]))


def _build_section(figures: list[_ClassFigures]) -> Section:
    def percent(share: float) -> str:
        return "never answered" if math.isnan(share) else format_percent(share)

    rows = [
        [
            item.name,
            f"{item.rows:,}",
            percent(item.recall),
            percent(item.quick_recall),
            percent(item.precision),
            percent(item.quick_precision),
            f"{item.confused_with} ({item.confused_rows:,})" if item.confused_with else "",
        ]
        for item in figures
    ]
    return Section(
        heading="How well the model finds every class",
        text="Recall is the share of the rows of a class that get it as their answer. Precision is the share of the answers of a "
        "class that are right. The quick model was fitted to other rows.",
        table=Table(
            columns=[
                "class",
                "rows",
                "recall",
                "recall of the quick model",
                "precision",
                "precision of the quick model",
                "most frequent wrong answer",
            ],
            rows=rows,
            main_columns=("class", "rows", "recall", "recall of the quick model", "precision"),
        ),
    )


# -- the findings ------------------------------------------------------------------------------------------------------


def _judge_easy_rows(
    context: CheckContext, rivals: Rivals, easy: Mask, missed: Mask, section: Section
) -> list[Finding]:
    """Return a concern if easy rows of several classes are missed."""
    count, total = int(missed.sum()), int(easy.sum())
    classes = [
        code
        for code in range(len(rivals.classes))
        if (rows := easy & (rivals.labels == code)).sum() >= MIN_EASY_ROWS
        and _is_missed(int(missed[rows].sum()), int(rows.sum()), 1)
    ]
    if not total or len(classes) < 2:
        return []
    if (
        count < MIN_MISSED_SHARE_OVERALL * total
        or compute_wilson_interval(count, total, 1 - SIGNIFICANCE)[0] < MIN_MISSED_SHARE_OVERALL_AT_LOWER_END
    ):
        return []
    own, quick = float(rivals.data.errors.mean()), float(rivals.data.reference_errors.mean())
    return [
        Finding(
            **get_facts("recall.easy rows"),
            title="The model is wrong for many rows that models of every kind get right",
            detail=f"{format_share(count, total, 'row')} are answered wrongly although models of every kind, fitted to other rows, find "
            f"their label: {PLAIN_KINDS}. Over all rows it is wrong for {format_percent(own)}, the quick model for "
            f"{format_percent(quick)}.",
            **count_rows(count, total),
            examples=(_build_example(context, rivals, missed),),
            sections=(section,),
        )
    ]


def _is_missed(count: int, total: int, tests: int) -> bool:
    """Tell whether too many of the easy rows of a class are missed."""
    low = compute_wilson_interval(count, total, 1 - SIGNIFICANCE / tests)[0]
    return count >= MIN_MISSED_SHARE * total and low >= MIN_MISSED_SHARE_AT_LOWER_END


def _is_below_all(context: CheckContext, budget: CheckBudget, rivals: Rivals, item: _ClassFigures) -> bool:
    """Tell whether every other model finds a class far more often, and no other class seems to be preferred on purpose."""
    unexplained = ~get_explained_rows(context)[rivals.data.rows]
    list_recalls = partial(_list_recalls, context, budget, rivals)
    rows = (rivals.labels == item.code) & unexplained
    if rows.sum() < MIN_CLASS_ROWS:
        return False
    lowest = min(list_recalls(item.code))
    _, high = compute_wilson_interval(int((rivals.answers[rows] == item.code).sum()), int(rows.sum()), 1 - SIGNIFICANCE)
    is_far_below = (lowest >= MIN_LOWEST_RECALL and high <= MAX_RECALL_RATIO_TO_ALL * lowest) or (
        1 - high >= max(MIN_MISSED_RATIO_TO_ALL * (1 - lowest), 1 - lowest + MIN_MISSED_EXCESS_TO_ALL)
    )
    return is_far_below and not any(
        (rivals.answers == code)[(rivals.labels == code) & unexplained].mean()
        > max(list_recalls(code)) + MAX_BETTER_ELSEWHERE
        for code in range(len(rivals.classes))
        if code != item.code and ((rivals.labels == code) & unexplained).any()
    )


def _list_recalls(context: CheckContext, budget: CheckBudget, rivals: Rivals, code: int) -> list[float]:
    """Return the recall of a class by every other model, on rows whose errors no other finding explains."""
    models = [model.predictions for model in rivals.get_plain_models(context, budget) if not model.is_crude]
    rows = (rivals.labels == code) & ~get_explained_rows(context)[rivals.data.rows]
    return [float((predictions[rows] == code).mean()) for predictions in (*models, rivals.predictions)]


def _is_lost_by_similar_model(context: CheckContext, budget: CheckBudget, rivals: Rivals, item: _ClassFigures) -> bool:
    """Tell whether one of the plain models that answer most like the model loses the class, too.

    Naive Bayes loses the most frequent one if many of its features say the same, and neighbours a rare one among many columns.
    """
    rows = rivals.labels == item.code
    models = [model for model in rivals.get_plain_models(context, budget) if not model.is_crude]
    is_frequent = 2 * rows.sum() >= len(rows)
    compared = rows if is_frequent else np.ones(len(rows), dtype=bool)
    return any(
        (model.predictions[rows] == item.code).mean() <= MAX_RECALL_RATIO * item.quick_recall
        for model in find_similar_models(models, rivals.answers, compared)
    )


def _judge_classes(
    context: CheckContext,
    budget: CheckBudget,
    rivals: Rivals,
    figures: list[_ClassFigures],
    easy: Mask,
    missed: Mask,
    section: Section,
) -> list[Finding]:
    """Return a concern about the classes whose easy rows are missed."""
    lost: list[_ClassFigures] = []
    for item in figures:
        rows = easy & (rivals.labels == item.code)
        if _is_below_all(context, budget, rivals, item) or (
            rows.sum() >= MIN_EASY_ROWS
            and item.recall <= MAX_RECALL_RATIO * item.quick_recall
            and _is_missed(int(missed[rows].sum()), int(rows.sum()), len(figures))
            and not _is_lost_by_similar_model(context, budget, rivals, item)
        ):
            lost.append(item)
    if not lost:
        return []
    worst = min(lost, key=lambda item: item.recall / item.quick_recall)
    rows = easy & (rivals.labels == worst.code)
    count, total = int(missed[rows].sum()), int(rows.sum())
    easy_text = ""
    if count:
        easy_text = (
            f" Of {pluralise(total, 'row')} of the class whose label models of every kind find ({PLAIN_KINDS}), it misses {count:,} "
            f"({format_percent(count / total)})."
        )
    else:
        lowest = min(_list_recalls(context, budget, rivals, worst.code))
        easy_text = (
            f" Models of every kind, fitted in the same way ({PLAIN_KINDS}), find at least {format_percent(lowest)}."
        )
        rows = rivals.labels == worst.code
        missed = rows & (rivals.answers != rivals.labels)
        count, total = int(missed.sum()), int(rows.sum())
    recall_text = format_share(round(worst.recall * worst.rows), worst.rows, "row")
    names = ", ".join(item.name for item in lost[:MAX_CLASSES_IN_TITLE]) + (
        ", ..." if len(lost) > MAX_CLASSES_IN_TITLE else ""
    )
    what = f"the class {names}" if len(lost) == 1 else f"the classes {names}"
    return [
        Finding(
            **get_facts("recall.class"),
            about=worst.name.strip("'"),
            title=f"The model misses {what} where models of every kind find {'it' if len(lost) == 1 else 'them'}",
            detail=f"{recall_text} labelled {worst.name} are answered {worst.name}; a quick model fitted to other rows finds "
            f"{format_percent(worst.quick_recall)}. {worst.confused_rows:,} are answered {worst.confused_with} instead.{easy_text}",
            **count_rows(count, total),
            examples=(_build_example(context, rivals, missed & rows),),
            sections=(section,),
        )
    ]


def _advise(rivals: Rivals, section: Section) -> list[Finding]:
    """Return advice if the quick model is clearly better over all rows: a better model is possible."""
    data = rivals.data
    differences = data.errors - np.maximum(data.reference_errors, rivals.matched_errors)
    difference = float(differences.mean())
    margin = Z_95 * float(differences.std()) / math.sqrt(len(differences))
    own, quick = float(data.errors.mean()), float(data.reference_errors.mean())
    if difference - margin < MIN_ERROR_DIFFERENCE or own < MIN_ERROR_RATIO * quick:
        return []
    wrong = int(data.errors.sum())
    gap = Measure(own - quick, own - quick - margin, own - quick + margin)
    return [
        Finding(
            **get_facts("recall.simple"),
            detail=f"{format_share(wrong, len(differences), 'row')} get an answer other than their label; a quick model, fitted to other "
            f"rows with defaults, is wrong for {format_percent(quick)}: {100 * gap.value:.3g} percentage points fewer "
            f"({100 * gap.low:.3g} to {100 * gap.high:.3g}).",
            **count_rows(wrong, len(differences)),
            sections=(section,),
        )
    ]


def _build_example(context: CheckContext, rivals: Rivals, missed: Mask) -> Example:
    """Return a missed row whose label the quick model finds most probable."""
    assert rivals.probabilities is not None
    rows = np.flatnonzero(missed)
    row = int(rows[rivals.probabilities[rows, rivals.labels[rows].astype(np.intp)].argmax()])
    return build_judged_example(context, rivals.data, row)


def _find_skip_reason(context: CheckContext) -> str:
    return find_label_obstacle(context, numeric=False)


RECALL = make_check("recall", check_recall, _find_skip_reason)
