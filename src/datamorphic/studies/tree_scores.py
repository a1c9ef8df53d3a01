"""Scores of 3-NN on rows that trees choose: Tables 5 to 7 of Silveira et al. (2025).

A further study, our own, trains learners on such rows.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from .._text import pluralise
from ..trees.boundaries import BEYOND, STEP, Offset
from .intervals import estimate_runs, estimate_share
from .published import Kind, published
from .rows import OurFigure, Row, describe_part, iterate_figures, make_row
from .tree_trials import CRITERIA, DRAWS, LEARNERS, SCORES, TEST_METHODS, Folding, Learning, Moving, Splitting
from .trees import STATISTICS, describe_data_set, find_available, format_name, is_known, list_published_sets
from .workload import Job, Scale, Workbench

OFFSETS: tuple[Offset, ...] = (STEP, 0.5, BEYOND)
SPLITS_PER_REPETITION = 2  # per repetition

ORACLE_NOTE = "The label of a generated row is the answer of the tree, which serves as the oracle here."
STEPS_NOTE = (
    "Values lie one step inside the limits, as section 4.4.1 says (slightly greater or lesser), and not anywhere beyond "
    "them, as section 8 says."
)
EARLIER_NOTE = "The earlier study used fewer data sets; ours are those of the current one in both rows."
SHUFFLED_NOTE = "Cross-validation is stratified and shuffled, and scores are means over the folds."
WEIGHTED_NOTE = "Scores are weighted by the sizes of the classes, so recall and accuracy are the same."
SAME_SETS_NOTE = "The published value is the mean of the same data sets, computed from Table 5."
FROM_TABLE_5_NOTE = "The published value is computed from Table 5."
UNPAIRED_NOTE = "Two-sided t-test of two independent samples."
INSIDE_FOLDS_NOTE = (
    "The tree is fitted to nine folds, and rows are chosen from these. The other rows of the nine train the 3-NN, which "
    "is also tested on the tenth fold."
)
INTERVAL_NOTE = "The interval is from the variation of the mean over seeds."
DISTANCE_NOTE = "Mean distance between our value and the published one, over data sets."
SINGLE_SEEDS_NOTE = "Seeds that, each on its own, give p < 1% and a lower score."


# -- scale and scores ---------------------------------------------------------------------


def count_splits(scale: Scale) -> int:
    """Return the number of seeds."""
    return SPLITS_PER_REPETITION * scale.repetitions


def count_fewer_splits(scale: Scale) -> int:
    """Return the number of seeds for slower or less important figures."""
    return max(1, scale.repetitions // 3)


def format_amount(scale: Scale) -> str:
    """Describe how much is measured."""
    less = pluralise(count_fewer_splits(scale), "seed")
    return f"{pluralise(count_splits(scale), 'seed')} (inside cross-validation, other offsets: {less})"


class TreeScores:
    """Scores of the available data sets by seed, published and ours."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.names = find_available(bench.scale)

    def by_seed(self, measure: str, make: Callable[[str, int], Job] = Splitting, seeds: int = 0) -> list[list[float]]:
        """Return a measure per seed and data set."""
        return [
            [self.bench.figure(make(name, number), measure) for name in self.names]
            for number in range(seeds or count_splits(self.bench.scale))
        ]

    def ours(self, measure: str, make: Callable[[str, int], Job] = Splitting, seeds: int = 0) -> list[float]:
        """Return a measure per data set, as mean over seeds."""
        return [figure.value for figure in self.estimates(measure, make, seeds)]

    def estimates(self, measure: str, make: Callable[[str, int], Job] = Splitting, seeds: int = 0) -> list[OurFigure]:
        """Return a measure per data set, with its interval over seeds."""
        return [estimate_runs(values) for values in zip(*self.by_seed(measure, make, seeds), strict=True)]

    def mean(self, measure: str, make: Callable[[str, int], Job] = Splitting, seeds: int = 0) -> OurFigure:
        """Return the mean of a measure over data sets, with its interval over seeds."""
        return self.compute(statistics.fmean, measure, make=make, seeds=seeds)

    def compute(
        self,
        statistic: Callable[..., float],
        *measures: str,
        make: Callable[[str, int], Job] = Splitting,
        seeds: int = 0,
    ) -> OurFigure:
        """Return a statistic of the scores of all data sets, as the mean over seeds."""
        scores = list(zip(*(self.by_seed(measure, make, seeds) for measure in measures), strict=True))
        if not is_known(*(values for seed_scores in scores for values in seed_scores)):
            return OurFigure(math.nan)
        return estimate_runs(statistic(*seed_scores) for seed_scores in scores)

    def theirs(self, measure: str) -> list[float]:
        """Return the published figures of the available data sets."""
        printed = _load_published_scores()
        return [printed[name, measure] for name in self.names]

    @property
    def scope_note(self) -> str:
        """A note on the data sets that ours covers."""
        return describe_part([format_name(name) for name in self.names], len(list_published_sets()), "data sets")


