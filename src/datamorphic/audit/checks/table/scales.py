"""Columns in which some rows are in another unit than the others: kilograms and pounds, metres and kilometres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._text import format_percent
from ....core.result import Finding
from .limits import read_limit_words
from .profile import ColumnProfile, Doubt, Mask, TableProfile, measure_difference
from .report import build_finding, format_count

Numbers = npt.NDArray[np.float64]

#: Factors between units, and what they stand for. Of two units of temperature, the difference is no factor.
FACTORS: dict[float, str] = {
    1e6: "a million",
    1e5: "100,000",
    1e4: "10,000",
    3600.0: "3,600 (hours and seconds)",
    1000.0: "1,000",
    100.0: "100",
    86_400.0: "86,400 (days and seconds)",
    60.0: "60 (hours and minutes)",
    35.3147: "35.3 (cubic metres and feet)",
    28.3495: "28.3 (ounces and grams)",
    25.4: "25.4 (inches and millimetres)",
    24.0: "24 (days and hours)",
    12.0: "12 (years and months)",
    10.7639: "10.8 (square metres and feet)",
    10.0: "10",
    7.0: "7 (weeks and days)",
    4.54609: "4.55 (gallons and litres)",
    3.78541: "3.79 (gallons and litres)",
    3.28084: "3.28 (metres and feet)",
    2.54: "2.54 (inches and centimetres)",
    2.20462: "2.2 (kilograms and pounds)",
    1.60934: "1.61 (miles and kilometres)",
}
MIN_ROWS = 100
MIN_DISTINCT_VALUES = 20
MIN_CLUSTER_ROWS = 8
MIN_CLUSTER_SHARE = 0.01  # of the rows
MAX_CLUSTER_SHARE = 0.5
MAX_FITTED_ROWS = 2_000
MAX_FITTED_PARTS = 12  # columns or their logarithms, those that go best with the column that is predicted
MAX_COMPARED_COLUMNS = 60
ROBUST_ROUNDS = 4  # of fits without the rows that fit worst
MAX_RESIDUAL_SHARE = 0.14  # the spread of the residuals, in shares of the logarithm of the factor
FACTOR_TOLERANCE = 0.03  # of the ratio, beside the standard error
NEAR_TOLERANCE = 0.08  # of the logarithm of the factor, for the rows that are in the other unit
MIN_ASSOCIATION = (
    0.5  # of rows with a category (phi), or of a number (the difference of distributions), that tells them apart
)
MAX_EXPLAINING_CATEGORIES = 50
MAX_OTHER_OUTLIERS_SHARE = 0.34  # of the rows that do not fit, those that the factor does not explain
BULK_SHARE = 0.4  # of the rows: less than are in the main unit
MIN_SPREAD = 1e-3  # of logarithms: where one column follows from the others
MIN_ROWS_OF_SPREAD = 50  # fewer do not show whether they are predicted
MAX_PREDICTED_SPREAD = 0.9  # of the values of a group: the other columns predict them, too
VALLEY = (0.4, 0.6)  # shares of the logarithm of the factor: the middle between the two units
MAX_VALLEY_SHARE = 0.1  # rows in the middle, in shares of those in the other unit: a long tail has no other unit
MAX_BEYOND_SHARE = 0.15  # rows far on the other side, or far beyond the factor, in the same shares
MIN_FAR_DEVIATIONS = 4.0  # standard deviations: a row that does not fit
MAX_NEAR_DEVIATIONS = 3.0  # standard deviations: a row that fits after it is divided by the factor
MIN_FACTOR_WITHOUT_RELATION = 60.0  # smaller ratios between groups of rows occur in nature
MIN_GAP_SHARE = 0.25  # of the logarithm of the factor, between two groups of rows without a related column
MAX_SHAPE_RATIO = 2.0  # between the spreads of the two groups
MAX_SHAPE_DIFFERENCE = 0.2  # between the distributions of the two groups, beside what chance explains
MIN_VALLEY_CLUSTER_SHARE = 0.05  # of the rows, in the smaller of two groups that touch
MIN_VALLEY_ROWS = 25
MIN_SEPARATION = 3.5  # standard deviations between two groups that touch
MAX_VALLEY_SHAPE_RATIO = 1.4  # between their spreads
MAX_VALLEY_SHAPE_DIFFERENCE = 0.08  # between their distributions, beside what chance explains
VALLEY_WIDTH = 0.2  # of the distance of the two groups: the middle between them
MAX_VALLEY_DEPTH = 0.45  # rows in the middle, in shares of those around the centre of the smaller group
MAX_RANK_OF_OTHERS = 0.2  # the largest rank correlation of another column with being in the smaller group


@dataclass(frozen=True, kw_only=True)
class _Mixture:
    """Rows of a column that are in another unit."""

    rows: Mask
    factor: float  # by which the values of these rows are larger; below 1 if they are smaller
    evidence: str
    is_certain: bool = True  # False if two kinds of things may explain it as well


def find_scales(table: TableProfile) -> Iterator[Finding]:
    """Yield columns whose rows have two units, confirmed by related columns or by two groups of the same shape."""
    if len(table) < MIN_ROWS:
        return
    columns = [column for column in table.columns if column.is_number and len(column.values) > 2]
    logs = {column.name: _take_logs(table.clean_numbers(column)) for column in columns}
    parts = {column.name: _build_parts(table, column) for column in columns[:MAX_COMPARED_COLUMNS]}
    for column in columns:
        values = logs[column.name]
        known = ~np.isnan(values)
        if known.sum() < MIN_ROWS or len(column.values) < MIN_DISTINCT_VALUES or not _has_wide_range(values[known]):
            continue
        others = [other for other in columns if other is not column]
        other_parts = [part for name, part in parts.items() if name != column.name and part.shape[1]]
        mixture = (
            _find_by_relation(column, values, other_parts)
            or _find_by_gap(table, values, others)
            or _find_by_valley(table, values, others)
        )
        if mixture is None:
            continue
        explanation = _find_explanation(table, column, mixture.rows)
        if explanation is None or explanation.kind == "text":
            finding, title = _build_scale_finding(table, column, mixture, explanation)
            if finding.level == "advice" and explanation is None:
                numbers = np.where(mixture.rows, column.numbers / mixture.factor, column.numbers)
                table.doubts.append(
                    Doubt(finding=finding, title=title, column=column, rows=mixture.rows, numbers=numbers)
                )
            yield finding


def _take_logs(numbers: Numbers) -> Numbers:
    """Return the logarithms of positive numbers; NaN for a column in which others are frequent."""
    positive = numbers > 0
    known = ~np.isnan(numbers)
    if not known.any() or positive.sum() < 0.7 * known.sum():
        return np.full(len(numbers), np.nan)
    with np.errstate(all="ignore"):
        return np.where(positive, np.log(np.where(positive, numbers, 1.0)), np.nan)


def _has_wide_range(logs: Numbers) -> bool:
    """Tell whether the largest value is far enough from the smallest for two units."""
    return float(logs.max() - logs.min()) >= np.log(min(FACTORS))


def _find_by_relation(column: ColumnProfile, logs: Numbers, parts: list[Numbers]) -> _Mixture | None:
    """Return the rows whose value fits the other columns only after it is divided by a factor.

    What the other columns predict is fitted to one half of the rows and judged by the other half, both ways.
    """
    if not parts:
        return None
    rows = np.flatnonzero(~np.isnan(logs))
    design = _choose_parts(np.column_stack(parts), logs, rows)
    residuals = np.full(len(logs), np.nan)
    for half in (0, 1):
        fitted_rows, judged_rows = rows[half::2], rows[1 - half :: 2]
        fit = _fit_robustly(design, logs, fitted_rows)
        residuals[judged_rows] = logs[judged_rows] - design[judged_rows] @ fit
    known = residuals[rows]
    centre, spread = _find_bulk(known)
    residuals = residuals - centre
    far = np.abs(residuals) > MIN_FAR_DEVIATIONS * spread
    far_count = int(far.sum())
    if far_count < max(MIN_CLUSTER_ROWS, MIN_CLUSTER_SHARE * len(rows)):
        return None
    best: _Mixture | None = None
    for factor, text in FACTORS.items():
        size = float(np.log(factor))
        if spread > MAX_RESIDUAL_SHARE * size:
            continue
        for sign in (1, -1):
            near = np.abs(residuals - sign * size) < MAX_NEAR_DEVIATIONS * spread + NEAR_TOLERANCE * size
            count = int((near & far).sum())
            if count < max(MIN_CLUSTER_ROWS, MIN_CLUSTER_SHARE * len(rows)) or count > MAX_CLUSTER_SHARE * len(rows):
                continue
            if far_count - count > MAX_OTHER_OUTLIERS_SHARE * far_count:
                continue
            shares = sign * residuals[rows] / size
            valley = (shares > VALLEY[0]) & (shares < VALLEY[1])
            beyond = (shares < -VALLEY[1]) | (shares > 1 + VALLEY[0])
            if valley.sum() > MAX_VALLEY_SHARE * count or beyond.sum() > MAX_BEYOND_SHARE * count:
                continue
            centre_of_rows = float(np.median(residuals[near & far]))
            error = 3 * spread / np.sqrt(count) + FACTOR_TOLERANCE
            spread_of_rows = 1.4826 * float(np.median(np.abs(residuals[near & far] - centre_of_rows)))
            if abs(centre_of_rows - sign * size) > error or spread_of_rows > 2 * spread + 1e-6:
                continue
            evidence = (
                f"The other columns predict {column.name} to about {format_percent(min(9.99, np.expm1(spread)))}, fitted to other rows. "
                f"These rows are off by a factor of about {text}."
            )
            usual = rows[np.abs(residuals[rows]) < MAX_NEAR_DEVIATIONS * spread]
            groups = [usual, np.flatnonzero(near & far)]
            is_predicted = all(
                _measure_spread(residuals[group]) < MAX_PREDICTED_SPREAD * _measure_spread(logs[group])
                for group in groups
                if len(group) >= MIN_ROWS_OF_SPREAD
            )
            mixture = _Mixture(
                rows=near & far,
                factor=factor**sign,
                evidence=evidence,
                is_certain=is_predicted or factor >= MIN_FACTOR_WITHOUT_RELATION,
            )
            if best is None or count > best.rows.sum():
                best = mixture
    return best


def _measure_spread(values: Numbers) -> float:
    """Return the median distance from the median."""
    return float(np.median(np.abs(values - np.median(values))))


def _find_bulk(values: Numbers) -> tuple[float, float]:
    """Return the centre and the standard deviation of most values, although others may be far away on one side."""
    ordered = np.sort(values)
    size = max(2, int(BULK_SHARE * len(ordered)))
    widths = ordered[size - 1 :] - ordered[: len(ordered) - size + 1]
    start = int(np.argmin(widths))
    centre, spread = float(np.median(ordered[start : start + size])), float(widths[start])
    for _ in range(ROBUST_ROUNDS):
        near = values[np.abs(values - centre) <= 2.5 * spread]
        centre = float(np.median(near))
        spread = max(MIN_SPREAD, 1.03 * 1.4826 * float(np.median(np.abs(near - centre))))
    return centre, spread


def _build_parts(table: TableProfile, column: ColumnProfile) -> Numbers:
    """Return a column of numbers and its logarithm, with values in the same range and without extreme ones."""
    parts = []
    numbers = table.clean_numbers(column)
    for values in (numbers, _take_logs(numbers)):
        known = ~np.isnan(values)
        if known.sum() < MIN_ROWS:
            continue
        middle, low, high = np.quantile(values[known], [0.5, 0.02, 0.98])
        if high - low > 0 and np.isfinite(high - low):
            parts.append((np.clip(np.where(known, values, middle), low, high) - middle) / (high - low))
    return np.column_stack(parts) if parts else np.empty((len(numbers), 0))


def _choose_parts(parts: Numbers, logs: Numbers, rows: npt.NDArray[np.intp]) -> Numbers:
    """Return the parts that go best with a column, and a constant."""
    sample = rows[:: max(1, len(rows) // MAX_FITTED_ROWS)]
    low, high = np.quantile(logs[sample], [0.02, 0.98])
    target = np.clip(logs[sample], low, high)
    matrix = parts[sample] - parts[sample].mean(axis=0)
    products = matrix.T @ (target - target.mean()) / np.maximum(1e-12, np.sqrt((matrix**2).sum(axis=0)))
    best = np.argsort(-np.abs(products), kind="stable")[:MAX_FITTED_PARTS]
    return np.column_stack([np.ones(len(parts)), parts[:, best]])


def _fit_robustly(design: Numbers, logs: Numbers, rows: npt.NDArray[np.intp]) -> Numbers:
    """Return the coefficients of a linear fit to most of the rows."""
    rows = rows[:: max(1, len(rows) // MAX_FITTED_ROWS)]
    matrix, target = design[rows], logs[rows]
    chosen = np.abs(target - np.median(target)) <= 3 * 1.4826 * max(
        1e-9, float(np.median(np.abs(target - np.median(target))))
    )
    fit: Numbers = np.zeros(design.shape[1])
    for _ in range(ROBUST_ROUNDS):
        part = matrix[chosen]
        gram = part.T @ part + 1e-3 * np.eye(design.shape[1])
        fit = np.asarray(np.linalg.solve(gram, part.T @ target[chosen]), dtype=np.float64)
        residuals = target - matrix @ fit
        distance = np.abs(residuals - np.median(residuals[chosen]))
        chosen = distance <= 2.5 * 1.4826 * max(1e-9, float(np.median(distance)))
    return fit


def _find_by_gap(table: TableProfile, logs: Numbers, others: list[ColumnProfile]) -> _Mixture | None:
    """Return the rows beyond the widest gap, if both sides have the same shape and a large factor lies between them."""
    rows = np.flatnonzero(~np.isnan(logs))
    order = rows[np.argsort(logs[rows], kind="stable")]
    gaps = np.diff(logs[order])
    minimum = int(max(MIN_CLUSTER_ROWS, MIN_CLUSTER_SHARE * len(rows)))
    inner = gaps[minimum - 1 : len(gaps) - minimum + 1]
    if not len(inner):
        return None
    place = minimum - 1 + int(np.argmax(inner))
    low, high = order[: place + 1], order[place + 1 :]
    difference = float(np.median(logs[high]) - np.median(logs[low]))
    factor = min(FACTORS, key=lambda value: abs(np.log(value) - difference))
    size = float(np.log(factor))
    if factor < MIN_FACTOR_WITHOUT_RELATION or gaps[place] < MIN_GAP_SHARE * size:
        return None
    smaller, larger = sorted((low, high), key=len)
    spreads = [float(np.subtract(*np.quantile(logs[part], [0.75, 0.25]))) for part in (smaller, larger)]
    error = 2.5 * max(spreads) / np.sqrt(len(smaller)) + FACTOR_TOLERANCE
    if abs(difference - size) > error or min(spreads) <= 0 or max(spreads) > MAX_SHAPE_RATIO * min(spreads):
        return None
    shifted, reference = np.sort(logs[high] - size), np.sort(logs[low])
    if measure_difference(shifted, reference) > MAX_SHAPE_DIFFERENCE + 1.2 / np.sqrt(len(smaller)):
        return None
    mask = np.zeros(len(logs), dtype=bool)
    mask[smaller] = True
    if _find_strongest_rank(table, mask, rows, others) > MAX_RANK_OF_OTHERS + 3 / np.sqrt(len(rows)):
        return None  # two kinds of things, which differ in other columns as well
    return _Mixture(
        rows=mask,
        factor=factor if smaller is high else 1 / factor,
        evidence=f"There are two groups of values with nothing between them, of the same shape, and {FACTORS[factor]} times apart. "
        "No other column tells them apart.",
    )


def _find_by_valley(table: TableProfile, logs: Numbers, others: list[ColumnProfile]) -> _Mixture | None:
    """Return the rows on one side of a valley between two groups of the same shape, with the factor of two units between them.

    The groups may touch. No other column may tell them apart, not even roughly: kinds of things differ in several ways.
    """
    rows = np.flatnonzero(~np.isnan(logs))
    values = logs[rows]
    split = float(values.mean())
    for _ in range(ROBUST_ROUNDS * 2):  # two means
        is_high = values > split
        if not MIN_VALLEY_CLUSTER_SHARE <= is_high.mean() <= 1 - MIN_VALLEY_CLUSTER_SHARE:
            return None
        split = float(values[is_high].mean() + values[~is_high].mean()) / 2
    is_high = values > split
    smaller = is_high if is_high.mean() <= MAX_CLUSTER_SHARE else ~is_high
    if smaller.sum() < MIN_VALLEY_ROWS:
        return None
    centres = [float(np.median(values[part])) for part in (~is_high, is_high)]
    spreads = [
        1.4826 * float(np.median(np.abs(values[part] - np.median(values[part])))) for part in (~is_high, is_high)
    ]
    size = centres[1] - centres[0]
    if not 0 < min(spreads) <= max(spreads) < min(size / MIN_SEPARATION, MAX_VALLEY_SHAPE_RATIO * min(spreads)):
        return None
    factor = min(FACTORS, key=lambda value: abs(np.log(value) - size))
    error = 2.5 * max(spreads) / np.sqrt(smaller.sum()) + FACTOR_TOLERANCE
    middle = np.abs(values - (centres[0] + centres[1]) / 2) < VALLEY_WIDTH * size / 2
    peak = np.abs(values - np.median(values[smaller])) < VALLEY_WIDTH * size / 2
    if abs(np.log(factor) - size) > error or middle.sum() > MAX_VALLEY_DEPTH * peak.sum():
        return None
    low, high = np.sort(values[~is_high] - centres[0]), np.sort(values[is_high] - centres[1])
    if measure_difference(low, high) > MAX_VALLEY_SHAPE_DIFFERENCE + 1.36 / np.sqrt(smaller.sum()):
        return None
    mask = np.zeros(len(logs), dtype=bool)
    mask[rows[smaller]] = True
    if _find_strongest_rank(table, mask, rows, others) > MAX_RANK_OF_OTHERS + 3 / np.sqrt(len(rows)):
        return None
    return _Mixture(
        rows=mask,
        factor=factor if bool(is_high[smaller].all()) else 1 / factor,
        is_certain=factor >= MIN_FACTOR_WITHOUT_RELATION,
        evidence=f"The values have two groups of the same shape with few values between them, {FACTORS[factor]} times apart. No other "
        "column of numbers tells them apart.",
    )


def _find_strongest_rank(
    table: TableProfile, mask: Mask, rows: npt.NDArray[np.intp], others: list[ColumnProfile]
) -> float:
    """Return how strongly the best other column of numbers tells some rows from the rest: 1 if it does without error."""
    strongest = 0.0
    for column in others[:MAX_COMPARED_COLUMNS]:
        values = table.clean_numbers(column)[rows]
        known = ~np.isnan(values)
        inside, outside = np.sort(values[known & mask[rows]]), np.sort(values[known & ~mask[rows]])
        if min(len(inside), len(outside)) >= MIN_CLUSTER_ROWS:
            strongest = max(strongest, measure_difference(inside, outside))
    return strongest


def _find_explanation(table: TableProfile, column: ColumnProfile, rows: Mask) -> ColumnProfile | None:
    """Return the column that tells the rows apart best, if it does so well: a label first, since it may be the cause."""
    label, best, strongest = table.label, None, MIN_ASSOCIATION
    for other in table.columns:
        if other is column:
            continue
        if other.kind == "number" and len(other.values) > MAX_EXPLAINING_CATEGORIES:
            numbers = table.clean_numbers(other)
            inside, outside = (np.sort(numbers[mask & ~np.isnan(numbers)]) for mask in (rows, ~rows))
            enough = min(len(inside), len(outside)) >= MIN_CLUSTER_ROWS
            strength = measure_difference(inside, outside) if enough else 0.0
        elif len(other.values) <= MAX_EXPLAINING_CATEGORIES:
            strength = _measure_association(other.codes, rows)
        else:
            continue
        if strength >= MIN_ASSOCIATION and other is label:
            return other
        if strength > strongest:
            best, strongest = other, strength
    return best


def _measure_association(codes: npt.NDArray[np.intp], rows: Mask) -> float:
    """Return how well categories tell some rows apart (phi): 1 if they do without error, 0 if not at all."""
    totals = np.bincount(codes + 1)
    inside = np.bincount(codes[rows] + 1, minlength=len(totals))
    share = float(rows.mean())
    expected = totals * share
    chi_square = float(((inside - expected) ** 2 / np.maximum(expected * (1 - share), 1e-12))[totals > 0].sum())
    by_chance = int((totals > 0).sum()) - 1  # what rare categories do
    return float(np.sqrt(min(1.0, max(0.0, chi_square - by_chance) / len(codes))))


def _build_scale_finding(
    table: TableProfile, column: ColumnProfile, mixture: _Mixture, explanation: ColumnProfile | None
) -> tuple[Finding, str]:
    """Return the finding, and its title if it is certain."""
    factor = mixture.factor if mixture.factor >= 1 else 1 / mixture.factor
    verb = "too large" if mixture.factor >= 1 else "too small"
    count = int(mixture.rows.sum())
    where = "" if explanation is None else _describe_place(explanation, mixture.rows)
    # a category may be larger than another by nature, but not the measurements of one site
    is_source = explanation is not None and bool(set(read_limit_words().source_words).intersection(explanation.words))
    is_natural = not is_source and (explanation is not None or not mixture.is_certain)
    level = "advice" if is_natural else "concern"
    text = FACTORS[factor].partition(" (")[0]
    certain, uncertain = (
        f"{column.display_name} {verb_phrase} in two units: {count:,} rows are about {text} times {verb}{where}"
        for verb_phrase in ("is", "may be")
    )
    finding = build_finding(
        "scales",
        table,
        [column],
        mixture.rows,
        level=level,
        title=uncertain if level == "advice" else certain,
        detail=f"{format_count(count, len(table))} differ from the others by a factor of {FACTORS[factor]}. {mixture.evidence}",
    )
    return finding, certain


def _describe_place(other: ColumnProfile, rows: Mask) -> str:
    """Return the category that has most of the rows."""
    inside = np.bincount(other.codes[rows & ~other.missing], minlength=len(other.values))
    code = int(inside.argmax())
    return f", {'all' if inside[code] == rows.sum() else 'most'} where {other.name} is {other.texts[code]}"
