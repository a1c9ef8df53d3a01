"""``dm.fairness`` and ``datamorphic fairness`` on models whose dependence is known."""

from __future__ import annotations

import base64
import json
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.errors import ArgumentError, DataError, PromiseError
from datamorphic.risk.fairness.run import fairness
from support import fairness as planted
from support.browser import CHROMIUM, WHY_NOT, Browser
from support.cases import in_one_test


@pytest.fixture(scope="module")
def people():
    return planted.draw_people(250)


@pytest.fixture(scope="module")
def reports(people):
    frame = people.assign(truth=planted.judge_fairly(people))
    return {
        name: fairness(
            getattr(planted, f"judge_{name}"), frame, ["gender", "origin"], "truth", outcome="approved", name=name
        )
        for name in ("fairly", "gender", "area", "both")
    }


@pytest.mark.slow
def test_a_fair_model_passes(reports):
    report = reports["fairly"]
    assert report.passed
    assert report.headline == "No dependence on gender or origin was found"
    assert [effect.share.value for effect in report.effects] == [0, 0]
    assert report.find_state("gender") == "clear"
    assert re.search("gender +no dependence found +0% of people", report.describe())


def test_a_model_that_looks_at_gender(reports):
    report = reports["gender"]
    assert [(finding.kind, finding.level, finding.attributes) for finding in report.defects] == [
        ("attribute", "fault", ("gender",))
    ]
    assert report.find_state("gender") == "depends"
    assert report.find_state("origin") == "clear"
    finding = report.findings[0]
    assert finding.title == "The decision depends on gender"
    assert 0.1 < finding.share.low < finding.share.value < finding.share.high < 0.3
    assert finding.example.changed.keys() == {"gender"}
    swaps = {(swap.source, swap.target): swap.effect.value for swap in report.get_effect("gender").swaps}
    assert swaps["f", "m"] > 0 > swaps["m", "f"]


def test_a_model_that_looks_at_a_stand_in(reports, people):
    report = reports["area"]
    assert [(finding.kind, finding.level, finding.columns) for finding in report.defects] == [
        ("stand-in", "concern", ("area",))
    ]
    assert report.find_state("origin") == "stand-in"
    assert "area tells people with origin" in report.findings[0].detail
    # the protected column need not be an input
    inputs = ["income", "debt", "area", "age"]
    space = dm.Space.from_frame(people[inputs])
    blind = fairness(dm.wrap(planted.judge_area, space=space), people, "origin", outcome="approved")
    assert [finding.columns for finding in blind.defects] == [("area",)]
    assert not blind.get_effect("origin").is_input
    assert "the model does not see it" in blind.describe()


def test_a_model_that_looks_at_two_attributes_together(reports):
    report = reports["both"]
    assert [(finding.kind, finding.attributes) for finding in report.defects] == [("combination", ("gender", "origin"))]
    assert report.find_state("gender") == report.find_state("origin") == "depends together"
    assert "neither gender nor origin makes a difference alone" in report.findings[0].detail
    (effect,) = report.combinations
    assert abs(effect.interaction.value) > 5 * effect.main_effect
    # by itself, each attribute looks fair; together they do not
    singles, pairs = report.tables[:2], report.tables[2]
    assert all(table.gap.low < 0.05 for table in singles)
    assert pairs.gap.low > 0


@pytest.mark.slow
def test_several_weak_stand_ins_together():
    rng = np.random.default_rng(0)
    n = 800
    origin = rng.choice(["foreign", "native"], n)
    hints = {f"hint{i}": np.where(rng.random(n) < 0.66, origin == "foreign", origin != "foreign") for i in range(6)}
    frame = pd.DataFrame({"income": rng.uniform(0, 100, n), **hints, "origin": origin})

    def decide(rows):
        points = sum(rows[name].astype(float) for name in hints)
        return np.where(rows.income - 12 * points > 10, "yes", "no")

    inputs = [name for name in frame.columns if name != "origin"]
    model = dm.wrap(decide, space=dm.Space.from_frame(frame[inputs]))
    report = fairness(model, frame, "origin", outcome="yes")
    (finding,) = report.defects
    assert finding.kind == "stand-in"
    assert set(finding.columns) == set(hints)
    assert "stand in for origin" in finding.title


