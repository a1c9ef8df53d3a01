"""The check "drift": what changed since the reference, drift that costs accuracy, and harmless drift."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from support.cases import LONG

NUMBERS, WORDS = ["income", "debts"], ["region"]
INPUTS = [*NUMBERS, *WORDS]


def make_data(rows=600, seed=0, regions=("north", "south", "west"), shares=None, shift=0.0, reversed_above=np.inf):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.normal(50 + shift, 15, rows).round(2),
            "debts": rng.gamma(2, 8, rows).round(2),
            "region": rng.choice(regions, rows, p=shares),
        }
    )
    score = frame["income"] - 40 - frame["debts"] / 2 + frame["region"].map({"new": -30}).fillna(0)
    score = np.where(frame["debts"] > reversed_above, -score, score)
    return frame.assign(target=np.where(score + rng.normal(0, 4, rows) > 0, "yes", "no"))


def fit(data, learner=None):
    encoder = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), WORDS))
    return make_pipeline(encoder, learner or LogisticRegression()).fit(data[INPUTS], data["target"])


REFERENCE = make_data()
MODEL = fit(REFERENCE)
NEW_REGION = {"regions": ("north", "south", "west", "new"), "shares": (0.25, 0.25, 0.25, 0.25)}


def run(model, data, reference=REFERENCE, target="target", **options):
    result = dm.test(model, data, target=target, reference=reference, only="drift", progress=False, **options)
    return next(item for item in result.outcomes if item.check == "drift")


def test_a_new_category_that_costs_accuracy():
    data = make_data(seed=1, **NEW_REGION)
    (finding,) = run(MODEL, data).findings
    assert finding.level == "concern"
    assert finding.title == "The model is wrong more often where region is 'new', which the reference does not have"
    assert finding.columns == ("region",)
    assert "quick model fitted to other rows of the data" in finding.detail
    assert finding.examples[0].case["region"] == "new"
    assert data["region"][finding.examples[0].row] == "new"
    rows = {row[0]: row for row in finding.sections[0].table.rows}
    assert "in categories that the reference does not have: 'new'" in rows["region"][-1]
    assert {"(answers)", "(labels)", "income"} <= set(rows)


@pytest.mark.slow
def test_a_new_category_that_costs_nothing():
    data = make_data(seed=1, **NEW_REGION)
    trained = fit(pd.concat([REFERENCE, make_data(seed=2, **NEW_REGION)]))
    (finding,) = run(trained, data).findings
    assert finding.level == "advice"
    assert "region" in finding.title
    assert "Nowhere among these rows is the model clearly worse" in finding.detail


@pytest.mark.slow
def test_a_unit_that_changed_since_the_reference():
    data = make_data(seed=1)
    inside = data["region"] == "south"
    data.loc[inside, "income"] = data["income"] * 12
    (finding,) = run(MODEL, data).findings
    assert (finding.level, finding.columns) == ("concern", ("income",))
    assert "income >" in finding.title
    assert finding.interval[0] > 0.1


def test_a_relation_that_changed():
    (finding,) = run(MODEL, make_data(seed=1, reversed_above=12)).findings
    assert finding.level == "concern"
    assert finding.title.startswith("What was learned from the reference data no longer holds where debts >")
    assert "A quick model fitted to the reference data is wrong for" in finding.detail


@pytest.mark.slow
def test_a_relation_that_changed_everywhere():
    (finding,) = run(MODEL, make_data(seed=1, reversed_above=-1)).findings
    assert (
        finding.title
        == "The labels follow from other inputs than in the reference data: what was learned there no longer holds"
    )


@pytest.mark.slow
def test_a_small_reference():
    reference = REFERENCE.head(150)
    assert run(fit(reference), make_data(seed=1), reference).state == "passed"
    (finding,) = run(fit(reference), make_data(seed=1, reversed_above=12), reference).findings
    assert finding.level == "concern"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "name"),
    [({"shift": 12.0}, "income"), ({"shares": (0.1, 0.1, 0.8)}, "region")],
    ids=["another season", "another mix"],
)
def test_harmless_drift_is_advice(change, name):
    (finding,) = run(MODEL, make_data(seed=1, **change)).findings
    assert finding.level == "advice"
    assert name in finding.columns
    assert "in the reference" in finding.detail


@pytest.mark.slow
def test_missing_values_are_advice():
    data = make_data(seed=1)
    data.loc[::3, "region"] = None
    (finding,) = run(MODEL, data).findings
    assert finding.level == "advice"
    assert "missing in 33.3% of the rows, in the reference in 0%" in finding.detail


@pytest.mark.parametrize("seed", range(4 if LONG else 1))
def test_good_models_on_rows_like_the_reference(seed):
    reference, data = make_data(seed=seed), make_data(500, seed=seed + 10)
    for learner in (LogisticRegression(), DecisionTreeClassifier(random_state=0)):  # the tree is overfitted
        outcome = run(fit(reference, learner), data, reference)
        assert (outcome.state, outcome.findings) == ("passed", ())


@pytest.mark.slow
def test_errors_of_both_are_in_the_basis():
    outcome = run(fit(REFERENCE, DecisionTreeClassifier(random_state=0)), make_data(seed=1))
    assert "in the reference 0%" in outcome.why
    assert "3 columns of 600 rows compared with 600 rows of the reference" in outcome.why


@pytest.mark.slow
def test_a_model_that_was_as_poor_in_the_reference():
    answers = np.array(["no", "yes"])

    def predict(frame):
        return answers[(frame["income"] > 40).to_numpy().astype(int) ^ (frame["region"] == "west").to_numpy()]

    (finding,) = run(predict, make_data(seed=1, shares=(0.1, 0.1, 0.8))).findings
    assert finding.level == "advice"


def test_numbers():
    rng = np.random.default_rng(4)

    def make_numbers(data):
        noise = rng.normal(0, 3, len(data))
        return data.assign(target=data["income"] + data["debts"] + (data["region"] == "new") * 60 + noise)

    reference, data = make_numbers(REFERENCE), make_numbers(make_data(seed=1, **NEW_REGION))
    model = fit(reference, LinearRegression())
    (finding,) = run(model, data, reference).findings
    assert finding.title == "The model is worse where region is 'new', which the reference does not have"
    assert "has a mean error of" in finding.detail
    assert run(model, make_numbers(make_data(seed=2)), reference).state == "passed"


def test_without_labels():
    data = make_data(seed=1, **NEW_REGION).drop(columns="target")
    (finding,) = run(MODEL, data, REFERENCE[INPUTS], target=None).findings
    assert finding.level == "advice"
    assert "Whether this costs accuracy was not measured." in finding.detail


def test_types_that_files_change():
    reference = REFERENCE.assign(region=REFERENCE["region"].astype("category"), income=REFERENCE["income"].astype(str))
    assert run(MODEL, make_data(seed=1), reference).state == "passed"


@pytest.mark.parametrize(
    "reference",
    [
        REFERENCE.head(0),
        REFERENCE.head(1),
        REFERENCE.assign(income="unknown"),
        REFERENCE.assign(income=np.nan, region=None),
        REFERENCE.assign(income=np.inf),
        REFERENCE.assign(debts=10**400),
        REFERENCE.assign(target=None),
        REFERENCE.assign(target=range(len(REFERENCE))),
        REFERENCE.assign(region=[["a"]] * len(REFERENCE)),
    ],
    ids=["empty", "one row", "texts", "missing", "infinite", "huge", "no labels", "other labels", "lists"],
)
def test_hostile_references(reference):
    outcome = run(MODEL, make_data(200, seed=1), reference)
    assert outcome.state in ("passed", "found", "not run")
    assert all(finding.level == "advice" for finding in outcome.findings)


def test_a_column_of_text_in_the_reference():
    (finding,) = run(MODEL, make_data(200, seed=1), REFERENCE.assign(income="unknown")).findings
    assert "income: 100% of the values of the reference are infinite or no numbers." in finding.detail


def test_no_reference():
    assert run(MODEL, REFERENCE, None).why == "no training data are given: reference=frame (--reference FILE)"


def test_a_column_whose_values_mean_something_else():
    data = make_data(seed=1)
    (finding,) = run(MODEL, data.assign(income=(data["income"] - 50) * 3 + 20)).findings
    assert finding.level == "concern"
    assert "income" in finding.columns
    assert "income" in finding.title


def test_a_column_that_moved_without_the_labels():
    data = make_data(seed=1)
    (finding,) = run(MODEL, data.assign(income=data["income"] + 20)).findings
    assert (finding.level, finding.columns) == ("concern", ("income",))
    assert finding.title.startswith(
        "income has moved since the reference data, and the labels have not followed: with "
    )
    assert "subtracted from income, errors fall from" in finding.title


def test_a_biased_model_does_not_blame_a_column_that_moved():
    """Each smaller income makes the model better, also for rows of the reference."""

    def predict(frame):
        return np.where(frame["income"] - 10 - frame["debts"] / 2 > 0, "yes", "no")

    (finding,) = run(predict, make_data(seed=1, shift=12.0)).findings
    assert finding.level == "advice"


def make_mix(share, seed):
    """Return data in which the inputs say little about the labels, and a share of the labels is yes."""
    rng = np.random.default_rng(seed)
    target = np.where(rng.random(500) < share, "yes", "no")
    return make_data(500, seed=seed).assign(target=target, income=rng.normal(50, 15, 500) + 10 * (target == "yes"))


def test_a_class_that_became_frequent():
    reference = make_mix(0.08, 7)
    model = fit(reference)
    (finding,) = run(model, make_mix(0.5, 8), reference).findings
    assert finding.level == "concern"
    assert finding.title.startswith("The class 'yes' is ")
    assert finding.title.endswith(" times as frequent as in the reference data, and the model does not expect it")
    assert run(model, make_mix(0.1, 9), reference).findings == ()


def test_a_class_that_the_model_expects_to_be_frequent():
    reference, data = make_data(2_000), make_data(2_000, seed=1)
    rare = [frame["target"].eq("yes") & (frame.index % 12 > 0) for frame in (reference, data)]
    (finding,) = run(MODEL, data, reference[~rare[0]]).findings
    assert (finding.level, finding.columns) == ("advice", ("income",))


def test_a_column_that_is_empty_now():
    model = fit(REFERENCE, HistGradientBoostingClassifier(max_iter=20))
    data = make_data(seed=1)
    data["income"] = data["income"].mask(np.arange(len(data)) % 5 > 0)
    (finding,) = run(model, data).findings
    assert (finding.level, finding.columns) == ("concern", ("income",))
    assert (
        finding.title
        == "income is missing in 80% of the rows, in the reference data in 0%, and the model depends on it"
    )


def test_an_empty_column_that_the_model_does_not_use():
    reference = REFERENCE.assign(income=50.0)
    model = fit(reference, HistGradientBoostingClassifier(max_iter=20))
    data = make_data(seed=1)
    data["income"] = np.where(np.arange(len(data)) % 5 > 0, np.nan, 50.0)
    (finding,) = run(model, data, reference).findings
    assert finding.level == "advice"


def test_labels_of_a_small_group_that_follow_another_rule():
    shares = (0.45, 0.1, 0.45)
    reference, data = make_data(1_200, shares=shares), make_data(1_200, seed=1, shares=shares)
    other = {"yes": "no", "no": "yes"}
    inside = (data["region"] == "south") & (data.index % 5 > 0)
    model = fit(reference)
    assert run(model, data, reference).state == "passed"
    (finding,) = run(
        model, data.assign(target=data["target"].mask(inside, data["target"].map(other))), reference
    ).findings
    assert finding.level == "concern"
    assert finding.title == "What was learned from the reference data no longer holds where region is 'south'"
    assert "On rows of the same group of the reference" in finding.detail
