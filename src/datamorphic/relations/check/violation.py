"""`Violation`: training data on which a learner breaks a promise, in words and as a store keeps it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import format_short, pluralize
from ...errors import DataError
from ...space.serialize import value_from_json, value_to_json
from ...systems.training import Floats, Training
from ..learner.base import to_object_array
from ..learner.result import LearnerVerdicts
from ..learner.waves import LearnerRelationOutcome

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS_SHOWN = 12  # training rows of an example that are shown
MAX_ATTRIBUTES_SHOWN = 8  # attributes of a row


@dataclass(frozen=True, eq=False)
class LearnerViolation:
    """Training data and a case on which a learner breaks a promise.

    Attributes
    ----------
    relation, says : str
        The promise.
    necessary : bool
        Whether every right implementation of the learner keeps it; `reason` says why, or why not.
    source, follow_up : Training
        What the learner was trained on, with the one test case, before and after the change.
    before, expected, after
        The label of the case, the one the promise expects after the change, and the one it got.
    scores_before, scores_after : ndarray or None
        Its scores, a value for each of ``source.declared``.
    change : str
        What was changed, where the relation can tell it in a line.
    shrunk : bool
        Whether it is the smallest that was found, or as it came.
    number : int
        Which of the inputs it comes from: what is random about the change starts there.
    """

    relation: str
    says: str
    necessary: bool
    reason: str
    source: Training
    follow_up: Training
    before: Any
    expected: Any
    after: Any
    scores_before: Floats | None = None
    scores_after: Floats | None = None
    change: str = ""
    shrunk: bool = False
    number: int = 0

    @property
    def samples(self) -> pd.DataFrame:
        """The training rows of the source data, with their labels last."""
        return self.source.frame

    @property
    def size(self) -> tuple[int, int]:
        """How many training rows and attributes the source data have."""
        return int(self.source.x.shape[0]), int(self.source.x.shape[1])

    def describe(self) -> str:
        """Return it in lines: what the learner was trained on, the case, its two labels."""
        return "\n".join(
            [
                f"trained on {_format_size(self.source)}",
                *_format_rows(self.source),
                f"case     {_format_case(self.source)}",
                f"answer   {_to_python(self.before)!r}{_format_scores(self.source, self.scores_before)}",
                f"then     {self.change or self.says.partition(': ')[0]}: trained on {_format_size(self.follow_up)}",
                *_format_rows(self.follow_up),
                f"case     {_format_case(self.follow_up)}",
                f"expected {_to_python(self.expected)!r}",
                f"becomes  {_to_python(self.after)!r}{_format_scores(self.source, self.scores_after)}",
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "relation": self.relation,
            "says": self.says,
            "necessary": self.necessary,
            "reason": self.reason,
            "change": self.change,
            "source": training_to_json(self.source),
            "follow_up": training_to_json(self.follow_up),
            "before": _to_python(self.before),
            "expected": _to_python(self.expected),
            "after": _to_python(self.after),
            "scores_before": None if self.scores_before is None else self.scores_before.tolist(),
            "scores_after": None if self.scores_after is None else self.scores_after.tolist(),
            "shrunk": self.shrunk,
        }

    def __repr__(self) -> str:
        rows, attributes = self.size
        return f"Violation({self.relation}, {pluralize(rows, 'row')} of {pluralize(attributes, 'attribute')})"


def build_violation(
    outcome: LearnerRelationOutcome, result: LearnerVerdicts, number: int, shrunk: bool, row: int | None = None
) -> LearnerViolation:
    """Return one violation of what was found: the first, or that of a row."""
    row = int(result.violations[0]) if row is None else row
    data = result.data.trainings[result.data.training_index[row]]
    follow_up = result.follow_ups[result.follow_up_index[row]]
    place = int(np.flatnonzero(np.flatnonzero(result.follow_up_index == result.follow_up_index[row]) == row)[0])
    scores = [
        None if table is None or np.isnan(table[row]).all() else table[row, : len(data.declared)]
        for table in (result.scores_before, result.scores_after)
    ]
    return LearnerViolation(
        outcome.relation.name, outcome.relation.says, outcome.stance.necessary, outcome.stance.reason,
        data.cases([int(result.data.case_index[row])]), follow_up.cases([place]),
        result.before[row], result.expected[row], result.after[row], scores[0], scores[1],
        _describe_change(outcome, data, follow_up), shrunk, number,
    )  # fmt: skip


def _describe_change(outcome: LearnerRelationOutcome, data: Training, follow_up: Training) -> str:
    with suppress(Exception):  # words are a help, no more
        return outcome.relation.change(data, follow_up)
    return ""


def _format_size(data: Training) -> str:
    return f"{pluralize(int(data.x.shape[0]), 'row')} of {pluralize(int(data.x.shape[1]), 'attribute')}"


def _format_rows(data: Training) -> list[str]:
    dense = data.x.toarray() if hasattr(data.x, "toarray") else data.x
    if len(data.y) > MAX_ROWS_SHOWN:
        return []
    weights = [""] * len(data.y) if data.weights is None else [f", weight {weight:g}" for weight in data.weights]
    return [
        f"  {_format_row(dense, row)}: {_format_label(label)}{weight}"
        for row, (label, weight) in enumerate(zip(data.y.tolist(), weights, strict=True))
    ]


def _format_case(data: Training) -> str:
    return _format_row(data.t.toarray() if hasattr(data.t, "toarray") else data.t, 0)


def _format_row(table: Any, row: int) -> str:
    if hasattr(table, "columns"):
        values = list(table.iloc[row].items())
    else:
        values = [(f"a{place}", value) for place, value in enumerate(table[row].tolist())]
    text = ", ".join(f"{name}={format_short(value)}" for name, value in values[:MAX_ATTRIBUTES_SHOWN])
    return text + (", ..." if len(values) > MAX_ATTRIBUTES_SHOWN else "")


def format_table(data: Training) -> tuple[list[str], list[tuple[dict[str, str], str]]]:
    """Return the names of the attributes, and the training rows with their labels, the case last, as texts."""
    tables = [table.toarray() if hasattr(table, "toarray") else table for table in (data.x, data.t)]
    names = [str(name) for name in data.x.columns] if data.framed else [f"a{i}" for i in range(data.x.shape[1])]
    rows = [
        table.iloc[: 10 * MAX_ROWS_SHOWN].to_numpy(object) if data.framed else table[: 10 * MAX_ROWS_SHOWN]
        for table in tables
    ]
    labels = [*(_format_label(label) for label in data.y[: len(rows[0])].tolist()), *["the case"] * len(rows[1])]
    cells = [
        {name: format_short(value) for name, value in zip(names, row, strict=True)}
        for table in rows
        for row in table.tolist()
    ]
    return names, list(zip(cells, labels, strict=True))


def _format_label(label: Any) -> str:
    return format_short(_to_python(label))


def _to_python(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _format_scores(data: Training, scores: Floats | None) -> str:
    if scores is None:
        return ""
    pairs = zip(data.declared, scores, strict=False)
    text = ", ".join(f"{_to_python(name)}: {score:.6g}" for name, score in pairs if not np.isnan(score))
    return f"   scores {text}"


# -- as the store has them -------------------------------------------------------------------------------------


def training_to_json(data: Training) -> dict[str, Any]:
    """Return training data as JSON has them; DataError where no file can hold their values."""
    tables = {}
    for part in ("x", "t"):
        table = getattr(data, part)
        dense = table.toarray() if hasattr(table, "toarray") else table
        rows = dense.astype(object).itertuples(index=False) if data.framed else dense.tolist()
        tables[part] = [[value_to_json(value) for value in row] for row in rows]
    return {
        "columns": [str(name) for name in data.x.columns] if data.framed else None,
        **tables,
        "y": [value_to_json(label) for label in data.y.tolist()],
        "labels": None if data.labels is None else [value_to_json(label) for label in data.labels],
        "weights": None if data.weights is None else data.weights.tolist(),
    }


def training_from_json(case: Any) -> Training:
    """Return training data from what `training_to_json` made of them; DataError from anything else."""
    try:
        x, t = ([[value_from_json(value) for value in row] for row in case[part]] for part in ("x", "t"))
        columns, labels, weights = case.get("columns"), case.get("labels"), case.get("weights")
        label_values = [value_from_json(label) for label in case["y"]]
        y = (
            np.array(label_values)
            if len({type(label) for label in label_values}) == 1
            else to_object_array(label_values)
        )
        if columns is None:
            tables: Any = (np.array(x, dtype=np.float64), np.array(t, dtype=np.float64))
        else:
            import pandas as pd

            tables = (pd.DataFrame(x, columns=columns), pd.DataFrame(t, columns=columns))
        declared_labels = None if labels is None else tuple(value_from_json(label) for label in labels)
        return Training(
            tables[0], y, tables[1], declared_labels, None if weights is None else np.array(weights, float)
        )
    except DataError:
        raise
    except Exception as error:  # whatever values that were meant for something else may raise
        raise DataError(f"This is no training data as they are kept: {type(error).__name__}.") from None
