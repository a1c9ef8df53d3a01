"""The commands ``hunt``, ``generate`` and ``simulate``: exit codes, output, files and bad input."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli import completion as completing
from datamorphic.cli.main import app
from datamorphic.hunting.generators import GENERATORS
from datamorphic.hunting.regions import KINDS
from datamorphic.hunting.scenarios import SCENARIOS
from datamorphic.hunting.selectors import SELECTORS
from datamorphic.hunting.simulation import make_mixed_relations

TANH = dm.programs["tanh"]
TRIPLING = TANH.relations["tripling"]
FUNCTIONS = """
import numpy as np
import datamorphic as dm

def square(x):
    return x * x

def fails(x):
    raise RuntimeError("out of order")

def nothing(x):
    return x * np.nan

def notch(x, y):
    return np.where((x > 0.5) & (x < 0.6) & (y > 0.5), x, x + y)

def fare(frame):
    price = 3 + 2 * frame["km"] + 0.5 * frame["minutes"]
    return np.where((frame["km"] > 20) & (frame["minutes"] < 12), 3 + 0.5 * frame["minutes"], price)

number = 3
mirrored = dm.FunctionRelation(name="mirrored", domain=(-1, 1), follow_up=lambda x: -x)
doubled = dm.FunctionRelation(
    name="doubled <script>alert(1)</script>", domain=(0.1, 1), follow_up=lambda x: 2 * x, equal=lambda x, y: (y[1], 2 * y[0])
)
swapped = dm.FunctionRelation(name="swapped", domain=[(0, 1), (0, 1)], follow_up=dm.relations.Affine.permuted([1, 0]))
both = {"one": mirrored, "other": doubled}

class Sign:
    def predict(self, rows):
        return (rows["a"] > 0.5).to_numpy().astype(int)

class Mirrored(dm.Relation):
    name = "mirrored"
    def follow_up(self, frame, rng):
        return frame.assign(a=1 - frame["a"])

sign = Sign()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("hunt")
    (home / "hunted_here.py").write_text(FUNCTIONS)
    pd.DataFrame({"a": np.linspace(0, 1, 20), "b": np.linspace(1, 0, 20)}).to_csv(home / "rows.csv", index=False)
    return home


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    return lambda *words: CliRunner().invoke(app, list(words), env={"COLUMNS": "400"})


# -- hunt ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_violation_is_printed_with_its_inputs(run):
    result = run("hunt", "program:tanh/emu10", "--seed", "1")
    assert result.exit_code == 1, result.output
    assert result.stdout.startswith("tanh/emu10 violates 'tripling': 1 violation in ")
    assert "  - tripling: f(" in result.stdout
    assert result.stdout.split("calls")[0] == run("hunt", "program:TANH/emu10", "--seed", "1").stdout.split("calls")[0]


@pytest.mark.slow
def test_correct_program_has_no_violation(run):
    result = run("hunt", "program:sin", "Sin1", "sin2", "--selector", "mrgs-art", "--budget", "300", "--k", "2")
    assert result.exit_code == 0, result.output
    assert "No violation of 2 relations by Sin in 300 groups." in result.stdout
    assert "MRGS-ART," in result.stdout


