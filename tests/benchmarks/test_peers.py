"""The benchmarks against peers: a peer that cannot be measured is skipped, and the page shows what was measured."""

from __future__ import annotations

import csv
import importlib
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.defects.data import load
from benchmarks.peers import __main__ as command
from benchmarks.peers import defects, environments, tasks
from benchmarks.peers.environments import CommandError, find_reason, install, measure
from benchmarks.peers.figures import Figure, compare, format_number
from benchmarks.peers.page import read_bench, write_page

PAGE = command.ROOT / "docs" / "benchmarks.md"


def make_module(**fields):
    return SimpleNamespace(
        TITLE="Peer", DISTRIBUTION="numpy", REQUIREMENTS=("peer==1.2",), NOTES=("A note.",), **fields
    )


def test_figures_are_compared_by_task_and_measure():
    theirs = [
        Figure("borders", "rows", 100),
        Figure("borders (fast)", "rows", 40),
        Figure("borders", "pairs per second", 5, True),
        Figure("borders", "valid", "3 of 10"),
    ]
    ours = [
        Figure("borders", "valid", "10 of 10"),
        Figure("borders", "rows", 20),
        Figure("borders", "pairs per second", 50),
    ]
    assert [(row.task, row.theirs, row.ours, row.ratio) for row in compare(theirs, ours)] == [
        ("borders", 100, 20, 5),
        ("borders (fast)", 40, 20, 2),
        ("borders", 5, 50, 10),
        ("borders", "3 of 10", "10 of 10", None),
    ]


def test_a_figure_without_a_counterpart_is_an_error():
    with pytest.raises(KeyError):
        compare([Figure("borders", "rows", 1)], [])


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234.5, "1,234"), (12.34, "12"), (1.234, "1.2"), (0.01234, "0.012"), (0, "0"), ("3 of 4", "3 of 4")],
)
def test_numbers_have_two_digits(value, text):
    assert format_number(value) == text


def test_a_peer_that_does_not_install_is_skipped_with_its_reason(monkeypatch):
    def fail(name, requirements):
        raise CommandError("No matching distribution found for peer==1.2")

    monkeypatch.setattr(command, "install", fail)
    peer = command.measure_peer("peer", make_module())
    assert (peer["version"], peer["rows"]) == ("1.2", [])
    assert peer["skipped"] == "No matching distribution found for peer==1.2"
    page = write_page({"processor": "a CPU", "peers": {"peer": peer}}, {"peer": ["A note."]}, [])
    assert "| Peer 1.2 | skipped: No matching distribution found for peer==1.2 | – |" in page


def test_a_failed_peer_does_not_stop_the_others(monkeypatch, tmp_path):
    def measure_here(python, name, function):
        if name == "gemtest":
            raise CommandError("it broke")
        return [Figure("one", "rows", 6 if function == "measure_theirs" else 2)]

    monkeypatch.setattr(command, "install", lambda name, requirements: sys.executable)
    monkeypatch.setattr(command, "read_versions", lambda python, names: dict.fromkeys(names, "9.9"))
    monkeypatch.setattr(command, "measure", measure_here)
    page, results = tmp_path / "page.md", tmp_path / "results.json"
    command.main(["--only", "gemtest", "dice", "--write", str(page), "--results", str(results)])
    text = page.read_text(encoding="utf-8")
    assert "| GeMTest 1.0.1 | skipped: it broke |" in text
    assert "| DiCE 0.12 | one | rows | 6 | 2 | 3 |" in text
    assert "dice-ml 9.9" in text
    assert list(json.loads(results.read_text(encoding="utf-8"))["peers"]) == ["gemtest", "dice"]


def test_a_failure_of_ours_is_not_said_to_be_theirs(monkeypatch):
    def measure_here(python, name, function):
        if function == "measure_ours":
            raise CommandError("it broke")
        return [Figure("one", "rows", 6)]

    monkeypatch.setattr(command, "install", lambda name, requirements: sys.executable)
    monkeypatch.setattr(command, "read_versions", lambda python, names: dict.fromkeys(names, "9.9"))
    monkeypatch.setattr(command, "measure", measure_here)
    assert command.measure_peer("peer", make_module())["skipped"] == "datamorphic failed: it broke"


def test_commands_that_fail_are_reported_in_one_line(monkeypatch, tmp_path):
    assert find_reason("WARNING: x\nERROR: No match for y\nERROR: later\n") == "No match for y"
    assert find_reason("Traceback:\n  File z\nImportError: no w\n") == "ImportError: no w"
    assert find_reason("") == "no reason given"
    with pytest.raises(CommandError, match="no_such_module"):
        measure(sys.executable, "no_such_module", "measure_theirs")


