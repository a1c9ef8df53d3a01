"""Does it keep what was declared: one way only, not at all, not because of who somebody is?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._text import pluralize
from ...errors import Interrupted, OutOfBudget
from ...exploration._utils import format_answers
from ...relations.base import VIOLATED, JudgedGroups, Relation
from ...relations.check.runner import RelationCheck, run_relation_check
from ...relations.feature import Invariant, Monotone
from ...relations.sweep import MAX_VALUES_PER_NUMBER, Sweep, sweep
from ...reporting.document import Line, Section, Table
from ...runs.driver import CallCounter, drive
from ...space.points import Points
from ..case_text import build_example, extract_case, format_answer, format_case, format_label, format_share
from ..check import Check, CheckBudget, CheckFindings
from ..context import CheckContext
from ..finding import Example, Finding

MAX_CASES_PER_RELATION = 1_000
MAX_EXAMPLES_PER_FINDING = 3


@dataclass(frozen=True, eq=False)
class _RelationTrial:
    """A promise that was tried, on inputs and on cases that broke it before.

    Attributes
    ----------
    result : Checked
        What the finding rests on: the inputs, or the known cases if these alone break it.
    violated, judged : int
        How many cases break it, of how many.
    says : str
        That in words.
    """

    result: RelationCheck
    violated: int
    judged: int
    share_text: str

    @property
    def smallest_violation(self) -> JudgedGroups:
        """The smallest violation."""
        smallest = self.result.smallest
        return smallest if smallest is not None and len(smallest) else self.result.groups.violations


def _try_relation(
    context: CheckContext,
    budget: CheckBudget,
    check: str,
    relation: Relation,
    part: float,
    values: int = MAX_VALUES_PER_NUMBER,
) -> _RelationTrial:
    """Put a promise to the system within a part of what the check has left."""
    options = {"seed": context.seed, "counter": budget.counter, **context.drive_options}
    known_cases, known_result = context.known_failures.get(check), None
    if known_cases is not None:
        known_result = run_relation_check(
            relation, context.sut, known_cases, budget=budget.remaining(0.3 * part), **options
        )
    inputs = context.sample_inputs(
        context.count_affordable(budget.remaining(0.6 * part), MAX_CASES_PER_RELATION, runs_per_case=values)
    )
    fresh_result = run_relation_check(relation, context.sut, inputs, budget=budget.remaining(part), **options)
    violated, judged = fresh_result.groups.count(VIOLATED), fresh_result.groups.judged_count
    share_text = format_share(violated, judged)
    if known_result is not None and len(known_result.groups.violations):
        known_text = f"{known_result.groups.count(VIOLATED)} of {pluralize(len(known_result.groups), 'case')} that broke it before"
        if not violated:
            share_text = f"{known_text}, and none of {judged:,} others,"
            return _RelationTrial(
                known_result, known_result.groups.count(VIOLATED), len(known_result.groups), share_text
            )
        share_text += f", and {known_text},"
    return _RelationTrial(fresh_result, violated, judged, share_text)


def _try_relations(
    context: CheckContext,
    budget: CheckBudget,
    check: str,
    relations: Sequence[Relation],
    unseen: Sequence[str] = (),
) -> tuple[list[_RelationTrial], str]:
    """Put promises to the system, and return what became of those that could be tried, and what was left out."""
    trials, omissions = [], [f"{name} is no input of the model" for name in unseen]
    for i, relation in enumerate(relations):
        reason = relation.why_not(context.sut, context.inputs)
        if reason:
            omissions.append(f"{relation.name}: {reason}")
            continue
        values = MAX_VALUES_PER_NUMBER if isinstance(relation, Monotone | Invariant) else 2
        try:
            trials.append(_try_relation(context, budget, check, relation, 1 / (len(relations) - i), values))
        except Interrupted:
            raise
        except OutOfBudget:
            if not trials and len(omissions) == i:
                raise  # nothing was tried: perhaps there is more time later
            omissions.append(f"{relation.name}: its share of the budget was too small")
    return trials, "; ".join(omissions)


def _summarise_trials(
    trials: list[_RelationTrial], omissions: str, noun: str, findings: list[Finding], sections: list[Section]
) -> CheckFindings:
    cases = sum(trial.judged for trial in trials)
    basis = f"{pluralize(len(trials), noun)}, {pluralize(cases, 'case')}" if trials else ""
    conclusive = bool(trials) or "is no input of the model" in omissions
    return CheckFindings("; ".join(filter(None, (basis, omissions))), findings, sections, conclusive=conclusive)


def _find_unseen(context: CheckContext, names: Sequence[str]) -> list[str]:
    return [name for name in names if name not in context.space.names]


def check_monotone(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Try the declared directions."""
    trials, omissions = _try_relations(
        context, budget, "monotone", context.expectations.build_monotone_relations()
    )
    findings, sections = [], []
    for trial in trials:
        relation, violations = trial.result.relation, trial.result.groups.violations
        if not trial.violated:
            continue
        assert isinstance(relation, Monotone)
        flips = int((~violations.before.same(violations.after)).sum())
        flip_text = (
            f" In {flips:,} of them the answer itself changes." if not context.subject.has_numeric_answers else ""
        )
        findings.append(
            Finding(
                check="monotone",
                about=relation.feature,
                title=f"More {relation.feature} can {_format_wrong_direction(relation)}",
                level="fault" if flips or context.subject.has_numeric_answers else "concern",
                sure=1.0,
                detail=f"Declared: {relation.says}. {trial.share_text} have a value of {relation.feature} from which a step "
                f"{'up' if relation.sign > 0 else 'down'} goes the wrong way, all else equal.{flip_text}",
                remedy="Fit the model with a monotone constraint on this feature (monotonic_cst, monotone_constraints), give it "
                "more data there, or withdraw the promise.",
                cases=trial.violated,
                of=trial.judged,
                examples=(
                    _build_step_example(relation, trial.smallest_violation, context.subject.has_numeric_answers),
                ),
            )
        )
        sections += _draw_curve(context, budget, relation, trial.smallest_violation)
    return _summarise_trials(trials, omissions, "declared direction", findings, sections)


