"""Check values at the edge: missing, unseen and huge ones, and numbers that do not fit into their type.

Nothing is reported for what fails with an error: that is the check "interface". Here every query gets an answer, and the question
is whether it is the answer to another value. Usual practice is no defect: the median for missing numbers, a code of its own, or none,
for unseen categories, and a model of trees that answers all values beyond the data alike.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._stats import Z_95, compute_wilson_interval
from ..._text import format_short, pluralise
from ...core.result import Example, Finding, Level, count_rows, format_share
from ...errors import OutOfBudget
from ...runs.flow import ask
from ...space.dates import looks_like_dates
from ...space.features import Categorical
from ...space.outputs import Outputs
from ...space.points import Rows
from ...systems.base import Function
from ...systems.estimator import Estimator
from ...systems.native_output import hold_output
from ..case_text import build_example, format_label, read_case
from ..check import CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext
from ..edits import UNKNOWN_CATEGORY, set_column
from ..influence import find_material_changes, find_score_changes
from ..labels import align_labels, find_missing_labels

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Edit = tuple[str, Any]  # a column and its new value, or one for each row

MAX_ROWS = 60  # of the data, queried with every value
MIN_ROWS = 10  # fewer may agree by chance
MAX_COLUMNS = 25  # of numbers that are tried
MAX_CATEGORY_COLUMNS = 12
MIN_CATEGORIES, MAX_CATEGORIES = 3, 20  # of two categories, one is often what all others are answered as
MAX_BATCH_ROWS = 4_000
RANDOM_STREAM = 175

MIN_DIFFERENT_SHARE = 0.5  # of the rows whose scores tell two values apart, so that equal answers mean something
MIN_NOTICED_SHARE = 0.02  # of the rows that get another answer, for a concern about an unusual category
MIN_AFFECTED_SHARE = 0.15  # of the rows that get another answer because of the value, at the lower end of the interval
MIN_AFFECTED_SHARE_OF_MISSING = 0.05
MIN_DISTINCT_ANSWERS = 6  # along a column: a tree with fewer splits may send missing values to one end by chance
PROBED_VALUES = 8  # along a column, quantiles
MIN_MISSING_ROWS = 20  # with a label, to compare with the same rows with another value
MAX_SHARE_NEAR_BORDER = 0.05  # of the rows that another form of the same numbers may change: those near a border
MIN_HALF_PERIOD_SHARE = 0.2  # of the probes whose scores differ after half a period
MAX_FLOAT32_SHARE = 0.5  # of the different values of a column that are left in 32 bits
MIN_SHARE_OF_DIGITS = (
    0.05  # of the rows whose scores differ with the value of another row: without its digits, it tells little
)
HUGE_FACTOR = 1e6  # times the largest value
MAX_SAFE_FLOAT32 = 1e30
INTEGER_WIDTHS_BITS = (8, 16)


@dataclass(eq=False, kw_only=True)
class _RowProbe:
    """Real rows, and what the system answers if a column has another value."""

    context: CheckContext
    budget: CheckBudget
    frame: pd.DataFrame
    answers: Outputs

    @property
    def numeric(self) -> bool:
        return self.context.has_numeric_answers

    def ask(self, frame: pd.DataFrame) -> Outputs:
        """Query the system with a frame as it is, without what it prints."""
        parts = []
        with hold_output() as held, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for start in range(0, max(1, len(frame)), MAX_BATCH_ROWS):
                part = frame.iloc[start : start + MAX_BATCH_ROWS]
                flow = ask(Rows(part.reset_index(drop=True)), scores=True, note="edges", fresh=True)
                parts.append(run_flow(self.context, self.budget, flow))
            outputs = Outputs.concat(parts)
            if not outputs.ok.all():
                held.drop()
        return outputs

    def ask_edits(self, edits: Sequence[Edit]) -> list[Outputs]:
        """Return the answers to all rows with each of several edits."""
        if not edits:
            return []
        outputs = self.ask(pd.concat([set_column(self.frame, *edit) for edit in edits], ignore_index=True))
        size = len(self.frame)
        return [outputs.take(slice(start * size, (start + 1) * size)) for start in range(len(edits))]

    def find_answered_edits(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return the edits that the system answers, as far as a single row tells."""
        if not edits:
            return []
        first = self.frame.iloc[:1]
        outputs = self.ask(pd.concat([first, *(set_column(first, *edit) for edit in edits)], ignore_index=True))
        return [edit for edit, ok in zip(edits, outputs.ok[1:].tolist(), strict=True) if ok]

    def find_differences(self, first: Outputs, second: Outputs) -> Mask:
        """Return which rows have other scores or, without scores, other answers."""
        return find_score_changes(first, second) & first.ok & second.ok

    def are_equal(self, first: Outputs, second: Outputs) -> bool:
        """Tell whether all rows have the same scores and answers."""
        return bool(first.ok.all() and second.ok.all() and not find_score_changes(first, second).any())

    def find_changes(self, first: Outputs, second: Outputs) -> Mask:
        """Return which rows have another answer."""
        return find_material_changes(first, second, self.numeric)

    def build_example(self, edit: Edit, outputs: Outputs, changed: Mask) -> tuple[Example, ...]:
        """Return the first row that changes, with its usual answer and the new one."""
        rows = np.flatnonzero(changed)[:1].tolist()
        edited = Rows(set_column(self.frame, *edit))
        return tuple(
            build_example(read_case(Rows(self.frame), row, self.answers), read_case(edited, row, outputs))
            for row in rows
        )


