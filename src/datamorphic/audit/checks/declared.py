"""Check what the user declared: monotone, invariant and protected features, and own relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._text import format_percent, pluralise
from ...core.result import Example, Finding, format_share
from ...errors import BudgetSpent
from ...exploration.changes import format_answers
from ...relations.algebra.base import VIOLATED, JudgedGroups, SystemRelation
from ...relations.algebra.change import ChangeGroups, ChangeRelation
from ...relations.algebra.feature import Invariant, Monotone
from ...relations.algebra.sweep import MAX_VALUES_PER_NUMBER, Sweep, sweep
from ...relations.check.runner import RelationCheck, run_relation_check
from ...reporting.document import Line, Section, Table
from ...space.points import Points
from ...systems.estimator import Estimator
from ..case_text import build_group_example, extract_case, format_answer, format_case, format_label
from ..check import CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext
from ..outcome import SkipReason

MAX_CASES_PER_RELATION = 1_000
MAX_EXAMPLES_PER_FINDING = 3
MAX_TABLE_ROWS = 30
DIRECTIONS = ("raises", "lowers")  # kinds of promises about a direction
ANY_VALUE = "any"  # the old value of a number, in a table of directions


@dataclass(frozen=True, eq=False, kw_only=True)
class _RelationTrial:
    """A relation checked on inputs, and on cases that violated it in earlier runs."""

    result: RelationCheck  # of the inputs, or of the known cases if only these violate the relation
    violated: int
    judged: int
    share_text: str  # how many of the judged cases violate it
    gives_interval: bool  # whether `share_text` contains the interval of the share

    @property
    def smallest_violation(self) -> JudgedGroups:
        """The violation that was shrunk most."""
        smallest = self.result.smallest
        return smallest if smallest is not None and len(smallest) else self.result.groups.violations

    def describe_impact(self) -> dict[str, Any]:
        """Return how many given rows violate the relation, as fields of a finding."""
        return {"affected_rows": self.violated, "rows": self.judged, "inputs": "changed"}


@dataclass(kw_only=True)
class _Trials:
    """The relations of one check that were tried, and those that were not."""

    unseen: Sequence[str]  # declared features that are not inputs of the model, so that they cannot matter
    trials: list[_RelationTrial] = field(default_factory=list)
    omissions: list[str] = field(default_factory=list)  # relations that were not tried, with the reason
    out_of_budget: bool = False  # the reason for one of the omissions

    def summarise(self, noun: str, findings: Sequence[Finding]) -> CheckFindings:
        """Return what the check returns."""
        cases = sum(trial.judged for trial in self.trials)
        basis = [f"{pluralise(len(self.trials), noun)}, {pluralise(cases, 'case')}"] if self.trials else []
        basis += [f"{name} is not an input of the model" for name in self.unseen]
        conclusive = bool(self.trials or self.unseen)
        skip_reason: SkipReason = "" if conclusive else "inapplicable"
        return CheckFindings(
            basis="; ".join([*basis, *self.omissions]),
            findings=findings,
            conclusive=conclusive,
            skip_reason="budget spent" if self.out_of_budget else skip_reason,
        )


def _try_relation(
    context: CheckContext, budget: CheckBudget, check: str, relation: SystemRelation, part: float
) -> _RelationTrial:
    """Check a relation within a part of what is left of the budget."""
    if context.tolerance is not None:
        relation = relation.with_tolerance(context.tolerance)
    values = MAX_VALUES_PER_NUMBER if isinstance(relation, Monotone | Invariant) else 2
    options = {
        "seed": context.seed,
        "counter": budget.counter,
        "plausible_space": context.plausible_space,
        **context.drive_options,
    }
    known_cases, known_result = context.known_failures.get(check), None
    if known_cases is not None and not relation.draws_inputs:
        known_result = run_relation_check(
            relation, context.sut, known_cases, budget=budget.remaining(0.3 * part), **options
        )
    inputs = context.sample_inputs(
        context.count_affordable(budget.remaining(0.6 * part), MAX_CASES_PER_RELATION, runs_per_case=values)
    )
    inputs = relation.draw_inputs(inputs, np.random.default_rng(context.seed))
    fresh_result = run_relation_check(relation, context.sut, inputs, budget=budget.remaining(part), **options)
    violated, judged = fresh_result.groups.count(VIOLATED), fresh_result.groups.judged_count
    share_text = format_share(violated, judged)
    if known_result is not None and len(known_result.groups.violations):
        known_violated, known_count = known_result.groups.count(VIOLATED), len(known_result.groups)
        known_text = f"{known_violated} of {pluralise(known_count, 'case')} that violated it before"
        if not violated:
            return _RelationTrial(
                result=known_result,
                violated=known_violated,
                judged=known_count,
                share_text=f"{known_text}, and none of {judged:,} others,",
                gives_interval=False,
            )
        share_text += f", and {known_text},"
    return _RelationTrial(
        result=fresh_result, violated=violated, judged=judged, share_text=share_text, gives_interval=True
    )


def _try_relations(
    context: CheckContext,
    budget: CheckBudget,
    check: str,
    relations: Sequence[SystemRelation],
    unseen: Sequence[str] = (),
) -> _Trials:
    """Check several relations, each within its part of the budget."""
    outcome = _Trials(unseen=unseen)
    for i, relation in enumerate(relations):
        reason = relation.find_obstacle(context.sut, context.inputs)
        if reason:
            outcome.omissions.append(f"{relation.name}: {reason}")
            continue
        try:
            outcome.trials.append(_try_relation(context, budget, check, relation, part=1 / (len(relations) - i)))
        except BudgetSpent:
            if not outcome.trials and len(outcome.unseen) + len(outcome.omissions) == i:
                raise  # nothing was tried yet: the check may get more time later
            outcome.omissions.append(f"{relation.name}: its share of the budget was too small")
            outcome.out_of_budget = True
    return outcome


def check_monotone(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Check the declared directions."""
    outcome = _try_relations(context, budget, "monotone", context.expectations.build_monotone_relations())
    findings = []
    for trial in outcome.trials:
        relation, violations = trial.result.relation, trial.result.groups.violations
        if not trial.violated:
            continue
        assert isinstance(relation, Monotone)
        numbers = context.has_numeric_answers
        flips = int((~violations.before.same(violations.after)).sum())
        flip_text = "" if numbers else f" In {flips:,} of them the answer itself changes."
        findings.append(
            Finding(
                check="monotone",
                about=relation.feature,
                title=f"A higher {relation.feature} can {_format_wrong_direction(relation)}",
                level="fault" if flips or numbers else "concern",
                confidence=1.0,
                detail=f"{_cite(context, relation.feature, relation.statement)}. {trial.share_text} have a value of "
                f"{relation.feature} from which a step {'up' if relation.sign > 0 else 'down'} goes the wrong way, all else "
                f"equal.{flip_text}",
                remedy=_advise_constraint(context, [relation.feature], "declaration"),
                cases=trial.violated,
                cases_tried=trial.judged,
                examples=(_build_step_example(relation, trial.smallest_violation, numbers),),
                counted_in_detail=trial.gives_interval,
                sections=tuple(_draw_curve(context, budget, relation, trial.smallest_violation)),
                affected_rows=trial.violated
                if numbers or not flips
                else flips,  # a changed answer counts, if there is one
                rows=trial.judged,
                inputs="changed",
                answer_changes=bool(flips) or numbers,
                effect=_measure_fall(relation, violations) if numbers or not flips else None,
            )
        )
    return outcome.summarise("declared direction", findings)


