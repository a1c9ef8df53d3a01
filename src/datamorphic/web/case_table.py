"""`CaseTable`: the cases of a test pool as rows of text, sorted, filtered and cut into pages; one case with its ancestors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import suggest_name
from ..errors import DataError, format_error_line
from ..morphisms.case_columns import NO_ORIGIN, CaseKind
from ..morphisms.cases import TestSet
from ..morphisms.system import TestSystem
from ..morphisms.text_values import decode_texts, to_text
from ..space.features import Categorical, Continuous, Feature
from ..space.outputs import Status

MAX_ROWS_PER_PAGE = 500
MAX_FEATURE_COLUMNS = 40  # wider inputs are shown in the details of a case
MAX_CELL_CHARACTERS = 200
SHOWN_DIGITS = 10  # of real numbers; border pairs differ in the last of them
MAX_ANCESTORS = 200
MAX_CHOICES = 200  # of a feature with a list of values
NO_OUTPUT_TEXTS = {
    Status.ERROR: "error",
    Status.TIMEOUT: "no answer in time",
    Status.DIED: "the system died",
    Status.REFUSED: "refused",
    Status.MISSING: "",
    Status.MALFORMED: "not a label",
}
OPERATORS = ("contains", "is", "is not", "at least", "at most")

Texts = npt.NDArray[np.object_]
Rows = npt.NDArray[np.int64]


class CaseTable:
    """A test set as a table; what was sorted and filtered last is remembered, so that the next page costs nothing."""

    def __init__(self, tests: TestSet, system: TestSystem, judged_names: Sequence[str] = ()) -> None:
        self.tests, self.judged_names = tests, list(judged_names)
        self._system = system
        self._verdicts: dict[str, Texts] | None = None
        self._selection: tuple[str, Rows] | None = None
        self._features = list(enumerate(tests.space.features))[:MAX_FEATURE_COLUMNS]

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The columns: a key, a label, and whether the column holds numbers."""
        columns = [{"key": "id", "label": "id", "numeric": True, "group": "case"}]
        columns += [
            {"key": f"f{j}", "label": str(feature.name), "numeric": feature.numeric, "group": "input"}
            for j, feature in self._features
        ]
        columns += [
            {"key": key, "label": label, "numeric": False, "group": "case"}
            for key, label in (("output", "output"), ("kind", "kind"), ("morphism", "made by"), ("origins", "origins"))
        ]
        columns += [
            {"key": f"v{number}", "label": name, "numeric": False, "group": "verdict"}
            for number, name in enumerate(self.judged_names)
        ]
        return columns

    # -- rows ----------------------------------------------------------------------------------------------------------

    def list_rows(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a page of rows: `offset`, `limit`, `sort` by a key, `descending`, and `conditions`."""
        rows = self._select(request)
        offset = min(max(0, int(request.get("offset", 0))), len(rows))
        limit = min(max(1, int(request.get("limit", 25))), MAX_ROWS_PER_PAGE)
        return {
            "total": len(self.tests),
            "matching": len(rows),
            "columns": self.columns,
            "hidden_features": len(self.tests.space) - len(self._features),
            "rows": self._format_rows(rows[offset : offset + limit]),
        }

    def _format_rows(self, rows: Rows) -> list[dict[str, Any]]:
        cells: dict[str, Sequence[object]] = {
            column["key"]: self._get_texts(column["key"], rows) for column in self.columns
        }
        for j, feature in self._features:
            if isinstance(feature, Continuous):
                codes = self.tests.inputs.codes[rows, j].tolist()
                cells[f"f{j}"] = ["" if code != code else f"{code:.{SHOWN_DIGITS}g}" for code in codes]
        cells["id"] = self.tests.ids[rows].tolist()
        return [
            {key: _cut(value) for key, value in zip(cells, row, strict=True)}
            for row in zip(*cells.values(), strict=True)
        ]

    def _select(self, request: Mapping[str, Any]) -> Rows:
        """Return the row numbers that meet all conditions, in order."""
        conditions = [tuple(map(str, condition)) for condition in request.get("conditions") or ()]
        sort, descending = str(request.get("sort") or ""), bool(request.get("descending"))
        key = repr((conditions, sort, descending))
        if self._selection is None or self._selection[0] != key:
            rows = np.arange(len(self.tests), dtype=np.int64)
            for column, operator, value in conditions:
                rows = rows[self._match(column, operator, value, rows)]
            if sort and len(rows):
                keys = self._get_sort_keys(sort, rows)
                missing = np.isnan(keys)
                rows = rows[np.lexsort((np.where(missing, 0, -keys if descending else keys), missing))]
            self._selection = key, rows
        return self._selection[1]

    def _match(self, column: str, operator: str, value: str, rows: Rows) -> npt.NDArray[np.bool_]:
        if operator not in OPERATORS:
            raise DataError(f"There is no comparison {operator!r}. {suggest_name(operator, OPERATORS)}")
        numbers = self._get_numbers(column, rows)
        number = _read_number(value)
        if operator in ("at least", "at most"):
            if numbers is None or number is None:
                raise DataError(f"'{operator}' compares numbers, but {value!r} or the column holds none.")
            return numbers >= number if operator == "at least" else numbers <= number
        if operator != "contains" and numbers is not None and number is not None:
            return numbers == number if operator == "is" else numbers != number
        texts = self._get_texts(column, rows)
        if operator == "contains":
            wanted = value.casefold()
            return np.array([wanted in text.casefold() for text in texts], dtype=bool)
        is_equal = np.array([text == value for text in texts], dtype=bool)
        return is_equal if operator == "is" else ~is_equal

    def _get_sort_keys(self, key: str, rows: Rows) -> npt.NDArray[np.float64]:
        numbers = self._get_numbers(key, rows)
        if numbers is not None:
            return numbers
        texts = self._get_texts(key, rows)
        ranks = {text: float(rank) for rank, text in enumerate(sorted(set(texts)))}
        return np.array([np.nan if text == "" else ranks[text] for text in texts], dtype=np.float64)

    def _get_numbers(self, key: str, rows: Rows) -> npt.NDArray[np.float64] | None:
        """Return a column as numbers; None if it holds something else."""
        if key == "id":
            return self.tests.ids[rows].astype(np.float64)
        if key == "origins":
            return np.where(self.tests.origins[rows, 0] == NO_ORIGIN, np.nan, self.tests.origins[rows, 0])
        if key.startswith("f") and key[1:].isdigit():
            position = int(key[1:])
            return self.tests.inputs.codes[rows, position] if self._get_feature(key).numeric else None
        if key == "output" and self.tests.outputs is not None and self.tests.outputs.values.dtype.kind in "iuf":
            return np.where(self.tests.outputs.ok[rows], self.tests.outputs.values[rows].astype(np.float64), np.nan)
        return None

    def _get_feature(self, key: str) -> Feature:
        position = int(key[1:])
        if position >= len(self.tests.space):
            raise DataError(f"There is no column {key!r} of the test set.")
        return self.tests.space.features[position]

    def _get_texts(self, key: str, rows: Rows) -> list[str]:
        """Return a column as text."""
        tests = self.tests
        if key == "id":
            return [str(number) for number in tests.ids[rows].tolist()]
        if key.startswith("f") and key[1:].isdigit():
            self._get_feature(key)
            return self._decode(rows, int(key[1:]))
        if key == "output":
            return self._format_outputs(rows)
        if key == "kind":
            return [CaseKind(kind).name.lower() for kind in tests.kinds[rows].tolist()]
        if key == "morphism":
            return [tests.morphisms[number] for number in tests.made_by[rows].tolist()]
        if key == "origins":
            return [
                ", ".join(str(origin) for origin in origins if origin != NO_ORIGIN)
                for origins in tests.origins[rows].tolist()
            ]
        if key.startswith("v") and key[1:].isdigit() and int(key[1:]) < len(self.judged_names):
            column = self._get_verdicts()[self.judged_names[int(key[1:])]]
            return [str(verdict) for verdict in column[rows].tolist()]
        raise DataError(f"There is no column {key[:60]!r} of the test set.")

    def _decode(self, rows: Rows, position: int) -> list[str]:
        from ..space.space import Space

        feature = self.tests.space.features[position]
        return decode_texts(Space([feature]), self.tests.inputs.codes[rows][:, [position]])[0]

    def _format_outputs(self, rows: Rows) -> list[str]:
        outputs = self.tests.outputs
        if outputs is None:
            return [""] * len(rows)
        return [
            to_text(value) if ok else NO_OUTPUT_TEXTS.get(Status(status), "")
            for value, ok, status in zip(
                outputs.values[rows].tolist(), outputs.ok[rows].tolist(), outputs.status[rows].tolist(), strict=True
            )
        ]

    def _get_verdicts(self) -> dict[str, Texts]:
        """Return the verdicts of the metamorphisms that were checked, on the cases as they are now."""
        if self._verdicts is None:
            try:
                verdicts = self._system.check(self.tests)
                self._verdicts = {
                    name: np.array([str(verdict) for verdict in verdicts[name]], dtype=object)
                    for name in self.judged_names
                }
            except Exception as error:  # code of the person; the table must not depend on it
                text = np.full(len(self.tests), format_error_line(error), dtype=object)
                self._verdicts = dict.fromkeys(self.judged_names, text)
        return self._verdicts

    # -- one case ------------------------------------------------------------------------------------------------------

    def describe_case(self, case_id: int) -> dict[str, Any]:
        """Return a case with all its inputs and what it was made from, down to the seed cases."""
        tests = self.tests
        ancestors = tests.lineage(case_id)
        row = tests.rows_of(np.array([case_id], dtype=np.int64))
        texts = decode_texts(tests.space, tests.inputs.take(row).codes)
        inputs = []
        for feature, column in zip(tests.space.features, texts, strict=True):
            is_choice = isinstance(feature, Categorical) and len(feature.values) <= MAX_CHOICES
            inputs.append(
                {
                    "name": str(feature.name),
                    "value": column[0],
                    "text": feature.describe(),
                    "choices": [to_text(value) for value in feature.values]
                    if is_choice and isinstance(feature, Categorical)
                    else None,
                }
            )
        message = "" if tests.outputs is None else tests.outputs.messages.get(int(row[0]), "")
        ancestor_rows = tests.rows_of(np.array(ancestors[:MAX_ANCESTORS], dtype=np.int64))
        known_rows = ancestor_rows[ancestor_rows >= 0]
        return {
            **self._format_rows(row)[0],
            "inputs": inputs,
            "message": message,
            "columns": self.columns,
            "ancestors": self._format_rows(known_rows),
            "ancestor_count": len(ancestors),
        }


def _read_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _cut(value: object) -> object:
    if isinstance(value, str) and len(value) > MAX_CELL_CHARACTERS:
        return f"{value[: MAX_CELL_CHARACTERS - 3]}..."
    return value
