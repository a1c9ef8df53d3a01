"""The check "dependence": features that decide alone or not at all, and categories that are treated alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from support.cases import LONG


def loans(rows: int = 500, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    income, debt = rng.normal(0, 1, rows), rng.normal(0, 1, rows)
    home = rng.choice(["own", "rent", "free"], rows)
    level = 1.5 * income - debt + np.select([home == "own", home == "rent"], [3.0, -3.0], 0.0)
    return pd.DataFrame(
        {
            "income": income,
            "debt": debt,
            "home": home,
            "target": np.where(level + rng.normal(0, 0.5, rows) > 0, "yes", "no"),
        }
    )


DATA = loans()
FEATURES = DATA.drop(columns="target")


def fit(data=DATA):
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["home"]), remainder="passthrough")
    return make_pipeline(encoder, LogisticRegression()).fit(data.drop(columns="target"), data["target"])


def run(model, data=DATA, **options):
    options = {"target": "target", "only": "dependence", "budget": "20s", "progress": False} | options
    outcome = next(item for item in dm.test(model, data, **options).outcomes if item.check == "dependence")
    assert outcome.state != "broke", outcome.why
    return outcome


def test_a_good_model_is_left_alone_and_its_effects_are_tabulated():
    outcome = run(fit())
    assert (outcome.state, outcome.findings) == ("passed", ())
    rows = {row[0]: row for row in outcome.sections[0].table.rows}
    assert (rows["income"][3], rows["debt"][3], rows["home"][3]) == ("up", "down", "")


@pytest.mark.slow
def test_an_encoder_that_knows_no_category_is_a_concern_if_the_labels_depend_on_them():
    model = fit(DATA.assign(home=DATA["home"].str.upper()))
    (finding,) = run(model).findings
    assert finding.level == "concern"
    assert finding.title == "All categories of home are treated alike, although their labels differ"
    assert "real rows with 'rent' that are answered yes" in finding.detail or "'own'" in finding.detail
    assert finding.examples[0].answer == finding.examples[0].new_answer
    (finding,) = run(model, FEATURES, target=None).findings
    assert (finding.level, finding.title) == ("advice", "All categories of home are treated alike")


@pytest.mark.slow
def test_a_category_that_says_nothing_new_is_advice():
    data = DATA.assign(copy=np.where(DATA["home"] == "own", "a", "b"))
    model = fit()
    outcome = run(lambda frame: model.predict(frame[["income", "debt", "home"]]), data)
    (finding,) = outcome.findings
    assert (finding.level, finding.title) == ("advice", "All categories of copy are treated alike")
    assert "it is associated with the labels" in finding.detail


def test_a_lost_feature_is_advice_that_names_it():
    model = fit()
    (finding,) = run(lambda frame: model.predict(frame.assign(income=0.0))).findings
    assert (finding.level, finding.about) == ("advice", "income")
    assert finding.title == "income has no effect on any answer"
    assert "associated with the labels" in finding.detail


def test_one_feature_that_decides_alone_is_advice_beside_those_that_do_not():
    findings = run(lambda frame: np.where(frame["income"] > 0.2, "yes", "no")).findings
    assert [finding.title for finding in findings if finding.about == "income"] == [
        "income alone decides nearly every answer"
    ]
    assert all(finding.level == "advice" for finding in findings if "home" not in finding.title)
    example = findings[0].examples[0]
    assert list(example.changed) == ["income"]
    assert example.answer != example.new_answer


def test_numbers_are_handled_like_labels():
    data = FEATURES.assign(target=3.0 * FEATURES["income"])
    findings = run(lambda frame: 3.0 * frame["income"].to_numpy(), data).findings
    assert {finding.title for finding in findings} >= {"income alone decides nearly every answer"}
    assert all(finding.level == "advice" for finding in findings)


@pytest.mark.slow
def test_categories_with_equal_scores_are_advice():
    data = DATA.assign(home=DATA["home"].replace("free", "rent"))
    model = fit(data)

    class Merged:
        classes_ = model.classes_

        def predict(self, frame):
            return model.predict(frame.assign(home=frame["home"].replace("free", "rent")))

        def predict_proba(self, frame):
            return model.predict_proba(frame.assign(home=frame["home"].replace("free", "rent")))

    (finding,) = run(Merged()).findings
    assert (finding.level, finding.title) == ("advice", "Some categories are treated exactly alike: home")
    assert "home: 'free', 'rent'" in finding.detail


@pytest.mark.parametrize(
    "data",
    [
        DATA[["income", "target"]],
        DATA.assign(target="yes"),
        DATA.assign(home=None, extra=1.0).drop(columns="home"),
        DATA.assign(income=DATA["income"].where(DATA.index % 3 > 0)),
        DATA.head(12),
    ],
)
def test_odd_data_do_not_break_it(data):
    run(lambda frame: np.where(frame["income"] > 0, "yes", "no"), data)
    run(lambda frame: np.array(["yes"] * len(frame)), data)


def test_it_says_why_it_does_not_apply_or_was_not_finished():
    outcome = run(fit(), DATA.head(1))
    assert (outcome.state, outcome.why) == ("not run", "too few rows are given")
    outcome = run(fit(), budget="100 runs")
    assert outcome.state == "not run"
    assert outcome.unfinished


def patients(rows: int = 800, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sugar, weight = rng.uniform(60, 240, rows), rng.normal(75, 12, rows)
    ill = rng.random(rows) < 1 / (1 + np.exp(-(sugar - 170) / 25 - (weight - 75) / 8))
    return pd.DataFrame({"sugar": sugar, "weight": weight, "target": np.where(ill, "ill", "well")})


class Clipped:
    """A model that sees no value of `sugar` above a limit."""

    def __init__(self, model, limit):
        self.model, self.limit, self.classes_ = model, limit, model.classes_

    def predict(self, frame):
        return self.model.predict(frame.assign(sugar=frame["sugar"].clip(upper=self.limit)))

    def predict_proba(self, frame):
        return self.model.predict_proba(frame.assign(sugar=frame["sugar"].clip(upper=self.limit)))


@pytest.mark.slow
def test_values_that_cannot_be_told_apart_are_advice_if_the_labels_differ_there():
    data = patients()
    model = Clipped(LogisticRegression().fit(data[["sugar", "weight"]], data["target"]), 150)
    (finding,) = run(model, data).findings
    assert (finding.level, finding.about) == ("advice", "sugar")
    assert finding.title.startswith("The model cannot tell values of sugar above 15")
    assert (finding.affected_rows, finding.rows) == (finding.cases, 800)
    assert run(model, data.drop(columns="target"), target=None).findings == ()  # without labels it may be meant
    level = data.assign(target=np.where(data["sugar"] > 150, "ill", data["target"]))  # the labels level off, too
    assert run(model, level).findings == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=1),
        DecisionTreeClassifier(max_depth=5),
        *(
            [
                LogisticRegression(),
                RandomForestClassifier(30, random_state=0),
                HistGradientBoostingClassifier(max_iter=20),
            ]
            if LONG
            else []
        ),
    ],
    ids=str,
)
def test_good_models_are_flat_at_their_ends_without_advice(model):
    data = patients()
    outcome = run(model.fit(data[["sugar", "weight"]], data["target"]), data)
    assert not [finding.title for finding in outcome.findings if "cannot tell" in finding.title]
