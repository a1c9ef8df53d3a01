"""Options that commands share with Python: spaces in files, names of systems, generators and selectors, and bad input for each."""

from __future__ import annotations

import importlib
import json
import re

import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli import command, load
from datamorphic.cli.main import app
from datamorphic.errors import UsageError
from datamorphic.hunting.options import parse_candidates

MODULE = """
import numpy as np
import datamorphic as dm
from sklearn.tree import DecisionTreeClassifier

rows = dm.data.load("iris").set_axis(["a", "b", "c", "d", "kind"], axis="columns")
tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows[["a", "b", "c"]], rows.kind)

def rule(frame):
    return np.where(frame["x"] > frame["y"], "high", "low")

swapped = dm.FunctionRelation(name="swapped", domain=[(0, 1), (0, 1)], follow_up=dm.relations.Affine.permuted([1, 0]))
mirrored = dm.FunctionRelation(name="mirrored", domain=[(0, 1), (0, 1)], follow_up=lambda x: 1 - x)
region = dm.relations.Box.of([(0, 1), (0, 1)])
"""
SPACE = """
constraints = ["b <= a"]
[features]
a = {low = 4, high = 9, step = 0.5}
c = {low = 0, high = 8}
"""
RULE = """
[features]
x = {kind = "continuous", low = 0, high = 1, step = 0.1}
y = {kind = "continuous", low = 0, high = 1, step = 0.1}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("space")
    (home / "described_rules.py").write_text(MODULE)
    (home / "iris.toml").write_text(SPACE)
    (home / "rule.toml").write_text(RULE)
    (home / "wrong.toml").write_text("[features]\na = {lo = 4}\n")
    rows = dm.data.load("iris").set_axis(["a", "b", "c", "d", "kind"], axis="columns")
    rows.to_csv(home / "iris.csv", index=False)
    pd.DataFrame({"x": [0.1, 0.9], "y": [0.2, 0.8]}).to_csv(home / "candidates.csv", index=False)
    pd.DataFrame({"x": [0.1, 9.0], "y": [0.2, 0.8]}).to_csv(home / "outside.csv", index=False)
    return home


@pytest.fixture
def run(folder, monkeypatch):
    """Call the command in the folder of the files."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)

    def call(line, code=0):
        result = CliRunner().invoke(app, line.split(), env={"DATAMORPHIC_STORE": "none", "COLUMNS": "200"})
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return call


def fail(run, line):
    """Return the one line that a wrong call prints."""
    result = run(line, code=2)
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


TREE = "described_rules:tree iris.csv --target kind --space iris.toml"
#: a short run of every command that takes a space, and its exit code
SHORT_RUNS = {
    f"explore {TREE} --walks 10": 0,
    f"check {TREE} --relation repeats --inputs 10 --no-shrink": 0,
    f"test {TREE} --only answers": 0,
    f"cover {TREE} --per-node 1 --criterion DTMT": 0,
    f"select {TREE} --criterion BVA --offset beyond": 0,
    f"fairness {TREE} --protected b --outcome 1": 1,
    "optimise described_rules:tree --tests iris.csv --target kind --space iris.toml --max-cycles 2": 0,
    "laws --data iris.csv --target kind --space iris.toml --examples 10": 0,
    "init described_rules:tree iris.csv --target kind --space iris.toml --force --out test_drafted.py": 0,
    "hunt described_rules:tree described_rules:swapped --data iris.csv --target kind --space iris.toml": None,
    "combine --space rule.toml --seeds 3": 0,
}


@pytest.mark.slow
@pytest.mark.parametrize("line", [line for line, code in SHORT_RUNS.items() if code is not None])
def test_every_command_that_takes_data_takes_a_space(run, monkeypatch, line):
    spaces = []
    read = load.load_space
    names = ("check", "combine", "command", "cover", "laws", "optimise", "select", "test")
    modules = [importlib.import_module(f"datamorphic.cli.{name}") for name in names]
    for module in modules:
        if hasattr(module, "load_space"):  # the others are made by `command`
            monkeypatch.setattr(module, "load_space", lambda *arguments: spaces.append(read(*arguments)) or spaces[-1])
    run(line, SHORT_RUNS[line])
    if "init" not in line:
        [space] = spaces
        assert "d" not in space.names or line.startswith("laws")  # which is not an input of the tree
        assert space[space.names[0]].step == (0.1 if "rule.toml" in line else 0.5)


