"""The published figures agree with each other, apart from the misprints that are listed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from datamorphic.errors import UsageError
from datamorphic.relations.necessity import stance
from datamorphic.studies.published import ERRATA, erratum, misprints, published, tables
from datamorphic.verdicts.rival import passes

#: a row of figures is spread over these tables
STUDIES = [
    *([name] for name in ("001-1", "001-2", "001-3", "001-4", "000-9", "000-10", "000-11", "000-12")),
    *([f"000-{first + k}" for k in range(4)] for first in (14, 18, 22)),
]
#: Tables 17, 21 and 25 count a directed walk for each row and direction, the others for each row
DIRECTIONS = {"red_wine": 22, "mushroom": 44, "bank_churners": 38}
PLACE = ["strategy", "data", "subject", "walks", "seeds"]


def with_rows(frame):
    """The number of walks as the other tables have it, and how many ways each of them went."""
    directed = frame["strategy"] == "directed_walk"
    ways = np.where(directed, [DIRECTIONS.get(name, 1) for name in frame["data"]], 1)
    rows = frame["walks"].to_numpy(float) / np.where(frame["measure"] == "capability", ways, 1)
    return frame.assign(walks=np.round(rows / 100) * 100, ways=ways)  # Table 21 prints 4000 for 44 x 100


def wide(names):
    frame = pd.concat([published(name) for name in names])
    frame = with_rows(frame[frame["walks"].notna()].fillna({"seeds": 0}))
    return frame.pivot(index=[*PLACE, "ways"], columns="measure", values="published").reset_index()


def listed(names):
    """Where a misprint is known, whatever the measure."""
    rows = misprints()
    rows = with_rows(rows[rows["table"].isin(names) & rows["walks"].notna()])
    return set(rows[["strategy", "subject", "walks"]].itertuples(index=False, name=None))


def contradicts(row):
    runs, mutants, cost, capability = (
        row.get(each, math.nan) for each in ("runs", "mutants", "cost", "capability")
    )
    walks = row["walks"] * row["ways"]
    if math.isnan(mutants):  # cut off: as many as the capability says, within its rounding
        low, high = (runs / (capability + error) / walks * 50 for error in (0.0051, -0.0051))
        return cost < low - 0.0051 or cost > high + 0.0051  # never so where one is missing
    return (mutants > 0 and abs(runs / mutants - cost) > 0.0051) or abs(mutants / walks * 50 - capability) > 0.0051


@pytest.mark.parametrize("names", STUDIES, ids=lambda names: names[0])
def test_cost_and_capability_follow_from_runs_and_mutants(names):
    known = listed(names)
    found = set()
    for _, row in wide(names).iterrows():
        if row["subject"] in ("SVM", "SVM2") and row["data"] == "bank_churners":
            continue  # no pair at all
        if names == ["000-11"] and row["subject"] == "Triangle 1":
            assert erratum("000-11", subject="Triangle 1", measure="capability")
            row = row.drop("capability")
        if contradicts(row):
            found.add((row["strategy"], row["subject"], row["walks"]))
    assert found <= known


@pytest.mark.parametrize("number", range(14, 26))
def test_totals_and_means_follow_from_the_rows(number):
    frame = published(f"000-{number}")
    wrong = misprints()
    wrong = set(
        wrong[wrong["table"] == f"000-{number}"][["strategy", "subject"]].itertuples(index=False, name=None)
    )
    for place, group in frame.groupby(["strategy", "subject"]):
        values = group[group["walks"].notna()]["published"]
        for _, row in group[group["walks"].isna()].iterrows():
            kind = row["measure"].split()[-1]
            if place in wrong or values.isin([math.inf]).any():
                continue
            assert len(values) == 10
            ours = {"total": values.sum(), "mean": values.mean(), "stdev": values.std()}[kind]
            assert ours == pytest.approx(row["published"], abs=0.051 if kind == "total" else 0.016), (place, row)


@pytest.mark.parametrize(
    ("table", "where", "value"),
    [
        ("001-1", {"subject": "Triangle 2", "walks": 200, "measure": "runs"}, 4221.6),
        ("001-2", {"subject": "Sin 2", "walks": 1200, "measure": "mutants"}, 2006.8),
        ("001-5", {"subject": "all", "strategy": "random_walk"}, 18.41),
        ("000-1", {"subject": "Sin 2", "strategy": "random_walk", "measure": "capability"}, 60.54),
        ("000-4", {"data": "mushroom", "strategy": "random_walk", "measure": "cost max"}, 488.5),
        ("000-5", {"subject": "all", "strategy": ""}, 2742.15),
        ("000-6", {"subject": "SVM", "strategy": ""}, 107.94),
        ("000-7", {"data": "bank_churners", "strategy": "directed_walk"}, 102.47),
        ("000-11", {"subject": "Circle 2", "seeds": 1000, "measure": "cost"}, 26.29),
        ("000-13", {"data": "mushroom", "subject": "NB", "measure": "accuracy"}, 70.78),
        ("000-15", {"subject": "NB", "strategy": "random_walk", "walks": 100}, 181.0),
        ("000-20", {"subject": "NB", "strategy": "random_target", "measure": "cost mean"}, math.inf),
        ("000-25", {"subject": "SV", "strategy": "directed_walk", "walks": 19000}, 43.03),
        ("003-1", {"subject": "kNN", "measure": "MR-4.1"}, 25.3),
        ("003-6", {"subject": "v9", "measure": "MR-4.1"}, 41.7),
        ("003-7", {"subject": "v20", "measure": "MR-NBC"}, 0.3),
        ("003-8", {"subject": "v1", "measure": "Rule-1.5"}, 10.6),
        ("003-9", {"subject": "v21", "measure": "Rule-2"}, 5.4),
    ],
)
def test_spot_values(table, where, value):
    frame = published(table)
    for column, wanted in where.items():
        frame = frame[frame[column] == wanted]
    assert frame["published"].tolist() == [value]


def by_subject(table):
    frame = published(table)
    return frame.pivot(index="subject", columns="measure", values="published")


@pytest.mark.parametrize(("table", "killed", "mutants", "mean"), [("003-6", 19, 21, 4.2), ("003-7", 20, 22, 13.2)])
def test_kills_and_the_mean_violation_rate_follow_from_the_mutants(table, killed, mutants, mean):
    frame = by_subject(table)
    assert (frame.loc["original"] == 0).all()
    each = frame.drop(["original", "all"])
    assert len(each) == killed
    assert (each.max(axis=1) > 0).all()
    assert each.to_numpy().sum() / (mutants * len(each.columns)) == pytest.approx(mean, abs=0.05)
    counted = (each > 0).sum()
    wrong = counted[counted != frame.loc["all"]]
    known = misprints()
    known = known[known["table"] == table]
    assert dict(wrong) == {row.measure: int(row.fits) for row in known.itertuples()}


@pytest.mark.parametrize(("table", "killing", "survivors"), [("003-8", "003-6", 6), ("003-9", "003-7", 8)])
def test_one_rule_gives_every_verdict_of_cross_validation(table, killing, survivors):
    frame = by_subject(table)
    rates = frame[["Rule-1", "Rule-1.5", "Rule-2"]] / 100
    passed = rates.apply(lambda row: passes(tuple(row)), axis=1)
    assert passed["original"]
    mutants = frame.drop("original")
    assert set(mutants.index) == set(by_subject(killing).index) - {"original", "all"}
    assert (passed[mutants.index] == (mutants["killed"] == 0)).all()
    assert passed[mutants.index].sum() == survivors


@pytest.mark.parametrize(("subject", "learner"), [("kNN", KNeighborsClassifier(3)), ("NBC", GaussianNB())])
def test_what_the_document_calls_necessary_is_necessary_here(subject, learner):
    figures = by_subject("003-1").loc[subject]
    relations = [name for name in figures.index if not name.endswith("necessary")]
    theirs = {name for name in relations if figures[f"{name} necessary"]}
    ours = {name for name in relations if stance(name, learner).necessary}
    assert len(relations) == 11
    # the document could neither prove nor disprove it
    assert ours - theirs == ({"MR-3.1"} if subject == "NBC" else set())
    assert theirs <= ours


@pytest.mark.parametrize("table", tables())
def test_tables_are_tidy(table):
    frame = published(table)
    assert list(frame.columns) == [*PLACE, "measure", "published"]
    assert set(frame["strategy"]) <= {"random_target", "directed_walk", "random_walk", ""}
    assert not frame.duplicated([*PLACE, "measure"]).any()
    assert (frame.loc[frame["measure"] != "t", "published"] >= 0).all()
    assert not frame["subject"].eq("").any()


def test_misprints_and_errata_name_figures_that_exist():
    for row in misprints().itertuples():
        frame = published(row.table)
        same = (
            (frame["strategy"] == row.strategy) & (frame["subject"] == row.subject) & (frame["data"] == row.data)
        )
        at = frame["walks"].isna() if pd.isna(row.walks) else frame["walks"] == row.walks
        assert len(frame[same & at & (frame["measure"] == row.measure)]) == 1, row
    for each in ERRATA:
        for table in each.tables.split(","):
            frame = published(table)
            for field in ("strategy", "data", "subject"):
                if getattr(each, field):
                    assert set(getattr(each, field).split(",")) & set(frame[field]), each


def test_errata():
    assert "random target" in erratum("000-9", "directed_walk", "Box 1", "cost")
    assert "first step" in erratum("001-1", "directed_walk", "Box 1", "cost")
    assert "swapped" in erratum("000-1", "random_walk", "Sin 1", "cost")
    assert erratum("000-1", "random_walk", "Sin 1", "capability") == ""
    assert "never reached" in erratum("000-25", "random_walk", "DT", "capability")
    assert erratum("000-25", "random_target", "DT", "capability") == ""
    assert "never reached" not in erratum("000-4", "random_walk", "all", "cost max", data="mushroom")
    assert "233500" in erratum("000-14", "directed_walk", "NB", "runs", walks=600)
    assert "at 600 walks" in erratum("000-14", "directed_walk", "NB", "runs")
    assert "contradict" in erratum("000-20", "random_walk", "DT", "cost", walks=400)
    assert "first class" in erratum("003-8", subject="original", measure="Rule-2")
    assert erratum("003-8", subject="original", measure="Rule-1") == ""
    assert "give 12" in erratum("003-6", subject="all", measure="MR-5.2")


@pytest.mark.parametrize("ask", [published, erratum])
def test_unknown_tables_are_answered_with_the_known_ones(ask):
    with pytest.raises(UsageError, match=r"There is no published table '000-2'. There are: 000-1, .*001-5"):
        ask("000-2")
