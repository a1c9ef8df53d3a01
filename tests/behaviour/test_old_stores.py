"""Runs that an earlier version stored can be listed, shown, exported and resumed."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from datamorphic.cli.main import app

pytestmark = pytest.mark.slow  # a dozen commands
STORES = Path(__file__).resolve().parent / "stores"
EXPECTED = json.loads((STORES / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def old_store(tmp_path):
    """Unpack the stored runs where they can be written to."""
    store = tmp_path / "runs.sqlite"
    store.write_bytes(gzip.decompress((STORES / "runs.sqlite.gz").read_bytes()))
    store.chmod(0o600)
    shutil.copytree(STORES / "runs.sqlite.files", tmp_path / "runs.sqlite.files")
    shutil.copy(STORES / "stored_system.py", tmp_path)
    return tmp_path


def run_command(folder, *arguments):
    environment = {"DATAMORPHIC_STORE": str(folder / "runs.sqlite")}
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.syspath_prepend(folder)  # the system of the runs is a module beside their store
        return CliRunner().invoke(app, list(arguments), env=environment)


def test_runs_are_listed_and_shown(old_store):
    listed = json.loads(run_command(old_store, "runs", "list", "--json").stdout)
    assert [[run["id"], run["verb"], run["state"]] for run in listed] == EXPECTED["runs"]
    for run in listed:
        completed = run_command(old_store, "runs", "show", str(run["id"]), "--json")
        assert completed.exit_code == 0, completed.output
        assert json.loads(completed.stdout)["verb"] == run["verb"]
        assert run_command(old_store, "runs", "show", str(run["id"])).exit_code == 0


@pytest.mark.parametrize("verb", ["explore", "test"])
def test_reports_of_finished_runs_are_exported(old_store, verb):
    number = next(run for run, name, state in EXPECTED["runs"] if name == verb and state == "finished")
    completed = run_command(old_store, "runs", "export", str(number), "--to", "report.html")
    assert completed.exit_code == 0, completed.output
    assert (old_store / "report.html").stat().st_size > 1000


@pytest.mark.parametrize("state", ["killed", "interrupted"])
def test_a_stopped_run_is_resumed_to_the_result_of_an_undisturbed_one(old_store, state):
    number = next(run for run, _, its_state in EXPECTED["runs"] if its_state == state)
    completed = run_command(old_store, "runs", "resume", str(number), "--json")
    assert completed.exit_code == 0, completed.output
    stored_run = json.loads(run_command(old_store, "runs", "show", str(number), "--json").stdout)
    assert stored_run["state"] == "finished"
    assert {key: stored_run["summary"].get(key) for key in EXPECTED["summary"]} == EXPECTED["summary"]
    run_command(old_store, "runs", "export", str(number), "--to", "pairs.csv")
    assert hashlib.sha256((old_store / "pairs.csv").read_bytes()).hexdigest() == EXPECTED["pairs_sha256"]
