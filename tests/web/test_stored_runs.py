"""Runs of the store, as pages list them: nothing is created, and files of other folders are refused."""

import pytest

pytest.importorskip("nicegui")

import datamorphic as dm
from datamorphic.errors import DatamorphicError, UsageError
from datamorphic.runs.keep import StoreOptions
from datamorphic.runs.store import Store
from datamorphic.web.components.elements import build_table
from datamorphic.web.folder import ServedFolder
from datamorphic.web.pages import exploration, runs
from datamorphic.web.stored_runs import (
    find_foreign_file,
    is_repeatable,
    is_resumable,
    list_repeat_arguments,
    read_run,
    read_runs,
)
from support.cases import in_one_test


@pytest.fixture
def store_path(tmp_path):
    return tmp_path / "runs.sqlite"


def keep_exploration(store_path, **request):
    with Store.open(store_path) as store:
        dm.explore(
            dm.subjects["Box 1"], walks=10, store=StoreOptions(store, None, {"words": request}, lambda run: None)
        )


def add_run(store_path, verb, state, **request):
    with Store.open(store_path) as store:
        number = store.begin(verb, "model", {"words": request}, seed=3)
        store.release(number)
    return number, state


def test_a_store_that_does_not_exist_has_no_runs_and_is_not_created(store_path, monkeypatch):
    listing = read_runs(str(store_path))
    assert listing.rows == []
    assert "no run store" in listing.message
    monkeypatch.setenv("DATAMORPHIC_STORE", str(store_path))
    assert "no runs yet" in read_runs(None).message
    with pytest.raises(DatamorphicError):
        read_run(str(store_path), 1)
    assert not store_path.exists()


def test_runs_are_listed_newest_first(store_path):
    keep_exploration(store_path, subject="Box 1")
    keep_exploration(store_path, subject="Box 1")
    rows = read_runs(str(store_path)).rows
    assert [row.number for row in rows] == [2, 1]
    assert rows[0].verb == "explore"
    assert rows[0].state == "finished"
    assert "pair" in rows[0].outcome
    assert not is_resumable(read_run(str(store_path), 1))  # it is finished


def test_killed_runs_are_resumable_and_repeatable(store_path):
    number, _ = add_run(store_path, "explore", "killed", subject="Box 1")
    run = read_run(str(store_path), number)
    assert run.state == "killed"
    assert is_resumable(run)
    assert is_repeatable(run)
    number, _ = add_run(store_path, "test", "killed", model="/a/model.skops", data="/a/data.csv", target="y", budget=5)
    run = read_run(str(store_path), number)
    assert is_repeatable(run)
    assert is_resumable(run)
    assert list_repeat_arguments(run) == [
        *("/a/model.skops", "/a/data.csv", "--target", "y", "--budget", "5", "--seed", "3")
    ]
    number, _ = add_run(
        store_path, "test", "killed", model="/a/model.skops", kinds={"age": "integer"}, steps={"age": 2}
    )
    assert list_repeat_arguments(read_run(str(store_path), number)) == [
        *("/a/model.skops", "--kind", "age=integer", "--column-step", "age=2", "--seed", "3")
    ]  # as earlier versions stored it


def test_a_script_and_a_combination_are_repeated_with_their_options(store_path):
    number, _ = add_run(
        store_path,
        "script",
        "killed",
        script="/a/b.scr",
        subject=None,
        system="m:C",
        maps=["S=m:D"],
        seed=4,
        timeout=None,
    )
    run = read_run(str(store_path), number)
    assert is_repeatable(run)
    assert is_resumable(run)
    assert list_repeat_arguments(run) == ["/a/b.scr", "--system", "m:C", "--map", "S=m:D", "--seed", "3"]
    number, _ = add_run(
        store_path,
        "combine",
        "killed",
        model="m:C",
        subject=None,
        datamorphisms=["f", "g"],
        filters=None,
        order=2,
        seed=0,
    )
    run = read_run(str(store_path), number)
    assert list_repeat_arguments(run) == ["m:C", "--datamorphisms", "f,g", "--order", "2", "--seed", "3"]


