"""The page of findings: what a reader who has never seen this tool needs in order to judge a model by it."""

from __future__ import annotations

from .._text import pluralize
from ..reporting.document import Page, Section, SectionState, Table
from ..reporting.text import cut
from .finding import LEVEL_MEANINGS, LEVELS, Finding, Level
from .finding_text import (
    format_certainty,
    format_command,
    format_effort,
    format_frequency,
    format_state,
    tabulate_example,
)
from .result import AuditResult

STATE_OF_LEVEL: dict[Level, SectionState] = {"fault": "bad", "concern": "warn", "advice": "note"}
MAX_FACT_CHARACTERS = 600  # letters of what was tested, and with what
MAX_FURTHER_EXAMPLES = 5  # told in a sentence each, beside the first


def build_page(result: AuditResult) -> Page:
    """Return what a check-up found as a page: the verdict, the findings, pictures, every check, what it rests on."""
    details = [section for outcome in result.outcomes for section in outcome.sections]
    sections = [_build_findings(result)]
    if details:
        text = "What else was learnt about the model: nothing here is wrong unless a finding above says so."
        sections.append(Section(heading="Pictures and tables", text=text, parts=details, anchor="pictures"))
    sections += [_build_checks(result), _build_provenance(result)]
    headline = result.headline
    return Page(
        title=f"Check-up of {result.subject}",
        lead="This page tells how a model behaves. That was found out without knowing a single right answer: inputs were "
        "changed in ways that must not matter, or may matter in one direction only, and the answers compared. Where it "
        "can, a finding shows an input with which anybody can see it again.",
        sections=sections,
        verdict=headline[:1].upper() + headline[1:],
        state=_choose_state(result),
        facts=[
            ("Model", ", ".join(cut(part, MAX_FACT_CHARACTERS) for part in (result.subject, result.kind) if part)),
            ("Data", cut(result.data, MAX_FACT_CHARACTERS)),
            ("Effort", format_effort(result)),
            ("Seed", f"{result.seed} (the same seed gives the same findings, as long as the budget suffices)"),
        ],
        contents=True,
    )


def _choose_state(result: AuditResult) -> SectionState:
    findings = result.findings
    if findings and findings[0].level != "advice":
        return STATE_OF_LEVEL[findings[0].level]
    return "good" if result.passed else "warn"


def _build_findings(result: AuditResult) -> Section:
    findings = result.findings
    if not findings:
        passed_outcomes = [outcome for outcome in result.outcomes if outcome.state == "passed"]
        heading = "Nothing was found" if passed_outcomes else "Nothing could be checked"
        text = f"{pluralize(len(passed_outcomes), 'check')} passed; below is what each of them asked, and what was not checked."
        return Section(
            heading=heading,
            text=text,
            state="good" if result.passed and passed_outcomes else "warn",
            anchor="findings",
        )
    levels = [level for level in LEVELS if any(finding.level == level for finding in findings)]
    meaning = "\n".join(f"• {_format_level(level)}: {LEVEL_MEANINGS[level]}" for level in levels)
    text = f"The worst and the surest first. What the words mean:\n{meaning}"
    return Section(
        heading=pluralize(len(findings), "finding"),
        text=text,
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
    example = _build_example_table(finding)
    if example is None and finding.examples:
        facts.append(("An example", finding.examples[0].words))
    further_examples = finding.examples[1 : MAX_FURTHER_EXAMPLES + 1]
    if further_examples:
        omitted_count = len(finding.examples) - 1 - len(further_examples)
        lines = [f"• {further_example.words}" for further_example in further_examples] + [
            f"{pluralize(omitted_count, 'more')[:-1]} not shown."
        ] * bool(omitted_count)
        facts.append(("More examples", "\n".join(lines)))
    return Section(
        heading=finding.title,
        text=finding.detail,
        state=STATE_OF_LEVEL[finding.level],
        table=example,
        badge=_format_level(finding.level),
        facts=[(term, value) for term, value in facts if value],
        again=format_command(result, finding),
    )


def _build_example_table(finding: Finding) -> Table | None:
    if not finding.examples:
        return None
    example = finding.examples[0]
    columns, table, note = tabulate_example(example)
    if not table:
        return None
    caption = "The smallest example" if len(finding.examples) > 1 else "An example"
    return Table(
        columns=columns,
        rows=table,
        caption=f"{caption}: {example.words}" if example.words else caption,
        note=note,
        sortable=False,
    )


def _build_checks(result: AuditResult) -> Section:
    table = [
        [
            outcome.check,
            outcome.asks,
            format_state(outcome),
            outcome.why,
            *_format_cost(outcome.seconds, outcome.calls, outcome.state),
        ]
        for outcome in result.outcomes
    ]
    skipped_count = sum(outcome.state == "not run" for outcome in result.outcomes)
    broken_count = sum(outcome.state == "broke" for outcome in result.outcomes)
    run_count = len(result.outcomes) - skipped_count
    sentences = [f"{pluralize(run_count, 'check')} of {len(result.outcomes)} ran."]
    if skipped_count:
        sentences.append(f"{skipped_count} did not, and the table says why.")
    if broken_count:
        sentences.append(f"{broken_count} broke on the way.")
    if skipped_count or broken_count:
        sentences.append("What these ask is not known of this model.")
    return Section(
        heading="All checks",
        text=" ".join(sentences),
        state="warn" if broken_count else "plain",
        table=Table(
            columns=["check", "what it asks", "outcome", "rests on, or why not", "seconds", "rows computed"],
            rows=table,
        ),
        anchor="checks",
    )


def _format_cost(elapsed: float, calls: int, state: str) -> list[str | None]:
    return [None, None] if state == "not run" else [f"{elapsed:.1f}", f"{calls:,}"]


def _build_provenance(result: AuditResult) -> Section:
    notes = "\n".join(f"• {note}" for note in result.notes)
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    facts = [("Made with", versions)] if versions else []
    return Section(
        heading="How this page was made",
        text=notes or "Everything was tested as it was given; nothing had to be decided on the way.",
        facts=facts,
        again=format_command(result),
        anchor="made",
    )


def _format_level(level: Level) -> str:
    return level.capitalize()
