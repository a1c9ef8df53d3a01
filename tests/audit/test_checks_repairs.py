"""The check "repairs": what was done to inputs or answers on the way is named, and good models are left alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm
from datamorphic.audit.checks.repairs.judge import compute_auc

NUMBERS, WORDS = ["distance", "hour", "load"], ["site"]
INPUTS = [*NUMBERS, *WORDS]


def make_rides(rows=1_200, seed=0):
    """Rides that are late if they are long, in the rush hour, at some sites; and how many minutes they take."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "distance": rng.gamma(4, 5, rows).round(1),
            "hour": rng.integers(0, 24, rows),
            "load": rng.normal(0, 1, rows).round(2),
            "site": rng.choice(["north", "south", "west"], rows, p=[0.4, 0.35, 0.25]),
        }
    )
    minutes = 2 * frame["distance"] + 25 * (np.abs(frame["hour"] - 8) < 3) + 6 * frame["load"]
    minutes += frame["site"].map({"north": 0, "south": 14, "west": -8}) + rng.normal(0, 5, rows)
    return frame.assign(minutes=minutes, late=np.where(minutes > 45, "late", "punctual"))


TRAINING, RIDES = make_rides(seed=1), make_rides(seed=2)
CLASSES, TIMES = RIDES.drop(columns="minutes"), RIDES.drop(columns="late")
ENCODER = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), WORDS))
CLASSIFIER = make_pipeline(ENCODER, DecisionTreeClassifier(max_depth=9, min_samples_leaf=4, random_state=0))
CLASSIFIER.fit(TRAINING[INPUTS], TRAINING["late"])
REGRESSOR = make_pipeline(ENCODER, DecisionTreeRegressor(min_samples_leaf=6, random_state=0))
REGRESSOR.fit(TRAINING[INPUTS], TRAINING["minutes"])
SITES = {"north": "south", "south": "north", "west": "west"}


def audit(model, data=CLASSES, target="late", **options):
    return dm.test(model, data, target=target, only="repairs", progress=False, **options)


def find(result):
    """The findings of the check that are worse than advice."""
    return [finding for finding in result.at_least("concern") if finding.check == "repairs"]


def change(model, function):
    """A model whose inputs are changed on the way to it."""
    return lambda frame: model.predict(function(frame))


@pytest.mark.parametrize(
    ("function", "column", "text"),
    [
        (
            lambda f: f.assign(distance=f["distance"] * 1.609),
            "distance",
            "distance divided by 1.609344 (miles and kilometres)",
        ),
        (lambda f: f.assign(hour=(f["hour"] + 5) % 24), "hour", "hour minus 5, round the 24 values"),
        (lambda f: f.assign(load=-f["load"]), "load", "load multiplied by -1"),
        (
            lambda f: f.assign(distance=f["hour"].astype(float), hour=f["distance"]),
            "distance",
            "distance and hour swapped",
        ),
        (lambda f: f.assign(distance=f["load"], load=f["distance"]), "load", "distance and load swapped"),
        (lambda f: f.assign(site=f["site"].map(SITES)), "site", "of site swapped"),
        (
            lambda f: f.assign(distance=np.where(f["site"] == "south", f["distance"] / 1000, f["distance"])),
            "distance",
            "where site is 'south'",
        ),
    ],
    ids=["unit", "hours", "sign", "columns", "columns of other ranges", "categories", "group"],
)
def test_a_change_of_inputs_is_named(function, column, text):
    [finding] = find(audit(change(REGRESSOR, function), TIMES, "minutes"))
    assert column in finding.columns
    assert text in finding.title
    assert finding.examples[0].row is not None


def test_a_change_of_classes_is_named_with_the_errors_before_and_after():
    finding = find(audit(change(CLASSIFIER, lambda f: f.assign(distance=f["distance"] / 1000))))[0]
    assert "distance" in finding.columns
    assert "multiplied by 1000" in finding.title
    rows = CLASSES[INPUTS]
    before = np.mean(CLASSIFIER.predict(rows.assign(distance=rows["distance"] / 1000)) != CLASSES["late"])
    after = np.mean(CLASSIFIER.predict(rows) != CLASSES["late"])
    shares = [float(part.rstrip("%")) / 100 for part in finding.title.split() if part.endswith("%")]
    assert shares == pytest.approx([before, after], abs=0.05)


