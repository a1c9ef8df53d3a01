"""What counts as a border: how answers are told apart.

Answers become numbers once, when they are read: the code of a label, or the value itself of a regressor, and
NaN where there was no answer. Strategies compute with these, and a `Border` says how far apart two of them are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import format_short
from .._validation import is_number, reject, validate_positive
from ..errors import ArgumentError
from ..space.features import Codes
from ..space.outputs import Outputs

Parts = npt.NDArray[np.intp]
MAX_COMPARED_LABELS = 32  # up to here, comparing with each label beats looking values up
MAX_TABLE_RANGE = 4096  # whole numbers in a range this wide are looked up in a table


class Codebook:
    """Labels and their codes, 0, 1, ... in the order in which they were met."""

    def __init__(self, labels: Iterable[Any] = ()) -> None:
        self.labels: list[Any] = list(labels)
        self._first, self._code_table, self._dense = 0, np.empty(0), False

    def read(self, outputs: Outputs) -> Codes:
        """Return the code of each answer, NaN for a row without one."""
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
            while (unknown := np.flatnonzero(np.isnan(codes) & ok)).size and len(
                self.labels
            ) <= MAX_COMPARED_LABELS:
                label = values[unknown[0]]
                codes[np.asarray(values == label, dtype=bool)] = len(self.labels)
                self.labels.append(label.item() if isinstance(label, np.generic) else label)
            codes[~ok] = np.nan
            if not unknown.size:
                self._build_code_table()
                return codes
        code_of_label = {label: code for code, label in enumerate(self.labels)}
        for row in np.flatnonzero(ok):
            label = values[row].item() if isinstance(values[row], np.generic) else values[row]
            codes[row] = code_of_label.setdefault(label, len(code_of_label))
        self.labels = list(code_of_label)
        return codes

    def _has_tuples(self, values: npt.NDArray[Any], ok: npt.NDArray[np.bool_]) -> bool:
        """Tell whether there are tuples, which NumPy would compare part by part."""
        if values.dtype != object:
            return False
        return any(type(label) is tuple for label in self.labels) or any(type(v) is tuple for v in values[ok])

    def _build_code_table(self) -> None:
        """Make a table of the codes of whole numbers, if the labels are such and lie close together."""
        numbers = [label for label in self.labels if type(label) is int]
        if numbers and len(numbers) == len(self.labels) and max(numbers) - min(numbers) < MAX_TABLE_RANGE:
            self._first = min(numbers)
            self._code_table = np.full(max(numbers) - self._first + 1, np.nan)
            self._code_table[np.array(numbers) - self._first] = np.arange(len(numbers))
            self._dense = not np.isnan(self._code_table).any()

    def decode(self, codes: Codes) -> npt.NDArray[Any]:
        """Return the labels that codes stand for."""
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = self.labels
        return labels[codes.astype(np.intp)]


class Border:
    """A border between answers: any two different labels, unless a subclass says otherwise.

    Attributes
    ----------
    least : float
        Two answers are apart where their gap is larger than this.
    several : bool
        Whether one walk can meet several borders between the same two cases.
    value : float or None
        The threshold, or the least jump, where it has one.
    """

    min_gap = 0.0
    has_several_parts = False
    name = "labels"
    value: float | None = None

    def __init__(self, labels: Iterable[Any] | None = ()) -> None:
        self.codebook = Codebook(labels or ())

    def read(self, outputs: Outputs) -> Codes:
        """Return answers as numbers, NaN where there is none."""
        return self.codebook.read(outputs)

    def measure_gap(self, x: Codes, y: Codes, part: Parts) -> Codes:
        """Return how far answers are apart, 0 for the same; `part` tells which of several labels is meant."""
        return (x != y).astype(np.float64)

    def is_in_first_half(self, x: Codes, z: Codes, y: Codes, part: Parts) -> npt.NDArray[np.bool_]:
        """Tell where, of the two halves of a bracket, the border to keep lies in the first."""
        return x != z

    def find_borders(self, x: Codes, y: Codes) -> tuple[npt.NDArray[np.intp], Parts]:
        """Return the rows between whose answers a border lies, once for each border, and which one it is."""
        part = np.zeros(len(x), dtype=np.intp)
        with np.errstate(invalid="ignore"):
            rows = np.flatnonzero((self.measure_gap(x, y, part) > self.min_gap) & ~np.isnan(x) & ~np.isnan(y))
        return rows, part[rows]

    def to_answers(self, states: Codes) -> npt.NDArray[Any]:
        """Return what the system said, from the numbers it became."""
        return self.codebook.decode(states)

    def name_sides(self, x: Codes, y: Codes, part: Parts) -> tuple[list[str], list[str]]:
        """Return names of the two sides of each border."""
        names = [str(label) for label in self.codebook.labels]
        return [names[int(i)] for i in x], [names[int(i)] for i in y]

    def describe(self) -> str:
        """Say what counts as a border."""
        return "two different labels"


class _GradedBorder(Border):
    """A border whose gaps differ in size: of two halves the one with the larger gap is kept."""

    def is_in_first_half(self, x: Codes, z: Codes, y: Codes, part: Parts) -> npt.NDArray[np.bool_]:
        """Tell where the first half has the larger gap, or one as large."""
        return self.measure_gap(x, z, part) >= self.measure_gap(z, y, part)


class Hierarchy(_GradedBorder):
    """Labels that are paths, ``"animal/bird/owl"``: the border that is kept parts them as near the root as possible."""

    name = "hierarchy"

    def measure_gap(self, x: Codes, y: Codes, part: Parts) -> Codes:
        """Return 1 where the first names differ, 1/2 where the second do, ..., 0 for the same path."""
        paths = self._build_path_matrix()
        differ = paths[x.astype(np.intp)] != paths[y.astype(np.intp)]
        return np.where(differ.any(axis=1), 1.0 / (1.0 + differ.argmax(axis=1)), 0.0)

    def find_depth(self, x: Codes, y: Codes) -> npt.NDArray[np.intp]:
        """Return at which name the paths part, 0 at the root."""
        return (np.round(1 / self.measure_gap(x, y, np.zeros(len(x), dtype=np.intp))) - 1).astype(np.intp)

    def find_borders(self, x: Codes, y: Codes) -> tuple[npt.NDArray[np.intp], Parts]:
        """Return the rows whose paths part somewhere."""
        rows = np.flatnonzero((x != y) & ~np.isnan(x) & ~np.isnan(y))
        return rows, np.zeros(rows.size, dtype=np.intp)

    def _build_path_matrix(self) -> npt.NDArray[np.intp]:
        """The label paths as a matrix of name codes, -1 below a leaf."""
        split_labels = [str(label).split("/") for label in self.codebook.labels]
        names: dict[str, int] = {}
        paths = np.full((len(split_labels), max(map(len, split_labels), default=1)), -1, dtype=np.intp)
        for row, path in enumerate(split_labels):
            paths[row, : len(path)] = [names.setdefault(name, len(names)) for name in path]
        return paths

    def describe(self) -> str:
        """Say what counts as a border."""
        return "two labels whose paths part, as near the root as possible"


class MultiLabel(_GradedBorder):
    """Several labels at once: a border of its own for each of them."""

    name = "multilabel"
    has_several_parts = True

    def read(self, outputs: Outputs) -> Codes:
        """Return the codes of the tuples."""
        codes = self.codebook.read(outputs)
        odd_label = next((label for label in self.codebook.labels if not isinstance(label, tuple)), None)
        if odd_label is not None:
            raise ArgumentError(
                f"Several labels at once are answered as a tuple or a row of values. The system answered {format_short(odd_label)!r}."
            )
        return codes

    def measure_gap(self, x: Codes, y: Codes, part: Parts) -> Codes:
        """Return 1 where the label that is meant differs."""
        table = self._build_label_table()
        return (table[x.astype(np.intp), part] != table[y.astype(np.intp), part]).astype(np.float64)

    def find_borders(self, x: Codes, y: Codes) -> tuple[npt.NDArray[np.intp], Parts]:
        """Return each row once for each of its labels that differ."""
        known_rows = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
        table = self._build_label_table()
        if not known_rows.size:
            return known_rows, known_rows
        differ = table[x[known_rows].astype(np.intp)] != table[y[known_rows].astype(np.intp)]
        rows, part = np.nonzero(differ)
        return known_rows[rows], part

    def name_sides(self, x: Codes, y: Codes, part: Parts) -> tuple[list[str], list[str]]:
        """Return the number of the label that changes and its two values."""
        labels = self.codebook.labels

        def name_side(codes: Codes) -> list[str]:
            labels_and_parts = zip((labels[int(i)] for i in codes), part.tolist(), strict=True)
            return [f"label {p}: {label[p] if p < len(label) else 'none'}" for label, p in labels_and_parts]

        return name_side(x), name_side(y)

    def _build_label_table(self) -> npt.NDArray[np.intp]:
        width = max((len(label) for label in self.codebook.labels), default=1)
        names: dict[Any, int] = {}
        table = np.full((len(self.codebook.labels), width), -1, dtype=np.intp)
        for row, label in enumerate(self.codebook.labels):
            table[row, : len(label)] = [names.setdefault(value, len(names)) for value in label]
        return table

    def describe(self) -> str:
        """Say what counts as a border."""
        return "one of several labels that changes, each with a border of its own"


class _NumericBorder(_GradedBorder):
    """Answers that are numbers."""

    def read(self, outputs: Outputs) -> Codes:
        """Return the numbers themselves."""
        try:
            values = np.where(outputs.ok, outputs.values, np.nan).astype(np.float64)
        except (TypeError, ValueError):
            odd_answer = outputs.values[np.flatnonzero(outputs.ok)[0]]
            raise ArgumentError(
                f"A threshold or a jump needs answers that are single numbers. The system answered {format_short(odd_answer)}."
            ) from None
        return values

    def to_answers(self, states: Codes) -> npt.NDArray[Any]:
        """Return the numbers."""
        return states.copy()


class Threshold(_NumericBorder):
    """A regressor crosses a value."""

    name = "threshold"

    def __init__(self, value: float) -> None:
        super().__init__()
        if not is_number(value) or not np.isfinite(value):
            reject("threshold", "explore", "a finite number", value)
        self.value: float = float(value)

    def measure_gap(self, x: Codes, y: Codes, part: Parts) -> Codes:
        """Return 1 where the two lie on different sides of the value."""
        return ((x > self.value) != (y > self.value)).astype(np.float64)

    def name_sides(self, x: Codes, y: Codes, part: Parts) -> tuple[list[str], list[str]]:
        """Return on which side each lies."""
        names = np.array([f"at most {self.value:.6g}", f"above {self.value:.6g}"])
        return names[(x > self.value).astype(int)].tolist(), names[(y > self.value).astype(int)].tolist()

    def describe(self) -> str:
        """Say what counts as a border."""
        return f"an answer above {self.value:.6g} beside one that is not"


class Jump(_NumericBorder):
    """A regressor's answer jumps by more than a tolerance between neighbours; slopes are no borders."""

    name = "jump"

    def __init__(self, tolerance: float) -> None:
        super().__init__()
        self.value = self.min_gap = validate_positive("jump", "explore", tolerance)

    def measure_gap(self, x: Codes, y: Codes, part: Parts) -> Codes:
        """Return by how much the two differ."""
        with np.errstate(invalid="ignore"):  # two infinities of a sign differ by nothing
            return np.nan_to_num(np.abs(x - y), nan=0.0, posinf=np.inf)

    def name_sides(self, x: Codes, y: Codes, part: Parts) -> tuple[list[str], list[str]]:
        """Return which side is the lower one."""
        names = np.array(["lower", "higher"])
        return names[(x > y).astype(int)].tolist(), names[(y > x).astype(int)].tolist()

    def describe(self) -> str:
        """Say what counts as a border."""
        return f"answers that differ by more than {self.min_gap:.6g} between neighbours"


