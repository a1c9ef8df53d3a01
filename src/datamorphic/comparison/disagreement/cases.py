"""Cases and answers of disagreements as plain values and as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._lazy import pd
from ...errors import DataError
from ...exploration.changes import format_answers
from ...space.outputs import Outputs
from ...space.serialisation import value_to_json


def format_outcome(outputs: Outputs, row: int) -> str:
    """Return an answer as text, or why there is none."""
    if outputs.ok[row]:
        return format_answers(outputs.values[row : row + 1])[0]
    message = outputs.messages.get(row)
    return f"no answer ({message})" if message else "no answer"


def to_json_value(value: object) -> Any:
    """Return a value as a JSON-serialisable one; None if it is missing."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    try:
        return value_to_json(value.item() if isinstance(value, np.generic) else value)
    except (DataError, TypeError, ValueError):
        return str(value)


def to_json_row(frame: pd.DataFrame, row: int = 0) -> dict[str, Any]:
    """Return a row of a frame as a dict of JSON-serialisable values."""
    # column by column: as one row, whole numbers beside others would become floats
    values = [frame.iloc[row : row + 1, column].tolist()[0] for column in range(frame.shape[1])]
    return {str(name): to_json_value(value) for name, value in zip(frame.columns, values, strict=True)}
