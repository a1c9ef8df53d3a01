"""Tables 5 to 7 of document 004: what 3-NN scores on rows that trees chose, against 10-fold cross-validation.

And one study more, ours alone: what a learner is worth that was trained on such rows.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from .._text import pluralize
from ..trees.boundaries import BEYOND, STEP, Offset
from .published import published
from .rows import Row, figures, part_of, row_of
from .tree_trials import CHOSEN, DRAWS, LEARNERS, SCORES, WAYS, Folding, Learning, Moving, Splitting
from .trees import STATISTICS, at_hand, in_print, known, note_on, words
from .workload import Bench, Job, Scale

OFFSETS: tuple[Offset, ...] = (STEP, 0.5, BEYOND)
SPLITS = 2  # a repetition

ORACLE = "The label of a row that was made is what the tree answers: it is the oracle here."
STEPS = (
    "Values lie one step inside the limits, as section 4.4.1 says (slightly greater or lesser), and not anywhere beyond "
    "them, as section 8 says."
)
SHUFFLED = "Cross-validation is stratified and shuffled, and scores are means over the folds."
WEIGHTED = "Scores are weighted by the sizes of the classes, so recall and accuracy are the same."
SAME_SETS = "Theirs is the mean of the same data sets, computed from Table 5."
FROM_5 = "Theirs is computed from Table 5."
UNPAIRED = "Two-sided t-test of two independent samples."
INSIDE = (
    "The tree grows on nine folds and rows are chosen from these: all others of the nine train the 3-NN, which is put to "
    "the tenth fold, too."
)
INTERVAL = "Of the mean over data sets, from how it varies over seeds."
MEANS = "Ours is computed from the means over seeds."
DISTANCE = "How far ours is from theirs, on average over data sets."
ALONE = "Seeds of which each alone gives p < 1 % and a lower score."


# -- how much, and what came out ---------------------------------------------------------------------


def splits(scale: Scale) -> int:
    """Return how many seeds are tried."""
    return SPLITS * scale.repetitions


def fewer(scale: Scale) -> int:
    """Return how many seeds are tried of what takes longer or matters less."""
    return max(1, scale.repetitions // 3)


def amount(scale: Scale) -> str:
    """Say how much is done."""
    less = pluralize(fewer(scale), "seed")
    return f"{pluralize(splits(scale), 'seed')} (inside cross-validation, other offsets: {less})"


class Found:
    """Scores of the data sets that are at hand, by seed: theirs and ours."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.names = at_hand(bench.scale)

    def by_seed(
        self, measure: str, make: Callable[[str, int], Job] = Splitting, seeds: int = 0
    ) -> list[list[float]]:
        """Return a measure: for each seed its value on each data set."""
        return [
            [self.bench.figure(make(name, number), measure) for name in self.names]
            for number in range(seeds or splits(self.bench.scale))
        ]

    def ours(self, measure: str, make: Callable[[str, int], Job] = Splitting, seeds: int = 0) -> list[float]:
        """Return a measure of each data set, as mean over seeds."""
        return [statistics.fmean(each) for each in zip(*self.by_seed(measure, make, seeds), strict=True)]

    def theirs(self, measure: str) -> list[float]:
        """Return what is in print for the data sets that are at hand."""
        printed = _printed()
        return [printed[name, measure] for name in self.names]

    @property
    def less(self) -> str:
        """Say of which data sets ours is."""
        return part_of([words(name) for name in self.names], len(in_print()), "data sets")


@cache
def _printed() -> dict[tuple[str, str], float]:
    return {(f.subject, f.measure): f.published for f in figures(published("004-5"))}


def _all_of(measure: str) -> list[float]:
    """Return what is in print for all data sets."""
    return [_printed()[name, measure] for name in in_print()]


def _test(test: str, *values: Sequence[float], **options: Any) -> tuple[float, float]:
    """Return statistic and p of a test of SciPy's; NaN as long as nothing was measured."""
    if not known(*values):
        return math.nan, math.nan
    from scipy import stats

    found = getattr(stats, test)(*values, **options)
    return float(found.statistic), float(found.pvalue)


