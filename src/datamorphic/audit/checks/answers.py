"""Check whether the system answers every input, given or generated."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..._text import pluralise
from ...core.result import Example, Finding, count_rows, format_share
from ...errors import BudgetSpent, OutOfBudget, SystemFailed
from ...relations.algebra.base import HOLDS, VIOLATED, JudgedGroups, Relation
from ...relations.algebra.shrink import find_usual_values
from ...relations.check.runner import run_relation_check
from ...runs.flow import Flow, Query
from ...space import geometry
from ...space.features import Categorical
from ...space.outputs import Outputs, Status
from ...space.points import Points
from ...space.text_feature import Text
from ...trees.read import read_trees
from ...trees.rules import find_box, format_rule
from ..case_text import extract_case, format_answer, format_case
from ..check import CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext

EMPTY_TEXT = ""
#: emoji, other scripts, markup, and many words
ODD_TEXT = (
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u05e9\u05dc\u05d5\u05dd <b>&amp;</b> \u65e5\u672c " + "word " * 1000
)
MAX_GIVEN_ROWS = 100_000
MAX_PROBES = 2_000  # generated inputs
MAX_QUERY_SECONDS = 1.0  # the budget is looked at between queries
MAX_ROWS_PER_QUERY = 5_000
MAX_SHRUNK_CASES = 20  # unanswered inputs of which the smallest example is sought
MAX_REGION_ROWS = 20_000  # that separate unanswered inputs from the others
MIN_REGION_INPUTS = 5
MIN_PRECISION_AND_RECALL = 0.8  # of the conditions that describe a region
MIN_ROWS_TO_FAIL = 5  # if none of as many rows is answered, the audit ends
STATUS_NAMES = {
    Status.ERROR: "an error is raised",
    Status.TIMEOUT: "no answer in time",
    Status.DIED: "its process ended",
    Status.REFUSED: "it is refused",
    Status.MISSING: "NaN or None is returned",
    Status.MALFORMED: "the answer is invalid",
}


#: Where inputs come from, as findings name it in `about`.
Origin = Literal["given", "made", "known"]
TITLES: dict[Origin, str] = {
    "given": "The model gives no answer to some given rows",
    "made": "The model gives no answer to some possible inputs",
    "known": "It still gives no answer to inputs that it failed on before",
}
REGION_TITLES: dict[Origin, str] = {
    "given": "The model gives no answer where {region}",
    "made": "The model gives no answer to possible inputs where {region}",
    "known": "It still gives no answer where {region}",
}
NOUNS: dict[Origin, str] = {"given": "given row", "made": "generated input", "known": "input that failed before"}
NOUN_PLURALS: dict[Origin, str] = {"known": "inputs that failed before"}


class Answers(Relation):
    """The relation that every case gets an answer."""

    name = "answers"
    statement = "every case gets an answer"

    def __init__(self, rows_per_query: int = MAX_ROWS_PER_QUERY) -> None:
        self.rows_per_query = rows_per_query

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query the cases in parts, as many as the budget allows."""
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
        return JudgedGroups(
            rows=np.arange(len(queries)),
            source=queries,
            follow_up=queries,
            before=outputs,
            after=outputs,
            verdicts=verdicts,
        )