@cache
def _load_published_scores() -> dict[tuple[str, str], float]:
    return {(f.subject, f.measure): f.published for f in iterate_figures(published("004-5"))}


def _find_published(measure: str) -> list[float]:
    """Return the published figures of all data sets."""
    return [_load_published_scores()[name, measure] for name in list_published_sets()]


def _compute_test(test: str, number: int, *values: Sequence[float]) -> float:
    """Return the statistic (0) or the p-value (1) of a SciPy test."""
    return run_test(test, *values)[number]


def run_test(test: str, *values: Sequence[float], **options: Any) -> tuple[float, float]:
    """Return statistic and p-value of a SciPy test; NaN until measured."""
    if not is_known(*values):
        return math.nan, math.nan
    from scipy import stats

    result = getattr(stats, test)(*values, **options)
    return float(result.statistic), float(result.pvalue)


# -- Table 5 -----------------------------------------------------------------------------------------


def build_score_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 5: scores per data set, statistics, and results of variants of the method."""
    tree_scores = TreeScores(bench)
    rows = [_make_score_row(figure, table, tree_scores) for figure in iterate_figures(published(table))]
    measures = [f"{way} {score}" for way in TEST_METHODS for score in SCORES]
    return [*rows, *(row for measure in measures for row in _build_further_rows(measure, tree_scores))]


def build_comparison_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 8: the statistics of Table 5 beside those of an earlier study on fewer data sets."""
    tree_scores = TreeScores(bench)
    return [
        _make_score_row(figure, table, tree_scores, f"{figure.data} research", EARLIER_NOTE)
        for figure in iterate_figures(published(table))
    ]


def _make_score_row(figure: Any, table: str, tree_scores: TreeScores, place: str = "", note: str = "") -> Row:
    """Return a score of a data set, or a statistic of the scores of all."""
    name, scope, part = figure.subject, tree_scores.scope_note, False
    if name.startswith("Shapiro-Wilk"):
        ours = tree_scores.compute(partial(_compute_test, "shapiro", not name.endswith("W")), figure.measure)
        part = bool(scope)
    elif name in STATISTICS:
        ours, part = tree_scores.compute(STATISTICS[name], figure.measure), bool(scope)
    else:
        ours, scope = OurFigure(math.nan), describe_data_set(name, tree_scores.names)
        if name in tree_scores.names:
            ours = tree_scores.estimates(figure.measure)[tree_scores.names.index(name)]
    notes, shown_name = [*_describe_measure(figure.measure), scope, note], format_name(name)
    if name.endswith(" p"):  # in percent, so that small p-values can be distinguished
        shown_name, ours = f"{shown_name}, %", ours.times(100)
        figure = figure._replace(published=100 * figure.published, unit=100 * figure.unit)
    return make_row(figure, table, *filter(None, (place, shown_name)), ours=ours, notes=notes, part=part)


def _describe_measure(measure: str) -> list[str]:
    return {"BVA": [ORACLE_NOTE, STEPS_NOTE, WEIGHTED_NOTE], "CV": [SHUFFLED_NOTE, WEIGHTED_NOTE]}.get(
        measure.split()[0], [WEIGHTED_NOTE]
    )


def _build_further_rows(measure: str, tree_scores: TreeScores) -> list[Row]:
    """Return the mean over the same data sets with its interval, and results of variants."""
    theirs, way = tree_scores.theirs(measure), measure.split()[0]
    printed, notes = statistics.fmean(theirs), " ".join(_describe_measure(measure))

    def row(name: str, published: float, ours: OurFigure, note: str) -> Row:
        return ours.to_row(name, measure, f"{notes} {note}", published)

    less = count_fewer_splits(tree_scores.bench.scale)
    rows = [
        row("mean of the same", printed, tree_scores.mean(measure), f"{SAME_SETS_NOTE} {INTERVAL_NOTE}"),
        row("mean inside 10-fold", math.nan, tree_scores.mean(measure, Folding, less), INSIDE_FOLDS_NOTE),
    ]
    if way == "BVA":
        for offset in OFFSETS:
            make = Splitting if offset == STEP else partial(Moving, offset=offset)
            values = tree_scores.ours(measure, make, less)
            far = OurFigure(statistics.fmean(abs(a - b) for a, b in zip(values, theirs, strict=True)), trials=less)
            rows.append(row(f"mean, offset {offset}", printed, tree_scores.mean(measure, make, less), SAME_SETS_NOTE))
            rows.append(row(f"difference, offset {offset}", math.nan, far, DISTANCE_NOTE))
    return rows


# -- Tables 6 and 7 ----------------------------------------------------------------------------------


