"""Plots of the pool in a page, and times in the result."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import ScriptError
from datamorphic.scripting import plots
from datamorphic.scripting.plots import REST, build_plot

BOX = dm.subjects["Box 1"]


def test_a_plot_shows_every_case_where_it_is_with_its_answer():
    tests = BOX.execute(BOX.make_seeds(n=30, seed=1), progress=False)
    picture = build_plot(tests, 1, "visualiseAll").picture
    assert np.array_equal(np.column_stack([picture.x, picture.y]), tests.inputs.codes)
    assert picture.groups == [str(label) for label in tests.output]
    assert picture.notes[0].startswith("case 0, ")


def test_without_answers_the_kind_is_shown_and_large_sets_are_thinned(monkeypatch):
    monkeypatch.setattr(plots, "MAX_POINTS", 10)
    seeds = BOX.make_seeds(n=20)
    tests = dm.TestSet.concat([seeds, BOX.mutate("upward", seeds)])
    section = build_plot(tests, 2, "visualiseAll")
    assert section.heading == "2. visualiseAll: 40 cases"
    assert "10 of them are drawn" in section.text
    assert section.picture.groups == ["original"] * 5 + ["mutant"] * 5
    assert build_plot(tests.take(slice(0, 0)), 1, "visualiseMutants").picture is None


def test_rare_answers_share_a_colour(monkeypatch):
    monkeypatch.setattr(plots, "MAX_GROUPS", 1)
    tests = BOX.execute(BOX.make_seeds(n=30, seed=1), progress=False)
    groups = build_plot(tests, 1, "visualiseAll").picture.groups
    assert len(set(groups)) == 2
    assert 0 < groups.count(REST) <= 15


def test_scripts_write_their_plots_to_one_page(tmp_path):
    (tmp_path / "a.scr").write_text(
        "makeSeed([RandomValue20])\nrepeat(2)\nmakeMutant([upward])\nanalyse([visualiseAll, visualiseMutants])\nendRepeat()\n"
        "setFilePath(below)\nanalyse([visualise_all])\n"
    )
    result = dm.play(tmp_path / "a.scr", "Box 1")
    assert result.files == ["Plots.html", "below/Plots.html"]
    page = (tmp_path / "Plots.html").read_text()
    for heading in ("1. visualiseAll: 40 cases", "2. visualiseMutants: 20 cases", "4. visualiseMutants: 60 cases"):
        assert heading in page
    assert page.count("<svg") >= 4
    assert "1. visualiseAll: 80 cases" in (tmp_path / "below" / "Plots.html").read_text()
    first = page
    dm.play(tmp_path / "a.scr", "Box 1")
    assert (tmp_path / "Plots.html").read_text() == first, "the same script writes the same files"


def test_a_page_has_a_limited_number_of_plots(tmp_path, monkeypatch):
    monkeypatch.setattr("datamorphic.scripting.pool.MAX_PLOTS", 2)
    pool = dm.TestPool("Box 1", folder=tmp_path)
    pool.make_seed(["RandomValue5"])
    pool.analyse(3 * ["visualiseAll"])
    assert pool.messages == ["visualiseAll: Plots.html has 2 plots already, so this one is left out."]
    assert "3. visualiseAll" not in (tmp_path / "Plots.html").read_text()


def test_scripts_still_cannot_name_a_page_themselves(tmp_path):
    (tmp_path / "a.scr").write_text("saveMessage(Plots.html;text)\n")
    with pytest.raises(ScriptError, match=r"do not write 'Plots\.html'"):
        dm.play(tmp_path / "a.scr", "Box 1")


def test_times_are_noted(tmp_path, monkeypatch):
    moments = iter([10.0, 12.5, 13.0])
    monkeypatch.setattr("datamorphic.scripting.pool_state.read_clock", lambda: next(moments))
    monkeypatch.setattr("datamorphic.scripting.pool.read_clock", lambda: next(moments))
    pool = dm.TestPool("Box 1", folder=tmp_path)
    pool.make_seed(["RandomValue5"])
    pool.analyse(["getTime"])
    pool.execute_test_cases()
    pool.analyse(["getTime"])
    assert pool.times == [{"seconds": 2.5, "runs": 0, "cases": 5}, {"seconds": 3.0, "runs": 5, "cases": 5}]
    assert pool.messages[1] == "getTime: 3.000 s, 0.500 s more than before; 5 runs, 5 cases"


def test_times_are_in_the_document(tmp_path):
    (tmp_path / "a.scr").write_text("analyse([getTime])\n")
    (time,) = dm.play(tmp_path / "a.scr", "Box 1").document()["times"]
    assert time["seconds"] >= 0
