"""Explore the borders of the model, and compare them with a baseline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._text import pluralize
from ...exploration.diff.text import format_difference, format_first_cases, format_outcome
from ...exploration.front import Front
from ...exploration.options import ExploreOptions
from ...exploration.page import build_deciding_features, build_plausible_pairs
from ...exploration.plot import build_scatter
from ...exploration.runner import run_exploration
from ...exploration.text import collect_remarks, format_example
from ...reporting.document import Section
from ...space.outputs import Outputs
from ..case_text import to_plain
from ..check import Check, CheckBudget, CheckFindings
from ..context import CheckContext
from ..finding import Example, Finding

MAX_WALKS = 500
RUNS_PER_WALK = 50  # rows per walk, rarely exceeded
MAX_SEED_CASES = 5_000
MAX_EXAMPLES = 3  # of changed cases


def explore_borders(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Walk from the given inputs and find where the answer changes."""
    walks = context.count_affordable(budget.remaining(0.5), MAX_WALKS, runs_per_case=RUNS_PER_WALK)
    settings = {} if context.baseline is None else context.baseline.settings
    kind, value = settings.get("border_kind"), settings.get("border_value")
    subject = context.subject
    if len(subject.seeds) > MAX_SEED_CASES:
        subject = replace(subject, seeds=context.sample_inputs(MAX_SEED_CASES))
    options = ExploreOptions(
        strategy=_choose_strategy(context),
        walks=walks,
        budget=budget.remaining(0.6),
        threshold=value if kind == "threshold" else None,
        jump=value if kind == "jump" else None,
        timeout=context.drive_options.get("timeout"),
        batch=context.drive_options.get("batch"),
    )
    rng, engine = np.random.default_rng(context.seed), context.drive_options.get("engine")
    front = run_exploration(subject, rng, options, seed=context.seed, engine=engine, progress=False)
    budget.add(front.tally)
    context.front = front
    for values in (front.a_output, front.b_output):
        context.count_labels(Outputs.of(values))
    if front.tally.health.unstable_cases:
        context.unstable = True
    sections = [
        Section(
            heading=f"Where the answer changes: {pluralize(len(front), 'border pair')}",
            text=_describe_front(front),
            picture=build_scatter(front),
        )
    ]
    if len(front):
        sections += [build_plausible_pairs(front), build_deciding_features(front)]
    if not front.walks:
        return CheckFindings(
            basis="no walk ended within its share of the budget", conclusive=False, skip_reason="budget spent"
        )
    basis = f"{pluralize(front.walks, 'walk')}, {pluralize(len(front), 'border pair')}"
    return CheckFindings(basis=basis, sections=sections)


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
        return "No walk met a border: the answer was the same everywhere, or there was none."
    low, high = front.capability_interval()
    sentences = [
        "Each coloured point is a pair of nearly equal inputs with different answers. Grey points are given inputs. "
        "Please judge whether the borders are where they should be.",
        f"{front.capability:.0%} of the walks met a border ({low:.0%} to {high:.0%}). The pair closest to a given input: "
        f"{format_example(front)}.",
        *collect_remarks(front),
    ]
    return "\n".join(sentences)


def compare_with_baseline(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Compare the border with the border of an earlier version."""
    assert context.baseline is not None
    assert context.front is not None
    change = context.baseline.diff(context.front)
    budget.counter.calls += change.calls
    basis = f"{pluralize(len(change.judged), 'pair')}, {pluralize(change.rows_asked, 'given input')}"
    if change.unchanged:
        section = Section(heading="The border has not moved", text=format_difference(change), state="good")
        return CheckFindings(basis=basis, sections=[section])
    was_queried = bool(change.judged["asked"].any()) if len(change.judged) else False
    width = len(change.old.space)
    examples = [
        Example(
            words=line,
            case={str(name): to_plain(value) for name, value in list(row.items())[:width]},
            answer=to_plain(row.iloc[width]),
            becomes=to_plain(row.iloc[width + 1]),
        )
        for line, (_, row) in zip(format_first_cases(change), change.first(MAX_EXAMPLES).iterrows(), strict=False)
    ]
    changed_pairs = int((change.judged["status"] != "kept").sum()) if len(change.judged) else 0
    finding = Finding(
        check="baseline",
        about="",
        title="The border has moved since the baseline",
        level="concern",
        sure=1.0 if was_queried or change.rows_asked else 0.9,
        detail=" ".join(f"{line.rstrip('.')}." for line in format_outcome(change)),
        remedy="If the change is intended, save this border as the new baseline (--save-front). If not, start with the "
        "examples: they changed most and are closest to real inputs.",
        cases=changed_pairs,
        of=len(change.judged),
        examples=tuple(examples),
    )
    return CheckFindings(basis=basis, findings=[finding])


def _find_skip_reason(context: CheckContext) -> str:
    if context.baseline is None:
        return "no baseline is given: save one with --save-front, and pass it with --baseline"
    return "" if context.front is not None else "the border was not explored"


BORDERS = Check(
    name="borders",
    question="Where does the answer change?",
    weight=6,
    find_skip_reason=lambda context: "",
    run=explore_borders,
)
BASELINE = Check(
    name="baseline",
    question="Has the border moved since the baseline?",
    weight=4,
    find_skip_reason=_find_skip_reason,
    run=compare_with_baseline,
    needs=("borders",),
)
