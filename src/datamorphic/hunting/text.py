"""Hunts and simulations as text."""

from __future__ import annotations

from .._text import format_percent, format_short, pluralize
from .measures import estimate, name_effect
from .result import Hunt
from .simulation import Simulation

MAX_EXAMPLES = 3
P_MEASURE_GROUPS = (1, 10, 100, 1_000, 10_000)


def format_headline(hunt: Hunt) -> str:
    """Return the outcome of a hunt in one sentence."""
    if not hunt.found:
        no_violation = "No violation" if hunt.judged_groups else "Nothing could be judged: no violation"
        count = len(hunt.relations)
        relations = repr(hunt.relations[0].name) if count == 1 else pluralize(count, "relation")
        return f"{no_violation} of {relations} by {hunt.name} in {pluralize(hunt.groups, 'group')}."
    violated = f"{hunt.name} violates {_format_violated(hunt)}"
    if len(hunt.trials) == 1:
        return (
            f"{violated}: {pluralize(hunt.violated, 'violation')} in {pluralize(hunt.groups, 'group')}, "
            f"the first in group {hunt.trials[0].violated[0]:,}."
        )
    measures = hunt.measured
    mean = estimate(measures.counts)
    is_censored = measures.censored.any()
    bound = "at least " if is_censored else ""
    censored = f"; {format_percent(measures.censored_share)} of the trials found none" if is_censored else ""
    return (
        f"{violated}: the first violation after {bound}{mean.value:.1f} groups on average "
        f"(95% interval {mean.low:.1f} to {mean.high:.1f}) in {pluralize(len(hunt.trials), 'trial')}{censored}."
    )


def format_hunt(hunt: Hunt) -> str:
    """Return a hunt as text: headline, costs, examples, table and notes."""
    lines = [
        format_headline(hunt),
        f"{hunt.generator}, {pluralize(hunt.calls, 'call')} in {hunt.seconds:.2f} s, "
        f"of which {hunt.generation_seconds:.2f} s to choose groups; seed {hunt.seed}.",
    ]
    if len(hunt.trials) > 1 and hunt.found:
        lines += format_measures(hunt)
    if hunt.found:
        lines.append("For example:")
        lines += [
            f"  {hunt.relations[violation.relation].name}: {violation.format_calls(hunt.space)}"
            for violation in hunt.kept[:MAX_EXAMPLES]
        ]
    if len(hunt.relations) > 1 or (hunt.table[["inapplicable", "undefined"]].to_numpy() > 0).any():
        lines += ["", hunt.table.to_string(index=False)]
    lines += [f"Note: {note}" for note in hunt.notes]
    return "\n".join(lines)


def format_measures(hunt: Hunt) -> list[str]:
    """Return F2-, P- and E-measure of several trials, each with what it says; those that cannot be computed are left out."""
    lines = []
    if len(hunt.f2_measures):
        second = estimate(hunt.f2_measures)
        lines.append(f"F2-measure {second.value:.1f}: groups from the first violation to the second, on average.")
    measures = hunt.measured
    longest = int(measures.counts[measures.censored].min(initial=hunt.budget))  # as far as every trial without one went
    first_certain = next((size for size in P_MEASURE_GROUPS if measures.counts.max() <= size), longest)
    sizes = [size for size in P_MEASURE_GROUPS if size <= min(longest, first_certain)]
    shares = [f"{size:,} {format_percent(hunt.p_measure(size).value)}" for size in sizes]
    if shares:
        lines.append(f"P-measure, trials with a violation by number of groups: {', '.join(shares)}.")
    shortest = min(trial.groups for trial in hunt.trials)
    if shortest == hunt.budget:
        lines.append(
            f"E-measure {hunt.e_measure(shortest).value:.1f}: violations in {pluralize(shortest, 'group')}, on average."
        )
    return lines


def _format_violated(hunt: Hunt) -> str:
    """Return the violated relations, by name if they are few."""
    names = [repr(row.relation) for row in hunt.table.itertuples() if row.violated]
    if len(names) == len(hunt.relations) == 1:
        return names[0]
    listed = names if len(names) <= MAX_EXAMPLES else [*names[:MAX_EXAMPLES], "..."]
    return f"{len(names):,} of {pluralize(len(hunt.relations), 'relation')} ({', '.join(listed)})"


def format_setting(simulation: Simulation, *, with_relations: bool = False) -> str:
    """Return what was simulated: the regions and, if there are any, the relations."""
    setting = simulation.setting
    text = (
        f"{setting.options.scenario or setting.region_kind} regions with rate {format_short(setting.rate)} in "
        f"{pluralize(len(setting.domain[0]), 'dimension')}"
    )
    if with_relations and setting.options.has_selector:
        text += f", one of {pluralize(setting.relation_count, 'relation')} violated"
    return text


def format_simulation(simulation: Simulation) -> str:
    """Return the figures of a simulation as text."""
    ratio = simulation.ratio
    bound = "above " if simulation.censored else ""
    first = (
        f"{simulation.name} on {format_setting(simulation, with_relations=True)}: F-measure "
        f"{bound}{simulation.f_measure:.1f} in {pluralize(len(simulation.found), 'trial')}, {simulation.seconds:.1f} s."
    )
    if simulation.censored:
        return (
            f"{first}\n{format_percent(simulation.censored)} of the trials found nothing in "
            f"{pluralize(simulation.setting.budget, 'group')}: the F-ratio is above {format_percent(ratio.value)}."
        )
    share, low, high = map(format_percent, (ratio.value, ratio.low, ratio.high))
    return f"{first}\nF-ratio to random testing {share} (95% interval {low} to {high}), Cohen's d {format_effect(simulation.cohens_d)}."


def format_effect(d: float) -> str:
    """Return Cohen's d with the word for its size."""
    return f"{d:.3f} ({name_effect(d)})"
