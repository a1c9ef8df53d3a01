"""GeMTest: metamorphic relations as a suite of pytest, one test per source input."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .figures import Figure
from .tasks import CountedModel, Stopwatch, fit_cancer_models, load_cancer

TITLE, DISTRIBUTION = "GeMTest", "gemtest"
REQUIREMENTS = ("gemtest==1.0.1",)
NOTES = (
    "GeMTest runs one relation as a suite of pytest: rounding the inputs to nine decimals changes no answer. So does "
    "datamorphic, with `dm.assert_holds` in one test. GeMTest calls the system once per input, by design: it takes any "
    "system and any object as input, its relations have any number of sources and follow-ups, and every input is a test of "
    "its own in the report of pytest. The relation holds, so that neither side shrinks or reports violations.",
)
SOURCES, DECIMALS = 500, 9

THEIR_SUITE = """
import gemtest as gmt
import numpy as np

from benchmarks.peers import gemtest

rounded = gmt.create_metamorphic_relation(name="rounded", data=list(gemtest.STATE["inputs"]))


@gmt.transformation(rounded)
def transform(source_input):
    return np.round(source_input, gemtest.DECIMALS)


@gmt.relation(rounded)
def agree(source_output, followup_output):
    return gmt.relations.equality(source_output, followup_output)


@gmt.system_under_test(rounded)
def test_model(row):
    return gemtest.STATE["model"].predict(row[None])[0]
"""

OUR_SUITE = """
import datamorphic as dm
from benchmarks.peers import gemtest


class Rounded(dm.Relation):
    name = "rounded"
    says = "rounding changes no answer"

    def follow_up(self, frame, rng):
        return frame.round(gemtest.DECIMALS)


def test_model():
    dm.assert_holds(gemtest.STATE["model"], gemtest.STATE["inputs"], Rounded(), cases=gemtest.SOURCES)
"""

STATE: dict[str, object] = {}  # what the suites test: they run in this process


def measure_theirs() -> list[Figure]:
    """Return the figures of GeMTest."""
    return _measure(THEIR_SUITE)


def measure_ours() -> list[Figure]:
    """Return our figures of the same relation."""
    return _measure(OUR_SUITE)


def _measure(suite: str) -> list[Figure]:
    import pytest

    figures = []
    inputs, _ = load_cancer()
    for name, model in fit_cancer_models().items():
        for turn in ("imports", "measured"):  # the first turn only imports
            STATE.update(inputs=inputs[:SOURCES], model=CountedModel(model))
            with tempfile.TemporaryDirectory() as folder, Stopwatch() as watch:
                path = Path(folder) / f"test_{turn}_{len(figures)}.py"
                path.write_text(suite, encoding="utf-8")
                code = pytest.main([str(path), "-q", "-p", "no:cacheprovider", f"--rootdir={folder}"])
            if code:
                raise RuntimeError(f"pytest ended with {code}")
        task = f"one relation on {SOURCES} rows, {name}"
        figures += [
            Figure(task, "cases per CPU second", SOURCES / watch.seconds, True),
            Figure(task, "calls of the model", STATE["model"].calls),
            Figure(task, "rows queried", STATE["model"].rows),
        ]
    return figures
