"""Decision trees of sixteen data sets, their nodes, mutants and test sets: Tables 2 to 4 of Silveira et al. (2025)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .._lazy import pd
from .._text import pluralise
from ..data.sets import OPENML, SHIPPED, TARGET, available, load
from ..trees.coverage.mutation import measure_kills
from ..trees.coverage.run import read_trees_and_rows
from ..trees.coverage.selection import RowChooser
from .intervals import estimate_median, estimate_share
from .published import published
from .rows import OurFigure, Row, describe_part, iterate_figures, make_row
from .workload import Figures, Job, Scale, Workbench

STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "max": max,
    "min": min,
    "mean": statistics.mean,
    "median": statistics.median,
    "std dev": statistics.stdev,
}
TREES_PER_REPETITION = 3  # per repetition
SEEDS_PER_STUDY = 1000  # seeds of a study, so that studies with other seeds share none

UNAVAILABLE_SET = "cancer_prediction"
UNAVAILABLE_NOTE = (
    "This data set is not available: its source is not stated, and no public data set of this name has its 10,001 rows, four "
    "inputs and classes of 9,036 and 965. If you have it, put it into the data folder as cancer_prediction.csv."
)
LEFT_OUT_NOTE = "This data set is left out: it is not in the data folder, or this is the small scale."
MEDIAN_NOTE = "Ours is the median over our trees, figure by figure: no single tree need have all of them."
EQUAL_NOTE = "Our trees for which this row is as published: decision nodes, both kinds of mutants, live mutants."
ORDER_NOTE = (
    "In the publication, random means one random order of the rows for all mutants: each mutant takes the first row that "
    "kills it. If each mutant chose a row of its own, test sets would be twice as large as published."
)
NEIGHBOURS_NOTE = (
    "Constants are exchanged with those of the nodes before and after, in pre-order, that test the same column."
)
LEAVES_NOTE = "One row is generated for each leaf that the data reach. The data reach all leaves."
#: how data sets differ from those of the publication, or what our figures show about them
PREPARED = {
    "cleveland": "Cleveland has the number of the row as a first column: 15 attributes and 99 nodes show that the "
    "published data had it, and without it the tree has about 111 nodes.",
    "penguins": "Penguins has its four measures in 342 rows: island and sex, which the publication seems to use, are "
    "not in the file.",
    "hawks": "Hawks has five measures in 891 rows: other columns, which the publication seems to use, are not in the file.",
    "wheat_seeds": "Wheat seeds has all its 210 rows: the publication does not state which 10 or 11 rows it left out.",
}


@cache
def load_prepared(name: str) -> pd.DataFrame:
    """Return a data set as the study takes it, as far as that is known."""
    frame = load(name)
    if name == "cleveland":
        frame.insert(0, "row", np.arange(1, len(frame) + 1))
    return frame


@cache
def list_published_sets() -> tuple[str, ...]:
    """Return the data sets of the study, in its order."""
    return tuple(dict.fromkeys(published("004-2")["subject"]))


def find_available(scale: Scale) -> list[str]:
    """Return the data sets to compute with: at the small scale, those that ship with scikit-learn."""
    available_names = SHIPPED if scale.repetitions == 1 else {*available(), *OPENML}
    return [name for name in list_published_sets() if name in available_names]


def describe_data_set(name: str, names: Sequence[str]) -> str:
    """Return a note on a data set: how it was prepared, or why it is not among the available `names`."""
    if name in names:
        return PREPARED.get(name, "")
    return UNAVAILABLE_NOTE if name == UNAVAILABLE_SET else LEFT_OUT_NOTE


def format_name(name: str) -> str:
    """Return the name of a data set, or of a statistic, as it is shown."""
    return name.replace("_", " ")


def is_known(*values: Sequence[float]) -> bool:
    """Return whether all figures are known; before anything is measured, none is."""
    return all(map(math.isfinite, [value for figures in values for value in figures]))


# -- trees -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DataSetJob(Job):
    """A measurement of a data set; the number and a thousand times the seed of the study make its seed."""

    data: str
    number: int

    @property
    def label(self) -> str:
        """The data set."""
        return format_name(self.data)

    def _derive_seed(self, seed: int, repetition: int) -> int:
        return SEEDS_PER_STUDY * seed + self.number


@dataclass(frozen=True)
class Growing(DataSetJob):
    """A tree of a data set, its mutants, and the rows that kill them: the figures of Tables 3 and 4.

    The tree is ``DecisionTreeClassifier(random_state=seed)`` of all rows, and the rows are those that
    ``dm.select(tree, data, ..., seed=seed)`` gives.
    """

    def _compute_figures(self, seed: int) -> Figures:
        data = load_prepared(self.data)
        forest, leaves, rows = read_trees_and_rows(fit_tree(data, seed), data, target=TARGET)
        # as `dm.select` does it, which does not report the row chosen per mutant
        chosen = RowChooser(np.random.default_rng(seed).permutation(len(rows)), minimal=False)
        score = measure_kills(forest, leaves, on_kills=chosen.choose_for_kills)
        mutants = score.mutants
        killers, kinds = np.concatenate(chosen.rows), mutants["kind"][score.killed].to_numpy()
        tests = len(np.unique(killers))
        (only,) = leaves.trees
        return {
            "nodes": len(only),
            "DTC": int(leaves.covered.sum()),
            "BVA": int(leaves.covered.sum()),
            "decision nodes": len(only.inner),
            "mutants": len(mutants),
            **{kind: int((mutants["kind"] == kind).sum()) for kind in ("ORRN", "Cccr")},
            **{f"{kind} tests": len(np.unique(killers[kinds == kind])) for kind in ("ORRN", "Cccr")},
            "tests": tests,
            "tests, %": 100 * tests / len(rows),
            "live": len(score.live),
            "score, %": 100 * score.score,
        }


def fit_tree(data: pd.DataFrame, seed: int) -> Any:
    """Return a tree fitted to all rows."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed).fit(data.drop(columns=TARGET), data[TARGET])