@pytest.mark.parametrize("line", SHORT_RUNS)
def test_mistakes_in_a_space_file_are_one_line(run, line):
    message = fail(run, re.sub(r"\w+\.toml", "wrong.toml", line))
    assert message == ("datamorphic: wrong.toml: features.a.lo is not a known key of a feature. Did you mean 'low'?\n")


@pytest.mark.parametrize("line", SHORT_RUNS)
def test_a_space_file_that_does_not_exist(run, line):
    message = fail(run, re.sub(r"\w+\.toml", "absent.toml", line))
    assert "The space cannot be read from" in message
    assert "absent.toml': No such file or directory." in message


@pytest.mark.parametrize("command", ["explore", "check", "test", "cover", "select", "fairness", "init", "laws"])
def test_a_space_and_hints_exclude_each_other(run, command):
    line = f"{command} described_rules:tree iris.csv --target kind --space iris.toml --kind a=integer --protected b"
    if command == "laws":
        line = line.replace("described_rules:tree ", "--data ")
    if command == "init":
        line += " --force --out test_other.py"
    if command not in ("test", "fairness"):
        line = line.replace(" --protected b", "")
    assert f"{command} was given a space and hints for its columns (kinds)" in fail(run, line)


@pytest.mark.slow
def test_a_model_is_explored_without_data(run, folder):
    run("explore described_rules:rule --space rule.toml --walks 20 --name Ours --save front.parquet")
    front = dm.Front.load(folder / "front.parquet")
    assert front.subject == "Ours"
    assert front.space["x"].step == 0.1
    assert len(front)


@pytest.mark.slow
def test_moves_keep_the_constraints_of_the_file(run, folder):
    run(f"explore {TREE} --walks 30 --strategy random_walk --save bound.parquet")
    pairs = dm.Front.load(folder / "bound.parquet").pairs
    assert len(pairs)
    assert (pairs["b.b"] <= pairs["b.a"]).all()
    assert pairs["a.a"].between(4, 9).all()


@pytest.mark.slow
def test_what_plan_recommends_are_options_of_explore(run):
    plan = json.loads(run("explore --subject box_1 --plan --trial 10 --walks 100 --json").stdout)
    text = run("explore --subject box_1 --plan --trial 10 --walks 100").stdout
    options = re.search("as options: (.*)", text)[1]
    assert f"--strategy {plan['options']['strategy']}" in options
    run(f"explore --subject box_1 --walks 5 {options}")


@pytest.mark.slow
def test_the_pytest_file_of_a_test_reads_the_space(run, folder):
    run(f"test {TREE} --only answers --name Ours --pytest test_space.py")
    text = (folder / "test_space.py").read_text()
    assert "space=dm.read_space(HERE / " in text
    assert "data[['a', 'b', 'c']])" in text
    assert "name='Ours'" in text.replace('"', "'")


# -- generators, selectors and relations -------------------------------------------------------------------------

PROPOSERS = {
    "generate --domain 0,1 --generator RRT --ratio 0.5 --tries 3 --scaled --n 5": {
        "ratio": 0.5,
        "tries": 3,
        "scaled": True,
    },
    "generate described_rules:swapped --joint --n 5": {"joint": True},
    "generate described_rules:swapped --generator MT-ART-Min --criterion Max --strategy 2 --n 5": {
        "criterion": "Max",
        "strategy": 2,
    },
    "simulate --generator RRT --ratio 0.5 --trials 3": {"ratio": 0.5},
    "simulate --relation described_rules:swapped --trials 3": {},
    "simulate --selector MRGS-distance --relation described_rules:swapped --relation described_rules:mirrored --metric jaccard "
    "--published --trials 3": {"metric": "jaccard", "published": True},
    "simulate --selector MRGS-ART --candidates IPART --fair --trials 3 --rate 0.1": {
        "candidates": "IPART",
        "published": False,
    },
    "hunt program:sin Sin1 Sin2 --selector MRGS-ART --domains meet --budget 20 --batch 5": {"domains": "meet"},
}


@pytest.mark.parametrize("line", PROPOSERS)
def test_options_of_generators_and_selectors_reach_them(run, monkeypatch, line):
    calls = []

    def stop(_, options):
        calls.append(options)
        raise UsageError("Stopped.")  # before kernels are compiled

    monkeypatch.setattr(command, "execute", stop)
    assert fail(run, line) == "datamorphic: Stopped.\n"
    (options,) = calls
    assert options.proposer_options == PROPOSERS[line]
    if "--relation " in line:
        assert "swapped" in str(options.relation)


