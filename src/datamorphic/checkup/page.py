"""The page of findings: what a reader who has never seen this tool needs in order to judge a model by it."""

from __future__ import annotations

from .._checks import plural
from ..reports.summary import Report, Section, State, Table
from ..reports.texts import cut
from .finding import LEVELS, MEANING, Finding, Level
from .result import Result
from .told import again, effort, how_often, how_sure, rows, state

STATE: dict[Level, State] = {"fault": "bad", "concern": "warn", "advice": "note"}
LONGEST = 600  # letters of what was tested, and with what
MOST_EXAMPLES = 5  # told in a sentence each, beside the first


def report_of(result: Result) -> Report:
    """Return what a check-up found as a page: the verdict, the findings, pictures, every check, what it rests on."""
    looked = [section for outcome in result.outcomes for section in outcome.sections]
    sections = [_findings(result)]
    if looked:
        text = "What else was learnt about the model: nothing here is wrong unless a finding above says so."
        sections.append(Section("Pictures and tables", text, parts=looked, anchor="pictures"))
    sections += [_checks(result), _made(result)]
    headline = result.headline
    return Report(
        f"Check-up of {result.subject}",
        "This page tells how a model behaves. That was found out without knowing a single right answer: inputs were "
        "changed in ways that must not matter, or may matter in one direction only, and the answers compared. Where it "
        "can, a finding shows an input with which anybody can see it again.",
        sections,
        headline[:1].upper() + headline[1:],
        _verdict(result),
        [
            ("Model", ", ".join(cut(each, LONGEST) for each in (result.subject, result.kind) if each)),
            ("Data", cut(result.data, LONGEST)),
            ("Effort", effort(result)),
            ("Seed", f"{result.seed} (the same seed gives the same findings, as long as the budget suffices)"),
        ],
        contents=True,
    )


def _verdict(result: Result) -> State:
    found = result.findings
    if found and found[0].level != "advice":
        return STATE[found[0].level]
    return "good" if result.passed else "warn"


def _findings(result: Result) -> Section:
    found = result.findings
    if not found:
        ran = [each for each in result.outcomes if each.state == "passed"]
        head = "Nothing was found" if ran else "Nothing could be checked"
        text = f"{plural(len(ran), 'check')} passed; below is what each of them asked, and what was not checked."
        return Section(head, text, "good" if result.passed and ran else "warn", anchor="findings")
    levels = [level for level in LEVELS if any(each.level == level for each in found)]
    meaning = "\n".join(f"• {_named(level)}: {MEANING[level]}" for level in levels)
    text = f"The worst and the surest first. What the words mean:\n{meaning}"
    return Section(
        plural(len(found), "finding"), text, parts=[_finding(result, each) for each in found], anchor="findings"
    )


def _finding(result: Result, finding: Finding) -> Section:
    facts = [
        ("What to do", finding.remedy),
        ("How often", how_often(finding)),
        ("How sure", how_sure(finding)),
        ("Found by", f"the check “{finding.check}”" + (f", about {finding.about}" if finding.about else "")),
    ]
    example = _example(finding)
    if example is None and finding.examples:
        facts.append(("An example", finding.examples[0].words))
    more = finding.examples[1 : MOST_EXAMPLES + 1]
    if more:
        left = len(finding.examples) - 1 - len(more)
        told = [f"• {each.words}" for each in more] + [f"{plural(left, 'more')[:-1]} not shown."] * bool(left)
        facts.append(("More examples", "\n".join(told)))
    return Section(
        finding.title,
        finding.detail,
        STATE[finding.level],
        example,
        badge=_named(finding.level),
        facts=[(term, said) for term, said in facts if said],
        again=again(result, finding),
    )


def _example(finding: Finding) -> Table | None:
    if not finding.examples:
        return None
    example = finding.examples[0]
    columns, table, note = rows(example)
    if not table:
        return None
    many = "The smallest example" if len(finding.examples) > 1 else "An example"
    return Table(columns, table, f"{many}: {example.words}" if example.words else many, note, sortable=False)


def _checks(result: Result) -> Section:
    table = [
        [each.check, each.asks, state(each), each.why, *_cost(each.seconds, each.calls, each.state)]
        for each in result.outcomes
    ]
    skipped = sum(each.state == "not run" for each in result.outcomes)
    broke = sum(each.state == "broke" for each in result.outcomes)
    ran = len(result.outcomes) - skipped
    told = [f"{plural(ran, 'check')} of {len(result.outcomes)} ran."]
    if skipped:
        told.append(f"{skipped} did not, and the table says why.")
    if broke:
        told.append(f"{broke} broke on the way.")
    if skipped or broke:
        told.append("What these ask is not known of this model.")
    return Section(
        "All checks",
        " ".join(told),
        "warn" if broke else "plain",
        Table(["check", "what it asks", "outcome", "rests on, or why not", "seconds", "rows computed"], table),
        anchor="checks",
    )


def _cost(took: float, calls: int, state: str) -> list[str | None]:
    return [None, None] if state == "not run" else [f"{took:.1f}", f"{calls:,}"]


def _made(result: Result) -> Section:
    notes = "\n".join(f"• {note}" for note in result.notes)
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    facts = [("Made with", versions)] if versions else []
    return Section(
        "How this page was made",
        notes or "Everything was tested as it was given; nothing had to be decided on the way.",
        facts=facts,
        again=again(result),
        anchor="made",
    )


def _named(level: Level) -> str:
    return level.capitalize()
