"""The studies repeat what is in print, within what chance allows, and show where print is wrong."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from datamorphic.errors import UsageError
from datamorphic.mutation import processes
from datamorphic.mutation.child import MutantOutcome, OriginalOutcome
from datamorphic.mutation.cross_validation import CrossValidationRules
from datamorphic.mutation.forge import SourceMutant
from datamorphic.mutation.kill_matrix import CRASHED, KILLED, SURVIVED, UNREACHED
from datamorphic.mutation.result import MutantResult, Mutation
from datamorphic.relations.learners.necessity import find_requirement
from datamorphic.studies import coded_classifiers as coded
from datamorphic.studies import explorations, mutants
from datamorphic.studies import learner_relations as promises
from datamorphic.studies import real_data as cases
from datamorphic.studies.catalogue import list_names, list_studies
from datamorphic.studies.published import published, tables
from datamorphic.studies.rows import Row
from datamorphic.studies.run import study
from datamorphic.studies.workload import SCALES, Workbench
from support.cases import LONG
from support.jobs import JobPoolHere
from support.studies import measure_jobs

SWAPPED = {"Sin 1": "Sin 2", "Sin 2": "Sin 1"}  # in Tables 10 to 12 of document 000
SMALL = {"Box 1", "Triangle 1"}
OF_DATA = {"redwine", "redwine_fault", "mushroom", "bank", "models", "speed", "000-4", "000-6", "000-7"} | {
    f"000-{number}" for number in range(13, 26)
}
#: run in a test of their own: processes and a JVM take seconds to start, so this is done once
APART = {"promises", "mutants", *(table for table in tables() if table.startswith("003-"))}
#: in test_tree_studies.py
APART |= {
    "trees",
    "tree_tests",
    "tree_training",
    "tree_boundaries",
    *(table for table in tables() if table.startswith("004-")),
}
#: in test_group_studies.py
APART |= {"002-6", "simulation", "input_domains", "groups", "regions", "selection", "new_generators"}
APART |= {table for table in tables() if table.startswith("002-")}
#: in tests/studies: some of their relations or figures are ours alone, so nothing is published beside them
APART |= {
    "effectiveness",
    "subdomains",
    "routes",
    "translations",
    "generation_time",
    "further_measures",
    "region_kinds",
    "selection_k",
}
#: in test_credit_studies.py
APART |= {"credit_models", "credit_wrongness", "credit_constraints", "german_credit"}


def means(table, cause="none", **scale):
    """A table's means over the numbers of walks, with a cause or without: {(subject, measure): (theirs, ours)}."""
    bench = Workbench(replace(SCALES["full"], **scale), causes=cause)
    coded.build_walks_table(table, bench)
    measure_jobs(bench, table)
    figures = {}
    for row in coded.build_walks_table(table, bench):
        subject, _, place = row.row.partition(", ")
        if place.startswith("mean"):
            figures[subject, row.column] = (row.published, row.ours if cause == "none" else row.ours_with_cause)
    return figures


@pytest.mark.parametrize("small", [True, False])
def test_random_target_is_as_published(small):
    """Where a class is small, chance has more to say: more repetitions than the ten that were published.

    With ten, the cost of Triangle 1 missed 000-12 by 4.4%: that table's own sample of it is high (8.3 % where the
    areas give 7.6%).
    """
    subjects = [subject for subject in SCALES["full"].subjects if (subject in SMALL) == small]
    repetitions = (40 if LONG else 10) if small else 6 if LONG else 1
    for table in ("001-4", "000-12"):  # of the same measurements
        figures = means(table, subjects=subjects, repetitions=repetitions)
        assert len(figures) == len(subjects) * (2 if table == "001-4" else 3)
        for (subject, measure), (theirs, ours) in figures.items():
            if table == "000-12" and subject in SWAPPED:
                theirs = figures[SWAPPED[subject], measure][0]
            if measure == "capability":
                assert ours == pytest.approx(theirs, abs=2), (table, subject)
            elif measure == "cost":
                assert ours == pytest.approx(theirs, rel=0.03 if LONG else 0.05), (table, subject)


def test_walks_that_succeed_at_their_first_step_only_are_the_published_directed_walk():
    subjects = SCALES["full"].subjects[:: 1 if LONG else 3]
    figures = means("001-1", "first_step", repetitions=10 if LONG else 2, subjects=subjects)
    assert len(figures) == 2 * len(subjects)
    for (subject, measure), (theirs, ours) in figures.items():
        assert ours == pytest.approx(theirs, rel=0.1), (subject, measure)


