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

from .._checks import is_number, positive, reject, short
from ..errors import ArgumentError
from ..outputs import Outputs
from ..space.features import Codes

Parts = npt.NDArray[np.intp]
FEW_LABELS = 32  # up to here, comparing with each label beats looking values up
CLOSE = 4096  # whole numbers in a range this wide are looked up in a table


class Codebook:
    """Labels and their codes, 0, 1, ... in the order in which they were met."""

    def __init__(self, labels: Iterable[Any] = ()) -> None:
        self.labels: list[Any] = list(labels)
        self._first, self._places, self._dense = 0, np.empty(0), False

    def read(self, outputs: Outputs) -> Codes:
        """Return the code of each answer, NaN for a row without one."""
        values, ok = outputs.values, outputs.ok
        if not len(values):
            return np.empty(0)
        if values.dtype.kind in "iu" and self._places.size:
            places = values.astype(np.int64, copy=False) - self._first
            if ok.all() and places.min() >= 0 and places.max() < self._places.size:
                codes = self._places[places]
                if self._dense or not np.isnan(codes).any():
                    return codes
        codes = np.full(len(values), np.nan)
        if len(self.labels) <= FEW_LABELS and not self._holds_tuples(values, ok):
            for code, label in enumerate(self.labels):
                codes[np.asarray(values == label, dtype=bool)] = code
            while (unknown := np.flatnonzero(np.isnan(codes) & ok)).size and len(self.labels) <= FEW_LABELS:
                label = values[unknown[0]]
                codes[np.asarray(values == label, dtype=bool)] = len(self.labels)
                self.labels.append(label.item() if isinstance(label, np.generic) else label)
            codes[~ok] = np.nan
            if not unknown.size:
                self._index()
                return codes
        known = {label: code for code, label in enumerate(self.labels)}
        for row in np.flatnonzero(ok):
            label = values[row].item() if isinstance(values[row], np.generic) else values[row]
            codes[row] = known.setdefault(label, len(known))
        self.labels = list(known)
        return codes

    def _holds_tuples(self, values: npt.NDArray[Any], ok: npt.NDArray[np.bool_]) -> bool:
        """Tell whether there are tuples, which NumPy would compare part by part."""
        if values.dtype != object:
            return False
        return any(type(label) is tuple for label in self.labels) or any(type(v) is tuple for v in values[ok])

    def _index(self) -> None:
        """Make a table of the codes of whole numbers, if the labels are such and lie close together."""
        numbers = [label for label in self.labels if type(label) is int]
        if numbers and len(numbers) == len(self.labels) and max(numbers) - min(numbers) < CLOSE:
            self._first = min(numbers)
            self._places = np.full(max(numbers) - self._first + 1, np.nan)
            self._places[np.array(numbers) - self._first] = np.arange(len(numbers))
            self._dense = not np.isnan(self._places).any()

    def label_of(self, codes: Codes) -> npt.NDArray[Any]:
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

    least = 0.0
    several = False
    name = "labels"
    value: float | None = None

    def __init__(self, labels: Iterable[Any] | None = ()) -> None:
        self.book = Codebook(labels or ())

    def read(self, outputs: Outputs) -> Codes:
        """Return answers as numbers, NaN where there is none."""
        return self.book.read(outputs)

    def gap(self, x: Codes, y: Codes, part: Parts) -> Codes:
        """Return how far answers are apart, 0 for the same; `part` tells which of several labels is meant."""
        return (x != y).astype(np.float64)

    def on_first_side(self, x: Codes, z: Codes, y: Codes, part: Parts) -> npt.NDArray[np.bool_]:
        """Tell where, of the two halves of a bracket, the border to keep lies in the first."""
        return x != z

    def parts(self, x: Codes, y: Codes) -> tuple[npt.NDArray[np.intp], Parts]:
        """Return the rows between whose answers a border lies, once for each border, and which one it is."""
        part = np.zeros(len(x), dtype=np.intp)
        with np.errstate(invalid="ignore"):
            rows = np.flatnonzero((self.gap(x, y, part) > self.least) & ~np.isnan(x) & ~np.isnan(y))
        return rows, part[rows]

    def answer(self, states: Codes) -> npt.NDArray[Any]:
        """Return what the system said, from the numbers it became."""
        return self.book.label_of(states)

    def sides(self, x: Codes, y: Codes, part: Parts) -> tuple[list[str], list[str]]:
        """Return names of the two sides of each border."""
        names = [str(label) for label in self.book.labels]
        return [names[int(i)] for i in x], [names[int(i)] for i in y]

    def describe(self) -> str:
        """Say what counts as a border."""
        return "two different labels"


