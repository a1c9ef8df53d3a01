"""The check "response": jumps of the answer along a number that the data do not support."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.audit.checks.response.cuts import find_shortest_number
from datamorphic.audit.checks.response.trials import compare_answers
from datamorphic.audit.result import AuditResult
from support.cases import LONG


def patients(rows: int = 500, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sugar, weight = rng.uniform(60, 240, rows), rng.normal(75, 12, rows)
    age = rng.integers(20, 80, rows)
    ill = rng.random(rows) < 1 / (1 + np.exp(-(sugar - 150) / 12 - (weight - 75) / 8 - (age - 50) / 20))
    return pd.DataFrame({"sugar": sugar, "weight": weight, "age": age, "target": np.where(ill, "ill", "well")})


DATA = patients()
FEATURES = DATA.drop(columns="target")
LOGISTIC = LogisticRegression(max_iter=1_000).fit(FEATURES, DATA["target"])


class Changed:
    """A model whose inputs or answers are changed on the way; with scores unless `after` changes the answers."""

    def __init__(self, model, before=lambda frame: frame, after=None):
        self.model, self.before, self.after, self.classes_ = model, before, after, model.classes_
        if after is None:
            self.predict_proba = lambda frame: model.predict_proba(before(frame))

    def predict(self, frame):
        answers = self.model.predict(self.before(frame))
        return answers if self.after is None else self.after(frame, answers)


def run(model, data=DATA, **options):
    options = {"target": "target", "only": "response", "budget": "20s", "progress": False} | options
    result = dm.test(model, data, **options)
    outcome = next(item for item in result.outcomes if item.check == "response")
    assert outcome.state != "broke", outcome.why
    return result, outcome


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        LOGISTIC,
        DecisionTreeClassifier(max_depth=4, random_state=0),
        *([DecisionTreeClassifier(max_depth=1), RandomForestClassifier(20, random_state=0)] if LONG else []),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'max_depth', '')}",
)
def test_good_models_are_left_alone_on_their_own_and_on_new_data(model):
    model.fit(FEATURES, DATA["target"])
    for data in (DATA, patients(seed=1)):
        _, outcome = run(model, data)
        assert (outcome.state, outcome.findings) == ("passed", ())


def test_a_hard_coded_limit_is_named_with_its_place_and_a_real_row():
    model = Changed(LOGISTIC, after=lambda f, answers: np.where(f["weight"] > 80, "well", answers))
    result, outcome = run(model)
    (finding,) = outcome.findings
    assert finding.level == "concern"
    assert finding.about == "weight"
    assert finding.title == "The answer jumps at weight 80, and the labels do not"
    example = finding.examples[0]
    assert (example.answer, example.new_answer) == ("well", "ill")
    assert example.case["weight"] > 80 > example.changed["weight"] > 79
    assert outcome.findings[0].sections[0].picture.steps == sorted(outcome.findings[0].sections[0].picture.steps)
    assert AuditResult.from_json(result.to_json()) == result


def test_a_limit_that_the_labels_have_is_left_alone():
    data = DATA.assign(target=np.where(DATA["weight"] > 80, "well", DATA["target"]))
    model = Changed(LOGISTIC, after=lambda f, answers: np.where(f["weight"] > 80, "well", answers))
    assert run(model, data)[1].state == "passed"


def test_an_island_is_named_with_both_ends():
    turned = {"ill": "well", "well": "ill"}
    model = Changed(
        LOGISTIC, after=lambda f, a: np.where(f["weight"].between(70, 76), [turned[answer] for answer in a], a)
    )
    (finding,) = run(model)[1].findings
    assert finding.title == "The answer changes where weight is between 70 and 76, and the labels do not"
    assert finding.level == "concern"


@pytest.mark.parametrize("dtype", [int, float])
def test_a_subgroup_with_swapped_answers_is_named_by_values_of_the_data(dtype):
    rng = np.random.default_rng(0)
    religious = rng.integers(1, 6, len(FEATURES)).astype(dtype)
    data = DATA.assign(religious=religious)
    turned = {"ill": "well", "well": "ill"}
    model = Changed(
        LOGISTIC,
        before=lambda frame: frame[FEATURES.columns],
        after=lambda frame, a: np.where(frame["religious"] >= 4, [turned[answer] for answer in a], a),
    )
    result, _ = run(model, data, only=["response", "slices"], budget="60000 runs")
    (finding,) = result.findings
    assert finding.title == "The model is mostly wrong where religious > 3"
    (jump,) = finding.evidence
    assert jump.title == "The answer jumps between religious 3 and 4, and the labels do not"
    assert "with religious at least 4" in jump.detail
    assert "when only religious is changed, to 3." in jump.detail


def read_in_other_units(frame):
    return frame.assign(sugar=frame["sugar"].where(frame["sugar"] <= 170, frame["sugar"] / 18))


@pytest.mark.slow
def test_a_unit_error_is_named_with_labels_and_its_factor_without():
    model = Changed(LOGISTIC, before=read_in_other_units)
    (finding,) = run(model)[1].findings
    assert finding.title.startswith("The answer jumps at sugar 170, ")
    (finding,) = run(model, FEATURES, target=None)[1].findings
    assert finding.title == "Above 170, sugar is read as if it were divided by 18"
    assert finding.level == "concern"


@pytest.mark.slow
@pytest.mark.parametrize(("column", "value"), [("weight", -999.0), ("age", 99), ("sugar", 0.0)])
def test_a_sentinel_that_the_data_do_not_have_is_named(column, value):
    model = Changed(LOGISTIC, after=lambda f, answers: np.where(f[column] == value, "ill", answers))
    for target, data in (("target", DATA), (None, FEATURES)):
        (finding,) = run(model, data, target=target)[1].findings
        assert finding.title == f"The value {value:g} of {column} is answered unlike the values around it"
        assert finding.level == "concern"
        assert "no row of the data has this value" in finding.detail


def test_answers_that_change_with_every_value_have_no_single_values():
    def answer(frame):
        return np.where(pd.util.hash_pandas_object(frame, index=False) % 1009 % 2, "ill", "well")

    titles = [finding.title for finding in run(answer)[1].findings]
    assert not [title for title in titles if "unlike the values around it" in title]


@pytest.mark.slow
def test_a_finding_gives_one_count_in_all_places():
    model = Changed(LOGISTIC, after=lambda f, answers: np.where(f["weight"] > 80, "well", answers))
    (finding,) = run(model)[1].findings
    assert (finding.affected_rows, finding.rows) == (finding.cases, finding.cases_tried)
    assert finding.detail.startswith(f"{finding.cases} of {finding.cases_tried} rows (")
    assert finding.detail.count(" of ") == 2  # the count, and one share of these rows
    assert finding.counted_in_detail


@pytest.mark.slow
def test_dates_that_jump_back_with_the_calendar_are_left_alone():
    rng = np.random.default_rng(0)
    time = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 730 * 24 * 60, 600), unit="min")
    data = pd.DataFrame({"time": time, "x": rng.normal(size=600)})

    def score(frame):  # it rises within a year, and falls at its end
        parts = frame["time"].dt
        days = 30 * parts.month + parts.day + parts.hour / 24 + parts.minute / 1_440 - 198
        return 1 / (1 + np.exp(-(frame["x"] + 0.0012 * days).to_numpy()))

    class Seasonal:
        feature_names_in_, classes_ = np.array(["time", "x"], dtype=object), np.array(["no", "yes"], dtype=object)

        def predict_proba(self, frame):
            return np.column_stack([1 - score(frame), score(frame)])

        def predict(self, frame):
            return self.classes_[(score(frame) > 0.5).astype(int)]

    data["target"] = np.where(rng.random(600) < score(data), "yes", "no")
    result, outcome = run(Seasonal(), data)
    assert outcome.state == "passed", [finding.title for finding in result.findings]


def test_an_imputed_value_is_left_alone_if_the_labels_agree():
    data = DATA.copy()
    data.loc[::5, "sugar"] = 0.0
    model = Changed(LOGISTIC, before=lambda f: f.assign(sugar=f["sugar"].where(f["sugar"] != 0, 150.0)))
    assert not run(model, data)[1].defects


def test_numbers_are_compared_with_their_labels():
    rng = np.random.default_rng(0)
    data = FEATURES.assign(target=2.0 * FEATURES["sugar"] + rng.normal(0, 5, len(DATA)))
    model = LinearRegression().fit(FEATURES, data["target"])
    assert run(model, data)[1].state == "passed"

    def capped(frame):
        return np.where(frame["age"] > 60, 0.0, model.predict(frame))

    (finding,) = run(capped, data)[1].findings
    assert finding.about == "age"
    assert "jumps between age 60 and 61" in finding.title


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (DATA.head(1), "too few rows are given"),
        (pd.DataFrame({"c": ["a", "b"] * 20, "target": ["x", "y"] * 20}), "no feature is a number"),
    ],
)
def test_it_says_why_it_does_not_apply(data, reason):
    _, outcome = run(lambda frame: np.array(["ill"] * len(frame)), data)
    assert (outcome.state, outcome.why, outcome.skip_reason) == ("not run", reason, "inapplicable")


@pytest.mark.slow
def test_odd_data_do_not_break_it():
    one_feature = DATA[["sugar", "target"]]
    model = LogisticRegression(max_iter=1_000).fit(one_feature[["sugar"]], one_feature["target"])
    assert run(model, one_feature)[1].state == "passed"
    one_class = DATA.assign(target="well")
    assert run(LOGISTIC, one_class)[1].state in ("passed", "found")
    holes = DATA.assign(
        weight=DATA["weight"].where(DATA.index % 3 > 0), target=DATA["target"].where(DATA.index % 7 > 0)
    )
    run(lambda f: np.where(f["sugar"] > 150, "ill", "well"), holes)
    run(lambda f: np.where(f["sugar"] > 150, "ill", "well"), DATA.assign(weight=70.0))
    run(lambda f: np.where(f["sugar"] > 150, None, "well"), DATA)


def test_a_spent_budget_is_neither_inapplicable_nor_passed():
    _, outcome = run(LOGISTIC, budget="600 runs")
    assert outcome.state == "not run"
    assert outcome.unfinished


def test_answers_are_compared_with_labels_row_by_row():
    truth = np.repeat([0.0, 1.0], 20)
    gain, helps, hurts, p_value, against = compare_answers(1 - truth, truth, truth, numeric=False)
    assert (gain, helps, hurts) == (1.0, 40, 0)
    assert p_value < 1e-9 < 0.9 < against
    assert compare_answers(truth, truth, truth, numeric=True)[3] == 1.0
    assert compare_answers(truth[:0], truth[:0], truth[:0], numeric=False)[3] == 1.0


@pytest.mark.parametrize(
    ("low", "high", "shortest"),
    [(149.6, 150.7, 150), (0.7491, 0.7512, 0.75), (50, 51, 50), (-0.1, 0.1, 0), (-1000.2, -999.9, -1000), (3, 3, 3)],
)
def test_the_shortest_number_between_two(low, high, shortest):
    assert find_shortest_number(low, high) == shortest


def make_prices(rows=1_000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"area": rng.uniform(20, 200, rows), "age": rng.uniform(0, 50, rows)})
    return frame.assign(target=3 * frame["area"] - 2 * frame["age"] + rng.normal(0, 20, rows))


def mirror(frame, name="area", place=120):
    return frame.assign(**{name: frame[name].where(frame[name] <= place, 2 * place - frame[name])})


def test_answers_that_fall_where_the_labels_rise_are_a_concern():
    data = make_prices()
    model = LinearRegression().fit(data[["area", "age"]], data["target"])
    (finding,) = run(lambda frame: model.predict(mirror(frame)), data)[1].findings
    assert (finding.level, finding.about) == ("concern", "area")
    words = finding.title.split()
    assert finding.title.startswith("Answers fall as area rises above ")
    assert finding.title.endswith(", although labels rise")
    assert 110 <= float(words[6].strip(",")) <= 130
    assert finding.examples[0].case["area"] > 120
    turned = data.assign(target=model.predict(mirror(data[["area", "age"]])))  # labels that turn back, too
    assert not run(lambda frame: model.predict(mirror(frame)), turned)[1].findings


def test_scores_that_fall_where_the_labels_rise_are_a_concern():
    (finding,) = run(Changed(LOGISTIC, before=lambda frame: mirror(frame, "sugar", 160)))[1].findings
    assert (finding.level, finding.about) == ("concern", "sugar")
    assert re.match(r"Scores of \w+ (fall|rise) as sugar rises above 1[56]\d", finding.title)


def test_a_jump_that_costs_a_part_of_the_errors_is_named_from_more_rows():
    data = patients(2_000)
    start = pd.Timestamp("2024-01-01")
    data["visit"] = start + pd.to_timedelta(np.random.default_rng(0).integers(0, 700, len(data)), unit="D")
    late = lambda frame: frame["visit"] >= pd.Timestamp("2025-01-01")  # noqa: E731

    def predict(frame):
        sugar = frame["sugar"] - np.where(late(frame), 30, 0)
        return LOGISTIC.predict(frame.assign(sugar=sugar)[FEATURES.columns])

    (finding,) = run(predict, data)[1].findings
    assert (finding.level, finding.about) == ("concern", "visit")
    assert "2025-01-01" in finding.title
    assert "between visit 2024-12-31 and 2025-01-01" in finding.title
    assert not run(lambda frame: LOGISTIC.predict(frame[FEATURES.columns]), data)[1].findings
