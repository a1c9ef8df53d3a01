"""Does it answer every input, given or made?"""

from __future__ import annotations

import numpy as np

from ..._text import pluralize
from ...errors import Interrupted, OutOfBudget, SystemFailed
from ...relations.base import HOLDS, VIOLATED, JudgedGroups, Relation
from ...relations.check.runner import run_relation_check
from ...relations.shrink import find_usual_values
from ...runs.driver import CallCounter, drive
from ...runs.flow import Flow, Query
from ...space.features import Codes
from ...space.outputs import Outputs, Status
from ...space.points import Points
from ..case_text import extract_case, format_answer, format_case, format_share
from ..check import Check, CheckBudget, CheckFindings
from ..context import MAX_ROWS_PER_QUERY, CheckContext
from ..finding import Example, Finding
from ..region_text import describe_region

MAX_GIVEN_ROWS = 100_000  # given inputs that are asked
MAX_PROBES = 2_000  # made inputs: anywhere in the space, at its edges, in its corners
REASONS = {
    Status.ERROR: "an exception",
    Status.TIMEOUT: "no answer in time",
    Status.DIED: "its process ended",
    Status.MISSING: "NaN or None",
    Status.MALFORMED: "something that is no answer",
}


class Answers(Relation):
    """A system answers every case."""

    name = "answers"
    says = "every case gets an answer"

    def __init__(self, rows_per_query: int = MAX_ROWS_PER_QUERY) -> None:
        self.rows_per_query = rows_per_query

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Ask the cases in parts, as many as the budget allows."""
        parts: list[Outputs] = []
        for start in range(0, len(inputs), self.rows_per_query):
            part = inputs.take(slice(start, start + self.rows_per_query))
            try:
                parts.append((yield Query(part, progress=start / len(inputs), note=self.name)))
            except OutOfBudget:
                if not parts:
                    raise
                break
        outputs = Outputs.concat(parts)
        queries = inputs.take(slice(0, len(outputs)))
        verdicts = np.where(outputs.ok, HOLDS, VIOLATED).astype(np.int8)
        return JudgedGroups(np.arange(len(queries)), queries, queries, outputs, outputs, verdicts)


def make_probes(context: CheckContext, limit: int) -> Points:
    """Return inputs that nobody gave: real ones with a feature at its edge, corners of the space, and anything in it."""
    rng = np.random.default_rng([context.seed, 1])
    space, rows = context.space, context.inputs.codes
    lows, highs = (np.array([getattr(feature, end) for feature in space.features]) for end in ("low", "high"))
    lows, highs = (
        np.where(np.isfinite(bound), bound, extreme)
        for bound, extreme in zip((lows, highs), _find_ranges(rows), strict=True)
    )
    third = max(1, limit // 3)
    edges = rows[rng.integers(len(rows), size=third)].copy()
    columns = rng.integers(len(space), size=third)
    edges[np.arange(third), columns] = np.where(rng.random(third) < 0.5, lows[columns], highs[columns])
    corners = np.where(rng.random((third, len(space))) < 0.5, lows, highs)
    parts = [edges, corners]
    if (
        all(np.isfinite(feature.low) and np.isfinite(feature.high) for feature in space.features)
        and not space.keeps_constraints
    ):
        parts.append(space.sample(third, seed=rng, points=True).codes)
    codes = np.concatenate(parts)
    return Points(space, codes[space.satisfied(codes)] if space.keeps_constraints else codes)


def _find_ranges(codes: Codes) -> tuple[Codes, Codes]:
    known_codes = np.where(np.isnan(codes), 0.0, codes)
    return known_codes.min(axis=0), known_codes.max(axis=0)


def check_answers(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Ask the given inputs, then made ones, and those that got no answer before."""
    rows = context.count_affordable(budget.remaining(0.5), min(MAX_GIVEN_ROWS, len(context.inputs)))
    inputs, outputs = _query(context, budget, context.sample_inputs(rows))
    context.queries, context.answers = inputs, outputs
    if len(outputs) >= 5 and not outputs.ok.any():
        raise SystemFailed(
            f"{context.subject.name} gave no answer to any of {pluralize(len(outputs), 'row')}: {format_answer(outputs, 0)}."
        )
    findings = (
        _find_unanswered(context, budget, inputs, outputs, "given")
        + _find_unknown_labels(inputs, outputs)
        + _find_batch_failures(context)
    )
    basis = pluralize(len(outputs), "given input")
    try:
        probes, probe_outputs = _query(
            context, budget, make_probes(context, context.count_affordable(budget.remaining(0.7), MAX_PROBES))
        )
        findings += _find_unanswered(context, budget, probes, probe_outputs, "made")
        basis += f" and {pluralize(len(probe_outputs), 'made one')}, at the edges of the space and anywhere in it"
        if "answers" in context.known_failures:
            failures, failure_outputs = _query(context, budget, context.known_failures["answers"])
            findings += [] if findings else _find_unanswered(context, budget, failures, failure_outputs, "known")
    except Interrupted:
        raise
    except OutOfBudget:
        basis += "; there was no time for more"
    return CheckFindings(basis, findings)


