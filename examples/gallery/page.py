"""The gallery as a page of the documentation."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from .bug import HERE, Bug, BugVerdicts, Verdict, ViolatedRelation, read_bugs, read_list

PAGE = Path(__file__).parents[2] / "docs" / "gallery.md"
MAX_CASE_LINES = 16
INTRODUCTION = """# Bugs of released libraries

<!-- Written by `make gallery`. Do not edit. -->

Each row is a real bug of a released library. datamorphic had no hint about it: the learner was checked with the relations that it must
satisfy, on random training sets, and a distribution of SciPy with the relations of
[`dm.relations_for`](guides/functions.md). The list was made from changelogs and issues before anything was run:
wrong answers, crashes and NaN of fit, predict, scores, distributions and functions, for small inputs that the documentation allows.

`make gallery` installs the old releases in environments of their own and verifies every row: found in the faulty release, silent in the
fixed one.
To check a library of your own in two releases, see [Test another release](guides/releases.md).
"""


def write_page(rows: Mapping[str, BugVerdicts]) -> None:
    """Write docs/gallery.md from the verdicts on the bugs."""
    PAGE.write_text(build_page(rows), encoding="utf-8")


def build_page(rows: Mapping[str, BugVerdicts]) -> str:
    """Return the page as Markdown."""
    bugs = [bug for bug in read_bugs() if bug.name in rows]
    found_bugs = [bug for bug in bugs if not bug.miss and rows[bug.name].telling_relations]
    verdicts: list[Verdict] = [
        verdict for row in rows.values() for verdict in (row.faulty, row.fixed) if verdict is not None
    ]
    judged = sum(verdict.judged for verdict in verdicts)
    slowest = max((verdict.seconds for verdict in verdicts), default=0)
    missed_lines = [
        f"- **{bug.name}** ([{bug.library} {bug.issue_name}]({bug.issue})): {bug.what} {bug.miss or 'It was not found this time.'}"
        for bug in bugs
        if bug not in found_bugs
    ]
    other_lines = [
        f"- **{bug.name}**, {bug.library} {bug.fixed}: {', '.join(f'`{name}`' for name in rows[bug.name].fixed_names)}. "
        f"{bug.other}"
        for bug in bugs
        if bug.other
    ]
    correction_lines = [f"- **{bug.name}**: {bug.correction}" for bug in bugs if bug.correction]
    correction_lines += [f"- **{row['name']}** is withdrawn: {row['why']}" for row in read_list()["withdrawn"]]
    return "\n".join(
        [
            INTRODUCTION,
            f"**{len(found_bugs)} of {len(bugs)}** bugs are found in the faulty release: what is violated there holds in the fixed "
            f"one. {judged:,} cases of relations that must hold were judged; the slowest check took {slowest:.0f} s.\n",
            _build_table(found_bugs, rows),
            *(_build_section(bug, rows[bug.name]) for bug in found_bugs),
            _build_list("Not found", "", missed_lines),
            _build_list(
                "Other faults of the fixed releases",
                "The fixed releases have faults of their own, which are not those of the row:",
                other_lines,
            ),
            _build_list(
                "Corrections of the list", "After something was run, these rows were changed:", correction_lines
            ),
            _build_current_section(),
        ]
    )


def _build_list(heading: str, text: str, lines: list[str]) -> str:
    return "\n".join([f"## {heading}", "", *([text, ""] if text else []), *lines, ""]) if lines else ""


def _build_table(bugs: list[Bug], rows: Mapping[str, BugVerdicts]) -> str:
    lines = ["| bug | found in | silent in | relation | violated | issue |", "|---|---|---|---|---|---|"]
    for bug in bugs:
        first = rows[bug.name].telling_relations[0]
        cells = [
            f"[{bug.name}](#{_make_anchor(bug.name)})",
            *(f"{bug.library} {bug.faulty}", bug.fixed or "no release yet", first.name),
            _format_share(first),
            f"[{bug.issue_name}]({bug.issue})",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _format_share(relation: ViolatedRelation) -> str:
    return f"{relation.violated} of {relation.judged}" if relation.judged else "no answer"


def _build_section(bug: Bug, row: BugVerdicts) -> str:
    first, *others = row.telling_relations
    also = f" Also violated: {', '.join(f'`{relation.name}`' for relation in others)}." if others else ""
    both = [f"`{name}`" for name in row.faulty.names if name in row.fixed_names]
    too = f" Both releases violate {', '.join(both)}." if both else ""
    lines = [
        f"## {bug.name}",
        "",
        f"`{bug.subject}` of {bug.library} {bug.faulty}. {bug.what} Found by `{first.name}` ({_format_share(first)}).{also}{too}",
        "",
    ]
    if row.own_checks:
        lines += [f"Checks of scikit-learn for its own estimators: {row.own_checks}.", ""]
    case = next((relation.case for relation in row.telling_relations if relation.case), "").splitlines()
    if case:
        if len(case) > MAX_CASE_LINES:  # the end says what is wrong
            case = [*case[: MAX_CASE_LINES // 2], "...", *case[-MAX_CASE_LINES // 2 :]]
        lines += ["```text", *case, "```", ""]
    return "\n".join(lines)


def _build_current_section() -> str:
    """Return what was found in current releases, from a list that is kept by hand."""
    facts = tomllib.loads((HERE / "current.toml").read_text(encoding="utf-8"))
    lines = [
        "## In current releases",
        "",
        facts["text"].strip(),
        "",
        "| library | subject | what | smallest case | known issue |",
        "|---|---|---|---|---|",
        *(
            f"| {row['library']} {row['release']} | `{row['subject']}` | {row['what']} | `{row['case']}` | {row['known']} |"
            for row in facts["violation"]
        ),
        "",
    ]
    return "\n".join(lines)


def _make_anchor(heading: str) -> str:
    return "".join(letter for letter in heading.lower().replace(" ", "-") if letter.isalnum() or letter in "-_")
