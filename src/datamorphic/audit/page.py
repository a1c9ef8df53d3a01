"""Build the page of an audit, for readers who do not know this tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .._text import format_percent, pluralise, redact_parameter
from ..core.result import LEVEL_MEANINGS, LEVELS, Example, Finding, Level
from ..reporting.document import Meter, Page, Section, SectionState, Table, Tile
from ..reporting.text import cut
from .examples import build_example_table, build_snippets, draw_example, format_broken_relations
from .outcome import Outcome
from .result import AuditResult

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
MODEL_LEAD = (
    "This page reports how a model behaves. No correct answers were needed: inputs were changed in ways that must not matter, or "
    "may matter in one direction only, and the answers were compared. Where possible, a finding shows an input that reproduces it."
)
DATA_LEAD = (
    "This page reports what a table itself shows, without a model. Every finding names rows or columns to look at."
)
MAX_FACT_CHARACTERS = 600
MAX_FURTHER_EXAMPLES = 5  # one sentence each, after the first
MAX_BRIEF_FINDINGS = 100
MAX_BRIEF_NAME_CHARACTERS = 24  # of checks
PLURALS = {"leaf": "leaves", "class": "classes"}  # that do not end with a plain s
CERTAINTY_NAMES = ((0.9, "nearly certain"), (0.7, "likely"), (0.4, "possible"))


def build_page(result: AuditResult, brief: bool = False) -> Page:
    """Return a page with the verdict, the findings, pictures, all checks and how to reproduce them.

    With `brief`, it is the short form for terminals, with one line per check and an example per finding.
    """
    defects = result.at_least("concern")
    verdict = result.headline
    if not brief:
        verdict = verdict[:1].upper() + verdict[1:] + "."
        if defects:
            verdict += f" The most important: {defects[0].title}."
    state: SectionState = "good" if result.passed else "warn"
    facts = [
        ("Model", result.kind),
        ("Data", result.data),
        ("Effort", format_effort(result)),
        ("Seed", f"{result.seed} (the same seed gives the same findings if the budget suffices)"),
    ]
    return Page(
        title=f"Check-up of {result.subject}",
        subject=result.subject,
        lead=DATA_LEAD if result.words.get("data_only") else MODEL_LEAD,
        sections=_build_brief_sections(result) if brief else _build_sections(result),
        verdict=verdict,
        state=STATE_OF_LEVEL[defects[0].level] if defects else state,
        facts=[(term, cut(value, MAX_FACT_CHARACTERS)) for term, value in facts if value],
        contents=True,
        tiles=_build_tiles(result),
    )


def _build_sections(result: AuditResult) -> list[Section]:
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
    return [*sections, _build_checks(result), _build_provenance(result)]


def _build_brief_sections(result: AuditResult) -> list[Section]:
    findings = result.findings
    sections = [build_finding(result, finding, brief=True) for finding in findings[:MAX_BRIEF_FINDINGS]]
    if len(findings) > MAX_BRIEF_FINDINGS:
        heading = f"{len(findings) - MAX_BRIEF_FINDINGS:,} more findings"
        sections.append(Section(heading=heading, text="Write a report to see them all (--html, --json)."))
    sections.append(
        Section(heading="All checks", text=_count_outcomes(result), table=_tabulate_briefly(result.outcomes))
    )
    if result.column_relations:
        relations = "\n".join(f"• {relation}" for relation in result.column_relations)
        sections.append(Section(heading="Relations between columns that all given rows keep", text=relations))
    if result.notes:
        sections.append(Section(heading="Notes", text="\n".join(f"• {note}" for note in result.notes)))
    return sections


def format_effort(result: AuditResult) -> str:
    """Return the time and the model calls of an audit."""
    budget = f" (budget: {result.budget})" if result.budget else ""
    seconds = f"{result.seconds:.1f} s" if result.seconds < 100 else f"{result.seconds:,.0f} s"
    if result.seconds < 0.095:
        seconds = "under 0.1 s" if result.seconds else "0 s"
    if result.words.get("data_only"):
        return f"{seconds}{budget}"
    return f"{seconds} and {pluralise(result.calls, 'row')} computed by the model{budget}"


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
            text=f"{pluralise(len(passed_outcomes), 'check')} passed. "
            "The tables below list what was checked and what was not.",
            state="good" if result.passed and passed_outcomes else "warn",
            anchor="findings",
        )
    levels = [level for level in LEVELS if any(finding.level == level for finding in findings)]
    meaning = "\n".join(f"• {level.capitalize()}: {LEVEL_MEANINGS[level]}" for level in levels)
    return Section(
        heading=pluralise(len(findings), "finding"),
        text=f"The most severe findings come first, then those with the greatest impact. The levels:\n{meaning}",
        parts=[build_finding(result, finding) for finding in findings],
        anchor="findings",
        searchable=True,
    )


def build_finding(result: AuditResult, finding: Finding, brief: bool = False) -> Section:
    """Return a finding as a section; with `brief`, without pictures and tables, and with its first example as a sentence."""
    facts = [
        ("Whom it affects", _format_affected(finding)),
        ("What to do", finding.remedy),
        ("More evidence", _format_evidence(finding, brief)),
    ]
    pictures: list[Section] = []
    tables: list[Section] = []
    for example in finding.examples[:1]:
        if brief or not (example.case or example.answer is not None or example.new_answer is not None):
            facts.append(("An example", format_example(example)))
        else:
            pictures.append(_build_example(result, example))
    if not brief:
        facts.append(("More examples", _format_examples(finding.examples[1:])))
        sections = [section for piece in (finding, *finding.evidence) for section in piece.sections]
        pictures = [*(section for section in sections if section.table is None), *pictures]
        tables = [section for section in sections if section.table is not None]  # they need the width
    facts.append(("Found by", f"the check “{finding.check}”" + (f", about {finding.about}" if finding.about else "")))
    return Section(
        heading=finding.title,
        text=finding.detail,
        state=STATE_OF_LEVEL[finding.level],
        badge=finding.level.capitalize(),
        facts=[(term, value) for term, value in facts if value],
        again=format_command(result, finding),
        anchor=f"finding-{finding.check}-{finding.about}".rstrip("-"),
        meters=_build_meters(finding, brief),
        beside=pictures,
        parts=tables,
    )


def _format_evidence(finding: Finding, brief: bool) -> str:
    """Return one line per other check that found the same; with `brief`, without details."""
    return "\n".join(
        f"• {piece.title}{'' if brief else f'. {piece.detail}'} (check “{piece.check}”)" for piece in finding.evidence
    )


def _format_examples(examples: Sequence[Example]) -> str:
    """Return some examples, one line each."""
    lines = [f"• {format_example(example)}" for example in examples[:MAX_FURTHER_EXAMPLES]]
    omitted_count = len(examples) - len(lines)
    return "\n".join([*lines, *([f"{omitted_count:,} more not shown."] if omitted_count else [])])


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


def _build_meters(finding: Finding, brief: bool) -> list[Meter]:
    """Return how much a finding affects, unless `brief` repeats its detail, and how sure it is."""
    meters = []
    if finding.cases_tried and not (brief and finding.counted_in_detail):
        text = format_frequency(finding)
        if finding.counted_in_detail:  # which gives the interval, too
            text = f"{format_percent(finding.rate)} of {_format_total(finding)}"
        meters.append(Meter(label="How often", share=finding.rate, text=text))
    return [*meters, Meter(label="How sure", share=finding.confidence, text=format_certainty(finding))]


def format_frequency(finding: Finding) -> str:
    """Return how many cases show a finding, with the 95% interval of the share if they are a sample."""
    total = _format_total(finding)
    if not finding.sampled:
        return f"{finding.cases:,} of {total}: {format_percent(finding.rate)}"
    low, high = finding.interval
    return (
        f"{finding.cases:,} of {total} tried: {format_percent(finding.rate)} "
        f"(95% interval: {format_percent(low)} to {format_percent(high)})"
    )


def _format_total(finding: Finding) -> str:
    """Return the number of what was counted, with its noun."""
    return pluralise(finding.cases_tried, finding.noun, PLURALS.get(finding.noun))


def format_certainty(finding: Finding) -> str:
    """Return the certainty of a finding in words."""
    if finding.confidence >= 0.995:
        return "certain: an example shows it" if finding.examples else "certain"
    name = next((name for minimum, name in CERTAINTY_NAMES if finding.confidence >= minimum), "a suspicion")
    return f"{name} ({format_percent(finding.confidence)})"


def format_impact(finding: Finding) -> str:
    """Return which rows are affected, whether the answer or only its score changes, and by how much.

    The text is empty if nothing of this is known.

    Examples
    --------
    >>> texts = {"check": "", "about": "", "title": "", "level": "fault", "confidence": 1.0, "detail": "", "remedy": ""}
    >>> format_impact(Finding(**texts, rows=200, affected_rows=12, inputs="changed", answer_changes=False, effect=0.0312))
    '12 of 200 given rows, if they are changed; only the score is affected, typically by 0.031'
    """
    parts = []
    if finding.rows:
        condition = ", if they are changed" if finding.inputs == "changed" else ""
        parts.append(f"{finding.affected_rows:,} of {pluralise(finding.rows, 'given row')}{condition}")
    elif finding.inputs == "made":
        parts.append("only generated inputs")
    elif finding.inputs == "changed":
        parts.append("every row that arrives changed like this")
    if finding.answer_changes is not None or finding.effect is not None:
        change = "only the score is affected" if finding.answer_changes is False else "the answer is affected"
        change += "" if finding.effect is None else f", typically by {finding.effect:.2g}"
        other_count = finding.cases - finding.affected_rows
        cases_are_rows = finding.cases_tried == finding.rows  # then the other cases are rows whose answer stays
        if finding.answer_changes and cases_are_rows and other_count > 0:
            change += f", and only the score of {pluralise(other_count, 'other row')}"
        parts.append(change)
    return "; ".join(parts)


def format_example(example: Example) -> str:
    """Return an example in words, with the number of its row in the data and the relations that it breaks."""
    text = example.text if example.row is None else f"row {example.row:,} of the data: {example.text}"
    return f"{text}. {format_broken_relations(example)}" if example.breaks else text


def format_command(result: AuditResult, finding: Finding | None = None) -> str:
    """Return the command that reproduces a result or one finding, without passwords."""
    return " ".join(redact_parameter(result.command(finding)).split("\n"))


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
    parts = [
        Section(
            heading=f"{pluralise(len(groups[group]), 'check')} {heading}",
            text="",
            state=state,
            table=_tabulate_outcomes(groups[group]),
            anchor=f"checks-{group}",
            folding="open" if group in ("broke", "not tried") else "closed",
        )
        for group, (heading, state) in GROUP_HEADINGS.items()
        if groups[group]
    ]
    return Section(heading="All checks", text=_count_outcomes(result), parts=parts, anchor="checks")


def _count_outcomes(result: AuditResult) -> str:
    """Return how many checks passed, found something and so on."""
    groups = _group_outcomes(result)
    counts = [f"{len(groups[group])} {heading}" for group, (heading, _) in GROUP_HEADINGS.items() if groups[group]]
    text = f"{pluralise(len(result.outcomes), 'check')}: {', '.join(counts)}."
    if groups["broke"] or groups["not tried"]:
        text += " The questions of checks that were not tried or ended with an error remain open for this model."
    return text


def _format_state(outcome: Outcome) -> str:
    """Return the state of a check, or its number of findings."""
    if outcome.state == "not run" and outcome.unfinished:
        return "not tried"
    return pluralise(len(outcome.findings), "finding") if outcome.state == "found" else outcome.state


def _tabulate_briefly(outcomes: Sequence[Outcome]) -> Table:
    """Return one line per check, in the order in which they ran, without those that were not requested."""
    rows = [
        [
            _format_state(outcome),
            cut(outcome.check, MAX_BRIEF_NAME_CHARACTERS),
            outcome.why or ("" if outcome.state == "not run" else outcome.asks),
        ]
        for outcome in outcomes
        if outcome.skip_reason != "not requested"
    ]
    return Table(columns=["outcome", "check", "based on, or reason"], rows=rows, main_rows=len(rows))


def _tabulate_outcomes(outcomes: Sequence[Outcome]) -> Table:
    ran = any(outcome.state != "not run" for outcome in outcomes)
    has_findings = any(outcome.state == "found" for outcome in outcomes)
    rows = [
        [
            outcome.check,
            outcome.asks,
            *([_format_state(outcome)] if has_findings else []),
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
