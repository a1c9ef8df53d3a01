"""Does it answer every input, given or made?"""

from __future__ import annotations

import numpy as np

from .._checks import plural
from ..errors import Interrupted, OutOfBudget, SystemFailed
from ..outputs import Outputs, Status
from ..relations.base import HOLDS, VIOLATED, Groups, Relation
from ..relations.shrinking import usual
from ..runs.drive import Tally, drive
from ..space.features import Codes
from ..space.points import Points
from ..strategies.flow import Flow, Question
from ..verdicts.asking import checked
from .checks import Check, Found, Turn
from .finding import Example, Finding
from .given import MOST_AT_ONCE, Given
from .regions import told_region
from .words import case_of, said, share, told_case

MOST_ROWS = 100_000  # given inputs that are asked
PROBES = 2_000  # made inputs: anywhere in the space, at its edges, in its corners
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

    def __init__(self, at_once: int = MOST_AT_ONCE) -> None:
        self.at_once = at_once

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[Groups]:
        """Ask the cases in parts, as many as the budget allows."""
        parts: list[Outputs] = []
        for start in range(0, len(inputs), self.at_once):
            part = inputs.take(slice(start, start + self.at_once))
            try:
                parts.append((yield Question(part, done=start / len(inputs), note=self.name)))
            except OutOfBudget:
                if not parts:
                    raise
                break
        outputs = Outputs.concat(parts)
        asked = inputs.take(slice(0, len(outputs)))
        verdicts = np.where(outputs.ok, HOLDS, VIOLATED).astype(np.int8)
        return Groups(np.arange(len(asked)), asked, asked, outputs, outputs, verdicts)


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
    """Ask the given inputs, then made ones, and those that got no answer before."""
    rows = given.afford(turn.left(0.5), min(MOST_ROWS, len(given.inputs)))
    inputs, outputs = _asked(given, turn, given.some(rows))
    given.asked, given.answers = inputs, outputs
    if len(outputs) >= 5 and not outputs.ok.any():
        raise SystemFailed(
            f"{given.subject.name} gave no answer to any of {plural(len(outputs), 'row')}: {said(outputs, 0)}."
        )
    findings = _silent(given, turn, inputs, outputs, "given") + _unknown_labels(inputs, outputs) + _in_parts(given)
    rests = plural(len(outputs), "given input")
    try:
        made, beyond = _asked(given, turn, probes(given, given.afford(turn.left(0.7), PROBES)))
        findings += _silent(given, turn, made, beyond, "made")
        rests += f" and {plural(len(beyond), 'made one')}, at the edges of the space and anywhere in it"
        if "answers" in given.remembered:
            known, again = _asked(given, turn, given.remembered["answers"])
            findings += [] if findings else _silent(given, turn, known, again, "known")
    except Interrupted:
        raise
    except OutOfBudget:
        rests += "; there was no time for more"
    return Found(rests, findings)


def _asked(given: Given, turn: Turn, points: Points) -> tuple[Points, Outputs]:
    """Return the inputs that there was time for, and their answers."""
    tally = Tally()
    flow = Answers(given.at_once()).check(points, np.random.default_rng(given.seed))
    try:
        groups = drive(flow, given.sut, tally=tally, budget=turn.left(0.7), **given.quiet())
    finally:
        turn.add(tally)
    given.saw(groups.before)
    given.remarks += [remark for remark in tally.health.remarks if remark not in given.remarks]
    return points.take(slice(0, len(groups))), groups.before


def _silent(given: Given, turn: Turn, points: Points, outputs: Outputs, which: str) -> list[Finding]:
    """Return a finding if some inputs got no answer."""
    bad = np.flatnonzero(~outputs.ok)
    if not bad.size:
        return []
    case, words = case_of(points, int(bad[0])), said(outputs, int(bad[0]))
    try:
        result = checked(
            Answers(), given.sut, points.take(bad[:20]), seed=given.seed, tally=turn.tally,
            budget=turn.left(0.5), ordinary=usual(given.inputs), **given.driving,
        )  # fmt: skip
        if result.smallest is not None and len(result.smallest):
            case, words = case_of(result.smallest.source, 0), said(result.smallest.before, 0)
    except Interrupted:
        raise
    except OutOfBudget:
        pass  # the first will do
    where = told_region(points, ~outputs.ok)
    statuses, counts = np.unique(outputs.status[bad], return_counts=True)
    kinds = {Status(status): int(count) for status, count in zip(statuses.tolist(), counts, strict=True)}
    told = ", ".join(f"{REASONS[kind]} ({count:,})" for kind, count in kinds.items())
    title = {
        "given": f"It gives no answer to {plural(bad.size, 'given input')}",
        "made": "It gives no answer in a part of the input space",
        "known": "It still gives no answer to inputs that it failed on before",
    }[which]
    of = {"given": "that were given", "made": "that were made", "known": "that it failed on before"}[which]
    return [
        Finding(
            "answers", which, title, "fault", 1.0,
            f"{share(bad.size, len(outputs), 'input')} {of}: {told}." + (f" They lie where {where}." if where else ""),
            "Refuse such inputs before the model is asked, or give it training data there. If they can never occur, "
            "declare the bounds of the features in a space and pass it with space=.",
            int(bad.size), len(outputs), (Example(f"{told_case(case)}: {words}", case),),
        )
    ]  # fmt: skip


def _in_parts(given: Given) -> list[Finding]:
    """Return a finding if the system could not answer a batch, but each of its rows."""
    return [
        Finding(
            "answers", "batches", "It fails on a batch, and answers its rows in smaller ones", "fault", 1.0, remark,
            "Look at what it does with several rows at once: it may return too few answers, or take one row only. If it is "
            "a function of one case, say so: scalar=True.",
        )
        for remark in given.remarks[:1]
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


ANSWERS = Check("answers", "Does it answer every input, given or made?", 4, lambda given: "", answers)
