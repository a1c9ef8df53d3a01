"""Check whether the model decides by identifiers of rows, and whether rows for testing are rows it was trained on."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._text import format_percent, pluralise
from ...core.result import Example, Finding, count_rows, format_share
from ...space.dates import to_day_numbers
from ..case_text import build_examples, extract_case, format_case
from ..check import CheckBudget, CheckFindings, get_facts, make_check
from ..columns import MIN_ROWS_FOR_IDENTIFIER
from ..context import CheckContext
from ..feature_shuffling import measure_influence
from ..influence import Influence

if TYPE_CHECKING:
    pass

Labels = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

#: An identifier decides if at least this share of the answers changes with it. Below, a model has merely not removed it.
MIN_DECIDED_SHARE = 0.02

#: Rows may repeat by chance. More than this share beyond what repeats within the training data is worth a concern.
MIN_EXCESS_OF_DUPLICATES = 0.01
DUPLICATE_SIGNIFICANCE = 0.001
#: Bits in which fractions must agree, about twelve digits. Some readers of text files get the last digit of a number wrong,
#: pandas before 3.1 among them, so that a row in a file differs slightly from the same row elsewhere.
COMPARED_BITS = 40
NEAR_BITS = 10  # about three digits, in which rows that are nearly equal agree


# -- identifiers -------------------------------------------------------------------------------------------------------


def check_identifiers(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Shuffle the columns that look like identifiers, and count the answers that change."""
    roles = context.identifiers
    if not roles:
        return CheckFindings(basis=f"none of {pluralise(len(context.columns), 'column')} looks like an identifier")
    influence = measure_influence(context, budget)
    findings = []
    for name, role in roles.items():
        tried, changed = influence.tried[name], influence.count_changed(name)
        if not influence.is_used(name) or not tried or name in context.expectations.invariant:
            continue  # what is declared invariant is checked as such
        decides = changed >= 2 and changed >= MIN_DECIDED_SHARE * tried
        title = f"The answers depend on {name}, although it looks like an identifier"
        if not decides:
            title = f"The model uses {name}, which looks like an identifier"
        effect = f"{format_share(changed, tried, 'row')} get another answer if {name} alone is replaced by that of another row."
        if not changed:
            scores = format_share(int(influence.score_changed[name].sum()), tried, "row")
            effect = f"{scores} get another score, and none another answer, if {name} alone is replaced by that of another row."
        findings.append(
            Finding(
                check="identifiers",
                about=name,
                title=title,
                level="concern" if decides else "advice",
                confidence=0.9,
                detail=f"{name} is {role.role}. {effect} An identifier says nothing about new cases: what the model has "
                "learned from it holds for these rows only.",
                remedy=f"Remove {name} from the inputs of the model, and train it again. Measure its quality after that: the "
                f"figures so far may owe much to {name}. If {name} is a measurement, ignore this.",
                examples=_build_shuffle_examples(influence, name),
                declarations=(("invariant", name),),
                **influence.describe_impact(name),
            )
        )
    names = f": {', '.join(roles)}" if roles else ""
    basis = f"{pluralise(len(roles), 'column')} of {len(context.columns)} look like identifiers{names}"
    return CheckFindings(basis=basis, findings=findings)


def _build_shuffle_examples(influence: Influence, name: str) -> tuple[Example, ...]:
    """Return a real row whose answer changes with a value of another row."""
    rows = np.flatnonzero(influence.changed[name])[:1].tolist()
    points, outputs = influence.shuffled[name]
    return build_examples((influence.inputs, points), (influence.answers, outputs), rows)


def _find_identifier_skip_reason(context: CheckContext) -> str:
    if not context.has_data:
        return "no data are given"
    if context.unstable:
        return "answers do not repeat, so that differences between queries mean nothing"
    few = len(context.inputs) < MIN_ROWS_FOR_IDENTIFIER
    return f"fewer than {MIN_ROWS_FOR_IDENTIFIER} inputs are given" if few else ""


# -- duplicates --------------------------------------------------------------------------------------------------------


