"""Is it healthy: does it answer everything, the same way twice, whatever is asked beside and however it is written?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .._checks import plural
from ..errors import OutOfBudget, SystemFailed
from ..outputs import Outputs, Status
from ..relations.base import HOLDS, UNDEFINED, VIOLATED, Groups, Relation
from ..relations.predicting import ALONE, ORDERS, PREDICTING, Batches
from ..relations.shrinking import usual
from ..runs.drive import Tally, drive
from ..space.features import Codes
from ..space.points import Points
from ..strategies.flow import Flow, Question
from .asking import checked
from .checks import Check, Found, Turn
from .finding import Example, Finding, Level
from .given import Given
from .regions import told_region
from .words import brief, case_of, example_of, said, share, told_case

MOST_ROWS = 100_000  # given inputs that are asked
AT_ONCE = 5_000  # rows a question: between two of them the budget is looked at
PROBES = 2_000  # made inputs: anywhere in the space, at its edges, in its corners
REASONS = {
    Status.ERROR: "an exception",
    Status.TIMEOUT: "no answer in time",
    Status.DIED: "its process ended",
    Status.MISSING: "NaN or None",
    Status.MALFORMED: "something that is no answer",
}
BATCH = 200  # rows of the batch whose order is changed


class Answers(Relation):
    """A system answers every case."""

    name = "answers"
    says = "every case gets an answer"

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[Groups]:
        """Ask every case."""
        outputs = yield from _asked(inputs, self.name)
        inputs = inputs.take(slice(0, len(outputs)))
        verdicts = np.where(outputs.ok, HOLDS, VIOLATED).astype(np.int8)
        return Groups(np.arange(len(inputs)), inputs, inputs, outputs, outputs, verdicts)


def _asked(points: Points, note: str) -> Flow[Outputs]:
    """Ask rows in parts, as many as the budget allows."""
    answers: list[Outputs] = []
    for start in range(0, len(points), AT_ONCE):
        part = points.take(slice(start, start + AT_ONCE))
        try:
            answers.append((yield Question(part, done=start / len(points), note=note)))
        except OutOfBudget:
            if not answers:
                raise
            break
    return Outputs.concat(answers)


def probes(given: Given, most: int) -> Points:
    """Return inputs that nobody gave: real ones with a feature at its edge, corners of the space, and anything in it."""
    rng = np.random.default_rng([given.seed, 1])
    space, rows = given.space, given.inputs.codes
    lows, highs = (np.array([getattr(f, end) for f in space.features]) for end in ("low", "high"))
    lows, highs = (np.where(np.isfinite(e), e, r) for e, r in zip((lows, highs), _ranges(rows), strict=True))
    third = max(1, most // 3)
    edges = rows[rng.integers(len(rows), size=third)].copy()
    columns = rng.integers(len(space), size=third)
    edges[np.arange(third), columns] = np.where(rng.random(third) < 0.5, lows[columns], highs[columns])
    corners = np.where(rng.random((third, len(space))) < 0.5, lows, highs)
    parts = [edges, corners]
    if all(np.isfinite(f.low) and np.isfinite(f.high) for f in space.features) and not space.keeps_constraints:
        parts.append(space.sample(third, seed=rng, points=True).codes)
    codes = np.concatenate(parts)
    return Points(space, codes[space.satisfied(codes)] if space.keeps_constraints else codes)


def _ranges(codes: Codes) -> tuple[Codes, Codes]:
    known = np.where(np.isnan(codes), 0.0, codes)
    return known.min(axis=0), known.max(axis=0)


def answers(given: Given, turn: Turn) -> Found:
    """Ask the given inputs, then made ones."""
    seconds = turn.budget.seconds
    rows = given.pace.rows(None if seconds is None else seconds * 0.6, min(MOST_ROWS, len(given.inputs)))
    inputs = given.some(rows)
    outputs = _drive(given, turn, inputs, 0.7)
    given.answers = outputs
    given.saw(outputs)
    inputs = given.asked = inputs.take(slice(0, len(outputs)))
    if len(outputs) >= 5 and not outputs.ok.any():
        raise SystemFailed(
            f"{given.subject.name} gave no answer to any of {plural(len(outputs), 'row')}: {said(outputs, 0)}."
        )
    made = probes(given, given.pace.rows(turn.left(0.7).seconds, PROBES, fewest=30))
    if "answers" in given.remembered:
        made = Points.concat([given.remembered["answers"], made])
    beyond = _drive(given, turn, made, 0.7)
    given.saw(beyond)
    made = made.take(slice(0, len(beyond)))
    findings = _silent(given, turn, inputs, outputs, "given") + _silent(given, turn, made, beyond, "made")
    findings += _unknown_labels(inputs, outputs)
    return Found(
        f"{plural(len(outputs), 'given input')} and {plural(len(beyond), 'made one')}, at the edges of the space and "
        "anywhere in it",
        findings,
    )


def _drive(given: Given, turn: Turn, points: Points, part: float) -> Outputs:
    tally = Tally()
    try:
        return drive(_asked(points, "answers"), given.sut, tally=tally, budget=turn.left(part), **given.quiet())
    finally:
        turn.add(tally)


def _silent(given: Given, turn: Turn, points: Points, outputs: Outputs, which: str) -> list[Finding]:
    """Return a finding if some inputs got no answer."""
    bad = np.flatnonzero(~outputs.ok)
    if not bad.size:
        return []
    result = checked(
        Answers(), given.sut, points.take(bad[:50]), seed=given.seed, tally=turn.tally,
        budget=turn.left(0.5), ordinary=usual(given.inputs), **given.driving,
    )  # fmt: skip
    smallest = result.smallest
    where = told_region(points, ~outputs.ok)
    statuses, counts = np.unique(outputs.status[bad], return_counts=True)
    kinds = {Status(status): int(count) for status, count in zip(statuses.tolist(), counts, strict=True)}
    told = ", ".join(f"{REASONS[kind]} ({count:,})" for kind, count in kinds.items())
    examples: tuple[Example, ...] = ()
    if smallest is not None and len(smallest):
        case = case_of(smallest.source, 0)
        examples = (Example(f"{told_case(case)}: {said(smallest.before, 0)}", case),)
    of = "inputs that were given" if which == "given" else "inputs that were made"
    title = (
        f"It gives no answer to {plural(bad.size, 'given input')}"
        if which == "given"
        else "It gives no answer in a part of the input space"
    )
    return [
        Finding(
            "answers", which, title, "fault", 1.0,
            f"{share(bad.size, len(outputs))} of the {of}: {told}."
            + (f" They lie where {where}." if where else ""),
            "Refuse such inputs before the model is asked, or give it training data there. If they can never occur, "
            "declare the bounds of the features in a space and pass it with space=.",
            int(bad.size), len(outputs), examples,
        )
    ]  # fmt: skip


def _unknown_labels(points: Points, outputs: Outputs) -> list[Finding]:
    new = np.flatnonzero(outputs.status == Status.NEW_LABEL)
    if not new.size:
        return []
    labels = sorted({str(value) for value in outputs.values[new].tolist()})
    case = case_of(points, int(new[0]))
    return [
        Finding(
            "answers", "labels", f"It answers labels that it does not declare: {', '.join(labels[:3])}", "concern", 1.0,
            f"{share(new.size, len(outputs))} got an answer that is none of the model's own classes.",
            "Look at what makes labels of the model's output, and at the list of classes it carries.",
            int(new.size), len(outputs), (Example(f"{told_case(case)}: {said(outputs, int(new[0]))}", case),),
        )
    ]  # fmt: skip


# -- relations that every model keeps -------------------------------------------------------------------------

#: level, title and remedy of a violation of each relation
ABOUT: dict[str, tuple[Level, str, str]] = {
    "repeats": (
        "fault",
        "The same case gets different answers",
        "Fix the seeds of everything random in prediction (dropout, sampling, Monte Carlo), and let no call change "
        "the state of the model. Until then every other result here is partly chance.",
    ),
    "row order": (
        "fault",
        "The answer depends on where a case stands in the batch",
        "Look for state that is carried from row to row, for ranks, sorting or alignment inside a batch, and for an "
        "index that is joined by position.",
    ),
    "batches": (
        "fault",
        "A case gets another answer alone than among others",
        "Look for statistics that are taken from the batch at prediction time (a mean, a scaler that is fitted again, "
        "batch normalisation in training mode). They belong into training.",
    ),
    "column order": (
        "concern",
        "Columns are read by their place, not by their name",
        "Select the columns by name before the model is asked, or refuse a frame whose columns stand in another order.",
    ),
    "row labels": (
        "fault",
        "The answer depends on the labels of the rows",
        "Somewhere a result is aligned by the index of the frame. Reset the index first, or compute with arrays.",
    ),
    "number types": (
        "concern",
        "Whole numbers written as floats get another answer",
        "Convert the columns to one type before the model is asked: a missing value or a join turns ints into floats.",
    ),
}


def _kept(name: str, given: Given, turn: Turn) -> Found:
    """Put one of the relations that every model keeps to the system."""
    relation: Relation = PREDICTING[name]
    seconds = turn.budget.seconds
    if name == "batches":
        alone = given.pace.calls(None if seconds is None else seconds / 3, ALONE)
        relation = Batches(alone)
    asks = {"repeats": 2, "row order": ORDERS + 1, "batches": 3}.get(name, 2)
    most = min(BATCH, given.sut.batch_rows)
    inputs = given.some(given.pace.rows(None if seconds is None else seconds / (2 * asks), most, fewest=2))
    result = checked(
        relation, given.sut, inputs, seed=given.seed, tally=turn.tally, budget=turn.left(), **given.driving
    )
    groups = result.groups
    cases = len(np.unique(groups.rows[groups.verdicts == VIOLATED]))
    of = len(np.unique(groups.rows[groups.verdicts <= VIOLATED]))
    rests = f"{plural(of, 'case')}, {plural(groups.judged, 'comparison')}"
    if cases and relation.whole:
        given.shaky = True
        given.unstable |= name == "repeats"
    if not of:
        refused = len(groups) and groups.count(UNDEFINED) == 0
        return Found("it refuses such frames, which is safe" if refused else "no case could be judged")
    if not cases:
        return Found(rests)
    level, title, remedy = ABOUT[name]
    smallest = result.smallest if result.smallest is not None and len(result.smallest) else groups.violations
    among = 0 if smallest.among is None else len(smallest.among)
    batch = f" in a batch of {plural(among, 'row')}"
    how = {
        "repeats": (" when it is first asked", "and when it is asked again"),
        "row order": (batch, "and when its rows stand in another order"),
        "batches": (batch, "and when it is asked in a smaller one"),
    }.get(name, ("", "and written in the other way"))
    finding = Finding(
        name, "", title, level, 1.0, f"The promise: {relation.says}. {share(cases, of)} break it.", remedy, cases, of,
        (example_of(smallest, 0, how),),
    )  # fmt: skip
    return Found(rests, [finding])


def _check_of(name: str, asks: str, weight: float) -> Check:
    def why_not(given: Given) -> str:
        if name != "repeats" and given.unstable:
            return "answers do not repeat, so nothing can be told from asking in another way"
        if name in ("row order", "batches") and getattr(given.sut, "scalar", False):
            return "the function takes one case at a time"
        return PREDICTING[name].why_not(given.sut, given.inputs)

    return Check(name, asks, weight, why_not, lambda given, turn: _kept(name, given, turn), of_asking=True)


def classes(given: Given, turn: Turn) -> Found:
    """Compare the classes that are declared with those that were ever answered."""
    seen, known = given.labels_seen, list(given.sut.labels or ())
    truth = given.truth
    in_data = Counter(truth.tolist() if truth is not None else ())
    expected = list(dict.fromkeys([*known, *in_data]))
    total = sum(seen.values())
    findings = []
    for label in expected:
        if label in seen:
            continue
        count = in_data.get(label)
        there = (
            f"{count:,} of {in_data.total():,} labels of the data are {brief(label)}, and"
            if count
            else "It is declared, and"
        )
        findings.append(
            Finding(
                "classes", str(label), f"The class {brief(label)} is never predicted", "concern", 0.95 if count else 0.8,
                f"{there} none of {plural(total, 'answer')} is: not to the given inputs, not at the edges of the space, not "
                "along its borders.",
                "See whether the class is too rare or lost on the way (a wrong encoding of labels, a threshold, weights). "
                "If it cannot be told apart, say so to whoever relies on it.",
                0, 0,
            )
        )  # fmt: skip
    if given.answers is not None and len(given.answers) >= 10:
        ok = given.answers.take(np.flatnonzero(given.answers.ok))
        first = {str(value) for value in ok.values[:1].tolist()}
        if len(ok) >= 10 and not findings and len({str(value) for value in ok.values.tolist()} - first) == 0:
            findings.append(
                Finding(
                    "classes", "one", f"Every given input gets the same answer: {brief(ok.values[0])}", "concern", 0.9,
                    f"{plural(len(ok), 'input')} were asked.",
                    "Give inputs of all classes; if these are, the model has learned nothing from them.",
                    len(ok), len(ok),
                )
            )  # fmt: skip
    return Found(f"{plural(len(seen), 'class', 'classes')} in {plural(total, 'answer')}", findings)


def _no_classes(given: Given) -> str:
    if given.subject.numbers or not given.labels_seen:
        return "the answers are numbers"
    return "" if given.answers is not None else "the system was not asked"


REPEATS = _check_of("repeats", "Does the same case get the same answer when it is asked again?", 1)
ANSWERS = Check("answers", "Does it answer every input, given or made?", 4, lambda given: "", answers)
BATCHES: Sequence[Check] = (
    _check_of("row order", "Does a case get the same answer wherever it stands in a batch?", 1),
    _check_of("batches", "Does a case get the same answer alone as among others?", 2),
    _check_of("column order", "Are columns read by their names?", 0.5),
    _check_of("row labels", "Are the labels of rows left alone?", 0.5),
    _check_of("number types", "Are whole numbers the same numbers as floats?", 0.5),
)
CLASSES = Check("classes", "Is every class predicted somewhere?", 0.1, _no_classes, classes, needs=("answers",))
