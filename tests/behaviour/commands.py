"""The sections of the record that run the command line in child processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from canonical import key_structure
from sections import add, section

FOLDER = Path(__file__).parent
TIMEOUT_SECONDS = 120
COMMANDS = (
    "demo",
    "test",
    "init",
    "explore",
    "check",
    "cover",
    "select",
    "mutate",
    "hunt",
    "generate",
    "simulate",
    "laws",
    "study",
    "runs",
    "worker-check",
    "runs list",
    "runs show",
    "runs resume",
    "runs diff",
    "runs export",
    "runs remove",
    "runs failures",
)
#: of JSON documents: what depends on the clock, the machine or the installed versions
VOLATILE_KEYS = re.compile(r"second|version|started|ended|pid|time|born|heartbeat")


def run_command(*arguments: str, folder: str | Path = FOLDER, store: str = "none") -> subprocess.CompletedProcess[str]:
    """Run ``datamorphic`` where it can import the planted models."""
    environment = {
        **os.environ,
        "COLUMNS": "300",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "DATAMORPHIC_STORE": store,
        "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(FOLDER)])),
    }
    return subprocess.run(
        [sys.executable, "-m", "datamorphic", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def stable_numbers(document: Any) -> Any:
    """Return the numbers and booleans at the top of a JSON document that do not depend on the clock."""
    if not isinstance(document, dict):
        return len(document)
    return {
        name: value
        for name, value in document.items()
        if isinstance(value, bool | int | float) and not VOLATILE_KEYS.search(name)
    }


# -- options and commands --------------------------------------------------------------------------------------------


def options_in_help(text: str) -> list[str]:
    """Return the options that a help text lists, without those it only mentions."""
    options = set()
    for line in text.splitlines():
        match = re.match(r"(?:\*\s+)?((?:-{1,2}[A-Za-z][\w-]*[\s,/]+)+)", line.strip("│| ").strip() + " ")
        if match:
            options |= set(re.findall(r"--?[A-Za-z][\w-]*", match.group(1)))
    return sorted(options)


def commands_in_help(text: str) -> list[str]:
    """Return the commands that a help text lists."""
    _, _, listing = text.partition("Commands")
    return sorted(re.findall(r"^[│| ]\s+([a-z][a-z-]+)\s{2,}\S", listing.partition("╰")[0], flags=re.MULTILINE))


def help_options(command: str) -> Any:
    completed = run_command(*command.split(), "--help")
    options = options_in_help(completed.stdout)
    if completed.returncode or "--help" not in options:
        raise ValueError(f"The help of {command!r} cannot be read.")
    return options


for _command in COMMANDS:
    add(f"cli options/{_command}", partial(help_options, _command))


@section("cli options/all commands")
def listed_commands() -> Any:
    return {
        "datamorphic": commands_in_help(run_command("--help").stdout),
        "datamorphic runs": commands_in_help(run_command("runs", "--help").stdout),
        "options": help_options(""),
    }


# -- JSON documents --------------------------------------------------------------------------------------------------

IRIS_TREE = ("planted_models:iris_tree", "data:iris", "--target", "target")
SMALL_EXPLORE = ("--subject", "Box 1", "--walks", "60", "--seeds", "30")
JSON_CALLS: dict[str, tuple[str, ...]] = {
    "explore subject": ("explore", *SMALL_EXPLORE, "--strategy", "random_target"),
    "explore model": ("explore", *IRIS_TREE, "--walks", "60", "--moves", "petal width (cm)"),
    "explore auto": ("explore", *IRIS_TREE, "--walks", "60", "--strategy", "auto"),
    "explore plan": ("explore", "--subject", "Box 1", "--plan", "--walks", "200"),
    "test model": ("test", *IRIS_TREE, "--only", "answers", "--only", "borders", "--only", "classes"),
    "check learner": (
        "check",
        "sklearn.neighbors:KNeighborsClassifier",
        "--param",
        "n_neighbors=3",
        "--inputs",
        "10",
        "--relation",
        "MR-0",
        "--relation",
        "MR-1.1",
    ),
    "check model": ("check", "planted_models:iris_tree", "data:iris", "--target", "target", "--relation", "row order"),
    "cover DTC": ("cover", *IRIS_TREE),
    "cover BVA": ("cover", *IRIS_TREE, "--criterion", "BVA"),
    "cover DTMT": ("cover", *IRIS_TREE, "--criterion", "DTMT"),
    "select DTC": ("select", *IRIS_TREE),
    "select BVA": ("select", *IRIS_TREE, "--criterion", "BVA"),
    "select DTMT": ("select", *IRIS_TREE, "--criterion", "DTMT", "--minimal"),
    "mutate": ("mutate", "textbook_learner.py", "--limit", "2", "--inputs", "8", "--compared", "20", "--seed", "1"),
    "hunt": ("hunt", "program:tanh/emu10", "--trials", "2"),
    "hunt function": ("hunt", "planted_models:area", "planted_models:doubled_sides", "--budget", "200"),
    "generate": ("generate", "program:tanh/tripling", "--generator", "MT-BART", "--n", "20"),
    "simulate": ("simulate", "--generator", "IPART", "--generator", "MT-RT", "--rate", "0.02", "--trials", "10"),
    "laws subject": ("laws", "--subject", "Box 1", "--examples", "20"),
    "laws broken": ("laws", "planted_models:FaultySystem", "--examples", "40"),
}


def json_call(name: str) -> Any:
    """Return exit code, key structure and stable numbers of a command with --json."""
    completed = run_command(*JSON_CALLS[name], "--json")
    try:
        document = json.loads(completed.stdout)
    except ValueError:
        raise ValueError(f"No JSON on stdout (exit code {completed.returncode}): {completed.stderr[-300:]}") from None
    return {"exit": completed.returncode, "numbers": stable_numbers(document), "keys": key_structure(document)}


for _name in JSON_CALLS:
    add(f"cli json/{_name}", partial(json_call, _name))


def study_rows(name: str) -> Any:
    completed = run_command("study", name, "--json")
    document = json.loads(completed.stdout)
    rows = document["rows"] if isinstance(document, dict) else document
    figures = [[row["row"], row["column"], row["published"], row["ours"]] for row in rows]
    return {"exit": completed.returncode, "figures": figures, "keys": key_structure(document)}


#: with the data set that each needs
STUDIES = {"000-12": "", "002-3": "", "004-2": "sonar", "004-4": "sonar"}
for _name, _needs in STUDIES.items():
    add(f"study/{_name}", partial(study_rows, _name), _needs)

#: one table per kind of job, since a job draws its random numbers from the names of its class and fields
SLOW_STUDIES = {"001-1": "", "002-9": "", "002-25": "", "002-30": "", "redwine_fault": "red_wine"}
for _name, _needs in SLOW_STUDIES.items():
    add(f"slow study/{_name}", partial(study_rows, _name), _needs)


@section("study/list")
def study_list() -> Any:
    return sorted(line.split()[0] for line in run_command("study", "--list").stdout.splitlines() if line.strip())


# -- exit codes ------------------------------------------------------------------------------------------------------

APPLICANTS = ("applicants.csv", "--target", "decision")
EXIT_CALLS: dict[str, tuple[str, ...]] = {
    "version": ("--version",),
    "no arguments": (),
    "test good": ("test", "planted_models:lender", *APPLICANTS, "--only", "answers", "--only", "repeats"),
    "test findings": ("test", "planted_models:silent_lender", *APPLICANTS, "--only", "answers"),
    "test findings, never fail": (
        "test",
        "planted_models:silent_lender",
        *APPLICANTS,
        "--only",
        "answers",
        "--fail-on",
        "never",
    ),
    "test protected": (
        "test",
        "planted_models:gender_lender",
        *APPLICANTS,
        "--protected",
        "gender",
        "--only",
        "protected",
    ),
    "test broken model": ("test", "planted_models:broken_model", *APPLICANTS, "--only", "answers"),
    "explore broken model": ("explore", "planted_models:broken_model", *APPLICANTS, "--walks", "5"),
    "explore failing model": ("explore", "planted_models:failing_lender", *APPLICANTS, "--walks", "20"),
    "explore no model": ("explore",),
    "explore unknown strategy": ("explore", "--subject", "Box 1", "--strategy", "wander"),
    "explore unknown subject": ("explore", "--subject", "Box 9"),
    "explore unknown data": ("explore", "planted_models:lender", "data:no_such_data_set_at_all.csv"),
    "explore missing file": ("explore", "no_model.skops", "applicants.csv"),
    "explore unknown target": ("explore", "planted_models:lender", "applicants.csv", "--target", "nothing"),
    "explore bad seed": ("explore", "--subject", "Box 1", "--seed", "-1"),
    "unknown command": ("expolre",),
    "unknown option": ("explore", "--subject", "Box 1", "--wlaks", "3"),
    "unknown module": ("explore", "no_such_module:model", "applicants.csv"),
    "cover enough": ("cover", *IRIS_TREE, "--at-least", "0.5"),
    "cover too little": ("cover", "planted_models:iris_tree", "few.csv", "--at-least", "0.9"),
    "laws hold": ("laws", "planted_models:SoundSystem", "--examples", "20"),
    "check fault": (
        "check",
        "textbook_learner:NearestNeighbour",
        "--relation",
        "MR-0",
        "--inputs",
        "5",
        "--like",
        "sklearn.neighbors:KNeighborsClassifier",
    ),
    "hunt found": ("hunt", "program:tanh/emu10"),
    "study unknown": ("study", "999-9"),
    "runs without a store": ("runs", "list"),
    "init": ("init", "planted_models:iris_tree", "data:iris", "--target", "target", "--out", "test_drafted.py"),
}


def exit_code(name: str) -> Any:
    """Return the exit code of a command, and the files it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        import planted_models as planted

        import datamorphic as dm

        planted.make_applicants(120).to_csv(Path(folder) / "applicants.csv", index=False)
        dm.data.load("iris").drop(columns="target").head(20).to_csv(Path(folder) / "few.csv", index=False)
        before = set(os.listdir(folder))
        completed = run_command(*EXIT_CALLS[name], folder=folder)
        written = sorted(set(os.listdir(folder)) - before - {"__pycache__"})
        traceback = "Traceback" in completed.stderr
        return {"exit": completed.returncode, "files": written, "traceback": traceback}