def test_other_letters_than_in_training_are_named():
    model = make_pipeline(
        make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), WORDS)),
        DecisionTreeRegressor(min_samples_leaf=6, random_state=0),
    ).fit(TRAINING[INPUTS], TRAINING["minutes"])
    [finding] = find(audit(model, TIMES.assign(site=TIMES["site"].str.upper()), "minutes"))
    assert finding.columns == ("site",)
    assert "site in lower case" in finding.title


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda answers: answers * 60, "the answer divided by 60"),
        (lambda answers: -answers, "the answer multiplied by -1"),
        (np.log1p, "exp"),
    ],
    ids=["seconds", "sign", "logarithm"],
)
def test_a_change_of_numbers_on_the_way_out_is_named(function, text):
    data = TIMES[TIMES["minutes"] > 5].reset_index(drop=True)
    [finding] = find(audit(lambda f: function(np.maximum(REGRESSOR.predict(f), 0.0)), data, "minutes"))
    assert text in finding.title
    assert finding.about == "answers"


def test_swapped_names_of_classes_are_named():
    names = {"late": "punctual", "punctual": "late"}
    [finding] = find(audit(lambda f: pd.Series(CLASSIFIER.predict(f)).map(names).to_numpy()))
    assert "late and punctual swapped" in finding.title or "punctual and late swapped" in finding.title


def test_swapped_names_of_rare_classes_are_named():
    """The mean over classes hardly changes, because the rare class was right by accident."""
    names = {"slow": "quick", "quick": "slow"}

    def sort(minutes):
        return np.select([minutes > 70, minutes > 25], ["slow", "usual"], "quick")

    data = CLASSES.assign(late=sort(RIDES["minutes"]))
    model = make_pipeline(ENCODER, DecisionTreeClassifier(min_samples_leaf=4, random_state=0))
    model.fit(TRAINING[INPUTS], sort(TRAINING["minutes"]))
    [finding] = find(audit(lambda f: pd.Series(model.predict(f)).replace(names).to_numpy(), data))
    assert "slow and quick swapped" in finding.title or "quick and slow swapped" in finding.title


def test_a_group_with_wrong_training_labels_is_no_unit():
    """Some factor of the distance makes the group fit better, too, but the answers themselves are what is wrong."""
    wrong = TRAINING.assign(minutes=TRAINING["minutes"].where(TRAINING["site"] != "south", 0.5 * TRAINING["minutes"]))
    model = make_pipeline(ENCODER, DecisionTreeRegressor(min_samples_leaf=6, random_state=0))
    model.fit(wrong[INPUTS], wrong["minutes"])
    for finding in find(audit(model, TIMES, "minutes")):
        assert "where site is 'south'" in finding.title or "site" in finding.columns
        assert "distance" not in finding.columns


def test_a_spelling_that_the_system_does_not_know_either_is_no_repair():
    """Rows of the south are answered wrongly: anything that hides the site makes them better, and names no cause."""
    wrong = TRAINING.assign(
        late=np.where(
            TRAINING["site"] == "south", np.where(TRAINING["late"] == "late", "punctual", "late"), TRAINING["late"]
        )
    )
    encoder = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), WORDS))
    model = make_pipeline(encoder, DecisionTreeClassifier(max_depth=9, min_samples_leaf=4, random_state=0))
    model.fit(wrong[INPUTS], wrong["late"])
    assert not [finding for finding in find(audit(model)) if "case" in finding.title]


def test_answers_that_belong_to_the_row_before_are_named():
    [finding] = find(audit(REGRESSOR, TIMES.assign(minutes=np.roll(TIMES["minutes"], 1)), "minutes"))
    assert "the answer of the row before it" in finding.title


