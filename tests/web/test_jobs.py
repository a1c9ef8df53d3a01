"""Jobs: a command in a process, its events and its files, and Stop."""

import asyncio
import json
import os

import pytest

from datamorphic.web import jobs
from datamorphic.web.jobs import StudioJob, Worker, WorkerPool
from support.cases import in_one_test
from support.waiting import pause_until


class FakeWorker:
    """Plays events as a process would."""

    def __init__(self, events, wait_for_stop=False):
        self.events, self.wait_for_stop = list(events), wait_for_stop
        self.requests, self.interrupted, self.killed = [], asyncio.Event(), asyncio.Event()
        self.process = self
        self.returncode = None

    async def send(self, request):
        self.requests.append(request)

    async def read_event(self):
        if self.events:
            event = self.events.pop(0)
            if isinstance(event, Exception):
                raise event
            return event
        if self.wait_for_stop:
            await self.killed.wait()
        return None

    async def wait(self):
        return 0

    def interrupt(self):
        self.interrupted.set()

    def kill(self):
        self.killed.set()


class FakePool:
    def __init__(self, worker):
        self.worker, self.queue = worker, []

    async def take(self):
        return self.worker


def make_job(folder, **fields):
    return StudioJob(number=1, title="<b>Test</b>", arguments=["explore", "--json"], folder=folder / "1", **fields)


def run(job, events, **options):
    async def execute():
        worker = FakeWorker(events, **options)
        await job.execute(FakePool(worker), job.folder)
        return worker

    return asyncio.run(execute())


def test_an_incomplete_result_is_a_result(tmp_path):
    job = make_job(tmp_path)
    job.folder.mkdir()
    (job.folder / "output.txt").write_text('{"headline": "incomplete: ..."}')
    run(job, [{"event": "end", "code": 4}])
    assert (job.state, job.succeeded) == ("finished", True)


def test_a_job_follows_its_process(tmp_path):
    job = make_job(tmp_path)
    job.folder.mkdir()
    (job.folder / "output.txt").write_text('{"headline": "fine"}')
    events = [
        {"event": "progress", "share": 0.5, "text": "half", "left": "1 s"},
        {"event": "run", "number": 12},
        {"event": "outcome", "findings": []},
        {"event": "unknown"},
        {"event": "end", "code": 1},
    ]
    worker = run(job, events)
    assert worker.requests[0]["arguments"] == ["explore", "--json"]
    assert (job.state, job.share, job.run, len(job.outcomes)) == ("finished", 0.5, 12, 1)
    assert job.result == {"headline": "fine"}
    again = StudioJob.load(job.folder)
    assert (again.state, again.run, again.title) == ("finished", 12, "<b>Test</b>")


@in_one_test(
    ("events", "state"),
    [
        ([{"event": "end", "code": 2}], "failed"),
        ([{"event": "end", "code": 0}], "failed"),  # there is no result
        ([{"event": "end", "code": 130}], "interrupted"),
        ([], "killed"),  # the process ended before its work
        ([ValueError("a line that is too long")], "killed"),
        ([OSError("no memory")], "killed"),
    ],
)
def test_how_jobs_end(tmp_path, events, state):
    job = make_job(tmp_path)
    run(job, events)
    assert job.state == state
    assert job.ended
    assert StudioJob.load(job.folder).state == state
    assert bool(job.reason) == (state == "killed")
    assert StudioJob.load(job.folder).error == job.error


@in_one_test(
    ("status", "text"),
    [(-9, "killed (SIGKILL)"), (-11, "killed (SIGSEGV)"), (-99, "killed (signal 99)"), (1, "(exit code 1)")],
)
def test_a_process_that_dies_is_explained(tmp_path, monkeypatch, status, text):
    async def wait(self):
        return status

    monkeypatch.setattr(FakeWorker, "wait", wait)
    job = make_job(tmp_path)
    run(job, [{"event": "progress", "share": 0.5}])
    assert text in job.error
    assert "Start the job again" in job.error


def test_errors_are_the_last_lines_of_stderr(tmp_path):
    job = make_job(tmp_path)
    assert job.error == ""
    job.folder.mkdir()
    (job.folder / "errors.txt").write_bytes(b"x" * 10_000 + b"\xff the end")
    assert len(job.error) == jobs.MAX_MESSAGE_CHARACTERS
    assert job.error.endswith("the end")