def build_wilcoxon_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 6: Wilcoxon's test of each criterion against cross-validation, and of BVA against DTC."""
    tree_scores = TreeScores(bench)
    printed = {(f.subject, f.measure): f for f in iterate_figures(published(table))}
    rows: list[Row] = []
    for score in SCORES:
        for first, second in (*((way, "CV") for way in CRITERIA), ("BVA", "DTC")):
            pair = f"{first} {score}", f"{second} {score}"
            name = first if second == "CV" else f"{first} against {second}"
            theirs, note = run_test("wilcoxon", *map(_find_published, pair)), tree_scores.scope_note
            for k, (letter, unit, times) in enumerate((("W", "", 1), ("p", ", %", 100))):
                figure = printed.get((score, f"{name} {letter}"))
                column = f"{name} {letter}{unit}"
                ours = tree_scores.compute(partial(_compute_test, "wilcoxon", k), *pair).times(times)
                if figure is None:
                    full_note = f"{FROM_TABLE_5_NOTE} {note}".strip()
                    rows.append(ours.to_row(score, column, full_note, times * theirs[k], [Kind.PART] if note else []))
                    continue
                scaled_figure = figure._replace(published=times * figure.published, unit=times * figure.unit)
                row = make_row(scaled_figure, table, score, ours=ours, column=column, notes=[note], part=bool(note))
                rows.append(row)
            share = _compute_lower_share(tree_scores, *pair)
            rows.append(share.to_row(score, f"{name} seeds, %", SINGLE_SEEDS_NOTE))
    return rows


def _compute_lower_share(tree_scores: TreeScores, first: str, second: str) -> OurFigure:
    """Return the percentage of seeds that alone show one score to be lower than the other."""
    pairs = list(zip(tree_scores.by_seed(first), tree_scores.by_seed(second), strict=True))
    if not is_known(*(values for pair in pairs for values in pair)):
        return OurFigure(math.nan)
    lower = [
        run_test("wilcoxon", lower_scores, higher_scores)[1] < 0.01
        and statistics.fmean(lower_scores) < statistics.fmean(higher_scores)
        for lower_scores, higher_scores in pairs
    ]
    return estimate_share(sum(lower), len(lower))


def build_t_test_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 7: boundary values against mutation, by the unpaired and the paired t-test."""
    tree_scores = TreeScores(bench)
    rows = []
    for figure in iterate_figures(published(table)):
        pair = f"BVA {figure.subject}", f"DTMT {figure.subject}"
        k, times, column = {"t": (0, 1, "t"), "p": (1, 100, "p, %")}[figure.measure]
        scaled_figure = figure._replace(published=times * figure.published, unit=times * figure.unit)
        unpaired, paired = (
            tree_scores.compute(partial(_compute_test, test, k), *pair).times(times)
            for test in ("ttest_ind", "ttest_rel")
        )
        notes, part = [UNPAIRED_NOTE, tree_scores.scope_note], bool(tree_scores.scope_note)
        place = figure.subject
        rows.append(make_row(scaled_figure, table, place, ours=unpaired, column=column, notes=notes, part=part))
        theirs = times * run_test("ttest_rel", *map(_find_published, pair))[k]
        note, kinds = f"{FROM_TABLE_5_NOTE} {tree_scores.scope_note}".strip(), [Kind.PART] if part else []
        rows.append(paired.to_row(place, f"paired {column}", note, theirs, kinds))
    return rows


# -- training on chosen rows: our own study -------------------------------------------------------------

TRAINING_NOTE = (
    "Two thirds of the rows are there to choose from, the tree that chooses is grown on them, and the accuracy is on the "
    "other third; random choices are as large."
)
UNPUBLISHED_NOTE = "No published figure: the paper only suggests it."


def format_training_amount(scale: Scale) -> str:
    """Describe how much is measured."""
    return f"{pluralise(count_splits(scale), 'seed')}, {DRAWS} random choices each"


def build_training_table(bench: Workbench) -> list[Row]:
    """Build the table of learners trained on chosen rows and on as many random rows, with a paired test."""
    tree_scores = TreeScores(bench)
    rows = []
    for learner in LEARNERS:
        for way in ("DTC", "random DTC", "DTMT", "random DTMT", "all"):
            measure = f"{way} {learner}"
            column, note = f"{learner}, {way.replace('random', 'as many as')}", f"{TRAINING_NOTE} {UNPUBLISHED_NOTE}"
            names = [*map(format_name, tree_scores.names), "mean"]
            means = [*tree_scores.estimates(measure, Learning), tree_scores.mean(measure, Learning)]
            rows += [mean.to_row(name, column, note) for name, mean in zip(names, means, strict=True)]
            if way in ("DTC", "DTMT"):
                pair = (tree_scores.ours(name, Learning) for name in (measure, f"random {measure}"))
                p = OurFigure(100 * run_test("wilcoxon", *pair)[1], trials=count_splits(bench.scale))
                rows.append(p.to_row("p, %", column, f"{note} Wilcoxon's test against random rows."))
    return rows