@pytest.mark.slow
def test_a_model_with_probabilities_and_a_cutoff(people):
    inputs = people[["income", "debt", "gender"]]
    rng = np.random.default_rng(0)
    rate = 1 / (1 + np.exp((people.income - people.debt) / 8 + 2 - (people.gender == "f")))
    labels = np.where(rng.random(len(people)) < rate, "default", "paid")
    model = make_pipeline(OrdinalEncoder(), LogisticRegression(max_iter=500)).fit(inputs, labels)
    report = fairness(model, people, "gender", outcome="default")
    assert report.wording.measure in ("probability", "decision")
    strict = fairness(model, people, "gender", outcome="default", cutoff=0.1)
    assert strict.wording.measure == "decision"
    assert strict.wording.decision == "a probability of default of 0.1 or more"
    assert strict.find_state("gender") == "depends"


def test_a_probability_that_moves_without_a_decision(people):
    class Lender:
        classes_ = np.array(["no", "yes"], dtype=object)

        def fit(self, frame, labels):
            return self

        def predict_proba(self, frame):
            yes = np.where(frame.income - frame.debt > 25, 0.9, 0.1) - 0.03 * (frame.gender == "f")
            return np.column_stack([1 - yes, yes])

        def predict(self, frame):
            return self.classes_[self.predict_proba(frame).argmax(axis=1)]

    model = dm.wrap(Lender(), space=dm.Space.from_frame(people))
    report = fairness(model, people, "gender", outcome="yes")
    (finding,) = report.findings
    assert (finding.kind, finding.level) == ("probability", "concern")
    assert report.find_state("gender") == "probability"
    assert abs(finding.example.probabilities[0] - finding.example.probabilities[1]) == pytest.approx(0.03)
    assert "probability" in report.describe()
    assert report.headline == "The probability behind the decision depends on gender"
    assert "<td>probability</td>" in report.to_html()


def test_numbers_are_judged_as_numbers(people):
    report = fairness(planted.judge_probability, people, "gender")
    assert report.wording.measure == "number"
    assert report.find_state("gender") == "depends"
    assert "the answer would rise by" in report.findings[0].detail
    cut = fairness(planted.judge_probability, people, "gender", cutoff=0.5)
    assert cut.wording.measure == "decision"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report(people):
    first, second = (
        fairness(planted.judge_gender, people, ["gender", "age"], outcome="approved", rows=200, seed=3).document()
        for _ in range(2)
    )
    for document in (first, second):
        document.pop("seconds")
    assert first == second
    assert first["people"] == 200


def test_promises_name_protected_columns_and_the_outcome(people, tmp_path):
    path = tmp_path / "bank.promises"
    path.write_text("outcome: approved\nincome: raises approved\ngender: protected\n")
    report = fairness(planted.judge_gender, people, promises=path)
    assert report.attributes == ("gender",)
    assert report.wording.decision == "approved"
    path.write_text("outcome: approvd\ngender: protected\n")
    with pytest.raises(ArgumentError, match="no class 'approvd'"):
        fairness(planted.judge_gender, people, promises=path)
    path.write_text("outcome: approved\ngendr: protected\n")
    with pytest.raises(DataError, match=r"'gendr' is not in the data.*'gender'"):
        fairness(planted.judge_gender, people, promises=path)
    path.write_text("gender: protcted\n")
    with pytest.raises(PromiseError, match=r"bank\.promises:1:"):
        fairness(planted.judge_gender, people, promises=path)


