"""Check whether the model decides by what it should not know: identifiers, leaks of the label, rows it was trained on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._text import format_percent, pluralise
from ...core.result import Example, Finding, count_rows, format_share
from ...reporting.document import Section, Table
from ...systems.isolation import use_one_blas_thread
from ..case_text import build_examples, extract_case, format_case
from ..check import CheckBudget, CheckFindings, get_facts, make_check
from ..columns import MIN_ROWS_FOR_IDENTIFIER
from ..context import CheckContext
from ..feature_shuffling import measure_influence
from ..influence import Influence

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Labels = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

#: An identifier decides if at least this share of the answers changes with it. Below, a model has merely not removed it.
MIN_DECIDED_SHARE = 0.02

MAX_LABELLED_ROWS = 2_000  # on which features are tried as predictors
MIN_LABELLED_ROWS = 60  # fewer do not tell 97% from 90%
MIN_ROWS_PER_CLASS = 10  # of classes that are compared
MAX_CROSS_VALIDATED_FEATURES = 8
MIN_BINS, MAX_BINS = 8, 128  # of a feature, for a first estimate
MIN_ROWS_PER_BIN = 8
FOLDS = 3  # of the cross-validation
MAX_LEAVES = 64  # of a tree of one feature: enough for every category
MIN_LEAF_ROWS = 3
#: A feature that alone gets fewer wrong is nearly the label. Legitimate features of real data rarely reach 97% alone.
MAX_ERROR_OF_LEAK = 0.03
#: A leak knows what nothing else knows: all features without it have at least so many times its error, and so much more.
MIN_ERROR_RATIO = 3.0
MIN_ERROR_DIFFERENCE = 0.03
SIGNIFICANCE = 0.001  # of the difference, divided by the number of features looked at
MAX_LEAKS = 2  # more features that are nearly the label mean an easy problem rather than a leak
REFERENCE_TREES = 30  # quick, since their error is compared by factors only
RANDOM_STREAM = 172

#: Rows may repeat by chance. More than this share beyond what repeats within the training data is worth a concern.
MIN_EXCESS_OF_DUPLICATES = 0.01
DUPLICATE_SIGNIFICANCE = 0.001
#: Bits in which fractions must agree, about twelve digits. Some readers of text files get the last digit of a number wrong,
#: pandas before 3.1 among them, so that a row in a file differs slightly from the same row elsewhere.
COMPARED_BITS = 40


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
        title = f"{name} decides, although it looks like an identifier"
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


# -- leaks -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class _LabelledRows:
    """Inputs and their labels, without rows whose label is missing or too rare."""

    codes: npt.NDArray[np.float64]
    labels: Labels  # numbers, or classes as integers
    numbers: bool

    def compute_error(self, predictions: Labels) -> float:
        """Return the error of predictions: of classes averaged over the classes, of numbers the unexplained variance."""
        if self.numbers:
            variance = float(np.var(self.labels))
            return float(np.mean((predictions - self.labels) ** 2)) / variance if variance else 0.0
        wrong = predictions != self.labels
        return float(np.mean([wrong[self.labels == label].mean() for label in np.unique(self.labels)]))

    def find_row_errors(self, predictions: Labels) -> npt.NDArray[np.float64]:
        """Return the size of the error in each row."""
        return np.abs(predictions - self.labels) if self.numbers else (predictions != self.labels).astype(np.float64)


def check_leaks(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Predict the label from each feature alone, and compare the best with all other features together."""
    rows = _select_labelled_rows(context)
    if rows is None:
        reason = "too few labels, or labels of one class only"
        return CheckFindings(basis=reason, conclusive=False, skip_reason="inapplicable")
    with use_one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predictions = _predict_from_single_features(context, rows)
        errors = {name: rows.compute_error(prediction) for name, prediction in predictions.items()}
        identifiers = context.identifiers
        suspects = [name for name in errors if errors[name] <= MAX_ERROR_OF_LEAK and name not in identifiers]
        best = min(errors, key=errors.__getitem__)
        score = "of the variance explained" if rows.numbers else "of the labels right, averaged over the classes"
        count = pluralise(len(context.columns), "feature")
        basis = f"{count}; the best alone is {best}: {format_percent(1 - errors[best])} {score}"
        others = [name for name in context.space.names if name not in suspects and name not in identifiers]
        if not suspects or not others:
            return CheckFindings(basis=basis)
        other_predictions = _cross_validate(
            context, rows, [context.space.position(name) for name in others], forest=True
        )
    other_error = rows.compute_error(other_predictions)
    table = Table(
        columns=["feature", "share right" if not rows.numbers else "variance explained"],
        rows=[
            *(
                [name, format_percent(1 - error)]
                for name, error in sorted(errors.items(), key=lambda item: item[1])[:10]
            ),
            [f"all without {', '.join(suspects)}", format_percent(1 - other_error)],
        ],
    )
    section = Section(
        heading="How well single features predict the label",
        text="A small tree of one feature each, cross-validated. The last row is a forest of all other features.",
        table=table,
    )
    influence = measure_influence(context, budget)
    findings = [
        _build_leak_finding(context, rows, name, errors[name], other_error, len(others), influence, len(suspects))
        for name in suspects
        if _is_far_better(rows, errors[name], predictions[name], other_error, other_predictions, len(context.space))
    ]
    return CheckFindings(basis=basis, findings=findings, sections=[section] if findings else [])