class _Graded(Border):
    """A border whose gaps differ in size: of two halves the one with the larger gap is kept."""

    def on_first_side(self, x: Codes, z: Codes, y: Codes, part: Parts) -> npt.NDArray[np.bool_]:
        """Tell where the first half has the larger gap, or one as large."""
        return self.gap(x, z, part) >= self.gap(z, y, part)


class Hierarchy(_Graded):
    """Labels that are paths, ``"animal/bird/owl"``: the border that is kept parts them as near the root as possible."""

    name = "hierarchy"

    def gap(self, x: Codes, y: Codes, part: Parts) -> Codes:
        """Return 1 where the first names differ, 1/2 where the second do, ..., 0 for the same path."""
        paths = self._paths()
        differ = paths[x.astype(np.intp)] != paths[y.astype(np.intp)]
        return np.where(differ.any(axis=1), 1.0 / (1.0 + differ.argmax(axis=1)), 0.0)

    def depth(self, x: Codes, y: Codes) -> npt.NDArray[np.intp]:
        """Return at which name the paths part, 0 at the root."""
        return (np.round(1 / self.gap(x, y, np.zeros(len(x), dtype=np.intp))) - 1).astype(np.intp)

    def parts(self, x: Codes, y: Codes) -> tuple[npt.NDArray[np.intp], Parts]:
        """Return the rows whose paths part somewhere."""
        rows = np.flatnonzero((x != y) & ~np.isnan(x) & ~np.isnan(y))
        return rows, np.zeros(rows.size, dtype=np.intp)

    def _paths(self) -> npt.NDArray[np.intp]:
        """The label paths as a matrix of name codes, -1 below a leaf."""
        split = [str(label).split("/") for label in self.book.labels]
        names: dict[str, int] = {}
        paths = np.full((len(split), max(map(len, split), default=1)), -1, dtype=np.intp)
        for row, path in enumerate(split):
            paths[row, : len(path)] = [names.setdefault(name, len(names)) for name in path]
        return paths

    def describe(self) -> str:
        """Say what counts as a border."""
        return "two labels whose paths part, as near the root as possible"


class MultiLabel(_Graded):
    """Several labels at once: a border of its own for each of them."""

    name = "multilabel"
    several = True

    def read(self, outputs: Outputs) -> Codes:
        """Return the codes of the tuples."""
        codes = self.book.read(outputs)
        odd = next((label for label in self.book.labels if not isinstance(label, tuple)), None)
        if odd is not None:
            raise ArgumentError(
                f"Several labels at once are answered as a tuple or a row of values. The system answered {short(odd)!r}."
            )
        return codes

    def gap(self, x: Codes, y: Codes, part: Parts) -> Codes:
        """Return 1 where the label that is meant differs."""
        table = self._table()
        return (table[x.astype(np.intp), part] != table[y.astype(np.intp), part]).astype(np.float64)

    def parts(self, x: Codes, y: Codes) -> tuple[npt.NDArray[np.intp], Parts]:
        """Return each row once for each of its labels that differ."""
        known = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
        table = self._table()
        if not known.size:
            return known, known
        differ = table[x[known].astype(np.intp)] != table[y[known].astype(np.intp)]
        rows, part = np.nonzero(differ)
        return known[rows], part

    def sides(self, x: Codes, y: Codes, part: Parts) -> tuple[list[str], list[str]]:
        """Return the number of the label that changes and its two values."""
        labels = self.book.labels

        def told(codes: Codes) -> list[str]:
            both = zip((labels[int(i)] for i in codes), part.tolist(), strict=True)
            return [f"label {p}: {label[p] if p < len(label) else 'none'}" for label, p in both]

        return told(x), told(y)

    def _table(self) -> npt.NDArray[np.intp]:
        width = max((len(label) for label in self.book.labels), default=1)
        names: dict[Any, int] = {}
        table = np.full((len(self.book.labels), width), -1, dtype=np.intp)
        for row, label in enumerate(self.book.labels):
            table[row, : len(label)] = [names.setdefault(value, len(names)) for value in label]
        return table

    def describe(self) -> str:
        """Say what counts as a border."""
        return "one of several labels that changes, each with a border of its own"