def _advise_constraint(context: CheckContext, features: Sequence[str], statement: str) -> str:
    """Return what to do about a wrong direction: a monotone constraint, if the model can have one."""
    columns, ending = ", ".join(features), f"add training data there, or withdraw the {statement}."
    model = context.sut.model if isinstance(context.sut, Estimator) else None
    if model is None:
        return f"If the model can be trained with a monotone constraint on {columns}, do so. Otherwise {ending}"
    parameter = _find_constraint_parameter(model)
    if parameter:
        return f"Fit the model with a monotone constraint on {columns} ({parameter}), {ending}"
    _, last_step = getattr(model, "steps", [("", model)])[-1]
    return (
        f"{ending[0].upper()}{ending[1:]} {type(last_step).__name__} has no monotone constraints; models that have them are, "
        "for example, HistGradientBoosting (monotonic_cst) and XGBoost (monotone_constraints)."
    )


def _find_constraint_parameter(model: Any) -> str:
    """Return the parameter of a model, or of a step of a pipeline, that sets monotone constraints; empty if it has none."""
    parameters: Mapping[str, Any] = model.get_params() if hasattr(model, "get_params") else {}
    if any(name.rpartition("__")[2] == "monotonic_cst" for name in parameters):
        return "monotonic_cst"
    libraries = {type(part).__module__.partition(".")[0] for part in (model, *parameters.values())}
    return "monotone_constraints" if libraries & {"xgboost", "lightgbm", "catboost"} else ""