for _name in EXIT_CALLS:
    add(f"cli exit/{_name}", partial(exit_code, _name))


@section("cli files/explore")
def explore_files() -> Any:
    """Write every file that explore writes and compare two fronts."""
    with tempfile.TemporaryDirectory() as folder:
        first = run_command("explore", *SMALL_EXPLORE, "--save", "a.parquet", "--html", "a.html", folder=folder)
        same = run_command("explore", *SMALL_EXPLORE, "--seed", "1", "--compare", "a.parquet", folder=folder)
        other = ("explore", "--subject", "Box 2", "--walks", "60", "--seeds", "30", "--compare", "a.parquet")
        moved = run_command(*other, folder=folder)
        return {"exits": [first.returncode, same.returncode, moved.returncode], "files": sorted(os.listdir(folder))}


@section("cli files/test")
def test_files() -> Any:
    """Write every file that test writes."""
    files = {
        "--html": "a.html",
        "--junit": "a.xml",
        "--sarif": "a.sarif",
        "--markdown": "a.md",
        "--pytest": "test_a.py",
        "--save-front": "a.parquet",
    }
    options = [text for pair in files.items() for text in pair]
    with tempfile.TemporaryDirectory() as folder:
        call = ("test", *IRIS_TREE, "--only", "borders", "--only", "answers")
        completed = run_command(*call, *options, folder=folder)
        sarif = json.loads((Path(folder) / "a.sarif").read_text())
        return {"exit": completed.returncode, "files": sorted(os.listdir(folder)), "sarif": key_structure(sarif)}


