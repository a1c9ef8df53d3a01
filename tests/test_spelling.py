"""Comments, docstrings, messages, pages and our own names are in British spelling; names of other libraries stay."""

from __future__ import annotations

import ast
import re
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: "serialize" would be found, "parametrize" (pytest's word) would not
STEMS = (
    "capital|categor|character|emphas|final|general|initial|maxim|minim|normal|optim|organ|parallel|plural|random|recogn|regular|"
    "serial|special|standard|summar|symbol|synchron|util|vector|visual"
)
WORDS = (
    rf"(?:un|re)?(?:(?:{STEMS})iz(?:e|es|ed|er|ers|ing|able|ation|ations)|analyz(?:e|es|ed|er|ing)|"
    r"behaviors?|canceled|centers?|centered|colors?|colored|favors?|favorite|gray|honors?|judgments?|labeled|labeling|"
    r"modeled|modeling|neighbors?|neighboring|toward)"
)
AMERICAN = re.compile(rf"(?<![\w./\"'=-]){WORDS}(?![\w(=:/\"'-]|\.\w)", re.IGNORECASE)
#: within a name: normalize_name, CaseColors
AMERICAN_PART = re.compile(WORDS, re.IGNORECASE)
#: names that users know, or that follow the name another program has for the thing
OTHERS_NAMES = {
    "is_vectorized",  # an attribute of programs
    "starts_with_vectorizer",  # vectorizers of scikit-learn
    "ga_optimize_filter",  # commands of Morphy
    "ga_optimize_random_removal",
    "ga_optimize_strongest_mutant",
    "ga_optimize_weakest_removal",
    "test_the_command_leaves_no_files_and_honours_no_color",  # the variable NO_COLOR
}
#: what is written for people in a module
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
COMMENT_OR_TEXT = re.compile(r'(?:^|\s)#:? (.*)$|"([^"\n]* [^"\n]* [^"\n]*)"', re.MULTILINE)
#: names in a text: code, links, titles of papers, and people
NAMES = re.compile(
    r"``[^`]*``|`[^`]*`|<[^>]*>|\]\([^)]*\)|\{[^}]*\}|>>> .*|Mister Gray|the generalization error|vectorizer"
)


def list_prose(file):
    """Yield the texts of a module, or of a page without its code."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        yield from DOCSTRING.findall(text)
        yield from chain.from_iterable(COMMENT_OR_TEXT.findall(text))
    else:
        yield re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def test_the_spelling_is_british():
    files = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
    for pattern in ("src/**/*.py", "src/**/*.toml", "docs/**/*.md"):
        files += sorted(ROOT.glob(pattern))
    assert len(files) > 500
    mistakes = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in files
        for prose in list_prose(file)
        for match in AMERICAN.finditer(NAMES.sub("", prose))
    ]
    assert not mistakes, "\n".join(mistakes)


def list_own_names(file):
    """Yield the names that a module defines: its own, and those of classes, functions, parameters, variables and attributes."""
    yield file.stem
    text = file.read_text(encoding="utf-8")
    if not AMERICAN_PART.search(text):  # or it need not be parsed
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr


def is_american(name):
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return any(AMERICAN_PART.fullmatch(part) for part in parts)


def test_names_are_in_british_spelling():
    mistakes = {
        f"{file.relative_to(ROOT)}: {name}"
        for pattern in ("src/**/*.py", "tests/**/*.py")
        for file in ROOT.glob(pattern)
        for name in list_own_names(file)
        if name not in OTHERS_NAMES and is_american(name)
    }
    assert not mistakes, "\n".join(sorted(mistakes))


def test_american_names_are_found(tmp_path):
    file = tmp_path / "serialize.py"
    file.write_text(
        "class ColorBar:\n    def normalize_name(self, MAX_COLORS, fabricated=0):\n        self._summarized = gray = 1\n"
        "        plot.color = normalise(value, normalize=neighbors)\n"
    )
    assert {name for name in list_own_names(file) if is_american(name)} == {
        "serialize",
        "ColorBar",
        "normalize_name",
        "MAX_COLORS",
        "_summarized",
        "gray",
    }


def test_american_words_are_found():
    assert AMERICAN.findall("Normalized colors of its neighbor, sized 3; see sklearn.neighbors and color: red.") == [
        "Normalized",
        "colors",
        "neighbor",
    ]
