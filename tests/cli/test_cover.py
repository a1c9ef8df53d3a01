"""``datamorphic cover`` and ``select``: exit codes, words, rows that lift it, files, and input that cannot be right."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app

IRIS = dm.data.load("iris")
NAMES = IRIS.columns[:-1].tolist()
TREE = DecisionTreeClassifier(random_state=0).fit(IRIS[NAMES], IRIS.target)
MODELS = """
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
import datamorphic as dm

iris = dm.data.load("iris")
inputs = iris.drop(columns="target")
forest = RandomForestClassifier(3, random_state=0).fit(inputs, iris.target)
numbers = RandomForestRegressor(3, random_state=0).fit(inputs, iris.target)
line = LogisticRegression(max_iter=500).fit(inputs, iris.target)
unfitted = DecisionTreeClassifier()
stump = DecisionTreeClassifier().fit(inputs, iris.target * 0)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    io = pytest.importorskip("skops.io", reason="pip install 'datamorphic[skops]'")
    home = tmp_path_factory.mktemp("cover")
    io.dump(TREE, home / "tree.skops")
    dm.trees.write_pmml(dm.trees.read_forest(TREE), home / "tree.pmml")
    (home / "cover_models.py").write_text(MODELS)
    (home / "page.pmml").write_text("<html><body>no model</body></html>")
    (home / "text.pmml").write_text("no XML at all")
    IRIS[:70].to_csv(home / "tests.csv", index=False)
    IRIS.to_csv(home / "all.csv", index=False)
    IRIS[NAMES[:3]].to_csv(home / "narrow.csv", index=False)
    IRIS.assign(target="setosa").to_csv(home / "words.csv", index=False)
    IRIS.assign(remark="x", weight=3).to_csv(home / "wide.csv", index=False)
    IRIS[:0].to_csv(home / "empty.csv", index=False)
    holed = IRIS.copy()
    holed.loc[::7, NAMES[2]] = np.nan
    holed.to_csv(home / "holed.csv", index=False)
    return home


def run(folder, monkeypatch, *words):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "400"})


@pytest.mark.slow
def test_too_little_coverage_is_reported_and_fixed_by_rows(folder, monkeypatch):
    words = ["tree.skops", "tests.csv", "--criterion", "DTMT", "--at-least", "0.8"]
    result = run(folder, monkeypatch, "cover", *words, "--fix", "extra.csv")
    assert result.exit_code == 1, result.output
    for line in (
        "The tests kill 15 of 42 mutants (35.7%)",
        "so at most 85.7% can be killed",
        "Mutants that a row could kill come first.",
        "  petal width (cm) > 1.75 and petal length (cm) > 4.85 ",
        "Too little: --at-least asks for 80%.",
        "would raise the score from 35.7% to 85.7%.",
    ):
        assert line in result.stdout
    extra = pd.read_csv(folder / "extra.csv")
    assert list(extra.columns) == NAMES
    pd.concat([IRIS[:70], extra]).to_csv(folder / "more.csv", index=False)
    again = run(folder, monkeypatch, "cover", "tree.skops", "more.csv", *words[2:])
    assert again.exit_code == 0, again.output
    assert "The tests kill 36 of 42 mutants" in again.stdout


@pytest.mark.parametrize("criterion", ["DTC", "bva"])
def test_leaves_are_fixed_too(folder, monkeypatch, criterion):
    words = ["--criterion", criterion, "--at-least", "0.9", "--target", "target"]
    result = run(folder, monkeypatch, "cover", "tree.skops", "tests.csv", *words, "--fix", "leaves.csv")
    assert result.exit_code == 1
    assert " 8  petal width (cm) > 1.75 and petal length (cm) > 4.85 " in result.stdout
    assert "to 100%." in result.stdout
    pd.concat([IRIS[:70], pd.read_csv(folder / "leaves.csv")]).to_csv(folder / "more.csv", index=False)
    assert run(folder, monkeypatch, "cover", "tree.skops", "more.csv", *words).exit_code == 0


