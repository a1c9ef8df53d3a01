"""What all commands share: help, errors in one line, colour, pipes, completion, progress."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli import completion
from datamorphic.cli.console import make_console, to_option_words
from datamorphic.cli.demo.command import demo
from datamorphic.cli.exit_codes import ExitCode
from datamorphic.cli.help import split_examples
from datamorphic.cli.main import COMMAND_GROUPS, NAMES, PANELS, app, build_app, import_command, main, read_help
from datamorphic.cli.worker_check import worker_check
from datamorphic.runs import progress
from support.waiting import wait_until

pty = pytest.importorskip("pty", reason="needs the terminals of Unix")

PROGRAM = str(Path(sys.executable).with_name("datamorphic"))
ROOT = typer.main.get_command(app)


def commands(group=ROOT, path=("datamorphic",)):
    """Yield every command with the words that call it; those in groups only as they are called without the group."""
    for name, command in group.commands.items():
        yield " ".join((*path, name)), command
        if hasattr(command, "commands") and name not in COMMAND_GROUPS:
            yield from commands(command, (*path, name))


COMMANDS = dict(commands())


def run(*arguments, **named):
    return CliRunner().invoke(app, list(arguments), prog_name="datamorphic", **named)


@functools.cache
def render_help(path):
    """Return the help of a command in a narrow terminal."""
    result = run(*path.split()[1:], "-h", env={"COLUMNS": "60"})
    assert result.exit_code == 0
    return result.stdout


def parse(line):
    """Parse a line without running it, and return the words that call the command."""
    path, *words = shlex.split(line)
    context = ROOT.make_context(path, words)
    command, words = ROOT, [*context._protected_args, *context.args]
    while words:
        name, command, rest = command.resolve_command(context, words)
        path = f"{path} {name}"
        context = command.make_context(name, list(rest), parent=context)
        words = [*context._protected_args, *context.args] if hasattr(command, "commands") else []
    return path


# -- help ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_with_examples_that_can_be_copied(path):
    command = COMMANDS[path]
    assert command.examples
    lines = render_help(path).splitlines()
    for example in command.examples:
        assert f"   {example}" in lines  # whole, however narrow the terminal


@pytest.mark.parametrize("path", COMMANDS)
def test_every_example_can_be_parsed(path):
    for example in COMMANDS[path].examples:
        assert parse(example).startswith(path)


@pytest.mark.parametrize(
    "line", ["datamorphic explore --nope", "datamorphic nope", "datamorphic runs show twelve", "datamorphic init"]
)
def test_wrong_examples_are_rejected(line):
    with pytest.raises((typer.Exit, Exception)) as caught:
        parse(line)
    assert caught.value.exit_code == 2


def test_a_command_is_imported_by_its_name():
    assert import_command("demo") is demo
    assert import_command("worker-check") is worker_check
    assert list(typer.main.get_command(build_app(["hunt", "runs"])).commands) == ["hunt", "runs"]
    assert set(ROOT.commands) == {*NAMES, *COMMAND_GROUPS}


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_is_read_without_importing_it(name):
    command = import_command(name)
    text = command.info.help if isinstance(command, typer.Typer) else inspect.getdoc(command)
    assert read_help(name) == text


def test_the_outline_has_the_help_of_the_whole_application():
    runner = CliRunner()
    texts = [runner.invoke(app, ["--help"]).output for app in (build_app(outlined=True), build_app())]
    assert texts[0] == texts[1]
    assert "explore" in texts[0]


def test_without_sources_the_help_is_that_of_the_imported_commands(monkeypatch):
    whole_help = CliRunner().invoke(build_app(), ["--help"]).output
    monkeypatch.setattr(SourceFileLoader, "get_source", lambda *_: None)
    assert read_help("explore") is None
    assert CliRunner().invoke(build_app(outlined=True), ["--help"]).output == whole_help


def test_commands_in_groups_work_with_and_without_the_group():
    for group, (_, members) in COMMAND_GROUPS.items():
        assert set(ROOT.commands[group].commands) == set(members)
        for name in members:
            assert ROOT.commands[name].hidden
            assert ROOT.commands[group].commands[name].help == ROOT.commands[name].help
    assert "sets" in typer.main.get_command(build_app(COMMAND_GROUPS["sets"][1])).commands


def test_the_help_lists_commands_in_the_order_of_registration():
    text = run("--help").stdout
    marks = [
        mark for panel, members in PANELS.items() for mark in (f"─ {panel} ─", *(f"│ {member} " for member in members))
    ]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    names = [name for name, command in ROOT.commands.items() if not command.hidden]
    assert len(names) - len(COMMAND_GROUPS) == 13  # what a newcomer sees first
    assert all(f"│ {name} " in text for name in names)
    assert len(places) == len(PANELS) + len(names) - len(COMMAND_GROUPS)
    assert ROOT.examples[0] == "datamorphic demo"
    assert 2 <= len(ROOT.examples) <= 3
    assert text.index("Try first:") > places[-1]
    for example in ROOT.examples:
        parse(example)
        assert f"   {example}\n" in text


@pytest.mark.slow
@pytest.mark.parametrize("path", COMMANDS)
def test_usage_has_no_brackets_in_brackets(path):
    usage = " ".join(render_help(path).partition("Usage:")[2].partition("\n \n")[0].split())
    assert usage.startswith(path)
    assert "[[" not in usage
    assert "{" not in usage
    pieces = {"datamorphic runs remove": "ID...", "datamorphic explore": "[MODEL] [DATA]"}
    if path in pieces:
        assert usage.startswith(f"{path} [OPTIONS] {pieces[path]}")


def test_without_arguments_it_shows_the_help():
    assert "Try first:" in run().stdout
    assert run("laws", "--help").stdout == run("laws", "-h").stdout


# -- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("exlore", "No such command 'exlore'. Did you mean 'explore'? See: datamorphic --help"),
        ("nonsense", "No such command 'nonsense'. See: datamorphic --help"),
        ("runs lst", "Did you mean 'list'? See: datamorphic runs --help"),
        ("explore --straegy x", "No such option: --straegy. Did you mean --strategy? See: datamorphic explore --help"),
        ("laws --qqq", "No such option: --qqq. See: datamorphic laws --help"),
        ("--vresion", "No such option: --vresion. Did you mean --version?"),
        ("laws --subject", "Option '--subject' requires an argument."),
        ("laws --examples 0 --subject box_1", "'--examples'"),
        ("runs show", "Missing argument 'ID'. See: datamorphic runs show --help"),
        ("runs show x", "'ID'"),
        ("study 001-4 --scale huge", "'scale' parameter of study must be one of 'tiny', 'small', 'medium', 'full'"),
        ("init", "Missing argument"),
        ("explore a b c d", "unexpected extra argument"),
    ],
)
def test_typing_errors_are_one_line_with_a_suggestion(words, message):
    result = run(*words.split())
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("datamorphic: ")
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr


# -- colour ----------------------------------------------------------------------------------------------------


def in_terminal(*arguments, **changed):
    """Return the exit code of a command in a terminal, and its output."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    process = subprocess.Popen(
        [PROGRAM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment | changed
    )
    os.close(theirs)
    output = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux raises it when the other side is closed
            break
        if not part:
            break
        output += part
    os.close(ours)
    return process.wait(), output.decode()


