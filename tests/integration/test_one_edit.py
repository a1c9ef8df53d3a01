"""An option is one edit: a field that is added to the options of `explore` appears on every face by itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import datamorphic

FIELD_BEFORE = "    max_halvings: Annotated["
NEW_FIELD = """    patience: Annotated[
        int | None, Option("Stop after this many walks without a new border pair.", "N", low=1, label="Patience")
    ] = None
"""
FACES = """
import inspect, json, sys
import datamorphic as dm
from datamorphic.errors import ArgumentError, UsageError
from datamorphic.exploration.options import ExploreOptions
from datamorphic.runs.keep import StoreOptions, open_store
from datamorphic.scripting.call_options import parse_options
from datamorphic.web.commands import build_arguments, list_fields, list_own_fields

def explore(patience, **options):
    return dm.explore(dm.subjects["Box 1"], walks=5, seeds=10, seed=0, patience=patience, **options)

def read_message(call):
    try:
        call()
    except (ArgumentError, UsageError) as error:
        return str(error)

front = explore(7, store=sys.argv[1])
with open_store(StoreOptions(sys.argv[1])) as store:
    parameters = store.run(1).parameters
field = list_fields("explore")["patience"]
print(json.dumps({
    "signature": str(inspect.signature(dm.explore).parameters["patience"]),
    "documentation": "without a new border pair" in inspect.getdoc(dm.explore),
    "wrong value": read_message(lambda: explore(0)),
    "wrong type": read_message(lambda: explore("x")),
    "stored": parameters["patience"],
    "settings": front.settings["patience"],
    "form": [field.label, field.kind, field.low, "patience" in list_own_fields("explore")],
    "arguments": build_arguments("explore", {"patience": 7}),
    "script": parse_options("explore", ["patience=7"]),
}))
"""


@pytest.fixture(scope="module")
def edited_package(tmp_path_factory) -> Path:
    """The folder of a copy of the package in which `explore` has one more option."""
    folder = tmp_path_factory.mktemp("edited")
    source = Path(datamorphic.__file__).parent
    shutil.copytree(source, folder / "datamorphic", ignore=shutil.ignore_patterns("__pycache__"))
    options = folder / "datamorphic/exploration/options.py"
    text = options.read_text(encoding="utf-8")
    assert text.count(FIELD_BEFORE) == 1
    options.write_text(text.replace(FIELD_BEFORE, NEW_FIELD + FIELD_BEFORE), encoding="utf-8")
    return folder


def run_python(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}  # of a copy
    environment |= {"PYTHONPATH": str(folder), "COLUMNS": "160"}
    words = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=300
    )


def test_an_option_is_one_edit(edited_package):
    finished = run_python(edited_package, "-c", FACES, edited_package / "runs.db")
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout) == {
        "signature": "patience: int | None = None",
        "documentation": True,
        "wrong value": "The 'patience' parameter of explore must be an int in the range [1, inf). Got 0 instead.",
        "wrong type": "The 'patience' parameter of explore must be an int in the range [1, inf). Got 'x' instead.",
        "stored": 7,
        "settings": 7,
        "form": ["Patience", "integer", 1, True],
        "arguments": ["--patience=7"],
        "script": {"patience": 7},
    }


def test_the_command_and_the_run_store_know_it(edited_package):
    command = ["-m", "datamorphic", "explore", "--subject", "Box 1", "--walks", 5, "--seeds", 10, "--store", "kept.db"]
    finished = run_python(edited_package, *command, "--patience", 7, "--json")
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout)["settings"]["patience"] == 7
    assert "--patience" in run_python(edited_package, "-m", "datamorphic", "explore", "--help").stdout
    refused = run_python(edited_package, *command, "--patience", 0)
    assert refused.returncode == 2
    assert "--patience" in refused.stderr
