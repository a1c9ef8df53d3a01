"""The findings as Markdown for a pull request; words of others arrive as words, whatever signs are in them."""

from __future__ import annotations

import re

from ..reports.texts import cut, one_line
from .finding import MEANING, Finding
from .result import Result
from .told import again, effort, how_often, how_sure, percent, rows, state

LARGEST = 60_000  # characters: comments on pull requests may have some 65,000
SIZES = (
    (50, 600),
    (30, 300),
    (15, 150),
    (6, 80),
    (2, 40),
)  # findings in the table, letters of a text: the first that fits
_SIGNS = re.compile(r"([\\`*_\[\]|{}^~$])")
#: what platforms make links of though no Markdown says so: mentions, issues, labels, addresses
_LINKS = re.compile(
    r"(?<![&\w])(GH-)(?=\d)|([@#!~%$])(?=\w)|(:)(?=//)|(\bwww)(?=\.)|(\b(?:mailto|xmpp):)", re.IGNORECASE
)
_START = re.compile(r"^([-+=#]|\d+(?=[.)](?:\s|$)))")
APART = "&#8203;"  # a space of no width
MARK = {"fault": "🔴 fault", "concern": "🟠 concern", "advice": "🔵 advice"}


def markdown(result: Result) -> str:
    """Return the findings as Markdown: the verdict, a table, and the details folded."""
    told = ""
    for findings, letters in SIZES:
        told = _told(result, findings, letters)
        if len(told) <= LARGEST:
            break
    return told


def _told(result: Result, most: int, letters: int) -> str:
    found = result.findings
    sign = "✅" if result.passed else "❌"
    kind, data, cost = (text(words, letters) for words in (result.kind, result.data, effort(result)))
    lines = [
        f"### {sign} {text(result.subject, min(200, letters))}: {text(result.headline, letters)}",
        "",
        f"{kind}, with {data}; seed {result.seed}; {cost}.",
        "",
    ]
    if found:
        lines += ["| | finding | check | cases | how sure |", "| --- | --- | --- | --- | --- |"]
        lines += [_row(finding, letters) for finding in found[:most]]
        lines.append("")
        if len(found) > most:
            lines += [f"{len(found) - most:,} more findings are in the report.", ""]
        levels = dict.fromkeys(each.level for each in found)
        lines += ["; ".join(f"**{level}**: {MEANING[level]}" for level in levels) + ".", ""]
    tail = [*_checks(result, 4 * most, letters), *_notes(result, most, letters)]
    room = LARGEST - sum(len(line) + 1 for line in lines + tail)
    for number, finding in enumerate(found):
        details = _details(result, finding, letters)
        room -= sum(len(line) + 1 for line in details)
        if room < 100:
            lines += [f"The details of {len(found) - number:,} findings are left out: they are in the report.", ""]
            break
        lines += details
    return "\n".join(lines + tail).rstrip() + "\n"


def text(words: str, most: int = 600) -> str:
    """Return words as Markdown that shows exactly these words.

    Examples
    --------
    >>> text("a|b <b>*bold*</b>")
    'a\\\\|b &lt;b&gt;\\\\*bold\\\\*&lt;/b&gt;'
    """
    safe = _SIGNS.sub(r"\\\1", _apart(words, most).replace("&", "&amp;")).replace("<", "&lt;").replace(">", "&gt;")
    return _START.sub(_not_at_the_start, safe).replace("\0", APART)


def _not_at_the_start(found: re.Match[str]) -> str:
    """Return what would begin a list or a heading so that it does not."""
    return f"{found[1]}\\" if found[1][0].isdigit() else f"\\{found[1]}"


def code(words: str, most: int = 4_000) -> list[str]:
    """Return words as a block of code that they cannot end."""
    shown = cut(one_line(words), most)
    ticks = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, ticks + 1)
    return [fence, shown, fence]


def _row(finding: Finding, letters: int) -> str:
    cases = f"{finding.cases:,} of {finding.of:,}" if finding.of else "–"
    title, check = text(finding.title, min(200, letters)), text(finding.check, min(60, letters))
    return f"| {MARK[finding.level]} | {title} | {check} | {cases} | {percent(finding.sure)} |"


def _details(result: Result, finding: Finding, letters: int) -> list[str]:
    head = f"{MARK[finding.level]}: {_summary(finding.title)}"
    often = how_often(finding, unless_told=True)
    facts = {"What to do": finding.remedy, "How often": often, "How sure": how_sure(finding)}
    lines = [f"<details><summary>{head}</summary>", "", text(finding.detail, letters), ""]
    lines += [f"- **{term}:** {text(said, letters)}" for term, said in facts.items() if said] + [""]
    for example in finding.examples[:1]:
        columns, table, note = rows(example)
        lines += [f"**Example:** {text(example.words, letters)}" if example.words else "**Example**", ""]
        if table:
            lines += [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
            lines += [f"| {' | '.join(text(cell, 80) for cell in row)} |" for row in table] + [""]
        lines += [text(note), ""] if note else []
    return [*lines, "To see it again:", "", *code(again(result, finding), 4 * letters), "", "</details>", ""]


def _summary(words: str) -> str:
    """Return words as they stand within a line of HTML, where signs of Markdown may or may not count."""
    harmless = (c if c.isalnum() or c in " ,;–'\0" else f"&#{ord(c)};" for c in _apart(words, 200))
    return "".join(harmless).replace("\0", APART)


def _apart(words: str, most: int) -> str:
    """Return words on one line, with a NUL after each sign from which a platform would make a link."""
    return _LINKS.sub(lambda found: f"{found[0]}\0", cut(one_line(words[: 4 * most]), most))


def _checks(result: Result, most: int, letters: int) -> list[str]:
    lines = [f"<details><summary>All {len(result.outcomes)} checks</summary>", ""]
    lines += ["| check | outcome | |", "| --- | --- | --- |"]
    lines += [
        f"| {text(each.check, min(60, letters))} | {text(state(each))} | {text(each.why or each.asks, letters)} |"
        for each in result.outcomes[:most]
    ]
    left = len(result.outcomes) - most
    return [*lines, "", *([f"{left:,} more checks are in the report.", ""] if left > 0 else []), "</details>", ""]


def _notes(result: Result, most: int, letters: int) -> list[str]:
    if not result.notes:
        return []
    notes = [f"- {text(note, letters)}" for note in result.notes[:most]]
    left = len(result.notes) - most
    notes += [f"- {left:,} more notes are in the report."] if left > 0 else []
    return ["<details><summary>Notes</summary>", "", *notes, "", "</details>", ""]