def test_one_json_document(folder, monkeypatch):
    words = ["cover", "tree.skops", "tests.csv", "--criterion", "DTMT", "--json", "--at-least", "0.1"]
    document = json.loads(run(folder, monkeypatch, *words).stdout)
    expected = {"criterion": "DTMT", "rows": 70, "nodes": 17, "decision_nodes": 8, "leaves": 9, "enough": True}
    assert {name: document[name] for name in expected} == expected
    assert document["mutants"] == {"all": 42, "killed": 15, "live": 27, "proved_equivalent": 6, "killable": 21}
    assert document["score"] == pytest.approx(15 / 42)
    assert "extra" not in document


def test_pages_and_drawings(folder, monkeypatch):
    result = run(folder, monkeypatch, "cover", "tree.pmml", "tests.csv", "--html", "page.html", "--svg", "tree.svg")
    assert result.exit_code == 0, result.output
    assert "The tests reach 2 of 9 leaves" in result.stdout
    assert "<svg" in (folder / "page.html").read_text(encoding="utf-8")
    assert ElementTree.parse(folder / "tree.svg").getroot().tag.endswith("svg")


def test_a_mutant_is_drawn(folder, monkeypatch):
    words = ["cover", "tree.pmml", "tests.csv", "--criterion", "DTMT", "--mutant", "1"]
    result = run(folder, monkeypatch, *words, "--svg", "mutant.svg")
    assert result.exit_code == 0, result.output
    assert "Mutant 1 (ORRN): " in (folder / "mutant.svg").read_text(encoding="utf-8")
    for wrong in (words, [*words[:3], "--mutant", "1", "--svg", "mutant.svg"]):
        refused = run(folder, monkeypatch, *wrong)
        assert (refused.exit_code, "Add --criterion DTMT" in refused.stderr) == (2, True)


def test_a_file_for_ci(folder, monkeypatch):
    words = ["cover", "tree.skops", "tests.csv", "--junit", "junit.xml", "--at-least"]
    for share, failures in (("0.2", 0), ("0.9", 1)):
        assert run(folder, monkeypatch, *words, share).exit_code == failures
        root = ElementTree.parse(folder / "junit.xml").getroot()
        assert root.attrib["failures"] == str(failures)
        assert len(root.findall(".//failure")) == failures
        assert "petal width (cm) > 1.75 and petal length" in "".join(root.itertext())


def test_inputs_are_not_overwritten(folder, monkeypatch):
    before = (folder / "tests.csv").read_bytes()
    for words in (
        ["cover", "tree.skops", "tests.csv", "--fix", "tests.csv"],
        ["select", "tree.skops", "tests.csv", "--out", "./tests.csv"],
        ["cover", "tree.skops", "tests.csv", "--html", "tree.skops"],
    ):
        refused = run(folder, monkeypatch, *words)
        assert (refused.exit_code, "is an input" in refused.stderr) == (2, True)
    assert (folder / "tests.csv").read_bytes() == before


@pytest.mark.slow
def test_hostile_names_are_harmless(folder, monkeypatch):
    io = pytest.importorskip("skops.io", reason="pip install 'datamorphic[skops]'")
    hostile = IRIS.rename(columns={NAMES[3]: "a\nb\x1b[31m", NAMES[2]: "[red]" + "n" * 5000}).drop(columns="target")
    labels = np.array(["x\n\x1b]0;t\x07", "<script>", "[bold]"])[IRIS.target]
    io.dump(DecisionTreeClassifier(random_state=0).fit(hostile, labels), folder / "hostile.skops")
    hostile[:70].to_csv(folder / "hostile.csv", index=False)
    for criterion in ("DTC", "DTMT"):
        result = run(
            folder, monkeypatch, "cover", "hostile.skops", "hostile.csv", "--criterion", criterion, "--html", "h.html"
        )
        assert result.exit_code == 0, result.output
        assert not {"\x1b", "\x07"} & set(result.stdout)
        assert "[red]nnn" in result.stdout
        assert max(map(len, result.stdout.split("\n"))) < 2100
        assert (
            "<script>" not in (folder / "h.html").read_text(encoding="utf-8").split("</style>")[1].split("<script")[0]
        )