def count_trees(scale: Scale) -> int:
    """Return the number of trees per data set."""
    return TREES_PER_REPETITION * scale.repetitions


def format_amount(scale: Scale) -> str:
    """Describe how much is measured."""
    return f"{pluralise(count_trees(scale), 'tree')} of each data set"


def _measure_all_trees(bench: Workbench, name: str, measure: str) -> list[float]:
    return [bench.figure(Growing(name, number), measure) for number in range(count_trees(bench.scale))]


# -- tables ------------------------------------------------------------------------------------------


def build_size_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 2: the sizes of the data sets."""
    names = find_available(bench.scale)
    rows = []
    for figure in iterate_figures(published(table)):
        ours = _compute_size(figure) if figure.subject in names else math.nan
        notes = [describe_data_set(figure.subject, names)]
        rows.append(make_row(figure, table, format_name(figure.subject), ours=ours, notes=notes))
    return rows


def _compute_size(figure: Any) -> float:
    data = load_prepared(figure.subject)
    classes = data[TARGET].value_counts()
    if figure.measure.startswith("class "):
        # the published order is not stated: ours is the class of nearest size
        return float(min(classes, key=lambda size: abs(size - figure.published)))
    return {"samples": len(data), "attributes": len(data.columns), "classes": len(classes)}[figure.measure]


def build_count_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 3 or 4: one row per data set, with the share of our trees equal to the published one, and statistics."""
    names = find_available(bench.scale)
    rows = []
    for figure in iterate_figures(published(table)):
        measure, notes = figure.measure, [MEDIAN_NOTE, *_describe_measure(figure.measure)]
        if figure.subject in STATISTICS:
            medians = [float(np.median(_measure_all_trees(bench, name, measure))) for name in names]
            value = STATISTICS[figure.subject](medians) if is_known(medians) else math.nan
            ours = OurFigure(value, trials=len(names) * count_trees(bench.scale))
            part = describe_part([format_name(name) for name in names], len(list_published_sets()), "data sets")
        else:
            ours, part = OurFigure(math.nan), ""
            if figure.subject in names:
                ours = _estimate_tree(_measure_all_trees(bench, figure.subject, measure))
            notes.append(describe_data_set(figure.subject, names))
        place = format_name(figure.subject)
        rows.append(make_row(figure, table, place, ours=ours, notes=[*notes, part], part=bool(part)))
    return rows + [_build_equal_row(table, name, bench) for name in names]


def _estimate_tree(figures: list[float]) -> OurFigure:
    """Return the median over trees, and how far from it a single tree, as the published one, may be."""
    median = estimate_median(figures)
    if not math.isfinite(median.value):
        return median
    low, high = np.quantile(figures, (0.025, 0.975))
    return median._replace(printed_margin=float(max(median.value - low, high - median.value)))


def _describe_measure(measure: str) -> list[str]:
    if measure.endswith(("tests", "tests, %")):
        return [ORDER_NOTE]
    return [{"Cccr": NEIGHBOURS_NOTE, "BVA": LEAVES_NOTE}.get(measure, "")]


def _build_equal_row(table: str, name: str, bench: Workbench) -> Row:
    """Return the share of our trees of a data set that equal the published one."""
    compared = {"004-3": ("nodes",), "004-4": ("decision nodes", "ORRN", "Cccr", "live")}[table]
    theirs = {f.measure: f.published for f in iterate_figures(published(table)) if f.subject == name}
    wanted = tuple(theirs[measure] for measure in compared)
    trees = list(zip(*(_measure_all_trees(bench, name, measure) for measure in compared), strict=True))
    share = estimate_share(trees.count(wanted), len(trees)) if is_known(*trees) else OurFigure(math.nan)
    return share.to_row(format_name(name), "equal, %", EQUAL_NOTE if table == "004-4" else "")
