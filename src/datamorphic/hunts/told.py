"""A hunt in words, and as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._checks import plural, short
from ..groups.measures import estimate
from ..reports.texts import cut

if TYPE_CHECKING:
    from .hunt import Hunt

SHOWN = 3
LONGEST = 4_000  # letters of a text in a JUnit file


def headline(hunt: Hunt) -> str:
    """Return what was found, in a sentence."""
    judged = int(hunt.table[["holds", "violated"]].to_numpy().sum())
    if not hunt.found:
        none = "No violation" if judged else "Nothing could be judged: no violation"
        return f"{none} of {_relations(hunt)} by {hunt.name} in {plural(hunt.groups, 'group')}."
    measured = hunt.measured
    if len(hunt.trials) > 1:
        mean = estimate(measured.counts)
        ended = f"; {measured.censored_share:.1%} of the trials found none" if measured.censored.any() else ""
        least = "at least " if ended else ""
        return (
            f"{hunt.name} violates {_violated(hunt)}: the first violation after {least}{mean.value:.1f} groups on average "
            f"(95 % interval {mean.low:.1f} to {mean.high:.1f}) in {plural(len(hunt.trials), 'trial')}{ended}."
        )
    return (
        f"{hunt.name} violates {_violated(hunt)}: {plural(hunt.violated, 'violation')} in "
        f"{plural(hunt.groups, 'group')}, the first is number {hunt.trials[0].violated[0]:,}."
    )


def text(hunt: Hunt) -> str:
    """Return what was found, in words."""
    lines = [headline(hunt)]
    lines.append(
        f"{hunt.generator}, {plural(hunt.calls, 'call')} in {hunt.seconds:.2f} s, "
        f"{hunt.generation_seconds:.2f} s of them to choose groups; seed {hunt.seed}."
    )
    if hunt.found:
        lines.append("For example:")
        lines += [f"  {_example(hunt, i)}" for i in range(min(SHOWN, len(hunt.kept)))]
    if len(hunt.relations) > 1 or (hunt.table[["inapplicable", "undefined"]].to_numpy() > 0).any():
        lines.append("")
        lines.append(hunt.table.to_string(index=False))
    lines += [f"Note: {note}" for note in hunt.notes]
    return "\n".join(lines)


def _relations(hunt: Hunt) -> str:
    if len(hunt.relations) == 1:
        return repr(hunt.relations[0].name)
    return plural(len(hunt.relations), "relation")


def _violated(hunt: Hunt) -> str:
    """Return the relations that are violated, by name where they are few."""
    names = [repr(row.relation) for row in hunt.table.itertuples() if row.violated]
    if len(names) == len(hunt.relations) == 1:
        return names[0]
    told = ", ".join(names[:SHOWN]) + ", ..." * (len(names) > SHOWN)
    return f"{len(names):,} of {plural(len(hunt.relations), 'relation')} ({told})"


def _example(hunt: Hunt, number: int) -> str:
    each = hunt.kept[number]
    calls = [
        f"f({', '.join(short(value) for value in inputs.tolist())}) = {_output(output)}"
        for inputs, output in zip(each.inputs, each.outputs, strict=True)
    ]
    return f"{hunt.relations[each.relation].name}: " + ", ".join(calls)


def _output(output: Any) -> str:
    values = output.tolist() if hasattr(output, "tolist") else output
    if isinstance(values, list):
        return "(" + ", ".join(short(value) for value in values) + ")"
    return short(values)


def document(hunt: Hunt) -> dict[str, Any]:
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


def junit(hunt: Hunt) -> str:
    """Return it as a JUnit XML file, a test for each relation; where no group could be judged, it is skipped."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    rows = list(hunt.table.itertuples())
    skipped = sum(not row.holds and not row.violated for row in rows)
    counts = {
        "tests": str(len(rows)), "failures": str(sum(row.violated > 0 for row in rows)), "errors": "0",
        "skipped": str(skipped), "time": f"{hunt.seconds:.3f}",
    }  # fmt: skip
    name = cut(hunt.name, 200)
    root = Element("testsuites", {"name": "datamorphic", **counts})
    suite = SubElement(root, "testsuite", {"name": name, **counts})
    for number, row in enumerate(rows):
        case = SubElement(suite, "testcase", {"classname": f"datamorphic.{name}", "name": cut(row.relation, 200)})
        told = f"{row.violated:,} of {plural(row.groups, 'group')} violate it"
        if row.violated:
            examples = [_example(hunt, i) for i, each in enumerate(hunt.kept) if each.relation == number][:SHOWN]
            failure = SubElement(case, "failure", {"type": "violated", "message": told})
            failure.text = cut("\n".join(examples), LONGEST)
        elif not row.holds:
            SubElement(case, "skipped", {"message": f"none of {plural(row.groups, 'group')} could be judged"})
    SubElement(suite, "system-out").text = cut(text(hunt), LONGEST)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'
