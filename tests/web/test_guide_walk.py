"""The guide as a form: question by question, back, and nothing that is not on a list."""

import pytest

from datamorphic.errors import UsageError
from datamorphic.web.guide_walk import GuideWalk, list_systems
from datamorphic.web.subject import ChosenSubject

SUBJECT = ChosenSubject().to_document()


def ask(walk: GuideWalk, folder, answers, system="example:Sin", subject=SUBJECT) -> dict:
    return walk.serve({"subject": subject, "system": system, "answers": answers, "folder": str(folder)})


@pytest.fixture
def walk(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return GuideWalk()


def test_a_walk_to_a_module(walk, tmp_path):
    reply = ask(walk, tmp_path, [])
    ids = []
    answers = {
        "pattern": "Additive",
        "input.columns": "x",
        "input.amount": "6.283185307179586",
        "save": "test_sine.py",
        "derive": "no",
    }
    while reply["question"] is not None:
        question = reply["question"]
        ids.append(question["id"])
        text = answers.get(question["id"], question["default"] or "")
        reply = ask(walk, tmp_path, [*reply["answers"], text])
        assert not reply["error"], reply["error"]
    assert "side" in ids
    assert [file["name"] for file in reply["files"]] == ["test_sine.py"]
    assert "def test_the_relation_holds" in reply["files"][0]["text"]
    assert not (tmp_path / "test_sine.py").exists()  # it is shown, not written
    assert "pattern = Additive" in reply["answer_file"]


def test_back_is_one_answer_fewer(walk, tmp_path):
    first = ask(walk, tmp_path, [])
    second = ask(walk, tmp_path, ["as they are"])
    assert second["question"]["id"] != first["question"]["id"]
    assert ask(walk, tmp_path, []) == first
    assert ask(GuideWalk(), tmp_path, ["as they are"]) == second  # another process knows the same


def test_a_wrong_answer_keeps_the_question(walk, tmp_path):
    reply = ask(walk, tmp_path, ["as they are", "input", "no such pattern"])
    assert "is not among the choices" in reply["error"]
    assert reply["answers"] == ["as they are", "input"]
    assert reply["question"]["id"] == "pattern"


def test_only_systems_of_the_list_are_opened(walk, tmp_path):
    with pytest.raises(UsageError, match="no system"):
        ask(walk, tmp_path, [], system="os:system")
    with pytest.raises(UsageError, match="no system"):
        ask(walk, tmp_path, [], system="chosen")  # nothing is chosen
    assert "chosen" not in list_systems(ChosenSubject())
    assert "example:product search" in list_systems(ChosenSubject())