def test_two_causes_are_two_findings():
    def misread(frame):
        return frame.assign(distance=frame["distance"] / 1000, load=-3 * frame["load"])

    found_columns = {
        name for finding in find(audit(change(REGRESSOR, misread), TIMES, "minutes")) for name in finding.columns
    }
    assert found_columns == {"distance", "load"}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), LogisticRegression(class_weight="balanced"), DecisionTreeClassifier(max_depth=3), None],
    ids=["linear", "balanced", "shallow", "deep"],
)
def test_good_models_are_left_alone(model, seed):
    data = make_rides(seed=10 + seed)
    fitted = CLASSIFIER
    if model is not None:
        fitted = make_pipeline(ENCODER, model).fit(TRAINING[INPUTS], TRAINING["late"])
    assert not find(audit(fitted, data.drop(columns="minutes"), seed=seed))
    assert not find(audit(REGRESSOR, data.drop(columns="late"), "minutes", seed=seed))


LINEAR = make_pipeline(ENCODER, LogisticRegression(max_iter=1_000)).fit(TRAINING[INPUTS], TRAINING["late"])


class Served:
    """A linear model behind a service that changes a column, with probabilities."""

    feature_names_in_, classes_ = np.array(INPUTS, dtype=object), LINEAR.classes_

    def __init__(self, factor, offset):
        self.factor, self.offset = factor, offset

    def predict_proba(self, frame):
        return LINEAR.predict_proba(frame.assign(distance=self.factor * frame["distance"] + self.offset))

    def predict(self, frame):
        return self.classes_[self.predict_proba(frame).argmax(axis=1)]


def test_a_threshold_that_explains_as_much_is_named_with_the_column():
    result = dm.test(Served(1, 15), CLASSES, target="late", only=["scores", "repairs"], progress=False)
    (finding,) = find(result)
    assert finding.title.startswith(
        "Either distance is misread, or the threshold is wrong: with distance about minus 15,"
    )
    assert "and with 'punctual' from a probability of 0." in finding.title
    assert "chosen on purpose" in finding.remedy


def test_always_the_same_answer_is_no_explanation_by_a_threshold():
    result = dm.test(Served(-1, 0), CLASSES, target="late", only=["scores", "repairs"], progress=False)
    (finding,) = find(result)
    assert finding.title.startswith("Serving looks wrong for distance: with distance multiplied by -1")


def test_a_preference_for_the_frequent_class_is_no_repair():
    """A model with balanced weights is wrong more often, on purpose: shifting any column towards the frequent class helps."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=2_000), "b": rng.normal(size=2_000)})
    data["target"] = np.where(data["a"] + data["b"] + rng.normal(0, 1, 2_000) > 3.2, "rare", "usual")
    half = data[:1_000]
    model = LogisticRegression(class_weight="balanced").fit(half[["a", "b"]], half["target"])
    rest = data[1_000:].reset_index(drop=True)
    assert np.mean(model.predict(rest[["a", "b"]]) != rest["target"]) > 2 * np.mean(rest["target"] == "rare")
    assert not find(audit(model, rest, "target"))


def test_labels_that_cannot_be_compared_and_few_rows_are_no_reason_to_break():
    few = audit(CLASSIFIER, CLASSES[:55])
    assert next(outcome for outcome in few.outcomes if outcome.check == "repairs").state == "not run"
    strange = CLASSES.assign(load=CLASSES["load"].where(CLASSES["load"] > 0), site="north")
    result = audit(lambda f: np.full(len(f), "late"), strange)
    assert next(outcome for outcome in result.outcomes if outcome.check == "repairs").state in ("passed", "not run")


def test_the_area_under_the_curve_is_that_of_the_rank_test():
    rng = np.random.default_rng(0)
    scores, inside = rng.integers(0, 20, 200).astype(float), rng.random(200) < 0.3
    expected = mannwhitneyu(scores[inside], scores[~inside]).statistic / (inside.sum() * (~inside).sum())
    assert compute_auc(scores, inside) == pytest.approx(expected)
