"""Explore the borders of the model, and compare them with a baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..._text import format_percent, pluralise
from ...comparison.fronts import judge_difference
from ...core.result import Example, Finding, format_share
from ...errors import BudgetSpent
from ...exploration.diff.diff import Difference
from ...exploration.diff.page import format_first_cases, format_headline, format_outcome
from ...exploration.front import Front
from ...exploration.options import WalkOptions
from ...exploration.page import (
    build_deciding_features,
    build_plausible_pairs,
    build_small_changes,
    collect_remarks,
    format_example,
)
from ...exploration.plot import build_scatter
from ...exploration.run import run_exploration
from ...morphisms.stock import derive
from ...reporting.document import Section
from ...runs.driver import Driver
from ...space.outputs import Outputs
from ...space.points import Points
from ..case_text import to_plain
from ..check import MISSING_RESULT, CheckBudget, CheckFindings, get_facts, make_check
from ..context import CheckContext

MAX_WALKS = 500
RUNS_PER_WALK = 50  # rows per walk, rarely exceeded
MAX_SEED_CASES = 5_000
MAX_EXAMPLES = 3  # of changed cases
SECTION_BUDGET_PART = 0.8  # of what is left, for each picture or table


def explore_borders(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Walk from the given inputs and find where the answer changes.

    The walks keep the relations between columns that the data keep.
    """
    walks = context.count_affordable(budget.remaining(0.5), MAX_WALKS, runs_per_case=RUNS_PER_WALK)
    settings = {} if context.baseline is None else context.baseline.settings
    kind, value = settings.get("border_kind"), settings.get("border_value")
    subject = replace(context.subject, seeds=context.sample_inputs(MAX_SEED_CASES))
    if context.column_relations:
        space = context.plausible_space
        seeds = Points(space, subject.seeds.codes)
        subject = replace(subject, system=derive(space, subject.sut), seeds=seeds)
    options = WalkOptions(
        strategy=_choose_strategy(context),
        walks=walks,
        budget=budget.remaining(0.6),
        threshold=value if kind == "threshold" else None,
        jump=value if kind == "jump" else None,
    )
    rng, driver = np.random.default_rng(context.seed), Driver({**context.drive_options, "progress": False})
    front = run_exploration(subject, rng, options, driver.drive, seed=context.seed)
    budget.add(front.tally)
    context.front = front
    for values in (front.a_output, front.b_output):
        context.count_labels(Outputs.of(values))
    if front.tally.health.unstable_cases:
        context.unstable = True
    if not front.walks:
        return CheckFindings(
            basis="no walk ended within its share of the budget", conclusive=False, skip_reason="share too small"
        )
    basis = f"{pluralise(front.walks, 'walk')}, {pluralise(len(front), 'border pair')}"
    return CheckFindings(basis=basis, sections=_build_sections(budget, front))


def _build_sections(budget: CheckBudget, front: Front) -> list[Section]:
    """Return pictures and tables of the border, as many as there is time for."""
    builders: list[Callable[[Front], Section]] = [_build_overview]
    if len(front):
        builders += [lambda front: build_small_changes(front) or build_plausible_pairs(front), build_deciding_features]
    sections: list[Section] = []
    for build_section in builders:
        try:
            with budget.limit(SECTION_BUDGET_PART):
                sections.append(build_section(front))
        except BudgetSpent:
            break
    return sections


def _build_overview(front: Front) -> Section:
    return Section(
        heading=f"Where the answer changes: {pluralise(len(front), 'border pair')}",
        text=_describe_front(front),
        picture=build_scatter(front),
    )


def _choose_strategy(context: CheckContext) -> str:
    """Return "random_target", which costs least, unless all given inputs get the same answer."""
    outputs = context.answers
    if outputs is not None and outputs.ok.any():
        values = outputs.values[outputs.ok]
        if all(value == values[0] for value in values.tolist()):
            return "random_walk"
    return "random_target"


def _describe_front(front: Front) -> str:
    if not len(front):
        return "No walk met a border: the answer was the same everywhere, or no answer was given."
    low, high = front.capability_interval()
    sentences = [
        "Each coloured point is a pair of nearly equal inputs with different answers. Grey points are given inputs. "
        "Please judge whether the borders are where they should be.",
        f"{front.capability:.0%} of the walks met a border ({low:.0%} to {high:.0%}). The pair closest to a given input: "
        f"{format_example(front)}.",
        *collect_remarks(front, about_workers=False),
    ]
    return "\n".join(sentences)