def _build_step_example(relation: Relation, groups: JudgedGroups, numbers: bool) -> Example:
    """Return the smallest step the wrong way, with the scores where the answer itself does not tell it."""
    assert isinstance(relation, Monotone)
    example = build_example(groups)
    if numbers:
        return example
    before, after = (
        relation.compute_level(outputs.take(slice(0, 1)))[0] for outputs in (groups.before, groups.after)
    )
    return replace(example, words=f"{example.words}; its score goes from {before:.4g} to {after:.4g}")


def _format_wrong_direction(relation: Monotone) -> str:
    falls = relation.sign > 0
    if relation.towards is None:
        return "lower the answer" if falls else "raise the answer"
    return f"speak {'against' if falls else 'for'} {relation.towards}"


def _draw_curve(
    context: CheckContext, budget: CheckBudget, relation: Relation, groups: JudgedGroups
) -> list[Section]:
    """Return a picture of the answer to one case along the feature."""
    assert isinstance(relation, Monotone)
    source = groups.source.take(slice(0, 1))
    assert isinstance(source, Points)
    swept = _run_sweep(context, budget, source, relation, scores=True)
    if swept is None:
        return []
    known_columns = np.flatnonzero(swept.answered[0])
    level = relation.compute_level(swept.outputs)[known_columns]
    column = (
        swept.points(np.zeros(len(known_columns), dtype=np.intp), known_columns).frame[relation.feature].tolist()
    )
    labels = (
        [format_answer(swept.outputs, int(place)) for place in known_columns]
        if not context.subject.has_numeric_answers
        else ["answer"] * len(known_columns)
    )
    quantity = "answer" if context.subject.has_numeric_answers else "score"
    case = {name: value for name, value in extract_case(source, 0).items() if name != relation.feature}
    return [
        Section(
            heading=f"The {quantity} as {relation.feature} rises, all else equal",
            text=f"One case: {format_case(case)}. It was declared that {relation.says}.",
            picture=Line(
                title=f"{quantity} along {relation.feature}",
                x_label=relation.feature,
                y_label=quantity,
                values=[float(score) for score in level],
                bands=labels,
                notes=[f"{relation.feature} {value}" for value in column],
                steps=swept.values[0, known_columns].tolist()
                if swept.inputs.space[relation.feature].kind != "categorical"
                else (),
            ),
        )
    ]


