"""A combination as text."""

from __future__ import annotations

from ..._text import format_percent, pluralize
from .chains import format_size
from .result import Combination, ViolationGroup

MAX_GROUPS_PER_METAMORPHISM = 5
MAX_RECURRING = 10  # violations of earlier runs


def format_figures(combination: Combination) -> list[str]:
    """Return how the cases were made and what that cost, one line each."""
    strategy = combination.strategy if combination.order is None else f"{combination.strategy}({combination.order})"
    names = ", ".join(combination.datamorphisms)
    datamorphisms = f"{pluralize(len(combination.datamorphisms), 'datamorphism')} ({names})"
    lines = [f"{strategy} of {datamorphisms}: {format_size(combination.estimate)} chains"]
    if combination.is_sampled:
        lines.append("chains were drawn at random, all equally likely, and the cases on the way to them were made too")
    if ancestors := int(combination.ancestors.sum()):
        lines.append(f"{pluralize(ancestors, 'more case')}, from which others were made")
    if combination.duplicates:
        lines.append(f"{_count_repeated_chains(combination)} left out: another case has the same input")
    if combination.cases.rejected_count:
        lines.append(
            f"{pluralize(combination.cases.rejected_count, 'case')} not changed further: a filter ended the chain"
        )
    if combination.runs:
        runs = f"{pluralize(combination.runs, 'run')}, {pluralize(combination.calls, 'model call')}"
        lines.append(f"{runs}, {combination.seconds:.2g} s; seed {combination.seed}")
    return lines


def _count_repeated_chains(combination: Combination) -> str:
    """Return in words how many chains lead to the input of another case: a lower bound unless all were followed."""
    is_complete = not (combination.is_sampled or combination.cases.rejected_count or combination.ancestors.any())
    if is_complete:
        return pluralize(combination.estimate - combination.case_count, "chain")
    return f"at least {pluralize(combination.duplicates, 'chain')}"


def format_group(group: ViolationGroup) -> str:
    """Return a group of violations in one line: the shortest chain, how often, and an example."""
    count = pluralize(group.count, "violation")
    if not group.is_searched:
        return f"shortest chain not searched: {count}, e.g. {group.words}"
    chain = group.chain or "no datamorphism needed"
    return f"{chain}: {count}, e.g. {group.words}"


def format_combination(combination: Combination) -> str:
    """Return the outcome, every metamorphism, and the shortest chains that violate it."""
    lines = [combination.headline, *format_figures(combination)]
    for row in combination.table.itertuples():
        message = f": {row.message}" if row.message else ""
        check_count = row.holds + row.violated
        if not row.violated:
            outcome = f"HOLDS        {row.metamorphism}{message} ({pluralize(check_count, 'check')})"
            lines.append(outcome if check_count else f"NOT CHECKED  {row.metamorphism}{message} (applies to no case)")
            continue
        share = format_percent(row.violated / check_count)
        lines.append(
            f"VIOLATED     {row.metamorphism}{message} ({row.violated:,} of {pluralize(check_count, 'check')}, {share})"
        )
        groups = [group for group in combination.groups if group.metamorphism == row.metamorphism]
        lines += [f"  {format_group(group)}" for group in groups[:MAX_GROUPS_PER_METAMORPHISM]]
        if len(groups) > MAX_GROUPS_PER_METAMORPHISM:
            lines.append(f"  and {pluralize(len(groups) - MAX_GROUPS_PER_METAMORPHISM, 'more chain')}")
    if combination.tally.retried_failures is not None:
        recurring_count, fixed_count = combination.tally.retried_failures
        earlier = pluralize(recurring_count + fixed_count, "violation")
        lines.append(
            f"{earlier} of earlier runs were tried first: {recurring_count:,} still occur, {fixed_count:,} do not"
        )
        if not combination.violated:
            lines += [f"  {words}" for words in combination.recurring[:MAX_RECURRING]]
    return "\n".join([*lines, *combination.notes])
