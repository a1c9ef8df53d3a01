"""The metrics of code coverage: lines and branches of a system that is written in Python."""

from __future__ import annotations

import numpy as np

from ..._text import pluralise
from ...morphisms.cases import TestSet
from ...morphisms.stock import nearest_distance
from ...runs.driver import drive
from ...runs.flow import ask
from ...systems.code_recorder import CodeRecorder
from .coverage_metrics import CoverageMetric, Witnesses

UNITS = {"line_coverage": ("line", "lines"), "branch_coverage": ("branch", "branches")}


class CodeCoverage(CoverageMetric):
    """The share of the lines, or of the branches, of a system's code that some case of the test set executes.

    A case contributes what only it executes. What several cases execute, they contribute in equal parts.
    """

    needs_outputs = True

    def __init__(self, name: str, recorder: CodeRecorder) -> None:
        self.name: str = name
        self.recorder: CodeRecorder = recorder
        self.item_count = recorder.count_items(name)
        unit = pluralise(self.item_count, *UNITS[name])
        self.remark = f"{name} is the share of {unit} of {recorder.describe_code()}."

    def find_witnesses(self, tests: TestSet) -> Witnesses:
        """Return which case executes which lines or branches."""
        outputs = tests.outputs
        if outputs is None or outputs.scores is None:  # a set that the search did not make
            outputs = drive(ask(tests.inputs, scores=True), self.recorder, progress=False)
        record = (
            np.zeros((len(tests), 0)) if outputs.scores is None else outputs.scores[:, self.recorder.columns[self.name]]
        )
        cases, items = np.nonzero(record > 0)
        gaps = nearest_distance(tests)
        # among redundant cases, keep those far from all others: their mutants reach other code sooner
        potential = np.where(np.isfinite(gaps), gaps / (1.0 + gaps), 1.0)
        return Witnesses(cases=cases[:, None], items=items, case_count=len(tests), potential=potential)