def test_directed_walk_as_written_finds_far_more():
    figures = means("001-1", repetitions=1, subjects=("Box 1", "Line 2"), walks=(200, 400))
    for subject in ("Box 1", "Line 2"):
        theirs, ours = figures[subject, "mutants"]
        assert ours > 2 * theirs


def test_random_walk_with_a_growing_pool_is_as_published():
    """At 1,200 walks, where the pool has grown most. One repetition; the long form has six.

    Not at every number of walks: with 200 and 400 walks single figures are up to a tenth lower than published, as
    they are for one walk after the other.
    """
    subjects = ("Box 1", "Sin 2") if LONG else ("Box 1",)
    bench = Workbench(replace(SCALES["full"], slow=6 if LONG else 1, subjects=subjects, growing=(1200,)))
    coded.build_walks_table("001-2", bench)
    measure_jobs(bench, "001-2")
    rows = [row for row in coded.build_walks_table("001-2", bench) if row.column == "mutants"]
    assert len(rows) == len(subjects)
    for row in rows:
        assert row.ours == pytest.approx(row.published, rel=0.05), row


def test_a_fixed_pool_is_what_document_000_had():
    subjects = ("Box 1", "Line 1") if LONG else ("Line 1",)
    figures = means("000-10", repetitions=2 if LONG else 1, subjects=subjects)
    for subject in subjects:
        theirs, ours = figures[subject, "capability"]
        assert ours == pytest.approx(theirs, abs=3)


def test_a_faulty_midpoint_hides_most_of_the_border_of_neighbours(real_data):
    real_data("red_wine")
    bench = Workbench(replace(SCALES["tiny"], targets=(900 if LONG else 300,)))
    cases.build_fault_table("000-17", bench)
    measure_jobs(bench, "redwine_fault")
    rows = cases.build_fault_table("000-17", bench)
    assert {(row.row, row.published) for row in rows} == {("KNN", 21.37)}
    knn = {row.column: row.ours for row in rows}
    assert knn["capability, right midpoint"] == pytest.approx(64, abs=3 if LONG else 6)
    assert 21 < knn["capability, faulty midpoint"] < 45
    assert knn["capability, faulty midpoint, new pairs"] < 21


@pytest.mark.parametrize("data", [(), ("red_wine", "mushroom", "bank_churners")], ids=["coded", "data"])
def test_every_study_runs(real_data, data, monkeypatch):
    """Together, because studies share their measurements."""
    for name in data:
        real_data(name)
    small = {"models": ("NB",), "rows": (1,), "products": 300, "search_groups": 5}
    if not LONG:
        monkeypatch.setitem(SCALES, "tiny", replace(SCALES["tiny"], **small))
        monkeypatch.setattr(explorations, "FOLDS", 2)
    for name in list_names():
        if name not in APART and (name in OF_DATA) == bool(data):
            sound(study(name, scale="tiny", progress=False))


def sound(result):
    rows = result.rows
    assert rows.columns.tolist() == [*Row._fields, "verdict"]
    assert Row._fields[:7] == ("row", "column", "published", "ours", "note", "margin", "trials")
    assert len(rows)
    assert not rows.duplicated(["row", "column"]).any()
    assert not rows[["published", "ours"]].isna().any(axis=None)
    assert (rows["ours"] >= 0).all()
    text = result.describe()
    assert result.title in text
    assert "nan" not in text
    assert all(f"[{k}]" in text for k in range(1, text.count("\n[") + 1))


def test_scikit_learn_keeps_what_it_must_and_ties_are_as_published(monkeypatch):
    inputs = 12 if LONG else 6
    monkeypatch.setitem(SCALES, "tiny", replace(SCALES["tiny"], inputs=inputs))
    result = study("promises", scale="tiny", progress=False)
    sound(result)
    assert f"{inputs} inputs per relation" in result.heading
    ours = {(row.row, row.column): row.ours for row in result.rows.itertuples()}
    for (relation, column), rate in ours.items():
        if column.startswith("scikit-learn") and find_requirement(relation, promises.make_learner(column)).necessary:
            assert rate == 0, (relation, column)
    assert ours["MR-1.1", "scikit-learn KNN(3)"] > 0  # ties, as published
    assert ours["MR-5.2", "scikit-learn GaussianNB"] > 0