def _query(context: CheckContext, budget: CheckBudget, points: Points) -> tuple[Points, Outputs]:
    """Return the inputs that there was time for, and their answers."""
    counter = CallCounter()
    flow = Answers(context.compute_query_rows()).check(points, np.random.default_rng(context.seed))
    try:
        groups = drive(
            flow, context.sut, tally=counter, budget=budget.remaining(0.7), **context.build_quiet_options()
        )
    finally:
        budget.add(counter)
    context.count_labels(groups.before)
    context.remarks += [remark for remark in counter.health.remarks if remark not in context.remarks]
    return points.take(slice(0, len(groups))), groups.before


def _find_unanswered(
    context: CheckContext, budget: CheckBudget, points: Points, outputs: Outputs, origin: str
) -> list[Finding]:
    """Return a finding if some inputs got no answer."""
    bad = np.flatnonzero(~outputs.ok)
    if not bad.size:
        return []
    case, answer = extract_case(points, int(bad[0])), format_answer(outputs, int(bad[0]))
    try:
        result = run_relation_check(
            Answers(),
            context.sut,
            points.take(bad[:20]),
            seed=context.seed,
            counter=budget.counter,
            budget=budget.remaining(0.5),
            usual_values=find_usual_values(context.inputs),
            **context.drive_options,
        )
        if result.smallest is not None and len(result.smallest):
            case, answer = extract_case(result.smallest.source, 0), format_answer(result.smallest.before, 0)
    except Interrupted:
        raise
    except OutOfBudget:
        pass  # the first will do
    region = describe_region(points, ~outputs.ok)
    statuses, counts = np.unique(outputs.status[bad], return_counts=True)
    status_counts = {Status(status): int(count) for status, count in zip(statuses.tolist(), counts, strict=True)}
    reasons = ", ".join(f"{REASONS[kind]} ({count:,})" for kind, count in status_counts.items())
    title = {
        "given": f"It gives no answer to {pluralize(bad.size, 'given input')}",
        "made": "It gives no answer in a part of the input space",
        "known": "It still gives no answer to inputs that it failed on before",
    }[origin]
    origin_text = {"given": "that were given", "made": "that were made", "known": "that it failed on before"}[
        origin
    ]
    return [
        Finding(
            check="answers",
            about=origin,
            title=title,
            level="fault",
            sure=1.0,
            detail=f"{format_share(bad.size, len(outputs), 'input')} {origin_text}: {reasons}."
            + (f" They lie where {region}." if region else ""),
            remedy="Refuse such inputs before the model is asked, or give it training data there. If they can never occur, "
            "declare the bounds of the features in a space and pass it with space=.",
            cases=int(bad.size),
            of=len(outputs),
            examples=(Example(words=f"{format_case(case)}: {answer}", case=case),),
        )
    ]


def _find_batch_failures(context: CheckContext) -> list[Finding]:
    """Return a finding if the system could not answer a batch, but each of its rows."""
    return [
        Finding(
            check="answers",
            about="batches",
            title="It fails on a batch, and answers its rows in smaller ones",
            level="fault",
            sure=1.0,
            detail=remark,
            remedy="Look at what it does with several rows at once: it may return too few answers, or take one row only. If it is "
            "a function of one case, say so: scalar=True.",
        )
        for remark in context.remarks[:1]
    ]


def _find_unknown_labels(points: Points, outputs: Outputs) -> list[Finding]:
    new = np.flatnonzero(outputs.status == Status.NEW_LABEL)
    if not new.size:
        return []
    labels = sorted({str(value) for value in outputs.values[new].tolist()})
    case = extract_case(points, int(new[0]))
    return [
        Finding(
            check="answers",
            about="labels",
            title=f"It answers labels that it does not declare: {', '.join(labels[:3])}",
            level="concern",
            sure=1.0,
            detail=f"{format_share(new.size, len(outputs))} got an answer that is none of the model's own classes.",
            remedy="Look at what makes labels of the model's output, and at the list of classes it carries.",
            cases=int(new.size),
            of=len(outputs),
            examples=(Example(words=f"{format_case(case)}: {format_answer(outputs, int(new[0]))}", case=case),),
        )
    ]


ANSWERS = Check(
    name="answers",
    question="Does it answer every input, given or made?",
    weight=4,
    find_skip_reason=lambda context: "",
    run=check_answers,
)
