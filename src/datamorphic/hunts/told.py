"""A hunt in words, and as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._checks import plural, short
from ..groups.measures import estimate

if TYPE_CHECKING:
    from .hunt import Hunt

SHOWN = 3


def text(hunt: Hunt) -> str:
    """Return what was found, in words."""
    several = len(hunt.trials) > 1
    measured = hunt.measured
    lines = []
    if not hunt.found:
        lines.append(f"No violation of {_relations(hunt)} by {hunt.name} in {plural(hunt.groups, 'group')}.")
    elif several:
        mean = estimate(measured.counts)
        ended = f", {measured.censored_share:.1%} of the trials found none" if measured.censored.any() else ""
        lines.append(
            f"{hunt.name}: the first violation after {mean.value:.1f} groups on average (95 % interval {mean.low:.1f} to "
            f"{mean.high:.1f}) in {plural(len(hunt.trials), 'trial')}{ended}."
        )
    else:
        trial = hunt.trials[0]
        lines.append(
            f"{hunt.name} violates {_relations(hunt)}: {plural(hunt.violated, 'violation')} in "
            f"{plural(hunt.groups, 'group')}, the first is number {trial.violated[0]:,}."
        )
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
