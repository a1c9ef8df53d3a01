"""The studio's side of a test pool: the log, the state, a process that ends, and commands that are stopped."""

import asyncio
import sys
from collections import deque
from types import SimpleNamespace

import pytest

from datamorphic.errors import UsageError
from datamorphic.web.pool_client import RECORDED_FILE, PoolClient, PoolFailure
from datamorphic.web.pool_session import PoolSession
from datamorphic.web.subject import ChosenSubject
from support.waiting import pause_until


class SessionWorker:
    """A worker whose session is in this process; requests named in `silent_kinds` are answered when it is interrupted."""

    def __init__(self):
        self.session, self.events = PoolSession(), deque()
        self.process = SimpleNamespace(returncode=None)
        self.silent_texts, self.waiting, self.interrupts = [], [], 0
        self.reacts = True

    async def send(self, request):
        if request.get("text") in self.silent_texts:
            self.events.append({"event": "progress", "share": 0.5, "text": "walking", "left": "1 s left"})
            self.waiting.append(request)
        else:
            self._serve(request)

    def _serve(self, request):
        self.session.serve(request, lambda kind, data: self.events.append({"event": kind, **data}))

    async def read_event(self):
        while not self.events:
            if self.process.returncode is not None:
                return None
            await asyncio.sleep(0.01)
        return self.events.popleft()

    def interrupt(self):
        self.interrupts += 1
        if self.reacts and self.waiting:
            number = self.waiting.pop()["number"]
            self.events.append({"event": "reply", "number": number, "interrupted": True, **self.session._describe()})

    def kill(self):
        self.process.returncode = -9


class SessionWorkers:
    """Starts `SessionWorker`s."""

    def __init__(self):
        self.started = []

    async def take(self):
        self.started.append(SessionWorker())
        return self.started[-1]


@pytest.fixture
def workers(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    return SessionWorkers()


@pytest.fixture
def client(workers, tmp_path):
    return PoolClient(workers, ChosenSubject.of_demo("Box 2"), tmp_path, tmp_path)


async def wait_until_idle(client):
    await pause_until(lambda: client.running is None and not client._tasks, "the end of the command")


def test_commands_are_logged_and_recorded(client, tmp_path):
    async def work():
        client.start("makeSeed([RandomValue50])")
        await wait_until_idle(client)
        client.start("makeSeed([Nobody])")
        await wait_until_idle(client)
        with pytest.raises(PoolFailure, match="Nobody"):
            await client.play("makeSeed([Nobody])")

    asyncio.run(work())
    assert [entry.kind for entry in client.log] == ["done", "failed", "failed"]
    assert client.log[0].outcome.startswith("50 cases added")
    assert client.log[1].line == 1
    assert client.state["cases"] == 50
    assert "makeSeed([RandomValue50])" in (tmp_path / RECORDED_FILE).read_text()


def test_one_command_at_a_time(client, workers):
    async def work():
        await client.open()
        workers.started[0].silent_texts = ["slow"]
        client.start("slow")
        await pause_until(lambda: client.share is not None, "progress")
        assert client.running.text == "slow"
        assert (client.share, client.left) == (0.5, "1 s left")
        with pytest.raises(UsageError, match="A command is running"):
            client.start("clean()")
        with pytest.raises(UsageError, match="A command is running"):
            client.start_over(3)
        await client.stop()
        await wait_until_idle(client)

    asyncio.run(work())
    assert client.log[-1].kind == "stopped"
    assert workers.started[0].interrupts == 1


def test_a_process_that_does_not_react_is_killed_and_its_commands_are_kept(client, workers):
    async def work():
        await client.play("makeSeed([RandomValue50])")
        worker = workers.started[0]
        worker.silent_texts, worker.reacts = ["slow"], False
        client.start("slow")
        await asyncio.sleep(0.05)
        await client.stop()
        await wait_until_idle(client)
        assert worker.interrupts >= 1  # a busy machine may have no time for the second one
        assert client.log[-1].kind == "failed"
        assert "has ended" in client.log[-1].outcome
        await client.open()
        assert client.state["cases"] == 0
        assert "RandomValue50" in client.lost_script
        await client.replay(client.lost_script)

    asyncio.run(work())
    assert client.state["cases"] == 50
    assert client.comparison["adopted"]
    assert client.lost_script == ""


def test_a_process_that_is_killed_between_two_commands_is_reported(client, workers):
    async def work():
        await client.play("makeSeed([RandomValue50])")
        workers.started[0].kill()
        with pytest.raises(PoolFailure, match="has ended"):
            await client.play("executeTestCases()")  # not on an empty pool
        await client.play("makeSeed([RandomValue5])")

    asyncio.run(work())
    assert [entry.kind for entry in client.log] == ["done", "failed", "done"]
    assert client.state["cases"] == 5


def test_starting_over_has_another_seed(client, workers):
    async def work():
        await client.play("makeSeed([RandomValue50])")
        client.start_over(5)
        await wait_until_idle(client)
        await client.play("makeSeed([RandomValue50])")

    asyncio.run(work())
    assert len(workers.started) == 2
    assert "setSeed(5)" in client.state["script"]


def test_commands_of_another_system_are_not_offered(client, workers, tmp_path):
    (tmp_path / RECORDED_FILE).write_text("//Recorded by datamorphic\nloadTestSpec(Box 1)\nsetSeed(0)\nclean()\n")
    asyncio.run(client.open())
    assert client.lost_script == ""