class InferredBorder(Border):
    """Whatever the first answers turn out to be: labels, paths, several labels at once, or real numbers.

    Real numbers get a threshold, the median of the first answers: half of the inputs lie on either side of it.
    """

    def __init__(self, labels: Iterable[Any] | None = None, *, numbers: bool = False) -> None:
        super().__init__(labels)
        self._numeric = numbers
        self.inferred_border: Border | None = None
        self.remark = ""

    def read(self, outputs: Outputs) -> Codes:
        """Return answers as numbers; the first that are read decide of which kind they are."""
        if self.inferred_border is None and outputs.ok.any():
            self.inferred_border = self._infer(outputs.take(outputs.ok).values)
        return (
            np.full(len(outputs), np.nan) if self.inferred_border is None else self.inferred_border.read(outputs)
        )

    def _infer(self, values: npt.NDArray[Any]) -> Border:
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
        if (numbers <= middle).all():  # the median is the largest answer: nothing would lie above it
            middle = float(numbers[numbers < middle].max(initial=-np.inf))
            middle = middle if np.isfinite(middle) else float(numbers[0])
        self.remark = (
            f"The answers are real numbers: a border is where they cross {middle:.6g}, the middle one of the first. "
            "Give a threshold or a jump to look for others."
        )
        return Threshold(middle)


def _is_real_valued(answers: list[Any]) -> bool:
    """Tell whether answers are real numbers: not whole ones, and not the same few again and again."""
    if not all(type(answer) in (float, int) for answer in answers):
        return False
    distinct = set(answers)
    return any(answer != round(answer) for answer in distinct if math.isfinite(answer)) and len(distinct) > min(
        10, len(answers) // 4
    )


def _has_only_paths(labels: list[Any]) -> bool:
    return all(isinstance(label, str) and "/" in label.strip("/") for label in labels)


def border_from_name(kind: str, value: float | None = None) -> Border:
    """Return a border by its name, with its threshold or its least jump where it has one."""
    if kind in ("threshold", "jump"):
        return (Threshold if kind == "threshold" else Jump)(value if value is not None else math.nan)
    return {"labels": Border, "hierarchy": Hierarchy, "multilabel": MultiLabel}[kind]()