def make_probes(context: CheckContext, limit: int) -> Points:
    """Return generated inputs: given ones with one feature at its bound, corners of the space, and random ones.

    They keep the relations between columns that the data keep.
    """
    rng = np.random.default_rng([context.seed, 1])
    space, rows = context.space, context.inputs.codes
    lows, highs = (np.array([getattr(feature, end) for feature in space.features]) for end in ("low", "high"))
    for column, feature in enumerate(space.features):
        if isinstance(feature, Text):
            lows[column], highs[column] = feature.encode_texts([EMPTY_TEXT, ODD_TEXT])
    known_codes = np.where(np.isnan(rows), 0.0, rows)
    lows = np.where(np.isfinite(lows), lows, known_codes.min(axis=0))
    highs = np.where(np.isfinite(highs), highs, known_codes.max(axis=0))
    third = max(1, limit // 3)
    origins = rows[rng.integers(len(rows), size=third)]
    edges = origins.copy()
    columns = rng.integers(len(space), size=third)
    edges[np.arange(third), columns] = np.where(rng.random(third) < 0.5, lows[columns], highs[columns])
    corners = np.where(rng.random((third, len(space))) < 0.5, lows, highs)
    plausible = context.plausible_space
    parts = [geometry.repair(plausible, edges, origins), geometry.repair(plausible, corners, corners)]
    if (
        all(np.isfinite(feature.low) and np.isfinite(feature.high) for feature in space.features)
        and not space.keeps_constraints
    ):
        drawn = space.sample(third, seed=rng, points=True).codes
        parts.append(geometry.repair(plausible, drawn, drawn))
    codes = np.concatenate(parts)
    return Points(space, codes[plausible.satisfied(codes)] if plausible.keeps_constraints else codes)


def check_answers(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Query the given inputs, then generated ones, then those that got no answer in earlier runs."""
    rows = context.count_affordable(budget.remaining(0.5), min(MAX_GIVEN_ROWS, len(context.inputs)))
    inputs, outputs = _query(context, budget, context.sample_inputs(rows))
    context.queries, context.answers = inputs, outputs
    context.query_rows = context.sample_rows(rows)[: len(outputs)]
    context.match_labels()
    if len(outputs) >= MIN_ROWS_TO_FAIL and not outputs.ok.any():
        rows_text = pluralise(len(outputs), "row")
        message = f"{context.subject.name} gave no answer to any of {rows_text}: {format_answer(outputs, 0)}."
        raise SystemFailed(f"{message} {context.sut.hint}".strip())
    findings = (
        _find_unanswered(context, budget, inputs, outputs, "given")
        + _find_unknown_labels(inputs, outputs)
        # the system failed on a batch although it answers each of its rows
        + [Finding(**get_facts("answers.batch"), detail=remark) for remark in context.remarks[:1]]
    )
    basis = pluralise(len(outputs), "given input")
    try:
        probes, probe_outputs = _query(
            context, budget, make_probes(context, context.count_affordable(budget.remaining(0.7), MAX_PROBES))
        )
        for finding in _find_unanswered(context, budget, probes, probe_outputs, "made"):
            if not any(_is_same_fault(finding, other) for other in findings):
                findings.append(finding)
        basis += f" and {pluralise(len(probe_outputs), 'generated one')}, at the bounds of the space and inside it"
        if "answers" in context.known_failures:
            failures, failure_outputs = _query(context, budget, context.known_failures["answers"])
            if not findings:
                findings += _find_unanswered(context, budget, failures, failure_outputs, "known")
    except BudgetSpent:
        basis += "; there was no time for more"
    return CheckFindings(basis=basis, findings=findings)


def _query(context: CheckContext, budget: CheckBudget, points: Points) -> tuple[Points, Outputs]:
    """Return the inputs that the budget allowed, and their answers."""
    rows_per_query = np.clip(context.count_rows_within(MAX_QUERY_SECONDS), 1, MAX_ROWS_PER_QUERY)
    flow = Answers(int(rows_per_query)).check(points, np.random.default_rng(context.seed))
    groups = run_flow(context, budget, flow, part=0.7)
    context.count_labels(groups.before)
    return points.take(slice(0, len(groups))), groups.before


def _find_unanswered(
    context: CheckContext, budget: CheckBudget, points: Points, outputs: Outputs, origin: Origin
) -> list[Finding]:
    """Return a finding if some inputs got no answer."""
    unanswered = np.flatnonzero(~outputs.ok)
    if not unanswered.size:
        return []
    case, answer = extract_case(points, int(unanswered[0])), format_answer(outputs, int(unanswered[0]))
    try:
        result = run_relation_check(
            Answers(),
            context.sut,
            points.take(unanswered[:MAX_SHRUNK_CASES]),
            seed=context.seed,
            counter=budget.counter,
            budget=budget.remaining(0.5),
            usual_values=find_usual_values(context.inputs),
            plausible_space=context.plausible_space,
            **context.drive_options,
        )
        if result.smallest is not None and len(result.smallest):
            case, answer = extract_case(result.smallest.source, 0), format_answer(result.smallest.before, 0)
    except BudgetSpent:
        pass  # the first case serves as the example
    region, columns = find_region(points, ~outputs.ok)
    statuses, counts = np.unique(outputs.status[unanswered], return_counts=True)
    status_counts = {Status(status): int(count) for status, count in zip(statuses.tolist(), counts, strict=True)}
    reasons = " or ".join(STATUS_NAMES[status] for status in status_counts)
    if len(status_counts) > 1:
        reasons = ", ".join(f"{STATUS_NAMES[status]} ({count:,})" for status, count in status_counts.items())
    share = format_share(unanswered.size, len(outputs), NOUNS[origin], NOUN_PLURALS.get(origin))
    return [
        Finding(
            **get_facts("answers.none"),
            about=origin,
            title=REGION_TITLES[origin].format(region=region) if region else TITLES[origin],
            detail=f"{share} get no answer: {reasons}." + (f" Nearly all of them have {region}." if region else ""),
            cases=int(unanswered.size),
            cases_tried=len(outputs),
            columns=columns,
            examples=(Example(text=f"{format_case(case)}: {answer}", case=case),),
            affected_rows=int(unanswered.size) if origin == "given" else 0,
            rows=len(outputs) if origin == "given" else 0,
            inputs="given" if origin == "given" else "made",
        )
    ]


def _is_same_fault(finding: Finding, other: Finding) -> bool:
    """Tell whether a finding about generated inputs says the same as one about given rows."""
    if other.about != "given":
        return False
    if finding.columns and other.columns:
        return bool(set(finding.columns) & set(other.columns))
    return finding.columns == other.columns


def find_region(points: Points, inside: npt.NDArray[np.bool_]) -> tuple[str, tuple[str, ...]]:
    """Return one or two conditions that separate the inputs `inside` from the others, and their features.

    Both are empty if no such conditions reach the required precision and recall.

    Examples
    --------
    >>> import datamorphic as dm
    >>> points = dm.Space([dm.Continuous("x", 0, 1), dm.Continuous("y", 0, 1)]).sample(2000, points=True)
    >>> find_region(points, (points.codes > 0.75).all(axis=1))
    ('y > 0.75 and x > 0.75', ('y', 'x'))
    """
    from sklearn.tree import DecisionTreeClassifier

    if inside.sum() < MIN_REGION_INPUTS or inside.all():
        return "", ()
    rows = np.arange(len(points))
    if len(rows) > MAX_REGION_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(rows))[:MAX_REGION_ROWS])
    columns_to_split = [column for column, feature in enumerate(points.space.features) if feature.kind != "text"]
    if not columns_to_split:
        return "", ()
    codes, inside = points.codes[rows][:, columns_to_split], inside[rows]
    for depth in (1, 2):  # one condition if that suffices
        model = DecisionTreeClassifier(max_depth=depth, class_weight="balanced", random_state=0).fit(codes, inside)
        leaves = model.apply(codes)
        counts = np.bincount(leaves, weights=inside)
        leaf = int(counts.argmax())
        if (
            counts[leaf] >= MIN_PRECISION_AND_RECALL * inside.sum()
            and inside[leaves == leaf].mean() >= MIN_PRECISION_AND_RECALL
        ):
            break
    else:
        return "", ()
    features = points.space.features
    names = [points.space.names[column] for column in columns_to_split]
    categories = {feature.name: feature.values for feature in features if isinstance(feature, Categorical)}
    tree = read_trees(model)[0].with_names(names)
    # The thresholds are estimates: more digits would mean nothing.
    thresholds = np.array([float(f"{threshold:.3g}") for threshold in tree.threshold.tolist()])
    missing = {name for column, name in enumerate(names) if np.isnan(codes[:, column]).any()}
    columns = tuple(tree.names[column] for column in find_box(tree, leaf))
    return format_rule(replace(tree, threshold=thresholds), leaf, missing=missing, categories=categories), columns


def _find_unknown_labels(points: Points, outputs: Outputs) -> list[Finding]:
    new = np.flatnonzero(outputs.status == Status.NEW_LABEL)
    if not new.size:
        return []
    labels = sorted({str(value) for value in outputs.values[new].tolist()})
    case = extract_case(points, int(new[0]))
    return [
        Finding(
            **get_facts("answers.label"),
            title=f"The model predicts labels that it does not declare: {', '.join(labels[:3])}",
            detail=f"{format_share(new.size, len(outputs), 'given row')} get a label that is not one of the model's classes.",
            **count_rows(int(new.size), len(outputs), "case"),
            examples=(Example(text=f"{format_case(case)}: {format_answer(outputs, int(new[0]))}", case=case),),
        )
    ]


ANSWERS = make_check("answers", check_answers, lambda context: "")