def check_duplicates(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Count the inputs that are also rows of the training data, or nearly so, and compare with repeats within the training data."""
    reference = context.reference
    assert reference is not None
    frame = context.inputs.frame
    with suppress(ValueError):  # dates in another form: then no row is equal
        reference = to_day_numbers(reference, getattr(context.sut, "date_columns", ()))
    exact, near = (_count_repeats(frame, reference, bits) for bits in (COMPARED_BITS, NEAR_BITS))
    basis = f"{exact.count:,} of {pluralise(exact.total, 'row')} are among {pluralise(exact.reference_count, 'training row')}"
    if exact.natural_count:
        basis += f"; {format_percent(exact.natural_share)} of the training rows repeat among themselves"
    repeats = f"{format_percent(exact.natural_share)} of the rows repeat" if exact.natural_count else "no row repeats"
    findings = []
    if exact.is_more_than_natural:
        findings.append(
            Finding(
                **get_facts("duplicates"),
                detail=f"{format_share(exact.count, exact.total, 'row')} equal a training row in every input. Within the training data, "
                f"{repeats}.{_compare_accuracy(context, exact.repeated)} Figures of quality on such "
                "duplicates show what the model remembers, not how well it does on new rows.",
                **count_rows(exact.count, exact.total),
                examples=(_build_duplicate_example(context, exact, exact.repeated, "equals"),),
            )
        )
    elif near.is_more_than_natural:
        only_near = near.repeated & ~exact.repeated
        count = int(only_near.sum())
        findings.append(
            Finding(
                **get_facts("duplicates.near"),
                detail=f"{format_share(count, near.total, 'row')} agree with a training row in every text and in the first three digits of "
                f"every number, and differ from it in later digits. Within the training data, {format_percent(near.natural_share)} of the "
                f"rows agree so with another one.{_compare_accuracy(context, only_near)} They may be copies with a little noise, or the "
                "same things measured twice.",
                **count_rows(count, near.total),
                examples=(_build_duplicate_example(context, near, only_near, "nearly equals"),),
            )
        )
    return CheckFindings(basis=basis, findings=findings)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Repeats:
    """Which inputs are rows of the training data, and how many of these repeat among themselves."""

    repeated: Mask
    training_rows: npt.NDArray[np.intp]  # for each input, a training row that it repeats, if there is one
    natural_count: int
    reference_count: int

    @property
    def count(self) -> int:
        return int(self.repeated.sum())

    @property
    def total(self) -> int:
        return len(self.repeated)

    @property
    def natural_share(self) -> float:
        """The share of the training rows that repeat."""
        return self.natural_count / max(self.reference_count, 1)

    @property
    def is_more_than_natural(self) -> bool:
        """Whether inputs repeat training rows more often than these repeat among themselves."""
        from scipy.stats import binomtest

        # Rows drawn like the training rows repeat as often as these do; one is added so that a rate of 0 can be exceeded.
        expected_share = min(1.0, (self.natural_count + 1) / (self.reference_count + 1))
        if self.count / max(self.total, 1) - self.natural_share < MIN_EXCESS_OF_DUPLICATES:
            return False
        return bool(
            binomtest(self.count, self.total, expected_share, alternative="greater").pvalue < DUPLICATE_SIGNIFICANCE
        )


def _count_repeats(frame: pd.DataFrame, reference: pd.DataFrame, bits: int) -> _Repeats:
    keys, reference_keys = _hash_rows(frame, reference, bits)
    distinct, firsts, places, counts = np.unique(
        reference_keys, return_index=True, return_inverse=True, return_counts=True
    )
    found_places = np.minimum(np.searchsorted(distinct, keys), max(len(distinct) - 1, 0))
    return _Repeats(
        repeated=np.isin(keys, reference_keys),
        training_rows=firsts[found_places] if len(distinct) else np.zeros(len(keys), dtype=np.intp),
        natural_count=int((counts[places] > 1).sum()),
        reference_count=len(reference_keys),
    )


def _build_duplicate_example(context: CheckContext, repeats: _Repeats, rows: Mask, verb: str) -> Example:
    row = int(np.flatnonzero(rows)[0])
    case = extract_case(context.inputs, row)
    data_row = row if context.subject.rows is None else int(context.subject.rows[row])
    training_row = int(repeats.training_rows[row])
    return Example(
        text=f"row {data_row:,} of the test data {verb} row {training_row:,} of the training data: {format_case(case)}",
        case=case,
    )


def _hash_rows(
    frame: pd.DataFrame, reference: pd.DataFrame, bits: int = COMPARED_BITS
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return one number for each row of two frames; equal rows have equal numbers, whatever the dtypes.

    Fractions are equal if they agree in so many bits.
    """
    codes = {}
    for name in frame.columns:
        first, second = (
            column.astype(object) if column.dtype.kind not in "iufb" else column
            for column in (frame[name], reference[name])
        )
        values = pd.concat([first, second], ignore_index=True)
        codes[name] = pd.factorize(_round_fractions(values, bits) if values.dtype.kind == "f" else values)[0]
    keys = pd.util.hash_pandas_object(pd.DataFrame(codes), index=False).to_numpy()
    return keys[: len(frame)], keys[len(frame) :]


def _round_fractions(column: pd.Series, bits: int) -> npt.NDArray[np.float64]:
    """Return numbers rounded to so many bits, except whole ones as long as all digits count, which every reader gets right."""
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    mantissas, exponents = np.frexp(numbers)
    with np.errstate(over="ignore"):  # of the largest floats, which are whole
        rounded = np.ldexp(np.rint(np.ldexp(mantissas, bits)), exponents - bits)
    is_exact = (numbers == np.rint(numbers)) & (bits == COMPARED_BITS)
    return np.where(is_exact, numbers, rounded)


def _compare_accuracy(context: CheckContext, repeated: Mask) -> str:
    """Return how often the answers agree with the labels, for repeated rows and for the others."""
    answers, truth = context.answers, context.truth
    if answers is None or truth is None or len(answers) != len(truth) or context.has_numeric_answers:
        return ""
    if context.queries is not context.inputs or repeated.all():
        return ""
    right = (
        np.array([str(a) == str(b) for a, b in zip(answers.values.tolist(), truth.tolist(), strict=True)]) & answers.ok
    )
    shares = [format_percent(float(right[mask].mean())) for mask in (repeated, ~repeated)]
    return f" The answer agrees with the label for {shares[0]} of them, and for {shares[1]} of the other rows."


def _find_duplicate_skip_reason(context: CheckContext) -> str:
    if context.reference is None:
        return "no training data are given: reference=frame (--reference FILE)"
    return "" if context.has_data else "no data are given"


IDENTIFIERS = make_check("identifiers", check_identifiers, _find_identifier_skip_reason)
DUPLICATES = make_check("duplicates", check_duplicates, _find_duplicate_skip_reason)