# -- Table 5 -----------------------------------------------------------------------------------------


def scores(table: str, bench: Bench) -> list[Row]:
    """Return Table 5: scores by data set, statistics over them, and what other ways to do it give."""
    found = Found(bench)
    rows = []
    for figure in figures(published(table)):
        name, measure, notes = figure.subject, figure.measure, _notes(figure.measure)
        values = found.ours(measure)
        if name.startswith("Shapiro-Wilk"):
            statistic, p = _test("shapiro", values)
            ours, notes = (statistic if name.endswith("W") else p), [*notes, found.less]
        elif name in STATISTICS:
            ours, notes = STATISTICS[name](values) if known(values) else math.nan, [*notes, found.less]
        else:
            ours = values[found.names.index(name)] if name in found.names else math.nan
            notes = [*notes, note_on(name, found.names)]
        rows.append(_in_percent(row_of(figure, table, words(name), ours=ours, notes=notes)))
    return [*rows, *(row for measure in _measures() for row in _further(measure, found))]


def _measures() -> list[str]:
    return [f"{way} {score}" for way in WAYS for score in SCORES]


def _notes(measure: str) -> list[str]:
    return {"BVA": [ORACLE, STEPS, WEIGHTED], "CV": [SHUFFLED, WEIGHTED]}.get(measure.split()[0], [WEIGHTED])


def _in_percent(row: Row) -> Row:
    """Return a row of p-values in percent, so that small ones are told apart."""
    if not row.row.endswith(" p"):
        return row
    return row._replace(row=f"{row.row}, %", published=100 * row.published, ours=100 * row.ours)


def _further(measure: str, found: Found) -> list[Row]:
    """Return the mean of the same data sets with its interval, and what comes of it done in other ways."""
    theirs, way = found.theirs(measure), measure.split()[0]
    printed, notes = statistics.fmean(theirs), " ".join(_notes(measure))
    means = [statistics.fmean(each) for each in found.by_seed(measure)]
    mean, half = statistics.fmean(means), _half(means)

    def row(name: str, published: float, ours: float, note: str) -> Row:
        return Row(name, measure, published, ours, f"{notes} {note}")

    rows = [
        row("mean of the same", printed, mean, SAME_SETS),
        row("95 % interval, from", math.nan, mean - half, INTERVAL),
        row("95 % interval, to", math.nan, mean + half, INTERVAL),
    ]
    less = fewer(found.bench.scale)
    inside = statistics.fmean(found.ours(measure, Folding, less))
    rows.append(row("mean inside 10-fold", math.nan, inside, INSIDE))
    if way == "BVA":
        for offset in OFFSETS:
            values = found.ours(measure, Splitting if offset == STEP else _moving(offset), less)
            far = statistics.fmean(abs(a - b) for a, b in zip(values, theirs, strict=True))
            rows.append(row(f"mean, offset {offset}", printed, statistics.fmean(values), SAME_SETS))
            rows.append(row(f"difference, offset {offset}", math.nan, far, DISTANCE))
    return rows


def _moving(offset: Offset) -> Callable[[str, int], Job]:
    return lambda name, number: Moving(name, number, offset)


def _half(means: list[float]) -> float:
    """Return half of the 95 % interval of a mean."""
    if not known(means) or len(means) < 2:
        return math.nan
    from scipy.stats import t

    return float(t.ppf(0.975, len(means) - 1)) * statistics.stdev(means) / math.sqrt(len(means))


# -- Tables 6 and 7 ----------------------------------------------------------------------------------