def test_an_environment_is_made_once(monkeypatch, tmp_path):
    commands = []
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setattr(environments, "_run", lambda command, seconds: commands.append(command) or "")
    monkeypatch.setattr(environments.venv, "create", lambda folder, **_: folder.mkdir(exist_ok=True))
    pythons = {install("peer", requirements) for requirements in (["peer==1"], ["peer==1"])}
    assert len(commands) == len(pythons) == 1
    assert commands[0][-5:] == ["peer==1", *environments.SHARED]
    install("peer", ["peer==2"])
    assert len(commands) == 2
    assert install("ours", ()) == sys.executable


def test_what_make_bench_printed_fills_the_second_table(tmp_path):
    printed = "Groups\n  the first hunt                      4.2 s  before 21 s\n  another line   1 s\n"
    values = read_bench(printed, ["the first hunt", "", "not printed"])
    assert values == {"the first hunt": "4.2 s"}
    row = {"figure": "first hunt", "before": "21 s", "goal": "5 s", "now": values["the first hunt"]}
    page = write_page({"processor": "a CPU", "peers": {}}, {}, [row, row | {"now": ""}])
    assert "| first hunt | 21 s | 5 s | 4.2 s |\n| first hunt | 21 s | 5 s | – |" in page


def test_the_page_in_the_docs_is_what_the_command_writes(tmp_path):
    page = tmp_path / "page.md"
    results = tmp_path / "results.json"
    results.write_text(command.RESULTS.read_text(encoding="utf-8"), encoding="utf-8")
    command.main(["--only", "--write", str(page), "--results", str(results)])
    assert page.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "run python -m benchmarks.peers --only"


@pytest.mark.parametrize("name", command.PEERS)
def test_peers_have_the_same_shape(name):
    module = importlib.import_module(f"benchmarks.peers.{name}")
    assert callable(module.measure_theirs)
    assert callable(module.measure_ours)
    assert module.NOTES
    assert not module.REQUIREMENTS or "==" in module.REQUIREMENTS[0]


def test_speeds_name_what_was_measured():
    with command.SPEED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["figure"] and row["before"] and row["goal"] for row in rows)


def test_rows_between_loans_are_loans():
    loans = tasks.make_loans().drop(columns=tasks.TARGET)
    first, second = loans[:50].reset_index(drop=True), loans[50:100].reset_index(drop=True)
    for share in (0.0, 0.3, 1.0):
        assert not tasks.find_invalid_loans(tasks.blend_loans(first, second, np.full(50, share))).any()
    assert tasks.find_invalid_loans(first.assign(housing="none")).all()
    assert tasks.find_invalid_loans(first.assign(age=30.5)).all()
    assert tasks.measure_loan_distances(first, first).max() == 0


def test_a_counted_model_counts_calls_and_rows():
    inputs = np.arange(6.0)[:, None]
    model = tasks.LogisticRegression().fit(inputs, inputs[:, 0] > 2.5)
    counted = tasks.CountedModel(model)
    assert (counted.predict(inputs) == model.predict(inputs)).all()
    assert (counted.calls, counted.rows) == (1, 6)


# -- the suite of defects for other tools --------------------------------------------------------------------------


def make_report(item, findings=(), error=""):
    return defects.Report(key=defects.make_key(item), findings=tuple(findings), seconds=2.0, error=error)


def test_a_finding_of_another_tool_counts_if_it_names_the_column():
    defect = next(item for item in defects.DEFECTS if item.columns == ["distance_km"])
    assert defects.is_named(defect, ["Drift in distance_km of 0.31"], set())
    assert not defects.is_named(defect, ["Drift in distance_km of 0.31"], {"Drift in distance_km of #"})
    assert not defects.is_named(defect, ["Drift in distance_km2"], set())
    general = next(item for item in defects.DEFECTS if not item.columns)
    assert not defects.is_named(general, ["Something failed"], set())


def test_a_class_at_fault_is_named_by_its_scores_too():
    defect = next(item for item in defects.DEFECTS if item.kind == "class weights")
    assert defects.is_named(defect, ["Recall metric: 0.04 < 0.23"], set())
    assert defects.is_named(defect, [f"F1 of {defect.columns[0]} is 0.1"], set())
    assert not defects.is_named(defect, ["Drift in age of 0.3"], set())


