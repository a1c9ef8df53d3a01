"""Tables 2 to 4 of document 004: decision trees of sixteen data sets, their nodes, mutants and test sets."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import pluralize
from ..data.sets import OPENML, SHIPPED, TARGET, available, load
from ..trees.coverage.api import read_trees_and_rows
from ..trees.coverage.mutation import measure_kills
from ..trees.coverage.options import CoverOptions
from ..trees.coverage.selection import RowChooser
from .published import published
from .rows import Row, figures, part_of, row_of
from .workload import Bench, Figures, Scale

if TYPE_CHECKING:
    import pandas as pd

STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "max": max,
    "min": min,
    "mean": statistics.mean,
    "median": statistics.median,
    "std dev": statistics.stdev,
}
TREES = 3  # a repetition
PLACES = 1000  # seeds of a study, so that studies with other seeds share none

ABSENT = "cancer_prediction"
NOT_TO_BE_HAD = "This data set cannot be had: it is not told where it is from."
LEFT_OUT = "This data set is left out: it is not in the data home, or this is a mere try."
MEDIAN = "Ours is the middle one of the trees."
EQUAL = "Of our trees, those of which this row is as published: decision nodes, both kinds of mutants, live ones."
ORDER = (
    "Random as published was found to mean one random order of the rows for all mutants, of which each takes the first that "
    "kills it: if each chose its own, test sets would be twice as large as published."
)
NEIGHBOURS = (
    "Constants are exchanged with those of the nodes before and after, in pre-order, that test the same column."
)
LEAVES = "A row is made for each leaf that the rows reach, and these reach all."
#: how data sets differ from those of the study, or what was found out about theirs
PREPARED = {
    "cleveland": (
        "Cleveland has the number of the row as a first column: 15 attributes and 99 nodes show that theirs had, and "
        "without it the tree has about 111 nodes."
    ),
    "penguins": (
        "Penguins has its four measures in 342 rows: island and sex, which theirs seems to have had, are not in the file."
    ),
    "hawks": "Hawks has five measures in 891 rows: other columns, which theirs seems to have had, are not in the file.",
    "wheat_seeds": "Wheat seeds has all its 210 rows: which 10 or 11 theirs was without is not told.",
}


@cache
def prepared(name: str) -> pd.DataFrame:
    """Return a data set as the study takes it, as far as that is known."""
    frame = load(name)
    if name == "cleveland":
        frame.insert(0, "row", np.arange(1, len(frame) + 1))
    return frame


@cache
def in_print() -> tuple[str, ...]:
    """Return the data sets of the study, in its order."""
    return tuple(dict.fromkeys(published("004-2")["subject"]))


def at_hand(scale: Scale) -> list[str]:
    """Return the data sets to compute with: for a mere try those that ship with scikit-learn."""
    there = SHIPPED if scale.repetitions == 1 else {*available(), *OPENML}
    return [name for name in in_print() if name in there and name != ABSENT]


def note_on(name: str, names: Sequence[str]) -> str:
    """Say what there is to say about a data set, given those that are at hand."""
    return PREPARED.get(name, "") if name in names else NOT_TO_BE_HAD if name == ABSENT else LEFT_OUT


def words(name: str) -> str:
    """Return the name of a data set, or of a statistic, as it is shown."""
    return name.replace("_", " ")


def known(*values: Sequence[float]) -> bool:
    """Return whether all figures are there: before anything is measured there is nothing to test."""
    return all(map(math.isfinite, [each for some in values for each in some]))


# -- trees -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Growing:
    """A tree of a data set, its mutants, and the rows that kill them.

    The tree is ``DecisionTreeClassifier(random_state=k)`` of all rows, and the rows are those that
    ``dm.select(tree, data, ..., seed=k)`` gives, where k is the number and a thousand times the seed of the study.
    """

    data: str
    number: int

    @property
    def label(self) -> str:
        """Of what data."""
        return words(self.data)

    @property
    def kind(self) -> tuple[object, ...]:
        """What trees share whose times can be compared."""
        return ("tree", self.data)

    @property
    def weight(self) -> int:
        """How long it takes, compared with others of its kind."""
        return 1

    def repetitions(self, scale: Scale) -> int:
        """Return 1: each number is a tree of its own."""
        return 1

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Return the figures of Tables 3 and 4."""
        from sklearn.tree import DecisionTreeClassifier

        began, place = time.perf_counter(), PLACES * seed + self.number
        data = prepared(self.data)
        tree = DecisionTreeClassifier(random_state=place).fit(data.drop(columns=TARGET), data[TARGET])
        return {**_figures(tree, data, place), "seconds": time.perf_counter() - began}