@in_one_test(
    ("request_", "foreign"),
    [
        ({"subject": "Box 1", "model": None}, False),
        ({"model": "module:Class", "data": "data:iris"}, False),
        ({"model": "{root}/model.skops", "data": "{root}/data.csv"}, False),
        ({"model": "/etc/passwd", "data": "{root}/data.csv"}, True),
        ({"model": "{root}/../secret.skops", "data": None}, True),
        ({"model": "{root}/model.skops", "expect": ["/etc/passwd"]}, True),
        ({"model": "{root}/a=b/model.skops"}, False),
        ({"model": "/etc/a=b"}, True),
        ({"model": "{root}/model.skops", "also": ["old=/etc/passwd"]}, True),
        ({"model": "python:python3 os:system"}, True),
    ],
)
def test_files_outside_the_folders_are_found(store_path, tmp_path, request_, foreign):
    root = tmp_path / "served"
    root.mkdir()
    request = {key: value.format(root=root) if isinstance(value, str) else value for key, value in request_.items()}
    number, _ = add_run(store_path, "explore", "killed", **request)
    assert bool(find_foreign_file(read_run(str(store_path), number), [ServedFolder(root)])) == foreign


def test_facts_show_names_of_files_but_no_folders(store_path):
    with Store.open(store_path) as store:
        request = {"model": "/home/anna/model.skops", "data": None, "target": "y"}
        parameters = {"words": request, "walks": 2_000, "budget": None, "moves": ["up", "down"]}
        number = store.begin(
            "explore", "model", parameters, seed=1_000, environment={"cores": 2, "folder": "/home/anna"}
        )
    facts = dict(runs.list_facts(read_run(str(store_path), number)))
    assert (facts["model"], facts["target"], facts["walks"], facts["seed"]) == ("model.skops", "y", "2,000", "1000")
    assert facts["moves"] == "up, down"
    assert not any("anna" in text for text in facts.values())
    assert "budget" not in facts


def test_figures_of_an_exploration_have_intervals_and_leave_out_what_is_unknown():
    figures = exploration.list_figures(
        {"pairs": 0, "walks": 10, "runs": 20, "capability": 0.5, "capability_interval": [0.25, 0.75], "cost": None}
    )
    assert [name for name, *_ in figures] == ["border pairs", "runs", "capability"]
    assert figures[-1][2].endswith("(95%: 25.0% to 75.0%)")


def test_the_form_begins_with_the_options_of_the_last_exploration():
    from datamorphic.web.commands import build_arguments, read_values

    values = {"walks": 500, "strategy": "random_walk", "delta": 0.25, "budget": "10s"}
    words = ["explore", "--subject=Box 2", *build_arguments("explore", values), "--save=/a/front.parquet", "--json"]
    assert read_values("explore", words) == values


def test_an_option_of_a_capability_is_in_its_form():
    """What `ExploreOptions` declares is offered with its choices and its label, without a line in the page."""
    from datamorphic.web.commands import build_arguments, list_fields, list_own_fields

    own_names = list_own_fields("explore")
    assert {"walks", "pool", "max_halvings", "timeout"} <= set(own_names)
    assert not {"model", "kinds", "batch", "trust", "target", "engine", "space"} & set(own_names)
    fields = list_fields("explore")
    assert fields["pool"].choices == ("fixed", "growing")
    assert fields["max_halvings"].label == "Halvings of a pair"
    with pytest.raises(UsageError, match="Pool cannot be 'deep' here"):
        build_arguments("explore", {"pool": "deep"})


def test_pages_have_their_addresses():
    assert (exploration.ADDRESS, runs.ADDRESS) == ("/exploration", "/runs")
    assert callable(build_table)