@pytest.mark.slow
@pytest.mark.parametrize("command", ["cover", "select"])
def test_hints_for_columns_reach_the_space(folder, monkeypatch, command):
    words = [command, "tree.skops", "all.csv", "--target", "target"]
    hints = ["--kind", "petal width (cm)=continuous", "--column-step", "petal width (cm)=0.5"]
    limits = ["--bounds", "petal length (cm)=0:10"]
    result = run(folder, monkeypatch, *words, *hints, *limits)
    assert result.exit_code == 0, result.output
    for hint, message in (
        (["--kind", "petal width (cm)=number"], "continuous"),
        (["--column-step", "petal width (cm)"], "--column-step takes a column and a value, as in age=3."),
        (["--bounds", "petal length (cm)=3"], "--bounds takes a column and two limits, as in age=20:80."),
        (["--order", "petal length (cm)"], "--order takes a column and its categories in order"),
    ):
        refused = run(folder, monkeypatch, *words, *hint)
        assert (refused.exit_code, message in refused.stderr) == (2, True), refused.output


@pytest.mark.slow
def test_forests_and_models_without_trees(folder, monkeypatch):
    result = run(folder, monkeypatch, "cover", "cover_models:forest", "all.csv", "--target", "target")
    assert "3 trees with 47 nodes, 25 leaves" in result.stdout
    whole = run(folder, monkeypatch, "cover", "cover_models:forest", "all.csv", "--criterion", "DTMT", "--joint")
    assert "killed means that the answer of the whole" in whole.stdout
    words = ["cover", "cover_models:line", "all.csv", "--target", "target"]
    refused = run(folder, monkeypatch, *words)
    assert (refused.exit_code, "--surrogate" in refused.stderr) == (2, True)
    stands = run(folder, monkeypatch, *words, "--surrogate", "--fix", "for_line.csv")
    assert stands.exit_code == 0, stands.output
    assert "A surrogate tree with" in stands.stdout
    assert "Beware: the surrogate was fitted to the model's answers to these very rows" in stands.stdout
    assert "would raise the score" in stands.stdout
    few = run(
        folder,
        monkeypatch,
        "cover",
        "cover_models:line",
        "tests.csv",
        "--target",
        "target",
        "--train",
        "all.csv",
        "--json",
    )
    document = json.loads(few.stdout)
    assert document["share"] < 0.5  # two kinds of flowers are not three
    assert not any("Beware" in note for note in document["notes"])


@pytest.mark.slow
def test_select_writes_rows(folder, monkeypatch):
    words = ["select", "tree.skops", "all.csv", "--target", "target"]
    result = run(folder, monkeypatch, *words, "--criterion", "DTMT", "--minimal", "--out", "chosen.csv")
    assert result.exit_code == 0, result.output
    assert "one of the rows that kill it was drawn. No smaller set suffices." in result.stdout
    chosen = pd.read_csv(folder / "chosen.csv")
    assert len(chosen) == 9
    assert len(chosen.merge(IRIS.drop_duplicates())) == 9
    boundary_rows = run(folder, monkeypatch, *words, "--criterion", "BVA", "--offset", "0.5", "--json")
    assert json.loads(boundary_rows.stdout)["rows"] == len(json.loads(boundary_rows.stdout)["chosen"]) == 9
    printed = run(folder, monkeypatch, *words, "--seed", "3", "--store", "none")
    assert "petal width (cm)" in printed.stdout
    again = run(folder, monkeypatch, *words, "--seed", "3", "--store", "none")
    assert printed.stdout == again.stdout
    page = run(folder, monkeypatch, *words, "--html", "chosen.html", "--constants", "all", "--criterion", "DTMT")
    assert page.exit_code == 0, page.output


