"""The documentation is true: its Python runs, its commands parse, and no public name is missing.

The blocks of a page are taken in order: Python is run, a block named `text` after it shows what it prints, a block with a
title is written as a file, and a block named `console` shows commands. Every datamorphic command must parse. On the pages in
`EXECUTED` all commands are also run, and must print what the page shows. In what is shown, `...` stands for anything.
"""

from __future__ import annotations

import doctest
import functools
import re
import shlex
import tomllib

import pytest
from typer.main import get_command

import _datamorphic_pytest
import datamorphic as dm
from datamorphic.audit.checks import CHECKS
from datamorphic.cli.main import app
from datamorphic.mutation import processes
from datamorphic.systems.translator import explain_missing_apertium
from support.cases import LONG
from support.jobs import JobPoolHere
from support.needs import explain_missing_router
from support.pages import DOCS, FENCE, PAGES, ROOT, find_blocks, find_commands, write_block
from support.run_code import run_program

EXECUTED = ("tutorial.md",)
#: why the code of a page cannot run here, if it cannot
NEEDS = {"translation.md": explain_missing_apertium, "routes.md": explain_missing_router}
NUMBERS_VARY = ("routes.md",)  # with the version of a program: what is printed is compared without its numbers
NUMBER = re.compile(r"-?\d+(\.\d+)?")
MAX_PICTURE_BYTES = 150_000


def format_page_id(page):
    return page.relative_to(ROOT).with_suffix("").as_posix()


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
    if page.name in NEEDS and (reason := NEEDS[page.name]()):
        pytest.skip(reason)
    if page.name == "mutants.md":  # tests/behaviour has its processes
        monkeypatch.setattr(processes, "JobPool", JobPoolHere)
    if page.name == "README.md" and not LONG:  # the tutorial has all checks of the same model
        monkeypatch.setattr(dm, "test", functools.partial(dm.test, only=["monotone", "borders"]))
    # violations of an earlier run would be replayed and mentioned
    monkeypatch.setattr(_datamorphic_pytest.PytestRun, "failures", tmp_path / "failures.sqlite")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = {"__name__": "page"}
    printed = None  # by the last block of Python
    for number, block in enumerate(find_blocks(page)):
        if block.title is not None:
            write_block(block, tmp_path)
        elif block.kind == "python":
            exec(compile(block.text, f"{page.name}, block {number}", "exec"), names)
            printed = capsys.readouterr().out
            for line in re.findall(r"^# (\w+: BROKEN.*)$", block.text, flags=re.MULTILINE):
                assert line in printed  # the output that the page shows
        elif block.kind == "text" and printed is not None:
            texts = (block.text, printed)
            if page.name in NUMBERS_VARY:
                texts = tuple(NUMBER.sub("#", text) for text in texts)
            assert is_shown(*texts), f"The page shows:\n{block.text}\nIt printed:\n{printed}"
            printed = None


def is_shown(expected, printed):
    """Tell whether a page shows what was printed, up to white space."""
    return doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)


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


build_parsers = functools.cache(get_command)  # all commands: longer than parsing a line


