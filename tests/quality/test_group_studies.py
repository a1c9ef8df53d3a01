"""The studies of groups: each runs, stands beside what is in print, and repeats what it can repeat."""

from __future__ import annotations

import json
import math
from functools import cache, partial

import numpy as np
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.hunting.measures import cohens_d, welch_p
from datamorphic.studies import group_selection, group_simulations, groups
from datamorphic.studies import stand_in_mutants as stand_ins
from datamorphic.studies.catalogue import list_names
from datamorphic.studies.group_spreads import Pairing, Spreading
from datamorphic.studies.group_trials import (
    ONE,
    SLOW,
    THREE,
    Hunting,
    SelectingSimulated,
    Simulating,
    compute_effect,
    compute_p_value,
    make_simulated_relation,
)
from datamorphic.studies.page import build_page
from datamorphic.studies.published import published, tables
from datamorphic.studies.rows import Row
from datamorphic.studies.run import study
from datamorphic.studies.workload import SCALES, Workbench, make_seed_sequence
from support.studies import measure_jobs

#: tables of patterns and of credit models
OF_OTHER_TESTS = {f"002-{number}" for number in (1, 2, 4, 10, *range(14, 20), *range(32, 40))}
OURS = [
    "002-6",
    "simulation",
    "input_domains",
    "groups",
    "regions",
    "selection",
    "new_generators",
    *(table for table in tables() if table.startswith("002-") and table not in OF_OTHER_TESTS),
]
PRINTED = [table for table in OURS if table in tables()]


@cache
def run_tiny(name):
    """Run a study once for all tests that only read it."""
    return study(name, scale="tiny", progress=False)


def test_every_study_runs():
    """Together, because studies share their measurements."""
    for name in OURS:
        result = run_tiny(name)
        rows = result.rows
        assert rows.columns.tolist() == [*Row._fields, "verdict"], name
        assert not rows.duplicated(["row", "column"]).any(), name
        assert rows["ours"].notna().any(), name  # not all: ended trials have no effect
        text = result.describe()
        assert result.title in text
        assert "nan" not in text, name


def planned(table, scale="full"):
    """The rows of a table without figures of ours: nothing is measured."""
    bench = Workbench(SCALES[scale])
    make = {
        "002-3": group_selection.build_program_table,
        "002-5": groups.build_effect_table,
        "002-7": groups.build_spread_table,
        "002-8": group_simulations.build_classic_time_table,
        "002-9": group_simulations.build_classic_table,
        "002-11": groups.build_effect_table,
        "002-12": groups.build_time_table,
        "002-13": groups.build_spread_table,
        "002-27": group_selection.build_selection_table,
        "002-28": group_selection.build_selection_table,
    }.get(table, group_selection.build_region_table if int(table[4:]) < 27 else group_selection.build_pairing_table)
    return make(table, bench), bench


@pytest.mark.parametrize("table", PRINTED)
def test_a_full_study_has_every_figure_in_print(table):
    rows, bench = planned(table)
    theirs = published(table)
    if table in ("002-5", "002-27", "002-28"):  # kinds of regions say which mutant of ours stands beside
        theirs = theirs[~theirs["measure"].isin(stand_ins.KINDS)]
    figures = [row.published for row in rows if not row.column.startswith(("our ", "F-measure of MT-RT"))]
    finite = sorted(item for item in figures if math.isfinite(item))
    assert finite == sorted(their for their in theirs["published"] if math.isfinite(their))
    assert table == "002-3" or bench.figures_by_job
    trials = {
        job.trials
        for job in bench.figures_by_job
        if isinstance(job, Hunting | Simulating) and job.generator not in SLOW
    }
    assert trials <= {10_000}


def test_relations_in_print_are_found():
    for table in ("002-27", "002-29"):
        for row in published(table).itertuples():
            program = row.subject.partition(" mutant ")[0]
            if row.strategy:
                assert set(stand_ins.parse_relations(row.strategy)) <= set(dm.programs[program].shared())
    assert stand_ins.parse_relations("Sin1-Sin2 + Sin5") == ("Sin1", "Sin2", "Sin5")


def test_who_stands_beside_has_the_same_kind_and_the_known_two_are_known():
    beside = stand_ins.choose_stand_ins_for_table("002-5")
    assert (beside["tanh mutant 3"].mutant, beside["tanh mutant 4"].mutant) == ("emu10", "branch3.1")
    for subject in ("Sin mutant 1", "BesselJ mutant 8", "TriSquare mutant 12"):
        program, _ = stand_ins.parse_subject(subject)
        _, relation = stand_ins.RELATIONS[program]
        regions = dm.programs[program].regions.set_index(["mutant", "relation"])
        assert regions.loc[(beside[subject].mutant, relation), "kind"] == stand_ins.find_region_kinds("002-5")[subject]
    assert "not published" in beside["Sin mutant 1"].note


def test_mutants_that_differ_in_print_differ_as_far_as_there_are_others():
    for program in ("Sin", "sncndn"):
        used = [stand_in.mutant for stand_in in stand_ins.choose_stand_ins_for_program(program).values()]
        assert len(set(used)) >= 2, (program, used)


def measured(*jobs):
    bench = Workbench(SCALES["tiny"])
    for job in jobs:
        bench.figure(job, "seconds")
    measure_jobs(bench)
    return bench


