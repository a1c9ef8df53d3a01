"""Find the relations between columns that all rows of the data keep: equalities, orders and dependencies.

A relation is reported only if chance does not explain it: the probability that no row breaks it, if the columns were
independent, is below `CHANCE`, corrected for the number of relations looked at. Rows with missing values are skipped.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._typing import DataLike
from .._validation import check_types
from ..errors import AmbiguousData, SpaceError
from .constraints import Compare, Constraint, Dependency, LinearEquality, OneHot
from .dates import read_dates
from .features import Codes, Mask
from .frames import to_array
from .space import Points, Space
from .table_forms import accept_tables

CHANCE = 1e-6  # the probability of a relation by chance, among all relations looked at
MIN_ROWS = 20
MAX_COLUMNS = 200
MAX_FITTED_ROWS = 20_000  # that equalities are fitted to, before all rows are looked at
SCREENED_ROWS = 1_000  # rows that exclude most candidates before all rows are looked at
MAX_TERMS = 5  # of an equality: a total and up to four parts
MAX_COEFFICIENT = 12
MAX_TIED_COLUMNS = 14  # that equalities are sought among, one by one
MAX_RELATIONS_PER_KIND = 20
MAX_DECIMALS = 6  # of columns that count as rounded
MAX_ROUNDING_SHARE = 0.01  # of the standard deviation of a column, that rounding may add up to
MAX_RESIDUAL_VARIANCE = 1e-3  # of standardised columns; candidates above it cannot be equalities of rounded values
MIN_ORDERED_VALUES = 3  # different values of a column that an order is sought for
MAX_SPREAD_RATIO = 50.0  # of two columns with comparable units
MAX_GAP_SHARE = 0.2  # of the median difference: an order is tight, so that the smallest difference is near zero
MIN_GRID_COLUMNS = 16  # with the same name and different numbers: pixels, or values over time
MIN_DETERMINANT_ROWS = 2.0  # rows per value of a column that determines another one

_NUMBER = re.compile(r"[\d\s_.,x-]*\d$")

Columns = tuple[int, ...]


@accept_tables
@check_types
def find_constraints(data: DataLike, *, target: str | None = None, space: Space | None = None) -> list[Constraint]:
    """Return the relations between columns that all rows of the data keep, as constraints.

    These are linear equalities with small coefficients (``limit == balance + available``), orders (``free <= total``), groups of
    columns of which exactly one is on, and columns that determine others (a city its country). Relations that chance may explain,
    and those that follow from the ranges of the columns or from other relations, are left out.

    Parameters
    ----------
    data : DataFrame, array or Points
        The rows; rows with missing values are skipped, relation by relation. Dates are compared as days.
    target : str, optional
        A column to leave out, such as the label.
    space : Space, optional
        The space of the rows; by default it is inferred.

    Returns
    -------
    list of constraints
        Each can be printed (``constraint.describe()``) and passed to a space.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"balance": rng.integers(0, 900, 200), "available": rng.integers(0, 5000, 200)})
    >>> frame["limit"] = frame["balance"] + frame["available"]
    >>> constraints = find_constraints(frame)
    >>> [constraint.describe() for constraint in constraints]
    ['limit = balance + available']
    >>> space = Space.from_frame(frame, constraints=constraints)
    >>> space.up({"balance": 100, "available": 400, "limit": 500}, "balance")
    {'balance': 145, 'available': 400, 'limit': 545}
    """
    if space is None and isinstance(data, Points):
        space = data.space
    elif space is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AmbiguousData)
            if isinstance(data, pd.DataFrame):
                data, _ = read_dates(data)
                space = Space.from_frame(data, target=target)
            else:
                space = Space.from_arrays(to_array(data))
    return find_point_constraints(space.points(data), exempt=[] if target is None else [target])


def find_point_constraints(points: Points, exempt: Sequence[str] = ()) -> list[Constraint]:
    """Return the relations between the features of some points, except for those in `exempt`."""
    space, codes = points.space, points.codes
    if len(codes) < MIN_ROWS:
        return []
    numeric, discrete = [], []
    for column, feature in enumerate(space.features):
        known = codes[:, column][~np.isnan(codes[:, column])]
        if feature.name in exempt or len(known) < MIN_ROWS or known.min() == known.max():
            continue
        if feature.numeric:
            numeric.append(column)
        if feature.kind not in ("continuous", "text"):
            discrete.append(column)
    constraints: list[Constraint] = []
    groups = _find_one_hot_groups(points, discrete[:MAX_COLUMNS])
    constraints += groups
    grouped = {space.position(name) for group in groups for name in group.names}
    numeric = [column for column in numeric if column not in grouped][:MAX_COLUMNS]
    equalities = _find_equalities(points, numeric)
    constraints += equalities
    candidates = [column for column in discrete if column not in grouped][:MAX_COLUMNS]
    dependencies = _find_dependencies(points, candidates, numeric, equalities)
    determined = [set(dependency.names) for dependency in dependencies]
    orders = _find_orders(points, _leave_out_grids(space, numeric), equalities)
    constraints += [order for order in orders if set(order.names) not in determined]
    return _keep_compatible(space, [*constraints, *dependencies])


def _leave_out_grids(space: Space, columns: Sequence[int]) -> list[int]:
    """Return columns without numbered ones of the same name, such as pixels: neighbours on a grid are ordered by chance."""
    stems = [_NUMBER.sub("", space.names[column]) for column in columns]
    counts = Counter(stems)
    return [column for column, stem in zip(columns, stems, strict=True) if counts[stem] < MIN_GRID_COLUMNS]


def _keep_compatible(space: Space, constraints: Sequence[Constraint]) -> list[Constraint]:
    """Return the constraints that a space can have together with its own."""
    try:
        space.with_constraints(constraints)
        return list(constraints)
    except SpaceError:
        compatible: list[Constraint] = []
        for constraint in constraints:
            try:
                space.with_constraints([*compatible, constraint])
                compatible.append(constraint)
            except SpaceError:
                continue
        return compatible


def _log_chance(count: int) -> float:
    """Return the largest logarithm of a probability that is too small for chance, with `count` relations looked at."""
    return math.log(CHANCE) - math.log(max(count, 1))


# -- groups of which exactly one is on ----------------------------------------------------------------------------------


def _find_one_hot_groups(points: Points, columns: Sequence[int]) -> list[Constraint]:
    """Return groups of neighbouring two-valued columns of which exactly one is on in each row."""
    space = points.space
    pairs = [column for column in columns if space.features[column].high - space.features[column].low == 1]
    is_on = np.zeros((len(points), len(pairs)), dtype=bool)
    for place, column in enumerate(pairs):
        is_on[:, place] = points.codes[:, column] == space.features[column].high
    groups: list[Constraint] = []
    start = 0
    while start < len(pairs):
        counts = is_on[:, start].astype(np.intp)
        for end in range(start + 1, len(pairs)):
            if pairs[end] != pairs[end - 1] + 1:
                break
            counts = counts + is_on[:, end]
            if (counts > 1).any():
                break
            # Two columns are on in turn if one is the negation of the other: a dependency.
            if (counts == 1).all() and end - start >= 2:
                shares = is_on[:, start : end + 1].mean(axis=0)
                log_chance = len(points) * math.log(_chance_of_one(shares))
                if log_chance < _log_chance(len(pairs) ** 2):
                    groups.append(OneHot([space.names[column] for column in pairs[start : end + 1]]))
                    start = end
                break
        start += 1
    return groups


def _chance_of_one(shares: Codes) -> float:
    """Return the probability that exactly one of some independent events occurs."""
    others = [float(np.prod(np.delete(1 - shares, place))) for place in range(len(shares))]
    return float(np.clip(np.dot(shares, others), 1e-300, 1 - 1e-12))


# -- equalities ---------------------------------------------------------------------------------------------------------


def _find_equalities(points: Points, columns: Sequence[int]) -> list[LinearEquality]:
    """Return linear equalities, those with few terms first; what follows from them is left out."""
    values = _select_complete_rows(points.codes, columns)
    if values is None:
        return []
    used, matrix = values
    scales = matrix.std(axis=0)
    standard = (matrix - matrix.mean(axis=0)) / np.where(scales > 0, scales, 1.0)
    covariance = standard.T @ standard / len(standard)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    null_vectors = vectors[:, eigenvalues < MAX_RESIDUAL_VARIANCE * MAX_TERMS]
    weights = np.square(null_vectors).sum(axis=1)  # of each column in equalities, from 0 to 1
    tied = np.flatnonzero(weights > 1e-4)
    if not len(tied):
        return []
    equalities: list[LinearEquality] = []
    column_sets: list[set[int]] = []
    rows = np.empty((0, len(used)))
    for subset in _list_candidates(covariance, tied, weights):
        if any(columns <= set(subset) for columns in column_sets):
            continue
        equality = _fit_equality(points, [used[place] for place in subset], matrix[:, list(subset)])
        if equality is None:
            continue
        row = np.zeros(len(used))
        row[list(subset)] = [dict(equality.terms)[points.space.names[used[place]]] for place in subset]
        row = row * scales
        extended = np.vstack([rows, row / np.linalg.norm(row)])
        if np.linalg.matrix_rank(extended, tol=1e-6) == len(extended):  # it does not follow from the others
            rows = extended
            column_sets.append(set(subset))
            equalities.append(equality)
        if len(equalities) == MAX_RELATIONS_PER_KIND:
            break
    return equalities


def _select_complete_rows(codes: Codes, columns: Sequence[int]) -> tuple[list[int], Codes] | None:
    """Return columns and their rows without missing values, without columns that would leave too few rows."""
    used = list(columns)
    while len(used) > 1:
        matrix = codes[:, used]
        missing = np.isnan(matrix)
        complete = ~missing.any(axis=1)
        if complete.sum() >= max(MIN_ROWS, len(codes) / 10):
            matrix = matrix[complete]
            matrix = matrix[:: math.ceil(len(matrix) / MAX_FITTED_ROWS)]
            varied = np.flatnonzero(matrix.min(axis=0) < matrix.max(axis=0))
            return ([used[place] for place in varied], matrix[:, varied]) if len(varied) > 1 else None
        used.pop(int(missing.sum(axis=0).argmax()))
    return None


def _list_candidates(covariance: Codes, tied: npt.NDArray[np.intp], weights: Codes) -> Iterator[Columns]:
    """Yield sets of columns that are nearly dependent, the smallest first."""
    correlated = np.argwhere(np.triu(np.abs(covariance), 1) > 1 - MAX_RESIDUAL_VARIANCE)
    yield from ((int(first), int(second)) for first, second in correlated)
    # Of columns that are multiples of each other, one stands for all.
    copies = {int(second) for _, second in correlated}
    chosen = [int(column) for column in tied if int(column) not in copies]
    if len(chosen) > MAX_TIED_COLUMNS:
        order = np.argsort(-weights[chosen], kind="stable")[:MAX_TIED_COLUMNS]
        chosen = sorted(chosen[place] for place in order)
    for size in range(3, MAX_TERMS + 1):
        subsets = np.array(list(combinations(chosen, size)), dtype=np.intp).reshape(-1, size)
        if not len(subsets):
            return
        smallest = np.linalg.eigvalsh(covariance[subsets[:, :, None], subsets[:, None, :]])[:, 0]
        for place in np.flatnonzero(smallest < MAX_RESIDUAL_VARIANCE).tolist():
            yield tuple(subsets[place].tolist())


def _fit_equality(points: Points, columns: Sequence[int], matrix: Codes) -> LinearEquality | None:
    """Return the equality with simple coefficients among some columns that all rows keep, or None."""
    centred = matrix - matrix.mean(axis=0)
    scales = centred.std(axis=0)
    # The smallest eigenvector of the standardised columns, in their own units.
    standard = centred / scales
    vector = np.linalg.eigh(standard.T @ standard)[1][:, 0] / scales
    if len(columns) == 2:
        coefficients = _simplify_factor(vector)
    else:
        ratios = vector / np.abs(vector).min()
        coefficients = np.rint(ratios)
        sizes = np.abs(coefficients)
        if (np.abs(ratios - coefficients) > 0.05 * sizes).any() or sizes.max() > MAX_COEFFICIENT:
            return None
    return _verify_equality(points, columns, matrix, coefficients)


def _simplify_factor(vector: Codes) -> Codes:
    """Return the coefficients of two columns: 1, and a factor with as few digits as the data may have."""
    unit = int(np.abs(vector).argmin())
    factor = float(vector[1 - unit] / vector[unit])
    for digits in range(1, 10):
        short = float(f"{factor:.{digits}g}")
        if abs(short - factor) <= 1e-6 * abs(factor):
            factor = short
            break
    coefficients = np.ones(2)
    coefficients[1 - unit] = factor
    return coefficients


def _verify_equality(
    points: Points, columns: Sequence[int], matrix: Codes, coefficients: Codes
) -> LinearEquality | None:
    """Return the equality if all rows keep it to within rounding, and chance does not explain that."""
    space = points.space
    sums = matrix @ coefficients
    constant = float(np.median(sums))
    scale = float(np.abs(matrix * coefficients).max())
    for digits in range(9):  # the shortest constant that fits
        short = round(constant, digits)
        if abs(short - constant) <= 1e-9 * max(scale, 1.0):
            constant = short
            break
    tolerance = 0.0
    exact = float(np.abs(sums - constant).max()) <= 1e-9 * scale
    if not exact:
        units = np.array([_find_unit(matrix[:, place]) for place in range(len(columns))])
        kinds = [space.features[column].kind for column in columns]
        if "continuous" not in kinds or not units.all():
            return None
        rounding = float(np.dot(np.abs(coefficients), units) / 2)
        spreads = np.abs(coefficients) * matrix.std(axis=0)
        constant = _round_to_unit(float(np.mean(sums)), rounding)
        if rounding > MAX_ROUNDING_SHARE * spreads.min() or np.abs(sums - constant).max() > rounding * (1 + 1e-6):
            return None
        tolerance = rounding * (1 + 1e-6)
    names = [space.names[column] for column in columns]
    equality = LinearEquality.from_coefficients(
        dict(zip(names, map(float, coefficients), strict=True)), constant, tolerance
    )
    if not equality.satisfied(space, points.codes).all() or not _is_beyond_chance(matrix, len(columns)):
        return None
    return equality


def _find_unit(values: Codes) -> float:
    """Return the unit that all values are multiples of, if they are rounded to a few decimals; else 0."""
    sample = values[:SCREENED_ROWS]
    for decimals in range(MAX_DECIMALS + 1):
        if np.abs(np.round(sample, decimals) - sample).max() <= 1e-12 * max(1.0, float(np.abs(sample).max())):
            return float(10.0**-decimals)
    return 0.0


def _round_to_unit(value: float, rounding: float) -> float:
    """Return a number rounded to a tenth of the rounding errors around it; zero if they explain it."""
    return 0.0 if abs(value) <= rounding else round(value, max(0, 1 - math.floor(math.log10(max(rounding, 1e-12)))))


def _is_beyond_chance(matrix: Codes, terms: int) -> bool:
    """Tell whether values drawn independently, even of the least varied column, would break an equality."""
    repeat_shares = []
    for column in matrix.T:
        counts = np.unique(column, return_counts=True)[1]
        repeat_shares.append(float(np.square(counts / len(column)).sum()))
    share = max(repeat_shares)  # the probability that the right value occurs by chance
    trials = len(matrix) - terms  # as many rows fit by the choice of the coefficients
    return trials > 0 and trials * math.log(min(share, 1 - 1e-12)) < _log_chance(matrix.shape[0])


# -- orders ---------------------------------------------------------------------------------------------------------------


def _find_orders(points: Points, columns: Sequence[int], equalities: Sequence[LinearEquality]) -> list[Constraint]:
    """Return orders between columns of comparable units, without those that follow from others."""
    codes, space = points.codes, points.space
    varied = [column for column in columns if len(np.unique(codes[:SCREENED_ROWS, column])) >= MIN_ORDERED_VALUES]
    if len(varied) < 2:
        return []
    matrix = codes[:, varied]
    head = matrix[:SCREENED_ROWS]
    lows, highs, spreads = np.nanmin(matrix, axis=0), np.nanmax(matrix, axis=0), np.nanstd(matrix, axis=0)
    holds = np.empty((len(varied), len(varied)), dtype=bool)
    for place in range(len(varied)):
        holds[place] = ~(head[:, place, None] > head).any(axis=0)  # False for missing values
    holds &= highs[:, None] > lows  # otherwise the ranges imply it
    ratio = spreads / spreads[:, None]
    holds &= (ratio <= MAX_SPREAD_RATIO) & (ratio >= 1 / MAX_SPREAD_RATIO)
    np.fill_diagonal(holds, False)
    limit = _log_chance(len(varied) ** 2)
    evidence: dict[Columns, float] = {}
    for first, second in np.argwhere(holds).tolist():
        log_chance = _judge_order(matrix[:, first], matrix[:, second])
        if log_chance < limit and not _is_implied(
            space, (varied[first], varied[second]), equalities, lows_and_highs=(lows, highs), columns=varied
        ):
            evidence[(first, second)] = log_chance
    reduced = [
        pair
        for pair in evidence
        if not any((pair[0], middle) in evidence and (middle, pair[1]) in evidence for middle in range(len(varied)))
    ]
    strongest = sorted(reduced, key=lambda pair: evidence[pair])[:MAX_RELATIONS_PER_KIND]
    return [
        Compare(space.names[varied[first]], "<=", space.names[varied[second]]) for first, second in sorted(strongest)
    ]


def _judge_order(smaller: Codes, larger: Codes) -> float:
    """Return the logarithm of the probability of an order by chance; 0 if it does not hold or is not tight."""
    known = ~(np.isnan(smaller) | np.isnan(larger))
    smaller, larger = smaller[known], larger[known]
    if len(smaller) < MIN_ROWS:
        return 0.0
    gaps = larger - smaller
    if gaps.min() < 0 or gaps.max() == 0 or gaps.min() > MAX_GAP_SHARE * np.median(gaps):
        return 0.0
    break_share = float(np.searchsorted(np.sort(larger), smaller, side="left").mean()) / len(larger)
    return len(smaller) * math.log(max(1 - break_share, 1e-300))


def _is_implied(
    space: Space,
    pair: tuple[int, int],
    equalities: Sequence[LinearEquality],
    *,
    lows_and_highs: tuple[Codes, Codes],
    columns: Sequence[int],
) -> bool:
    """Tell whether an order follows from an equality and the ranges of its other columns."""
    smaller, larger = (space.names[column] for column in pair)
    place_of = {space.names[column]: place for place, column in enumerate(columns)}
    lows, highs = lows_and_highs
    for equality in equalities:
        factors = dict(equality.terms)
        if smaller not in factors or larger not in factors or not all(name in place_of for name in factors):
            continue
        # The larger column in terms of the others, minus the smaller one, at its least.
        least = equality.constant / factors[larger]
        for name, factor in equality.terms:
            if name != larger:
                weight = -factor / factors[larger] - (name == smaller)
                least += weight * (lows if weight > 0 else highs)[place_of[name]]
        if least >= -1e-9 * max(1.0, abs(equality.constant)):
            return True
    return False


# -- dependencies ---------------------------------------------------------------------------------------------------------


def _find_dependencies(
    points: Points, discrete: Sequence[int], numeric: Sequence[int], equalities: Sequence[LinearEquality]
) -> list[Constraint]:
    """Return columns that determine others, without those that follow from others or from equalities."""
    codes, space = points.codes, points.space
    columns = sorted({*discrete, *numeric})
    matrix = codes[:, columns]
    place_of = {column: place for place, column in enumerate(columns)}
    equal_pairs = {frozenset(equality.names) for equality in equalities if len(equality.names) == 2}
    limit = _log_chance(len(discrete) * len(columns))
    strength: dict[Columns, float] = {}
    for determinant in discrete:
        place = place_of[determinant]
        candidates = _find_pure_columns(matrix[:SCREENED_ROWS], place)
        candidates[place] = False
        if not candidates.any():
            continue
        known = ~np.isnan(matrix[:, place])
        if known.sum() < MIN_DETERMINANT_ROWS * len(np.unique(matrix[known, place])):
            continue
        candidates[candidates] = _find_pure_columns(np.column_stack([matrix[:, place], matrix[:, candidates]]), 0)[1:]
        for other in np.flatnonzero(candidates).tolist():
            if frozenset((space.names[determinant], space.names[columns[other]])) in equal_pairs:
                continue
            log_chance = _judge_dependency(matrix[:, place], matrix[:, other])
            if log_chance < limit:
                strength[(determinant, columns[other])] = log_chance
    # Of two columns that determine each other, the first determines the second.
    pairs = {pair for pair in strength if pair[::-1] not in strength or pair[0] < pair[1]}
    reduced = [
        pair
        for pair in pairs
        if not any((pair[0], middle) in pairs and (middle, pair[1]) in pairs for middle in columns)
    ]
    strongest = sorted(reduced, key=lambda pair: (strength[pair], pair))[:MAX_RELATIONS_PER_KIND]
    return [Dependency(_tabulate(points, pair)) for pair in _sort_chains(strongest)]


def _sort_chains(pairs: Sequence[Columns]) -> list[Columns]:
    """Return pairs so that a column is determined before it determines another one."""
    remaining, ordered = sorted(pairs), []
    while remaining:
        dependents = {pair[1] for pair in remaining}
        ready = [pair for pair in remaining if pair[0] not in dependents] or remaining[:1]
        ordered += ready
        remaining = [pair for pair in remaining if pair not in ready]
    return ordered


def _find_pure_columns(matrix: Codes, place: int) -> Mask:
    """Return which columns have one value per value of the column at `place`; missing values are skipped."""
    known = matrix[~np.isnan(matrix[:, place])]
    if not len(known):
        return np.zeros(matrix.shape[1], dtype=bool)
    ordered = known[np.argsort(known[:, place], kind="stable")]
    starts = np.flatnonzero(np.diff(ordered[:, place], prepend=np.nan) != 0)
    lowest, highest = np.fmin.reduceat(ordered, starts, axis=0), np.fmax.reduceat(ordered, starts, axis=0)
    return np.asarray(((lowest == highest) | np.isnan(lowest)).all(axis=0))


def _judge_dependency(determinant: Codes, dependent: Codes) -> float:
    """Return the logarithm of the probability of a dependency by chance."""
    known = ~(np.isnan(determinant) | np.isnan(dependent))
    if known.sum() < MIN_ROWS:
        return 0.0
    group_sizes = np.unique(determinant[known], return_counts=True)[1]
    counts = np.unique(dependent[known], return_counts=True)[1]
    if len(counts) < 2:
        return 0.0
    shares = counts / counts.sum()
    # All rows of a group have the same value with the probability of the sum of shares ** size.
    sizes, repeats = np.unique(group_sizes, return_counts=True)
    log_shares = np.log(shares)
    exponents = sizes[:, None] * log_shares
    largest = exponents.max(axis=1)
    log_chances = largest + np.log(np.exp(exponents - largest[:, None]).sum(axis=1))
    return float(np.dot(repeats, log_chances))


def _tabulate(points: Points, pair: Columns) -> pd.DataFrame:
    """Return each value of the first column with its value of the second, in the user's values."""
    columns = points.codes[:, list(pair)]
    known = np.flatnonzero(~np.isnan(columns).any(axis=1))
    _, first = np.unique(columns[known, 0], return_index=True)
    names = [points.space.names[column] for column in pair]
    return points.take(known[first]).frame[names]
