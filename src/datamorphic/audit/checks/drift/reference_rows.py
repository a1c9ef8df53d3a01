"""The rows of the reference in the space of the data, with their labels and the answers of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._lazy import pd
from ....errors import DataError
from ....runs.flow import ask
from ....space.dates import to_day_numbers
from ....space.encoding import encode, to_numbers
from ....space.features import Categorical, Feature
from ....space.outputs import Outputs
from ....space.points import Points
from ....space.text_feature import Text
from ...check import CheckBudget, run_flow
from ...context import CheckContext
from ...labels import find_missing_labels, to_label_texts

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MAX_REFERENCE_ROWS = 20_000  # that are compared with the data
MAX_ANSWERED_ROWS = 1_000  # of the reference that the model is queried for
UNKNOWN_CATEGORY = -1.0


@dataclass(eq=False, kw_only=True)
class ReferenceRows:
    """Rows of the reference; a category that the data do not have is `UNKNOWN_CATEGORY`, what is no number is infinite."""

    codes: Floats
    labels: npt.NDArray[Any] | None
    #: which rows the space of the data can express, so that the model can be queried for them
    expressible: Mask
    answer_rows: npt.NDArray[np.intp]  # the positions of the rows with answers
    answers: Outputs | None = None  # to these rows


def read_reference_rows(context: CheckContext) -> ReferenceRows | None:
    """Return at most `MAX_REFERENCE_ROWS` rows of the reference; None if its columns cannot be read."""
    frame, labels = context.reference, context.reference_truth
    if frame is None or not len(frame):
        return None
    if len(frame) > MAX_REFERENCE_ROWS:
        rows = np.random.default_rng([context.seed, 41]).permutation(len(frame))[:MAX_REFERENCE_ROWS]
        frame = frame.iloc[rows].reset_index(drop=True)
        labels = None if labels is None else labels[rows]
    try:
        frame = to_day_numbers(frame, getattr(context.sut, "date_columns", ()))
        columns = [_encode(feature, frame[feature.name]) for feature in context.space.features]
    except (DataError, TypeError, ValueError, OverflowError):
        return None
    codes = np.column_stack(columns) if columns else np.empty((len(frame), 0))
    expressible = np.ones(len(codes), dtype=bool)
    for column, feature in enumerate(context.space.features):
        values = codes[:, column]
        if isinstance(feature, Categorical):
            expressible &= values != UNKNOWN_CATEGORY
        elif not isinstance(feature, Text):
            expressible &= ~np.isinf(values)
            if feature.kind == "integer":
                expressible &= np.isnan(values) | (np.rint(values) == values)
        if not feature.nullable:
            expressible &= ~np.isnan(values)
    if labels is not None and find_missing_labels(labels).all():
        labels = None
    return ReferenceRows(
        codes=codes, labels=labels, expressible=expressible, answer_rows=np.empty(0, dtype=np.intp), answers=None
    )


def _encode(feature: Feature, column: pd.Series[Any]) -> Floats:
    """Return the codes of a column of the reference; categories are compared as text, as files may change their types."""
    if isinstance(feature, Categorical):
        places, values = pd.factorize(column.astype(object))
        code_by_text: dict[str, float] = {}
        for code, text in enumerate(to_label_texts(np.array([*feature.values, None], dtype=object)[:-1]).tolist()):
            code_by_text.setdefault(text, float(code))
        texts = to_label_texts(np.array([*values, None], dtype=object)[:-1]).tolist()
        codes = np.array([*(code_by_text.get(text, UNKNOWN_CATEGORY) for text in texts), np.nan])
        return np.asarray(codes[places])
    if isinstance(feature, Text):
        return encode(feature, column, open_ends=True, lenient=True)
    if column.dtype == object or pd.api.types.is_string_dtype(column.dtype):
        numbers = pd.to_numeric(column, errors="coerce")
        is_text = numbers.isna() & column.notna()
        return np.where(is_text, np.inf, numbers.to_numpy(dtype=np.float64, na_value=np.nan))
    codes, is_text_value = to_numbers(column)
    return np.where(is_text_value, np.inf, codes)


def query_reference(context: CheckContext, budget: CheckBudget, reference: ReferenceRows) -> None:
    """Query the model for a sample of the reference, as far as the budget allows."""
    rows = np.flatnonzero(reference.expressible)
    if not len(rows):
        return
    count = context.count_affordable(budget.remaining(0.5), min(MAX_ANSWERED_ROWS, len(rows)))
    rows = np.sort(np.random.default_rng([context.seed, 42]).permutation(rows)[:count])
    points = Points(context.space, np.asfortranarray(reference.codes[rows]))
    reference.answers = run_flow(context, budget, ask(points), part=0.7)
    reference.answer_rows = rows
