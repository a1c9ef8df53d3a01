"""How much executions of source and follow-up differ, for functions of Python."""

import math

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.relations import compare_traces


def absolute(x):
    if x < 0:
        return -x
    return x


def count_down(n):
    total = 0
    for _ in range(int(n)):
        total += 1
    return total


DOMAIN = {"x": (-1, 1)}
mirrored = dm.FunctionRelation(name="mirrored", domain=DOMAIN, follow_up=lambda x: {"x": -x})
halved = dm.FunctionRelation(
    name="halved", domain=DOMAIN, follow_up=lambda x: {"x": x / 2}, equal=lambda x, y: (y[0], 2 * y[1])
)


def test_relations_that_lead_elsewhere_in_the_code_come_first():
    frame = compare_traces(absolute, [halved, mirrored], inputs=20)
    assert frame["relation"].tolist() == ["mirrored", "halved"]
    assert frame["groups"].tolist() == [20, 20]
    # each side executes the call, the comparison and one of two returns: of 4 executions 2 are in both
    assert frame["traces"].tolist() == pytest.approx([0.5, 0.0])
    assert frame["lines"].tolist() == pytest.approx([0.5, 0.0])


def test_how_often_a_line_is_executed_counts():
    longer = dm.FunctionRelation(
        name="longer", domain={"n": range(1, 3)}, follow_up=lambda n: {"n": 10 * n}, less=lambda x, y: (y[0], y[1])
    )
    (row,) = compare_traces(count_down, longer, inputs=10).itertuples()
    assert row.lines == 0
    assert 0.5 < row.traces < 0.9


def test_arrays_and_programs():
    def vector(x):
        return np.where(x < 0, -x, x)

    assert compare_traces(vector, mirrored, inputs=5)["traces"].tolist() == [0.0]


def test_what_has_no_lines_is_refused():
    with pytest.raises(ArgumentError, match="it is no Python function"):
        compare_traces(math.fabs, mirrored)
    with pytest.raises(ArgumentError, match="is no FunctionRelation"):
        compare_traces(absolute, "MR-1.1")


def test_mutants_show_the_same_differences(tmp_path):
    file = tmp_path / "size.py"
    file.write_text("def size(x):\n    if x < 0:\n        return -x\n    return x\n")
    mutation = dm.mutate(file, [mirrored, halved], limit=1, inputs=20, compared=5, progress=False)
    traces = mutation.relations.set_index("relation")["traces"]
    assert traces["mirrored"] == pytest.approx(0.5)
    assert traces["halved"] == 0.0
