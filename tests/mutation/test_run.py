"""Mutants of numeric programs, killed by relations of their inputs and answers, from Python and the command line."""

import json

import pytest
import scipy.special
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.errors import ArgumentError, SystemFailed
from datamorphic.mutation import processes
from support.jobs import JobPoolHere

ROOT = """
import numpy as np

def root(x, y):
    return np.sqrt(x - y)
"""
GAMMA = """
import math

def gamma(x):
    if x < 0.5:
        return math.pi / (math.sin(math.pi * x) * gamma(1 - x))
    return math.gamma(x)
"""
RELATIONS = """
import datamorphic as dm

ORDERED = {"domain": {"x": (0, 9), "y": (0, 9)}, "constraints": ["x >= y"], "relative": 1e-9, "absolute": 1e-12}
moved = dm.FunctionRelation(name="moved", follow_up=lambda x, y: {"x": x + 1, "y": y + 1}, **ORDERED)
quadrupled = dm.FunctionRelation(
    name="quadrupled",
    follow_up=lambda x, y: {"x": 4 * x, "y": 4 * y},
    equal=lambda x, y: (2 * y[0], y[1]),
    **ORDERED,
)
BOTH = [moved, quadrupled]
"""
FEW = {"inputs": 20, "compared": 30, "progress": False}


@pytest.fixture
def programs(tmp_path, monkeypatch):
    for name, text in (("root.py", ROOT), ("my_gamma.py", GAMMA), ("root_relations.py", RELATIONS)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(processes, "JobPool", JobPoolHere)  # tests/behaviour has its processes
    return tmp_path


def run_command(*words):
    result = CliRunner().invoke(
        app, ["mutate", *words, "--store", "none", "--inputs", "20", "--compared", "30", "--json"]
    )
    return result.exit_code, json.loads(result.stdout) if result.stdout.startswith("{") else result.output


def test_mutants_of_a_function_are_killed_by_its_relations_and_for_not_answering(programs):
    import root_relations

    mutation = dm.mutate("root.py", root_relations.BOTH, operators=["AOR", "RSR"], **FEW)
    by_change = {(row.before, row.after): row for row in mutation.mutants.itertuples()}
    assert by_change["x - y", "x + y"].killed_by == "moved"  # sqrt(4x + 4y) is still twice sqrt(x + y)
    assert by_change["x - y", "x * y"].killed_by == "moved, quadrupled"
    assert by_change["np.sqrt(x - y)", "None"].killed_by == "answers"
    negative = by_change["np.sqrt(x - y)", "-np.sqrt(x - y)"]
    assert negative.state == "survived"
    assert "differ on 30 of 30 inputs" in negative.why  # all of them inside the domain, where there is a root
    assert not mutation.violations


def test_a_known_function_brings_its_relations(programs):
    like = dm.mutate("my_gamma.py", like=scipy.special.gamma, operators=["AOR"], **FEW)
    named = dm.mutate("my_gamma.py", dm.relations_for(scipy.special.gamma), operators=["AOR"], **FEW)
    assert like.relations["relation"].tolist() == ["gamma.recurrence", "gamma.reflection", "answers"]
    assert like.mutants.equals(named.mutants)
    assert like.kills.kills["gamma.recurrence"] > 0
    with pytest.raises(ArgumentError, match=r"or a function of NumPy or SciPy that dm\.relations_for knows"):
        dm.mutate("my_gamma.py", like=len)


def test_one_of_several_functions(programs):
    import root_relations

    (programs / "root.py").write_text(ROOT + "\n\ndef other(x):\n    return x\n")
    with pytest.raises(SystemFailed, match=r"has root, other\. Say which to test: learners=lambda module"):
        dm.mutate("root.py", root_relations.moved, **FEW)
    mutation = dm.mutate(
        "root.py", root_relations.moved, learners=lambda module: {"root": module.root}, operators=["AOR"], **FEW
    )
    code, document = run_command(
        "root.py", "--relation", "root_relations:moved", "--learner", "root", "--operator", "AOR"
    )
    assert code == 0
    assert document["score"] == mutation.score > 0


def test_the_command_line_takes_lists_of_relations_and_known_functions(programs):
    code, document = run_command("root.py", "--relation", "root_relations:BOTH", "--operator", "AOR")
    assert code == 0
    assert [row["relation"] for row in document["relations"]] == ["moved", "quadrupled", "answers"]
    code, document = run_command("my_gamma.py", "--like", "scipy.special:gamma", "--operator", "AOR", "--limit", "2")
    assert code == 0
    assert [row["relation"] for row in document["relations"]] == ["gamma.recurrence", "gamma.reflection", "answers"]
