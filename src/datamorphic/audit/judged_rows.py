"""`JudgedRows`: real rows with their label, the answer of the model, and the prediction of the quick model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.result import Example
from ..space.points import Points
from .case_text import extract_case, format_answer, format_case, format_label, to_plain, to_plain_answer
from .context import CheckContext
from .labels import align_labels
from .reference_model import MIN_REFERENCE_ROWS, ReferenceModel

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedRows:
    """Rows with label, answer and the prediction of the reference model."""

    points: Points
    rows: npt.NDArray[np.intp]  # their positions among the inputs
    answer_rows: npt.NDArray[np.intp]  # their positions among the answers
    errors: Floats  # of the model: 0 or 1 for classes, absolute differences for numbers
    reference_errors: Floats
    labels: npt.NDArray[np.object_]
    numbers: Floats  # the labels of the data if they are numbers, 0 for classes
    numeric: bool

    def find_clearest_row(self, rows: Mask) -> int:
        """Return which of some rows the model gets most wrong, and the reference model right."""
        return int(np.flatnonzero(rows)[(self.errors - self.reference_errors)[rows].argmax()])


def collect_judged_rows(context: CheckContext, reference: ReferenceModel) -> JudgedRows | None:
    """Return the rows that have an answer, a label and a reference prediction; None if they are too few."""
    assert context.answers is not None
    assert context.query_rows is not None
    assert context.truth is not None
    positions = np.full(len(context.inputs), -1, dtype=np.intp)
    positions[context.query_rows] = np.arange(len(context.query_rows))
    answer_rows = positions[reference.rows]
    usable = (answer_rows >= 0) & context.answers.ok[answer_rows]
    rows, answer_rows = reference.rows[usable], answer_rows[usable]
    if len(rows) < MIN_REFERENCE_ROWS:
        return None
    values, labels = context.answers.values[answer_rows], context.truth[rows]
    numbers = np.zeros(len(rows))
    if reference.classes:
        texts = align_labels(labels, values, tuple(context.sut.labels or ()))
        if texts is None:
            return None
        errors = (texts[0] != texts[1]).astype(np.float64)
    else:
        try:
            errors = np.abs(values.astype(np.float64) - reference.labels[usable])
        except (TypeError, ValueError):
            return None
        numbers = reference.labels[usable]
    return JudgedRows(
        points=context.inputs.take(rows),
        rows=rows,
        answer_rows=answer_rows,
        errors=errors,
        reference_errors=reference.errors[usable],
        labels=labels,
        numbers=numbers,
        numeric=not reference.classes,
    )


def build_judged_example(context: CheckContext, data: JudgedRows, row: int) -> Example:
    """Return a row with its answer, although its label is another one."""
    assert context.answers is not None
    case, answer_row = extract_case(data.points, row), int(data.answer_rows[row])
    answer, label = format_answer(context.answers, answer_row), format_label(to_plain(data.labels[row]))
    return Example(
        text=f"{format_case(case)}: {answer}, although its label is {label}",
        case=case,
        answer=to_plain_answer(context.answers, answer_row),
        row=int(data.rows[row]),
    )
