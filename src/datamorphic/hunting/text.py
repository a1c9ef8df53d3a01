"""A hunt in words, and as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._text import format_short, pluralize
from ..reporting.text import cut
from .measures import estimate

if TYPE_CHECKING:
    from .result import Hunt

MAX_EXAMPLES = 3
MAX_JUNIT_TEXT_CHARACTERS = 4_000  # letters of a text in a JUnit file


def format_headline(hunt: Hunt) -> str:
    """Return what was found, in a sentence."""
    judged_groups = int(hunt.table[["holds", "violated"]].to_numpy().sum())
    if not hunt.found:
        no_violation = "No violation" if judged_groups else "Nothing could be judged: no violation"
        return f"{no_violation} of {_format_relations(hunt)} by {hunt.name} in {pluralize(hunt.groups, 'group')}."
    measures = hunt.measured
    if len(hunt.trials) > 1:
        mean = estimate(measures.counts)
        censored_text = (
            f"; {measures.censored_share:.1%} of the trials found none" if measures.censored.any() else ""
        )
        bound = "at least " if censored_text else ""
        return (
            f"{hunt.name} violates {_format_violated(hunt)}: the first violation after {bound}{mean.value:.1f} groups on average "
            f"(95 % interval {mean.low:.1f} to {mean.high:.1f}) in {pluralize(len(hunt.trials), 'trial')}{censored_text}."
        )
    return (
        f"{hunt.name} violates {_format_violated(hunt)}: {pluralize(hunt.violated, 'violation')} in "
        f"{pluralize(hunt.groups, 'group')}, the first is number {hunt.trials[0].violated[0]:,}."
    )


def format_hunt(hunt: Hunt) -> str:
    """Return what was found, in words."""
    lines = [format_headline(hunt)]
    lines.append(
        f"{hunt.generator}, {pluralize(hunt.calls, 'call')} in {hunt.seconds:.2f} s, "
        f"{hunt.generation_seconds:.2f} s of them to choose groups; seed {hunt.seed}."
    )
    if hunt.found:
        lines.append("For example:")
        lines += [f"  {_format_example(hunt, i)}" for i in range(min(MAX_EXAMPLES, len(hunt.kept)))]
    if len(hunt.relations) > 1 or (hunt.table[["inapplicable", "undefined"]].to_numpy() > 0).any():
        lines.append("")
        lines.append(hunt.table.to_string(index=False))
    lines += [f"Note: {note}" for note in hunt.notes]
    return "\n".join(lines)


def _format_relations(hunt: Hunt) -> str:
    if len(hunt.relations) == 1:
        return repr(hunt.relations[0].name)
    return pluralize(len(hunt.relations), "relation")


def _format_violated(hunt: Hunt) -> str:
    """Return the relations that are violated, by name where they are few."""
    names = [repr(row.relation) for row in hunt.table.itertuples() if row.violated]
    if len(names) == len(hunt.relations) == 1:
        return names[0]
    name_list = ", ".join(names[:MAX_EXAMPLES]) + ", ..." * (len(names) > MAX_EXAMPLES)
    return f"{len(names):,} of {pluralize(len(hunt.relations), 'relation')} ({name_list})"


def _format_example(hunt: Hunt, number: int) -> str:
    violation = hunt.kept[number]
    calls = [
        f"f({', '.join(format_short(value) for value in inputs.tolist())}) = {_format_output(output)}"
        for inputs, output in zip(violation.inputs, violation.outputs, strict=True)
    ]
    return f"{hunt.relations[violation.relation].name}: " + ", ".join(calls)


def _format_output(output: Any) -> str:
    values = output.tolist() if hasattr(output, "tolist") else output
    if isinstance(values, list):
        return "(" + ", ".join(format_short(value) for value in values) + ")"
    return format_short(values)


def build_document(hunt: Hunt) -> dict[str, Any]:
    """Return everything for JSON."""
    return {
        "subject": hunt.name,
        "generator": hunt.generator,
        "relations": [relation.name for relation in hunt.relations],
        "trials": len(hunt.trials),
        "budget": hunt.budget,
        "seed": hunt.seed,
        "groups": hunt.groups,
        "calls": hunt.calls,
        "violated": hunt.violated,
        "f_measures": hunt.f_measures.tolist(),
        "censored": hunt.measured.censored_share,
        "f2_measures": hunt.f2_measures.tolist(),
        "f_times": hunt.f_times.tolist(),
        "seconds": hunt.seconds,
        "generation_seconds": hunt.generation_seconds,
        "table": hunt.table.to_dict("records"),
        "violations": hunt.violations.head(100).to_dict("records"),
        "notes": list(hunt.notes),
    }


def to_junit(hunt: Hunt) -> str:
    """Return it as a JUnit XML file, a test for each relation; where no group could be judged, it is skipped."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    rows = list(hunt.table.itertuples())
    skipped_count = sum(not row.holds and not row.violated for row in rows)
    counts = {
        "tests": str(len(rows)), "failures": str(sum(row.violated > 0 for row in rows)), "errors": "0",
        "skipped": str(skipped_count), "time": f"{hunt.seconds:.3f}",
    }  # fmt: skip
    name = cut(hunt.name, 200)
    root = Element("testsuites", {"name": "datamorphic", **counts})
    suite = SubElement(root, "testsuite", {"name": name, **counts})
    for number, row in enumerate(rows):
        test_case = SubElement(
            suite, "testcase", {"classname": f"datamorphic.{name}", "name": cut(row.relation, 200)}
        )
        message = f"{row.violated:,} of {pluralize(row.groups, 'group')} violate it"
        if row.violated:
            examples = [
                _format_example(hunt, i) for i, violation in enumerate(hunt.kept) if violation.relation == number
            ][:MAX_EXAMPLES]
            failure = SubElement(test_case, "failure", {"type": "violated", "message": message})
            failure.text = cut("\n".join(examples), MAX_JUNIT_TEXT_CHARACTERS)
        elif not row.holds:
            SubElement(
                test_case, "skipped", {"message": f"none of {pluralize(row.groups, 'group')} could be judged"}
            )
    SubElement(suite, "system-out").text = cut(format_hunt(hunt), MAX_JUNIT_TEXT_CHARACTERS)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'