@section("cli files/demo")
def demo_files() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        completed = run_command("demo", folder=folder)
        written = sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())
        return {"exit": completed.returncode, "files": [name for name in written if "__pycache__" not in name]}


@section("cli runs/store")
def runs_in_store() -> Any:
    """Keep runs in a store, then list, show, compare, export and remove them."""
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "runs.sqlite")
        call = partial(run_command, store=store, folder=FOLDER)
        begun = [
            call("explore", *SMALL_EXPLORE),
            call("explore", *SMALL_EXPLORE, "--seed", "1"),
            call("test", "--subject", "Box 1", "--only", "answers"),
            call(*JSON_CALLS["check learner"]),
            call("laws", "planted_models:FaultySystem", "--examples", "30"),
        ]
        documents = {
            "list": call("runs", "list", "--json"),
            "show explore": call("runs", "show", "1", "--json"),
            "show test": call("runs", "show", "3", "--json"),
            "show check": call("runs", "show", "4", "--json"),
            "show laws": call("runs", "show", "5", "--json"),
            "diff": call("runs", "diff", "1", "2", "--json"),
            "failures": call("runs", "failures", "--json"),
        }
        others = {
            "export": call("runs", "export", "1", "--to", str(Path(folder) / "exported")),
            "export test": call("runs", "export", "3", "--to", str(Path(folder) / "result.html")),
            "resume finished": call("runs", "resume", "1"),
            "resume check": call("runs", "resume", "4"),
            "show unknown": call("runs", "show", "99"),
            "remove": call("runs", "remove", "2"),
        }
        parsed = {name: json.loads(completed.stdout) for name, completed in documents.items()}
        for document in parsed.values():
            _drop_versions(document)
        return {
            "begun": [completed.returncode for completed in begun],
            "exits": {name: completed.returncode for name, completed in (documents | others).items()},
            "keys": {name: key_structure(document) for name, document in parsed.items()},
            "exported": sorted(os.listdir(Path(folder) / "exported")),
            "summaries": [parsed[f"show {verb}"]["summary"].get("calls") for verb in ("explore", "test", "check")],
        }


def _drop_versions(document: Any) -> None:
    """Remove versions of packages: they depend on what is installed."""
    for item in document if isinstance(document, list) else [document]:
        if isinstance(item, dict) and "versions" in item:
            item["versions"] = {}
