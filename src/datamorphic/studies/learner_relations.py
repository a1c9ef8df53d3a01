"""How often learners violate relations on random data: Table 1 of Xie et al. (2011)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from ..relations.check.run import check
from ..relations.learners.necessity import find_requirement
from ..systems.weka import explain_missing_weka, make_weka_learner
from .intervals import estimate_share, label_figure
from .published import published
from .rows import Row, iterate_figures, make_row
from .workload import Figures, Job, Scale, Workbench

NECESSARY_NOTE = "Necessary: every correct implementation satisfies it, so a violation is a fault or depends on a tie."
INPUTS_NOTE = "The published figures are over batches of 20 to 300 inputs with at most 20 to 50 rows, ours over the number in the heading."
K_NOTE = "The publication does not state k. Tied votes show that it is not 1."
NO_WEKA_NOTE = "Weka was not found (Debian, Ubuntu: apt install weka), so its columns are left out."
_ROUNDED = "Weka rounds numbers to a precision that it takes from the data, so a shift changes the rounding."
_COARSER = "Weka rounds numbers to a precision that it takes from the data, and it changes without some rows."
_SCALED = "IBk scales attributes to the ranges of the training rows, which may change without some rows."
_ABSENT = "Weka gives a positive probability to labels that are declared but never occur."
#: why Weka violates relations, as published or as our figures show
REASONS = {
    ("NBC", "MR-0"): _ROUNDED,
    ("NBC", "MR-1.1"): _ABSENT,
    ("NBC", "MR-2.1"): _ABSENT,
    ("NBC", "MR-5.1"): _COARSER,
    ("kNN", "MR-5.1"): _SCALED,
    ("kNN", "MR-5.2"): _SCALED,
}


class LearnerColumn(NamedTuple):
    """A learner of ours, and the published classifier it is compared with."""

    name: str
    theirs: str
    weka: str = ""


COLUMNS = (
    LearnerColumn("scikit-learn KNN(3)", "kNN"),
    LearnerColumn("scikit-learn KNN(1)", "kNN"),
    LearnerColumn("Weka IBk -K 3", "kNN", "weka:IBk -K 3"),
    LearnerColumn("Weka IBk -K 1", "kNN", "weka:IBk -K 1"),
    LearnerColumn("scikit-learn GaussianNB", "NBC"),
    LearnerColumn("Weka NaiveBayes", "NBC", "weka:NaiveBayes"),
)


@cache
def make_learner(name: str) -> Any:
    """Return the learner of a column."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier

    text = next(column.weka for column in COLUMNS if column.name == name)
    if text:
        return make_weka_learner(text)
    return GaussianNB() if name.endswith("NB") else KNeighborsClassifier(int(name[-2]))


@dataclass(frozen=True)
class Checking(Job):
    """A check of a learner with the relations of the study.

    The inputs are those of ``dm.check(learner, "random", seed=seed, ties="count")``, so each figure can be reproduced there.
    """

    subject: str
    relations: tuple[str, ...]
    inputs: int

    @property
    def kind(self) -> tuple[object, ...]:
        """One kind: all checks take about the same time."""
        return ("check",)

    @property
    def weight(self) -> int:
        """The number of inputs."""
        return self.inputs

    def _compute_figures(self, seed: int) -> Figures:
        """Return the share of judged inputs that violate each relation, in percent."""
        report = check(
            make_learner(self.subject),
            "random",
            relations=self.relations,
            inputs=self.inputs,
            seed=seed,
            ties="count",
            shrink=False,
            progress=False,
        )
        figures: dict[str, float] = {}
        for entry in report.entries:
            figures |= label_figure(entry.relation, estimate_share(entry.violated, entry.judged))
        return figures


def format_amount(scale: Scale) -> str:
    """Describe how much is measured."""
    return f"{scale.inputs} inputs per relation, up to 50 rows each"


def build_rate_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 1: percentages of violated inputs, one row per relation and one column per learner."""
    printed = [f for f in iterate_figures(published(table)) if not f.measure.endswith(" necessary")]
    relations = tuple(dict.fromkeys(f.measure for f in printed))
    missing = bool(explain_missing_weka())
    rows: list[Row] = []
    for column in COLUMNS:
        if column.weka and missing:
            continue
        job = Checking(column.name, relations, bench.scale.inputs)
        for figure in printed:
            if figure.subject == column.theirs:
                ours = bench.estimate(job, figure.measure)
                notes = [*_describe_figure(column, figure, ours.value), NO_WEKA_NOTE if missing else ""]
                rows.append(make_row(figure, table, figure.measure, ours=ours, column=column.name, notes=notes))
    return rows


def _describe_figure(column: LearnerColumn, figure: Any, ours: float) -> list[str]:
    """Return notes on what a violation means and where it comes from."""
    view = find_requirement(figure.measure, make_learner(column.name))
    alone = column.name.endswith("1") or column.name.endswith("(1)")
    has_violations = figure.published > 0 if column.theirs == "NBC" else bool(column.weka) and ours > 0
    return [
        INPUTS_NOTE,
        K_NOTE if alone else "",
        NECESSARY_NOTE if view.necessary else f"Not necessary: {view.reason}.",
        REASONS.get((column.theirs, figure.measure), "") if has_violations and not math.isnan(ours) else "",
    ]
