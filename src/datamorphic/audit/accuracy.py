"""Figures of accuracy for the notes of a result: of the model, of the quick model, and of an answer that needs no model."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .._stats import Z_95
from .._text import format_percent, format_rounded, format_short
from ..space.labels import find_agreement
from .context import CheckContext
from .judged_rows import JudgedRows, collect_judged_rows
from .reference_model import ReferenceModel
from .responses import AnswerCodes

Floats = npt.NDArray[np.float64]

MAX_NAMED_CLASSES = 4  # the least well recognised ones
MIN_ROWS = 10  # to give figures of numbers
MIN_CLASS_ROWS = 10  # of a class, to give its recall


def describe_accuracy(context: CheckContext) -> list[str]:
    """Return a note on how well the answers fit the labels; none if they cannot be compared.

    The quick model is mentioned if a check fitted it.
    """
    if context.truth is None or context.answers is None:
        return []
    quick = context.fitted_reference_model
    data = None if quick is None or context.query_rows is None else collect_judged_rows(context, quick)
    if context.has_numeric_answers:
        return _describe_numbers(context, quick, data)
    ok = context.answers.ok
    if len(context.answers) != len(context.truth) or not ok.any() or context.has_unmatched_labels:
        return []
    agreements = find_agreement(context.answers.values[ok], context.truth[ok])
    note = f"The answer agrees with the label for {format_percent(agreements.mean())} of the given inputs."
    if quick is not None and data is not None:
        note += f" {_describe_classes(quick, data)}"
    return [note]


def _describe_classes(quick: ReferenceModel, data: JudgedRows) -> str:
    """Return the accuracy of the quick model, and the recall of the classes that the model recognises least."""
    labels = quick.labels[np.searchsorted(quick.rows, data.rows)].astype(np.intp)
    counts = np.bincount(labels, minlength=len(quick.classes))
    right, quick_right = (
        np.bincount(labels, weights=1 - errors, minlength=len(quick.classes)) / np.maximum(counts, 1)
        for errors in (data.errors, data.reference_errors)
    )
    places = [place for place in np.argsort(right, kind="stable").tolist() if counts[place] >= MIN_CLASS_ROWS]
    recalls = ", ".join(
        f"{format_percent(right[place])} of {format_short(quick.classes[place])} ({format_percent(quick_right[place])})"
        for place in places[:MAX_NAMED_CLASSES]
    )
    text = f"For a quick model fitted to other rows it is {format_percent(float(1 - data.reference_errors.mean()))}."
    return f"{text} Recognised by class (by the quick model): {recalls}." if len(places) > 1 else text


def _describe_numbers(context: CheckContext, quick: ReferenceModel | None, data: JudgedRows | None) -> list[str]:
    """Return the errors of numbers, on the rows that the quick model predicts, too, if there are any."""
    assert context.answers is not None
    assert context.truth is not None
    codes = AnswerCodes(True)
    if quick is not None and data is not None and data.numeric:
        answers = codes.encode(context.answers.values[data.answer_rows])
        labels, predictions = data.numbers, quick.predictions[np.searchsorted(quick.rows, data.rows)]
    elif context.query_rows is not None:
        truth = context.truth[context.query_rows]
        present = ~np.array([value is None or value != value for value in truth.tolist()], dtype=bool)
        answers = codes.encode(context.answers.values, context.answers.ok)
        labels, predictions = codes.encode(truth, present), None
    else:
        return []
    usable = np.isfinite(answers) & np.isfinite(labels)
    if usable.sum() < MIN_ROWS:
        return []
    answers, labels = answers[usable], labels[usable]
    with np.errstate(over="ignore", invalid="ignore"):
        residuals = labels - answers
        margin = Z_95 * float(residuals.std()) / math.sqrt(len(residuals))
        bias = float(residuals.mean())
        texts = [f"The answers have {_format_errors(labels, answers)}"]
        if predictions is not None:
            texts.append(f"a quick model fitted to other rows has {_format_errors(labels, predictions[usable])}")
        texts.append(f"the mean of the labels has {_format_errors(labels, np.full(len(labels), labels.mean()))}")
    ends = [format_rounded(value) for value in (bias, bias - margin, bias + margin)]
    return [f"{'; '.join(texts)}. Labels exceed answers by {ends[0]} on average ({ends[1]} to {ends[2]})."]


def _format_errors(labels: Floats, predictions: Floats) -> str:
    errors = labels - predictions
    squared, variance = float(np.mean(errors**2)), float(labels.var())
    explained = f", R² {1 - squared / variance:.3g}" if variance > 0 else ""
    mean, root = (format_rounded(value, digits=4) for value in (float(np.abs(errors).mean()), math.sqrt(squared)))
    return f"a mean absolute error of {mean} (RMSE {root}{explained})"
