"""The test pool of a person: every request has one reply, and no failure ends the session."""

import sys

import pytest

from datamorphic.web.pool_session import PoolSession
from datamorphic.web.subject import ChosenSubject


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Send requests to a session, and return the event that it answers with."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    session, events = PoolSession(), []

    def send(kind, **request):
        events.clear()
        session.serve({"kind": kind, "number": 7, **request}, lambda kind, data: events.append((kind, data)))
        answers = [event for event in events if event[0] in ("reply", "failure")]
        assert len(answers) == 1
        assert answers[0][1]["number"] == 7
        return answers[0]

    send.folder = tmp_path
    return send


@pytest.fixture
def box(ask):
    """A session with Box 2."""
    subject = ChosenSubject.of_demo("Box 2").to_document()
    kind, state = ask("open", subject=subject, folder=str(ask.folder), served=str(ask.folder))
    assert kind == "reply"
    assert state["cases"] == 0
    return ask


def test_clicks_are_commands_of_a_script(box):
    _, state = box("play", text="makeSeed([RandomValue200])")
    assert state["cases"] == 200
    assert "makeSeed" in state["script"]


@pytest.mark.parametrize("text", ["makeSeed([Nothing])", "import os", "makeSeed(", "print(1)"])
def test_a_wrong_command_is_a_failure_with_its_line(box, text):
    kind, failure = box("play", text=text)
    assert kind == "failure"
    assert failure["message"]
    assert "Traceback" not in failure["message"]
    assert box("state")[1]["cases"] == 0  # the session goes on


def test_a_question_before_a_system_is_chosen(ask):
    kind, failure = ask("play", text="makeSeed([RandomValue200])")
    assert kind == "failure"
    assert "Start" in failure["message"]


def test_no_subject_is_refused(ask):
    kind, failure = ask("open", subject=ChosenSubject().to_document(), folder=str(ask.folder), served=str(ask.folder))
    assert kind == "failure"
    assert "No test system is chosen" in failure["message"]


WALK = "randomWalkExplore([leftward, rightward, upward, downward, mid];20;100)"


@pytest.mark.slow
def test_a_replay_gives_the_same_cases_and_the_same_front(box):
    box("play", text=f"makeSeed([RandomValue50])\n{WALK}")
    _, state = box("play", text="editTestCase(3;x;0.5)\nexecuteTestCases(3)")
    assert state["script"].startswith("//Recorded by datamorphic\nloadTestSpec(Box 2)\nsetSeed(0)\n")
    _, replayed = box("replay", text=state["script"])
    comparison = replayed["comparison"]
    assert comparison["same_cases"]
    assert comparison["same_front"]
    assert comparison["pairs"][0] == comparison["pairs"][1] > 10
    _, replayed = box("replay", text=state["script"].replace("setSeed(0)", "setSeed(1)"))
    assert not replayed["comparison"]["same_cases"]
    assert not replayed["comparison"]["same_front"]
    assert box("state")[1]["script"] == state["script"]  # the pool is as it was
    _, adopted = box("adopt")
    assert adopted["script"].count("setSeed(1)") == 1
    assert box("replay", text=adopted["script"])[1]["comparison"]["same_cases"]


def test_a_replay_on_an_empty_pool_fills_it(box):
    _, state = box("replay", text="//mine\nloadTestSpec(Box 2)\nsetSeed(0)\nmakeSeed([RandomValue50])\n")
    assert state["comparison"]["adopted"]
    assert state["cases"] == 50
    assert state["script"].count("loadTestSpec") == 1


def test_a_check_lists_all_mistakes_and_runs_nothing(box):
    _, reply = box("check", text="makeSed([a])\nmakeSeed(\nmakeSeed([RandomValue5])")
    assert [(problem["line"], problem["column"]) for problem in reply["problems"]] == [(1, 1), (2, 10)]
    assert "Did you mean 'makeSeed'?" in reply["problems"][0]["message"]
    _, reply = box("check", text="makeSeed([<b>bold</b>])")
    assert reply["problems"][0]["line"] == 1
    assert box("check", text="makeSeed([RandomValue5])")[1] == {"number": 7, "problems": [], "commands": 1}
    assert box("state")[1]["cases"] == 0


