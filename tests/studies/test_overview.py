"""All studies in one run: each table once, on any engine, resumed without measuring anything twice, judged."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import DataError, StoreError
from datamorphic.space.outputs import Outputs, Status
from datamorphic.studies import plan, workload
from datamorphic.studies.catalogue import STUDIES, TABLES, TABLES_WITHOUT_FIGURES, StudyEntry
from datamorphic.studies.overview import list_entries
from datamorphic.studies.published import tables
from datamorphic.studies.rows import Row
from datamorphic.studies.run import study
from datamorphic.studies.verdicts import VerdictKind
from datamorphic.studies.workload import Job

#: the last table of each document
LAST_TABLES = {"000": 25, "001": 5, "002": 39, "003": 9, "004": 8}


def test_every_table_of_the_documents_is_listed():
    printed = {f"{document}-{number}" for document, last in LAST_TABLES.items() for number in range(1, last + 1)}
    assert printed == (set(STUDIES) & printed) | set(TABLES_WITHOUT_FIGURES)
    assert not set(STUDIES) & set(TABLES_WITHOUT_FIGURES)
    assert set(tables()) == set(TABLES)


def test_each_part_of_the_studies_is_in_the_overview_once():
    entries = list_entries()
    assert list(entries)[: len(tables())] == tables()
    assert not {"random_target", "groups", "credit_models"} & set(entries)  # their parts are elsewhere
    parts = [part for entry in entries.values() for part in entry.parts if part]
    assert not [part for part in TABLES if parts.count(part) > 1]
    assert {"all generators", "starving"} <= set(parts)
    assert {"generation_time", "credit_wrongness", "credit_constraints"} <= set(entries)


def test_a_table_without_figures_says_why():
    with pytest.raises(dm.errors.UsageError, match=r"Table 003-2 .* is not computed: names of files"):
        study("003-2")


# -- a workload of our own ---------------------------------------------------------------------------------------------


class Adding(Job):
    """A job that leaves a mark when it is measured."""

    def __init__(self, number, fails=False):
        self.number, self.fails = number, fails

    def __repr__(self):
        return f"Adding({self.number})"

    def __eq__(self, other):
        return repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))

    def repetitions(self, scale):
        return 2

    def measure(self, seed, repetition, progress):
        MEASURED.append((self.number, repetition))
        if len(MEASURED) == BREAK_AT[0]:
            raise KeyboardInterrupt
        if self.fails:
            raise DataError("Its data are missing. Add them.")
        return {"sum": self.number + seed + repetition / 4, "seconds": 0.0}


MEASURED: list[tuple[int, int]] = []
BREAK_AT = [0]


def make_entry(*numbers, fails=()):
    def build(bench):
        jobs = [Adding(number, number in fails) for number in numbers]
        return [Row(str(job.number), "sum", job.number, bench.figure(job, "sum")) for job in jobs]

    return StudyEntry("Sums", "nothing", {"": build}, lambda scale: "all")


@pytest.fixture
def small_workload(monkeypatch):
    MEASURED.clear()
    BREAK_AT[0] = 0
    monkeypatch.setattr(workload, "_outcomes", {})
    entries = {"first": make_entry(1, 2, 3), "second": make_entry(3, 4), "third": make_entry(5, 9, fails=(9,))}
    monkeypatch.setattr(plan, "list_entries", lambda: entries)
    for name, entry in entries.items():
        monkeypatch.setitem(STUDIES, name, entry)


def read_figures(overview):
    return {
        report.name: None if report.study is None else report.study.rows["ours"].tolist() for report in overview.reports
    }


def test_a_study_that_fails_does_not_stop_the_others(small_workload, tmp_path):
    overview = study("all", "tiny", progress=False)
    assert read_figures(overview) == {
        "first": [1 + 1 / 8, 2 + 1 / 8, 3 + 1 / 8],
        "second": [3 + 1 / 8, 4 + 1 / 8],
        "third": None,
    }
    assert len(MEASURED) == len(set(MEASURED)) == 12  # two repetitions of six jobs, one of which two studies need
    failed = overview.reports[-1]
    assert (failed.verdict.kind, failed.verdict.reason) == (VerdictKind.FAILED, "Its data are missing. Add them.")
    index = overview.to_site(tmp_path / "site")
    assert sorted(file.name for file in index.parent.iterdir()) == [
        "first.html",
        "index.html",
        "second.html",
        "studies.json",
    ]
    page = index.read_text()
    assert "Its data are missing. Add them." in page
    assert all((index.parent / name).is_file() for name in re.findall(r'href="([\w.-]+)"', page))
    assert 'href="index.html"' in (index.parent / "first.html").read_text()
    document = json.loads((index.parent / "studies.json").read_text())
    assert [entry["verdict"] for entry in document["studies"]] == [r.verdict.kind.value for r in overview.reports]
    assert "Its data are missing" in overview.describe()


def test_a_resumed_run_measures_nothing_twice(small_workload, tmp_path, monkeypatch):
    store = tmp_path / "runs.sqlite"
    whole = study("all", "tiny", progress=False)
    MEASURED.clear()
    monkeypatch.setattr(workload, "_outcomes", {})
    BREAK_AT[0] = 6
    partial = study("all", "tiny", progress=False, store=store)
    assert (partial.interrupted, partial.unfinished) == (True, ("7 of 12 jobs",))
    first_part, MEASURED[:] = MEASURED[:-1], []  # the last one was not finished
    monkeypatch.setattr(workload, "_outcomes", {})
    with pytest.raises(StoreError, match="other arguments: seed=0"):
        study("all", "tiny", 1, progress=False, store=store, resume=1)
    BREAK_AT[0] = 0
    resumed = study("all", "tiny", progress=False, store=store, resume=1, engine="threads:2")
    assert read_figures(resumed) == read_figures(whole)
    assert not set(first_part) & set(MEASURED)
    assert len(first_part) + len(MEASURED) == 12
    with dm.Store.open(store) as stored:
        run = stored.run(1)
    assert (run.verb, run.system, run.state) == ("study", "all", "finished")
    assert run.artifacts[0].name == "figures.json"


def test_a_job_that_takes_too_long_leaves_its_figures_out(small_workload, monkeypatch):
    answer = workload.JobSystem.answer

    def answer_some_in_time(self, batch, scores):
        if batch.frame["round"].iloc[0] == 2:  # the first repetition of the second job
            return Outputs(np.array([None]), np.array([Status.TIMEOUT], dtype=np.int8), messages={0: "It hangs."})
        return answer(self, batch, scores)

    monkeypatch.setattr(workload.JobSystem, "answer", answer_some_in_time)
    result = study("first", "tiny", progress=False)
    assert result.rows["ours"].tolist() == [1 + 1 / 8, 2 + 1 / 4, 3 + 1 / 8]  # of its second repetition only
    assert (result.complete, result.unfinished) == (False, ("1 of 6 jobs",))


@pytest.mark.parametrize("budget", ["1 runs", "3 runs"])
def test_figures_that_the_budget_leaves_out_are_missing(small_workload, budget):
    result = study("first", "tiny", progress=False, budget=budget)
    measured = int(budget[0])
    assert len(MEASURED) == measured
    assert result.unfinished == (f"{6 - measured} of 6 jobs",)
    assert result.rows["ours"].isna().tolist() == [False, measured < 3, True]


KILLED_CHILD = """
import os, signal, sys
from datamorphic.studies.explorations import Exploration
from datamorphic.studies.run import study
measure, count = Exploration.measure, []
def measure_some(job, *arguments):
    count.append(job)
    if len(count) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return measure(job, *arguments)
Exploration.measure = measure_some
study("random_target", "tiny", progress=False, store=sys.argv[1])
"""


@pytest.mark.slow
def test_a_killed_study_is_resumed_with_the_same_figures(tmp_path, monkeypatch):
    store = str(tmp_path / "runs.sqlite")
    child = subprocess.run([sys.executable, "-c", KILLED_CHILD, store], check=False)
    assert child.returncode == -signal.SIGKILL
    with dm.Store.open(store) as stored:
        assert stored.run(1).state == "killed"
        stored_jobs = len(list(stored.entries(1)))
    assert stored_jobs == 1
    monkeypatch.setattr(workload, "_outcomes", {})
    resumed = study("random_target", "tiny", progress=False, store=store, resume=1, engine="threads:2")
    whole = study("random_target", "tiny", progress=False)
    assert resumed.rows.equals(whole.rows)
    assert not math.isnan(whole.rows["ours"].iloc[0])