@in_one_test(
    ("options", "words"),
    [
        ({}, "No protected column is named"),
        ({"protected": ["gendre"]}, "Did you mean 'gender'?"),
        ({"protected": [3]}, "the names of columns"),
        ({"protected": ["gender"], "target": "gender"}, "is the target"),
        ({"protected": ["gender"], "outcome": "maybe"}, "no class 'maybe'"),
        ({"protected": ["gender"], "cutoff": 0.5}, "no probabilities"),
        ({"protected": ["gender"], "cutoff": "high"}, "must be a finite number"),
        ({"protected": ["gender"], "combinations": 4}, "combinations"),
        ({"protected": ["gender"], "threshold": 1}, "a share from 0 to below 1"),
        ({"protected": ["gender"], "rows": 10}, "rows"),
        ({"protected": ["one"]}, "There is nothing to compare"),
    ],
)
def test_wrong_use_is_explained_in_one_line(people, options, words):
    model = LogisticRegressionLike()
    with pytest.raises((ArgumentError, DataError)) as caught:
        fairness(model.decide, people.assign(one="a"), **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


class LogisticRegressionLike:
    """Answers classes, without probabilities."""

    def decide(self, frame):
        return planted.judge_fairly(frame)


def test_data_must_be_a_frame_with_people(people):
    with pytest.raises(DataError, match="a DataFrame with one person per row"):
        fairness(planted.judge_fairly, people.to_numpy(), "gender")
    with pytest.raises(DataError, match="no rows"):
        fairness(planted.judge_fairly, people.head(0), "gender")
    with pytest.raises(ArgumentError, match="answers 'a' about everybody"):
        fairness(lambda frame: np.full(len(frame), "a"), people, "gender")
    with pytest.raises(ArgumentError, match="3 classes"):
        fairness(lambda frame: np.array(["a", "b", "c"])[np.arange(len(frame)) % 3], people, "gender")


def test_a_model_that_does_not_repeat_itself_is_not_blamed_for_that(people):
    rng = np.random.default_rng(0)

    def decide(frame):
        answers = planted.judge_fairly(frame)
        return np.where(rng.random(len(frame)) < 0.3, "refused", answers)

    report = fairness(decide, people, ["gender", "origin"], outcome="approved")
    assert report.passed, report.headline
    assert "if the model is asked again" in report.notes[0]


def test_exports(reports, tmp_path):
    report = reports["both"]
    document = json.loads(report.to_json(tmp_path / "fairness.json"))
    assert document["attributes"] == {"gender": "depends together", "origin": "depends together"}
    assert {"findings", "groups", "effects", "combinations", "proxies"} <= set(document)
    suite = ElementTree.fromstring(report.to_junit())
    failures = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    assert failures == ["gender and origin together"]
    assert [case.get("name") for case in suite.iter("testcase")][:2] == ["gender alone", "stand-ins for gender"]
    page = report.to_html()
    for words in ("depends on gender and origin together", "What the groups get", "How it was examined"):
        assert words in page
    assert len(report.to_verdict(tmp_path / "verdict.html")) < len(page)
    assert "area stands in for origin" in reports["area"].to_markdown()
    assert reports["area"].table.shape[0] == 8
    assert "FairnessReport(both: " in repr(report)


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)
def test_the_verdict_prints_on_one_page(people, tmp_path):
    def decide(frame):
        together = (frame.gender == "f") & (frame.origin == "foreign")
        return planted.decide(frame.income - 15 * together - 9 * (frame.area == "north") + 0.4 * frame.years)

    report = fairness(decide, people, ["gender", "origin", "age"], outcome="approved")
    assert len(report.findings) >= 4
    report.to_verdict(tmp_path / "verdict.html")
    with Browser() as browser:
        page = browser.open(tmp_path / "verdict.html")
        for size in ({"paperWidth": 8.5, "paperHeight": 11}, {"paperWidth": 8.27, "paperHeight": 11.69}):
            document = base64.b64decode(page.send("Page.printToPDF", printBackground=True, **size)["data"])
            assert len(re.findall(rb"/Type\s*/Page\b(?!s)", document)) == 1


@pytest.mark.slow
def test_the_command(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people.head(300).to_csv("people.csv", index=False)
    command = ["fairness", "support.fairness:judge_gender", "people.csv", "--outcome", "approved"]
    result = CliRunner().invoke(
        app, [*command, "--protected", "gender", "--html", "f.html", "--verdict", "v.html", "--json"]
    )
    assert result.exit_code == 1, result.output
    assert json.loads(result.stdout)["attributes"] == {"gender": "depends"}
    assert (tmp_path / "f.html").exists()
    assert (tmp_path / "v.html").exists()
    text = CliRunner().invoke(app, [*command, "--protected", "origin"])
    assert text.exit_code == 0
    assert "Repeat: datamorphic fairness support.fairness:judge_gender people.csv" in " ".join(text.stdout.split())
    wrong = CliRunner().invoke(app, ["fairness", "support.fairness:judge_gender", "--protected", "gender"])
    assert wrong.exit_code == 2