@pytest.mark.parametrize("text", ["", "no json", "\xff"])
def test_a_result_that_is_none(tmp_path, text):
    job = make_job(tmp_path)
    job.folder.mkdir()
    (job.folder / "output.txt").write_text(text, encoding="latin-1")
    assert job.result is None
    assert not job.succeeded


def test_stop_interrupts_then_kills(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "STOP_GRACE_SECONDS", 0.2)
    job = make_job(tmp_path)

    async def stop_a_process_that_does_not_react():
        worker = FakeWorker([], wait_for_stop=True)
        task = asyncio.create_task(job.execute(FakePool(worker), tmp_path))
        await pause_until(lambda: job.state == "running", "the start")
        await job.stop()
        await asyncio.wait_for(task, 5)
        return worker

    worker = asyncio.run(stop_a_process_that_does_not_react())
    assert worker.interrupted.is_set()
    assert worker.killed.is_set()
    assert job.state == "interrupted"


def test_a_process_is_killed_where_there_are_no_process_groups(monkeypatch):
    monkeypatch.delattr(os, "killpg")  # as on Windows

    async def start_and_kill():
        worker = await Worker.start()
        worker.kill()
        return await asyncio.wait_for(worker.process.wait(), 60)

    assert asyncio.run(start_and_kill()) != 0


def test_a_job_waits_for_a_place_and_can_be_stopped_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_JOBS_AT_ONCE", 1)
    first, second, third = (make_job(tmp_path / name) for name in "abc")

    async def stop_the_second():
        worker = FakeWorker([], wait_for_stop=True)
        pool = FakePool(worker)
        tasks = [asyncio.create_task(job.execute(pool, tmp_path)) for job in (first, second, third)]
        await pause_until(lambda: first.state == "running", "the start")
        assert (second.state, second.jobs_before) == ("waiting", 0)
        assert (third.state, third.jobs_before) == ("waiting", 1)
        await second.stop()
        await asyncio.wait_for(tasks[1], 5)
        worker.kill()
        await asyncio.wait_for(asyncio.gather(*tasks), 5)
        assert pool.queue == []

    asyncio.run(stop_the_second())
    assert (first.state, second.state, third.state) == ("killed", "interrupted", "killed")


def test_a_job_that_a_studio_left_running_was_killed(tmp_path):
    job = make_job(tmp_path, state="running")
    job.folder.mkdir()
    job.save()
    assert StudioJob.load(job.folder).state == "killed"
    assert StudioJob.load(tmp_path / "missing") is None


def test_the_command_for_a_terminal_can_be_pasted(tmp_path):
    job = make_job(tmp_path)
    job.arguments = ["test", "/a b/$(id).skops", "--target=x; rm -rf /", "--json", f"--html={job.folder}/x.html"]
    assert job.command == "datamorphic test '/a b/$(id).skops' '--target=x; rm -rf /'"


def test_two_people_never_get_the_same_process(monkeypatch):
    async def start(environment=None):
        await asyncio.sleep(0.01)
        return FakeWorker([])

    monkeypatch.setattr(jobs.Worker, "start", start)

    async def take_at_once():
        pool = WorkerPool()
        return await asyncio.gather(*(pool.take() for _ in range(5)))

    assert len(set(asyncio.run(take_at_once()))) == 5


@pytest.mark.slow
def test_a_pool_keeps_a_process_ready_and_ends_all(tmp_path):
    async def take_two():
        pool = WorkerPool({**os.environ, "MARK": "1"})
        pool.prepare()
        first = await pool.take()
        job = make_job(tmp_path)
        job.arguments = ["patterns", "--json"]
        await job.execute(pool, tmp_path)
        await pool.close()
        for worker in pool._workers:  # asyncio closes the pipes later, when its loop may have ended
            worker.process._transport.close()
        return first, job

    first, job = asyncio.run(take_two())
    assert isinstance(first, Worker)
    assert first.process.returncode < 0
    assert job.state == "finished"
    assert json.loads((job.folder / "output.txt").read_text())
