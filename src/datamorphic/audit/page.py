"""Build the page of an audit, for readers who do not know this tool."""

from __future__ import annotations

from .._text import pluralize
from ..reporting.document import Page, Section, SectionState, Table
from ..reporting.text import cut
from .finding import LEVEL_MEANINGS, LEVELS, Finding, Level
from .result import AuditResult
from .text import format_certainty, format_command, format_effort, format_frequency, format_state, tabulate_example

STATE_OF_LEVEL: dict[Level, SectionState] = {"fault": "bad", "concern": "warn", "advice": "note"}
MAX_FACT_CHARACTERS = 600
MAX_FURTHER_EXAMPLES = 5  # one sentence each, after the first


def build_page(result: AuditResult) -> Page:
    """Return a page with the verdict, the findings, pictures, all checks and how to reproduce them."""
    details = [section for outcome in result.outcomes for section in outcome.sections]
    sections = [_build_findings(result)]
    if details:
        text = "What else was learned about the model. Nothing here is wrong unless a finding above says so."
        sections.append(Section(heading="Pictures and tables", text=text, parts=details, anchor="pictures"))
    sections += [_build_checks(result), _build_provenance(result)]
    defects = result.at_least("concern")
    headline = result.headline
    state: SectionState = "good" if result.passed else "warn"
    return Page(
        title=f"Check-up of {result.subject}",
        lead="This page reports how a model behaves. No correct answers were needed: inputs were changed in ways that "
        "must not matter, or may matter in one direction only, and the answers were compared. Where possible, a finding "
        "shows an input that reproduces it.",
        sections=sections,
        verdict=headline[:1].upper() + headline[1:],
        state=STATE_OF_LEVEL[defects[0].level] if defects else state,
        facts=[
            ("Model", ", ".join(cut(part, MAX_FACT_CHARACTERS) for part in (result.subject, result.kind) if part)),
            ("Data", cut(result.data, MAX_FACT_CHARACTERS)),
            ("Effort", format_effort(result)),
            ("Seed", f"{result.seed} (the same seed gives the same findings if the budget suffices)"),
        ],
        contents=True,
    )


def _build_findings(result: AuditResult) -> Section:
    findings = result.findings
    if not findings:
        passed_outcomes = [outcome for outcome in result.outcomes if outcome.state == "passed"]
        return Section(
            heading="No findings" if passed_outcomes else "Nothing could be checked",
            text=f"{pluralize(len(passed_outcomes), 'check')} passed. "
            "The table below lists what was checked and what was not.",
            state="good" if result.passed and passed_outcomes else "warn",
            anchor="findings",
        )
    levels = [level for level in LEVELS if any(finding.level == level for finding in findings)]
    meaning = "\n".join(f"• {level.capitalize()}: {LEVEL_MEANINGS[level]}" for level in levels)
    return Section(
        heading=pluralize(len(findings), "finding"),
        text=f"The most severe and most certain findings come first. The levels:\n{meaning}",
        parts=[_build_finding(result, finding) for finding in findings],
        anchor="findings",
    )


def _build_finding(result: AuditResult, finding: Finding) -> Section:
    facts = [
        ("What to do", finding.remedy),
        ("How often", format_frequency(finding)),
        ("How sure", format_certainty(finding)),
        ("Found by", f"the check “{finding.check}”" + (f", about {finding.about}" if finding.about else "")),
    ]
    table = None
    if finding.examples:
        example = finding.examples[0]
        columns, rows, note = tabulate_example(example)
        caption = "The smallest example" if len(finding.examples) > 1 else "An example"
        if rows:
            caption = f"{caption}: {example.words}" if example.words else caption
            table = Table(columns=columns, rows=rows, caption=caption, note=note, sortable=False)
        else:
            facts.append(("An example", example.words))
    further_examples = finding.examples[1 : MAX_FURTHER_EXAMPLES + 1]
    if further_examples:
        omitted_count = len(finding.examples) - 1 - len(further_examples)
        lines = [f"• {further_example.words}" for further_example in further_examples]
        if omitted_count:
            lines.append(f"{omitted_count:,} more not shown.")
        facts.append(("More examples", "\n".join(lines)))
    return Section(
        heading=finding.title,
        text=finding.detail,
        state=STATE_OF_LEVEL[finding.level],
        table=table,
        badge=finding.level.capitalize(),
        facts=[(term, value) for term, value in facts if value],
        again=format_command(result, finding),
    )


def _build_checks(result: AuditResult) -> Section:
    table = [
        [
            outcome.check,
            outcome.asks,
            format_state(outcome),
            outcome.why,
            *([None, None] if outcome.state == "not run" else [f"{outcome.seconds:.1f}", f"{outcome.calls:,}"]),
        ]
        for outcome in result.outcomes
    ]
    skipped_count = sum(outcome.state == "not run" for outcome in result.outcomes)
    broken_count = sum(outcome.state == "broke" for outcome in result.outcomes)
    run_count = len(result.outcomes) - skipped_count
    sentences = [f"{pluralize(run_count, 'check')} of {len(result.outcomes)} ran."]
    if skipped_count:
        sentences.append(f"{skipped_count} did not run, for the reasons in the table.")
    if broken_count:
        sentences.append(f"{broken_count} ended with an error.")
    if skipped_count or broken_count:
        sentences.append("Their questions remain open for this model.")
    return Section(
        heading="All checks",
        text=" ".join(sentences),
        state="warn" if broken_count else "plain",
        table=Table(
            columns=["check", "question", "outcome", "basis, or reason", "seconds", "rows computed"], rows=table
        ),
        anchor="checks",
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
