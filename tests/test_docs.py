"""The documentation is true: its Python runs, its commands are commands, and no public name is left out.

What a page says, in the order it says it: a block of Python is run; a block with a title is a file, and is written; a
block named `console` shows commands. All commands of ours must be ones the command line understands. On the pages in
`PLAYED` they are also run, with the others beside them, and must print what the page shows: `...` stands for anything.
"""

from __future__ import annotations

import doctest
import re
import shlex
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.main import get_command

import datamorphic as dm
from datamorphic.cli.main import app
from support.run_code import played

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("**/*.md"))]
PLAYED = ("tutorial.md",)
FENCE = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", flags=re.MULTILINE | re.DOTALL)


def called(page):
    return page.relative_to(ROOT).with_suffix("").as_posix()


@dataclass
class Block:
    """A fenced block of a page."""

    kind: str
    title: str | None
    text: str


def blocks(page):
    found = []
    for _, kind, options, text in FENCE.findall(page.read_text(encoding="utf-8")):
        title = re.search(r'title="([^"]+)"', options)
        found.append(Block(kind, title and title[1], textwrap.dedent(text)))
    return found


def commands(block):
    """The commands of a block, each with what the page says it prints."""
    found = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0][:-1] + line.strip(), [])
        elif found:
            found[-1][1].append(line)
    return [(shlex.split(command, comments=True), "\n".join(shown)) for command, shown in found]