def parse_command(words):
    """Parse a command without running it."""
    command, context, rest = build_parsers(app), None, list(words[1:])
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
@pytest.mark.usefixtures("cpu_clock")
def test_the_tutorial_prints_what_it_shows(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DATAMORPHIC_STORE", "none")
    monkeypatch.chdir(tmp_path)
    code = 0
    for block in find_blocks(DOCS / name):
        if block.title is not None:
            write_block(block, tmp_path)
        elif block.kind == "console":
            for words, expected in find_commands(block):
                if words == ["echo", "$?"]:
                    assert expected == str(code)
                elif words[0] != "pip":
                    code, printed = run_program(*words)
                    same = is_shown(f"{expected}\n", printed) if expected else code == 0
                    assert same, f"$ {shlex.join(words)}\nThe page shows:\n{expected}\nIt printed ({code}):\n{printed}"


# -- expectations in files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=format_page_id)
def test_expectation_files_can_be_read(page, tmp_path):
    from datamorphic.audit.expectations import parse_expectations
    from datamorphic.relations.catalogue.promises import read_promises

    for block in find_blocks(page):
        if block.title is not None and block.title.startswith("promises."):
            write_block(block, tmp_path)
            parse_expectations(tmp_path / block.title)
        elif block.title is not None and block.title.endswith(".promises"):
            write_block(block, tmp_path)
            assert len(read_promises(tmp_path / block.title))


# -- the guide to the checks ------------------------------------------------------------------------------------------

GUIDE = (DOCS / "guides" / "checks.md").read_text(encoding="utf-8")
CHECKS_WITHOUT_FINDINGS = {"borders"}


def find_section(check):
    return GUIDE.partition(f"\n## {check}\n")[2].partition("\n## ")[0]


def test_every_check_is_in_the_guide_in_the_order_of_running():
    assert re.findall(r"^## ([a-z ]+)$", GUIDE, flags=re.MULTILINE) == [check.name for check in CHECKS]
    assert re.findall(r"^\| \[([a-z ]+)\]\(#[a-z-]+\) \|", GUIDE, flags=re.MULTILINE) == [
        check.name for check in CHECKS
    ]
    for check in CHECKS:
        section = find_section(check.name)
        assert section.startswith(f"\n**{check.question}** "), check.name
        assert "\n**What to do:** " in section, check.name


@pytest.fixture(scope="module")
def mistakes():
    """The example that plants a mistake for every check."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "examples")
        import mistakes
    return mistakes


def test_there_is_a_mistake_for_every_check(mistakes):
    names = [check.name for check in CHECKS if check.name not in CHECKS_WITHOUT_FINDINGS]
    assert list(mistakes.MISTAKES) == names


@pytest.mark.slow
@pytest.mark.usefixtures("cpu_clock")
@pytest.mark.parametrize("check", [check.name for check in CHECKS if check.name not in CHECKS_WITHOUT_FINDINGS])
def test_the_guide_quotes_a_real_finding(check, mistakes):
    titles = [f"**{finding.level.capitalize()}: {finding.title}.**" for finding in mistakes.find(check)]
    quote = " ".join(re.findall(r"^> (.*)$", find_section(check), flags=re.MULTILINE))
    assert any(quote.startswith(title) for title in titles), f"{titles}: run python docs/quote_findings.py"


# -- reference -------------------------------------------------------------------------------------------------


def test_every_public_name_is_in_the_reference():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    listed = re.findall(r"^::: datamorphic\.([\w.]+)$", text, flags=re.MULTILINE)
    groups = ("hunting", "relations", "results", "systems", "trees")
    names = {f"{group}.{name}" for group in groups for name in getattr(dm, group).__all__} | set(dm.__all__) - {*groups}
    assert len(listed) == len(set(listed))
    assert names - {"results.Front"} <= set(listed)  # Front is public itself
    assert not [name for name in listed if "." not in name and name not in names]


def test_every_page_is_in_the_navigation():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.glob("**/*.md"):
        assert f" {page.relative_to(DOCS).as_posix()}\n" in text, page


@pytest.mark.slow
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


def test_pages_load_nothing_from_the_network(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import hooks

    page = tmp_path / "guides" / "ci.html"
    page.parent.mkdir()
    page.write_text(f'<script src="{hooks.REMOTE_SCRIPT}"></script>', encoding="utf-8")
    hooks.on_post_build({"site_dir": str(tmp_path)})
    assert page.read_text(encoding="utf-8") == '<script src="../search_worker.js"></script>'
    assert (DOCS / hooks.LOCAL_SCRIPT).is_file()


def find_pictures():
    """Return the description, the file and the page of every picture."""
    return [
        (description, (page.parent / target).resolve(), page)
        for page in PAGES
        for description, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    ]


def test_pictures_are_described_small_and_suit_dark_screens():
    for description, picture, page in find_pictures():
        assert description, f"a picture of {page.name} needs a description for readers who cannot see it"
        content = picture.read_bytes()
        assert len(content) < MAX_PICTURE_BYTES, picture.name
        if picture.suffix == ".svg":
            assert b"prefers-color-scheme:dark" in content.replace(b" ", b"")
        else:
            assert content.startswith(b"\x89PNG"), picture.name


def test_every_picture_is_shown():
    drawn = {file.resolve() for file in (DOCS / "images").iterdir() if file.suffix in (".png", ".svg")}
    assert drawn == {picture for _, picture, _ in find_pictures()}


def test_all_extras_are_documented():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    table = (DOCS / "reference" / "index.md").read_text(encoding="utf-8").partition("## Extras")[2]
    listed = [
        name
        for line in re.findall(r"^\| (`\w.*?) \|", table, flags=re.MULTILINE)
        for name in re.findall(r"`(\w+)`", line)
    ]
    assert sorted(listed) == sorted(set(extras) - {"bench", "dev", "docs"})
    assert any(requirement.startswith("mkdocstrings[python]") for requirement in extras["docs"])