def against(table: str, bench: Bench) -> list[Row]:
    """Return Table 6: Wilcoxon's test of each criterion against cross-validation, and of the boundary rows against DTC."""
    found = Found(bench)
    printed = {(f.subject, f.measure): f for f in figures(published(table))}
    rows: list[Row] = []
    for score in SCORES:
        for first, second in (*((way, "CV") for way in CHOSEN), ("BVA", "DTC")):
            pair = f"{first} {score}", f"{second} {score}"
            name = first if second == "CV" else f"{first} against {second}"
            theirs, ours = (_test("wilcoxon", *map(source, pair)) for source in (_all_of, found.ours))
            note = f"{MEANS} {found.less}"
            for k, column in enumerate(("W", "p")):
                figure, times = printed.get((score, f"{name} {column}")), 100 if column == "p" else 1
                shown = figure.published if figure is not None else theirs[k]
                said = note if figure is not None else f"{FROM_5} {note}"
                rows.append(
                    Row(score, f"{name} {column}{', %' * k}", times * shown, times * ours[k], said.strip())
                )
            rows.append(Row(score, f"{name} seeds, %", math.nan, _alone(found, *pair), ALONE))
    return rows


def _alone(found: Found, first: str, second: str) -> float:
    """Return the share of seeds which alone show that a score is lower than another."""
    pairs = list(zip(found.by_seed(first), found.by_seed(second), strict=True))
    if not known(*(each for pair in pairs for each in pair)):
        return math.nan
    lower = [
        _test("wilcoxon", one, other)[1] < 0.01 and statistics.fmean(one) < statistics.fmean(other)
        for one, other in pairs
    ]
    return 100 * statistics.fmean(lower)


def t_tests(table: str, bench: Bench) -> list[Row]:
    """Return Table 7: boundary values against mutation, by the unpaired test, and by the paired one beside it."""
    found = Found(bench)
    rows = []
    for figure in figures(published(table)):
        pair = f"BVA {figure.subject}", f"DTMT {figure.subject}"
        k, times = ("t", "p").index(figure.measure), 100 if figure.measure == "p" else 1
        shown = figure._replace(published=times * figure.published)
        column = f"{figure.measure}{', %' * k}"
        ours = times * _test("ttest_ind", *map(found.ours, pair))[k]
        notes = [UNPAIRED, MEANS, found.less]
        rows.append(row_of(shown, table, figure.subject, ours=ours, column=column, notes=notes))
        theirs, mine = (times * _test("ttest_rel", *map(source, pair))[k] for source in (_all_of, found.ours))
        rows.append(
            Row(figure.subject, f"paired {column}", theirs, mine, f"{FROM_5} {MEANS} {found.less}".strip())
        )
    return rows


# -- chosen rows to train on: ours alone -------------------------------------------------------------

TRAINING = (
    "Two thirds of the rows are there to choose from, the tree that chooses is grown on them, and the accuracy is on the "
    "other third; random choices are as large."
)
OURS_ALONE = "No published figure: the document suggests it only."


def training_amount(scale: Scale) -> str:
    """Say how much is done."""
    return f"{pluralize(splits(scale), 'seed')}, {DRAWS} random choices each"


def training(bench: Bench) -> list[Row]:
    """Return the accuracy of learners trained on chosen rows beside that of as many random rows, and a paired test."""
    found = Found(bench)
    rows = []
    for learner in LEARNERS:
        ours = {
            way: found.ours(f"{way} {learner}", Learning)
            for way in ("DTC", "random DTC", "DTMT", "random DTMT", "all")
        }
        for way, values in ours.items():
            column = f"{learner}, {way}" if not way.startswith("random") else f"{learner}, as many as {way[7:]}"
            each = [*zip(map(words, found.names), values, strict=True), ("mean", statistics.fmean(values))]
            rows += [Row(name, column, math.nan, value, f"{TRAINING} {OURS_ALONE}") for name, value in each]
            if way in ("DTC", "DTMT"):
                p = 100 * _test("wilcoxon", values, ours[f"random {way}"])[1]
                said = f"{TRAINING} {OURS_ALONE} Wilcoxon's test against random rows."
                rows.append(Row("p, %", column, math.nan, p, said))
    return rows
