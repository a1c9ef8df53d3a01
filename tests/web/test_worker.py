"""The worker process: one command, its events and its files."""

import io
import json
import signal
import subprocess
import sys

import pytest

from datamorphic.cli.exit_codes import ExitCode
from datamorphic.cli.main import app
from datamorphic.web import worker
from datamorphic.web.interruption import allow_interrupts, ignore_interrupts
from datamorphic.web.jobs import INTERRUPT
from datamorphic.web.worker import EventWriter, run_command


def read_events(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_events_are_lines_of_json():
    stream = io.StringIO()
    EventWriter(stream).write("outcome", {"title": "a\nb", "value": float("nan")})
    (event,) = read_events(stream)
    assert event["event"] == "outcome"
    assert event["title"] == "a\nb"


def test_progress_is_written_at_most_ten_times_a_second(monkeypatch):
    stream, now = io.StringIO(), [100.0]
    monkeypatch.setattr(worker.time, "monotonic", lambda: now[0])
    writer = EventWriter(stream)
    for step in range(100):
        now[0] = 100.0 + step / 100
        writer.write("progress", {"share": step})
    assert 9 <= len(read_events(stream)) <= 11
    writer.write("end", {"code": 0})
    assert read_events(stream)[-1] == {"event": "end", "code": 0}  # what is not progress is never left out


@pytest.fixture
def unchanged_process(monkeypatch):
    """`run_command` changes the process, which is its own: the one of the tests gets all of it back."""
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(app, "registered_commands", app.registered_commands)
    monkeypatch.setattr(app, "registered_groups", app.registered_groups)
    return monkeypatch


def test_what_a_command_prints_goes_to_files(tmp_path, unchanged_process, capsys):
    unchanged_process.chdir(tmp_path)
    assert run_command(["patterns", "--json"], tmp_path, tmp_path) == 0
    assert json.loads((tmp_path / "output.txt").read_text())
    assert capsys.readouterr() == ("", "")


def test_a_wrong_command_ends_with_its_code_and_one_line(tmp_path, unchanged_process):
    unchanged_process.chdir(tmp_path)
    code = run_command(["explore", "missing.skops", "missing.csv"], tmp_path, tmp_path)
    assert code == 2
    errors = (tmp_path / "errors.txt").read_text()
    assert "missing" in errors
    assert "Traceback" not in errors


def test_a_stop_interrupts_the_work_and_nothing_else(monkeypatch):
    previous_handler = signal.getsignal(signal.SIGINT)
    try:
        ignore_interrupts()
        signal.raise_signal(signal.SIGINT)  # too late: nothing happens
        with pytest.raises(KeyboardInterrupt), allow_interrupts():
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, previous_handler)


@pytest.fixture
def process():
    """A worker of its own that is ready."""
    command = [sys.executable, "-m", "datamorphic.web.worker"]
    child = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, text=True, bufsize=1)
    assert json.loads(child.stdout.readline()) == {"event": "ready"}
    yield child
    child.kill()
    child.wait()
    child.stdin.close()
    child.stdout.close()


def send(process, request):
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()


def read_until(process, kind):
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == kind:
            return event
    raise AssertionError(f"the worker ended without {kind!r}")


@pytest.mark.slow
def test_a_process_runs_one_command_and_ends(process, tmp_path):
    arguments = ["explore", "--subject=Box 2", "--walks=50", "--json"]
    send(process, {"kind": "command", "arguments": arguments, "folder": str(tmp_path), "output": str(tmp_path)})
    assert read_until(process, "end") == {"event": "end", "code": 0}
    assert process.wait(20) == 0
    assert json.loads((tmp_path / "output.txt").read_text())


@pytest.mark.slow
def test_a_request_interrupts_a_command_without_any_signal_from_outside(process, tmp_path):
    arguments = ["explore", "--subject=Box 2", "--strategy=random_walk", "--walks=10000000", "--json"]
    send(process, {"kind": "command", "arguments": arguments, "folder": str(tmp_path), "output": str(tmp_path)})
    read_until(process, "progress")
    send(process, INTERRUPT)
    assert read_until(process, "end")["code"] == ExitCode.INTERRUPTED


@pytest.mark.slow
def test_a_pool_survives_a_stop_and_ends_with_the_studio(process, tmp_path):
    subject = {"kind": "demo", "name": "Box 2", "subject": "Box 2"}
    send(process, {"kind": "open", "number": 1, "subject": subject, "folder": str(tmp_path), "served": str(tmp_path)})
    assert read_until(process, "reply")["cases"] == 0
    send(process, INTERRUPT)  # a stop when nothing runs
    send(process, {"kind": "play", "number": 2, "text": "makeSeed([RandomValue200])"})
    assert read_until(process, "reply")["cases"] == 200
    process.stdin.close()
    assert process.wait(20) is not None


def test_a_studio_that_is_gone_does_not_make_the_work_fail():
    class BrokenStream(io.StringIO):
        def flush(self):
            raise BrokenPipeError

    stream = BrokenStream()
    EventWriter(stream).write("outcome", {"findings": []})
    assert "outcome" in stream.getvalue()  # it was tried