BAD = {
    "a column is missing": (["cover", "tree.skops", "narrow.csv"], "'petal width (cm)'"),
    "no rows": (["cover", "tree.skops", "empty.csv"], "have no rows"),
    "labels of another type": (["cover", "tree.skops", "words.csv", "--target", "target"], "(str and int)"),
    "a stump": (["cover", "cover_models:stump", "all.csv"], "makes no decision: it has one leaf"),
    "not fitted": (["cover", "cover_models:unfitted", "all.csv"], "is not fitted. Fit it first"),
    "numbers": (["cover", "cover_models:numbers", "all.csv", "--criterion", "DTMT"], "--tolerance 0.1"),
    "no such criterion": (["cover", "tree.skops", "all.csv", "--criterion", "MCDC"], "'DTC', 'BVA', 'DTMT'"),
    "no such offset": (["select", "tree.skops", "all.csv", "--criterion", "BVA", "--offset", "near"], "'step', 'unit'"),
    "no such constants": (["cover", "tree.skops", "all.csv", "--constants", "some"], "'neighbours'"),
    "no data": (["cover", "tree.skops"], "MODEL and DATA are needed"),
    "no model": (["cover"], "MODEL and DATA are needed"),
    "data twice": (["cover", "tree.skops", "all.csv", "--data", "all.csv"], "given twice"),
    "no such file": (["cover", "other.skops", "all.csv"], "other.skops"),
    "not PMML": (["cover", "page.pmml", "all.csv"], "page.pmml"),
    "no XML": (["cover", "text.pmml", "all.csv"], "text.pmml"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_reported_in_one_line(folder, monkeypatch, name):
    words, message = BAD[name]
    result = run(folder, monkeypatch, *words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 2, result.stderr


def test_missing_values_and_extra_columns_are_accepted(folder, monkeypatch):
    holed = run(folder, monkeypatch, "cover", "tree.skops", "holed.csv", "--target", "target", "--criterion", "DTMT")
    assert holed.exit_code == 0, holed.output  # this tree takes missing values
    wide = run(folder, monkeypatch, "cover", "tree.skops", "wide.csv")
    assert "Columns that are not inputs of the model were ignored: target, remark, weight." in wide.stdout


@pytest.mark.parametrize(
    "model",
    [RandomForestClassifier(2).fit(IRIS[NAMES], IRIS.target), RandomForestRegressor(2).fit(IRIS[NAMES], IRIS.target)],
    ids=["labels", "numbers"],
)
def test_tolerance_applies_to_numbers_only(model):
    narrow = dm.cover(model, IRIS[NAMES], criterion="DTMT", tolerance=0.25)
    wide = dm.cover(model, IRIS[NAMES], criterion="DTMT", tolerance=5)
    assert narrow.score > 0.4
    assert wide.score == (narrow.score if hasattr(model, "classes_") else 0)
    with pytest.raises(dm.errors.ArgumentError, match="tolerance"):
        dm.cover(model, IRIS[NAMES], criterion="DTMT", tolerance=-1)


@pytest.mark.slow
def test_a_line_has_no_trees_to_select_from():
    line = LogisticRegression(max_iter=500).fit(IRIS[NAMES], IRIS.target)
    with pytest.raises(dm.errors.ModelError, match="surrogate=True"):
        dm.select(line, IRIS, target="target")
    chosen = dm.select(line, IRIS, target="target", surrogate=True)
    assert 1 < len(chosen.rows) < 60
    assert "A surrogate tree" in chosen.describe()


def test_every_criterion_can_be_asserted():
    dm.assert_covers(TREE, IRIS, "DTMT", at_least=0.8, target="target")
    with pytest.raises(
        AssertionError, match=r"(?s)The data kill 35\.7% of the mutants.*criterion='DTMT'\)\.fix\(\)"
    ) as caught:
        dm.assert_covers(TREE, IRIS[:70], "DTMT", at_least=0.8, target="target")
    assert "petal width (cm) > 1.75 and petal length (cm) > 4.85" in str(caught.value)
    with pytest.raises(AssertionError, match=r"The data reach 0% of the leaves"):
        dm.assert_covers(TREE, IRIS[:70], "BVA", at_least=0.5, target="target")
    limits = dm.select(TREE, IRIS, "BVA", target="target", offset=0.5).rows
    dm.assert_covers(TREE, limits, "BVA", at_least=1.0, target="target", offset="unit")
