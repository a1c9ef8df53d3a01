"""How files are written, whatever fails, and which names are refused."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic import _files
from datamorphic._files import append_to_file, to_local_path, write_file
from datamorphic._text import quote_formula, unquote_formula
from datamorphic.cli.console import write_rows
from datamorphic.cli.main import app
from datamorphic.errors import UsageError
from datamorphic.relations.catalogue.promises import read_promises
from datamorphic.reporting.markdown import format_table
from datamorphic.space.table_files import read_table
from datamorphic.studies.run import study
from datamorphic.trees.pmml.writing import write_forest
from datamorphic.trees.read import read_forest
from datamorphic.web.demo_model import DATA_NAME, MODEL_NAME, make_demo_files

OLD = b"the previous file"
NUMBERS = pd.DataFrame({"x": [0.1, 0.4, 0.6, 0.9], "y": [0, 0, 1, 1]})
posix_only = pytest.mark.skipif(os.name != "posix", reason="needs the files of POSIX")


def fail_to_sync(descriptor):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def full_disk(monkeypatch):
    """A disk that is full when a file must get there."""
    monkeypatch.setattr(_files.os, "fsync", fail_to_sync)


@pytest.fixture(scope="module")
def results():
    tree = DecisionTreeClassifier(random_state=0).fit(NUMBERS[["x"]], NUMBERS["y"])
    front = dm.explore(dm.subjects["Box 1"], seeds=20, walks=20, progress=False)
    tests = dm.combine(dm.subjects["Box 1"], seeds=5, progress=False).tests
    audit = dm.test(dm.subjects["Box 1"], only="answers", progress=False)
    pool = dm.TestPool("Box 1", seed=0)
    return {"tree": tree, "front": front, "tests": tests, "audit": audit, "pool": pool}


def run_command(*words):
    outcome = CliRunner().invoke(app, [str(word) for word in words])
    if outcome.exit_code:
        raise UsageError(outcome.stderr)


WRITERS = {
    "front": ("f.parquet", lambda results, path: results["front"].save(path)),
    "report": ("r.html", lambda results, path: results["front"].to_html(path)),
    "JSON": ("r.json", lambda results, path: results["audit"].to_json(path)),
    "JUnit": ("r.xml", lambda results, path: results["audit"].to_junit(path)),
    "SARIF": ("r.sarif", lambda results, path: results["audit"].to_sarif(path)),
    "Markdown": ("r.md", lambda results, path: results["audit"].to_markdown(path)),
    "study": ("s.html", lambda results, path: study("002-1", scale="tiny", progress=False).to_html(path)),
    "test set as Parquet": ("t.parquet", lambda results, path: results["tests"].save(path)),
    "test set as CSV": ("t.csv", lambda results, path: results["tests"].save(path)),
    "test set of Morphy": ("t.tcs", lambda results, path: results["tests"].save(path)),
    "PMML": ("m.pmml", lambda results, path: write_forest(read_forest(results["tree"]), path)),
    "script": ("s.scr", lambda results, path: dm.record(path).__enter__().begin()),
    "draft": ("d.py", lambda _, path: run_command("init", "data_model:tree", "data.csv", "--out", path, "--force")),
    "rows": ("rows.csv", lambda _, path: run_command("select", "data_model:tree", "data.csv", "--out", path)),
    "demo model": (MODEL_NAME, lambda results, path: make_demo_files(path.parent)),
    "demo data": (DATA_NAME, lambda results, path: make_demo_files(path.parent)),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a model and data, where commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DATAMORPHIC_STORE", "none")
    NUMBERS.to_csv("data.csv", index=False)
    Path("data_model.py").write_text(
        "import pandas as pd\nfrom sklearn.tree import DecisionTreeClassifier\nrows = pd.read_csv('data.csv')\n"
        "tree = DecisionTreeClassifier(random_state=0).fit(rows[['x']], rows['y'])\n"
    )
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


# -- nothing is lost ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "write"), WRITERS.values(), ids=WRITERS)
def test_a_file_stays_as_it_was_if_the_disk_is_full(name, write, folder, results, full_disk):
    path = folder / name
    path.write_bytes(OLD)
    with pytest.raises(UsageError, match=r"cannot be written to '.*'.*: No space left on device"):
        write(results, path)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {name: OLD}


@pytest.mark.parametrize(("name", "write"), WRITERS.values(), ids=WRITERS)
def test_a_file_is_replaced_and_nothing_else_is_left(name, write, folder, results):
    path = folder / name
    path.write_bytes(OLD)
    write(results, path)
    assert path.read_bytes() != OLD
    assert {file.name for file in folder.iterdir()} <= {name, MODEL_NAME, DATA_NAME}


@posix_only
def test_a_write_that_the_system_cuts_short_leaves_the_previous_file(folder, results):
    import resource

    path = folder / "front.html"
    path.write_bytes(OLD)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(UsageError, match=r"The .* cannot be written to .*front\.html': File too large"):
            results["front"].to_html(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == OLD
    assert os.listdir(folder) == ["front.html"]


def test_a_writer_that_raises_leaves_the_previous_file(folder):
    path = folder / "a.txt"
    path.write_bytes(OLD)

    def write_half(draft):
        draft.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(path, write_half)
    assert path.read_bytes() == OLD
    assert os.listdir(folder) == ["a.txt"]


def test_a_line_is_appended_as_a_whole_or_not_at_all(folder, monkeypatch):
    path = folder / "figures.csv"
    append_to_file(path, "first\n")
    append_to_file(path, "second\n")
    with monkeypatch.context() as patched:
        patched.setattr(_files.os, "fsync", fail_to_sync)
        with pytest.raises(UsageError, match="No space left on device"):
            append_to_file(path, "third\n")
    assert path.read_text() == "first\nsecond\n"


# -- what is no regular file -------------------------------------------------------------------------------------------


@posix_only
def test_devices_pipes_and_folders_are_not_written(folder):
    os.mkfifo(folder / "pipe")
    (folder / "full").symlink_to("/dev/full")
    (folder / "loop").symlink_to("loop")
    for name in ("pipe", "full", "loop", "/dev/full", "/dev/null"):
        kind = stat.S_IFMT(os.lstat(folder / name).st_mode)
        with pytest.raises(UsageError, match=r"it is a device, a pipe or a broken link\. Name a regular file"):
            write_file(folder / name, "text", "report")
        assert stat.S_IFMT(os.lstat(folder / name).st_mode) == kind
    with pytest.raises(UsageError, match=r"is a folder\. Name a file in it"):
        write_file(folder, "text", "report")


@posix_only
@pytest.mark.parametrize("option", ["--html", "--record", "--save"])
def test_commands_refuse_devices_before_they_compute(option, folder):
    words = ["explore", "--subject", "Box 1", "--walks", "10", option, "/dev/full"]
    outcome = CliRunner().invoke(app, words)
    assert outcome.exit_code == 2
    assert "cannot be written to '/dev/full': it is a device" in outcome.stderr
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


# -- permissions and links ---------------------------------------------------------------------------------------------


@posix_only
def test_permissions_are_kept_and_links_followed(folder):
    path, link = folder / "a.txt", folder / "link"
    write_file(path, "one")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    link.symlink_to(path)
    write_file(link, "two")
    assert link.is_symlink()
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (folder / "new link").symlink_to(folder / "new")
    write_file(folder / "new link", "three")
    assert (folder / "new").read_text() == "three"


def test_a_file_without_permission_to_write_is_not_replaced(folder, monkeypatch):
    path = folder / "a.txt"
    path.write_bytes(OLD)
    monkeypatch.setattr(_files.os, "access", lambda place, mode: Path(place) != path)  # root may write everywhere
    with pytest.raises(UsageError, match="Permission denied"):
        write_file(path, "new")
    assert path.read_bytes() == OLD


def test_a_file_with_the_longest_name_is_written(folder):
    path = folder / ("n" * 250 + ".html")
    write_file(path, "one")
    write_file(path, "two")
    assert path.read_text() == "two"


# -- names that no file can have ---------------------------------------------------------------------------------------

SECRET = "swordfish"
TEST = "test data_model:tree data.csv --target y"
PATHS_IN_COMMANDS = [
    "test PATH.skops data.csv",
    "test PATH.pkl data.csv --trust",
    "test PATH.toml data.csv",
    "test data_model:tree PATH.csv",
    "test data_model:tree PATH.parquet",
    *(f"{TEST} --{option} PATH" for option in ("html", "junit", "sarif", "markdown", "save-front", "baseline")),
    *(f"{TEST} --{option}" for option in ("pytest PATH.py", "reference PATH.csv", "promises PATH", "space PATH.toml")),
    *(f"explore data_model:tree data.csv --{option} PATH" for option in ("save", "record", "html")),
    "check data_model:tree data.csv --target y --space PATH.json",
    "init data_model:tree data.csv --target y --out PATH.py",
    "cover PATH.pmml data.csv",
    "select data_model:tree data.csv --out PATH.csv",
    "combine --subject 'Box 1' --save PATH.csv",
    "optimise --subject 'Box 1' --strategy GAOptimizeWeakestRemoval --tests PATH.tcs",
    "script PATH.scr --subject 'Box 1'",
    "script a.scr --subject 'Box 1' --record PATH.scr",
    "mutate PATH.py",
    "generate --domain 0,1 --out PATH.csv",
    "simulate --html PATH",
    "study 002-1 --html PATH",
    "study --all --html PATH",
    "laws --space PATH.toml",
    "cases show PATH.csv",
    "credit PATH.csv",
    "patterns --html PATH",
    "guide --answers PATH",
    "runs list --store PATH.sqlite",
]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["n" * 300, f"ftp://ada:{SECRET}@host/x"], ids=["long name", "URL"])
def test_names_that_no_file_can_have_are_refused_with_one_line(path, folder):
    Path("a.scr").write_text("makeSeed([RandomValue5])\n")
    files = sorted(os.listdir())
    for command in PATHS_IN_COMMANDS:
        outcome = CliRunner().invoke(app, [word.replace("PATH", path) for word in shlex.split(command)])
        assert outcome.exit_code == 2, (command, outcome.output, outcome.exception)
        assert outcome.stderr.count("\n") == 1, command
        assert ("URL" if "://" in path else "too long") in outcome.stderr or "--store" in command, (
            command,
            outcome.stderr,
        )
        assert SECRET not in outcome.output, command
        assert sorted(set(os.listdir()) - {"__pycache__"}) == files, command


@pytest.mark.parametrize("name", ["n" * 300, "n/" * 3_000, f"https://ada:{SECRET}@host/x.html"])
def test_paths_in_python_are_refused_too(name, folder):
    for call in (dm.Front.load, dm.wrap, dm.read_space, read_promises, to_local_path):
        if call is dm.wrap and "://" in name:
            continue  # a service
        with pytest.raises(UsageError, match=r"too long|the URL") as caught:
            call(f"{name}.toml")
        assert SECRET not in str(caught.value)


def test_a_drive_of_windows_is_not_a_url():
    assert to_local_path("C:/models/m.skops") == Path("C:/models/m.skops")


# -- cells that a spreadsheet would run --------------------------------------------------------------------------------

FORMULAS = ["=cmd|' /C calc'!A0", "+1+cmd|x", "-2+3+cmd|x", "@SUM(A1)", "'=quoted", "''=twice", "\t=tab"]
PLAIN_TEXTS = ["-1.5", "+5%", "-0.3 to 0.5", "-inf", "-", "red", "'red'", "it's", ""]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_quoted_and_restored(text):
    assert quote_formula(text) == f"'{text}"
    assert unquote_formula(quote_formula(text)) == text


@pytest.mark.parametrize("text", PLAIN_TEXTS)
def test_other_texts_stay_as_they_are(text):
    assert quote_formula(text) == unquote_formula(text) == text


def test_rows_with_formulas_make_a_round_trip(folder):
    texts = [text for text in FORMULAS + PLAIN_TEXTS if text]
    rows = pd.DataFrame({"=name": texts, "number": np.linspace(-2, 2, len(texts))})
    write_rows(rows, folder / "rows.csv")
    lines = (folder / "rows.csv").read_text().splitlines()
    assert lines[0] == "'=name,number"
    assert not [line for line in lines if line.strip('"')[0] in "=@\t"]
    assert lines[1].endswith(",-2.0")
    pd.testing.assert_frame_equal(read_table(folder / "rows.csv"), rows)


def test_test_sets_with_formulas_make_a_round_trip(folder):
    space = dm.Space([dm.Categorical("c", FORMULAS[:6]), dm.Continuous("x", -9, 9)])
    tests = dm.TestSet.of_seeds(space.points(pd.DataFrame({"c": FORMULAS[:6], "x": np.linspace(-1.5, 1, 6)})))
    tests.save(folder / "tests.csv")
    text = (folder / "tests.csv").read_text()
    assert ",=cmd" not in text
    assert ",-1.5," in text
    assert dm.TestSet.load(folder / "tests.csv", space=space).input.equals(tests.input)


def test_cells_of_markdown_are_quoted():
    lines = format_table(["=name"], [["=cmd|calc"], ["-1.5"]])
    assert lines == ["| '=name |", "| --- |", "| '=cmd\\|calc |", "| \\-1.5 |"]


def test_messages_of_scripts_are_quoted_in_tables(folder):
    pool = dm.TestPool(folder=folder)
    pool.save_message("log.csv", "=cmd|calc,2,@x")
    pool.save_message("log.txt", "=cmd|calc")
    assert (folder / "log.csv").read_text() == "'=cmd|calc,2,'@x\n"
    assert (folder / "log.txt").read_text() == "=cmd|calc\n"
