"""Random training data of many kinds, as real data are: the default of `dm.check`.

The kinds follow real tables and the equivalence classes of Herbold & Haar (2022): numbers of any scale, whole numbers with many ties,
gaps, constant and nearly constant columns, copied rows, a single row, rare classes, labels that are text or numbers, and
categories that do not occur in training. How often each kind is drawn is a constant below, and `describe_mixed_data` states it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._text import format_percent, pluralise
from ...space.labels import to_object_array
from ...systems.training import Array, Floats, Training
from ...systems.traits import LearnerTraits
from .sampling import MAX_TRAINING_ROWS, MIN_ROW_LIMIT, RANDOM_VALUE_HIGH, RANDOM_VALUE_LOW

CASES_PER_MIXED_SET = 5
SINGLE_ROW_SHARE = 0.02
MAX_ATTRIBUTES = 6
COPIED_ROWS_SHARE = 0.2  # of training sets in which some rows occur twice, some of them with another label
MISSING_SHARE = 0.4  # of training sets with gaps, for learners that accept them
MISSING_CELLS_SHARE = (0.02, 0.4)  # of the cells of a column with gaps
MISSING_COLUMN_SHARE = 0.6  # of the columns that have gaps, in a training set with gaps
CONSTANT_SHARE = 0.1  # of training sets with a constant column
NEARLY_CONSTANT_SHARE = 0.1  # of training sets with a column that differs in one row only
CATEGORIES_SHARE = 0.2  # of training sets with a column of categories, for learners that accept them
LEARNABLE_SHARE = 0.5  # of training sets whose labels depend on the attributes; the others are random
RARE_CLASS_SHARE = 0.15  # of training sets in which one class has a single row
SCALE_EXPONENTS = (-6, 6)  # of the powers of ten by which columns of any scale are multiplied
CATEGORIES = ("red", "green", "blue", "grey")
TEXT_LABELS = ("L0", "L1", "L2", "L3", "L4")
CLASS_COUNT_SHARES = {2: 0.4, 3: 0.5, 5: 0.1}

Rng = np.random.Generator


def _draw_uniform(rng: Rng, shape: tuple[int, int]) -> Floats:
    return rng.uniform(RANDOM_VALUE_LOW, RANDOM_VALUE_HIGH, shape)


def _draw_whole_numbers(rng: Rng, shape: tuple[int, int]) -> Floats:
    return rng.integers(0, rng.integers(2, 8), shape).astype(np.float64)


def _draw_normal(rng: Rng, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape)


def _draw_any_scale(rng: Rng, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape) * 10.0 ** rng.uniform(*SCALE_EXPONENTS, shape[1])


VALUE_KINDS: dict[str, tuple[float, Callable[[Rng, tuple[int, int]], Floats]]] = {
    f"numbers from {RANDOM_VALUE_LOW:g} to {RANDOM_VALUE_HIGH:g}": (0.35, _draw_uniform),
    "whole numbers": (0.3, _draw_whole_numbers),
    "normally distributed numbers": (0.2, _draw_normal),
    "columns of scales from 1e-6 to 1e6": (0.15, _draw_any_scale),
}


@dataclass(frozen=True, kw_only=True)
class DataForm:
    """The form of random training data that a learner answers."""

    framed: bool = False
    text_labels: bool = True
    number_labels: bool = True
    categories: bool = False


@dataclass(frozen=True, kw_only=True)
class MixedSampler:
    """Draws training sets of many kinds for a learner with given traits."""

    traits: LearnerTraits
    form: DataForm = DataForm()
    max_rows: int = MAX_TRAINING_ROWS

    def __call__(self, rng: Rng, cases: int = CASES_PER_MIXED_SET) -> Training:
        """Return one training set with at most `cases` test cases."""
        limit = int(rng.integers(min(MIN_ROW_LIMIT, self.max_rows), self.max_rows + 1))
        rows = 1 if rng.random() < SINGLE_ROW_SHARE else int(rng.integers(1, limit + 1))
        numbers = self._draw_numbers(rng, rows, cases)
        target = self._draw_target(rng, numbers, rows)
        numbers, target = self._copy_rows(rng, numbers, target, rows)
        numbers = self._remove_cells(rng, numbers)
        labels = tuple(np.unique(target).tolist()) if target.dtype.kind in "Ui" else None
        numbers.flags.writeable = False  # a relation that writes to its data would change them for other relations
        has_categories = self.form.categories and rng.random() < CATEGORIES_SHARE
        if not self.form.framed and not has_categories:
            return Training(numbers[:rows], target, numbers[rows:], labels)
        x = pd.DataFrame(numbers, columns=[f"a{place}" for place in range(numbers.shape[1])])
        if has_categories:
            x["colour"] = pd.Categorical(_draw_categories(rng, rows, cases), categories=CATEGORIES)
        return Training(x.iloc[:rows], target, x.iloc[rows:].reset_index(drop=True), labels)

    def _draw_numbers(self, rng: Rng, rows: int, cases: int) -> Floats:
        shares, drawers = zip(*VALUE_KINDS.values(), strict=True)
        width = 1 if self.traits.one_column else int(rng.integers(1, MAX_ATTRIBUTES + 1))
        numbers = drawers[rng.choice(len(drawers), p=shares)](rng, (rows + cases, width))
        if rng.random() < CONSTANT_SHARE:
            numbers[:, rng.integers(width)] = numbers[0, 0]
        if rng.random() < NEARLY_CONSTANT_SHARE:
            column = rng.integers(width)
            others = np.arange(len(numbers)) != rng.integers(rows)
            numbers[others, column] = numbers[0, column]
        return np.abs(numbers) if self.traits.positive_inputs else numbers

    def _draw_target(self, rng: Rng, numbers: Floats, rows: int) -> Array:
        """Return labels of text or numbers, or numbers to predict; some depend on the attributes, some on nothing."""
        x = numbers[:rows]
        spread = x.std(axis=0)
        scaled = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
        if self.traits.kind == "regressor":
            y = scaled @ rng.normal(size=x.shape[1]) if rng.random() < LEARNABLE_SHARE else np.zeros(rows)
            y = 10 * y + rng.normal(size=rows) * rng.choice([0.1, 5])
            y = np.round(y) if rng.random() < 0.3 else y
            return np.abs(y) + 1 if self.traits.positive_targets else y
        counts, shares = zip(*CLASS_COUNT_SHARES.items(), strict=True)
        count = 2 if self.traits.two_classes else int(rng.choice(counts, p=shares))
        if rng.random() < LEARNABLE_SHARE:
            codes = np.argmax(
                scaled @ rng.normal(size=(x.shape[1], count)) + 0.3 * rng.normal(size=(rows, count)), axis=1
            )
        else:
            codes = rng.integers(count, size=rows)
        if rows > 2 and rng.random() < RARE_CLASS_SHARE:
            codes[codes == 0] = 1
            codes[rng.integers(rows)] = 0
        codes = np.unique(codes, return_inverse=True)[1]
        as_text = self.form.text_labels and (not self.form.number_labels or rng.random() < 0.5)
        return np.array(TEXT_LABELS)[codes] if as_text else codes.astype(np.int64)

    def _copy_rows(self, rng: Rng, numbers: Floats, target: Array, rows: int) -> tuple[Floats, Array]:
        """Replace some rows by copies of others; some keep the label of their original, some their own."""
        if rows > 1 and rng.random() < COPIED_ROWS_SHARE:
            replaced_rows = rng.permutation(rows)[: int(rng.integers(1, rows))]
            originals = rng.integers(rows, size=len(replaced_rows))
            numbers[replaced_rows] = numbers[originals]
            if rng.random() < 0.5:
                copied = target.copy()
                copied[replaced_rows] = target[originals]
                target = _number_classes(copied)
        return numbers, target

    def _remove_cells(self, rng: Rng, numbers: Floats) -> Floats:
        if not self.traits.accepts_missing or rng.random() >= MISSING_SHARE:
            return numbers
        columns = np.asarray(rng.random(numbers.shape[1]) < MISSING_COLUMN_SHARE)
        columns[rng.integers(len(columns))] = True
        shares = np.where(columns, rng.uniform(*MISSING_CELLS_SHARE, len(columns)), 0)
        return np.where(rng.random(numbers.shape) < shares, np.nan, numbers)


def _number_classes(target: Array) -> Array:
    """Return whole-number labels without gaps, since some learners accept no others; other labels as they are."""
    return np.unique(target, return_inverse=True)[1].astype(np.int64) if target.dtype.kind == "i" else target


def _draw_categories(rng: Rng, rows: int, cases: int) -> Array:
    """Return categories of which the last one occurs in test cases only."""
    return to_object_array(
        [CATEGORIES[code] for code in rng.integers(len(CATEGORIES) - 1, size=rows)]
        + [CATEGORIES[code] for code in rng.integers(len(CATEGORIES), size=cases)]
    )


def draw_trial(form: DataForm, traits: LearnerTraits) -> Training:
    """Return a plain training set of one form, on which a learner shows whether it accepts this form."""
    rng = np.random.default_rng(0)
    x = rng.uniform(RANDOM_VALUE_LOW, RANDOM_VALUE_HIGH, (MAX_TRAINING_ROWS + 1, 1 if traits.one_column else 3))
    codes = rng.permutation(np.arange(MAX_TRAINING_ROWS) % (2 if traits.two_classes else 3))
    y: Any = np.array(TEXT_LABELS)[codes] if form.text_labels else codes
    if traits.kind == "regressor":
        y = x[:-1, 0] + rng.uniform(0, 1, MAX_TRAINING_ROWS) - (0 if traits.positive_targets else 10)
    if not form.framed and not form.categories:
        return Training(x[:-1], y, x[-1:])
    frame = pd.DataFrame(x, columns=[f"a{place}" for place in range(x.shape[1])])
    if form.categories:
        frame["colour"] = pd.Categorical(_draw_categories(rng, MAX_TRAINING_ROWS, 1), categories=CATEGORIES)
    return Training(frame.iloc[:-1], y, frame.iloc[-1:])


def describe_mixed_data(sampler: MixedSampler) -> str:
    """Return what a sampler draws, with the share of each kind."""
    traits, form = sampler.traits, sampler.form
    values = ", ".join(f"{name} {share:.0%}" for name, (share, _) in VALUE_KINDS.items())
    extras = [
        ("missing values", MISSING_SHARE if traits.accepts_missing else 0),
        ("copied rows", COPIED_ROWS_SHARE),
        ("a constant column", CONSTANT_SHARE),
        ("a nearly constant column", NEARLY_CONSTANT_SHARE),
        ("categories, some unseen in training", CATEGORIES_SHARE if form.categories else 0),
        ("a single row", SINGLE_ROW_SHARE),
    ]
    if traits.kind != "regressor":
        extras.append(("a class with one row", RARE_CLASS_SHARE))
        kinds = [
            kind for kind, accepted in (("text", form.text_labels), ("whole numbers", form.number_labels)) if accepted
        ]
        target = f"labels are {' or '.join(kinds)}"
    else:
        target = "targets are numbers"
    parts = ", ".join(f"{name} {format_percent(share)}" for name, share in extras if share)
    return (
        f"random data of many kinds: up to {pluralise(sampler.max_rows, 'training row')} of 1 to {MAX_ATTRIBUTES} attributes "
        f"({values}); with {parts}; {target}, {LEARNABLE_SHARE:.0%} of them depend on the attributes"
    )