def _cite(context: CheckContext, name: str, says: str) -> str:
    """Return what was declared about a column, in the words of the promises file if it comes from one."""
    promises = context.expectations.promises
    promise = None if promises is None else promises.columns.get(name)
    if promises is None or promise is None:
        return f"Declared: {says}"
    outcome = f" {promises.outcome or 'the answer'}" if promise.kind in DIRECTIONS else ""
    return f"Promised in {promises.file}, line {promise.line}: {name} {promise.kind}{outcome}"


def _measure_fall(relation: Monotone, violations: JudgedGroups) -> float | None:
    """Return the median step in the wrong direction, of the answer or its score."""
    before, after = (relation.compute_level(outputs) for outputs in (violations.before, violations.after))
    steps = np.abs(after - before)
    return float(np.median(steps[np.isfinite(steps)])) if np.isfinite(steps).any() else None


def _measure_change(violations: JudgedGroups) -> float | None:
    """Return the median change of answers that are numbers."""
    before, after = violations.before, violations.after
    both = before.ok & after.ok
    if not both.any() or before.values.dtype.kind != "f" or after.values.dtype.kind != "f":
        return None
    return float(np.median(np.abs(after.values[both] - before.values[both])))


def _build_step_example(relation: Monotone, groups: JudgedGroups, numbers: bool) -> Example:
    """Return the smallest step in the wrong direction, with the scores of a classifier."""
    example = build_group_example(groups)
    if numbers:
        return example
    before, after = (relation.compute_level(outputs.take(slice(0, 1)))[0] for outputs in (groups.before, groups.after))
    return replace(example, text=f"{example.text}; its score goes from {before:.4g} to {after:.4g}")


def _format_wrong_direction(relation: Monotone) -> str:
    falls = relation.sign > 0
    if relation.outcome is None:
        return "lower the answer" if falls else "raise the answer"
    return f"make the answer {relation.outcome} {'less' if falls else 'more'} likely"


def _draw_curve(context: CheckContext, budget: CheckBudget, relation: Monotone, groups: JudgedGroups) -> list[Section]:
    """Return a picture of the answer to one case as the feature changes."""
    source = groups.source.take(slice(0, 1))
    assert isinstance(source, Points)
    swept = _run_sweep(context, budget, source, relation, scores=True)
    if swept is None:
        return []
    known_columns = np.flatnonzero(swept.answered[0])
    level = relation.compute_level(swept.outputs)[known_columns]
    points = swept.points(np.zeros(len(known_columns), dtype=np.intp), known_columns)
    if context.has_numeric_answers:
        quantity, labels = "answer", ["answer"] * len(known_columns)
    else:
        quantity, labels = "score", [format_answer(swept.outputs, int(column)) for column in known_columns]
    is_categorical = swept.inputs.space[relation.feature].kind == "categorical"
    case = {name: value for name, value in extract_case(source, 0).items() if name != relation.feature}
    return [
        Section(
            heading=f"The {quantity} as {relation.feature} rises, all else equal",
            text=f"One case: {format_case(case)}. Declared: {relation.statement}.",
            picture=Line(
                title=f"{quantity} along {relation.feature}",
                x_label=relation.feature,
                y_label=quantity,
                values=[float(score) for score in level],
                bands=labels,
                notes=[f"{relation.feature} {value}" for value in points.frame[relation.feature].tolist()],
                steps=() if is_categorical else swept.values[0, known_columns].tolist(),
            ),
        )
    ]