@pytest.mark.parametrize("missing", ["", "Weka is not found."])
def test_weka_stands_beside_scikit_learn_where_it_is(monkeypatch, missing):
    """Planned, not done: no Java is started."""
    monkeypatch.setattr(promises, "explain_missing_weka", lambda: missing)
    bench = Workbench(SCALES["full"])
    rows = promises.build_rate_table("003-1", bench)
    columns = {row.column for row in rows}
    assert len(rows) == 11 * len(columns) == 11 * (3 if missing else 6)
    assert ("Weka NaiveBayes" in columns) != bool(missing)
    assert all((promises.NO_WEKA_NOTE in row.note) == bool(missing) for row in rows)
    assert {job.inputs for job in bench.figures_by_job} == {300}
    by_place = {(row.row, row.column): row for row in rows}
    assert promises.NECESSARY_NOTE in by_place["MR-1.1", "scikit-learn KNN(1)"].note
    assert "a tied vote" in by_place["MR-1.1", "scikit-learn KNN(3)"].note


def test_both_tables_of_a_learner_share_one_mutation_run_as_large_as_published():
    """Planned, not done."""
    bench = Workbench(SCALES["full"])
    for table, make in (("003-6", mutants.build_kill_table), ("003-8", mutants.build_cross_validation_table)):
        assert all(math.isnan(row.ours) for row in make(table, bench))
    (job,) = bench.figures_by_job
    assert (job.subject, job.mutants, job.inputs, job.compared, job.sets) == ("kNN", None, 300, 10_000, 300)
    assert "all mutants, 300 inputs per relation, 10,000 compared, 300 data sets per rule" in mutants.format_amount(
        bench.scale
    )


def test_mutants_are_killed_and_missed(monkeypatch):
    monkeypatch.setattr(processes, "JobPool", JobPoolHere)
    result = study("003-9", scale="tiny", progress=False)
    sound(result)
    ours = result.rows.set_index(["row", "column"])["ours"]
    assert ours["original, Rule-1", "error, %"] == pytest.approx(80, abs=12)
    assert ours["original, Rule-2", "error, %"] < 5
    assert ours["mutants that differ", "killed by relations, %"] > 0


def made_mutation(subject, fates):
    """A mutation run of which all is known: by mutant its operator, state, violations of 10 judged, labels, errors."""
    relations = [
        (("NBC" if subject == "NBC" else mutants._choose_learner(name)), name)
        for name in mutants.find_relations(subject)
    ]
    relations.append((relations[-1][0], "sample order"))
    tried = []
    for number, (operator, state, violated, different, error) in enumerate(fates, 1):
        counts = {key: violated.get(key[1], 0) for key in relations}
        errors = dict.fromkeys(mutants.LEARNERS[subject], (0.8, error, 0.0))
        fate = MutantOutcome(
            violation_counts=counts,
            judged_counts=dict.fromkeys(relations, 10),
            undefined_count=0,
            different_count=different,
            errors=errors,
        )
        tried.append(MutantResult(SourceMutant(f"v{number}", operator, 1, 0, "a", "b", "", (1, 1)), state, fate))
    learners = {name: [relation for own, relation in relations if own == name] for name in mutants.LEARNERS[subject]}
    errors = dict.fromkeys(learners, (0.8, 0.05, 0.01))
    own = OriginalOutcome(
        relations=learners,
        violating_cases=dict.fromkeys(relations, frozenset()),
        judged_counts=dict.fromkeys(relations, 10),
        labels={},
        lines=frozenset(),
        traces={},
        errors=errors,
    )
    return Mutation(
        program=subject, results=tried, original=own, inputs=10, compared=100, rules=CrossValidationRules(1)
    )


