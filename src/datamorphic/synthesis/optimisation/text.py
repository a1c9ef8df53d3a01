"""An optimisation as text."""

from __future__ import annotations

from ..._text import format_percent, pluralize
from .result import Optimisation


def format_optimisation(result: Optimisation) -> str:
    """Return what was gained, what it cost, why the search ended, and remarks, one per line."""
    cycles = pluralize(result.cycles[-1].cycle, "cycle")
    headline = f"{result.system}: {{}} in {cycles} ({result.strategy})"
    if len(result.metrics) == 1:
        lines = [headline.format(result.describe_metric(result.metrics[0]))]
    else:
        lines = [headline.format(f"{pluralize(len(result.metrics), 'metric')} optimised")]
        lines += [f"  {result.describe_metric(name)}" for name in result.metrics]
        lines.append(format_choice(result))
    return "\n".join([*lines, format_cost(result), format_stop(result), *result.notes])


def format_choice(result: Optimisation) -> str:
    """Return how the best of several sets was chosen."""
    if len(result.sets) == 1:
        return "One set is best in every metric."
    return (
        f"{pluralize(len(result.sets), 'set')} were kept, none of which is as good as another in every metric; the one with "
        "the most even gains was chosen."
    )


def format_cost(result: Optimisation) -> str:
    """Return the size of the set, and what the search cost."""
    cases = pluralize(len(result.tests), "case")
    executions = "nothing had to be executed"
    if result.executions:
        executions = f"{pluralize(result.executions, 'execution')}, {pluralize(result.calls, 'model call')}"
    return f"{cases}, {result.new_case_count:,} of them new; {executions}, {result.seconds:.2g} s"


def format_stop(result: Optimisation) -> str:
    """Return why the search ended."""
    if result.stopped == "converged":
        rate, patience = format_percent(result.settings["change_rate"]), result.settings["patience"]
        return f"The search ended because no metric grew by {rate} within {pluralize(patience, 'cycle')}."
    if result.stopped == "budget":
        return "The budget ended the search. The best set found until then is kept."
    if result.stopped == "interrupted":
        return "The search was interrupted. The best set found until then is kept."
    return f"All {pluralize(result.settings['steps'], 'cycle')} were used. More might gain more."
