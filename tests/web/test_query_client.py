"""The client talks to one worker process, and survives its end."""

import asyncio

import pytest

from datamorphic.errors import UsageError
from datamorphic.web.query_client import QueryClient


class FakeWorker:
    """Answers questions at once; the question ``end`` ends it."""

    class process:
        returncode = None

    def __init__(self):
        self.events = []
        self.killed = False

    async def send(self, request):
        assert request["session"] == "queries"
        if request["kind"] == "wrong":
            self.events.append({"event": "failure", "number": request["number"], "message": "It is wrong."})
        elif request["kind"] != "end":
            self.events.append({"event": "progress", "share": 0.5})
            self.events.append({"event": "reply", "number": request["number"], "kind": request["kind"]})

    async def read_event(self):
        return self.events.pop(0) if self.events else None

    def kill(self):
        self.killed = True


class FakePool:
    def __init__(self):
        self.workers = []

    async def take(self):
        self.workers.append(FakeWorker())
        return self.workers[-1]


def test_one_process_answers_all_questions():
    async def ask():
        pool = FakePool()
        client = QueryClient(pool)
        replies = await asyncio.gather(client.ask("first"), client.ask("second"))
        with pytest.raises(UsageError, match="It is wrong"):
            await client.ask("wrong")
        client.close()
        return pool, replies

    pool, replies = asyncio.run(ask())
    assert [reply["kind"] for reply in replies] == ["first", "second"]
    assert [worker.killed for worker in pool.workers] == [True]


def test_a_process_that_ended_is_replaced():
    async def ask():
        pool = FakePool()
        client = QueryClient(pool)
        with pytest.raises(UsageError, match="ended before it answered"):
            await client.ask("end")
        reply = await client.ask("again")
        client.close()
        return pool, reply

    pool, reply = asyncio.run(ask())
    assert reply["kind"] == "again"
    assert len(pool.workers) == 2