def _select_labelled_rows(context: CheckContext) -> _LabelledRows | None:
    """Return some of the labelled inputs; None if they do not allow a judgement."""
    assert context.truth is not None
    order = np.random.default_rng([context.seed, RANDOM_STREAM]).permutation(len(context.inputs))
    truth = context.truth[order]
    order = order[~np.asarray(pd.isna(truth), dtype=bool)][:MAX_LABELLED_ROWS]
    truth, codes = context.truth[order], context.inputs.codes[order]
    numbers = context.has_numeric_answers
    if numbers:
        labels = pd.to_numeric(pd.Series(truth), errors="coerce").to_numpy(dtype=np.float64)
        if np.isnan(labels).any() or len(labels) < MIN_LABELLED_ROWS or labels.std() == 0:
            return None
        return _LabelledRows(codes=codes, labels=labels, numbers=True)
    labels = pd.factorize(pd.Series(truth, dtype=object).astype(str), sort=True)[0]
    frequent = np.isin(labels, np.flatnonzero(np.bincount(labels, minlength=1) >= MIN_ROWS_PER_CLASS))
    labels, codes = labels[frequent], codes[frequent]
    if len(labels) < MIN_LABELLED_ROWS or len(np.unique(labels)) < 2:
        return None
    return _LabelledRows(codes=codes, labels=labels, numbers=False)


def _predict_from_single_features(context: CheckContext, rows: _LabelledRows) -> dict[str, Labels]:
    """Return cross-validated predictions from the features that may be leaks; at least from the best."""
    bounds = [_bound_error(rows, column) for column in range(rows.codes.shape[1])]
    order = [column for column in np.argsort(bounds, kind="stable").tolist() if column in set(context.columns)]
    columns = [column for column in order if bounds[column] <= MAX_ERROR_OF_LEAK]
    columns = columns[:MAX_CROSS_VALIDATED_FEATURES] or order[:1]
    return {
        context.space.names[column]: _cross_validate(context, rows, [int(column)], forest=False) for column in columns
    }


