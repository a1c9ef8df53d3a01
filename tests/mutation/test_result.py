"""The result of ``dm.mutate``: states of mutants, and what the result exports."""

import xml.etree.ElementTree as ET

import pytest

from datamorphic.mutation.child import MutantOutcome, OriginalOutcome
from datamorphic.mutation.forge import make_mutants
from datamorphic.mutation.kill_matrix import (
    CRASHED,
    DIED,
    KILLED,
    OUT_OF_MEMORY,
    SAME_BYTECODE,
    SURVIVED,
    TIMED_OUT,
    UNREACHED,
)
from datamorphic.mutation.result import Mutation, classify_mutant
from datamorphic.runs.jobs import JobCrash, JobError, JobOutOfMemory, JobSuccess, JobTimeout

KEY = ("mine", "MR-0")
ORIGINAL = OriginalOutcome(
    relations={"mine": ["MR-0"]},
    violating_cases={KEY: frozenset()},
    judged_counts={KEY: 10},
    labels={},
    lines=frozenset({1}),
    traces={KEY: 0.5},
)


def finish(violated=0, undefined=0, different=0):
    return JobSuccess(
        MutantOutcome(
            violation_counts={KEY: violated},
            judged_counts={KEY: 10},
            undefined_count=undefined,
            different_count=different,
        )
    )


JOBS = {
    KILLED: finish(violated=3, different=2),
    SURVIVED: finish(different=2),
    UNREACHED: finish(),
    CRASHED: JobError("ValueError: no"),
    TIMED_OUT: JobTimeout(4.0),
    OUT_OF_MEMORY: JobOutOfMemory(),
    DIED: JobCrash(-9),
    SAME_BYTECODE: None,
}


@pytest.fixture(scope="module")
def mutation():
    mutants = make_mutants("def half(x):\n    y = x / 2\n    return y\n")[: len(JOBS)]
    results = [classify_mutant(mutant, job, ORIGINAL) for mutant, job in zip(mutants, JOBS.values(), strict=True)]
    return Mutation(program="half", results=results, original=ORIGINAL, inputs=10, compared=100)


def test_the_state_follows_from_the_job(mutation):
    assert [result.state for result in mutation.results] == list(JOBS)
    assert mutation.score == mutation.killed_of_different == 0.5


def test_survivors_fail_as_test_cases_and_other_states_are_skipped(mutation):
    cases = list(ET.fromstring(mutation.to_junit()).iter("testcase"))
    assert [[part.tag for part in case] for case in cases] == [[], ["failure"], *[["skipped"]] * 6]


def test_every_export_names_the_program(mutation, tmp_path):
    for text in (mutation.describe(), mutation.to_json(), mutation.to_markdown(), mutation.to_html()):
        assert "half" in text
    assert mutation.to_json(tmp_path / "mutation.json") == (tmp_path / "mutation.json").read_text()