def _describe_change(change: Difference) -> str:
    """Return the verdict about a border and the evidence, as the text of a section."""
    lines = [*format_outcome(change), *format_first_cases(change)]
    return "\n".join([format_headline(change), *(f"• {line}" for line in lines)])


def compare_with_baseline(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Compare the border with the border of an earlier version."""
    assert context.baseline is not None
    assert context.front is not None
    with budget.limit():
        change = context.baseline.diff(context.front)
    budget.counter.calls += change.calls
    basis = f"{pluralise(len(change.judged), 'pair')}, {pluralise(change.rows_asked, 'given input')}"
    if change.unchanged:
        section = Section(heading="The border has not moved", text=_describe_change(change), state="good")
        return CheckFindings(basis=basis, sections=[section])
    was_queried = bool(change.judged["asked"].any()) if len(change.judged) else False
    width = len(change.old.space)
    examples = [
        Example(
            text=line,
            case={str(name): to_plain(value) for name, value in list(row.items())[:width]},
            answer=to_plain(row.iloc[width]),
            new_answer=to_plain(row.iloc[width + 1]),
        )
        for line, (_, row) in zip(format_first_cases(change), change.first(MAX_EXAMPLES).iterrows(), strict=False)
    ]
    changed_pairs = int((change.judged["status"] != "kept").sum()) if len(change.judged) else 0
    changed_rows = 0 if change.rows is None else len(change.rows)
    judgement = judge_difference(change, context.seed, context.tolerance)
    verdict = "unchanged" if judgement is None else judgement.verdict
    only_made_inputs = change.rows_asked > 0 and verdict in ("unchanged", "reseed")
    share = format_share(changed_rows, change.rows_asked, "given row")
    detail = f"{share} get another answer than from the baseline."
    if not change.rows_asked:
        title = "The answers have changed since the baseline, between the given rows"
        detail = f"{format_share(changed_pairs, len(change.judged), 'place')} where the answer changes have moved or are new."
    elif verdict == "group":
        assert judgement is not None
        group = judgement.groups[0]
        title = (
            f"Given rows get another answer than from the baseline where {group.text}: {group.changed:,} of "
            f"{pluralise(group.all_changed, 'changed answer')}"
        )
        detail += (
            f" {format_share(group.changed, group.rows, 'row')} with {group.text} are among them, and "
            f"{format_percent(group.outside.value)} of the others: more than training again with another seed explains. The group was "
            "found on one half of the rows and confirmed on the other."
        )
    elif not only_made_inputs:
        title = "Given rows get another answer than from the baseline"
        detail += " That is more than training again with another seed explains."
    elif changed_rows and verdict == "unchanged":
        title = "The answers have changed since the baseline, but only where the model is undecided"
        detail += " The model is undecided about them: its two best scores differ by no more than the tolerance."
    elif changed_rows:
        title = "Given rows get another answer than from the baseline, no more than training again explains"
        detail += (
            " The model is undecided about nearly all of them, and they are in no group more frequent than elsewhere."
        )
    else:
        title = "The answers have changed since the baseline, but not for any given row"
        detail = f"None of {pluralise(change.rows_asked, 'given row')} gets another answer than from the baseline."
    if change.rows_asked and len(change.judged):
        detail += f" Between the given rows, {format_percent(change.kept)} of the places where the answer changes have not moved."
    section = Section(heading="The border between the answers, old and new", text=_describe_change(change))
    finding = Finding(
        **get_facts("baseline"),
        title=title,
        level="advice" if only_made_inputs else "concern",
        confidence=1.0 if was_queried or change.rows_asked else 0.9,
        detail=detail,
        cases=changed_rows if change.rows_asked else changed_pairs,
        cases_tried=change.rows_asked or len(change.judged),
        noun="row" if change.rows_asked else "place",
        examples=tuple(examples),
        sections=(section,),
        columns=judgement.groups[0].columns if judgement is not None and judgement.groups else (),
        affected_rows=changed_rows,
        rows=change.rows_asked,
        answer_changes=bool(changed_rows) if change.rows_asked else None,
        inputs="given" if changed_rows else "made",
    )
    return CheckFindings(basis=basis, findings=[finding])


def _find_skip_reason(context: CheckContext) -> str:
    if context.baseline is None:
        return "no baseline is given: save one with --save-front, and pass it with --baseline"
    return "" if context.front is not None else MISSING_RESULT


BORDERS = make_check("borders", explore_borders, lambda context: "")
BASELINE = make_check("baseline", compare_with_baseline, _find_skip_reason)
