"""Comments, docstrings, messages and pages are in British spelling; names that other libraries chose stay as they are."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: "serialize" would be found, "parametrize" (pytest's word) would not
STEMS = (
    "capital|categor|character|emphas|final|general|initial|maxim|minim|normal|optim|organ|parallel|random|recogn|regular|"
    "serial|special|standard|summar|symbol|synchron|util|visual"
)
AMERICAN = re.compile(
    rf"(?<![\w./\"'=-])(?:un|re)?(?:(?:{STEMS})iz(?:e|es|ed|er|ers|ing|able|ation|ations)|analyz(?:e|es|ed|er|ing)|"
    r"behaviors?|canceled|centers?|centered|colors?|colored|favors?|favorite|gray|honors?|judgments?|labeled|labeling|"
    r"modeled|modeling|neighbors?|neighboring|toward)(?![\w(=:/\"'-]|\.\w)",
    re.IGNORECASE,
)
#: what is written for people in a module
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
COMMENT_OR_TEXT = re.compile(r'(?:^|\s)#:? (.*)$|"([^"\n]* [^"\n]* [^"\n]*)"', re.MULTILINE)
#: names in a text: code, links, titles of papers, and people
NAMES = re.compile(r"``[^`]*``|`[^`]*`|<[^>]*>|\]\([^)]*\)|\{[^}]*\}|>>> .*|Mister Gray|the generalization error")


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


def test_american_words_are_found():
    assert AMERICAN.findall("Normalized colors of its neighbor, sized 3; see sklearn.neighbors and color: red.") == [
        "Normalized",
        "colors",
        "neighbor",
    ]
