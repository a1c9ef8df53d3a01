"""The signs of leaks that are softer than nearly the label; what is nearly the label is in test_checks_identifiers.py."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.audit.checks.leaks.encodings import find_encoding, find_sequel
from datamorphic.audit.checks.leaks.signs import find_outcome_word
from datamorphic.audit.checks.leaks.skills import measure_skills

ROWS = 800


def make_data(seed=0, rows=ROWS):
    """Return data whose label depends on three features that go together, with noise."""
    rng = np.random.default_rng(seed)
    wealth = rng.normal(size=rows)
    frame = pd.DataFrame(
        {
            "income": wealth + 0.5 * rng.normal(size=rows),
            "savings": wealth + 0.5 * rng.normal(size=rows),
            "rent": wealth + 0.7 * rng.normal(size=rows),
            "noise": rng.normal(size=rows),
        }
    )
    return frame.assign(label=np.where(wealth + rng.normal(size=rows) > 0, "stays", "leaves"))


def fit(data):
    """Return a function of a tree that reads numbers, with 0 for missing ones, and codes of categories."""
    inputs = data.drop(columns="label")
    texts = {name: sorted(inputs[name].dropna().unique()) for name in inputs if inputs[name].dtype.kind not in "iuf"}

    def encode(frame):
        codes = {
            name: [*map({value: i for i, value in enumerate(values)}.get, frame[name])]
            for name, values in texts.items()
        }
        return frame.assign(**codes).astype(float).fillna(-1.0)

    tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(encode(inputs), data["label"])
    return lambda frame: tree.predict(encode(frame))


def find(data, model=None, **options):
    result = dm.test(
        fit(data) if model is None else model, data, **({"target": "label"} | options), only="leaks", progress=False
    )
    (outcome,) = [outcome for outcome in result.outcomes if outcome.check == "leaks"]
    assert outcome.state in ("passed", "found"), outcome.why
    return [finding for finding in outcome.findings if finding.check == "leaks"]


def flip(data, share, seed=1):
    """Return the labels as 0 and 1, with some of them wrong."""
    rng = np.random.default_rng(seed)
    return (data["label"] == "leaves").to_numpy() ^ (rng.random(len(data)) < share)


def test_data_without_leaks_are_left_alone():
    assert find(make_data()) == []


def test_a_column_that_is_filled_for_one_label_only_is_a_concern():
    data, rng = make_data(), np.random.default_rng(2)
    is_filled = (data["label"] == "leaves") & (rng.random(ROWS) < 0.6)
    (finding,) = find(data.assign(fee=np.where(is_filled, rng.normal(50, 5, ROWS), np.nan)))
    assert (finding.level, finding.about) == ("concern", "fee")
    assert "filled for rows labelled 'leaves' only" in finding.title
    is_filled = (data["label"] == "leaves") & (rng.random(ROWS) < 0.9)
    (finding,) = find(data.assign(fee=np.where(is_filled, rng.normal(50, 5, ROWS), 0.0)))
    assert (finding.level, finding.about) == ("concern", "fee")
    assert "other than zero" in finding.title


def test_a_column_that_is_mostly_filled_for_one_label_is_left_alone():
    data, rng = make_data(), np.random.default_rng(2)
    is_filled = rng.random(ROWS) < np.where(data["label"] == "leaves", 0.6, 0.2)
    assert find(data.assign(fee=np.where(is_filled, rng.normal(50, 5, ROWS), np.nan))) == []


def test_a_strong_column_with_the_name_of_an_outcome_is_a_concern():
    rng = np.random.default_rng(3)
    data = make_data()
    strength = np.where(data["label"] == "leaves", 4.0, 0.0) + rng.normal(0, 1.3, ROWS) + data["income"]
    (finding,) = find(data.assign(refund_amount=strength))
    assert (finding.level, finding.about) == ("concern", "refund_amount")
    assert "refund" in finding.detail
    assert (
        find(data.assign(last_refund_count=strength)) == []
    )  # a strong feature of earlier times, beside which others go
    assert find(data.assign(refund_amount=rng.normal(size=ROWS))) == []


def test_the_label_with_noise_is_a_concern():
    data = make_data()
    (finding,) = find(data.assign(flag=flip(data, 0.07).astype(int)))
    assert (finding.level, finding.about) == ("concern", "flag")
    assert "label with noise" in finding.title
    # ignored by the model, it is worth a look
    model = fit(data)
    (finding,) = find(data.assign(flag=flip(data, 0.07).astype(int)), lambda frame: model(frame.drop(columns="flag")))
    assert finding.level == "advice"


def test_values_that_say_the_label_are_a_concern():
    data, rng = make_data(), np.random.default_rng(4)
    says = flip(data, 0.0) & (rng.random(ROWS) < 0.85)
    (finding,) = find(data.assign(remark=np.where(says, "client leaves", rng.choice(["called", "wrote"], ROWS))))
    assert (finding.level, finding.about) == ("concern", "remark")
    assert "contains the name of the class" in finding.detail


def test_a_value_for_one_label_only_is_a_concern_unless_other_features_go_with_it():
    data, rng = make_data(), np.random.default_rng(4)
    usual = rng.choice(["letter", "phone"], ROWS)
    is_marked = flip(data, 0.0) & (rng.random(ROWS) < 0.5)
    (finding,) = find(data.assign(contact=np.where(is_marked, "agency", usual)))
    assert (finding.level, finding.about) == ("concern", "contact")
    assert finding.title.startswith("contact is 'agency' for rows labelled 'leaves' only")
    is_poor = flip(data, 0.0) & (data["income"] < np.quantile(data["income"], 0.4)).to_numpy()
    assert find(data.assign(contact=np.where(is_poor, "agency", usual))) == []
    rewarded = data.assign(bonus=np.where(is_marked, np.nan, rng.normal(5, 1, ROWS)))
    (finding,) = find(rewarded)
    assert (finding.level, finding.about) == ("concern", "bonus")
    assert "missing for rows labelled" in finding.title


@pytest.mark.parametrize("kind", ["means", "smoothed", "others"])
def test_mean_labels_of_these_rows_are_a_concern(kind):
    data, rng = make_data(), np.random.default_rng(5)
    city = rng.integers(0, 60, ROWS)
    chance = 1 / (1 + np.exp(-rng.normal(size=60)))[city]
    data["label"] = np.where(rng.random(ROWS) < chance, "leaves", "stays")
    label = (data["label"] == "leaves").astype(float)
    groups = label.groupby(city)
    sums, counts = groups.transform("sum"), groups.transform("count")
    rates = {
        "means": sums / counts,
        "smoothed": (sums + 5 * label.mean()) / (counts + 5),
        "others": (sums - label) / (counts - 1),
    }[kind]
    data["city"] = [f"c{number}" for number in city]
    findings = [finding for finding in find(data.assign(rate=rates)) if finding.about == "rate"]
    assert [finding.level for finding in findings] == ["concern"]
    assert "labels of these rows" in findings[0].title + findings[0].detail
    # the mean labels of other rows, as it should be
    others = pd.Series(rng.random(ROWS) < chance).groupby(city).transform("mean")
    assert [finding for finding in find(data.assign(rate=others)) if finding.about == "rate"] == []


def test_later_labels_are_found_in_ordered_rows():
    rng = np.random.default_rng(6)
    label = (rng.random(ROWS) < 0.4).astype(float)
    assert find_sequel(np.append(label[1:], 0.0), label, "x").kind == "next"
    assert find_sequel(np.append(0.0, label[:-1]), label, "x") is None  # an earlier label is known
    mean = pd.Series(label).rolling(7, min_periods=1).mean()
    assert find_sequel(mean.to_numpy(), label, "x").window == 7
    assert find_sequel(mean.shift(1).fillna(0.0).to_numpy(), label, "x") is None
    assert find_sequel(np.zeros(ROWS), label, "x") is None
    assert find_sequel(np.zeros(ROWS), np.zeros(ROWS), "x") is None


def test_encodings_of_odd_columns():
    label = (np.random.default_rng(0).random(ROWS) < 0.5).astype(float)
    groups = [("g", np.arange(ROWS) % 30)]
    for values in (np.zeros(ROWS), np.full(ROWS, np.nan), label, np.full(ROWS, np.inf), np.linspace(0, 1, ROWS)):
        assert find_encoding(values, label, groups, "x", "1") is None
    assert find_encoding(np.zeros(0), np.zeros(0), [], "x", "1") is None


def test_codes_with_few_rows_that_decide_without_any_use_are_a_concern():
    data, rng = make_data(), np.random.default_rng(7)
    data["branch"] = [f"b{number}" for number in rng.integers(0, 300, ROWS)]

    def predict(frame):
        odd = frame["branch"].str[1:].astype(int).to_numpy() % 3 == 0
        return np.where((frame["income"].to_numpy() > 0) ^ odd, "stays", "leaves")

    (finding,) = find(data, predict)
    assert (finding.level, finding.about) == ("concern", "branch")
    assert find(data, lambda frame: np.where(frame["income"] > 0, "stays", "leaves")) == []


def test_codes_that_go_with_one_label_each_are_a_concern():
    data, rng = make_data(), np.random.default_rng(7)
    own = rng.integers(0, 20, ROWS) * 2 + flip(data, 0.0)
    codes = np.where(rng.random(ROWS) < 0.1, rng.integers(0, 40, ROWS), own)
    (finding,) = find(data.assign(batch=[f"B{1_000 + 37 * code}" for code in codes]))
    assert (finding.level, finding.about) == ("concern", "batch")
    assert "goes with one label" in finding.title
    assert find(data.assign(batch=[f"B{code}" for code in rng.integers(0, 40, ROWS)])) == []


def test_a_word_that_occurs_with_one_label_only():
    data, rng = make_data(), np.random.default_rng(8)
    words = [f"w{number}" for number in range(60)]
    texts = [" ".join(rng.choice(words, 8)) for _ in range(ROWS)]
    marked = [f"{text} refunded" if leaves else text for text, leaves in zip(texts, flip(data, 0.0), strict=True)]

    def predict(frame):
        return np.where(frame["note"].str.contains("refunded"), "leaves", "stays")

    (finding,) = find(data.assign(note=marked), predict)
    assert (finding.level, finding.about) == ("concern", "note")
    assert "“refunded”" in finding.title
    assert find(data.assign(note=texts), predict) == []


def test_names_of_what_is_known_only_afterwards():
    assert all(
        map(find_outcome_word, ["outcome", "paidOut", "status_after", "churn_date", "next_visit", "Cancelled_At"])
    )
    assert not any(
        map(find_outcome_word, ["income", "finalist", "previous_outcome", "last_paid", "num_closed", "x3", ""])
    )


def test_skills_of_odd_columns():
    rng = np.random.default_rng(9)
    target = rng.normal(size=200)
    codes = np.column_stack([target, np.zeros(200), np.full(200, np.nan), rng.normal(size=200)])
    values = measure_skills(codes, target[:, None], range(4), [False] * 4, 0).values
    assert values[0] > 0.8
    assert (np.abs(values[1:3]) < 0.05).all()
    assert values[3] < 0.1


@pytest.mark.parametrize("rows", [1, 61, 120])
def test_hostile_data(rows):
    rng = np.random.default_rng(10)
    data = make_data(rows=rows).assign(
        constant=1,
        huge=10.0**140,
        half=[None if i % 2 else 1.0 for i in range(rows)],
        code=[f"k{i}" for i in range(rows)],
    )
    data["label"] = rng.choice(["a", "b", "c"], rows)
    result = dm.test(
        lambda frame: np.where(frame["income"] > 0, "a", "b"),
        data,
        target="label",
        only="leaks",
        progress=False,
        budget="20s",
    )
    assert next(outcome for outcome in result.outcomes if outcome.check == "leaks").state != "broke"
    numbers = data.assign(label=rng.normal(size=rows))
    result = dm.test(
        lambda frame: frame["income"] * 2.0, numbers, target="label", only="leaks", progress=False, budget="20s"
    )
    assert next(outcome for outcome in result.outcomes if outcome.check == "leaks").state != "broke"
