"""Signs, in the data alone, that a column is recorded after the label: its name, when it is filled, its words, its independence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...._stats import compute_wilson_interval
from ....space.features import Categorical, Feature, Integer
from ....space.text_feature import Text
from ...case_text import format_label
from ...columns import read_words, split_name
from .rows import LabelledRows
from .skills import Skills, measure_skills

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

MIN_PRESENT_ROWS = 20  # in each half of the rows
MIN_PURITY = 0.9  # of the rows in which a column is filled that have one label, at the lower end of the interval
MIN_PURITY_DIFFERENCE = (
    0.3  # to the share of that label where the column is not filled, at the nearer ends of the intervals
)
MIN_ABSENT_SHARE = 0.05  # of rows in which a column is not filled; with fewer, "filled" says nothing
MIN_ZERO_COVERAGE = 0.5  # of the rows of the label, where "not filled" means zero rather than missing
MAX_CATEGORIES = 20  # of a column that are looked at, the most frequent ones
MIN_AMOUNTS = 5  # different values other than zero: a column with fewer is a code, of which zero is one
MIN_WORD_COVERAGE = 0.2  # of the texts of the label that have a word
MIN_DIFFERENT_TEXTS = 8
MIN_WORD_LIFT = 0.4
MAX_RIVAL_SHARE = 0.4  # of the lift of the best word that any other word reaches

MIN_ROWS_WITHIN_CLASS = 100
MAX_DEPENDENCE_OF_LEAK = 0.03  # the share of its variance, within a class, that any other column explains
MIN_DEPENDENCE_OF_OTHERS = 0.1  # the same of the strongest other columns: features of real things go together
MIN_SKILL_OF_OTHERS = 0.03
MAX_VALUES_OF_COPY = 30
MIN_ROWS_PER_CODE = 5
MAX_SPOILT_SHARE, MAX_SPOILT_SHARE_OF_CODES = 0.02, 0.1  # of the rows, whose value goes with several labels
MIN_SHARE_OF_COPY, MIN_SHARE_OF_CODES = 0.8, 0.65  # of the rows with a value that have the same label
COMPARED_COLUMNS = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelWord:
    """A word in texts that goes with a label."""

    word: str
    label: int
    count: int  # texts with the word and the label
    total: int  # texts with the word
    is_pure: bool  # whether it occurs in many texts of the label, and in hardly any other
    lift: float  # the share of the texts of the label that have it, minus that of other texts
    rows: frozenset[int]
    is_alone: bool = False  # whether no other word tells nearly as much, as words about a topic would


@dataclass(frozen=True, eq=False, kw_only=True)
class Presence:
    """A column that is filled, missing, or has a value for one label only."""

    column: int
    label: int
    filled: str  # how a title says it: "filled", "other than zero", "missing", "'agency'"
    count: int  # rows with the label among the filled ones
    total: int  # filled rows
    absent_count: int  # rows with the label among the others
    absent_total: int
    others: str  # the rest of the rows, in the same way: "missing", "zero or missing", "filled", "another value"
    is_value: bool = False  # whether it is one value among others, which many features of real things have
    mask: Mask  # of the rows in question
    coverage: float  # the share of the rows of the label that are in the state


def find_outcome_word(name: str) -> str:
    """Return the word in the name of a column that says it is known only afterwards; empty if there is none.

    Examples
    --------
    >>> find_outcome_word("final_status"), find_outcome_word("next_month_balance"), find_outcome_word("income")
    ('final status', 'next', '')
    >>> find_outcome_word("previous_outcome"), find_outcome_word("closed_accounts_before"), find_outcome_word("refundAmount")
    ('', '', 'refund')
    """
    words = split_name(name)
    table = read_words()
    if set(words).intersection(table.words_of_the_past):
        return ""
    padded = f" {' '.join(words)} "
    return next((phrase for phrase in table.outcome_words if f" {phrase} " in padded), "")


def find_presences(rows: LabelledRows, features: Sequence[Feature], columns: Sequence[int]) -> list[Presence]:
    """Return the columns that are filled, missing, or have a value for one label only, in both halves of the rows."""
    if rows.numbers:
        return []
    halves = np.arange(len(rows.labels)) % 2 == 0
    presences = []
    for column in columns:
        for state in _find_states(features[column], rows.codes[:, column]):
            presence = _judge_presence(rows, column, state, halves)
            if presence is not None:
                presences.append(presence)
                break
    return presences


@dataclass(frozen=True, eq=False, kw_only=True)
class _State:
    """A state of a column that rows are in or not."""

    text: str
    others: str
    mask: Mask
    min_coverage: float = 0.0  # of the rows of the label that must be in it
    is_value: bool = False


def _find_states(feature: Feature, values: Floats) -> list[_State]:
    missing = np.isnan(values)
    states = [
        _State(text="filled", others="missing", mask=~missing),
        _State(text="missing", others="filled", mask=missing),
    ]
    if isinstance(feature, Categorical):
        words = read_words().words_for_nothing
        empty = [place for place, value in enumerate(feature.values) if str(value).strip().lower() in words]
        if empty and len(empty) < len(feature.values):
            states.append(_State(text="filled", others="empty", mask=~missing & ~np.isin(values, empty)))
        counts = np.bincount(values[~missing].astype(np.intp), minlength=1)
        for code in np.argsort(-counts, kind="stable")[:MAX_CATEGORIES].tolist():
            if counts[code] >= 2 * MIN_PRESENT_ROWS:
                text = format_label(feature.values[code])
                states.append(_State(text=text, others="another value", mask=values == code, is_value=True))
    elif feature.numeric and len(np.unique(values[~missing & (values != 0)])) >= MIN_AMOUNTS:
        mask = ~missing & (values != 0)
        states.append(
            _State(text="other than zero", others="zero or missing", mask=mask, min_coverage=MIN_ZERO_COVERAGE)
        )
    return states


def _judge_presence(rows: LabelledRows, column: int, state: _State, halves: Mask) -> Presence | None:
    mask = state.mask
    present, absent = int(mask.sum()), int((~mask).sum())
    if min(int((mask & halves).sum()), int((mask & ~halves).sum())) < MIN_PRESENT_ROWS:
        return None
    if absent < MIN_ABSENT_SHARE * len(mask):
        return None
    label = int(np.bincount(rows.labels[mask & halves], minlength=len(rows.classes)).argmax())  # sought on one half
    has_label = rows.labels == label
    differences = []
    for half in (halves, ~halves):  # and confirmed on the other
        inside, outside = mask & half, ~mask & half
        low, _ = compute_wilson_interval(int((inside & has_label).sum()), int(inside.sum()))
        _, high = compute_wilson_interval(int((outside & has_label).sum()), int(outside.sum()))
        differences.append(low - high)
    count = int((mask & has_label).sum())
    purity_low, _ = compute_wilson_interval(count, present)
    if purity_low < MIN_PURITY or min(differences) < MIN_PURITY_DIFFERENCE:
        return None
    if count < state.min_coverage * has_label.sum():
        return None
    return Presence(
        column=column,
        label=label,
        filled=state.text,
        count=count,
        total=present,
        absent_count=int((~mask & has_label).sum()),
        absent_total=absent,
        others=state.others,
        is_value=state.is_value,
        mask=mask,
        coverage=count / max(1, int(has_label.sum())),
    )


def measure_presence_independence(
    rows: LabelledRows, features: Sequence[Feature], skills: Skills, presence: Presence, seed: int
) -> float | None:
    """Return how much other columns explain of the state of a column, within the label; None if that says nothing."""
    marked = LabelledRows(positions=rows.positions, codes=rows.codes.copy(), labels=rows.labels, classes=rows.classes)
    marked.codes[:, presence.column] = presence.mask
    binary = [
        Integer("mark", 0, 1) if column == presence.column else feature for column, feature in enumerate(features)
    ]
    return measure_independence(marked, binary, skills, list(skills.columns).index(presence.column), seed)


def find_label_value(rows: LabelledRows, feature: Feature, column: int) -> str:
    """Return a value of a column that says the label in words and occurs with this label only; empty if there is none."""
    if rows.numbers or not isinstance(feature, Categorical):
        return ""
    values = rows.codes[:, column]
    for label, name in enumerate(rows.classes):
        words = split_name(name)
        if not words or len("".join(words)) < 4:
            continue  # 0 and 1, yes and no, a and b: they say nothing alone
        for code, value in enumerate(feature.values):
            inside = values == code
            if isinstance(value, str) and f" {' '.join(words)} " in f" {' '.join(split_name(value))} ":
                low, _ = compute_wilson_interval(int((rows.labels[inside] == label).sum()), int(inside.sum()))
                if low >= MIN_PURITY:
                    return format_label(value)
    return ""


def measure_independence(
    rows: LabelledRows, features: Sequence[Feature], skills: Skills, place: int, seed: int
) -> float | None:
    """Return how much of a column other columns explain within the classes; None if that says nothing.

    What is derived from the label and noise has nothing to do with other columns, as soon as the label is known. Features of
    real things go together within a class, too. The figure is the largest share of the variance that one other column explains
    in one class. It says something only if the strongest other columns know something of the label, and do go together.
    """
    if rows.numbers:
        return None
    columns = list(skills.columns)
    values = skills.values
    others = [
        other for other in np.argsort(-values).tolist() if other != place and values[other] >= MIN_SKILL_OF_OTHERS
    ]
    if len(others) < 2:
        return None
    weakest = {other for other in range(len(columns)) if other not in others[:COMPARED_COLUMNS]}
    first = _measure_dependence(rows, features, columns, place, weakest, seed)
    if first is None or first > MAX_DEPENDENCE_OF_LEAK:
        return first
    dependences = [
        _measure_dependence(rows, features, columns, other, {place}, seed) for other in others[:COMPARED_COLUMNS]
    ]
    known = [dependence for dependence in dependences if dependence is not None]
    if not known or float(np.median(known)) < MIN_DEPENDENCE_OF_OTHERS:
        return None
    return _measure_dependence(rows, features, columns, place, set(), seed)


def _measure_dependence(
    rows: LabelledRows, features: Sequence[Feature], columns: Sequence[int], place: int, excluded: set[int], seed: int
) -> float | None:
    column = columns[place]
    others = [other for number, other in enumerate(columns) if number not in {place, *excluded}]
    is_category = [isinstance(feature, Categorical) for feature in features]
    largest: list[float] = []
    for label in range(len(rows.classes)):
        inside = rows.labels == label
        values = rows.codes[inside, column]
        distinct, inverse = np.unique(values, return_inverse=True)
        if len(values) < MIN_ROWS_WITHIN_CLASS or len(distinct) < 2:
            continue
        if is_category[column]:
            targets = (inverse.reshape(-1)[:, None] == np.arange(min(len(distinct), 8))).astype(np.float64)
        else:
            targets = (np.cumsum(np.bincount(inverse.reshape(-1)))[inverse.reshape(-1)] / len(values))[:, None]
        skills = measure_skills(rows.codes[inside], targets, others, is_category, seed)
        largest.append(float(skills.values.max()) if others else 0.0)
    return max(largest) if largest else None


def has_two_levels(rows: LabelledRows, column: int, is_code: bool) -> bool:
    """Tell whether nearly all rows with a value of a column have the same label, for nearly all of its values.

    Numbers must have few values: along a number, a label that goes with it changes gradually or once. Codes need some rows each.
    """
    values = rows.codes[:, column]
    distinct, inverse = np.unique(values, return_inverse=True)
    limit = len(values) / MIN_ROWS_PER_CODE if is_code else MAX_VALUES_OF_COPY
    if rows.numbers or len(distinct) > limit:
        return False
    table = np.zeros((len(distinct), len(rows.classes)))
    np.add.at(table, (inverse.reshape(-1), rows.labels), 1)
    least = MIN_SHARE_OF_CODES if is_code else MIN_SHARE_OF_COPY
    spoilt = table[table.max(axis=1) < least * table.sum(axis=1)].sum()
    return bool(spoilt <= (MAX_SPOILT_SHARE_OF_CODES if is_code else MAX_SPOILT_SHARE) * len(values))


def _read_texts(feature: Feature, codes: Floats) -> list[str]:
    """Return the texts of a column, or categories of several words; empty if it has none."""
    if isinstance(feature, Text):
        return [text or "" for text in feature.decode_texts(codes)]
    if not isinstance(feature, Categorical) or len(feature.values) < MIN_DIFFERENT_TEXTS:
        return []
    values = [value if isinstance(value, str) else "" for value in feature.values]
    if sum(len(split_name(value)) > 1 for value in values) < len(values) / 2:
        return []
    return ["" if np.isnan(code) else values[int(code)] for code in codes.tolist()]


def find_label_word_of_texts(rows: LabelledRows, feature: Feature, column: int) -> LabelWord | None:
    """Return the word that tells most among those that occur in many texts of one label and in hardly any other."""
    texts = _read_texts(feature, rows.codes[:, column])
    if rows.numbers or not texts:
        return None
    word_rows: dict[str, list[int]] = {}
    words_by_text = {text: set(split_name(text)) for text in set(texts)}
    for row, text in enumerate(texts):
        for word in words_by_text[text]:
            word_rows.setdefault(word, []).append(row)
    totals = np.bincount(rows.labels, minlength=len(rows.classes))
    words: list[LabelWord] = []
    for word, places in word_rows.items():
        if not 2 * MIN_PRESENT_ROWS <= len(places) < 0.9 * len(texts):
            continue
        counts = np.bincount(rows.labels[places], minlength=len(rows.classes))
        label = int((counts / totals).argmax())
        low, _ = compute_wilson_interval(int(counts[label]), len(places))
        coverage = counts[label] / totals[label]
        other_coverage = (len(places) - counts[label]) / max(1, len(texts) - totals[label])
        words.append(
            LabelWord(
                word=word,
                label=label,
                count=int(counts[label]),
                total=len(places),
                is_pure=low >= MIN_PURITY and coverage >= MIN_WORD_COVERAGE,
                lift=float(coverage - other_coverage),
                rows=frozenset(places),
            )
        )
    words.sort(key=lambda item: (not item.is_pure, -item.lift, item.word))
    if not words or not words[0].is_pure:
        return None
    best = words[0]
    # other words of the same phrase occur in the same texts
    rivals = [item.lift for item in words[1:] if len(item.rows & best.rows) < 0.8 * min(item.total, best.total)]
    return replace(
        best, is_alone=best.lift >= MIN_WORD_LIFT and max(rivals, default=0.0) <= MAX_RIVAL_SHARE * best.lift
    )
