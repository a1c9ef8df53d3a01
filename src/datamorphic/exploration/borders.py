"""Borders: which two answers count as different.

Answers become numbers once, when they are read: the code of a label, or the value of a regressor, and NaN where there
is no answer. Strategies compute with these numbers, and a `Border` measures the gap between two of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._text import format_short
from .._validation import is_number, reject, validate_positive
from ..errors import ArgumentError
from ..space.features import Codes, Mask
from ..space.outputs import Outputs
from .changes import Answers, Rows, to_python_value

MAX_COMPARED_LABELS = 32  # up to so many labels, comparing with each is faster than a dict
MAX_TABLE_RANGE = 4096  # integer labels in a range up to this wide are looked up in a table


class Codebook:
    """Labels and their codes: 0, 1, ... in order of appearance."""

    def __init__(self, labels: Iterable[Any] = ()) -> None:
        self.labels: list[Any] = list(labels)
        self._first, self._code_table, self._dense = 0, np.empty(0), False

    def read(self, outputs: Outputs) -> Codes:
        """Return the code of each answer; NaN for a row without an answer."""
        values, ok = outputs.values, outputs.ok
        if not len(values):
            return np.empty(0)
        if values.dtype.kind in "iu" and self._code_table.size:
            places = values.astype(np.int64, copy=False) - self._first
            if ok.all() and places.min() >= 0 and places.max() < self._code_table.size:
                codes = self._code_table[places]
                if self._dense or not np.isnan(codes).any():
                    return codes
        codes = np.full(len(values), np.nan)
        if len(self.labels) <= MAX_COMPARED_LABELS and not self._has_tuples(values, ok):
            for code, label in enumerate(self.labels):
                codes[np.asarray(values == label, dtype=bool)] = code
            while (unknown := np.flatnonzero(np.isnan(codes) & ok)).size and len(self.labels) <= MAX_COMPARED_LABELS:
                label = values[unknown[0]]
                codes[np.asarray(values == label, dtype=bool)] = len(self.labels)
                self.labels.append(to_python_value(label))
            codes[~ok] = np.nan
            if not unknown.size:
                self._build_code_table()
                return codes
        code_of_label = {label: code for code, label in enumerate(self.labels)}
        for row in np.flatnonzero(ok):
            codes[row] = code_of_label.setdefault(to_python_value(values[row]), len(code_of_label))
        self.labels = list(code_of_label)
        return codes

    def _has_tuples(self, values: Answers, ok: Mask) -> bool:
        """Return whether there are tuples, which NumPy would compare element by element."""
        if values.dtype != object:
            return False
        return any(type(label) is tuple for label in self.labels) or any(type(v) is tuple for v in values[ok])

    def _build_code_table(self) -> None:
        """Build a table of codes if all labels are integers in a small range."""
        numbers = [label for label in self.labels if type(label) is int]
        if numbers and len(numbers) == len(self.labels) and max(numbers) - min(numbers) < MAX_TABLE_RANGE:
            self._first = min(numbers)
            self._code_table = np.full(max(numbers) - self._first + 1, np.nan)
            self._code_table[np.array(numbers) - self._first] = np.arange(len(numbers))
            self._dense = not np.isnan(self._code_table).any()

    def decode(self, codes: Codes) -> Answers:
        """Return the labels that codes stand for."""
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = self.labels
        return labels[codes.astype(np.intp)]


class Border:
    """A border between any two different labels; subclasses define other borders."""

    min_gap = 0.0  # there is a border between two answers whose gap is larger than this
    has_several_parts = False  # whether there can be several borders between the same two cases, one per label
    name = "labels"  # of the kind, as in the settings of a front
    description = "two different labels"  # what counts as a border
    value: float | None = None  # the threshold, or the smallest jump, where the border has one

    def __init__(self, labels: Iterable[Any] | None = ()) -> None:
        self.codebook = Codebook(labels or ())

    def read(self, outputs: Outputs) -> Codes:
        """Return answers as numbers; NaN where there is no answer."""
        return self.codebook.read(outputs)

    def measure_gap(self, x: Codes, y: Codes, part: Rows) -> Codes:
        """Return the gap between answers, 0 for the same; `part` is the number of the label to compare."""
        return (x != y).astype(np.float64)

    def is_in_first_half(self, x: Codes, z: Codes, y: Codes, part: Rows) -> Mask:
        """Return where the border to keep is in the first half of a bracket from `x` over `z` to `y`."""
        return x != z

    def find_borders(self, x: Codes, y: Codes) -> tuple[Rows, Rows]:
        """Return the rows with a border between their answers, once per border, and the label that changes."""
        part = np.zeros(len(x), dtype=np.intp)
        with np.errstate(invalid="ignore"):
            rows = np.flatnonzero((self.measure_gap(x, y, part) > self.min_gap) & ~np.isnan(x) & ~np.isnan(y))
        return rows, part[rows]

    def to_answers(self, states: Codes) -> Answers:
        """Return the answers of the system that the numbers stand for."""
        return self.codebook.decode(states)

    def name_sides(self, x: Codes, y: Codes, part: Rows) -> tuple[list[str], list[str]]:
        """Return the names of the two sides of each border."""
        names = [str(label) for label in self.codebook.labels]
        return [names[int(i)] for i in x], [names[int(i)] for i in y]

    def is_like(self, other: Border) -> bool:
        """Return whether another border is of the same kind, with the same value to six digits."""
        return self.name == other.name and f"{self.value or 0:.6g}" == f"{other.value or 0:.6g}"


def _number_items(sequences: Sequence[Sequence[Any]]) -> Rows:
    """Return sequences as rows of a matrix, with a number per different item and -1 after the end."""
    numbers: dict[Any, int] = {}
    matrix = np.full((len(sequences), max(map(len, sequences), default=1)), -1, dtype=np.intp)
    for row, sequence in enumerate(sequences):
        matrix[row, : len(sequence)] = [numbers.setdefault(item, len(numbers)) for item in sequence]
    return matrix


class _GradedBorder(Border):
    """A border whose gaps differ in size: the half with the larger gap is kept."""

    def is_in_first_half(self, x: Codes, z: Codes, y: Codes, part: Rows) -> Mask:
        """Return where the gap of the first half is at least as large as that of the second."""
        return self.measure_gap(x, z, part) >= self.measure_gap(z, y, part)


class Hierarchy(_GradedBorder):
    """Labels that are paths, such as ``"animal/bird/owl"``: borders nearer to the root are preferred."""

    name = "hierarchy"
    description = "two labels whose paths part, as near the root as possible"

    def measure_gap(self, x: Codes, y: Codes, part: Rows) -> Codes:
        """Return 1 where the first names differ, 1/2 where the second names do, ..., 0 for the same path."""
        paths = _number_items([str(label).split("/") for label in self.codebook.labels])
        differ = paths[x.astype(np.intp)] != paths[y.astype(np.intp)]
        return np.where(differ.any(axis=1), 1.0 / (1.0 + differ.argmax(axis=1)), 0.0)

    def find_borders(self, x: Codes, y: Codes) -> tuple[Rows, Rows]:
        """Return the rows whose paths differ."""
        rows = np.flatnonzero((x != y) & ~np.isnan(x) & ~np.isnan(y))
        return rows, np.zeros(rows.size, dtype=np.intp)


class MultiLabel(_GradedBorder):
    """Several labels at once: each label has borders of its own."""

    name = "multilabel"
    description = "one of several labels that changes, each with a border of its own"
    has_several_parts = True

    def read(self, outputs: Outputs) -> Codes:
        """Return the codes of the tuples of labels."""
        codes = self.codebook.read(outputs)
        for label in self.codebook.labels:
            if not isinstance(label, tuple):
                answer = format_short(label)
                raise ArgumentError(
                    f"Several labels must be answered as a tuple or a row. The system answered {answer!r}."
                )
        return codes

    def measure_gap(self, x: Codes, y: Codes, part: Rows) -> Codes:
        """Return 1 where the label with the number `part` differs."""
        table = _number_items(self.codebook.labels)
        return (table[x.astype(np.intp), part] != table[y.astype(np.intp), part]).astype(np.float64)

    def find_borders(self, x: Codes, y: Codes) -> tuple[Rows, Rows]:
        """Return each row once per label that differs."""
        known_rows = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
        table = _number_items(self.codebook.labels)
        if not known_rows.size:
            return known_rows, known_rows
        differ = table[x[known_rows].astype(np.intp)] != table[y[known_rows].astype(np.intp)]
        rows, part = np.nonzero(differ)
        return known_rows[rows], part

    def name_sides(self, x: Codes, y: Codes, part: Rows) -> tuple[list[str], list[str]]:
        """Return the number of the label that changes, with its two values."""
        labels = self.codebook.labels

        def name_side(codes: Codes) -> list[str]:
            labels_and_parts = zip((labels[int(i)] for i in codes), part.tolist(), strict=True)
            return [f"label {p}: {label[p] if p < len(label) else 'none'}" for label, p in labels_and_parts]

        return name_side(x), name_side(y)


class _NumericBorder(_GradedBorder):
    """A border between numbers."""

    def read(self, outputs: Outputs) -> Codes:
        """Return the answers, which must be numbers."""
        try:
            return np.where(outputs.ok, outputs.values, np.nan).astype(np.float64)
        except (TypeError, ValueError):
            answer = format_short(outputs.values[outputs.ok][0])
            raise ArgumentError(f"A threshold or a jump needs single numbers. The system answered {answer}.") from None

    def to_answers(self, states: Codes) -> Answers:
        """Return a copy of the numbers."""
        return states.copy()


class Threshold(_NumericBorder):
    """The border where the answer of a regressor crosses a value."""

    name = "threshold"

    def __init__(self, value: float) -> None:
        super().__init__()
        if not is_number(value) or not np.isfinite(float(value)):
            reject("threshold", "explore", "a finite number", value)
        self.value: float = float(value)
        self.description = f"an answer above {self.value:.6g} beside one that is not"

    def measure_gap(self, x: Codes, y: Codes, part: Rows) -> Codes:
        """Return 1 where the two answers are on different sides of the value."""
        return ((x > self.value) != (y > self.value)).astype(np.float64)

    def name_sides(self, x: Codes, y: Codes, part: Rows) -> tuple[list[str], list[str]]:
        """Return the side of the value on which each answer is."""
        names = np.array([f"at most {self.value:.6g}", f"above {self.value:.6g}"])
        return names[(x > self.value).astype(int)].tolist(), names[(y > self.value).astype(int)].tolist()


class Jump(_NumericBorder):
    """The border where the answer of a regressor jumps by more than a tolerance between neighbours.

    A slope has no border, however steep.
    """

    name = "jump"

    def __init__(self, tolerance: float) -> None:
        super().__init__()
        self.value = self.min_gap = validate_positive("jump", "explore", tolerance)
        self.description = f"answers that differ by more than {self.min_gap:.6g} between neighbours"

    def measure_gap(self, x: Codes, y: Codes, part: Rows) -> Codes:
        """Return the absolute difference of the two answers."""
        with np.errstate(invalid="ignore"):  # inf - inf counts as no difference
            return np.nan_to_num(np.abs(x - y), nan=0.0, posinf=np.inf)

    def name_sides(self, x: Codes, y: Codes, part: Rows) -> tuple[list[str], list[str]]:
        """Return which of the two answers is the lower one."""
        names = np.array(["lower", "higher"])
        return names[(x > y).astype(int)].tolist(), names[(y > x).astype(int)].tolist()


class InferredBorder(Border):
    """A border inferred from the first answers: labels, paths, several labels at once, or real numbers.

    Real numbers get a threshold at the median of the first answers, with half of the inputs on either side.
    """

    def __init__(self, labels: Iterable[Any] | None = None, *, numbers: bool = False) -> None:
        super().__init__(labels)
        self._numeric = numbers
        self.inferred_border: Border | None = None
        self.remark = ""

    def read(self, outputs: Outputs) -> Codes:
        """Return answers as numbers; the first batch decides which border is used."""
        if self.inferred_border is None and outputs.ok.any():
            self.inferred_border = self._infer(outputs.take(outputs.ok).values)
        return np.full(len(outputs), np.nan) if self.inferred_border is None else self.inferred_border.read(outputs)

    def _infer(self, values: Answers) -> Border:
        if values.dtype == object and any(isinstance(answer, tuple) for answer in values):
            return MultiLabel()
        known_labels = self.codebook.labels
        if not self._numeric and known_labels:
            return Hierarchy(known_labels) if _has_only_paths(known_labels) else Border(known_labels)
        answers = values.tolist()
        if not self._numeric and not _is_real_valued(answers):
            return Hierarchy() if _has_only_paths(answers) else Border()
        numbers = np.array(answers, dtype=np.float64)
        middle = float(np.median(numbers))
        if (numbers <= middle).all():  # no answer would be above a median that is the largest answer
            middle = float(numbers[numbers < middle].max(initial=-np.inf))
            middle = middle if np.isfinite(middle) else float(numbers[0])
        self.remark = (
            f"The answers are real numbers: a border is where they cross {middle:.6g}, the median of the first answers. "
            "Give a threshold or a jump to look for other borders."
        )
        return Threshold(middle)


def _is_real_valued(answers: list[Any]) -> bool:
    """Return whether answers are real numbers: not all integers, and not just a few different values."""
    if not all(type(answer) in (float, int) for answer in answers):
        return False
    distinct = set(answers)
    has_fractions = any(answer != round(answer) for answer in distinct if math.isfinite(answer))
    return has_fractions and len(distinct) > min(10, len(answers) // 4)


def _has_only_paths(labels: list[Any]) -> bool:
    return all(isinstance(label, str) and "/" in label.strip("/") for label in labels)


def border_from_name(kind: str, value: float | None = None) -> Border:
    """Return the border of a name, with its threshold or smallest jump where it has one."""
    if kind in ("threshold", "jump"):
        return (Threshold if kind == "threshold" else Jump)(value if value is not None else math.nan)
    return {"labels": Border, "hierarchy": Hierarchy, "multilabel": MultiLabel}[kind]()


class SideIndex:
    """Number the two sides of borders by the values of their answers.

    1, 1.0 and True are the same side; "1" is a different one.
    """

    def __init__(self, border: Border) -> None:
        self.border = border
        self._numbers: dict[Any, int] = {}

    def number_sides(self, x: Codes, y: Codes, part: Rows) -> tuple[Rows, Rows]:
        """Return the numbers of the two sides of each border."""
        border = self.border
        if isinstance(border, Threshold):
            return (x > border.value).astype(np.intp), (y > border.value).astype(np.intp)
        if isinstance(border, Jump):
            return (x > y).astype(np.intp), (y > x).astype(np.intp)
        if isinstance(border, MultiLabel):
            return self._number_label_values(x, part), self._number_label_values(y, part)
        return x.astype(np.intp), y.astype(np.intp)

    def _number_label_values(self, codes: Codes, part: Rows) -> Rows:
        """Return a number for the value of the label that changes at each border."""
        labels = self.border.codebook.labels
        label_values = ((p, labels[int(i)][p : p + 1]) for i, p in zip(codes, part.tolist(), strict=True))
        numbers = self._numbers
        return np.array([numbers.setdefault(value, len(numbers)) for value in label_values], dtype=np.intp)

    def number_kinds(self, x: Codes, y: Codes, part: Rows) -> tuple[Rows, Mask]:
        """Return a number per unordered pair of sides, and where the two sides are in reverse order."""
        first_side, second_side = self.number_sides(x, y, part)
        low, high = np.minimum(first_side, second_side), np.maximum(first_side, second_side)
        return (low << 31) | high, first_side > second_side


def name_borders(kinds: Rows, names: Sequence[str], answer_pairs: Sequence[tuple[Any, Any]]) -> dict[int, str]:
    """Return a unique name for each kind of border.

    Where two kinds have the same name, as with the answers 1 and "1", the later one is named by `repr`.
    """
    _, first = np.unique(kinds, return_index=True)
    names_by_kind: dict[int, str] = {}
    for row in np.sort(first).tolist():
        name = names[row]
        if name in names_by_kind.values():
            name = " | ".join(sorted(repr(to_python_value(answer)) for answer in answer_pairs[row]))
        names_by_kind[int(kinds[row])] = name
    return names_by_kind