def check_invariant(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Try the features that must not matter, and the user's own relations."""
    unseen = _find_unseen(context, context.expectations.invariant)
    declared = [
        relation for relation in context.expectations.build_invariant_relations() if relation.feature not in unseen
    ]
    trials, omissions = _try_relations(
        context, budget, "invariant", [*declared, *context.expectations.relations], unseen
    )
    findings = []
    for trial in trials:
        relation = trial.result.relation
        feature = relation.feature if isinstance(relation, Invariant) else ""
        if trial.violated:
            findings.append(
                Finding(
                    check="invariant",
                    about=feature or relation.name,
                    title=f"The answer hangs on {feature}, which should not matter"
                    if feature
                    else f"A promise is broken: {relation.name}",
                    level="fault" if feature or relation.necessary else "concern",
                    sure=1.0,
                    detail=f"Declared: {relation.says or relation.name}. {trial.share_text} break it.",
                    remedy="Take the feature out of the model, or withdraw the promise."
                    if feature
                    else "Mend the model, or withdraw the promise.",
                    cases=trial.violated,
                    of=trial.judged,
                    examples=(build_example(trial.smallest_violation),),
                )
            )
    return _summarise_trials(trials, omissions, "promise", findings, [])


def check_protected(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Change a protected attribute alone, and count the decisions that change with it."""
    unseen = _find_unseen(context, context.expectations.protected)
    relations = [Invariant(name) for name in context.expectations.protected if name not in unseen]
    trials, omissions = _try_relations(context, budget, "protected", relations, unseen)
    findings, sections = [], []
    for trial in trials:
        relation, violations = trial.result.relation, trial.result.groups.violations
        if not trial.violated:
            continue
        assert isinstance(relation, Invariant)
        name, frequency = relation.feature, ""
        table = _tabulate_changes(context, budget, relation, trial.result.inputs)
        if table is not None:
            frequency = _format_most_frequent(table, name)
            text = f"Each row: cases that were given another {name} and nothing else, and what became of their answers."
            sections.append(Section(heading=f"Decisions that change with {name} alone", text=text, table=table))
        violation_groups = [
            trial.smallest_violation,
            *(
                violations.take(slice(row, row + 1))
                for row in range(min(MAX_EXAMPLES_PER_FINDING - 1, len(violations)))
            ),
        ]
        findings.append(
            Finding(
                check="protected",
                about=name,
                title=f"Decisions hang on {name}",
                level="fault",
                sure=1.0,
                detail=f"{trial.share_text} get another decision if {name} alone changes.{frequency}",
                remedy=f"Ask whether {name} may matter here. If not, leave it out of the model, and look for columns that stand "
                "for it; then test again.",
                cases=trial.violated,
                of=trial.judged,
                examples=tuple(build_example(group) for group in violation_groups if len(group)),
            )
        )
    return _summarise_trials(trials, omissions, "attribute", findings, sections)


def _tabulate_changes(
    context: CheckContext, budget: CheckBudget, relation: Invariant, inputs: Points
) -> Table | None:
    """Return how many cases have which change of the answer with which change of the attribute."""
    swept = _run_sweep(context, budget, inputs, relation)
    if swept is None:
        return None
    known = swept.answered
    own_known = known[np.arange(swept.shape[0]), swept.own_columns]
    rows, columns = np.nonzero(relation.find_changes(swept) & known & own_known[:, None])
    end_columns = (swept.own_columns[rows], columns)
    attribute_values = [swept.points(rows, places).frame[relation.feature].tolist() for places in end_columns]
    own_answers, other_answers = (swept.answers(rows, places).values for places in end_columns)
    categorical = swept.inputs.space[relation.feature].kind == "categorical"
    attribute_labels = [
        [format_label(value) for value in column] if categorical else column for column in attribute_values
    ]
    answer_labels = (
        (own_answers, other_answers)
        if own_answers.dtype.kind == "f"
        else (format_answers(own_answers), format_answers(other_answers))
    )
    changes = {  # of a number many values may do the same to one case, which counts once
        (
            row,
            *((a, b) if categorical else _format_direction(a, b)),
            *((x, y) if isinstance(x, str) else _format_direction(x, y)),
        )
        for row, a, b, x, y in zip(rows.tolist(), *attribute_labels, *answer_labels, strict=True)
    }
    change_counts = Counter(change[1:] for change in changes)
    ranked = sorted(change_counts.items(), key=lambda item: (-item[1], item[0]))
    body = [[*key, f"{count:,}", f"{100 * count / swept.shape[0]:.1f} %"] for key, count in ranked[:30]]
    return Table(columns=[relation.feature, "becomes", "answer", "becomes", "cases", "share"], rows=body)


def _run_sweep(
    context: CheckContext,
    budget: CheckBudget,
    inputs: Points,
    relation: Monotone | Invariant,
    scores: bool = False,
) -> Sweep | None:
    """Ask some cases with every value of a feature; None if there is no time."""
    counter = CallCounter()
    flow = sweep(inputs, relation.feature, relation.feature_values, scores=scores)
    try:
        return drive(flow, context.sut, tally=counter, budget=budget.remaining(), **context.build_quiet_options())
    except Interrupted:
        raise
    except OutOfBudget:
        return None
    finally:
        budget.add(counter)


def _format_direction(before: Any, after: Any) -> tuple[str, str]:
    return ("any", "higher") if after > before else ("any", "lower")


def _format_most_frequent(table: Table, name: str) -> str:
    if not table.rows:
        return ""
    old_value, new_value, before, after, count, _ = table.rows[0]
    return f" Most often: {name} {old_value} becomes {new_value}, and the answer {before} becomes {after} ({count} times)."


MONOTONE = Check(
    name="monotone",
    question="Does the answer move only in the declared directions?",
    weight=3,
    find_skip_reason=lambda context: (
        "" if context.expectations.monotone else 'no direction is declared: expect={"monotone": {"income": "up"}}'
    ),
    run=check_monotone,
)
INVARIANT = Check(
    name="invariant",
    question="Do features matter that should not, and are the user's own relations kept?",
    weight=3,
    find_skip_reason=lambda context: (
        ""
        if context.expectations.invariant or context.expectations.relations
        else 'nothing is declared: expect={"invariant": ["id"]}, or relations of your own'
    ),
    run=check_invariant,
)
PROTECTED = Check(
    name="protected",
    question="Do decisions hang on a protected attribute?",
    weight=3,
    find_skip_reason=lambda context: (
        "" if context.expectations.protected else 'no attribute is named: protected=["gender"]'
    ),
    run=check_protected,
)