def check_invariant(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Check the features that must not matter, and the user's own relations."""
    unseen = [name for name in context.expectations.invariant if name not in context.space.names]
    declared = [Invariant(name) for name in context.expectations.invariant if name not in unseen]
    outcome = _try_relations(context, budget, "invariant", [*declared, *context.expectations.model_relations], unseen)
    findings = [_build_invariant_finding(context, trial) for trial in outcome.trials if trial.violated]
    return outcome.summarise("relation", findings)


def _build_invariant_finding(context: CheckContext, trial: _RelationTrial) -> Finding:
    relation = trial.result.relation
    if isinstance(relation, ChangeRelation):
        return _build_change_finding(context, trial, relation)
    if isinstance(relation, Invariant):
        about, necessary = relation.feature, True
        title = f"The answer depends on {relation.feature}, which should not matter"
        remedy = "Remove the feature from the model, or withdraw the declaration."
    else:
        about, necessary = relation.name, relation.necessary
        title = f"A relation is violated: {relation.name}"
        remedy = "Fix the model, or withdraw the relation."
    return Finding(
        check="invariant",
        about=about,
        title=title,
        level="fault" if necessary else "concern",
        confidence=1.0,
        detail=f"{_cite(context, about, relation.statement or relation.name)}. {trial.share_text} violate it.",
        remedy=remedy,
        cases=trial.violated,
        cases_tried=trial.judged,
        examples=(build_group_example(trial.smallest_violation),),
        counted_in_detail=trial.gives_interval,
        **trial.describe_impact(),
        answer_changes=True,
        effect=_measure_change(trial.result.groups.violations),
    )


def _build_change_finding(context: CheckContext, trial: _RelationTrial, relation: ChangeRelation) -> Finding:
    """Return a finding about a change that moves the outcome the wrong way."""
    violations = trial.result.groups.violations
    assert isinstance(violations, ChangeGroups)
    quantity, format_level = _describe_level(context, relation)
    wrong_effect = {"down": "raise", "up": "lower", "same": "change"}[relation.direction]
    promises = context.expectations.promises
    line = None if promises is None else promises.find_line(relation.name)
    source = "Declared" if promises is None or line is None else f"Promised in {promises.file}, line {line}"
    changes = ", ".join(map(str, relation.changes))
    worst = int(np.argmax(violations.wrongness))
    levels = [format_level(float(column[worst])) for column in (violations.before_levels, violations.after_levels)]
    strong = int(violations.strong.sum())
    size_text = ""
    if quantity.startswith("the probability"):
        size_text = (
            f", {strong:,} of them by one percentage point or more" if strong else ", none by a whole percentage point"
        )
    flips = int((~violations.before.same(violations.after)).sum())
    flip_text = (
        f" In {flips:,} of them the decision itself changes." if flips and context.sut.labels is not None else ""
    )
    largest = violations.take(np.array([worst]))
    return Finding(
        check="invariant",
        about=relation.name,
        title=f"{relation.name} ({changes}) can {wrong_effect} {quantity}",
        level="fault" if strong or flips else "concern",
        confidence=1.0,
        detail=f"{source}: {changes} does not {wrong_effect} {quantity}. {trial.share_text} break the promise{size_text}. At "
        f"worst, it goes from {levels[0]} to {levels[1]}.{flip_text}",
        remedy=_advise_constraint(context, relation.about, "promise"),
        cases=trial.violated,
        cases_tried=trial.judged,
        examples=tuple(
            _build_level_example(group, format_level) for group in (largest, trial.smallest_violation) if len(group)
        ),
        counted_in_detail=trial.gives_interval,
        **trial.describe_impact(),
        answer_changes=bool(flips),
        effect=float(np.median(violations.wrongness)),
        columns=relation.about,
    )


def _build_level_example(groups: JudgedGroups, format_level: Callable[[float], str]) -> Example:
    """Return the first group as an example, with its probabilities or numbers."""
    assert isinstance(groups, ChangeGroups)
    example = build_group_example(groups)
    before, after = (format_level(float(column[0])) for column in (groups.before_levels, groups.after_levels))
    change, _, answers = example.text.rpartition(": ")
    suffix = "" if answers.startswith("the answer stays") else f" ({answers})"
    return replace(example, text=f"{change}: {before} becomes {after}{suffix}")


def _describe_level(context: CheckContext, relation: ChangeRelation) -> tuple[str, Callable[[float], str]]:
    """Return what a relation about changes judges, in words, and how its values are written."""
    outcome = relation.outcome
    if relation.system(context.sut).score_kind == "probability":
        return f"the probability of {outcome}", lambda level: f"{100 * level:.3g}%"
    if context.sut.labels is None and outcome is None:
        return "the answer", lambda level: f"{level:.4g}"
    return f"the score of {outcome}", lambda level: f"{level:.4g}"


def check_protected(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Change only a protected attribute, and count the decisions that change with it."""
    unseen = [name for name in context.expectations.protected if name not in context.space.names]
    relations = [Invariant(name) for name in context.expectations.protected if name not in unseen]
    outcome = _try_relations(context, budget, "protected", relations, unseen)
    findings = []
    for trial in outcome.trials:
        relation, violations = trial.result.relation, trial.result.groups.violations
        if not trial.violated:
            continue
        assert isinstance(relation, Invariant)
        name, frequency = relation.feature, ""
        sections: tuple[Section, ...] = ()
        table = _tabulate_changes(context, budget, relation, trial.result.inputs)
        if table is not None:
            frequency = _format_most_frequent(table, name)
            text = f"Cases in which only {name} was changed, and how the answers changed."
            sections = (Section(heading=f"Decisions that change with {name}", text=text, table=table),)
        further_rows = range(min(MAX_EXAMPLES_PER_FINDING - 1, len(violations)))
        violation_groups = [trial.smallest_violation, *(violations.take(slice(row, row + 1)) for row in further_rows)]
        findings.append(
            Finding(
                **get_facts("protected"),
                about=name,
                title=f"The decision depends on {name}",
                detail=f"{trial.share_text} get another decision if only {name} changes.{frequency}",
                remedy=f"Decide whether {name} may matter here. If not, remove it from the model, look for columns that stand in "
                "for it, and test again.",
                cases=trial.violated,
                cases_tried=trial.judged,
                examples=tuple(build_group_example(group) for group in violation_groups if len(group)),
                counted_in_detail=trial.gives_interval,
                sections=sections,
                **trial.describe_impact(),
                effect=_measure_change(violations),
            )
        )
    return outcome.summarise("attribute", findings)


def _tabulate_changes(context: CheckContext, budget: CheckBudget, relation: Invariant, inputs: Points) -> Table | None:
    """Return a table of how often each change of the attribute leads to each change of the answer."""
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
    changes = {  # a set: several values of a number may have the same effect on a case, which counts once
        (
            row,
            *((a, b) if categorical else _format_direction(a, b)),
            *((x, y) if isinstance(x, str) else _format_direction(x, y)),
        )
        for row, a, b, x, y in zip(rows.tolist(), *attribute_labels, *answer_labels, strict=True)
    }
    change_counts = Counter(change[1:] for change in changes)
    ranked = sorted(change_counts.items(), key=lambda item: (-item[1], item[0]))
    body = [[*key, f"{count:,}", format_percent(count / swept.shape[0])] for key, count in ranked[:MAX_TABLE_ROWS]]
    return Table(columns=[relation.feature, "becomes", "answer", "becomes", "cases", "share"], rows=body)


def _run_sweep(
    context: CheckContext, budget: CheckBudget, inputs: Points, relation: Monotone | Invariant, scores: bool = False
) -> Sweep | None:
    """Query cases with every value of a feature; None if the budget does not allow it."""
    try:
        return run_flow(context, budget, sweep(inputs, relation.feature, relation.feature_values, scores=scores))
    except BudgetSpent:
        return None


def _format_direction(before: float, after: float) -> tuple[str, str]:
    return (ANY_VALUE, "higher") if after > before else (ANY_VALUE, "lower")


def _format_most_frequent(table: Table, name: str) -> str:
    if not table.rows:
        return ""
    old_value, new_value, before, after, count, _ = table.rows[0]
    change = f"{name} becomes {new_value}" if old_value == ANY_VALUE else f"{name} {old_value} becomes {new_value}"
    return f" Most often: {change}, and the answer {before} becomes {after} ({count} times)."


MONOTONE = make_check(
    "monotone",
    check_monotone,
    lambda context: (
        "" if context.expectations.monotone else 'no direction is declared: expect={"monotone": {"income": "up"}}'
    ),
)
INVARIANT = make_check(
    "invariant",
    check_invariant,
    lambda context: (
        ""
        if context.expectations.invariant or context.expectations.model_relations
        else 'nothing is declared: expect={"invariant": ["id"]}, or relations of your own'
    ),
)
PROTECTED = make_check(
    "protected",
    check_protected,
    lambda context: "" if context.expectations.protected else 'no attribute is named: protected=["gender"]',
)
