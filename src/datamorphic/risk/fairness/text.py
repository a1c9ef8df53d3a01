"""A fairness report as text for a terminal."""

from __future__ import annotations

from ..._text import pluralize
from .effects import CounterfactualCase
from .result import AttributeState, FairnessReport
from .shares import GroupTable
from .wording import Wording, format_round_percent

STATE_TEXTS: dict[AttributeState, str] = {
    "depends": "the decision depends on it",
    "depends together": "the decision depends on it together with another column",
    "stand-in": "another column stands in for it",
    "probability": "moves the probability, not the decision",
    "slightly": "matters for few people",
    "clear": "no dependence found",
}
LEVEL_TEXTS = {"fault": "FAULT", "concern": "CONCERN", "advice": "ADVICE"}


def format_fairness(report: FairnessReport) -> str:
    """Return a report as text."""
    lines = [
        f"{report.subject}: {report.headline}",
        f"{pluralize(report.people, 'person', 'people')}; counted: {describe_measure(report.wording)}; seed {report.seed}; "
        f"{report.seconds:.1f} s and {pluralize(report.calls, 'row')} computed by the model",
        "",
    ]
    width = max(map(len, report.attributes))
    for name in report.attributes:
        lines.append(f"  {name.ljust(width)}  {STATE_TEXTS[report.find_state(name)]}: {describe_effect(report, name)}")
    for number, finding in enumerate(report.findings, start=1):
        lines += ["", f"{number}. {LEVEL_TEXTS[finding.level]}: {finding.title}", f"   {finding.detail}"]
        if finding.example is not None:
            lines.append(f"   Example: {describe_case(finding.example, report.wording)}")
        lines.append(f"   What to do: {finding.remedy}")
    for table in choose_tables(report):
        lines += ["", f"By {table.title} ({report.wording.column}, 95% interval):"]
        label_width = max(len(row.label) for row in table.rows)
        for row in table.rows:
            wrong = "" if row.wrong is None else f"   wrongly: {report.wording.format_value(row.wrong.value)}"
            lines.append(
                f"  {row.label.ljust(label_width)}  {report.wording.format_value(row.level.value):>7}  "
                f"({report.wording.format_interval(row.level)}), {row.people:,} people{wrong}"
            )
    if report.notes:
        lines += ["", "Notes:", *(f"  - {note}" for note in report.notes)]
    return "\n".join([*lines, "", f"Repeat: {report.command()}"])


def choose_tables(report: FairnessReport) -> list[GroupTable]:
    """Return the tables of single attributes, and of those that matter together."""
    together = {finding.attributes for finding in report.findings if len(finding.attributes) > 1}
    return [table for table in report.tables if len(table.attributes) == 1 or table.attributes in together]


def describe_measure(wording: Wording) -> str:
    """Return what is counted, in words."""
    if wording.measure == "decision":
        return f"people who get {wording.decision}"
    return "the answer" if wording.measure == "number" else f"the probability of {wording.decision}"


def describe_effect(report: FairnessReport, attribute: str) -> str:
    """Return what happens if only one attribute changes, in a few words."""
    effect = report.get_effect(attribute)
    if not effect.is_input:
        return "the model does not see it"
    answer = "decision" if report.wording.measure == "decision" else "answer"
    return f"{report.wording.format_people(effect.share)} would get another {answer}"


def describe_case(case: CounterfactualCase, wording: Wording) -> str:
    """Return one person before and after a change, in words."""
    changes = ", ".join(f"{name} {value} instead of {case.before[name]}" for name, value in case.changes.items())
    return f"row {case.row}, with {changes}: {describe_levels(case, wording)}"


def describe_levels(case: CounterfactualCase, wording: Wording) -> str:
    """Return what a person gets before and after a change."""
    if wording.measure == "decision" and case.level_before != case.level_after:
        gets, loses = f"gets {wording.decision}", f"no longer gets {wording.decision}"
        return gets if case.level_after > case.level_before else loses
    if wording.measure == "decision" and case.probabilities is not None:
        before, after = map(format_round_percent, case.probabilities)
        return f"the same decision, but the probability goes from {before} to {after}"
    if wording.measure == "decision":
        return "the same decision"
    return f"{wording.format_value(case.level_before)} becomes {wording.format_value(case.level_after)}"
