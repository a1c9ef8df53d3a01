"""Which lines and branches each case executes, against a tracer of a few lines."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError, UsageError
from datamorphic.space.outputs import Status
from datamorphic.systems.base import Function
from datamorphic.systems.code_recorder import CodeRecorder
from support import decisions
from support.decisions import Loans, decide

FILE = Path(decisions.__file__).resolve()
CASES = pd.DataFrame(
    {"income": [0.5, 0.95, 0.5, 0.01, 0.5], "debt": [0.5, 0.5, 0.01, 0.01, 0.99]}  # no, yes, maybe, odd, an error
)


def trace_lines(cases):
    """Return the lines of `decide` that each case executes, one after the other: the plain reference."""
    runs = []

    def trace(frame, event, _):
        if frame.f_code is not decide.__code__:
            return None
        if event == "line":
            runs[-1].append(frame.f_lineno)
        return trace

    earlier_trace = sys.gettrace()
    for case in cases.to_dict("records"):
        runs.append([])
        sys.settrace(trace)
        try:
            decide(**case)
        except ValueError:
            pass
        finally:
            sys.settrace(earlier_trace)
    return runs


def make_recorder(code=decide):
    return CodeRecorder(Function(decide, Loans.space, scalar=True), code)


def list_items(recorder):
    return [item[1:] for item in recorder._places]


def test_recorded_lines_and_branches_are_those_of_a_plain_tracer():
    recorder = make_recorder()
    record = recorder.execute(CASES, scores=True).scores
    runs = trace_lines(CASES)
    assert len({tuple(lines) for lines in runs}) == len(CASES), "every case takes another way"
    for row, lines in enumerate(runs):
        ways = set(pairwise(lines))
        expected = [item[0] in lines if len(item) == 1 else item in ways for item in list_items(recorder)]
        assert record[row].tolist() == [float(value) for value in expected]


def test_all_lines_inside_the_function_count():
    recorder = make_recorder()
    first = decide.__code__.co_firstlineno
    assert [item[0] for item in list_items(recorder)[recorder.columns["line_coverage"]]] == list(
        range(first + 2, first + 12)
    )
    assert recorder.count_items("branch_coverage") == 10


def test_a_case_that_fails_counts_what_it_executed():
    outputs = make_recorder().execute(CASES, scores=True)
    assert outputs.status.tolist() == [Status.OK] * 4 + [Status.ERROR]
    assert "too much debt" in outputs.messages[4]
    assert outputs.scores[4].sum() == 3, "two lines and a branch"
    assert outputs.values[:4].tolist() == ["no", "yes", "maybe", "odd"]


def test_wrong_use_is_no_failing_case():
    def refuse(**case):
        raise UsageError("other columns")

    recorder = CodeRecorder(Function(refuse, Loans.space, scalar=True), decide)
    with pytest.raises(UsageError, match="other columns"):
        recorder.execute(CASES, scores=True)


def test_without_scores_nothing_is_recorded():
    outputs = make_recorder().execute(CASES.head(2))
    assert outputs.scores is None
    assert outputs.values.tolist() == ["no", "yes"]


def count(code):
    return make_recorder(code).count_items("line_coverage")


def test_code_is_named_in_many_ways(tmp_path, monkeypatch):
    whole_file = count(FILE)
    assert count(str(FILE)) == count(decisions) == count("support.decisions") == whole_file
    assert count("support.decisions:decide") == count(f"{FILE}:decide") == count(decide) == 10
    assert count("support.decisions:Unused") == count(decisions.Unused) == 1
    assert count("support.decisions:Unused.method") == 1
    assert count([decide, decisions.Unused]) == 11
    assert whole_file == 12, "what tests the system is no part of it, but its executor is"
    package = tmp_path / "counted_package"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("def one():\n    return 1\n")
    (package / "inner" / "deep.py").write_text("def two():\n    x = 1\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert count("counted_package") == count(package) == 3


def test_the_default_is_the_file_of_the_function():
    assert CodeRecorder(dm.TestSystem.collect(Loans).sut).describe_code() == "decisions.py"

    class Elsewhere(Loans):
        code = decide

    assert CodeRecorder(dm.TestSystem.collect(Elsewhere).sut).count_items("line_coverage") == 10


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("no_such_module", "the module 'no_such_module', which was not found"),
        ("missing.py", "the file 'missing.py', which does not exist"),
        ("math", "'math', which is not written in Python"),
        ("support.decisions:decid", "no function or class 'decid'. Did you mean 'decide'"),
        (len, "whose source was not found"),
        ([], "Got an empty list"),
        ("support", "has no function whose lines could be covered"),
    ],
)
def test_code_that_cannot_be_counted(code, message, monkeypatch):
    if code == "support":
        monkeypatch.setattr("datamorphic.systems.code_recorder._find_function_lines", lambda path, name: set())
    with pytest.raises(ArgumentError, match=message):
        make_recorder(code)


def test_a_system_without_source_needs_a_name():
    with pytest.raises(ArgumentError, match="Name it: code="):
        CodeRecorder(Function(len, Loans.space))


def test_code_without_branches_has_no_branch_coverage():
    with pytest.raises(ArgumentError, match="has no branches"):
        make_recorder(decisions.Unused).count_items("branch_coverage")


def test_records_are_equal_in_every_batch():
    cases = Loans.space.sample(30, seed=0)
    recorder = make_recorder()
    together = recorder.execute(cases, scores=True).scores
    alone = [recorder.execute(cases.iloc[[row]], scores=True).scores[0] for row in range(len(cases))]
    assert np.array_equal(together, alone)
