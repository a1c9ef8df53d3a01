"""``datamorphic study``: what it prints and how it exits."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest
from typer.testing import CliRunner

from datamorphic.cli.main import app
from datamorphic.runs.store import Store
from datamorphic.studies import catalogue as studies
from datamorphic.studies import plan, workload
from datamorphic.studies.explorations import Exploration
from datamorphic.studies.result import Study
from datamorphic.studies.rows import Row


@pytest.fixture
def run(monkeypatch):
    """Run the command at the smallest scale, whatever scale it asks for."""
    monkeypatch.setitem(workload.SCALES, "small", workload.SCALES["tiny"])
    return lambda *arguments: CliRunner().invoke(app, ["study", *arguments])


def strict(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_is_one_document_and_nothing_else(run):
    result = run("random_target", "--seed", "3", "--json")
    assert result.exit_code == 0
    document = strict(result.stdout)
    assert {"study", "scale", "seed", "seconds", "rows", "complete", "unfinished"} <= set(document)
    assert (document["study"], document["seed"]) == ("random_target", 3)
    assert all(list(row) == [*Row._fields, "verdict"] for row in document["rows"])
    box = next(r for r in document["rows"] if r["row"] == "000-12: Box 1, 200 walks" and r["column"] == "runs")
    assert box["published"] == 658.1
    assert box["ours"] > 200


def test_infinite_costs_are_null():
    figures = [("KNN", "cost", math.inf, math.nan, ""), ("KNN", "runs", 1.5, 2.0, "")]
    rows = pd.DataFrame([Row(*figure) for figure in figures])
    result = Study(name="x", title="", scale="tiny", seed=0, seconds=0.0, amount="", rows=rows)
    first, second = result.document()["rows"]
    assert (first["row"], first["published"], first["ours"]) == ("KNN", None, None)
    assert (second["published"], second["ours"]) == (1.5, 2.0)


def test_people_get_a_table_with_footnotes(run):
    result = run("directed_walk")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Directed walk: as written, and with success at the first step only")
    assert any(line.strip().startswith("Box 1, 200 walks") and " / " in line for line in lines)
    notes = result.stdout.partition("\nNotes\n")[2].split("\n  - [")
    assert len(notes) == len(set(notes)) >= 2
    assert sum("first step only" in " ".join(note.split()) for note in notes) == 1
    assert " → " in result.stdout  # ours with the cause


def test_a_cause_is_switched_on_and_off(run):
    rows = {
        cause: json.loads(run("directed_walk", "--json", "--cause", cause).stdout)["rows"]
        for cause in ("none", "first_step", "swapped_rows")
    }
    assert all(row["ours_with_cause"] is None for row in rows["none"] + rows["swapped_rows"])
    switched = [row for row in rows["first_step"] if row["ours_with_cause"] is not None]
    assert len(switched) == len(rows["none"])
    assert {row["cause"] for row in switched} == {"first_step"}
    assert [row["ours"] for row in switched] == [row["ours"] for row in rows["none"]]


def test_the_list(run):
    result = run("--list")
    assert result.exit_code == 0
    runnable, _, without_figures = result.stdout.partition("\n\n")
    assert [line.split()[0] for line in runnable.splitlines()] == studies.list_names()
    assert "003-2" in without_figures
    assert "(names of files" in without_figures
    assert "kept_direction" in without_figures
    document = strict(run("--list", "--json").stdout)
    assert [row["table"] for row in document["without_figures"]] == list(studies.TABLES_WITHOUT_FIGURES)
    listed = document["studies"]
    assert [row["name"] for row in listed] == studies.list_names()
    assert all(row["title"] and row["compares"] for row in listed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "See them with: datamorphic study --list"),
        (["random_targt"], "There is no study 'random_targt'. Did you mean 'random_target'?"),
        (["001-4", "--list"], "Leave one of the two out"),
        (["--all", "--list"], "Leave one of the two out"),
        (["001-4", "--all"], "Leave one of the two out"),
        (["001-4", "--resume", "7", "--store", "none"], "needs a run store"),
        (["000-8"], "is not computed"),
        (["001-4", "--scale", "huge"], "one of 'tiny', 'small', 'medium', 'full'"),
    ],
)
def test_wrong_use_exits_with_two(run, arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert result.stdout == "" or "Usage" in result.output


def test_all_studies_become_a_site(monkeypatch, tmp_path):
    monkeypatch.setattr(plan, "list_entries", lambda: {name: studies.STUDIES[name] for name in ("002-1", "002-14")})
    store = ["--store", str(tmp_path / "runs.sqlite")]
    result = CliRunner().invoke(app, ["study", "--all", "--html", str(tmp_path / "site"), *store])
    assert result.exit_code == 0
    assert "All studies: 2 agrees\n" in result.stdout
    assert "kept as run 1" in result.stdout
    assert f"The site: {tmp_path / 'site' / 'index.html'}" in result.stdout
    assert (tmp_path / "site" / "002-14.html").is_file()
    document = strict(CliRunner().invoke(app, ["study", "--all", "--json", *store]).stdout)
    assert [row["study"] for row in document["studies"]] == ["002-1", "002-14"]
    listing = CliRunner().invoke(app, ["runs", "list", *store]).stdout
    assert listing.count("2 agrees") == 2


def test_a_study_is_resumed_by_its_number(run, tmp_path, monkeypatch):
    store = ["--store", str(tmp_path / "runs.sqlite")]
    with monkeypatch.context() as patch:
        patch.setattr(workload, "_outcomes", {})
        patch.setattr(Exploration, "measure", stop_at_once)
        assert run("001-4", *store).exit_code == 130
    with Store.open(tmp_path / "runs.sqlite") as run_store:
        parameters = run_store.run(1).parameters
    # as earlier versions stored them, whose runs are resumed, too
    assert parameters["words"] == {"study": "001-4", "scale": "small", "seed": 0}
    assert {name: value for name, value in parameters.items() if value is not None and name != "words"} == {
        "name": "001-4",
        "scale": "small",
        "cause": "all",
    }
    text = CliRunner().invoke(app, ["runs", "show", "1", *store]).stdout
    assert "Resume it: datamorphic runs resume 1" in text
    assert CliRunner().invoke(app, ["runs", "resume", "1", *store]).exit_code == 0
    assert "is finished" in run("001-4", "--resume", "1", *store).output


def stop_at_once(*_):
    raise KeyboardInterrupt
