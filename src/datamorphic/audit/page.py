"""Build the page of an audit, for readers who do not know this tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .._text import format_percent, pluralize
from ..core.result import LEVEL_MEANINGS, LEVELS, Example, Finding, Level
from ..reporting.document import Meter, Page, Section, SectionState, Table, Tile
from ..reporting.text import cut
from .examples import build_example_table, build_snippets, draw_example
from .outcome import Outcome
from .result import AuditResult
from .text import (
    format_certainty,
    format_command,
    format_effort,
    format_example,
    format_frequency,
    format_impact,
    format_state,
    format_total,
)

STATE_OF_LEVEL: dict[Level, SectionState] = {"fault": "bad", "concern": "warn", "advice": "note"}
LEVEL_TITLES = {"fault": ("Fault", "Faults"), "concern": ("Concern", "Concerns"), "advice": ("Advice", "Advice")}
#: The groups of outcomes, in the order in which readers must act on them: heading and state of the section.
GROUP_HEADINGS: dict[str, tuple[str, SectionState]] = {
    "found": ("found something", "plain"),
    "broke": ("ended with an error", "warn"),
    "not tried": ("not tried", "warn"),
    "passed": ("passed", "good"),
    "inapplicable": ("not applicable to this model or these data", "plain"),
    "not requested": ("not requested", "plain"),
}
MAX_FACT_CHARACTERS = 600
MAX_FURTHER_EXAMPLES = 5  # one sentence each, after the first


def build_page(result: AuditResult) -> Page:
    """Return a page with the verdict, the findings, pictures, all checks and how to reproduce them."""
    details = [
        replace(section, folding=section.folding or ("open" if outcome.defects else "closed"))
        for outcome in result.outcomes
        for section in outcome.sections
    ]
    sections = [_build_findings(result)]
    if details:
        text = "What else was learned about the model. Nothing here is wrong unless a finding above says so."
        sections.append(Section(heading="Pictures and tables", text=text, parts=details, anchor="pictures"))
    if result.column_relations:
        sections.append(_build_column_relations(result))
    sections += [_build_checks(result), _build_provenance(result)]
    defects = result.at_least("concern")
    verdict = result.headline[:1].upper() + result.headline[1:] + "."
    if defects:
        verdict += f" The most important: {defects[0].title}."
    state: SectionState = "good" if result.passed else "warn"
    return Page(
        title=f"Check-up of {result.subject}",
        lead="This page reports how a model behaves. No correct answers were needed: inputs were changed in ways that "
        "must not matter, or may matter in one direction only, and the answers were compared. Where possible, a finding "
        "shows an input that reproduces it.",
        sections=sections,
        verdict=verdict,
        state=STATE_OF_LEVEL[defects[0].level] if defects else state,
        facts=[
            ("Model", ", ".join(cut(part, MAX_FACT_CHARACTERS) for part in (result.subject, result.kind) if part)),
            ("Data", cut(result.data, MAX_FACT_CHARACTERS)),
            ("Effort", format_effort(result)),
            ("Seed", f"{result.seed} (the same seed gives the same findings if the budget suffices)"),
        ],
        contents=True,
        tiles=_build_tiles(result),
    )


def _build_tiles(result: AuditResult) -> list[Tile]:
    """Return the number of findings per level, of checks per outcome, and the effort."""
    levels = [finding.level for finding in result.findings]
    tiles = [
        Tile(
            label=LEVEL_TITLES[level][levels.count(level) != 1],
            value=f"{levels.count(level):,}",
            state=STATE_OF_LEVEL[level] if level in levels else "plain",
            target="findings",
        )
        for level in LEVELS
    ]
    groups = _group_outcomes(result)
    passed_count, untried_count = len(groups["passed"]), len(groups["not tried"]) + len(groups["broke"])
    tiles += [
        Tile(
            label="Passed" if passed_count == 1 else "Checks passed",
            value=f"{passed_count:,}",
            state="good" if passed_count else "plain",
            target="checks",
        ),
        Tile(
            label="Not completed",
            value=f"{untried_count:,}",
            state="warn" if untried_count else "plain",
            target="checks",
        ),
    ]
    seconds = f"{result.seconds:.1f}" if result.seconds < 100 else f"{result.seconds:,.0f}"
    return [
        *tiles,
        Tile(label="Rows computed", value=f"{result.calls:,}"),
        Tile(label="Seconds", value="< 0.1" if 0 < result.seconds < 0.05 else seconds),
    ]


# -- findings ----------------------------------------------------------------------------------------------------------


def _build_findings(result: AuditResult) -> Section:
    findings = result.findings
    if not findings:
        passed_outcomes = [outcome for outcome in result.outcomes if outcome.state == "passed"]
        heading = "No findings so far" if result.unfinished else "No findings"
        return Section(
            heading=heading if passed_outcomes else "Nothing could be checked",
            text=f"{pluralize(len(passed_outcomes), 'check')} passed. "
            "The tables below list what was checked and what was not.",
            state="good" if result.passed and passed_outcomes else "warn",
            anchor="findings",
        )
    levels = [level for level in LEVELS if any(finding.level == level for finding in findings)]
    meaning = "\n".join(f"• {level.capitalize()}: {LEVEL_MEANINGS[level]}" for level in levels)
    return Section(
        heading=pluralize(len(findings), "finding"),
        text=f"The most severe findings come first, then those with the greatest impact. The levels:\n{meaning}",
        parts=[_build_finding(result, finding) for finding in findings],
        anchor="findings",
        searchable=True,
    )


def _build_finding(result: AuditResult, finding: Finding) -> Section:
    facts = [
        ("Whom it affects", _format_affected(finding)),
        ("What to do", finding.remedy),
        ("More evidence", _format_evidence(finding)),
    ]
    examples: list[Section] = []
    if finding.examples:
        example = finding.examples[0]
        if example.case or example.answer is not None or example.new_answer is not None:
            examples.append(_build_example(result, example))
        else:
            facts.append(("An example", example.text))
    further_examples = finding.examples[1 : MAX_FURTHER_EXAMPLES + 1]
    if further_examples:
        omitted_count = len(finding.examples) - 1 - len(further_examples)
        lines = [f"• {format_example(further_example)}" for further_example in further_examples]
        if omitted_count:
            lines.append(f"{omitted_count:,} more not shown.")
        facts.append(("More examples", "\n".join(lines)))
    sections = [section for piece in (finding, *finding.evidence) for section in piece.sections]
    facts.append(("Found by", f"the check “{finding.check}”" + (f", about {finding.about}" if finding.about else "")))
    return Section(
        heading=finding.title,
        text=finding.detail,
        state=STATE_OF_LEVEL[finding.level],
        badge=finding.level.capitalize(),
        facts=[(term, value) for term, value in facts if value],
        again=format_command(result, finding),
        anchor=f"finding-{finding.check}-{finding.about}".rstrip("-"),
        meters=_build_meters(finding),
        beside=[*(section for section in sections if section.table is None), *examples],
        parts=[section for section in sections if section.table is not None],  # tables need the width
    )


def _format_evidence(finding: Finding) -> str:
    """Return one line per other check that found the same."""
    return "\n".join(f"• {piece.title}. {piece.detail} (check “{piece.check}”)" for piece in finding.evidence)


def _format_affected(finding: Finding) -> str:
    """Return the impact of a finding, or else whether real rows or only made ones show it.

    The text is empty if the finding is not about rows.
    """
    impact = format_impact(finding)
    if impact:
        return f"{impact[:1].upper()}{impact[1:]}."
    rows = [example.row for example in finding.examples if example.row is not None]
    if rows:
        return f"Rows of the given data, for example row {rows[0]:,}."
    if any(example.case for example in finding.examples):
        return "Inputs like the example, which was made for this test. Judge whether such inputs occur in use."
    return ""


def _build_example(result: AuditResult, example: Example) -> Section:
    """Return an example with its values before and after the change, as a picture if they are pixels, and as code."""
    heading = "An example"
    if example.row is not None:
        heading += f": row {example.row:,} of the data"
    elif example.case:
        heading += ": a row made for this test"
    return Section(
        heading=heading,
        text=example.text,
        table=build_example_table(example),
        drawing=draw_example(example),
        snippets=build_snippets(example, _format_call(result)),
        snippets_title="Copy the example as Python or CSV",
    )


def _build_meters(finding: Finding) -> list[Meter]:
    """Return how much a finding affects, and how sure it is."""
    meters = []
    if finding.cases_tried:
        text = format_frequency(finding)
        if finding.counted_in_detail:  # which gives the interval, too
            text = f"{format_percent(finding.rate)} of {format_total(finding)}"
        meters.append(Meter(label="How often", share=finding.rate, text=text))
    return [*meters, Meter(label="How sure", share=finding.confidence, text=format_certainty(finding))]


def _format_call(result: AuditResult) -> str:
    """Return the code that queries the model with a frame."""
    if result.words.get("scalar"):
        return "[model(**case) for case in {cases}.to_dict('records')]"
    return "model.predict({cases})" if result.kind.startswith("a fitted") else "model({cases})"


# -- checks ------------------------------------------------------------------------------------------------------------


def _group_outcomes(result: AuditResult) -> dict[str, list[Outcome]]:
    """Return the outcomes of the checks by group."""
    groups: dict[str, list[Outcome]] = {group: [] for group in GROUP_HEADINGS}
    for outcome in result.outcomes:
        group: str = outcome.state
        if outcome.state == "not run":
            group = "not tried" if outcome.unfinished else outcome.skip_reason or "inapplicable"
        groups[group].append(outcome)
    return groups


def _build_checks(result: AuditResult) -> Section:
    groups = _group_outcomes(result)
    counts = [f"{len(groups[group])} {heading}" for group, (heading, _) in GROUP_HEADINGS.items() if groups[group]]
    text = f"{pluralize(len(result.outcomes), 'check')}: {', '.join(counts)}."
    if groups["broke"] or groups["not tried"]:
        text += " The questions of checks that were not tried or ended with an error remain open for this model."
    parts = [
        Section(
            heading=f"{pluralize(len(groups[group]), 'check')} {heading}",
            text="",
            state=state,
            table=_tabulate_outcomes(groups[group]),
            anchor=f"checks-{group}",
            folding="open" if group in ("broke", "not tried") else "closed",
        )
        for group, (heading, state) in GROUP_HEADINGS.items()
        if groups[group]
    ]
    return Section(heading="All checks", text=text, parts=parts, anchor="checks")


def _tabulate_outcomes(outcomes: Sequence[Outcome]) -> Table:
    ran = any(outcome.state != "not run" for outcome in outcomes)
    has_findings = any(outcome.state == "found" for outcome in outcomes)
    rows = [
        [
            outcome.check,
            outcome.asks,
            *([format_state(outcome)] if has_findings else []),
            outcome.why,
            *([f"{outcome.seconds:.1f}", f"{outcome.calls:,}"] if ran else []),
        ]
        for outcome in outcomes
    ]
    columns = ["check", "question", *(["outcome"] if has_findings else []), "based on" if ran else "reason"]
    return Table(columns=[*columns, *(["seconds", "rows computed"] if ran else [])], rows=rows)


def _build_column_relations(result: AuditResult) -> Section:
    relations = "\n".join(f"• {relation}" for relation in result.column_relations)
    target = f", target={result.words['target']!r}" if result.words.get("target") is not None else ""
    return Section(
        heading="Relations between columns",
        text=f"All given rows keep these relations. Rows that were made for this test keep them too, so that they could be real. "
        f"Where a single feature is changed on purpose, an example that breaks a relation says so.\n{relations}",
        again=f"dm.find_constraints(data{target})",
        anchor="column-relations",
        folding="open",
    )


def _build_provenance(result: AuditResult) -> Section:
    notes = "\n".join(f"• {note}" for note in result.notes)
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    return Section(
        heading="How this page was produced",
        text=notes or "Everything was tested as given. No assumptions were needed.",
        facts=[("Made with", versions)] if versions else [],
        again=format_command(result),
        anchor="made",
    )