@pytest.mark.slow
def test_colour_in_a_terminal_unless_it_is_disabled():
    code, output = in_terminal("laws", "-h", TERM="xterm-256color")
    assert (code, "\x1b[" in output) == (0, True)
    code, output = in_terminal("laws", "-h", NO_COLOR="1", TERM="xterm-256color")
    assert code == 0
    assert "datamorphic laws --subject" in output
    assert "\x1b" not in output


@pytest.mark.slow
def test_results_in_a_terminal_without_escape_codes():
    code, output = in_terminal("patterns", NO_COLOR="1", TERM="xterm")
    assert code == 0
    assert "patterns of metamorphic relations" in output
    assert "\x1b" not in output


@pytest.mark.parametrize(
    ("environment", "escapes"),
    [
        ({"FORCE_COLOR": "1", "TERM": "xterm"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm"}, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False),
        ({"TERM": "xterm"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "", "TERM": "xterm"}, True),
    ],
)
def test_the_console_of_results(monkeypatch, capsys, environment, escapes):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    make_console().print("[bold]word[/bold]")
    assert ("\x1b" in capsys.readouterr().out) is escapes


# -- pipes -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("words", [["runs", "list"], ["--help"]])
def test_a_closed_pipe_is_not_an_error(words, tmp_path):
    ours, theirs = os.pipe()
    os.close(ours)  # as head -1 does, only sooner
    environment = {**os.environ, "DATAMORPHIC_STORE": str(tmp_path / "runs.sqlite")}
    process = subprocess.Popen([PROGRAM, *words], stdout=theirs, stderr=subprocess.PIPE, text=True, env=environment)
    os.close(theirs)
    _, error_output = process.communicate()
    assert error_output == ""
    assert process.returncode == ExitCode.BROKEN_PIPE


@pytest.mark.slow
@pytest.mark.parametrize("forced", [False, True])
def test_the_first_lines_can_be_read_in_a_pipe_and_have_no_colour_unless_it_is_forced(forced):
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color"} | ({"FORCE_COLOR": "1"} if forced else {})
    line = f"{shlex.quote(PROGRAM)} laws -h | head -2"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=environment, check=True)
    assert len(done.stdout.splitlines()) == 2
    assert ("\x1b[" in done.stdout) is forced
    assert done.stderr == ""


def with_streams(words, streams):
    """Run a command with redirected streams."""
    line = f"exec {shlex.join([PROGRAM, *words])} {streams}"
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_closed_streams_do_not_change_the_exit_code():
    no_stderr = with_streams(["patterns"], "2>&-")
    assert no_stderr.returncode == 0
    assert "patterns of metamorphic relations" in no_stderr.stdout
    no_stdout = with_streams(["runs", "list"], ">&-")
    assert (no_stdout.returncode, no_stdout.stderr) == (0, "")
    assert with_streams(["laws"], ">&- 2>&-").returncode == 2


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("words", [["--version"], ["runs", "list", "--json"]])
def test_a_full_disk_is_reported_in_one_line(words):
    full = with_streams(words, "> /dev/full")
    assert full.returncode == 2
    assert full.stderr == ("datamorphic: The output cannot be written: No space left on device. Send it elsewhere.\n")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_message_that_cannot_be_written_does_not_change_the_exit_code():
    assert with_streams(["laws"], "> /dev/full 2>&1").returncode == 2


def test_a_bug_of_datamorphic_is_reported_as_such(monkeypatch, capsys):
    def fail():
        raise OSError("https://me:hunter2@host does not answer")

    monkeypatch.setattr("datamorphic.cli.main._build_called_app", lambda: fail)
    monkeypatch.setattr("datamorphic.cli.main.join_completion_words", lambda: None)
    monkeypatch.setattr(sys, "argv", ["datamorphic"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ExitCode.INTERNAL_ERROR
    output = capsys.readouterr().err
    assert output.startswith("Traceback ")
    assert "hunter2" not in output
    assert output.endswith("datamorphic: This is a bug in datamorphic. Please report it with the lines above.\n")


# -- completion ------------------------------------------------------------------------------------------------


def complete(*words, shell="bash"):
    """Return the completions of the last word."""
    environment = {
        "_DATAMORPHIC_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    if shell != "bash":
        environment |= {"_TYPER_COMPLETE_ARGS": " ".join(words), "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    return run(env=environment).stdout.split()


@pytest.mark.slow
def test_commands_options_and_values_are_completed():
    assert complete("datamorphic", "ex") == ["explore"]
    assert complete("datamorphic", "explore", "--strat") == ["--strategy"]
    assert complete("datamorphic", "explore", "--strategy", "random_t") == ["random_target"]
    assert complete("datamorphic", "combine", "--strategy", "p") == ["permutations"]
    assert complete("datamorphic", "explore", "--subject", "bo") == ["box_1", "box_2"]
    assert "data:iris" in complete("datamorphic", "explore", "model.skops", "data:")
    assert complete("datamorphic", "init", "model.skops", "data:ir") == ["data:iris"]
    assert complete("datamorphic", "explore", "model.skops", "") == []  # the shell offers files
    assert complete("datamorphic", "runs", "re") == ["resume", "remove"]
    assert complete("datamorphic", "explore", "--strategy", "random_t", shell="fish") == ["random_target"]


def test_completed_values_are_those_that_exist():
    from datamorphic.audit.options import CHECK_NAMES
    from datamorphic.core.result import LEVELS

    values = {name: set(find("data:")) for name, find in completion.VALUES.items()}
    assert values["only"] == {name for name in CHECK_NAMES if " " not in name}
    assert values["fail_on"] == {*LEVELS, "never"}
    for name in values["subject"]:
        assert name in dm.subjects
    assert {param.name for command in COMMANDS.values() for param in command.params} >= set(values)


@pytest.mark.parametrize(
    ("words", "at", "expected"),
    [
        (["d", "laws", "--data", "data", ":", "ir"], 5, (["d", "laws", "--data", "data:ir"], 3, "data:")),
        (["d", "laws", "--data", "data", ":"], 4, (["d", "laws", "--data", "data:"], 3, "data:")),
        (["d", "laws", "--data", "da"], 3, (["d", "laws", "--data", "da"], 3, "")),
        (["d", "laws", "a", ":", "b", "--se"], 5, (["d", "laws", "a:b", "--se"], 3, "")),
        ([""], 0, ([""], 0, "")),
    ],
)
def test_words_that_bash_has_split_are_joined(words, at, expected):
    assert completion.join_at_colons(words, at) == expected


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs the package bash")
def test_completion_in_a_real_shell():
    script = f"""
        PATH={shlex.quote(str(Path(PROGRAM).parent))}:$PATH
        source <(_DATAMORPHIC_COMPLETE=source_bash datamorphic)
        COMP_WORDS=(datamorphic laws --data data : ir) COMP_CWORD=5
        _datamorphic_completion datamorphic
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["iris"]
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell):
    result = run(env={"_DATAMORPHIC_COMPLETE": f"source_{shell}"})
    assert result.exit_code == 0
    assert "_DATAMORPHIC_COMPLETE=complete_" in result.stdout


# -- progress --------------------------------------------------------------------------------------------------


def test_progress_shows_the_time_left(monkeypatch, capsys, clock):
    monkeypatch.setenv("NO_COLOR", "1")
    with progress.Progress("model", visible=True) as display:
        display.show("walking", 0.0)
        clock.move(1.5)
        display.show("walking", 0.1)
        assert capsys.readouterr().err == ""  # nothing is shown in the first two seconds
        clock.move(1.5)
        display.show("walking", 0.25)
        assert capsys.readouterr().err == "model: walking, 25% done, about 9 s left\n"
        clock.move(1)
        display.show("walking", 0.5)
        assert capsys.readouterr().err == ""  # at most one line every few seconds
        clock.move(296)
        display.show("walking", 0.5)
        assert capsys.readouterr().err == "model: walking, 50% done, about 5 min left\n"
        clock.move(20)
        display.show("narrowing")
        assert capsys.readouterr().err == "model: narrowing\n"


def test_the_time_left_of_a_resumed_run_counts_this_session_only(monkeypatch, capsys, clock):
    monkeypatch.setenv("TERM", "dumb")
    with progress.Progress("model", visible=True) as display:
        display.show("walking", 0.8)
        clock.move(10)
        display.show("walking", 0.9)
    assert capsys.readouterr() == ("", "model: walking, 90% done, about 10 s left\n")


def test_progress_in_a_terminal_is_a_bar_on_stderr(monkeypatch, capsys, clock):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    with progress.Progress("model", visible=True) as display:
        display.show("walking", 0.0)
        clock.move(30)
        display.show("walking", 0.5)
    out, err = capsys.readouterr()
    assert out == ""
    assert "model: walking" in err
    assert "about 30 s left" in err


def test_progress_is_shown_once_and_only_in_a_terminal(monkeypatch, capsys, clock):
    monkeypatch.setenv("NO_COLOR", "1")
    with progress.Progress("nobody looks") as unseen, progress.Progress("outer", True) as outer:
        with progress.Progress("inner", True) as inner:
            clock.move(5)
            for display in (unseen, outer, inner):
                display.show("works")
        assert capsys.readouterr().err == "outer: works\n"
    with progress.Progress("later", True) as later:
        clock.move(5)
        later.show("works")
    assert capsys.readouterr().err == "later: works\n"


def test_tasks_of_known_length_show_progress_by_the_clock(monkeypatch, capsys):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress.TimedProgress("training", 1000.0) as display:
        wait_until(lambda: display._progress._last_line_time > 0, "a line")
    assert capsys.readouterr().err == "training, 0% done\n"


def test_examples_are_separated_from_the_help_text():
    assert split_examples("One\nline.\n\nMore.\n\nExample: datamorphic x; y") == (
        "One line.\n\nMore.",
        "Example",
        ["datamorphic x; y"],
    )
    assert split_examples("Examples are good.") == ("Examples are good.", "", [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('say so: kinds={"zip code": "categorical"}.', 'say so: --kind "zip code=categorical".'),
        ("steps={'age': 3} or feature_steps={'age': 3}", "--column-step age=3 or --column-step age=3"),
        ("bounds={'age': (20, 80)}, bounds={'age': (None, 80)}", "--bounds age=20:80, --bounds age=:80"),
        ("orders={'card': ['Blue', 'Gold']}", "--order card=Blue,Gold"),
        ("say trust=True (--trust on the command line); scalar=True", "say --trust; --scalar"),
        (
            "tolerance=0.1, or tolerance=0 for any (--tolerance on the command line)",
            "--tolerance 0.1, or --tolerance 0 for any",
        ),
        ("other rows: surrogate=rows (--train FILE)", "other rows: --train FILE"),
        ("k=3", "k=3"),
        ('protected=["gender"]', "--protected gender"),
        ('expect={"invariant": ["id"]}, or relations', "--invariant id, or relations"),
        ('expect={"monotone": {"income": "up"}}', "--monotone income=up"),
        ("dm.test(model, trust=True)", "dm.test(model, trust=True)"),
    ],
)
def test_messages_name_options_instead_of_keyword_arguments(text, expected):
    assert to_option_words(text) == expected


def test_an_unknown_option_suggests_only_what_is_similar():
    for words, hint in (
        (["generate", "--budget", "5s"], "No such option: --budget. See:"),
        (["test", "--htlm", "a"], "No such option: --htlm. Did you mean --html? See:"),
    ):
        outcome = CliRunner().invoke(app, words)
        assert outcome.exit_code == 2
        assert hint in outcome.stderr
