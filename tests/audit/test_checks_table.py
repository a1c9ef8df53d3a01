"""The check "table": planted defects are named with their rows, and good tables that look similar are left alone."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.audit.checks.table.check import STEPS
from datamorphic.audit.checks.table.label_order import search_moved_labels
from datamorphic.audit.checks.table.profile import TableProfile
from datamorphic.audit.checks.table.reference_scales import search_unit_mixture
from datamorphic.audit.checks.table.repetition import measure_shift_evidence
from datamorphic.audit.checks.table.spellings import normalise
from datamorphic.cli.main import app
from datamorphic.errors import ArgumentError, DataError, UsageError

ROWS = 600
SOME = np.random.default_rng(3).choice(ROWS, 60, replace=False)  # rows of defects
FEW = SOME[:12]
MANY = np.arange(5, ROWS, 6)


def make_table(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    height = rng.normal(172, 9, rows)
    weight = np.exp(0.012 * (height - 172) + rng.normal(4.3, 0.09, rows))
    start = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, rows), unit="D")
    return pd.DataFrame(
        {
            "age": rng.integers(18, 85, rows),
            "height_cm": height.round(1),
            "weight_kg": weight.round(1),
            "site": rng.choice(["Berlin", "Hamburg", "Munich", "Cologne"], rows),
            "income": np.exp(rng.normal(10, 0.6, rows)).round(),
            "amount": np.where(rng.random(rows) < 0.5, 0, rng.lognormal(3, 1, rows)).round(2),
            "balance": rng.normal(100, 300, rows).round(2),
            "smoker": rng.choice(["yes", "no"], rows),
            "visits": rng.poisson(3, rows),
            "share_pct": rng.uniform(0, 100, rows).round(1),
            "start": start,
            "end": start + pd.to_timedelta(rng.integers(1, 60, rows), unit="D"),
            "label": np.where(weight + rng.normal(0, 10, rows) > 75, "ill", "healthy"),
        }
    )


TABLE = make_table()


def find(frame):
    """Return the findings about a table without the detour over `dm.test`."""
    labels = frame["label"].to_numpy() if "label" in frame else None
    profile = TableProfile.from_frame(frame.drop(columns="label", errors="ignore"), labels, "label")
    with np.errstate(all="ignore"):
        return [finding for step in STEPS for finding in step(profile)]


def put(column, rows, value):
    frame = TABLE.copy()
    if isinstance(value, str):
        frame[column] = frame[column].astype(object)
    frame.loc[rows, column] = value
    return frame


def scale(column, rows, factor):
    frame = TABLE.copy()
    frame.loc[rows, column] *= factor
    return frame


def swap_dates():
    frame = TABLE.copy()
    frame.loc[FEW, ["start", "end"]] = frame.loc[FEW, ["end", "start"]].to_numpy()
    return frame


def write_differently(change, column="site", rows=SOME):
    frame = TABLE.copy()
    frame.loc[rows, column] = frame.loc[rows, column].map(change)
    return frame


def shift_rows():
    frame = TABLE.astype(object)
    rows = range(200, 212)
    values = frame.loc[rows].to_numpy()
    frame.loc[rows, frame.columns[1:10]] = values[:, :9]
    return frame.map(str)


def shift_numbers():
    names = ["age", "height_cm", "weight_kg", "income", "visits"]
    frame = TABLE[[*names, "label"]].astype(dict.fromkeys(names, float))
    frame.loc[200:211, names[1:]] = frame.loc[200:211, names[:-1]].to_numpy()
    return frame


def shift_many_rows():
    """Shift every sixth row as a whole, so that its values are usual where they are."""
    names = ["age", "height_cm", "weight_kg", "income", "visits"]
    frame = TABLE[[*names, "site", "label"]].astype(dict.fromkeys(names, float))
    frame.loc[MANY, names[1:]] = frame.loc[MANY, names[:-1]].to_numpy()
    frame.loc[MANY, names[0]] = TABLE.loc[MANY, names[-1]].to_numpy()
    return frame


def mix_texts():
    frame = TABLE.astype({"income": str})
    frame.loc[FEW, "income"] = "?"
    return frame


def mix_types():
    frame = TABLE.astype({"visits": object})
    frame.loc[SOME, "visits"] = frame.loc[SOME, "visits"].map(str)
    return frame


def write_units():
    texts = TABLE["weight_kg"].map("{:.1f} kg".format)
    texts[SOME] = (2.2046 * TABLE.loc[SOME, "weight_kg"]).map("{:.1f} lb".format)
    return TABLE.assign(weight_kg=texts)


def contradict_labels():
    copies = TABLE.iloc[:80]
    labels = copies["label"].map({"ill": "healthy", "healthy": "ill"})
    return pd.concat([TABLE, copies.assign(label=labels)], ignore_index=True)


def break_totals():
    rng = np.random.default_rng(1)
    frame = TABLE.assign(net_cost=rng.uniform(1, 50, ROWS), tax_cost=rng.uniform(1, 9, ROWS))
    frame["total_cost"] = frame["net_cost"] + frame["tax_cost"]
    frame.loc[FEW, "total_cost"] *= 2
    return frame


def give_coordinates():
    rng = np.random.default_rng(1)
    frame = TABLE.assign(lat=rng.uniform(47, 55, ROWS), lon=rng.uniform(6, 15, ROWS))
    frame.loc[FEW, "lat"] += 100
    return frame


CONCERNS = {
    "-999": (put("income", FEW, -999), "-999 stands for a missing value in income", FEW),
    "999": (put("weight_kg", FEW, 999), "999 stands for a missing value in weight_kg", FEW),
    "-1": (put("age", FEW, -1), "-1 stands for a missing value in age", FEW),
    "-1 in amounts": (put("amount", FEW, -1), "-1 stands for a missing value in amount", FEW),
    "1900": (put("start", FEW, pd.Timestamp("1900-01-01")), "1900-01-01 stands for a missing value in start", FEW),
    "1970": (put("end", FEW, pd.Timestamp("1970-01-01")), "1970-01-01 stands for a missing value in end", FEW),
    "shifted": (shift_rows(), "12 rows are shifted by one column, from height_cm to share_pct", None),
    "shifted numbers": (shift_numbers(), "12 rows are shifted by one column, from height_cm to visits", None),
    "many shifted rows": (shift_many_rows(), "100 rows are shifted by one column, from height_cm to visits", MANY),
    "texts": (mix_texts(), "income holds numbers and texts: '?'", FEW),
    "two types": (mix_types(), "visits is a number in some rows and a text in others", SOME),
    "units": (write_units(), "weight_kg holds numbers in several units: kg, lb", SOME),
    "upper case": (write_differently(str.upper), "4 categories of site are written in several ways", SOME),
    "spaces": (write_differently("{} ".format), "4 categories of site are written in several ways", SOME),
    "labels": (write_differently(str.title, "label"), "2 classes of the label label are written in several ways", SOME),
    "negative ages": (scale("age", FEW, -1), "age is negative in 12 rows", FEW),
    "old": (put("age", FEW[:3], 170), "Impossible ages: age is too high in 3 rows", FEW[:3]),
    "percent": (put("share_pct", FEW, 250.0), "share_pct is not a valid percentage in 12 rows", FEW),
    "end first": (swap_dates(), "start is after end in 12 rows", FEW),
    "future": (
        put("start", FEW, pd.Timestamp("2190-01-01")).rename(columns={"start": "created"}),
        "created is in the future",
        FEW,
    ),
    "totals": (break_totals(), "total_cost is not net_cost + tax_cost in 12 rows", FEW),
    "latitude": (give_coordinates(), "Impossible latitudes in 12 rows", FEW),
    "pounds": (
        scale("weight_kg", SOME, 2.2046),
        "weight_kg is in two units: 60 rows are about 2.2 times too large",
        SOME,
    ),
    "inches": (scale("height_cm", SOME, 1 / 2.54), "height_cm is in two units: 60 rows are about 2.54 times", SOME),
    "pounds at a site": (
        scale("weight_kg", TABLE["site"] == "Munich", 2.2046),
        "2.2 times too large, all where site is Munich",
        None,
    ),
    "thousands": (
        scale("income", SOME, 0.001),
        "income is in two units: 60 rows are about 1,000 times too small",
        SOME,
    ),
    "copied rows": (pd.concat([TABLE] * 3, ignore_index=True), "1,200 rows repeat an earlier row", None),
    "labels of copies": (contradict_labels(), "Rows with the same values have different labels: 80 rows", None),
}


@pytest.mark.parametrize("name", CONCERNS)
def test_a_defect_is_the_only_concern_and_shows_its_rows(name):
    frame, title, rows = CONCERNS[name]
    findings = [finding for finding in find(frame) if finding.level != "advice"]
    assert len(findings) == 1, [finding.title for finding in findings]
    assert title in findings[0].title
    if rows is not None:
        assert findings[0].cases == len(rows)
        assert [example.row for example in findings[0].examples] == sorted(rows.tolist())[:5]


ADVICE = {
    "constant": (TABLE.assign(unit="kg"), "1 column has the same value in every row: unit"),
    "copies": (
        TABLE.assign(
            inches=TABLE["height_cm"] / 2.54, place=TABLE["site"].astype("category").cat.codes, mass=TABLE["weight_kg"]
        ),
        "3 columns are copies of another one: inches (height_cm), mass (weight_kg) and place (site)",
    ),
    "rows": (pd.concat([TABLE, TABLE.iloc[:60]], ignore_index=True), "60 rows repeat an earlier row"),
    "one spelling": (
        put("site", [4], "berlin"),
        "One category of site is written in several ways: 'Berlin' and 'berlin'",
    ),
    "typing error": (put("site", [4, 5], "Hambrug"), "site may hold typing errors: 'Hambrug' (2) for 'Hamburg'"),
    "unknown": (put("site", SOME, "unknown"), "Texts stand for missing values in site"),
    "zero": (put("height_cm", SOME, 0), "0 may stand for a missing value in height_cm"),
    "separators": (
        TABLE.assign(income=TABLE["income"].map("{:,.0f}".format)),
        "income holds numbers as texts, such as",
    ),
    "text numbers": (TABLE.assign(income=TABLE["income"].map(str)), "Numbers are stored as texts in income"),
    "refunds": (put("amount", FEW, -20.5), "amount is negative in 12 rows"),
    "labels": (put("label", FEW, None), "12 rows have no label"),
    "missing": (put("income", range(400), np.nan), "1 column is missing in most rows: income"),
    "block": (put("income", range(300, 360), np.nan), "income is missing in 60 successive rows"),
    "order": (
        TABLE.sort_values("start").iloc[[5, *range(1, 5), 0, *range(6, ROWS)]].reset_index(drop=True),
        "The rows are sorted by start, except for",
    ),
    "gap": (
        TABLE.assign(start=pd.date_range("2020-01-01", periods=ROWS), end=2.0).drop(index=range(300, 330)),
        "start has a gap: 2020-10-26 to 2020-11-26",
    ),
    "dates twice": (
        TABLE.assign(start=pd.date_range("2020-01-01", periods=ROWS).to_numpy()[[*range(300), 299, *range(301, ROWS)]]),
        "start has 1 date more than once",
    ),
}


@pytest.mark.parametrize("name", ADVICE)
def test_what_is_worth_a_look_is_advice(name):
    frame, title = ADVICE[name]
    findings = find(frame)
    assert title in " | ".join(finding.title for finding in findings)
    assert {finding.level for finding in findings} == {"advice"}


def make_look_alikes():
    rng = np.random.default_rng(5)
    kind = rng.choice(["kestrel", "buzzard"], ROWS)
    is_large = kind == "buzzard"
    wing = np.where(is_large, 400, 180) * np.exp(rng.normal(0, 0.05, ROWS))
    numbers = TABLE.select_dtypes("number").columns
    sorted_days = np.sort(rng.integers(0, 365, ROWS))
    return {
        "good": TABLE,
        "standardised": TABLE.assign(
            **{name: (TABLE[name] - TABLE[name].mean()) / TABLE[name].std() for name in numbers}
        ),
        "one-hot": pd.get_dummies(TABLE.drop(columns=["start", "end"]), columns=["site", "smoker"], dtype=int),
        "species": pd.DataFrame(
            {"kind": kind, "wing": wing, "mass": np.where(is_large, 1100, 110) * np.exp(rng.normal(0, 0.1, ROWS))}
        ),
        "class": pd.DataFrame(
            {
                "marker": np.where(is_large, 1000, 1) * np.exp(rng.normal(0, 0.3, ROWS)),
                "other": rng.normal(size=ROWS),
                "label": kind,
            }
        ),
        "kinds without a name": pd.DataFrame({"wing": wing, "other": rng.normal(size=ROWS)}),
        "heavy tails": pd.DataFrame({"income": rng.pareto(1.1, ROWS) + 1, "cost": rng.lognormal(0, 2.5, ROWS)}),
        "codes": pd.DataFrame(
            {
                "rating": rng.choice([-1, 0, 1], ROWS),
                "grade": rng.choice(["A1", "A2", "a", "A", "A+", "A-"], ROWS),
                "zip": rng.choice(["01067", "10115", "80331", "50667"], ROWS),
                "size": rng.choice(["S", "M", "36", "38"], ROWS),
                "icd": rng.choice(["250.83", "V27", "428", "E11", "401.9", "V10", "V11", "V12", "V13", "V14"], ROWS),
                "answer": rng.choice(["yes", "no", "yes, old", "none", "male", "female"], ROWS),
            }
        ),
        "scores": pd.DataFrame(
            {
                "score": np.clip(rng.normal(70, 30, ROWS), 0, 100).round(),
                "temperature": rng.normal(2, 8, ROWS).round(),
                "balance_change": rng.normal(0, 500, ROWS),
                "growth_percent": rng.normal(80, 60, ROWS),
                "income": rng.normal(50, 22, ROWS),  # reaches below 0
            }
        ),
        "bands": pd.DataFrame(  # the curves of some rows are those of others, one band later
            np.exp(-np.square(np.arange(12) - rng.choice([4, 5, 6, 7], (ROWS, 1)))) + rng.normal(0, 0.05, (ROWS, 12))
        ),
        "few values": pd.DataFrame({name: rng.integers(0, 3, ROWS) for name in "abc"}),
        "equal dates": pd.DataFrame(
            {"day": pd.Timestamp("2024-01-01") + pd.to_timedelta(sorted_days, unit="D"), "x": rng.normal(size=ROWS)}
        ),
        "holes": TABLE.assign(income=TABLE["income"].mask(rng.random(ROWS) < 0.3)),
        "countries": pd.DataFrame(
            {"land": rng.choice(["Austria"] * 150 + ["Australia", "Iran", "Iraq", "Niger"], ROWS)}
        ),
    }


LOOK_ALIKES = make_look_alikes()


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_good_tables_raise_no_concern(name):
    assert [finding.title for finding in find(LOOK_ALIKES[name]) if finding.level != "advice"] == []


@pytest.mark.parametrize(
    "name", ["good", "standardised", "one-hot", "heavy tails", "few values", "equal dates", "countries"]
)
def test_good_tables_get_no_advice(name):
    assert [finding.title for finding in find(LOOK_ALIKES[name])] == []


def test_evidence_for_a_shift_equals_its_definition():
    rng = np.random.default_rng(2)
    codes, usual = rng.integers(0, 3, (40, 4)), rng.random(40) < 0.7
    for offset in (1, -1):
        evidence = measure_shift_evidence(codes, 3, offset, usual)
        for row, column in np.ndindex(evidence.shape):
            if not 0 <= column - offset < 4:
                assert evidence[row, column] == 0
                continue
            shares = [
                (np.sum(codes[usual, place] == codes[row, column]) + 0.5) / (usual.sum() + 1.5)
                for place in (column - offset, column)
            ]
            assert evidence[row, column] == pytest.approx(np.log(shares[0] / shares[1]))


def make_series(moved_from=None, moved_to=None, numeric=False, step=1):
    """Return answers and labels that mostly agree; the labels of some rows belong to the row before."""
    rng = np.random.default_rng(6)
    answers = rng.normal(50, 20, 300) if numeric else rng.integers(0, 2, 300).astype(float)
    labels = answers + rng.normal(0, 5, 300) if numeric else np.where(rng.random(300) < 0.1, 1 - answers, answers)
    if moved_from is not None:
        labels[moved_from:moved_to] = np.roll(labels, step)[moved_from:moved_to]
    return answers, labels


@pytest.mark.parametrize("numeric", [False, True], ids=["classes", "numbers"])
@pytest.mark.parametrize("step", [1, -1])
def test_labels_of_the_neighbouring_row(numeric, step):
    moved = search_moved_labels(*make_series(120, 240, numeric, step), numeric=numeric)
    assert moved is not None
    assert moved.step == -step
    assert abs(moved.start - 120) <= 10  # rows of equal answers do not tell
    assert abs(moved.stop - 240) <= 10
    assert moved.moved_error < moved.own_error


@pytest.mark.parametrize("numeric", [False, True], ids=["classes", "numbers"])
def test_labels_in_their_places(numeric):
    assert search_moved_labels(*make_series(numeric=numeric), numeric=numeric) is None
    assert search_moved_labels(*make_series(0, 300, numeric), numeric=numeric) is None  # the answers may be late
    assert search_moved_labels(*make_series(100, 110, numeric), numeric=numeric) is None  # by chance


def test_a_run_of_moved_labels_is_a_concern():
    model = LogisticRegression(max_iter=1000).fit(TABLE[["height_cm", "weight_kg"]], TABLE["label"])
    data = TABLE.assign(label=np.where(np.arange(ROWS) < 300, TABLE["label"], np.roll(TABLE["label"], 1)))
    result = dm.test(model, data, target="label", only=["answers", "table"], progress=False)
    [finding] = [finding for finding in result.findings if finding.level == "concern"]
    first, last = (int(number) for number in re.findall(r"rows (\d+) to (\d+)", finding.title)[0])
    assert finding.title.endswith("are those of the row before")
    assert abs(first - 300) <= 8
    assert last >= 580


@pytest.mark.parametrize(("reads", "level"), [(False, "concern"), (True, "advice")])
def test_texts_of_numbers_that_the_model_loses_are_a_concern(reads, level):
    data = TABLE[["income", "label"]].assign(income=TABLE["income"].map("{:,.0f}".format))

    def predict(frame):
        texts = frame["income"].astype(str)
        numbers = pd.to_numeric(texts.str.replace(",", "") if reads else texts, errors="coerce")
        return np.where(numbers.fillna(20_000) > 22_000, "ill", "healthy")

    result = dm.test(predict, data, target="label", only=["answers", "table"], progress=False)
    [finding] = [finding for finding in result.findings if finding.check == "table"]
    assert finding.level == level
    assert finding.title.startswith("income holds numbers as texts, such as '")
    assert finding.title.endswith(", which the model does not read") is not reads


def test_a_model_that_refuses_numbers_for_texts():
    data = TABLE[["income", "label"]].assign(income=TABLE["income"].map("{:,.0f}".format))

    def predict(frame):
        return np.where(frame["income"].str.len() > 2, "ill", "healthy")

    result = dm.test(predict, data, target="label", only=["answers", "table"], progress=False)
    assert [finding.level for finding in result.findings if finding.check == "table"] == ["advice"]
    assert {outcome.state for outcome in result.outcomes if outcome.check == "table"} == {"found"}


def test_numbers_of_which_some_have_separators_are_numbers():
    texts = TABLE["income"].where(TABLE.index % 20 == 0, TABLE["income"] % 1000).map("{:,.0f}".format)
    [finding] = find(TABLE.assign(income=texts))
    assert "income holds numbers as texts, such as" in finding.title
    assert "," in finding.title


def make_two_units(seed=0):
    """Return rows of which a third has the amount per month instead of per year, and the labels by year."""
    rng = np.random.default_rng(seed)
    income = np.exp(rng.normal(10, 0.4, ROWS))
    label = np.where(income * np.exp(rng.normal(0, 0.2, ROWS)) > np.exp(10), "yes", "no")
    in_months = np.arange(ROWS) % 3 == 0
    return pd.DataFrame({"income": np.where(in_months, income / 12, income).round(2), "label": label})


def decide(frame):
    return np.where(frame["income"] > np.exp(10), "yes", "no")


def test_labels_confirm_that_a_column_has_two_units():
    data = make_two_units()
    [finding] = find(data)
    assert finding.level == "advice"
    assert finding.title == "income may be in two units: 201 rows are about 12 times too small"
    result = dm.test(decide, data, target="label", only=["answers", "table"], progress=False)
    [finding] = [finding for finding in result.findings if finding.check == "table"]
    assert (finding.level, finding.title) == ("concern", finding.title.replace("may be", "is"))
    assert "the error falls from" in finding.detail
    by_value = data.assign(label=decide(data))  # labels that follow the values as they are
    result = dm.test(decide, by_value, target="label", only=["answers", "table"], progress=False)
    assert [finding.level for finding in result.findings if finding.check == "table"] == ["advice"]


def test_the_reference_shows_that_a_column_has_two_units():
    rng = np.random.default_rng(8)
    old, new = rng.normal(0, 1, (2, 400))
    mixed = np.where(np.arange(400) % 4 == 0, 100 * new, new)
    mixture = search_unit_mixture(old, mixed)
    assert mixture is not None
    assert mixture.factor == 100
    assert abs(mixture.share - 0.25) < 0.05
    assert np.mean(mixture.rows == (np.arange(400) % 4 == 0)) > 0.95
    others = [new, new + 1, 1.7 * new, 3 * new, np.where(np.arange(400) % 4 == 0, rng.normal(50, 5, 400), new)]
    assert [search_unit_mixture(old, values) for values in others] == [None] * 5
    reference = pd.DataFrame({"income": old})
    result = dm.test(None, pd.DataFrame({"income": mixed}), reference=reference, data_only=True, progress=False)
    assert [finding.title for finding in result.at_least("concern")] == [
        f"income is in two units: {mixture.rows.sum()} rows are about 100 times too large"
    ]


def test_a_natural_factor_between_categories_is_advice():
    """The price of a suite may be 2.5 times that of a room; the weights of one site may not."""
    rng = np.random.default_rng(0)
    area, kind = rng.uniform(20, 60, ROWS), rng.choice(["room", "room", "suite"], ROWS)
    price = area * np.where(kind == "suite", 2.54, 1) * np.exp(rng.normal(0, 0.05, ROWS))
    [finding] = find(pd.DataFrame({"area": area, "price": price, "kind": kind}))
    assert finding.level == "advice"
    [finding] = find(pd.DataFrame({"area": area, "price": price, "country": kind}))
    assert finding.level == "concern"


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("New York", " new-york", True),
        ("Zürich", "ZURICH", True),
        ("a b", "a_b.", True),
        ("A+", "A-", False),
        ("a", "A", False),
        ("10-20", "1020", False),
        ("<50", ">50", False),
        ("not", "note", False),
    ],
)
def test_spellings(first, second, same):
    assert (normalise(first) == normalise(second)) is same


def test_levels_do_not_depend_on_the_number_of_rows():
    for rows in (300, 3_000):
        frame = make_table(rows)
        frame.loc[frame.index % 20 == 0, "weight_kg"] *= 2.2046
        frame.loc[frame.index % 20 == 1, "site"] = "BERLIN"
        levels = sorted((finding.level, finding.about) for finding in find(frame))
        assert levels == [("concern", "site"), ("concern", "weight_kg")]


HOSTILE = {
    "one row": pd.DataFrame({"a": [1], "b": ["x"]}),
    "nothing": pd.DataFrame({"a": [np.nan] * 40, "b": [None] * 40}),
    "infinite": pd.DataFrame({"price": [np.inf, -np.inf, 1.0, 2.0] * 40}),
    "huge": pd.DataFrame({"a": [10**30, 1, 2, 3] * 40, "b": [2**63, 1, 5, 6] * 40}),
    "largest": pd.DataFrame({"height": np.linspace(-1, 1, 200) * 1.7e308, "width": np.linspace(1, 2, 200) ** 2}),
    "objects": pd.DataFrame({"a": [1, "x", None, (1, 2)] * 30, "b": [{}, [], 1, b"x"] * 30}),
    "types": pd.DataFrame(
        {
            "zone": pd.date_range("2020", periods=90, tz="Europe/Berlin"),
            "duration": pd.to_timedelta(range(90), unit="h"),
            "period": pd.period_range("2020", periods=90),
            "nullable": pd.array([1, None, 3] * 30, dtype="Int64"),
            "flag": pd.array([True, None, False] * 30, dtype="boolean"),
            "category": pd.Categorical(["x", "y", None] * 30),
            "complex": np.arange(90) * 1j,
        }
    ),
    "dates": pd.DataFrame({"d": [f"2021-01-{day:02d}" for day in range(1, 29)] + ["9999-12-31"] * 3 + ["2020-13-45"]}),
    "names": pd.DataFrame(np.arange(120.0).reshape(40, 3), columns=[1, None, "😀"]),
    "index": pd.DataFrame({"a": range(60)}, index=list("ab") * 30),
    "labels": pd.DataFrame({"a": range(60), "label": [np.nan] * 60}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tables_are_looked_at(name):
    frame = HOSTILE[name]
    result = dm.test(None, frame, target="label" if "label" in frame else None, data_only=True, progress=False)
    assert result.outcomes[0].state in ("passed", "found"), result.outcomes[0].why
    assert json.loads(result.to_json())["subject"] == "the data"


# -- with and without a model ------------------------------------------------------------------------------------------


def test_without_a_model_every_face_shows_the_findings():
    result = dm.test(None, CONCERNS["-999"][0], target="label", data_only=True, progress=False)
    assert [finding.title for finding in result.at_least("concern")] == ["-999 stands for a missing value in income"]
    assert (result.kind, result.calls, result.complete, result.passed) == ("no model: the data alone", 0, True, False)
    assert [outcome.check for outcome in result.outcomes] == ["table", "duplicates"]
    for text in (result.describe(), result.to_html(), result.to_markdown(), result.to_junit(), result.to_sarif()):
        assert "-999 stands for a missing value in income" in text
    assert type(result).from_json(result.to_json()) == result
    assert result.command().startswith("dm.test(None, data, target='label', data_only=True")
    with pytest.raises(UsageError, match="only data were tested"):
        result.to_pytest("test_data.py")


def test_a_column_that_identifies_rows_is_advice_without_a_model():
    frame = TABLE.assign(client=range(ROWS))
    [finding] = dm.test(None, frame, target="label", data_only=True, progress=False).findings
    assert (finding.level, finding.title) == ("advice", "1 column identifies rows: client")


def test_rows_of_the_reference_with_dates_are_recognised():
    result = dm.test(None, TABLE, target="label", reference=TABLE, data_only=True, progress=False)
    assert [finding.check for finding in result.findings] == ["duplicates"]


def test_arrays_are_tables_too():
    array = np.column_stack([TABLE["height_cm"], TABLE["weight_kg"]])
    array[FEW, 1] = -999
    result = dm.test(None, array, target=TABLE["label"], data_only=True, progress=False)
    assert [finding.title for finding in result.findings] == ["-999 stands for a missing value in x1"]


def test_with_a_model_only_its_columns_are_a_concern():
    model = LogisticRegression().fit(TABLE[["age", "visits"]], TABLE["label"])
    for column, level in (("age", "concern"), ("height_cm", "advice")):
        result = dm.test(model, put(column, FEW, -999), target="label", only="table", progress=False)
        [finding] = result.findings
        assert (finding.level, finding.columns) == (level, (column,))


def test_rows_of_a_sample_have_their_numbers_in_the_data(monkeypatch):
    monkeypatch.setattr("datamorphic.audit.options.MAX_ROWS", 200)
    frame = put("income", SOME, -999)
    [finding] = dm.test(None, frame, target="label", data_only=True, progress=False).findings
    assert {example.row for example in finding.examples} <= set(SOME.tolist())


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (None, {}, "There is no model to test"),
        (len, {"data_only": True}, "a model is given"),
        (None, {"data_only": True, "protected": "age"}, "protected= is about a model"),
        (None, {"data_only": True, "expect": {"invariant": ["age"]}}, "expect= is about a model"),
        (None, {"data_only": True, "classes": ["a", "b"]}, "classes= is about a model"),
        (None, {"data_only": True, "only": "leaks"}, "The check 'leaks' needs a model"),
        (None, {"data_only": True, "data": None}, "needs data"),
    ],
)
def test_wrong_combinations_say_what_to_do(model, options, message):
    with pytest.raises(ArgumentError, match=message):
        dm.test(model, **({"data": TABLE, "target": "label"} | options))


def test_a_wrong_target_is_refused():
    with pytest.raises(DataError, match="'labels' is not in the data"):
        dm.test(None, TABLE, target="labels", data_only=True)


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["good.csv", "--data-only", "--target", "label"], 0, "nothing wrong was found"),
        (["--data", "bad.csv", "--data-only", "--target", "label"], 1, "-999 stands for a missing value in income"),
        (["model.skops", "good.csv", "--data-only"], 2, "Leave MODEL out"),
        (["--data-only"], 2, "--data-only needs DATA"),
        (["good.csv", "--data-only", "--monotone", "age=up"], 2, "about a model"),
    ],
)
def test_the_command(arguments, code, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("good.csv", index=False)
    CONCERNS["-999"][0].to_csv("bad.csv", index=False)
    result = CliRunner().invoke(app, ["test", *arguments, "--store", "none"])
    assert result.exit_code == code, result.output
    assert text in " ".join(result.output.split())


def test_a_stored_run_can_be_repeated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("good.csv", index=False)
    words = ["test", "good.csv", "--data-only", "--target", "label", "--store", "runs.db", "--json"]
    document = json.loads(CliRunner().invoke(app, words).stdout)
    assert document["run"] == 1
    command = dm.results.AuditResult.from_json(json.dumps(document)).command()
    assert command == "datamorphic test good.csv --data-only --target label --seed 0"