def test_candidates_are_the_rows_of_a_file(folder):
    assert parse_candidates(str(folder / "candidates.csv")).tolist() == [[0.1, 0.2], [0.9, 0.8]]
    assert parse_candidates("IPART") == "IPART"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("explore --subject box_1 --trial 10", "--trial is for the estimate of --plan. Add --plan, or leave it out."),
        (
            "explore --subject box_1 --plan --trial 3",
            "Invalid value for '--trial': Input should be greater than or equal to 10.",
        ),
        ("explore --subject box_1 --moves ,", "--moves takes names separated by commas, as in swap,double. Got ','."),
        ("mutate described_rules --memory much", "--memory takes a size, as in 512MB or 1GB. Got 'much'."),
        ("mutate described_rules --memory 0", "--memory takes a size"),
        ("mutate described_rules --rows 0", "'--rows'"),
        ("mutate described_rules --relation described_rules:nothing", "'described_rules' has no 'nothing'."),
        ("cover described_rules:tree iris.csv --target kind --per-node some --criterion DTMT", "'per_node'"),
        ("cover described_rules:tree iris.csv --target kind --offset beyond --criterion BVA", "'offset'"),
        ("generate --domain 0,1 --ratio 2", "SFIDMT-ART has no option 'ratio'."),
        ("generate --domain 0,1 --generator RRT --ratio -2", "'ratio'"),
        ("generate --domain 0,1 --generator RRT --tries 0", "'--tries'"),
        ("generate --domain 0,1 --generator described_rules:nobody", "'described_rules' has no 'nobody'."),
        ("generate described_rules:swapped --generator MT-ART-Min --criterion Mean", "'criterion'"),
        ("generate described_rules:swapped --generator MT-ART-Min --strategy 3", "must be 1 or 2. Got 3 instead."),
        ("generate described_rules:swapped --generator MT-BART --joint", "MT-BART has no option 'joint'."),
        ("simulate --published", "SFIDMT-ART has no option 'published'."),
        ("simulate --selector MRGS-ART --metric far", "'metric'"),
        ("simulate --selector MRGS-ART --domains join", "'domains'"),
        ("simulate --selector MRGS-ART --candidates nobody", "There is no generator 'nobody'."),
        ("simulate --selector MRGS-ART --candidates absent.csv", "absent.csv"),
        ("simulate --selector MRGS-ART --candidates outside.csv", "Row 1 of the candidates lies outside"),
        (
            "simulate --relation described_rules:rule",
            "'described_rules:rule' is of type function. Name a FunctionRelation",
        ),
        (
            "simulate --relation described_rules:swapped --relation described_rules:mirrored",
            "Several relations need --selector. Add it, or give --relation once.",
        ),
        ("simulate --region described_rules:region", "'region'"),
        ("hunt program:sin --space rule.toml", "A program has its own inputs. Leave --data and --space out."),
        ("hunt program:sin --engine threads", "The option engine is for systems with a space"),
        ("hunt program:sin --batch 0", "'--batch'"),
        ("hunt described_rules:tree described_rules:swapped", "Add --data FILE, or --space FILE."),
        ("combine --space rule.toml --subject box_1", "or --space FILE. Got 2 of them."),
        ("laws --space rule.toml --subject box_1", "or --space FILE. Got 2 of them."),
        ("credit --test-share 2", "'test_share'"),
        ("credit --repeats 0", "'--repeats'"),
        ("credit --relation credit.HMR9", "credit.HMR9"),
    ],
)
def test_bad_values_are_one_line(run, line, message):
    assert message in fail(run, line)


@pytest.mark.parametrize(("text", "size"), [("512MB", 2**29), ("1.5 gb", 3 * 2**29), ("4096", 4096), ("8kB", 8192)])
def test_sizes_of_memory(text, size):
    from datamorphic.core.parsing import parse_size

    assert parse_size(text, "--memory") == size


@pytest.mark.slow
def test_credit_takes_relations_and_how_models_are_trained(run):
    line = "credit --ladder logistic_regression --repetitions 1 --test-share 0.4 --repeats 1 --no-constraints --name Book --json"
    document = json.loads(run(f"{line} --relation credit.HMR1").stdout)
    assert "Book" in json.dumps(document)
    assert "HMR1" in json.dumps(document)
    assert "HMR2" not in json.dumps(document)