def test_the_sample_has_cases_of_all_kinds_and_depends_on_no_order(monkeypatch):
    items, models = defects.choose_sample()
    for group, everything in ((items, defects.DEFECTS), (models, defects.GOOD)):
        assert {item.kind for item in group} == {item.kind for item in everything}
    for kind in {item.kind for item in items}:
        chosen = [item for item in items if item.kind == kind]
        available = [item for item in defects.DEFECTS if item.kind == kind]
        assert len(chosen) == min(defects.DEFECTS_PER_KIND, len(available))
        assert len({item.data for item in chosen}) == min(len(chosen), len({item.data for item in available}))
    assert any(item.held_back for item in items)
    titles = sorted(item.title for item in [*items, *models])
    assert len(set(titles)) == len(titles)
    monkeypatch.setattr(defects, "DEFECTS", defects.DEFECTS[::-1])
    assert sorted(item.title for group in defects.choose_sample() for item in group) == titles


def test_the_key_of_a_case_follows_its_data_and_the_code_that_builds_it(monkeypatch):
    first, second, *_ = (item for item in defects.DEFECTS if item.kind == "sampling")
    key = defects.make_key(first)
    assert key.startswith(first.title)
    assert defects.make_key(second) != key
    other = defects.replace(first, make=second.make)
    assert defects.make_key(other).startswith(first.title)
    assert defects.make_key(other) != key
    monkeypatch.setattr(defects, "load", lambda name, seed: load(name, seed).iloc[1:])
    assert defects.make_key(first) != key


def test_figures_of_another_tool_leave_out_what_it_says_about_good_models(monkeypatch):
    defect = next(item for item in defects.DEFECTS if item.columns == ["distance_km"])
    good = next(item for item in defects.GOOD if item.data == defect.data)
    monkeypatch.setattr(defects, "choose_sample", lambda: ([defect], [good]))

    def count(of_defect, of_good):
        return {
            figure.measure: figure.value
            for figure in defects.count_theirs([make_report(defect, of_defect)], [make_report(good, of_good)])
        }

    figures = count(["Drift in distance_km of 0.3"], [])
    assert figures["defects named"] == "1 of 1"
    assert figures["good models with findings"] == "0 of 1"
    figures = count(["Drift in distance_km of 0.3"], ["Low recall where distance_km is 3"])
    assert figures["defects named"] == "1 of 1"
    assert figures["defects named by a column that good models do not get"] == "0 of 1"
    figures = count(["The error is 3.1"], ["The error is 2.9 in Paris"])
    assert figures["defects named"] == "0 of 1"
    assert figures["defects with any finding that good models do not get"] == "1 of 1"
    figures = count(["Drift in distance_km of 0.3"], ["Drift in distance_km of 0.1"])
    assert figures["defects with any finding that good models do not get"] == "0 of 1"
    assert figures["defects named"] == "0 of 1"
    assert figures["defects named, also by findings that good models get"] == "1 of 1"
    assert figures["good models with findings"] == "1 of 1"
    assert figures["cases without an answer"] == "0 of 2"


def test_an_interrupted_measurement_goes_on_where_it_was(monkeypatch, tmp_path):
    items = [defects.DEFECTS[0], defects.GOOD[0]]
    monkeypatch.setattr(defects, "OUTCOMES", tmp_path / "outcomes")
    monkeypatch.setattr(defects, "DEFECTS", items[:1])
    monkeypatch.setattr(defects, "GOOD", items[1:])
    monkeypatch.setattr(defects, "ProcessPoolExecutor", lambda processes: ThreadPoolExecutor(1))
    looked = []

    def run(position, look):
        looked.append(position)
        return make_report(items[position], error="ValueError: no" if position else "")

    first = defects.collect("tool", b"source", run, None)
    assert first == defects.collect("tool", b"source", run, None)
    assert [[report.error for report in reports] for reports in first] == [[""], ["ValueError: no"]]
    assert looked == [0, 1]
    defects.collect("tool", b"another source", run, None)
    assert looked == [0, 1, 0, 1]


def test_a_tool_that_fails_or_hangs_does_not_end_the_measurement(monkeypatch):
    good = next(item for item in defects.GOOD if item.data == "diabetes")
    monkeypatch.setattr(defects, "DEFECTS", [])
    monkeypatch.setattr(defects, "GOOD", [good])

    def fail(case, numbers):
        assert numbers
        raise ValueError("a column is missing")

    def compute(case, numbers):
        while True:
            try:
                while True:
                    pass
            except Exception:
                continue

    assert defects.look_at(0, fail).error == "ValueError: a column is missing"
    assert defects.look_at(0, lambda case, numbers: ["a finding"]).findings == ("a finding",)
    monkeypatch.setattr(defects, "CASE_SECONDS", 0.2)
    assert defects.look_at(0, compute).error.startswith("NoAnswerError")
    monkeypatch.setattr(defects, "CASE_SECONDS", 60)
    monkeypatch.setattr(defects, "WALL_SECONDS", 0.2)
    assert defects.look_at(0, lambda case, numbers: time.sleep(5) or []).error.startswith("NoAnswerError")
