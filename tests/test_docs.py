"""The documentation is true: its Python runs, its commands parse, and no public name is missing.

The blocks of a page are taken in order: Python is run, a block with a title is written as a file, and a block named
`console` shows commands. Every datamorphic command must parse. On the pages in `EXECUTED` all commands are also run, and must
print what the page shows, where `...` stands for anything.
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
from support.run_code import run_program

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("**/*.md"))]
EXECUTED = ("tutorial.md",)
FENCE = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", flags=re.MULTILINE | re.DOTALL)


def format_page_id(page):
    return page.relative_to(ROOT).with_suffix("").as_posix()


@dataclass
class Block:
    """A fenced block of a page."""

    kind: str
    title: str | None
    text: str


def find_blocks(page):
    blocks = []
    for _, kind, options, text in FENCE.findall(page.read_text(encoding="utf-8")):
        title = re.search(r'title="([^"]+)"', options)
        blocks.append(Block(kind, title and title[1], textwrap.dedent(text)))
    return blocks


def find_commands(block):
    """Return the commands of a block, each with the output that the page shows."""
    commands = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands and commands[-1][0].endswith("\\"):
            commands[-1] = (commands[-1][0][:-1] + line.strip(), [])
        elif commands:
            commands[-1][1].append(line)
    return [(shlex.split(command, comments=True), "\n".join(lines)) for command, lines in commands]


def test_every_block_has_a_language():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fences = len(re.findall(r"^ *```", text, flags=re.MULTILINE))
        bare = len(re.findall(r"^```\n(?:.*\n)+?```$", FENCE.sub("", text), flags=re.MULTILINE))
        assert fences == 2 * (len(find_blocks(page)) + bare), page
        assert not bare or page.name == "README.md", page


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in EXECUTED], ids=format_page_id)
@pytest.mark.filterwarnings("ignore::datamorphic.errors.AmbiguousData")
def test_the_code_runs(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = {"__name__": "page"}
    for number, block in enumerate(find_blocks(page)):
        if block.title is not None:
            write(block, tmp_path)
        elif block.kind == "python":
            exec(compile(block.text, f"{page.name}, block {number}", "exec"), names)
            printed = capsys.readouterr().out
            for line in re.findall(r"^# (\w+: BROKEN.*)$", block.text, flags=re.MULTILINE):
                assert line in printed  # the output that the page shows


def write(block, folder):
    file = folder / block.title
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")


def test_values_in_the_readme_are_correct(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, checked = {}, 0
    for block in find_blocks(ROOT / "README.md"):
        if block.kind == "python" and "space.midpoint" in block.text:
            exec("import datamorphic as dm", names)
            exec(block.text, names)
            for call, stated in re.findall(r"^(space\.\S.*?\))\s+# (.+)$", block.text, flags=re.MULTILINE):
                assert repr(eval(call, names)) == stated
                checked += 1
    assert checked == 3


# -- commands --------------------------------------------------------------------------------------------------


def parse_command(words):
    """Parse a command without running it."""
    command, context, rest = get_command(app), None, list(words[1:])
    while True:
        below = getattr(command, "commands", {})
        context = command.make_context(" ".join(words), rest if not below else rest[:1], parent=context)
        if not below:
            return context.params
        assert rest[0] in below, f"there is no command {rest[0]!r}"
        command, rest = below[rest[0]], rest[1:]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=format_page_id)
def test_commands_parse(page):
    for block in find_blocks(page):
        for words, _ in find_commands(block) if block.kind == "console" else ():
            if words[0] == "datamorphic":
                parse_command(words)
    for code in re.findall(r"`(datamorphic [a-z][^`]*)`", page.read_text(encoding="utf-8")):
        words = shlex.split(code)
        if "..." not in code and not any(word.isupper() for word in words):
            parse_command(words)


def test_commands_of_the_ci_workflow_parse():
    yaml = pytest.importorskip("yaml", reason="no YAML: pip install pyyaml")
    (block,) = (block for block in find_blocks(DOCS / "guides" / "ci.md") if (block.title or "").startswith(".github"))
    steps = yaml.safe_load(block.text)["jobs"]["test"]["steps"]
    runs = [shlex.split(step["run"]) for step in steps if step.get("run", "").startswith("datamorphic")]
    assert runs
    for words in runs:
        parse_command(words)


def test_options_of_the_action_exist():
    script = (ROOT / "action.yml").read_text(encoding="utf-8")
    known = {name for parameter in get_command(app).commands["test"].params for name in parameter.opts}
    used = re.findall(r"(?<= )--[a-z-]+", script.partition('datamorphic test "$MODEL"')[2])
    assert len(used) >= 6
    assert set(used) <= known


def test_an_invalid_command_is_noticed():
    for line in ("datamorphic tset model.skops", "datamorphic explore --wlaks 3", "datamorphic runs shwo 3"):
        with pytest.raises((AssertionError, Exception), match=r"no command|[Nn]o such"):
            parse_command(line.split())


@pytest.mark.slow
@pytest.mark.parametrize("name", EXECUTED)
@pytest.mark.filterwarnings("default")  # as for a reader
def test_the_tutorial_prints_what_it_shows(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DATAMORPHIC_STORE", "none")
    monkeypatch.chdir(tmp_path)
    code = 0
    for block in find_blocks(DOCS / name):
        if block.title is not None:
            write(block, tmp_path)
        elif block.kind == "console":
            for words, expected in find_commands(block):
                if words == ["echo", "$?"]:
                    assert expected == str(code)
                elif words[0] != "pip":
                    code, printed = run_program(*words)
                    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
                    same = (
                        doctest.OutputChecker().check_output(expected + "\n", printed, flags) if expected else code == 0
                    )
                    assert same, f"$ {shlex.join(words)}\nThe page shows:\n{expected}\nIt printed ({code}):\n{printed}"


# -- expectations in files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=format_page_id)
def test_expectation_files_can_be_read(page, tmp_path):
    from datamorphic.audit.expectations import parse_expectations

    for block in find_blocks(page):
        if block.title is not None and block.title.startswith("promises."):
            write(block, tmp_path)
            parse_expectations(tmp_path / block.title)


def test_every_check_is_in_the_guide_to_reports():
    from datamorphic.audit.checks import CHECKS

    table = (DOCS / "guides" / "reports.md").read_text(encoding="utf-8").partition("## The checks")[2]
    listed = re.findall(r"^\| `([a-z ]+)` \|", table, flags=re.MULTILINE)
    assert listed == [check.name for check in CHECKS]


# -- reference -------------------------------------------------------------------------------------------------


def test_every_public_name_is_in_the_reference():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    listed = re.findall(r"^::: datamorphic\.(\w+)$", text, flags=re.MULTILINE)
    assert sorted(listed) == dm.__all__


def test_every_page_is_in_the_navigation():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.glob("**/*.md"):
        assert f" {page.relative_to(DOCS).as_posix()}\n" in text, page


def test_every_command_and_option_is_in_the_reference(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import hooks

    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    text = hooks.on_page_markdown(page)
    for name, command in hooks.walk_commands("datamorphic", get_command(app)):
        section = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert section
        for parameter in command.params:
            if not getattr(parameter, "hidden", False) and parameter.name != "help":
                spellings = parameter.opts if parameter.param_type_name == "option" else []
                assert all(f"`{word}`" in section for word in spellings), (name, parameter.name)
                assert not parameter.help or hooks.escape_markdown(parameter.help) in section, (name, parameter.name)


def test_pictures_exist_and_suit_dark_screens():
    for page in PAGES:
        for description, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert description, "a picture needs a description for readers who cannot see it"
            picture = (page.parent / target).read_text(encoding="utf-8")
            assert "prefers-color-scheme:dark" in picture


def test_all_extras_are_documented():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    table = (DOCS / "reference" / "index.md").read_text(encoding="utf-8").partition("## Extras")[2]
    listed = [
        name
        for line in re.findall(r"^\| (`\w.*?) \|", table, flags=re.MULTILINE)
        for name in re.findall(r"`(\w+)`", line)
    ]
    assert sorted(listed) == sorted(set(extras) - {"dev", "docs"})
    assert any(requirement.startswith("mkdocstrings[python]") for requirement in extras["docs"])