class _Numeric(_Graded):
    """Answers that are numbers."""

    def read(self, outputs: Outputs) -> Codes:
        """Return the numbers themselves."""
        try:
            values = np.where(outputs.ok, outputs.values, np.nan).astype(np.float64)
        except (TypeError, ValueError):
            odd = outputs.values[np.flatnonzero(outputs.ok)[0]]
            raise ArgumentError(
                f"A threshold or a jump needs answers that are single numbers. The system answered {short(odd)}."
            ) from None
        return values

    def answer(self, states: Codes) -> npt.NDArray[Any]:
        """Return the numbers."""
        return states.copy()


class Threshold(_Numeric):
    """A regressor crosses a value."""

    name = "threshold"

    def __init__(self, value: float) -> None:
        super().__init__()
        if not is_number(value) or not np.isfinite(value):
            reject("threshold", "explore", "a finite number", value)
        self.value: float = float(value)

    def gap(self, x: Codes, y: Codes, part: Parts) -> Codes:
        """Return 1 where the two lie on different sides of the value."""
        return ((x > self.value) != (y > self.value)).astype(np.float64)

    def sides(self, x: Codes, y: Codes, part: Parts) -> tuple[list[str], list[str]]:
        """Return on which side each lies."""
        names = np.array([f"at most {self.value:.6g}", f"above {self.value:.6g}"])
        return names[(x > self.value).astype(int)].tolist(), names[(y > self.value).astype(int)].tolist()

    def describe(self) -> str:
        """Say what counts as a border."""
        return f"an answer above {self.value:.6g} beside one that is not"


class Jump(_Numeric):
    """A regressor's answer jumps by more than a tolerance between neighbours; slopes are no borders."""

    name = "jump"

    def __init__(self, tolerance: float) -> None:
        super().__init__()
        self.value = self.least = positive("jump", "explore", tolerance)

    def gap(self, x: Codes, y: Codes, part: Parts) -> Codes:
        """Return by how much the two differ."""
        with np.errstate(invalid="ignore"):  # two infinities of a sign differ by nothing
            return np.nan_to_num(np.abs(x - y), nan=0.0, posinf=np.inf)

    def sides(self, x: Codes, y: Codes, part: Parts) -> tuple[list[str], list[str]]:
        """Return which side is the lower one."""
        names = np.array(["lower", "higher"])
        return names[(x > y).astype(int)].tolist(), names[(y > x).astype(int)].tolist()

    def describe(self) -> str:
        """Say what counts as a border."""
        return f"answers that differ by more than {self.least:.6g} between neighbours"


class Undecided(Border):
    """Whatever the first answers turn out to be: labels, paths, several labels at once, or real numbers.

    Real numbers get a threshold, the median of the first answers: half of the inputs lie on either side of it.
    """

    def __init__(self, labels: Iterable[Any] | None = None, *, numbers: bool = False) -> None:
        super().__init__(labels)
        self._numbers = numbers
        self.chosen: Border | None = None
        self.remark = ""

    def read(self, outputs: Outputs) -> Codes:
        """Return answers as numbers; the first that are read decide of which kind they are."""
        if self.chosen is None and outputs.ok.any():
            self.chosen = self._decide(outputs.take(outputs.ok).values)
        return np.full(len(outputs), np.nan) if self.chosen is None else self.chosen.read(outputs)

    def _decide(self, values: npt.NDArray[Any]) -> Border:
        if values.dtype == object and any(isinstance(answer, tuple) for answer in values):
            return MultiLabel()
        known = self.book.labels
        if not self._numbers and known:
            return Hierarchy(known) if _are_paths(known) else Border(known)
        answers = values.tolist()
        if not self._numbers and not _are_real(answers):
            return Hierarchy() if _are_paths(answers) else Border()
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


def _are_real(answers: list[Any]) -> bool:
    """Tell whether answers are real numbers: not whole ones, and not the same few again and again."""
    if not all(type(answer) in (float, int) for answer in answers):
        return False
    different = set(answers)
    return any(answer != round(answer) for answer in different if math.isfinite(answer)) and len(different) > min(
        10, len(answers) // 4
    )


def _are_paths(labels: list[Any]) -> bool:
    return all(isinstance(label, str) and "/" in label.strip("/") for label in labels)


def border_named(kind: str, value: float | None = None) -> Border:
    """Return a border by its name, with its threshold or its least jump where it has one."""
    if kind in ("threshold", "jump"):
        return (Threshold if kind == "threshold" else Jump)(value if value is not None else math.nan)
    return {"labels": Border, "hierarchy": Hierarchy, "multilabel": MultiLabel}[kind]()
