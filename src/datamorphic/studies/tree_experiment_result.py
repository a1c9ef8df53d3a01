"""The result of the experiment of Silveira et al. (2025) with data of the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lazy import pd
from .._text import pluralise
from ..reporting.junit import JUnitCase
from .result import StudyResult

if TYPE_CHECKING:
    from .tree_data_sets import DataSet

SIGNIFICANCE_LEVEL = 0.05  # up to which a difference is said to be significant


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeExperiment(StudyResult):
    """Test sets that trees choose, and the scores of 3-NN on them.

    The lower a score, the stronger the test set.

    Attributes
    ----------
    target : str
        The column of the label.
    repetitions : int
        How often everything was repeated, with other seeds.
    trees : DataFrame
        Per data set: its size, and the nodes, leaves and mutants of the trees of all rows, with the share of mutants that the
        rows kill ("mutation score"), as means over repetitions; "tree accuracy" is cross-validated.
    scores : DataFrame
        Per data set, what trees were grown on ("all rows", "all folds but one"), tests ("DTC", "BVA", "DTMT", "CV") and score: the
        mean ``value`` of 3-NN, half the width of its 95% interval, and the mean ``size`` of the test set.
    comparisons, normality : DataFrame
        The statistical tests. `comparisons` has the mean ``difference`` of two test sets, and the ``p`` of the pairs.
    pairing : str
        What was paired: "data sets" if there are at least six, otherwise the "folds" of the first repetition.
    """

    _PAGE = "studies.tree_experiment_page:build_page"

    name: str = "trees"
    target: str
    repetitions: int
    pairing: str
    trees: pd.DataFrame
    scores: pd.DataFrame
    comparisons: pd.DataFrame
    normality: pd.DataFrame
    data_sets: tuple[DataSet, ...] = field(default=(), repr=False)  # for the drawings of trees

    def __repr__(self) -> str:
        return f"TreeExperiment({', '.join(self.trees['data'])}: {self.headline})"

    def average_scores(self) -> pd.DataFrame:
        """Return the mean of each score over data sets, by tests, with the trees of all rows."""
        whole = self.scores[self.scores["trees"] == "all rows"]
        return whole.pivot_table(index="tests", columns="score", values="value", sort=False)

    @property
    def headline(self) -> str:
        """The strongest test set in one sentence."""
        averages = self.average_scores()
        if averages.empty or "CV" not in averages.index:
            return "Nothing was measured."
        accuracy = averages["accuracy"]
        strongest = str(accuracy.idxmin())
        if strongest == "CV":
            return f"No test set is harder for 3-NN than cross-validation (accuracy {accuracy['CV']:.2f})."
        return (
            f"{strongest} is the strongest test set: accuracy of 3-NN {accuracy[strongest]:.2f}, in cross-validation "
            f"{accuracy['CV']:.2f}{self._format_p(strongest)}."
        )

    def _format_p(self, strongest: str) -> str:
        is_pair = (self.comparisons["tests"] == strongest) & (self.comparisons["against"] == "CV")
        p = float(self.comparisons[is_pair & (self.comparisons["score"] == "accuracy")]["p"].iloc[0])
        if not np.isfinite(p):
            return ""
        pairs = f"{int(self.comparisons['pairs'].max())} {self.pairing}"
        return f" (p = {p:.2g} over {pairs}{'' if p <= SIGNIFICANCE_LEVEL else ', which may be chance'})"

    def document(self) -> dict[str, Any]:
        """Return all figures as a JSON-serialisable dict."""
        names = (
            "scale",
            "seed",
            "target",
            "repetitions",
            "pairing",
            "headline",
            "trees",
            "scores",
            "comparisons",
            "normality",
        )
        return {"study": self.name} | self._collect(*names, *self._ENDING, seconds=round(self.seconds, 3))

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one case per score. A study only reports, so every case passes."""
        return [
            JUnitCase(name=f"{row.data}, {row.trees}, {row.tests} {row.score}", output=f"{row.value:.3f}")
            for row in self.scores.itertuples(index=False)
        ]

    @property
    def amount(self) -> str:
        """How much was measured, in words."""
        return f"{pluralise(len(self.trees), 'data set')}, {pluralise(self.repetitions, 'repetition')}"

    def _export_name(self) -> str:
        return self.name