def check_edges(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Compare the answers to missing, unseen and huge values with those to real ones."""
    columns = _choose_numbers(context)
    categories = _choose_categories(context)
    cost = 8 * len(columns) + sum(len(values) + 1 for _, values in categories) + 2 * PROBED_VALUES * len(columns) + 10
    rows = context.count_affordable(
        budget.remaining(0.7), min(MAX_ROWS, len(context.inputs)), runs_per_case=2.0 * cost, calls=12
    )
    rng = np.random.default_rng([context.seed, RANDOM_STREAM])
    points = context.inputs.take(rng.permutation(len(context.inputs))[:rows])
    row_probe = _RowProbe(
        context=context, budget=budget, frame=points.frame.reset_index(drop=True), answers=Outputs.of(np.empty(0))
    )
    answers = row_probe.ask(row_probe.frame)
    row_probe.frame = row_probe.frame[answers.ok].reset_index(drop=True)
    row_probe.answers = answers.take(answers.ok)
    if len(row_probe.frame) < MIN_ROWS:
        reason = f"fewer than {MIN_ROWS} rows could be tried"
        return CheckFindings(basis=reason, conclusive=False, skip_reason="inapplicable")
    findings: list[Finding] = []
    unfinished = ""
    attempts: tuple[Callable[[], Iterable[Finding]], ...] = (
        lambda: _try_missing(row_probe, columns),
        lambda: _try_unseen(row_probe, categories),
        lambda: _try_overflow(row_probe, columns),
        lambda: _try_forms(row_probe),
        lambda: _try_lost_digits(row_probe, columns),
        lambda: _try_huge(row_probe, columns),
    )
    for attempt in attempts:
        try:
            findings += attempt()
        except OutOfBudget:
            unfinished = "; there was no time for all of them"
            break
    basis = (
        f"{pluralise(len(row_probe.frame), 'row')} with values at the edge of {pluralise(len(columns), 'number')} and "
        f"{pluralise(len(categories), 'column')} of categories{unfinished}"
    )
    return CheckFindings(basis=basis, findings=findings, skip_reason="budget spent" if unfinished else "")


def _choose_numbers(context: CheckContext) -> list[int]:
    """Return the columns of numbers to try: those that decide most first, if that is known."""
    features = context.space.features
    columns = [column for column in context.columns if features[column].numeric]
    if context.influence is not None:
        places = {name: place for place, name in enumerate(context.influence.rank())}
        columns.sort(key=lambda column: places.get(features[column].name, len(places)))
    return [column for column in columns if np.isfinite(context.inputs.codes[:, column]).any()][:MAX_COLUMNS]


def _choose_categories(context: CheckContext) -> list[tuple[str, list[str]]]:
    """Return columns of categories with the values to try, the most frequent first."""
    if isinstance(context.sut, Estimator) and context.sut.columns is None and context.sut.width is not None:
        return []  # it gets arrays of numbers
    chosen = []
    for column in context.columns:
        feature = context.space.features[column]
        if not isinstance(feature, Categorical) or feature.name in context.identifiers:
            continue
        if not all(isinstance(value, str) for value in feature.values) or looks_like_dates(feature.values):
            continue
        codes = context.inputs.codes[:, column]
        counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(feature.values))
        if MIN_CATEGORIES <= int((counts > 0).sum()) <= MAX_CATEGORIES:
            order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())].tolist()
            chosen.append((feature.name, [str(feature.values[code]) for code in order]))
    return chosen[:MAX_CATEGORY_COLUMNS]


def _get_values(row_probe: _RowProbe, column: int) -> Floats:
    values = row_probe.context.inputs.codes[:, column]
    return np.asarray(values[np.isfinite(values)])


# -- missing values ----------------------------------------------------------------------------------------------------


def _try_missing(row_probe: _RowProbe, columns: Sequence[int]) -> Iterable[Finding]:
    """Report missing numbers that are answered as zero, although no value is near zero, or against the labels."""
    names = row_probe.context.space.names
    answered = row_probe.find_answered_edits([(names[column], math.nan) for column in columns])
    answered_names = {name for name, _ in answered}
    columns = [column for column in columns if names[column] in answered_names]
    probes = {column: _choose_probes(_get_values(row_probe, column)) for column in columns}
    edits: list[Edit] = []
    for column in columns:
        edits += [(names[column], value) for value in (math.nan, 0.0, *probes[column])]
    outputs = row_probe.ask_edits(edits)
    findings = []
    width = 2 + PROBED_VALUES
    for number, column in enumerate(columns):
        missing, zero, *others = outputs[number * width : (number + 1) * width]
        finding = _judge_missing(row_probe, column, missing, zero, others)
        findings += [] if finding is None else [finding]
    return findings


def _choose_probes(values: Floats) -> list[float]:
    """Return values along a column: quantiles, of which the first is the smallest and the last the largest."""
    return [float(value) for value in np.quantile(values, np.linspace(0, 1, PROBED_VALUES), method="nearest")]


def _judge_missing(
    row_probe: _RowProbe, column: int, missing: Outputs, zero: Outputs, probes: Sequence[Outputs]
) -> Finding | None:
    name = row_probe.context.space.names[column]
    values = _get_values(row_probe, column)
    low, high = float(values.min()), float(values.max())
    if low <= 0 <= high or not row_probe.are_equal(missing, zero):
        return None
    near, middle = probes[0] if low > 0 else probes[-1], probes[len(probes) // 2]
    if row_probe.find_differences(zero, middle).mean() < MIN_DIFFERENT_SHARE:
        return None
    # a tree sends missing values to one side of each of its splits: with few of them, that may be the side of zero by chance
    goes_on = row_probe.find_differences(zero, near).mean() >= MIN_DIFFERENT_SHARE
    if not goes_on and _count_distinct(row_probe, [zero, *probes]) < MIN_DISTINCT_ANSWERS:
        return None
    changed = row_probe.find_changes(missing, middle)
    count, total = int(changed.sum()), len(changed)
    if compute_wilson_interval(count, total)[0] < MIN_AFFECTED_SHARE_OF_MISSING:
        return None
    median = float(np.median(values))
    evidence = _compare_with_median(row_probe, column, median)
    if evidence is not None and evidence[1] <= 0:
        return None  # the labels of rows with missing values speak for zero, or do not speak against it
    labels = "" if evidence is None else f" {evidence[0]}"
    return Finding(
        **get_facts("edges.missing"),
        about=name,
        title=f"A missing {name} is answered as zero, although its values are {format_short(low)} to {format_short(high)}",
        level="concern",
        confidence=0.95,
        detail=f"{pluralise(total, 'real row')} got exactly the same scores with {name} missing as with {name} 0. "
        f"{format_share(count, total, 'row')} get another answer than with the median, {format_short(median)}.{labels}",
        remedy=f"Fill missing values of {name} with a typical value (SimpleImputer(strategy='median')), let the model learn from "
        "missing values, or refuse them. Look for fillna(0) and for defaults of 0 in the code before the model.",
        **count_rows(count, total),
        examples=row_probe.build_example((name, math.nan), missing, row_probe.find_changes(row_probe.answers, missing)),
    )


def _count_distinct(row_probe: _RowProbe, outputs: Sequence[Outputs]) -> int:
    """Return how many different scores a typical row gets along a column."""
    tables = [output.scores if output.scores is not None else output.values[:, None] for output in outputs]
    try:
        numbers = np.stack([np.asarray(table, dtype=np.float64)[:, 0] for table in tables])
    except (TypeError, ValueError):
        return 0
    return int(np.median([len(np.unique(np.round(row, 9))) for row in numbers.T]))


def _compare_with_median(row_probe: _RowProbe, column: int, median: float) -> tuple[str, float] | None:
    """Return in words how much better the median would fit the labels of the rows with missing values, and a bound of it.

    The bound is the upper end of the interval if there are enough rows, so that it is at most zero only if zero fits better.
    """
    context = row_probe.context
    rows = np.flatnonzero(np.isnan(context.inputs.codes[:, column]))
    if context.truth is None or context.has_unmatched_labels or len(context.truth) != len(context.inputs):
        return None
    rows = rows[~find_missing_labels(context.truth)[rows]][:1_000]
    if len(rows) < MIN_MISSING_ROWS:
        return None
    frame = context.inputs.take(rows).frame.reset_index(drop=True)
    outputs = row_probe.ask(
        pd.concat([frame, set_column(frame, context.space.names[column], median)], ignore_index=True)
    )
    errors = _find_errors(context, outputs, np.concatenate([context.truth[rows], context.truth[rows]]))
    if errors is None:
        return None
    gains = errors[: len(rows)] - errors[len(rows) :]
    mean, error = float(gains.mean()), Z_95 * float(gains.std()) / math.sqrt(len(gains))
    name = context.space.names[column]
    if context.has_numeric_answers:
        text = f"With the median, the mean error of {pluralise(len(rows), 'row')} without {name} would be {format_short(mean)} smaller."
    else:
        text = (
            f"{len(rows):,} rows of the data have no {name}. With the median, the share of correct answers to them would be "
            f"{100 * mean:.3g} percentage points larger ({100 * (mean - error):.3g} to {100 * (mean + error):.3g})."
        )
    return text, mean if len(rows) >= 2 * MIN_MISSING_ROWS else mean + error


def _find_errors(context: CheckContext, outputs: Outputs, labels: npt.NDArray[Any]) -> Floats | None:
    """Return the error of each answer: 0 or 1 for classes, the absolute difference for numbers; None if unknown."""
    if not outputs.ok.all():
        return None
    if context.has_numeric_answers:
        try:
            return np.abs(outputs.values.astype(np.float64) - labels.astype(np.float64))
        except (TypeError, ValueError):
            return None
    texts = align_labels(labels, outputs.values, tuple(context.sut.labels or ()))
    return None if texts is None else (texts[0] != texts[1]).astype(np.float64)


# -- unseen categories -------------------------------------------------------------------------------------------------


def _try_unseen(row_probe: _RowProbe, categories: Sequence[tuple[str, list[str]]]) -> Iterable[Finding]:
    """Report unseen categories that are answered exactly as one known category."""
    answered = {name for name, _ in row_probe.find_answered_edits([(name, UNKNOWN_CATEGORY) for name, _ in categories])}
    findings = []
    for name, values in categories:
        if name not in answered:
            continue
        new, *known = row_probe.ask_edits([(name, value) for value in (UNKNOWN_CATEGORY, *values)])
        twins = [place for place, outputs in enumerate(known) if row_probe.are_equal(new, outputs)]
        if len(twins) == 1:
            findings += _judge_unseen(row_probe, name, values, twins[0], new, known)
    return findings


def _judge_unseen(
    row_probe: _RowProbe, name: str, values: Sequence[str], twin: int, new: Outputs, known: Sequence[Outputs]
) -> list[Finding]:
    others = [outputs for place, outputs in enumerate(known) if place != twin]
    shares = [float(row_probe.find_differences(new, outputs).mean()) for outputs in others]
    if float(np.median(shares)) < MIN_DIFFERENT_SHARE:
        return []  # the category hardly matters
    changes = np.stack([row_probe.find_changes(new, outputs) for outputs in others])
    changed = changes.mean(axis=0) > 0.5  # another answer than most other categories get
    count, total = int(changed.sum()), len(changed)
    least_share = compute_wilson_interval(count, total)[0]
    is_severe = least_share >= MIN_AFFECTED_SHARE
    # the code -1 before trees and the columns of an encoder that drops the first category stand for the first one in order, and a
    # majority is what a model falls back to: both are known and often accepted
    is_usual = values[twin] == min(values) or twin == 0 or least_share < MIN_NOTICED_SHARE
    level: Level = "concern" if (is_severe or not is_usual) and not _declares_unknown(row_probe.context) else "advice"
    if level == "advice" and not is_severe:
        return []
    value = format_label(values[twin])
    return [
        Finding(
            **get_facts("edges.unseen"),
            about=name,
            title=f"An unseen value of {name} is answered exactly as {value}",
            level=level,
            confidence=0.9,
            detail=f"In {pluralise(total, 'real row')}, a value of {name} that these data do not have gets exactly the same scores as "
            f"{value}, and other scores than the other {pluralise(len(others), 'category', 'categories')}. "
            f"{format_share(count, total, 'row')} get another answer than with most other categories.",
            **count_rows(count, total),
            examples=row_probe.build_example(
                (name, UNKNOWN_CATEGORY), new, row_probe.find_changes(row_probe.answers, new)
            ),
        )
    ]


def _declares_unknown(context: CheckContext) -> bool:
    """Tell whether the model is a pipeline whose encoder says what to do with unseen categories."""
    model: Any = getattr(context.sut, "model", None)
    if not hasattr(model, "get_params"):
        return False
    try:
        parameters = model.get_params(deep=True)
    except Exception:
        return False
    return any(
        name.rpartition("__")[2] in ("handle_unknown", "categorical_features") and value not in ("error", None)
        for name, value in parameters.items()
        if isinstance(value, str) or value is None
    ) or any(hasattr(value, "handle_unknown") for value in parameters.values())


# -- numbers that do not fit -------------------------------------------------------------------------------------------


def _try_overflow(row_probe: _RowProbe, columns: Sequence[int]) -> Iterable[Finding]:
    """Report columns whose values that differ by 256 or 65,536 are answered alike: they overflow their type."""
    names = row_probe.context.space.names
    trials: list[tuple[int, int, list[float]]] = []
    for column in columns:
        values = _get_values(row_probe, column)
        largest = float(np.abs(values).max())
        for bits in INTEGER_WIDTHS_BITS:
            if 2 ** (bits - 1) <= largest < 2.0**40 and np.ptp(values) >= 2 ** (bits - 2):
                probes = [float(round(value)) for value in _choose_probes(values)[:: 2 if bits == 8 else 1]]
                trials.append((column, bits, list(dict.fromkeys(probes))))
    findings = []
    for column, bits, probes in trials:
        name, period = names[column], float(2**bits)
        first = row_probe.ask_edits([(name, probes[0]), (name, probes[0] + period)])
        if not row_probe.are_equal(*first):
            continue  # nearly all columns end here
        edits: list[Edit] = []
        for value in probes:
            edits += [(name, value), (name, value + period), (name, value - period), (name, value + period / 2)]
        outputs = row_probe.ask_edits(edits)
        groups = [outputs[start : start + 4] for start in range(0, len(outputs), 4)]
        if not all(
            row_probe.are_equal(here, above) and row_probe.are_equal(here, below) for here, above, below, _ in groups
        ):
            continue
        differences = np.mean([row_probe.find_differences(here, half).mean() for here, _, _, half in groups])
        if differences < MIN_HALF_PERIOD_SHARE:
            continue
        values = _get_values(row_probe, column)
        count = int((np.abs(values) >= 2 ** (bits - 1)).sum())
        findings.append(
            Finding(
                **get_facts("edges.overflow"),
                about=name,
                title=f"Values of {name} overflow {bits} bits: those that differ by {2**bits:,} are answered alike",
                detail=f"{pluralise(len(row_probe.frame), 'real row')} got exactly the same scores with {len(probes)} values of {name} and "
                f"with these values plus and minus {2**bits:,}, and other scores with values half as far away. "
                f"{format_share(count, len(values), 'value')} do not fit into a signed number of {bits} bits.",
                remedy=f"Look for a conversion of {name} to int{bits} or uint{bits}, or for arithmetic in that type, and use 64 bits.",
                **count_rows(count, len(values)),
                examples=row_probe.build_example(
                    (name, probes[-1] + period), outputs[-3], np.arange(len(row_probe.frame)) == 0
                ),
            )
        )
    return findings


def _try_forms(row_probe: _RowProbe) -> Iterable[Finding]:
    """Report the same numbers in another form that get other answers: in 32 bits, in narrow types, with negative zeros."""
    if row_probe.context.query_dependent:
        return []
    frame, findings = row_probe.frame, []
    numeric = [
        name for name in frame.columns if frame[name].dtype.kind in "iuf" and isinstance(frame[name].dtype, np.dtype)
    ]
    complete = [name for name in numeric if np.isfinite(frame[name].to_numpy(dtype=np.float64)).all()]
    wide = [
        name for name in complete if np.abs(frame[name].to_numpy(dtype=np.float64)).max(initial=0.0) < MAX_SAFE_FLOAT32
    ]
    whole = [name for name in wide if (frame[name].to_numpy(dtype=np.float64) % 1 == 0).all()]
    integers = [name for name in whole if frame[name].dtype.kind in "iu"]
    if wide:
        rounded = frame.assign(**{name: frame[name].to_numpy(dtype=np.float32).astype(np.float64) for name in wide})
        short = frame.assign(**{name: frame[name].to_numpy(dtype=np.float32) for name in wide})
        findings += _compare_forms(row_probe, rounded, short, "float32", "in 32 bits (float32)", wide)
    narrow = {name: _find_narrow_type(frame[name].to_numpy()) for name in integers}
    narrow = {name: dtype for name, dtype in narrow.items() if dtype is not None and dtype != frame[name].dtype}
    if narrow:
        form = "in the narrowest type that holds them"
        findings += _compare_forms(row_probe, frame, frame.astype(narrow), "narrow", form, list(narrow))
    with_zeros = [name for name in wide if frame[name].dtype.kind == "f" and (frame[name] == 0).any()]
    if with_zeros:
        negative = frame.assign(**{name: frame[name].where(frame[name] != 0, -0.0) for name in with_zeros})
        findings += _compare_forms(row_probe, frame, negative, "zero", "with zeros as negative zeros", with_zeros)
    return findings


def _find_narrow_type(values: npt.NDArray[Any]) -> Any:
    return next((np.dtype(name) for name in ("int8", "int16", "int32") if _fits(values, np.iinfo(name))), None)


def _fits(values: npt.NDArray[Any], limits: np.iinfo[Any]) -> bool:
    return len(values) > 0 and int(values.min()) >= limits.min and int(values.max()) <= limits.max


def _compare_forms(
    row_probe: _RowProbe, frame: pd.DataFrame, other: pd.DataFrame, about: str, form: str, names: Sequence[str]
) -> list[Finding]:
    """Report numbers that get other answers in another form for more rows than lie near a border."""
    usual, outputs = row_probe.ask(frame), row_probe.ask(other)
    if not (usual.ok & outputs.ok).all():
        return []  # a refusal is safe
    changed = row_probe.find_changes(usual, outputs)
    count, total = int(changed.sum()), len(changed)
    if count < 2 or compute_wilson_interval(count, total)[0] < MAX_SHARE_NEAR_BORDER:
        return []
    row = int(np.flatnonzero(changed)[0])
    example = build_example(
        read_case(Rows(frame), row, usual), read_case(Rows(other.astype(frame.dtypes.to_dict())), row, outputs), text=""
    )
    columns = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return [
        Finding(
            **get_facts("edges.form"),
            about=about,
            title=f"The same numbers {form} get other answers",
            level="advice" if about == "narrow" else "concern",
            detail=f"{format_share(count, total, 'row')} get another answer if {columns} are given {form}. The numbers are the same, "
            "and too many rows change for rows near a border.",
            **count_rows(count, total),
            examples=(example,),
        )
    ]


def _try_lost_digits(row_probe: _RowProbe, columns: Sequence[int]) -> Iterable[Finding]:
    """Report columns of numbers so large that the model, which computes in 32 bits, cannot tell them apart."""
    findings = []
    names = row_probe.context.space.names
    for column in columns:
        values = _get_values(row_probe, column)
        if np.abs(values).max() >= MAX_SAFE_FLOAT32 or names[column] in row_probe.context.identifiers:
            continue
        distinct, short = len(np.unique(values)), len(np.unique(values.astype(np.float32)))
        if distinct < MIN_ROWS or short > MAX_FLOAT32_SHARE * distinct:
            continue
        name = names[column]
        own = row_probe.frame[name].to_numpy(dtype=np.float64)
        if not np.isfinite(own).all():
            continue
        rounded = own.astype(np.float32).astype(np.float64)
        if row_probe.frame[name].dtype.kind in "iu":
            rounded = np.rint(rounded)
        usual, same, other = row_probe.ask_edits([(name, own), (name, rounded), (name, own[::-1].copy())])
        used = row_probe.find_differences(usual, other)
        if not row_probe.are_equal(usual, same) or used.mean() < MIN_SHARE_OF_DIGITS:
            continue
        findings.append(
            Finding(
                **get_facts("edges.digits"),
                about=name,
                title=f"The model reads {name} in 32 bits: {distinct:,} different values become {short:,}",
                detail=f"The values of {name} are up to {format_short(float(np.abs(values).max()))}. Numbers of this size have no digits "
                f"left for their differences in 32 bits (float32). {pluralise(len(own), 'real row')} got exactly the same scores with "
                f"{name} rounded to 32 bits, and {format_share(int(used.sum()), len(used), 'row')} other scores with that of another row.",
                remedy=f"Subtract a typical value of {name}, or split it into parts such as days and hours, before it reaches the model.",
                **count_rows(len(own), len(own)),
            )
        )
    return findings


def _try_huge(row_probe: _RowProbe, columns: Sequence[int]) -> Iterable[Finding]:
    """Report huge numbers that lead to scores or answers that are no numbers."""
    names = row_probe.context.space.names
    bounds = row_probe.context.declared_bounds
    edits: list[Edit] = []
    for column in columns:
        largest = float(np.abs(_get_values(row_probe, column)).max())
        if names[column] not in bounds and 0 < largest < MAX_SAFE_FLOAT32 / HUGE_FACTOR:
            edits.append((names[column], largest * HUGE_FACTOR))
    if not edits:
        return []
    first = row_probe.frame.iloc[:1]
    outputs = row_probe.ask(pd.concat([first, *(set_column(first, *edit) for edit in edits)], ignore_index=True))
    if outputs.scores is None or not np.isfinite(outputs.scores[0]).all():
        return []
    bad = [
        name
        for (name, _), ok, scores in zip(edits, outputs.ok[1:].tolist(), outputs.scores[1:], strict=True)
        if ok and np.isnan(scores).any()
    ]
    if not bad:
        return []
    return [
        Finding(
            **get_facts("edges.huge"),
            about=", ".join(bad[:5]),
            columns=tuple(bad),
            title=f"Huge values lead to probabilities that are not numbers: {', '.join(bad[:5])}",
            detail=f"With a million times the largest value, {len(bad)} of {pluralise(len(edits), 'column')} of numbers lead to a score "
            "that is NaN, and no error says so.",
            cases=len(bad),
            cases_tried=len(edits),
            noun="column",
            counted_in_detail=True,
        )
    ]


def _find_skip_reason(context: CheckContext) -> str:
    if not context.has_data:
        return "no data are given"
    if context.unstable:
        return "answers do not repeat, so that differences between queries mean nothing"
    if not isinstance(context.sut, Estimator | Function):
        return "the system is not queried with frames"
    return "" if len(context.inputs) >= MIN_ROWS else f"fewer than {MIN_ROWS} inputs are given"


EDGES = make_check("edges", check_edges, _find_skip_reason)