@pytest.mark.parametrize("subject", ["kNN", "NBC"])
def test_shares_are_of_the_mutants_that_differ(monkeypatch, subject):
    fates = [
        ("AOR", KILLED, {"MR-0": 5, "MR-1.1": 1}, 3, 0.5),  # by both
        ("CRP", KILLED, {"MR-0": 1}, 1, 0.1),  # cross-validation misses it
        ("ROR", KILLED, {"sample order": 2}, 1, 0.1),  # by a relation that the study has not
        ("AOR", SURVIVED, {}, 4, 0.1),
        ("AOR", SURVIVED, {}, 0, 0.1),  # perhaps equivalent
        ("RSR", UNREACHED, {}, 0, 0.1),
        ("RSR", CRASHED, {"MR-0": 9}, 9, 0.9),
    ]
    monkeypatch.setattr(mutants, "mutate", lambda *_, **__: made_mutation(subject, fates))
    bench = Workbench(SCALES["tiny"], seed=1000)  # no other test measures with this seed
    kills, rivals = {"kNN": ("003-6", "003-8"), "NBC": ("003-7", "003-9")}[subject]
    mutants.build_kill_table(kills, bench)
    measure_jobs(bench, kills)
    rows = [*mutants.build_kill_table(kills, bench), *mutants.build_cross_validation_table(rivals, bench)]
    ours = {(row.row, row.column): row.ours for row in rows}
    zero, one = ("MR-0, k = 3", "MR-1.1, k = 1") if subject == "kNN" else ("MR-0", "MR-1.1")
    number = len(mutants.find_relations(subject))
    expected = {
        (zero, "killed, %"): 50,
        (zero, "mean violation, %"): 15,
        (one, "killed, %"): 25,
        ("all, every necessary relation", "killed, %"): 75,
        ("all, the study's relations", "killed, %"): 50,
        ("all, the study's relations", "mean violation, %"): 100 * 0.7 / (4 * number),
        ("all, mutants of the study's operators", "killed, %"): 100 * 2 / 3,
        ("all, equivalent mutants, too", "killed, %"): 50,
        ("mutants that relations kill", "missed by cross-validation, %"): 100 * 2 / 3,
        ("mutants that differ", "killed by relations, %"): 75,
        ("mutants that differ", "killed by cross-validation, %"): 25,
        ("original, Rule-1.5", "error, %" if subject == "NBC" else "error, %, k = 3"): 5,
    }
    assert {place: ours[place] for place in expected} == pytest.approx(expected)
    theirs = {(row.row, row.column): row.published for row in rows}
    assert theirs["all, every necessary relation", "killed, %"] == pytest.approx(
        {"kNN": 90.5, "NBC": 90.9}[subject], abs=0.05
    )
    assert theirs["all, the study's relations", "mean violation, %"] == pytest.approx(
        {"kNN": 4.2, "NBC": 13.2}[subject], abs=0.05
    )
    assert theirs["mutants that relations kill", "missed by cross-validation, %"] == pytest.approx(
        {"kNN": 31.6, "NBC": 40.0}[subject], abs=0.05
    )


def test_every_table_has_a_study():
    listing = list_studies()
    assert listing.columns.tolist() == ["name", "title", "compares", "figures", "verdict"]
    assert set(tables()) < set(listing["name"])
    assert listing["name"].tolist() == list_names()
    assert listing["title"].str.len().min() > 10


def test_a_full_study_has_every_figure_in_print():
    """Planned, not done: nothing is measured."""
    for table in ("001-1", "000-10", "001-5"):
        frame = published(table)
        bench = Workbench(SCALES["full"])
        rows = coded.build_summary_table(table, bench) if table == "001-5" else coded.build_walks_table(table, bench)
        plain = [row for row in rows if "mean" not in row.row]
        assert sorted(row.published for row in plain) == sorted(frame["published"])
        assert all(math.isnan(row.ours) for row in rows)
        assert bench.figures_by_job


def test_the_same_seed_gives_the_same_figures():
    first, again = (study("001-4", scale="tiny", seed=3, progress=False).rows for _ in range(2))
    assert first.equals(again)
    assert not first.equals(study("001-4", scale="tiny", seed=4, progress=False).rows)
    both = study("random_target", scale="tiny", seed=3, progress=False).rows
    assert both["ours"].tolist()[: len(first)] == first["ours"].tolist()  # whatever it is part of


def test_a_long_study_tells_first_how_long(capsys):
    bench = Workbench(replace(SCALES["tiny"], repetitions=2, walks=(200, 400)), seed=9)
    coded.build_walks_table("001-4", bench)
    measure_jobs(bench, "001-4", print_estimate=True)
    assert "001-4: about " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "red_wine"}, r"There is no study 'red_wine'. Did you mean 'redwine'\?"),
        ({"name": "000-3"}, r"Table 000-3 .* is not computed"),
        (
            {"name": "001-4", "scale": "huge"},
            r"'scale' parameter of study must be one of 'tiny', 'small', 'medium', 'full'",
        ),
        ({"name": "001-4", "seed": -1}, r"'seed' parameter of study must be an int in the range \[0, inf\)"),
    ],
)
def test_wrong_use_is_told(options, words):
    with pytest.raises(UsageError, match=words):
        study(**options)
