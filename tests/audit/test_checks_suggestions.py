"""The check that suggests what to declare."""

from __future__ import annotations

import tomllib

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import datamorphic as dm
from datamorphic.audit.expectations import parse_expectations
from datamorphic.cli.console import print_text

ROWS = 400
NAMES = ["income", "debt", "Age"]


def make_data(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"income": rng.normal(size=ROWS), "debt": rng.normal(size=ROWS), "Age": rng.integers(18, 80, ROWS)}
    )
    chance = 1 / (1 + np.exp(-2 * frame["income"] + 2 * frame["debt"] - (frame["Age"] - 50) / 15))
    return frame.assign(label=np.where(rng.random(ROWS) < chance, "yes", "no"))


DATA = make_data()
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(DATA[NAMES], DATA["label"])


def run(model, data=DATA, **options):
    result = dm.test(model, data, **({"target": "label"} | options), only="suggestions", progress=False)
    return next(outcome for outcome in result.outcomes if outcome.check == "suggestions")


def test_columns_that_look_protected_and_directions_are_offered():
    protected, directions = run(MODEL).findings
    assert {protected.level, directions.level} == {"advice"}
    assert "Age" in protected.title
    assert 'protected=["Age"]' in protected.remedy
    assert "--protected Age" in protected.remedy
    assert "--monotone income=up --monotone debt=down" in directions.remedy or (
        "--monotone debt=down --monotone income=up" in directions.remedy
    )


def test_a_terminal_shows_options_only(capsys):
    remedies = [finding.remedy for finding in run(MODEL).findings]
    for remedy in remedies:
        print_text(remedy)
    printed = " ".join(capsys.readouterr().out.split())
    assert "--protected Age" in printed
    assert "Python" not in printed
    assert all("In Python: " in remedy for remedy in remedies)


def test_the_lines_can_be_used_as_they_are():
    rows = run(MODEL).sections[0].table.rows
    assert len(rows) == 3
    for column, _, option, python, toml in rows:
        arguments = eval(f"dict({python})")
        expectations = parse_expectations(arguments.get("expect"), arguments.get("protected", ()))
        assert expectations == parse_expectations(tomllib.loads(toml))
        assert column in (*expectations.protected, *expectations.monotone)
        assert column in option


def test_what_is_declared_is_not_offered_again():
    outcome = run(MODEL, protected=["Age"], expect={"monotone": {"income": "up", "debt": "down"}, "outcome": "yes"})
    assert (outcome.state, outcome.sections) == ("passed", ())


def test_columns_that_the_model_ignores_are_only_mentioned():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(DATA[["income", "debt"]], DATA["label"])
    outcome = run(lambda frame: model.predict(frame[["income", "debt"]]))
    assert not any("Age" in finding.about for finding in outcome.findings)
    assert "Age" in outcome.why


def test_directions_of_numbers_and_identifiers():
    data = DATA.assign(label=DATA["income"] - DATA["debt"], row_id=range(ROWS)).drop(columns="Age")
    names = ["income", "debt", "row_id"]
    outcome = run(LinearRegression().fit(data[names], data["label"]), data)
    assert {row[0] for row in outcome.sections[0].table.rows} == set(names)
    assert [row[2] for row in outcome.sections[0].table.rows if row[0] == "row_id"] == ["--invariant row_id"]


@pytest.mark.slow
def test_directions_cost_no_model_calls_of_their_own():
    calls = []
    for data, target in ((DATA, "label"), (DATA[NAMES], None)):  # without labels, no direction is looked for
        result = dm.test(MODEL, data, target=target, only=["dependence", "suggestions"], progress=False)
        calls.append({outcome.check: outcome.calls for outcome in result.outcomes}["suggestions"])
    assert calls[0] == calls[1] > 0


def test_directions_of_answers_without_scores():
    class Answers:
        classes_ = MODEL.classes_

        def predict(self, frame):
            return MODEL.predict(frame)

    assert "--monotone income=up" in run(Answers()).findings[-1].remedy


def test_a_response_that_turns_is_not_offered():
    def predict(frame):
        return np.where(np.abs(frame["income"]) < 0.7, "yes", "no")

    data = DATA.assign(label=predict(DATA))
    assert run(predict, data[["income", "debt", "label"]]).findings == ()


@pytest.mark.slow
def test_small_and_odd_data():
    data = DATA[NAMES]
    assert run(MODEL, data, target=None).state == "found"
    assert run(MODEL, data.head(1), target=None).state in ("passed", "found")
    assert run(MODEL, DATA.head(5)).state in ("passed", "found")
    assert run(MODEL, DATA.assign(label="yes")).state == "found"
    assert run(MODEL, budget="10 runs").state == "not run"


def test_no_direction_is_suggested_for_a_column_that_another_check_suspects():
    rng = np.random.default_rng(1)
    data = DATA.assign(paid=np.where(DATA["label"] == "yes", rng.integers(100, 900, ROWS), rng.integers(0, 20, ROWS)))
    names = ["income", "paid"]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(data[names], data["label"])

    def find_suggested_columns(checks):
        result = dm.test(model, data[[*names, "label"]], target="label", only=checks, progress=False)
        findings = [finding for finding in result.findings if finding.check == "suggestions"]
        assert "leaks" not in checks or [
            finding.about for finding in result.findings if finding.level == "concern"
        ] == ["paid"]
        return {
            value.partition("=")[0]
            for finding in findings
            for name, value in finding.declarations
            if name == "monotone"
        }

    assert "paid" in find_suggested_columns(["suggestions"])
    assert "paid" not in find_suggested_columns(["leaks", "suggestions"])
