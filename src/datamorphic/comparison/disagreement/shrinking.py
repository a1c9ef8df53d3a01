"""Shrink disagreements: as few changed values as possible, the range in which the systems differ, and its roundest value."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import OutOfBudget
from ...space.features import Codes, Mask
from ...space.points import Points
from .twins import PairedAnswers
from .values import FeatureGrid, bisect_codes, count_decimals, find_roundest
from .walks import NO_FEATURE, Cases, Positions, Search

MAX_CASES = 400  # that are shrunk
MAX_CASES_PER_FEATURE = 40  # of walks along one feature, with different values
MAX_CASES_WITHOUT_FEATURE = 100  # crossed rows and borders
MAX_FEATURES_AT_FAULT = 4  # of a case, of which the range is measured
SITE_ROUNDS = 3  # in which further ranges of the same features are looked for
SITES_PER_ROUND = 4  # and feature
ROUNDED_DECIMALS = 4
MAX_RESTORING_ROUNDS = 12
MAX_THIN_GRID_VALUES = 60  # values of the grid between which a range is looked for
MAX_ROWS_PER_QUERY = 20_000
SMALL_GAP = 1e-3  # of the spread of scores or numbers: single precision may explain a smaller difference


@dataclass(frozen=True, eq=False, kw_only=True)
class Site:
    """A range of one feature in which the two systems differ, shown by one case."""

    feature: int  # at fault: with its real value, the two systems agree
    low: float  # the range; infinite if it has no end
    high: float
    code: float  # the value of the feature in the case
    codes: Codes  # the case
    row: int  # the given row that was changed
    changed: tuple[int, ...]  # all features in which the case differs from the row
    answers: PairedAnswers  # to the case
    real_gap: bool  # whether single precision or a tie cannot explain the difference
    is_one_value: bool = False  # of a feature without an order
    is_narrow: bool = False  # whether the range is an edge: one value with the decimals of the data


def shrink(search: Search) -> list[Site]:
    """Return the disagreements of a search as sites, the simplest first; what the time allows."""
    if not search.disagreements:
        return []
    cases, answers = _select_cases(search)
    with suppress(OutOfBudget):
        cases, answers = _restore_values(search, cases, answers)
    changed = find_changes(search.points, cases)
    order = np.lexsort((-answers.severity, changed.sum(axis=1)))
    cases, answers, changed = cases.take(order), answers.take(order), changed[order]
    main = _choose_main_features(search, cases, changed)
    return _find_sites(search, cases, answers, changed, main)


def find_changes(points: Points, cases: Cases) -> Mask:
    """Return in which features cases differ from their given rows."""
    real = points.codes[cases.rows]
    return (cases.codes != real) & ~(np.isnan(cases.codes) & np.isnan(real))


def is_real(search: Search, answers: PairedAnswers) -> Mask:
    """Return which differences neither single precision nor a tie can explain."""
    smallest = SMALL_GAP if search.twins.single else 0.0
    gaps = np.where(np.isnan(answers.gaps), np.inf, answers.gaps)
    if search.twins.numeric:
        return np.asarray(answers.refused | (answers.answers_differ & (gaps > smallest)))
    labels = answers.answers_differ & ~answers.ties
    return np.asarray(answers.refused | labels | (answers.scores_differ & (gaps > smallest)))


def _select_cases(search: Search) -> tuple[Cases, PairedAnswers]:
    """Return the cases to shrink: of every feature some with different values, the worst first."""
    cases = Cases.concat([part for part, _ in search.disagreements])
    answers = PairedAnswers.concat([part for _, part in search.disagreements])
    severity = answers.severity
    changes = find_changes(search.points, cases).sum(axis=1)
    chosen: list[npt.NDArray[np.intp]] = []
    for feature in np.unique(cases.walked).tolist():
        places = np.flatnonzero(cases.walked == feature)
        places = places[np.lexsort((-severity[places], changes[places]))]
        if feature == NO_FEATURE:
            chosen.append(places[:MAX_CASES_WITHOUT_FEATURE])
            continue
        _, first = np.unique(cases.codes[places, feature], return_index=True)  # the worst case of every value
        first = first[np.linspace(0, len(first) - 1, min(len(first), MAX_CASES_PER_FEATURE)).astype(np.intp)]
        chosen.append(places[first])
    selection = np.concatenate(chosen)
    if len(selection) > MAX_CASES:
        selection = selection[np.lexsort((-severity[selection], changes[selection]))][:MAX_CASES]
    return cases.take(selection), answers.take(selection)


def _restore_values(search: Search, cases: Cases, answers: PairedAnswers) -> tuple[Cases, PairedAnswers]:
    """Give features back their real values wherever the systems still differ, for all cases at once."""
    codes, current = cases.codes.copy(), answers
    real = search.points.codes[cases.rows]
    was_real, was_refused = is_real(search, answers), answers.refused

    def still_differ(trial: Codes, owners: Positions) -> tuple[Mask, PairedAnswers]:
        if search.twins.is_late():
            raise OutOfBudget("the time of the search is over")
        outcome = search.twins.ask(Points(search.points.space, trial))
        same_kind = (is_real(search, outcome) | ~was_real[owners]) & (outcome.refused == was_refused[owners])
        return outcome.differ & same_kind, outcome

    open_cases = np.arange(len(codes))
    for _ in range(MAX_RESTORING_ROUNDS):
        changes = find_changes(search.points, Cases(codes=codes, rows=cases.rows, walked=cases.walked))
        open_cases = open_cases[changes[open_cases].sum(axis=1) > 1]
        if not len(open_cases):
            break
        places, features = np.nonzero(changes[open_cases])
        owners = open_cases[places]
        trial = codes[owners].copy()
        trial[np.arange(len(owners)), features] = real[owners, features]
        try:
            spare, _ = still_differ(trial, owners)
            not_needed = np.zeros_like(changes)
            not_needed[owners[spare], features[spare]] = True
            open_cases = np.flatnonzero(not_needed.any(axis=1))
            if not len(open_cases):
                break
            # all that are not needed alone, half of them, or only the first one, which is known to be spare
            ranks = np.cumsum(not_needed[open_cases], axis=1)
            counts = not_needed[open_cases].sum(axis=1)[:, None]
            limits = (counts, np.maximum(counts // 2, 1), np.ones_like(counts))
            restored = [not_needed[open_cases] & (ranks <= limit) for limit in limits]
            trials = [np.where(mask, real[open_cases], codes[open_cases]) for mask in restored]
            differ, outcome = still_differ(np.concatenate(trials), np.tile(open_cases, len(trials)))
        except OutOfBudget:
            break
        differ = differ.reshape(len(trials), -1)
        differ[-1] |= ~differ.any(axis=0)  # known from the first query
        choice = differ.argmax(axis=0)
        every = np.arange(len(open_cases))
        codes[open_cases] = np.stack(trials)[choice, every]
        current = _replace(current, open_cases, outcome.take(choice * len(open_cases) + every))
    return Cases(codes=codes, rows=cases.rows, walked=cases.walked), current


def _replace(answers: PairedAnswers, places: Positions, new_answers: PairedAnswers) -> PairedAnswers:
    """Return answers with some rows replaced."""
    joined = PairedAnswers.concat([answers, new_answers])
    source = np.arange(len(answers))
    source[places] = len(answers) + np.arange(len(places))
    return joined.take(source)


def _choose_main_features(search: Search, cases: Cases, changed: Mask) -> Positions:
    """Return the feature at fault of each case: the walked one if it is needed, else the first number, else any."""
    numeric = np.array([feature.is_number for feature in search.features])
    weights = changed * (1 + numeric)
    main = weights.argmax(axis=1)
    walked = np.where(cases.walked == NO_FEATURE, 0, cases.walked)
    is_needed = (cases.walked != NO_FEATURE) & changed[np.arange(len(cases)), walked]
    return np.where(is_needed, walked, main)


def _find_sites(search: Search, cases: Cases, answers: PairedAnswers, changed: Mask, main: Positions) -> list[Site]:
    """Return the ranges in which the systems differ; cases in a range that is known are covered by it."""
    sites: list[Site] = []
    open_cases: Mask = np.asarray(changed.any(axis=1))
    for _ in range(SITE_ROUNDS):
        chosen: list[int] = []
        for feature in np.unique(main[open_cases]).tolist():
            places = np.flatnonzero(open_cases & (main == feature))
            fewest = changed[places].sum(axis=1).min()
            places = places[changed[places].sum(axis=1) == fewest]
            places = places[np.argsort(cases.codes[places, feature], kind="stable")]
            spread = np.linspace(0, len(places) - 1, min(len(places), SITES_PER_ROUND)).astype(np.intp)
            chosen += places[np.unique(spread)].tolist()
        if not chosen:
            break
        selection = np.array(chosen)
        main[selection], lows, highs = _find_narrowest_ranges(search, cases.take(selection), changed[selection])
        sites += _build_sites(search, cases, answers, changed, main, selection, lows, highs)
        open_cases[selection] = False
        for site in sites:
            values = cases.codes[:, site.feature]
            inside = (values >= site.low) & (values <= site.high) | (np.isnan(site.code) & np.isnan(values))
            if len(site.changed) > 1:  # it needs its other features, too
                inside = inside & (main == site.feature)
            open_cases = open_cases & ~inside
    return _drop_covered(search, sites)


def _find_narrowest_ranges(search: Search, cases: Cases, changed: Mask) -> tuple[Positions, Codes, Codes]:
    """Return the feature at fault of each case, and its range: of several that it needs, the one with the least freedom."""
    needed = changed.copy()
    needed[changed.sum(axis=1) > MAX_FEATURES_AT_FAULT] &= (
        np.cumsum(changed, axis=1)[changed.sum(axis=1) > MAX_FEATURES_AT_FAULT] <= MAX_FEATURES_AT_FAULT
    )
    owners, features = np.nonzero(needed)
    lows, highs = _find_ranges(search, cases.take(owners), features)
    sizes = np.array(
        [_measure_freedom(search.features[f], low, high) for f, low, high in zip(features, lows, highs, strict=True)]
    )
    order = np.lexsort((sizes, owners))
    _, first = np.unique(owners[order], return_index=True)
    best = order[first]
    return features[best], lows[best], highs[best]


def _measure_freedom(feature: FeatureGrid, low: float, high: float) -> float:
    """Return how many of the values of a feature show a difference, as a share."""
    if not feature.is_number:
        return 1.0 / max(2, len(feature.grid))
    if np.isnan(low):
        return 0.0
    inner_low, inner_high = max(low, feature.low - feature.width), min(high, feature.high + feature.width)
    return float(max(0.0, inner_high - inner_low) / feature.width)


def _find_ranges(search: Search, cases: Cases, main: Positions) -> tuple[Codes, Codes]:
    """Return the range of the main feature of each case in which the two systems differ, to the last float."""
    every = np.arange(len(cases))
    values = cases.codes[every, main]
    lows, highs = values.copy(), values.copy()
    numeric = np.array([search.features[feature].is_number for feature in main]) & ~np.isnan(values)
    places = np.flatnonzero(numeric)
    left: list[tuple[int, float, float]] = []
    right: list[tuple[int, float, float]] = []
    for start in range(0, len(places), max(1, MAX_ROWS_PER_QUERY // (MAX_THIN_GRID_VALUES + 10))):
        part = places[start : start + max(1, MAX_ROWS_PER_QUERY // (MAX_THIN_GRID_VALUES + 10))]
        grids = [_thin_grid(search, cases, int(place), int(main[place])) for place in part]
        codes = np.concatenate(
            [np.repeat(cases.codes[[place]], len(grid), axis=0) for place, grid in zip(part, grids, strict=True)]
        )
        codes[np.arange(len(codes)), np.repeat(main[part], [len(grid) for grid in grids])] = np.concatenate(grids)
        if search.twins.is_late():
            break
        differ = search.twins.ask(Points(search.points.space, codes)).differ
        begin = 0
        for place, grid in zip(part.tolist(), grids, strict=True):
            flags = differ[begin : begin + len(grid)]
            begin += len(grid)
            at = int(np.searchsorted(grid, values[place]))
            before, after = np.flatnonzero(~flags[:at]), np.flatnonzero(~flags[at:])
            lows[place] = -np.inf if not len(before) else grid[before[-1] + 1]
            highs[place] = np.inf if not len(after) else grid[at + max(after[0] - 1, 0)]
            if len(before):
                left.append((place, grid[before[-1]], min(lows[place], values[place])))
            if len(after):
                right.append((place, max(highs[place], values[place]), grid[at + after[0]]))
    ends = [*left, *right]
    if not ends:
        return lows, highs
    owners = np.array([end[0] for end in ends])
    starts, stops = np.array([end[1:] for end in ends]).T
    is_lower = np.arange(len(ends)) < len(left)
    whole = np.array([search.features[feature].is_whole for feature in main[owners]])

    def decide(numbers: Codes, active: Positions) -> tuple[Codes, Codes]:
        if search.twins.is_late():
            return np.full(len(active), np.nan), np.zeros(len(active))
        codes = cases.codes[owners[active]].copy()
        codes[np.arange(len(active)), main[owners[active]]] = numbers
        differ = search.twins.ask(Points(search.points.space, codes)).differ
        return np.where(is_lower[active], ~differ, differ).astype(np.float64), np.zeros(len(active))

    outer, inner = bisect_codes(starts, stops, whole, decide)
    lows[owners[is_lower]] = inner[is_lower]
    highs[owners[~is_lower]] = outer[~is_lower]
    return lows, highs


def _thin_grid(search: Search, cases: Cases, place: int, feature: int) -> Codes:
    """Return some values of the grid of a feature, with the real value of the row and the value of the case."""
    grid = search.features[feature].grid
    thin = grid[np.linspace(0, len(grid) - 1, min(len(grid), MAX_THIN_GRID_VALUES)).astype(np.intp)]
    value = cases.codes[place, feature]
    own = [value, search.points.codes[cases.rows[place], feature]]
    for decimals in range(ROUNDED_DECIMALS):  # the systems may agree on rounded values
        own += [np.floor(value * 10.0**decimals) / 10.0**decimals, np.ceil(value * 10.0**decimals) / 10.0**decimals]
    if search.features[feature].is_whole:
        own = [np.rint(number) for number in own]
    numbers = np.array([*thin, *own])
    return np.unique(numbers[np.isfinite(numbers)])


def _build_sites(
    search: Search,
    cases: Cases,
    answers: PairedAnswers,
    changed: Mask,
    main: Positions,
    selection: Positions,
    lows: Codes,
    highs: Codes,
) -> list[Site]:
    """Return the sites of some cases, each with the roundest value of its range."""
    codes = cases.codes[selection].copy()
    features = main[selection]
    every = np.arange(len(selection))
    for place in range(len(selection)):
        if lows[place] < highs[place]:
            real_value = search.points.codes[cases.rows[selection[place]], features[place]]
            near = codes[place, features[place]] if np.isnan(real_value) else real_value
            codes[place, features[place]] = find_roundest(lows[place], highs[place], near)
    outcome = answers.take(selection)
    if not search.twins.is_late():
        rounded = search.twins.ask(Points(search.points.space, codes))
        was_real = is_real(search, outcome)
        use = (
            rounded.differ & (is_real(search, rounded) | ~was_real) & (rounded.answers_differ | ~outcome.answers_differ)
        )
        outcome = _replace(outcome, np.flatnonzero(use), rounded.take(np.flatnonzero(use)))
        codes = np.where(use[:, None], codes, cases.codes[selection])
    else:
        codes = cases.codes[selection]
    real = is_real(search, outcome)
    return [
        Site(
            feature=int(features[place]),
            low=float(lows[place]),
            high=float(highs[place]),
            code=float(codes[place, features[place]]),
            codes=codes[place],
            row=int(cases.rows[selection[place]]),
            changed=tuple(np.flatnonzero(changed[selection[place]]).tolist()),
            answers=outcome.take(np.array([place])),
            real_gap=bool(real[place]),
            is_one_value=not search.features[features[place]].is_number,
            is_narrow=_is_edge(search.features[features[place]], lows[place], highs[place]),
        )
        for place in every
    ]


def _is_edge(feature: FeatureGrid, low: float, high: float) -> bool:
    """Return whether a range has room for one value of the data, and has one with their decimals."""
    return bool(high - low < feature.one_value) and feature.has_plausible_value(low, high)


def _has_unusual_decimals(search: Search, site: Site, other: Site) -> bool:
    """Return whether a case has a value with more decimals than the data, at the feature of another site."""
    feature, value = search.features[other.feature], site.codes[other.feature]
    return feature.is_number and feature.decimals is not None and count_decimals(float(value)) > feature.decimals


def _drop_covered(search: Search, sites: list[Site]) -> list[Site]:
    """Return the sites without those that a simpler site explains.

    A case that needs several features is explained by a simpler site at one of them: with the same value, or if the case
    only says for which values of the other features the difference shows.
    """
    accepted: list[Site] = []
    for site in sorted(sites, key=lambda site: len(site.changed)):
        simpler = [other for other in accepted if len(other.changed) < len(site.changed)]
        is_covered = any(
            other.feature in site.changed
            and (other.feature != site.feature or other.low <= site.codes[other.feature] <= other.high)
            and (
                not site.is_narrow
                or _has_unusual_decimals(search, site, other)
                or other.low <= site.codes[other.feature] <= other.high
            )
            for other in simpler
        )
        is_repeated = any(
            other.feature == site.feature and (other.low, other.high, other.code) == (site.low, site.high, site.code)
            for other in accepted
        )
        if not is_covered and not is_repeated:
            accepted.append(site)
    return accepted