def test_trials_are_those_of_hunt():
    """In larger steps, with the same groups: so F-measures are the same, and what is made of them."""
    tanh = dm.programs["tanh"]
    relation, mutant = tanh.relations["tripling"], tanh.mutants["emu10"]
    jobs = [Hunting("tanh", "emu10", "tripling", name, 20, 5_000, 0.0105) for name in ("MT-BART", "MT-RT")]
    bench = measured(*jobs)
    seeds = [int(make_seed_sequence(job, 0, 0).generate_state(1)[0]) for job in jobs]
    measures = [
        dm.hunt(mutant, relation, job.generator, budget=5_000, trials=20, seed=seed, progress=False).measured
        for job, seed in zip(jobs, seeds, strict=True)
    ]
    assert [bench.figure(job, "mean") for job in jobs] == [item.mean for item in measures]
    assert compute_effect(bench, *jobs).value == pytest.approx(cohens_d(*measures))
    assert compute_p_value(bench, *jobs).value == pytest.approx(welch_p(*measures))


def test_min_wins_on_one_mutant_of_tanh_and_loses_on_the_other():
    """The input-domain difference problem; the full study has 10,000 trials."""
    ways = {
        (mutant, name): Hunting("tanh", mutant, "tripling", name, trials, 20_000, rate)
        for mutant, trials, rate in (("emu10", 40, 0.0105), ("branch3.1", 12, 0.0015))
        for name in ("MT-RT", "SFIDMT-ART", "MT-ART-Min")
    }
    bench = measured(*ways.values())
    mean = {key: bench.figure(job, "mean") for key, job in ways.items()}
    assert mean["emu10", "MT-ART-Min"] < 0.6 * mean["emu10", "MT-RT"]
    assert mean["emu10", "MT-ART-Min"] < mean["emu10", "SFIDMT-ART"]
    assert mean["branch3.1", "MT-ART-Min"] > mean["branch3.1", "SFIDMT-ART"]


def test_the_raw_count_starves_relations_with_few_follow_ups():
    jobs = [
        SelectingSimulated(name, (ONE, THREE, THREE), 0, "block", 0.02, 2, 3, 80, 20_000)
        for name in ("MRGS-ART", "MRGS-ART-fair")
    ]
    bench = measured(*jobs)
    raw, fraction = (bench.figure(job, "F-ratio %") for job in jobs)
    assert fraction < 100 < raw


@pytest.mark.parametrize("name", [ONE, "1-2", THREE])
def test_made_relations_stay_in_the_cube(name):
    relation = make_simulated_relation(name, 2)
    assert relation.follow_ups == int(name[-1])
    follow_ups = relation.follow(np.random.default_rng(0).random((100, 2)))
    assert follow_ups.min() >= 0
    assert follow_ups.max() <= 1


def test_random_pairs_lie_as_in_print():
    """Tables 30 and 31: 10,000 pairs, by cells."""
    job = Pairing("Sin", stand_ins.parse_relations("Sin1-Sin3"), "random", 1)
    bench = measured(job)
    assert bench.figure(job, "dispersion") == pytest.approx(1.3083, rel=0.25)
    assert bench.figure(job, "discrepancy") == pytest.approx(0.0021, abs=0.0005)


def test_random_groups_lie_as_in_print():
    job = Spreading("Sin", "Sin13", "MT-RT", 10)
    bench = measured(job)
    assert bench.figure(job, "dispersion STC max") == pytest.approx(3.78, rel=0.2)
    assert bench.figure(job, "discrepancy STC max") == pytest.approx(0.0045, abs=0.0008)


def test_ended_trials_have_no_effect():
    jobs = [Simulating(name, "block", 0.005, 2, 4, 5) for name in ("MT-RT", "BART")]
    bench = measured(*jobs)
    assert bench.figure(jobs[0], "censored") > 0
    assert math.isnan(compute_effect(bench, *jobs).value)
    assert math.isnan(compute_p_value(bench, *jobs).value)


@pytest.mark.parametrize("name", ["simulation", "002-3"])
def test_a_study_is_a_page(tmp_path, name):
    result = run_tiny(name)
    page = build_page(result)
    assert page.sections[-1].heading == "Notes"
    assert any(section.drawing for section in page.sections)  # a chart, and published figures against ours
    text = result.to_html(tmp_path / "study.html")
    assert result.title in text


def test_the_page_of_input_domains_shows_why(monkeypatch):
    from datamorphic.studies import page

    monkeypatch.setattr(page, "MAX_SOURCES", 1_200)
    result = run_tiny("input_domains")
    (why,) = [section for section in build_page(result).sections if section.anchor == "why"]
    assert [part.heading.partition(":")[0] for part in why.parts] == ["Where 600 sources lie", "branch3.1", "emu10"]
    assert all(part.drawing is not None for part in why.parts)


def test_a_full_study_makes_as_many_trials_as_in_print():
    bench = Workbench(SCALES["full"])
    group_simulations.build_classic_table("002-9", bench)
    assert {job.trials for job in bench.figures_by_job} == {10_000}
    assert set(OURS) <= set(list_names())


def test_the_command_writes_the_page(tmp_path):
    run = partial(CliRunner().invoke, app)
    file = tmp_path / "study.html"
    arguments = ["study", "002-3", "--scale", "tiny", "--store", "none", "--html"]
    assert "The report: " in run([*arguments, str(file)]).stdout
    assert "Programs, their mutants" in file.read_text(encoding="utf-8")
    document = json.loads(run([*arguments, str(file), "--json"]).stdout)
    assert document["html"] == str(file)
    taken = tmp_path / "taken"
    taken.write_text("")
    assert run([*arguments, str(taken / "study.html")]).exit_code == 2
