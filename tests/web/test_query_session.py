"""Questions about files: previews, spaces, and what goes wrong with them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from datamorphic.errors import UsageError
from datamorphic.web.folder import ServedFolder
from datamorphic.web.query_session import QuerySession, describe_space, find_tree_problem, guess_target, preview_data
from datamorphic.web.subject import ChosenSubject


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    from sklearn.tree import DecisionTreeClassifier
    from skops.io import dump

    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 60), "balance": rng.integers(0, 900, 60)})
    frame["limit"] = frame["balance"] + 100
    labels = np.where(frame["age"] > 40, "yes", "no")
    dump(DecisionTreeClassifier(max_depth=2).fit(frame, labels), folder / "model.skops")
    frame.insert(0, "approved", labels)
    frame.assign(**{"<b>x</b>": ["<script>alert(1)</script>"] * 60}).to_csv(folder / "data.csv", index=False)
    (folder / "pickled.pkl").write_bytes(b"\x80\x04N.")
    return folder


def ask(request: dict) -> dict:
    events = []
    QuerySession().serve({"number": 1, **request}, lambda kind, data: events.append({"event": kind, **data}))
    [event] = events
    return event


def choose(folder: Path, **hints) -> dict:
    subject = ChosenSubject.of_files([ServedFolder(folder)], "model.skops", "data.csv", "approved").to_document()
    return {"subject": subject | {"hints": hints}, "served": str(folder)}


def test_the_target_is_guessed():
    assert guess_target(["a", "Class", "b"]) == "Class"
    assert guess_target(["a", "b"]) == "b"
    assert guess_target(["risk", "a", "b"], ["a", "b"]) == "risk"
    assert guess_target(["a", "b"], ["a", "b"]) == ""
    assert guess_target(["a", "b"], ["x"]) == "b"  # the model is about other data


def test_a_preview_knows_the_inputs_of_the_model(folder):
    reply = preview_data({"data": str(folder / "data.csv"), "model": str(folder / "model.skops")})
    assert reply["columns"] == ["approved", "age", "balance", "limit", "<b>x</b>"]
    assert reply["row_count"] == 60
    assert len(reply["rows"]) == 8
    assert reply["target"] == "<b>x</b>"  # the last of two columns that the model does not take
    assert reply["labels"]["approved"] == "no, yes"
    assert reply["problem"] == ""


def test_a_pickle_is_not_loaded_for_a_preview(folder):
    reply = preview_data({"data": str(folder / "data.csv"), "model": str(folder / "pickled.pkl")})
    assert "is a pickle" in reply["problem"]


def test_a_file_that_is_no_table_is_one_line(folder):
    (folder / "broken.parquet").write_bytes(b"no table")
    event = ask({"kind": "preview", "data": str(folder / "broken.parquet")})
    assert event["event"] == "failure"
    assert "\n" not in event["message"]


def test_the_space_of_files_with_constraints(folder):
    reply = describe_space(choose(folder))
    features = {feature["name"]: feature for feature in reply["features"]}
    assert list(features) == ["age", "balance", "limit"]
    assert features["age"]["kind"] == "integer"
    assert reply["constraints"] == ["limit = balance + 100"]
    assert any("left out" in note for note in reply["notes"])


def test_hints_change_the_space(folder):
    hints = {"kind": {"age": "continuous"}, "bounds": {"age": "10:90"}, "column-step": {"age": 2}}
    [age, *_] = describe_space(choose(folder, **hints))["features"]
    assert (age["kind"], age["low"], age["high"], age["step"]) == ("continuous", 10, 90, 2)


@pytest.mark.parametrize(
    ("hints", "message"),
    [
        ({"bounds": {"age": "90:10"}}, "reversed"),
        ({"kind": {"age": "colour"}}, "must be one of"),
        ({"column-step": {"age": -1}}, "at least 1"),
        ({"bounds": {"nothing": "1:2"}}, "does not have"),
    ],
)
def test_wrong_hints_are_one_line(folder, hints, message):
    event = ask({"kind": "space", **choose(folder, **hints)})
    assert event["event"] == "failure"
    assert message in event["message"]


def test_the_space_of_a_coded_classifier():
    reply = describe_space({"subject": ChosenSubject.of_demo("Box 2").to_document(), "served": "."})
    assert [feature["name"] for feature in reply["features"]] == ["x", "y"]
    assert not reply["editable"]


def test_a_module_in_a_folder_with_a_strange_name_is_refused(tmp_path):
    (tmp_path / "my tests").mkdir()
    (tmp_path / "my tests" / "wine.py").write_text("")
    with pytest.raises(UsageError, match="cannot be imported"):
        ChosenSubject.of_module(ServedFolder(tmp_path), "my tests/wine.py", "RedWine")


def test_a_pickle_says_that_trust_would_help_and_no_word_of_python(folder):
    reply = preview_data({"data": str(folder / "data.csv"), "model": str(folder / "pickled.pkl")})
    assert reply["untrusted"]
    assert "runs any code" in reply["problem"]
    assert "trust=True" not in reply["problem"]


def test_a_model_whose_trees_cannot_be_read_says_why(folder, tmp_path):
    from datamorphic.web.demo_model import make_demo_files

    assert find_tree_problem({"model": str(folder / "model.skops"), "data": str(folder / "data.csv")}) == {
        "problem": ""
    }
    model, data, _ = make_demo_files(tmp_path)
    problem = find_tree_problem({"model": str(model), "data": str(data)})["problem"]
    assert "ColumnTransformer" in problem
    assert "surrogate" not in problem  # the page fits one


def test_advice_in_python_becomes_options(folder, monkeypatch):
    def fail(request):
        raise UsageError("Say so: kinds={'age': 'categorical'}.")

    monkeypatch.setattr("datamorphic.web.query_session.preview_data", fail)
    assert ask({"kind": "preview"})["message"] == "Say so: --kind age=categorical."
