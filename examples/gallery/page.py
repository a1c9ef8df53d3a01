"""The gallery as a page of the documentation."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from .bug import HERE, Bug, Row, read_bugs

PAGE = Path(__file__).parents[2] / "docs" / "gallery.md"
MAX_CASE_LINES = 16
INTRODUCTION = """# Bugs of released libraries

<!-- Written by `make gallery`. Do not edit. -->

Each row is a real bug of a released library. Nobody told datamorphic about it: the learner was checked with the relations that it must
satisfy, on random training sets, and a distribution of SciPy with the relations of
[`dm.relations_for`](guides/functions.md). The list was made from changelogs and issues before anything was run:
wrong answers, crashes and NaN of fit, predict, scores, distributions and functions, for small inputs that the documentation allows.

```console
$ make gallery
```

installs the old releases in environments of their own and verifies every row: found in the faulty release, silent in the fixed one.
To check a library of your own in two releases, see [Test another release](guides/releases.md).
"""


def write_page(rows: Mapping[str, Row]) -> None:
    """Write docs/gallery.md from the verdicts on the bugs."""
    PAGE.write_text(build_page(rows), encoding="utf-8")


def build_page(rows: Mapping[str, Row]) -> str:
    """Return the page as Markdown."""
    bugs = [bug for bug in read_bugs() if bug.name in rows]
    found = [bug for bug in bugs if rows[bug.name].faulty.found]
    missed = [bug for bug in bugs if not rows[bug.name].faulty.found]
    false_alarms = sum(rows[bug.name].fixed.found for bug in bugs)
    judged = sum(verdict.judged_in_all for row in rows.values() for verdict in (row.faulty, row.fixed))
    slowest = max((verdict.seconds for row in rows.values() for verdict in (row.faulty, row.fixed)), default=0)
    parts = [
        INTRODUCTION,
        f"**{len(found)} of {len(bugs)}** bugs are found in the faulty release, and **{false_alarms or 'none'}** in the fixed one. "
        f"{judged:,} cases of relations that must hold were judged; the slowest check took {slowest:.0f} s.\n",
        _build_table(found, rows),
        *(_build_section(bug, rows[bug.name]) for bug in found),
    ]
    if missed:
        lines = [
            f"- **{bug.name}** ([{bug.library} {bug.issue_name}]({bug.issue})): {bug.what} {bug.miss}" for bug in missed
        ]
        parts.append("## Not found\n\n" + "\n".join(lines) + "\n")
    if corrected := [bug for bug in bugs if bug.correction]:
        lines = [f"- **{bug.name}**: {bug.correction}" for bug in corrected]
        parts.append(
            "## Corrections of the list\n\nAfter something was run, these rows were changed:\n\n"
            + "\n".join(lines)
            + "\n"
        )
    parts.append(_build_current_section())
    return "\n".join(parts)


def _build_table(bugs: list[Bug], rows: Mapping[str, Row]) -> str:
    lines = ["| bug | library | found in | silent in | relation | violated | issue |", "|---|---|---|---|---|---|---|"]
    for bug in bugs:
        verdict = rows[bug.name].faulty
        share = f"{verdict.violated} of {verdict.judged}" if verdict.judged else "no answer"
        lines.append(
            f"| [{bug.name}](#{_make_anchor(bug.name)}) | {bug.library} | {bug.faulty} | {bug.fixed} | {verdict.relation} "
            f"| {share} | [{bug.issue_name}]({bug.issue}) |"
        )
    return "\n".join(lines) + "\n"


def _build_section(bug: Bug, row: Row) -> str:
    verdict = row.faulty
    others = [f"`{name}`" for name in verdict.relations if name != verdict.relation]
    also = f" Also violated: {', '.join(others)}." if others else ""
    share = f", in {verdict.violated} of {verdict.judged} cases" if verdict.judged else ""
    lines = [
        f"## {bug.name}",
        "",
        f"`{bug.subject}` of {bug.library} {bug.faulty}. {bug.what} Found by `{verdict.relation}`{share}.{also}",
        "",
    ]
    if row.own_checks:
        lines += [f"Checks of scikit-learn for its own estimators: {row.own_checks}.", ""]
    if verdict.case:
        case = verdict.case.splitlines()
        shown = case[:MAX_CASE_LINES] + (["..."] if len(case) > MAX_CASE_LINES else [])
        lines += ["```text", *shown, "```", ""]
    elif not verdict.judged:
        lines += ["```text", verdict.headline, "```", ""]
    return "\n".join(lines)


def _build_current_section() -> str:
    """Return what was found in current releases, from a list that is kept by hand."""
    facts = tomllib.loads((HERE / "current.toml").read_text(encoding="utf-8"))
    lines = [
        "## In current releases",
        "",
        facts["text"].strip(),
        "",
        "| library | subject | what | smallest case | maintainers |",
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