def _bound_error(rows: _LabelledRows, column: int) -> float:
    """Return the error of the best constant in each bin of a feature: on the same rows, so hardly any tree does better."""
    values = rows.codes[:, column]
    _, bins = np.unique(values, return_inverse=True)
    bin_count = max(MIN_BINS, min(MAX_BINS, len(values) // MIN_ROWS_PER_BIN))
    if bins.max() >= bin_count:
        bins = bins * bin_count // (bins.max() + 1)
    counts = np.bincount(bins)
    if rows.numbers:
        means = np.bincount(bins, weights=rows.labels) / np.maximum(counts, 1)
        return rows.compute_error(means[bins])
    classes = np.unique(rows.labels)
    # balanced: a row of a rare class weighs more
    shares = [
        np.bincount(bins[rows.labels == label], minlength=len(counts)) / (rows.labels == label).sum()
        for label in classes
    ]
    return rows.compute_error(classes[np.argmax(shares, axis=0)][bins])


def _cross_validate(context: CheckContext, rows: _LabelledRows, columns: Sequence[int], forest: bool) -> Labels:
    """Return predictions of each row by a model that has not seen it."""
    from sklearn.model_selection import KFold, StratifiedKFold

    splitter: Any = KFold if rows.numbers else StratifiedKFold
    predictions = np.empty(len(rows.labels), dtype=rows.labels.dtype)
    x = rows.codes[:, list(columns)]
    x = np.where(np.isnan(x), np.nanmin(rows.codes, initial=0.0) - 1, x)  # missing values are a value of their own
    for train, test in splitter(FOLDS, shuffle=True, random_state=context.seed).split(x, rows.labels):
        model: Any = _make_predictor(rows.numbers, forest, context.seed)
        predictions[test] = model.fit(x[train], rows.labels[train]).predict(x[test])
    return predictions


def _make_predictor(numbers: bool, forest: bool, seed: int) -> BaseEstimator:
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if forest:
        kind = ExtraTreesRegressor if numbers else ExtraTreesClassifier
        options: dict[str, Any] = {} if numbers else {"class_weight": "balanced"}
        return kind(REFERENCE_TREES, max_features=0.5, min_samples_leaf=2, random_state=seed, **options)
    options = {"max_leaf_nodes": MAX_LEAVES, "min_samples_leaf": MIN_LEAF_ROWS, "random_state": seed}
    if numbers:
        return DecisionTreeRegressor(**options)
    return DecisionTreeClassifier(class_weight="balanced", **options)


def _is_far_better(
    rows: _LabelledRows, error: float, predictions: Labels, other_error: float, other_predictions: Labels, features: int
) -> bool:
    """Tell whether one feature predicts the label significantly and far better than all others together."""
    from scipy.stats import binomtest

    if other_error < MIN_ERROR_RATIO * error or other_error - error < MIN_ERROR_DIFFERENCE:
        return False
    own, other = rows.find_row_errors(predictions), rows.find_row_errors(other_predictions)
    better, worse = int((own < other).sum()), int((own > other).sum())
    if not better + worse:
        return False
    return binomtest(better, better + worse, alternative="greater").pvalue < SIGNIFICANCE / features


def _build_leak_finding(
    context: CheckContext,
    rows: _LabelledRows,
    name: str,
    error: float,
    other_error: float,
    other_count: int,
    influence: Influence,
    suspect_count: int,
) -> Finding:
    leans = influence.rank()[0] == name and influence.count_changed(name) > 1
    changed, tried = influence.count_changed(name), influence.tried[name]
    score = "explains {} of the variance of the label" if rows.numbers else "predicts {} of the labels"
    strength = score.format(format_percent(1 - error))
    concern = leans and suspect_count <= MAX_LEAKS
    return Finding(
        check="leaks",
        about=name,
        title=f"{name} alone {strength}: it may be the label in disguise",
        level="concern" if concern else "advice",
        confidence=0.8 if concern else 0.6,
        detail=f"From {name} alone a small tree {strength} of rows that it has not seen"
        f"{'' if rows.numbers else ', averaged over the classes'}; {pluralise(other_count, 'other feature')} together reach "
        f"{format_percent(1 - other_error)}. {format_share(changed, tried, 'row')} get another answer if only {name} is that "
        f"of another row{', more than for any other feature' if leans else ''}.",
        remedy=f"Find out when {name} is recorded. If it is known only after the outcome, or is derived from it, remove it and "
        "train again: the model will not have it, or not in this form, when it must decide. If it is known before, nothing is "
        "wrong.",
        examples=_build_shuffle_examples(influence, name),
        **influence.describe_impact(name),
    )


def _find_leak_skip_reason(context: CheckContext) -> str:
    if context.truth is None:
        return "no labels are given: target="
    if context.answers is None:
        return "the system was not queried"
    if len(context.space) < 2:
        return "there is only one feature"
    return "" if len(context.inputs) >= MIN_LABELLED_ROWS else f"fewer than {MIN_LABELLED_ROWS} rows are labelled"


# -- duplicates --------------------------------------------------------------------------------------------------------


def check_duplicates(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Count the inputs that are also rows of the training data, and compare with repeats within the training data."""
    from scipy.stats import binomtest

    reference = context.reference
    assert reference is not None
    frame = context.inputs.frame
    keys, reference_keys = _hash_rows(frame, reference)
    repeated = np.isin(keys, reference_keys)
    _, places, counts = np.unique(reference_keys, return_inverse=True, return_counts=True)
    natural_count, reference_count = int((counts[places] > 1).sum()), len(reference_keys)
    natural_share = natural_count / max(reference_count, 1)
    count, total = int(repeated.sum()), len(keys)
    basis = f"{count:,} of {pluralise(total, 'row')} are among {pluralise(reference_count, 'training row')}"
    if natural_count:
        basis += f"; {format_percent(natural_share)} of the training rows repeat among themselves"
    # Rows drawn like the training rows repeat as often as these do; one is added so that a rate of 0 can be exceeded.
    expected_share = min(1.0, (natural_count + 1) / (reference_count + 1))
    excess = count / max(total, 1) - natural_share
    significant = binomtest(count, total, expected_share, alternative="greater").pvalue < DUPLICATE_SIGNIFICANCE
    if excess < MIN_EXCESS_OF_DUPLICATES or not significant:
        return CheckFindings(basis=basis)
    row = int(np.flatnonzero(repeated)[0])
    case = extract_case(context.inputs, row)
    data_row = row if context.subject.rows is None else int(context.subject.rows[row])
    training_row = int(np.flatnonzero(reference_keys == keys[row])[0])
    repeats = f"{format_percent(natural_share)} of the rows repeat" if natural_count else "no row repeats"
    finding = Finding(
        **get_facts("duplicates"),
        detail=f"{format_share(count, total, 'row')} equal a training row in every input. Within the training data, "
        f"{repeats}.{_compare_accuracy(context, repeated)} Figures of quality on such "
        "duplicates show what the model remembers, not how well it does on new rows.",
        **count_rows(count, total),
        examples=(
            Example(
                text=f"row {data_row:,} of the test data equals row {training_row:,} of the training data: {format_case(case)}",
                case=case,
            ),
        ),
    )
    return CheckFindings(basis=basis, findings=[finding])


def _hash_rows(frame: pd.DataFrame, reference: pd.DataFrame) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return one number for each row of two frames; equal rows have equal numbers, whatever the dtypes.

    Fractions are equal if they agree in `COMPARED_BITS`.
    """
    codes = {}
    for name in frame.columns:
        first, second = (
            column.astype(object) if column.dtype.kind not in "iufb" else column
            for column in (frame[name], reference[name])
        )
        values = pd.concat([first, second], ignore_index=True)
        codes[name] = pd.factorize(_round_fractions(values) if values.dtype.kind == "f" else values)[0]
    keys = pd.util.hash_pandas_object(pd.DataFrame(codes), index=False).to_numpy()
    return keys[: len(frame)], keys[len(frame) :]


def _round_fractions(column: pd.Series) -> npt.NDArray[np.float64]:
    """Return numbers rounded to `COMPARED_BITS`, except whole ones, which every reader gets right."""
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    mantissas, exponents = np.frexp(numbers)
    with np.errstate(over="ignore"):  # of the largest floats, which are whole
        rounded = np.ldexp(np.rint(np.ldexp(mantissas, COMPARED_BITS)), exponents - COMPARED_BITS)
    return np.where(numbers == np.rint(numbers), numbers, rounded)


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
LEAKS = make_check("leaks", check_leaks, _find_leak_skip_reason)
DUPLICATES = make_check("duplicates", check_duplicates, _find_duplicate_skip_reason)