def _figures(tree: Any, data: pd.DataFrame, seed: int) -> dict[str, float]:
    forest, leaves, rows = read_trees_and_rows(tree, data, CoverOptions(target=TARGET))
    # as `dm.select` does it, which does not tell which row was taken for which mutant
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


def grown(scale: Scale) -> int:
    """Return how many trees of each data set are grown."""
    return TREES * scale.repetitions


def amount(scale: Scale) -> str:
    """Say how much is done."""
    return f"{pluralize(grown(scale), 'tree')} of each data set"


def _over_trees(bench: Bench, name: str, measure: str) -> list[float]:
    return [bench.figure(Growing(name, number), measure) for number in range(grown(bench.scale))]


# -- tables ------------------------------------------------------------------------------------------


def sizes(table: str, bench: Bench) -> list[Row]:
    """Return Table 2: how large the data sets are."""
    names = at_hand(bench.scale)
    rows = []
    for figure in figures(published(table)):
        ours = _size(figure) if figure.subject in names else math.nan
        rows.append(
            row_of(figure, table, words(figure.subject), ours=ours, notes=[note_on(figure.subject, names)])
        )
    return rows


def _size(figure: Any) -> float:
    data = prepared(figure.subject)
    classes = data[TARGET].value_counts()
    if figure.measure.startswith("class "):
        # theirs come in no order that is told: ours is the class whose size is nearest
        return float(min(classes, key=lambda size: abs(size - figure.published)))
    return {"samples": len(data), "attributes": len(data.columns), "classes": len(classes)}[figure.measure]


def counts(table: str, bench: Bench) -> list[Row]:
    """Return Table 3 or 4: a row a data set, with the share of our trees that are as published; then statistics."""
    names = at_hand(bench.scale)
    rows = []
    for figure in figures(published(table)):
        measure, notes = figure.measure, [MEDIAN, *_notes(figure.measure)]
        if figure.subject in STATISTICS:
            each = [statistics.median(_over_trees(bench, name, measure)) for name in names]
            ours = STATISTICS[figure.subject](each) if known(each) else math.nan
            notes.append(part_of([words(name) for name in names], len(in_print()), "data sets"))
        else:
            at = figure.subject in names
            ours = statistics.median(_over_trees(bench, figure.subject, measure)) if at else math.nan
            notes.append(note_on(figure.subject, names))
        rows.append(row_of(figure, table, words(figure.subject), ours=ours, notes=notes))
    return rows + [_equal(table, name, bench) for name in names]


def _notes(measure: str) -> list[str]:
    if measure.endswith(("tests", "tests, %")):
        return [ORDER]
    return [{"Cccr": NEIGHBOURS, "BVA": LEAVES}.get(measure, "")]


def _equal(table: str, name: str, bench: Bench) -> Row:
    """Return the share of our trees of a data set that are as published."""
    compared = {"004-3": ("nodes",), "004-4": ("decision nodes", "ORRN", "Cccr", "live")}[table]
    theirs = {f.measure: f.published for f in figures(published(table)) if f.subject == name}
    wanted = tuple(theirs[measure] for measure in compared)
    trees = zip(*(_over_trees(bench, name, measure) for measure in compared), strict=True)
    share = 100 * statistics.fmean(each == wanted for each in trees)
    return Row(words(name), "equal, %", math.nan, share, EQUAL if table == "004-4" else "")