def test_a_command_that_fails_leaves_no_trace(box):
    box("play", text="makeSeed([RandomValue50])")
    kind, failure = box("play", text="makeSeed([RandomValue5])\neditTestCase(3;x;wide)\nmakeSeed([RandomValue5])")
    assert kind == "failure"
    assert failure["line"] == 2
    _, state = box("state")
    assert state["cases"] == 55
    assert state["script"].count("makeSeed") == 2
    assert box("replay", text=state["script"])[1]["comparison"]["same_cases"]


def test_a_stopped_command_keeps_its_cases_in_a_file_that_the_script_loads(box, monkeypatch):
    from datamorphic.errors import Interrupted
    from datamorphic.scripting.pool import TestPool

    box("play", text="makeSeed([RandomValue50])")
    explore = TestPool._explore

    def explore_and_stop(*arguments):
        explore(*arguments)
        raise Interrupted("interrupted")

    monkeypatch.setattr(TestPool, "_explore", explore_and_stop)
    _, state = box("play", text=f"{WALK}\nmakeSeed([RandomValue5])")
    assert state["interrupted"]
    assert state["cases"] > 70
    assert "clean()\nloadTestSet(stopped-1.parquet)\nsetSeed(0;2)\n" in state["script"]
    monkeypatch.undo()
    _, state = box("play", text="makeSeed([RandomValue5])")
    assert box("replay", text=state["script"])[1]["comparison"]["same_cases"]


def test_the_front_is_a_file_that_can_be_read(box):
    from datamorphic.exploration.front import Front

    assert box("front")[1]["path"] is None
    box("play", text=f"makeSeed([RandomValue50])\n{WALK}")
    _, reply = box("front")
    assert len(Front.load(reply["path"])) == reply["pairs"] > 10
    assert box("front")[1]["path"] == reply["path"]


def test_a_model_with_data_has_moves_and_a_seed_maker_of_its_rows(ask, tmp_path):
    import pandas as pd

    pd.DataFrame({"age": range(30, 54), "job": ["a", "b"] * 12}).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "answers.py").write_text("def answer(frame):\n    return (frame['age'] > 40).astype(str)\n")
    subject = {"kind": "files", "name": "<i>answer</i>", "model": "answers:answer", "data": str(tmp_path / "rows.csv")}
    _, state = ask("open", subject=subject, folder=str(tmp_path), served=str(tmp_path))
    assert state["names"]["seed_maker"]["declared"] == ["DataRows"]
    assert "up_age" in state["names"]["datamorphism"]["declared"]
    _, state = ask("play", text="makeSeed([DataRows])\nmakeMutant([up_age])\nexecuteTestCases()")
    assert state["cases"] == state["executed"] == 48
    assert ask("replay", text=state["script"])[1]["comparison"]["same_cases"]


def test_an_estimate_tries_a_command_on_a_copy_of_the_pool(box):
    box("play", text="makeSeed([RandomValue50])")
    combination = {"strategy": "kOrderComplete", "moves": ["upward", "downward"], "order": 3}
    kind, reply = box(
        "estimate",
        text='kOrderComplete(3;[];[upward,downward];"";"";100)',
        makers="[RandomValue10]",
        combination=combination,
    )
    assert kind == "reply"
    assert (reply["size"], reply["cases"]) == (60 * (2 + 4 + 8), 60)
    assert 50 < reply["new_cases"] <= 300  # 100 sequences of at most three steps
    _, reply = box("estimate", text="GAOptimizeFilter([upward];[AvgDistance];1)")
    assert (reply["size"], reply["cases"]) == (None, 50)
    _, state = box("state")
    assert state["cases"] == 50
    assert "Complete" not in state["script"]
