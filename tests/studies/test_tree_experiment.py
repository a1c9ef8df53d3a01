"""The experiment of Silveira et al. (2025) with data of the user."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.cli.study import COMMAND
from datamorphic.errors import ArgumentError, DataError
from datamorphic.studies import tree_data_sets, tree_experiment, tree_trials, workload
from datamorphic.studies.run import study
from datamorphic.studies.tree_comparisons import MIN_PAIRED_SETS, Scores, compare_pairs, compare_test_sets
from datamorphic.studies.tree_trials import CRITERIA, SCORES, TEST_METHODS

FOLDS = 3  # ten would take seconds


def make_data(seed=0, rows=90, classes=3):
    inputs, labels = make_classification(
        rows, 4, n_informative=3, n_redundant=0, n_classes=classes, flip_y=0.1, random_state=seed
    )
    return pd.DataFrame(inputs, columns=list("abcd")).assign(kind=np.array(["x", "y", "z"])[labels])


@pytest.fixture(autouse=True)
def few_folds(monkeypatch):
    monkeypatch.setattr(tree_data_sets, "FOLDS", FOLDS)
    monkeypatch.setattr(workload, "_outcomes", {})


def run(data, target="kind", **options):
    return study("trees", data=data, target=target, **{"scale": "tiny", "progress": False, **options})


@pytest.fixture(scope="module")
def result():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_data_sets, "FOLDS", FOLDS)
        return run(make_data(), seed=3)


def get_scores(result, grown_on, tests):
    part = result.scores[(result.scores["trees"] == grown_on) & (result.scores["tests"] == tests)]
    return part.set_index("score")["value"]


def test_the_figures_are_those_of_the_public_functions(result):
    data, seed = make_data(), 3 * tree_experiment.SEEDS_PER_STUDY
    inputs = data.drop(columns="kind")
    tree = DecisionTreeClassifier(random_state=seed).fit(inputs, data["kind"])
    (figures,) = result.trees.to_dict("records")
    assert figures["nodes"] == tree.tree_.node_count
    assert figures["leaves"] == tree.get_n_leaves()
    for criterion in CRITERIA:
        chosen = dm.select(tree, data, criterion, target="kind", seed=seed)
        if criterion == "DTMT":
            assert figures["mutation score"] == pytest.approx(chosen.score)
            assert figures["killed"] == chosen.mutants["killed"].sum()
            places = chosen.places
        else:
            places = dm.select(tree, data, "DTC", target="kind", seed=seed).places
        nearest = tree_trials.fit_nearest_without(data.rename(columns={"kind": "target"}), places)
        share = np.mean(nearest.predict(chosen.rows[list("abcd")].to_numpy()) == chosen.rows["kind"].to_numpy())
        scores = get_scores(result, "all rows", criterion)
        assert scores["accuracy"] == pytest.approx(share)
        assert scores["recall"] == pytest.approx(share)  # weighted by class sizes, both are the same


def test_tests_of_trees_are_harder_than_cross_validation_where_classes_overlap(result):
    accuracy = result.average_scores()["accuracy"]
    assert accuracy[list(CRITERIA)].max() < accuracy["CV"]
    assert result.headline.startswith(f"{accuracy.idxmin()} is the strongest test set")


def test_everything_has_a_figure(result):
    assert len(result.scores) == 2 * len(TEST_METHODS) * len(SCORES)
    assert result.scores["value"].between(0, 1).all()
    sizes = result.scores.set_index(["trees", "tests"])["size"]
    assert (sizes["all rows", "CV"] == 90).all()
    assert (sizes["all folds but one", "CV"] == 30).all()
    assert (result.scores["trials"] == result.scores["trees"].map({"all rows": 1, "all folds but one": FOLDS})).all()
    assert 0 < result.trees["tree accuracy"].item() < 1
    assert result.pairing == "folds"
    assert (result.comparisons["pairs"] == FOLDS).all()


def test_the_page_has_tables_and_pictures(result):
    text = result.describe()
    assert "Tests of differences" in text
    assert "Scores of 3-NN: trees of all folds but one" in text
    html = result.to_html()
    assert html.count("<svg") >= 2  # the chart and the tree
    assert "The tree of data" in html
    document = json.loads(result.to_json())
    assert document["study"] == "trees"
    assert len(document["comparisons"]) == len(result.comparisons)


def test_the_same_seed_gives_the_same_figures(monkeypatch):
    first = run(make_data(), seed=1).scores
    monkeypatch.setattr(workload, "_outcomes", {})
    pd.testing.assert_frame_equal(first, run(make_data(), seed=1).scores)
    assert not first.equals(run(make_data(), seed=2).scores)


def test_six_data_sets_are_paired(monkeypatch):
    monkeypatch.setattr(tree_data_sets, "FOLDS", 2)
    sets = {f"set {number}": make_data(number, 60, 2) for number in range(MIN_PAIRED_SETS)}
    result = run(sets)
    assert result.pairing == "data sets"
    whole = result.scores[(result.scores["trees"] == "all rows") & (result.scores["score"] == "accuracy")]
    values = whole.pivot(index="data", columns="tests", values="value")
    expected = stats.wilcoxon(values["DTC"], values["CV"]).pvalue
    row = result.comparisons.set_index(["score", "tests", "against"]).loc["accuracy", "DTC", "CV"]
    assert row["p"] == pytest.approx(expected)
    assert row["pairs"] == MIN_PAIRED_SETS
    assert "mean" in result.describe()


def test_comparisons_of_pairs():
    assert compare_pairs([1.0, 2.0, 4.0], [0.0, 0.0, 0.0], "paired t") == pytest.approx(
        tuple(stats.ttest_rel([1.0, 2.0, 4.0], [0.0, 0.0, 0.0]))
    )
    assert np.isnan(compare_pairs([1.0, 2.0], [0.0, 1.0], "paired t")).all()  # no variation
    assert np.isnan(compare_pairs([1.0], [], "Wilcoxon")).all()
    values = {f"{way} {score}": [0.5, 0.5, 0.5] for way in TEST_METHODS for score in SCORES}
    pairing, comparisons, normality = compare_test_sets(Scores(by_file=values, by_fold=values))
    assert pairing == "folds"
    assert comparisons["p"].isna().all()
    assert normality["p"].isna().all()


# -- bad data --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.drop(columns="kind"), "'kind' is not in data"),
        (lambda data: data.assign(kind="x"), "is 'x' in every row"),
        (lambda data: data[:0], "has no rows"),
        (lambda data: data.assign(a="red"), "holds texts such as 'red'"),
        (lambda data: data.assign(a=[None, *data["a"][1:]]), "1 missing value"),
        (lambda data: data.assign(a=np.inf), "infinite"),
        (lambda data: data.assign(kind=[None, *data["kind"][1:]]), "1 missing label"),
        (lambda data: data.assign(kind=["only", *data["kind"][1:]]), "'only' of data has a single row"),
        (lambda data: data[["kind"]], "no column beside the target"),
        (lambda data: data.groupby("kind").head(2), "needs 3 others"),
    ],
)
def test_bad_data_are_refused_with_a_remedy(change, words):
    with pytest.raises(DataError) as error:
        run(change(make_data()))
    assert words in str(error.value)


def test_an_input_may_be_called_target():
    data = make_data().rename(columns={"a": "target"})
    assert run(data).trees["inputs"].item() == 4


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("trees", {"target": "kind"}, "there is no data"),
        ("trees", {"data": make_data()}, "need a label"),
        ("004-5", {"data": make_data(), "target": "kind"}, "data of its own"),
    ],
)
def test_options_that_do_not_fit(name, options, words):
    with pytest.raises(ArgumentError, match=words):
        study(name, scale="tiny", progress=False, **options)


# -- the command -----------------------------------------------------------------------------------------------------


def invoke(*arguments):
    return CliRunner().invoke(app, ["study", "trees", *map(str, arguments), "--scale", "tiny"])


def test_the_command(tmp_path):
    for number in range(2):
        make_data(number).to_csv(tmp_path / f"mine{number}.csv", index=False)
    html = tmp_path / "trees.html"
    files = [tmp_path / "mine0.csv", tmp_path / "mine1.csv"]
    result = invoke(*files, "--target", "kind", "--html", html, "--json", "--store", "none")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert [row["data"] for row in document["trees"]] == ["mine0", "mine1"]
    assert html.read_text(encoding="utf-8").count("The tree of mine") >= 2
    bad = invoke(*files, "--target", "sort", "--store", "none")
    assert bad.exit_code == 2
    assert "'sort' is not in mine0" in bad.output
    assert "named twice" in invoke(files[0], files[0], "--target", "kind", "--store", "none").output


def test_the_command_line_that_does_the_same():
    words = {"study": "trees", "data": ["/far/mine.csv", "data:iris"], "scale": "tiny", "target": "kind"}
    line = "datamorphic study trees /far/mine.csv data:iris --target kind --scale tiny --seed 7"
    assert sorted(COMMAND.format_command(words, 7).split()) == sorted(line.split())
    assert COMMAND.format_command(words, 7).startswith("datamorphic study trees /far/mine.csv data:iris ")


def test_a_stopped_experiment_is_resumed(tmp_path, monkeypatch):
    make_data().to_csv(tmp_path / "mine.csv", index=False)
    store = tmp_path / "runs.sqlite"
    measured = []
    measure = tree_experiment.ExperimentJob.measure

    def measure_two(job, *arguments):
        if len(measured) == 2:
            raise KeyboardInterrupt
        measured.append(job)
        return measure(job, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(tree_experiment.ExperimentJob, "measure", measure_two)
        stopped = invoke(tmp_path / "mine.csv", "--target", "kind", "--store", store)
    assert stopped.exit_code == 130
    monkeypatch.setattr(workload, "_outcomes", {})
    again = []
    monkeypatch.setattr(
        tree_experiment.ExperimentJob, "measure", lambda job, *rest: again.append(job) or measure(job, *rest)
    )
    resumed = CliRunner().invoke(app, ["runs", "resume", "1", "--store", str(store), "--json"])
    assert resumed.exit_code == 0, resumed.output
    assert len(again) == 1 + FOLDS - 2
    whole = run(make_data())
    values = [row["value"] for row in json.loads(resumed.stdout)["scores"]]
    assert values == pytest.approx(whole.scores["value"].tolist())