def test_one_json_document_and_files(run, folder):
    result = run(
        "hunt",
        "hunted_here:square",
        "hunted_here:both",
        "--budget",
        "60",
        "--stop-after",
        "all",
        "--trials",
        "2",
        "--json",
        "--html",
        "square.html",
        "--junit",
        "square.xml",
    )
    assert result.exit_code == 1, result.output
    document = json.loads(result.stdout)
    assert {name: document[name] for name in ("subject", "groups", "violated", "trials")} == {
        "subject": "square",
        "groups": 120,
        "violated": 60,
        "trials": 2,
    }
    assert len(document["violations"]) == 60
    page = (folder / "square.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "doubled &lt;script&gt;" in page
    root = ElementTree.parse(folder / "square.xml").getroot()
    assert (root.attrib["tests"], root.attrib["failures"]) == ("2", "1")
    assert root.find(".//failure").attrib["message"] == "60 of 60 groups violate the relation"
    assert "doubled <script>" in root.findall(".//testcase")[1].attrib["name"]


def test_relations_are_found_beside_the_function(run):
    result = run("hunt", "hunted_here:square", "mirrored", "--budget", "50")
    assert result.exit_code == 0, result.output
    assert "No violation of 'mirrored' by square in 50 groups." in result.stdout


@pytest.mark.slow
def test_models_are_hunted_with_data(run, folder):
    words = ["hunt", "hunted_here:sign", "hunted_here:Mirrored", "--data", "rows.csv", "--generator", "MT-BART"]
    result = run(*words, "--html", "model.html", "--stop-after", "all", "--budget", "50")
    assert result.exit_code == 1, result.output
    assert "violates 'mirrored'" in result.stdout
    assert "The sources and follow-ups that were executed" in (folder / "model.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("budget", ["1000", "20"])
def test_system_that_always_fails(run, budget):
    result = run("hunt", "hunted_here:fails", "mirrored", "--budget", budget)
    assert result.exit_code == 3, result.output
    errors = [line for line in result.stderr.splitlines() if not line.startswith("compiling")]  # once per machine
    assert len(errors) == 1
    assert "error: RuntimeError: out of order" in errors[0]


def test_groups_without_verdict_are_not_violations(run, folder):
    words = ["hunt", "hunted_here:nothing", "mirrored", "--budget", "40", "--html", "no.html", "--junit", "no.xml"]
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Nothing could be judged")
    assert "No group could be judged: 40 groups without a numeric answer" in result.stdout
    assert ElementTree.parse(folder / "no.xml").getroot().attrib["skipped"] == "1"


def test_promises_and_registered_relations_of_a_model(run):
    result = run(
        "hunt", "hunted_here:sign", "--data", "rows.csv", "--promise", "a: lowers 1", "--promise", "b: does not matter"
    )
    assert result.exit_code == 1, result.output
    assert "monotone a" in result.stdout
    assert "invariant b" in result.stdout
    words = ("hunt", "hunted_here:sign", "--data", "rows.csv", "--generator", "rows", "--json")
    result = run(*words, "--promise", "more: a + 0.2 lowers 1", "--stop-after", "all")
    assert json.loads(result.stdout)["relations"] == ["more"]
    refused = run("hunt", "hunted_here:sign", "image.noise", "--data", "rows.csv")
    assert "the inputs hold no image" in refused.output
    refused = run("hunt", "hunted_here:square", "hunted_here:mirrored", "--promise", "a: lowers 1")
    assert "--promise is about the columns of a model" in refused.output
    refused = run("hunt", "hunted_here:sign", "--data", "rows.csv", "--promise", "a: shrinks")
    assert refused.exit_code == 2
    assert "'shrinks' is not understood" in refused.output


# -- generate --------------------------------------------------------------------------------------------------


def test_groups_are_written(run, folder):
    result = run("generate", "program:tanh/tripling", "--generator", "MT-BART", "--n", "50", "--out", "groups.csv")
    assert result.exit_code == 0, result.output
    groups = pd.read_csv(folder / "groups.csv")
    assert list(groups.columns) == ["source_x", "follow_up_x"]
    expected_groups = dm.generate(TRIPLING, "MT-BART", n=50)
    np.testing.assert_allclose(groups.to_numpy(), np.hstack([expected_groups.sources, expected_groups.follow_ups]))


@pytest.mark.parametrize(
    ("words", "columns"),
    [
        (["--domain", "0,1", "--domain", "5,6"], ["source_x", "source_y"]),
        (["program:Sin/Sin11"], ["source_x", *(f"follow_up{i}_x" for i in (1, 2, 3))]),
        (["program:BesselJ/BesselJ2"], ["drawn_1", "drawn_2", "source_x", "source_y", "follow_up_x", "follow_up_y"]),
        (["hunted_here:swapped"], ["source_x", "source_y", "follow_up_x", "follow_up_y"]),
    ],
)
def test_groups_as_json(run, words, columns):
    document = json.loads(run("generate", *words, "--generator", "MT-RT", "--n", "3", "--json").stdout)
    assert document["columns"] == columns
    assert np.shape(document["groups"]) == (3, len(columns))


def test_groups_are_printed_where_no_file_is_named(run):
    result = run("generate", "--domain", "0,1", "--generator", "Sobol", "--n", "30")
    assert "30 groups by Sobol" in result.stdout
    assert "source_x" in result.stdout


# -- simulate --------------------------------------------------------------------------------------------------


def test_one_generator_is_described(run):
    result = run("simulate", "--generator", "IPART", "--rate", "0.05", "--trials", "60")
    assert result.exit_code == 0, result.output
    assert "Setting: block regions with rate 0.05 in 2 dimensions" in result.stdout


@pytest.mark.slow
def test_several_generators_are_compared(run, folder):
    words = ["simulate", "--generator", "MT-RT", "--generator", "mt-bart", "--rate", "0.05", "--trials", "60"]
    result = run(*words, "--scenario", "a1", "--html", "simulated.html")
    assert result.exit_code == 0, result.output
    head, setting, trials, *_, columns, first, second = result.stdout.splitlines()[
        :-2
    ]  # the last ones name the file and the run
    assert "of the groups that random testing needs, the least of 2" in head
    assert setting == "Setting: A1 regions with rate 0.05 in 2 dimensions"
    assert trials.startswith("Trials:  60 each")
    assert [row.split()[0] for row in (first, second)] == ["MT-RT", "MT-BART"]
    assert len(columns) == len(first) == len(second)
    simulations = json.loads(run(*words, "--json").stdout)["simulations"]
    assert [item["generator"] for item in simulations] == ["MT-RT", "MT-BART"]
    assert "MT-BART" in (folder / "simulated.html").read_text(encoding="utf-8")


def test_selectors_are_compared_on_mixed_relations(run):
    words = ["simulate", "--selector", "random", "--selector", "MRGS-ART", "--relations", "4", "--violating", "3"]
    simulations = json.loads(run(*words, "--rate", "0.1", "--trials", "20", "--json").stdout)["simulations"]
    assert [item["generator"] for item in simulations] == ["random", "MRGS-ART"]
    assert [relation.follow_ups for relation in make_mixed_relations(4, 2)] == [1, 2, 3, 1]
    for relation in make_mixed_relations(9, 3):
        assert relation.affine
        assert all((box.high > box.low).all() for box in relation.follow_domains())


def test_censored_trials_give_a_lower_bound(run, folder):
    words = ["simulate", "--generator", "MT-RT", "--generator", "BART", "--rate", "0.001", "--trials", "20"]
    result = run(*words, "--budget", "3", "--html", "ended.html")
    assert "> 3.0" in result.stdout
    assert "give them a greater budget" in (folder / "ended.html").read_text(encoding="utf-8")


# -- bad input -------------------------------------------------------------------------------------------------

BAD = {
    "no program": ("hunt program:tan", "There is no program 'tan'. Did you mean 'tanh'?"),
    "no mutant": ("hunt program:tanh/emu1", "Did you mean 'emu10'?"),
    "no relation": ("hunt program:tanh trippling", "Did you mean 'tripling'?"),
    "no relation here": ("hunt hunted_here:square miror", "Did you mean 'mirrored'?"),
    "no relation at all": ("hunt hunted_here:square", "Say which relations must hold"),
    "no generator": ("hunt program:tanh --generator MT-BRAT", "Did you mean 'MT-BART'?"),
    "no selector": ("hunt program:sin --selector MGRS-ART", "Did you mean 'MRGS-ART'?"),
    "no candidates": ("hunt program:tanh --k 0", "'--k'"),
    "no number": ("hunt program:tanh --stop-after soon", "--stop-after is a number of violations, or all"),
    "less than none": ("hunt program:tanh --stop-after -1", "'stop_after'"),
    "no function": ("hunt hunted_here:number mirrored", "is of type int, neither a function nor a model"),
    "a model without data": ("hunt hunted_here:sign hunted_here:Mirrored", "Add --data FILE"),
    "a file without data": ("hunt model.skops hunted_here:Mirrored", "Add --data FILE"),
    "data of a program": ("hunt program:tanh --data rows.csv", "Leave --data and --space out"),
    "no place for the page": ("hunt program:tanh --html .", "is a folder"),
    "no place for the file": ("generate --domain 0,1 --out hunted_here.py/groups.csv", "cannot be written"),
    "nothing to make": ("generate", "Got neither"),
    "two things to make": ("generate program:tanh/tripling --domain 0,1", "Got both"),
    "which relation": ("generate program:tanh", "for example program:tanh/tripling"),
    "none of its relations": ("generate program:tanh/tipling", "Did you mean 'tripling'?"),
    "not a relation": ("generate hunted_here:number", "is of type int. Name a FunctionRelation"),
    "no limits": ("generate --domain 1", "two numbers, as in 0,1"),
    "an empty domain": ("generate --domain 1,0", "is empty"),
    "no groups": ("generate --domain 0,1 --n 0", "'--n'"),
    "rate 0": ("simulate --rate 0", "'rate'"),
    "rate 2": ("simulate --rate 2", "'rate'"),
    "no dimension": ("simulate --dimension 0", "'--dimension'"),
    "no region": ("simulate --region blob", "'block', 'strip', 'point'"),
    "no scenario": ("simulate --scenario D1", "'A1'"),
    "no such generator": ("simulate --generator IPRAT", "Did you mean 'IPART'?"),
    "both": ("simulate --generator BART --selector MRGS-ART", "not both"),
    "not among them": ("simulate --selector MRGS-ART --violating 3", "'violating'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_reported_in_one_line(run, name):
    words, message = BAD[name]
    result = run(*words.split())
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


# -- completion ------------------------------------------------------------------------------------------------


def test_completion_offers_existing_names():
    values = {name: list(find("program:")) for name, find in completing.VALUES.items()}
    assert values["generator"] == list(GENERATORS)
    assert values["selector"] == list(SELECTORS)
    assert values["region"] == list(KINDS)
    assert values["scenario"] == list(SCENARIOS)
    assert values["program_or_model"] == [f"program:{name}" for name in dm.programs]
    assert completing.VALUES["program_or_model"]("my_f") == []


# -- violation regions of real programs ------------------------------------------------------------------------------


def test_regions_of_a_hunt_and_simulation_in_the_region_of_a_mutant(run):
    result = run("hunt", "program:tanh/emu10", "--regions", "5000", "--json")
    assert result.exit_code == 1, result.output
    (region,) = json.loads(result.stdout)["regions"]
    assert [part["kind"] for part in region["regions"]] == ["block", "block"]
    simulate = ("simulate", "--generator", "MT-RT", "--trials", "5", "--json", "--region")
    result = run(*simulate, "program:tanh/emu10")
    assert result.exit_code == 0, result.output
    mutant = dm.simulate("MT-RT", TANH.mutants["emu10"], trials=5)
    assert json.loads(result.stdout)["f_ratio"] == mutant.f_ratio
    result = run(*simulate, "hunted_here:square", "--relation", "hunted_here:doubled")
    assert json.loads(result.stdout)["rate"] == 1.0
    result = run(*simulate, "program:sin/m1")
    assert result.exit_code == 2
    assert "Name one of them: Sin1" in result.stderr


def test_groups_are_measured(run):
    result = run("generate", "program:tanh/tripling", "--n", "50", "--measure", "--json")
    assert result.exit_code == 0, result.output
    expected = dm.generate(TRIPLING, n=50).spread.to_dict("records")
    assert json.loads(result.stdout)["spread"] == expected


# -- from a pattern to a report ----------------------------------------------------------------------------------------

RIDES = """moves = "open"
features.km = {kind = "continuous", low = 0.5, high = 40}
features.minutes = {kind = "continuous", low = 2, high = 90}
"""


@pytest.mark.parametrize("words", [["--generator", "MT-BART"], ["--selector", "MRGS-ART-fair", "--k", "2"]])
def test_patterns_are_hunted_by_generators_and_selectors(run, folder, words):
    (folder / "rides.toml").write_text(RIDES)
    patterns = [
        *("--pattern", "Additive: columns = minutes; amount = 5 >> Additive: amount = 2.5"),
        *("--pattern", "Monotone: columns = km; amount = 1"),
    ]
    words = ["hunt", "hunted_here:fare", "--space", "rides.toml", *patterns, *words, "--budget", "400"]
    result = run(*words, "--stop-after", "all", "--html", "fare.html")
    assert result.exit_code == 1, result.output
    assert ("MRGS-ART-fair," if "--selector" in words else "MT-BART,") in result.stdout
    page = (folder / "fare.html").read_text(encoding="utf-8")
    assert "Additive &gt;&gt; Additive" in page
    assert "minutes is increased by 5: the answer is increased by 2.5" in page


def test_examples_are_hunted_among_their_cases(run):
    line = "Conjunctive Conditions: column = brand; values = Acme >> Subset"
    faulty = run("hunt", "example:product search with filters ignore the query", "--pattern", line)
    assert faulty.exit_code == 1, faulty.output
    assert "product search violates 'Conjunctive Conditions >> Subset'" in faulty.stdout
    assert run("hunt", "example:product search", "--pattern", line).exit_code == 0
    wrong = run("hunt", "example:product search", "--pattern", line.replace("brand", "colour"))
    assert wrong.exit_code == 2
    assert "There is no column 'colour'" in wrong.stderr
    assert "Add --data FILE, or --space FILE" in run("hunt", "hunted_here:fare", "--pattern", line).stderr
    assert "named columns, and a program has none" in run("hunt", "program:tanh", "--pattern", line).stderr