def test_every_block_says_what_it_is():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fences = len(re.findall(r"^ *```", text, flags=re.MULTILINE))
        bare = len(re.findall(r"^```\n(?:.*\n)+?```$", FENCE.sub("", text), flags=re.MULTILINE))
        assert fences == 2 * (len(blocks(page)) + bare), page
        assert not bare or page.name == "README.md", page


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in PLAYED], ids=called)
@pytest.mark.filterwarnings("ignore::datamorphic.errors.AmbiguousData")
def test_the_code_runs(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = {"__name__": "page"}
    for number, block in enumerate(blocks(page)):
        if block.title is not None:
            write(block, tmp_path)
        elif block.kind == "python":
            exec(compile(block.text, f"{page.name}, block {number}", "exec"), names)
            printed = capsys.readouterr().out
            for line in re.findall(r"^# (\w+: BROKEN.*)$", block.text, flags=re.MULTILINE):
                assert line in printed  # what the page says is printed is printed


def write(block, folder):
    file = folder / block.title
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")


def test_the_values_the_readme_states_are_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, seen = {}, 0
    for block in blocks(ROOT / "README.md"):
        if block.kind == "python" and "space.midpoint" in block.text:
            exec("import datamorphic as dm", names)
            exec(block.text, names)
            for call, stated in re.findall(r"^(space\.\S.*?\))\s+# (.+)$", block.text, flags=re.MULTILINE):
                assert repr(eval(call, names)) == stated
                seen += 1
    assert seen == 3


# -- commands --------------------------------------------------------------------------------------------------


def understood(words):
    """Parse a command without running it."""
    command, context, rest = get_command(app), None, list(words[1:])
    while True:
        below = getattr(command, "commands", {})
        context = command.make_context(" ".join(words), rest if not below else rest[:1], parent=context)
        if not below:
            return context.params
        assert rest[0] in below, f"there is no command {rest[0]!r}"
        command, rest = below[rest[0]], rest[1:]


@pytest.mark.parametrize("page", PAGES, ids=called)
def test_the_commands_are_commands(page):
    for block in blocks(page):
        for words, _ in commands(block) if block.kind == "console" else ():
            if words[0] == "datamorphic":
                understood(words)
    for code in re.findall(r"`(datamorphic [a-z][^`]*)`", page.read_text(encoding="utf-8")):
        words = shlex.split(code)
        if "..." not in code and not any(each.isupper() for each in words):
            understood(words)


def test_the_workflow_for_ci_calls_commands():
    yaml = pytest.importorskip("yaml", reason="no YAML: pip install pyyaml")
    (block,) = (each for each in blocks(DOCS / "guides" / "ci.md") if (each.title or "").startswith(".github"))
    steps = yaml.safe_load(block.text)["jobs"]["test"]["steps"]
    runs = [shlex.split(step["run"]) for step in steps if step.get("run", "").startswith("datamorphic")]
    assert runs
    for words in runs:
        understood(words)


def test_a_command_that_is_none_is_noticed():
    for line in ("datamorphic tset model.skops", "datamorphic explore --wlaks 3", "datamorphic runs shwo 3"):
        with pytest.raises((AssertionError, Exception), match=r"no command|[Nn]o such"):
            understood(line.split())


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.filterwarnings("default")  # as a reader has them
def test_the_tutorial_comes_out_as_it_says(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DATAMORPHIC_STORE", "none")
    monkeypatch.chdir(tmp_path)
    code = 0
    for block in blocks(DOCS / name):
        if block.title is not None:
            write(block, tmp_path)
        elif block.kind == "console":
            for words, shown in commands(block):
                if words == ["echo", "$?"]:
                    assert shown == str(code)
                elif words[0] != "pip":
                    code, printed = played(*words)
                    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
                    same = (
                        doctest.OutputChecker().check_output(shown + "\n", printed, flags) if shown else code == 0
                    )
                    assert same, (
                        f"$ {shlex.join(words)}\nThe page shows:\n{shown}\nIt printed ({code}):\n{printed}"
                    )


# -- promises in files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=called)
def test_files_of_promises_can_be_read(page, tmp_path):
    from datamorphic.audit.expectations import parse_expectations

    for block in blocks(page):
        if block.title is not None and block.title.startswith("promises."):
            write(block, tmp_path)
            parse_expectations(tmp_path / block.title)


def test_every_check_is_in_the_guide_to_reports():
    from datamorphic.audit.checks import CHECKS

    table = (DOCS / "guides" / "reports.md").read_text(encoding="utf-8").partition("## The checks")[2]
    told = re.findall(r"^\| `([a-z ]+)` \|", table, flags=re.MULTILINE)
    assert told == [check.name for check in CHECKS]


# -- reference -------------------------------------------------------------------------------------------------


def test_every_public_name_is_in_the_reference():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    told = re.findall(r"^::: datamorphic\.(\w+)$", text, flags=re.MULTILINE)
    assert sorted(told) == dm.__all__


def test_every_page_is_in_the_navigation():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.glob("**/*.md"):
        assert f" {page.relative_to(DOCS).as_posix()}\n" in text, page


def test_every_command_and_option_is_in_the_reference(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import hooks

    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    text = hooks.on_page_markdown(page)
    for name, command in hooks.walk("datamorphic", get_command(app)):
        told = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert told
        for parameter in command.params:
            if not getattr(parameter, "hidden", False) and parameter.name != "help":
                spelled = parameter.opts if parameter.param_type_name == "option" else []
                assert all(f"`{word}`" in told for word in spelled), (name, parameter.name)
                assert not parameter.help or hooks.plain(parameter.help) in told, (name, parameter.name)


def test_pictures_are_there_and_read_in_the_dark():
    for page in PAGES:
        for described, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert described, "a picture needs words for those who do not see it"
            picture = (page.parent / target).read_text(encoding="utf-8")
            assert "prefers-color-scheme:dark" in picture


def test_the_extras_are_told():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    table = (DOCS / "reference" / "index.md").read_text(encoding="utf-8").partition("## Extras")[2]
    told = [
        name
        for line in re.findall(r"^\| (`\w.*?) \|", table, flags=re.MULTILINE)
        for name in re.findall(r"`(\w+)`", line)
    ]
    assert sorted(told) == sorted(set(extras) - {"dev", "docs"})
    assert any(each.startswith("mkdocstrings[python]") for each in extras["docs"])
