"""Check the relations that the learning algorithm must satisfy, by training it on changed data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..._text import pluralise
from ...core.result import Example, Finding, count_rows, format_share
from ...errors import BudgetSpent
from ...relations.algebra.base import HOLDS, UNDEFINED, VIOLATED
from ...relations.learners.base import LearnerRelation
from ...relations.learners.cluster_sampling import make_training
from ...relations.learners.clusterers import CLUSTER_RELATIONS
from ...relations.learners.necessity import Requirement, find_requirement
from ...relations.learners.requirement import must_hold
from ...relations.learners.result import JudgingOptions, LearnerSubject, LearnerVerdicts
from ...relations.learners.runner import check_relation
from ...relations.learners.sklearn import LEARNER_RELATIONS
from ...reporting.document import Section, Table
from ...runs.driver import drive, use_journal
from ...runs.flow import Budget, Flow, ask
from ...systems.clusterer import Clusterer, is_clusterer
from ...systems.isolation import use_one_blas_thread
from ...systems.learner import Learner
from ...systems.training import Training, TrainingBatch
from ..case_text import extract_row, format_case, to_plain
from ..check import CheckBudget, CheckFindings, get_facts, make_check
from ..context import CheckContext

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Answer = TypeVar("Answer")
MAX_TRAINING_ROWS = 200  # few, since each relation trains at least twice
MAX_TEST_CASES = 50
MAX_CASES_PER_FIT = 10_000  # more than there are: parts of a batch would train again
MAX_CASES_TRAINED_SEPARATELY = 20  # test cases of a relation that trains again for each of them
MIN_LABELLED_ROWS = 12
MAX_CLUSTER_SETS, MIN_CLUSTER_ROWS = 3, 30  # parts of the data that a clusterer is fitted to, and rows per part
FIRST_FIT_BUDGET_PART = 0.5  # for the fit to the data themselves, which is made once
FITS_PER_RELATION = 1.2  # of the same length, at least; more if a violation is found
MAX_HYPOTHESES_PART = 0.1  # of the time of all checks before, since a hypothesis describes and cannot find a fault
MIN_HYPOTHESES_SECONDS = 1.0  # for them, however short the checks before were, on an otherwise idle machine
THREAD_PARAMETERS = ("n_jobs", "thread_count", "num_threads")  # of scikit-learn, XGBoost and LightGBM; of CatBoost


def check_learner(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Train the learner on some of the data and on follow-ups of them, for each relation that the budget allows."""
    rng = np.random.default_rng([context.seed, 2])
    order = rng.permutation(len(context.inputs))
    if is_clusterer(context.learner):
        assert context.learner is not None
        with use_one_blas_thread():
            parts = np.array_split(order, max(1, min(MAX_CLUSTER_SETS, len(order) // MIN_CLUSTER_ROWS)))
            frames = [context.inputs.take(part[:MAX_TRAINING_ROWS]).frame.reset_index(drop=True) for part in parts]
            return _check_relations(context, budget, [make_training(context.learner, frame) for frame in frames])
    assert context.truth is not None
    cases = order[: min(MAX_TEST_CASES, len(order) // 3)]
    rows = order[len(cases) : len(cases) + MAX_TRAINING_ROWS]
    data = Training(
        context.inputs.take(rows).frame, context.truth[rows], context.inputs.take(cases).frame.reset_index(drop=True)
    )
    with use_one_blas_thread():
        return _check_relations(context, budget, [data])


def _check_relations(context: CheckContext, budget: CheckBudget, sets: list[Training]) -> CheckFindings:
    assert context.learner is not None
    clusters = is_clusterer(context.learner)
    make_system = Clusterer if clusters else Learner
    declared_relations = context.expectations.learner_relations
    relations: Mapping[str, LearnerRelation] = {
        **(CLUSTER_RELATIONS if clusters else LEARNER_RELATIONS),
        **declared_relations,
    }
    system, subject = make_system(_use_one_thread(context.learner), seed=context.seed), LearnerSubject(context.learner)
    source, data = TrainingBatch(sets), sets[0]
    requirements = {name: find_requirement(name, context.learner, None if clusters else data) for name in relations}
    requirements |= {
        name: must_hold("you declared it", "score_exact" if relation.about_scores else "class_exact")
        for name, relation in declared_relations.items()
    }
    # the necessary ones first: only they can find a fault
    names = sorted(relations, key=lambda name: not requirements[name].necessary)

    def answer(flow: Flow[Answer]) -> Answer:
        """Train and label: a fit has no rows of the system under test, so only the time of the budget counts."""
        limit = Budget(seconds=budget.remaining().seconds)
        with use_journal(None) if clusters else nullcontext():  # partitions cannot be stored; they are computed again
            return drive(
                flow, system, budget=limit, progress=False, batch=MAX_CASES_PER_FIT, cache=None, recheck=0, alive=True
            )

    start_seconds = context.clock.seconds
    with budget.limit(FIRST_FIT_BUDGET_PART):  # there is no way to know how long a fit takes before the first one
        source_outputs = {False: answer(ask(source))}  # by whether scores are needed
    fit_seconds = context.clock.seconds - start_seconds
    hypotheses_seconds = _compute_hypotheses_seconds(context, budget, start_seconds)
    findings, body, tried_count, untried_names, left_out_count = [], [], 0, [], 0

    def add_table_row(name: str, note: str, judged: str = "–", violated: str = "–") -> None:
        body.append([name, relations[name].statement, _format_necessity(requirements[name]), judged, violated, note])

    for name in names:
        relation, requirement = relations[name], requirements[name]
        reason = subject.find_obstacle(relation, data)
        if reason:
            add_table_row(name, reason)
            continue
        relation_seconds, seconds_left = FITS_PER_RELATION * fit_seconds, budget.seconds_left
        if budget.spent or (seconds_left is not None and seconds_left < relation_seconds):
            untried_names.append(name)
            add_table_row(name, "not tried: there was no time")
            continue
        if not requirement.necessary and hypotheses_seconds < relation_seconds:
            left_out_count += 1
            add_table_row(name, "left out to save time; tried with only='learning' (--only learning)")
            continue
        strictness = (
            requirement.strictness if requirement.strictness in ("class_exact", "score_exact") else "class_exact"
        )
        judging = JudgingOptions(strictness, seed=context.seed)
        relation_start_seconds = context.clock.seconds
        try:
            with budget.limit():
                if judging.needs_scores not in source_outputs:
                    source_outputs[judging.needs_scores] = answer(ask(source, scores=judging.needs_scores))
                relation_source, outputs = source, source_outputs[judging.needs_scores]
                if relation.shares == "case" and not clusters:
                    relation_source = TrainingBatch([data.cases(slice(0, MAX_CASES_TRAINED_SEPARATELY))])
                    outputs = outputs.take(slice(0, MAX_CASES_TRAINED_SEPARATELY))
                flow = check_relation(
                    relation,
                    subject,
                    relation_source,
                    range(len(sets)),
                    judging,
                    source_outputs=outputs,
                    requirement=requirement,
                )
                result = answer(flow)
        except BudgetSpent:
            untried_names.append(name)
            add_table_row(name, "not tried: there was no time")
            continue
        tried_count += 1
        if not requirement.necessary:
            hypotheses_seconds -= context.clock.seconds - relation_start_seconds
        violated, judged = result.count(VIOLATED), result.count(VIOLATED) + result.count(HOLDS)
        note = result.message if result.count(UNDEFINED) else requirement.reason
        add_table_row(name, note, f"{judged:,}", f"{violated:,}")
        if violated and requirement.necessary:
            build_finding = _build_cluster_finding if clusters else _build_finding
            findings.append(build_finding(name, relation.statement, requirement.reason, result, violated, judged))
    noun = "parts" if clusters else "rows"
    table = Table(columns=["relation", "expectation", "for this learner", noun, "violated", "reason"], rows=body)
    text = (
        f"The clusterer was fitted to {pluralise(len(sets), 'part')} of the data, of up to {pluralise(len(data.x), 'row')}, and "
        "to the same rows changed in a known way. The table says whether it then groups them as expected."
        if clusters
        else f"The learner was trained on {pluralise(len(data.x), 'row')} and on the same rows changed in a known way. "
        f"The table says whether it then answers up to {pluralise(len(data.t), 'other row')} as expected."
    )
    section = Section(
        heading="Relations between trainings",
        text=f"{text} An expectation that is necessary for the algorithm and not met is a fault. The others show how the "
        "learner behaves.",
        table=table,
    )
    if untried_names and not tried_count:
        raise BudgetSpent("there was no time to train the learner twice")
    untried_necessary = [name for name in untried_names if requirements[name].necessary]
    basis = (
        f"{pluralise(tried_count, 'relation')}, trained on {pluralise(len(data.x), 'row')} at a time"
        + (f"; {pluralise(left_out_count, 'hypothesis', 'hypotheses')} left out to save time" if left_out_count else "")
        + (f"; there was no time for {len(untried_names)} more" if untried_names else "")
        + (f", {len(untried_necessary)} of them necessary" if untried_necessary else "")
    )
    return CheckFindings(
        basis=basis, findings=findings, sections=[section], skip_reason="budget spent" if untried_necessary else ""
    )


def _compute_hypotheses_seconds(context: CheckContext, budget: CheckBudget, seconds_before: float) -> float:
    """Return the seconds for relations that only describe the learner: few after a short test, unless they are asked for."""
    if budget.requested or budget.budget.seconds is None:
        return math.inf
    return max(MIN_HYPOTHESES_SECONDS * context.clock.slowdown, MAX_HYPOTHESES_PART * seconds_before)


def _use_one_thread(learner: BaseEstimator) -> BaseEstimator:
    """Return a learner that trains in one thread: for a few rows, threads spend most of the time waiting for each other."""
    from sklearn.base import clone

    if not hasattr(learner, "get_params"):
        return learner
    threads = [name for name in learner.get_params() if name.rpartition("__")[2] in THREAD_PARAMETERS]
    return clone(learner).set_params(**dict.fromkeys(threads, 1)) if threads else learner


def _format_necessity(requirement: Requirement) -> str:
    return (
        "necessary"
        if requirement.necessary
        else "may fail"
        if requirement.strictness == "expected_failure"
        else "hypothesis"
    )


def _build_finding(
    name: str, statement: str, reason: str, result: LearnerVerdicts, violated: int, judged: int
) -> Finding:
    row = int(np.flatnonzero(result.verdicts == VIOLATED)[0])
    case = extract_row(result.data.trainings[0].t, row)
    before, after, expected = (to_plain(values[row]) for values in (result.before, result.after, result.expected))
    text = f"{format_case(case)}: {before} before, {after} after, {expected} expected"
    return Finding(
        **get_facts("learning.learner"),
        about=name,
        title=f"Training violates a relation that its algorithm must satisfy: “{statement}”",
        detail=f"The learner was trained twice: on some of the data, and on the same rows changed in this way. "
        f"{format_share(violated, judged, 'row')} did not get the answer that is expected after the change. It must hold because "
        f"{reason} (relation {name}).",
        **count_rows(violated, judged),
        examples=(Example(text=text, case=case, answer=before, new_answer=after),),
    )


def _build_cluster_finding(
    name: str, statement: str, reason: str, result: LearnerVerdicts, violated: int, judged: int
) -> Finding:
    row = int(result.violations[0])
    before, after, expected = (values[row] for values in (result.before, result.after, result.expected))
    changed_rows = after.find_changed_rows(expected)
    case = extract_row(result.follow_ups[result.follow_up_index[row]].x, int(changed_rows[0]))
    words = f"{before} before, {after} after; {pluralise(len(changed_rows), 'row')} in another cluster, such as "
    return Finding(
        **get_facts("learning.clusterer"),
        about=name,
        title=f"Clustering violates a relation that its algorithm must satisfy: “{statement}”",
        detail=f"The clusterer was fitted twice: to some of the data, and to the same rows changed in this way. "
        f"{format_share(violated, judged, 'part')} of the data did not get the clusters that are expected after the change. It must "
        f"hold because {reason} (relation {name}).",
        cases=violated,
        cases_tried=judged,
        examples=(Example(text=words + format_case(case), case=case, answer=str(before), new_answer=str(after)),),
    )


def _find_skip_reason(context: CheckContext) -> str:
    if context.learner is None:
        return "no learner with labelled data is given (an estimator of scikit-learn, and target=)"
    if is_clusterer(context.learner):
        if not context.has_data or len(context.inputs) < MIN_LABELLED_ROWS:
            return "there are too few rows to group"
    elif context.truth is None or len(context.inputs) < MIN_LABELLED_ROWS:
        return "there are too few labelled rows to train on"
    if context.space.kinds["text"]:
        return "an input is text, and the relations of learners are about numbers and categories"
    return ""


LEARNING = make_check("learning", check_learner, _find_skip_reason)
