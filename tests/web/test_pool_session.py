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
