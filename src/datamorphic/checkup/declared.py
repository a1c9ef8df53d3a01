"""Does it keep what was declared: one way only, not at all, not because of who somebody is?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from .._checks import plural
from ..errors import OutOfBudget
from ..fronts.reading import answers
from ..relations.base import VIOLATED, Groups, Relation
from ..relations.shrinking import shrunk
from ..relations.sweeping import MOST_VALUES, Swept, sweep
from ..relations.sweeps import Invariant, Monotone
from ..reports.summary import Line, Section, Table
from ..runs.drive import Tally, drive
from ..space.points import Points
from .asking import checked
from .checks import Check, Found, Turn
from .finding import Example, Finding
from .given import Given
from .words import brief, case_of, example_of, said, share, told_case

MOST_CASES = 1_000
MOST_EXAMPLES = 3


def _cases(given: Given, turn: Turn, check: str, promises: int, values: int = MOST_VALUES) -> Points:
    """Return as many of the inputs as can be tried with every value within the time of one promise."""
    seconds = turn.budget.seconds
    most = given.pace.rows(
        None if seconds is None else 0.6 * seconds / promises, MOST_CASES * values, fewest=2 * values
    )
    if turn.budget.runs is not None:
        most = min(most, turn.budget.runs // (2 * promises))
    return given.some(max(2, most // values), check)


def monotone(given: Given, turn: Turn) -> Found:
    """Try the declared directions."""
    relations: list[Monotone] = given.promises.monotone_relations()
    findings, sections, tried, left_out = [], [], 0, []
    for i, relation in enumerate(relations):
        why = relation.why_not(given.sut, given.inputs)
        if why:
            left_out.append(why)
            continue
        inputs = _cases(given, turn, "monotone", len(relations))
        result = checked(
            relation, given.sut, inputs, seed=given.seed, tally=turn.tally, budget=turn.left(1 / (len(relations) - i)),
            **given.driving,
        )  # fmt: skip
        groups = result.groups
        tried += groups.judged
        violated = groups.count(VIOLATED)
        if not violated:
            continue
        found = groups.violations
        flips = int((~found.before.same(found.after)).sum())
        flipped = f" In {flips:,} of them the answer itself changes." if not given.subject.numbers else ""
        shown = result.smallest if result.smallest is not None and len(result.smallest) else found
        findings.append(
            Finding(
                "monotone", relation.feature, f"More {relation.feature} can {_against(relation)}",
                "fault" if flips or given.subject.numbers else "concern", 1.0,
                f"Declared: {relation.says}. {share(violated, groups.judged)} have a value of {relation.feature} from which "
                f"a step {'up' if relation.sign > 0 else 'down'} goes the wrong way, all else equal.{flipped}",
                "Fit the model with a monotone constraint on this feature (monotonic_cst, monotone_constraints), give it "
                "more data there, or withdraw the promise.",
                violated, groups.judged, (_fall(result.relation, shown, given.subject.numbers),),
            )
        )  # fmt: skip
        sections += _curve(given, turn, result.relation, shown)
    rests = f"{plural(len(relations) - len(left_out), 'declared direction')}, {plural(tried, 'case')}"
    return Found("; ".join([rests, *left_out]), findings, sections)


def _fall(relation: Relation, groups: Groups, numbers: bool) -> Example:
    """Return the smallest step the wrong way, with the scores where the answer itself does not tell it."""
    assert isinstance(relation, Monotone)
    found = example_of(groups)
    if numbers:
        return found
    before, after = (relation.level(outputs.take(slice(0, 1)))[0] for outputs in (groups.before, groups.after))
    return replace(found, words=f"{found.words}; its score goes from {before:.4g} to {after:.4g}")


def _against(relation: Monotone) -> str:
    falls = relation.sign > 0
    if relation.towards is None:
        return "lower the answer" if falls else "raise the answer"
    return f"speak {'against' if falls else 'for'} {relation.towards}"


def _curve(given: Given, turn: Turn, relation: Relation, groups: Groups) -> list[Section]:
    """Return a picture of the answer to one case along the feature."""
    assert isinstance(relation, Monotone)
    source = groups.source.take(slice(0, 1))
    assert isinstance(source, Points)
    tally = Tally()
    try:
        swept = drive(
            sweep(source, relation.feature, relation.tried, scores=True),
            given.sut,
            tally=tally,
            budget=turn.left(),
            **given.quiet(),
        )
    except OutOfBudget:
        return []
    turn.add(tally)
    known = np.flatnonzero(swept.known[0])
    level = relation.level(swept.outputs)[known]
    column = swept.points(np.zeros(len(known), dtype=np.intp), known).frame[relation.feature].tolist()
    labels = (
        [said(swept.outputs, int(place)) for place in known]
        if not given.subject.numbers
        else ["answer"] * len(known)
    )
    what = "answer" if given.subject.numbers else "score"
    case = {name: value for name, value in case_of(source, 0).items() if name != relation.feature}
    return [
        Section(
            f"The {what} as {relation.feature} rises, all else equal",
            f"One case: {told_case(case)}. It was declared that {relation.says}.",
            picture=Line(
                f"{what} along {relation.feature}", relation.feature, what, [float(each) for each in level],
                labels, [f"{relation.feature} {value}" for value in column],
                steps=swept.values[0, known].tolist() if swept.inputs.space[relation.feature].kind != "categorical" else (),
            ),
        )
    ]  # fmt: skip


def invariant(given: Given, turn: Turn) -> Found:
    """Try the features that must not matter."""
    relations: list[Relation] = [*given.promises.invariant_relations(), *given.promises.relations]
    unseen = [name for name in given.promises.invariant if name not in given.space.names]
    relations = [each for each in relations if not set(each.about) & set(unseen)]
    findings, tried, left_out = [], 0, [f"{name} is no input of the model" for name in unseen]
    for i, relation in enumerate(relations):
        why = relation.why_not(given.sut, given.inputs)
        if why:
            left_out.append(f"{relation.name}: {why}")
            continue
        values = MOST_VALUES if isinstance(relation, Invariant) else 2
        inputs = _cases(given, turn, "invariant", len(relations), values)
        result = checked(
            relation, given.sut, inputs, seed=given.seed, tally=turn.tally, budget=turn.left(1 / (len(relations) - i)),
            **given.driving,
        )  # fmt: skip
        groups = result.groups
        tried += groups.judged
        violated = groups.count(VIOLATED)
        if not violated:
            continue
        smallest = result.smallest if result.smallest is not None and len(result.smallest) else groups.violations
        declared = isinstance(relation, Invariant)
        findings.append(
            Finding(
                "invariant", relation.feature if isinstance(relation, Invariant) else relation.name,
                f"The answer hangs on {relation.feature}, which should not matter" if isinstance(relation, Invariant)
                else f"A promise is broken: {relation.name}",
                "fault" if declared or relation.necessary else "concern", 1.0,
                f"Declared: {relation.says or relation.name}. {share(violated, groups.judged)} break it.",
                "Take the feature out of the model, or withdraw the promise." if declared
                else "Mend the model, or withdraw the promise.",
                violated, groups.judged, (example_of(smallest),),
            )
        )  # fmt: skip
    rests = f"{plural(len(relations) + len(unseen) - len(left_out), 'promise')}, {plural(tried, 'case')}"
    return Found("; ".join([rests, *left_out]), findings)


def protected(given: Given, turn: Turn) -> Found:
    """Change a protected attribute alone, and count the decisions that change with it."""
    unseen = [name for name in given.promises.protected if name not in given.space.names]
    names = [name for name in given.promises.protected if name not in unseen]
    findings, sections, tried, left_out = [], [], 0, [f"{name} is no input of the model" for name in unseen]
    for i, name in enumerate(names):
        relation = Invariant(name)
        why = relation.why_not(given.sut, given.inputs)
        if why:
            left_out.append(why)
            continue
        inputs = _cases(given, turn, "protected", len(names))
        tally, quiet = Tally(), given.quiet()
        relation = relation.fitted_to(given.sut, inputs)
        flow = sweep(inputs, name, relation.tried, note=f"protected {name}")
        swept = drive(flow, given.sut, tally=tally, budget=turn.left(0.8 / (len(names) - i)), **quiet)
        turn.add(tally)
        groups = relation.judged(swept)
        tried += groups.judged
        violated = groups.count(VIOLATED)
        if not violated:
            continue
        again = Tally()
        smallest = drive(
            shrunk(relation, swept.inputs, groups, given.seed),
            given.sut,
            tally=again,
            budget=turn.left(0.5),
            **quiet,
        )
        turn.add(again)
        found = groups.violations
        shown = [smallest, *(found.take(slice(row, row + 1)) for row in range(min(MOST_EXAMPLES - 1, len(found))))]
        table = _exchanges(relation, swept)
        sections.append(
            Section(
                f"Decisions that change with {name} alone",
                f"Each row: cases that were given another {name} and nothing else, and what became of their answers.",
                table=table,
            )
        )
        findings.append(
            Finding(
                "protected", name, f"Decisions hang on {name}", "fault", 1.0,
                f"{share(violated, groups.judged)} get another decision if {name} alone changes. "
                f"{_most_frequent(table, name)}",
                f"Ask whether {name} may matter here. If not, leave it out of the model, and look for columns that stand "
                "for it; then test again.",
                violated, groups.judged, tuple(example_of(each) for each in shown if len(each)),
            )
        )  # fmt: skip
    rests = f"{plural(len(names) + len(unseen) - len(left_out), 'attribute')}, {plural(tried, 'case')}"
    return Found("; ".join([rests, *left_out]), findings, sections)


def _exchanges(relation: Invariant, swept: Swept) -> Table:
    """Return how often which change of the attribute makes which change of the answer."""
    known = swept.known
    own_known = known[np.arange(swept.shape[0]), swept.own]
    rows, columns = np.nonzero(relation.changes(swept) & known & own_known[:, None])
    ends = (swept.own[rows], columns)
    attribute = [swept.points(rows, places).frame[relation.feature].tolist() for places in ends]
    own, other = (swept.answers(rows, places).values for places in ends)
    category = swept.inputs.space[relation.feature].kind == "categorical"
    told = [[brief(value) for value in column] if category else column for column in attribute]
    said = (own, other) if own.dtype.kind == "f" else (answers(own), answers(other))
    counted = Counter(
        (*((a, b) if category else _way(a, b)), *((x, y) if isinstance(x, str) else _way(x, y)))
        for a, b, x, y in zip(*told, *said, strict=True)
    )
    tried = swept.shape[0]
    body = [[*key, f"{count:,}", f"{100 * count / tried:.1f} %"] for key, count in counted.most_common(30)]
    return Table([relation.feature, "becomes", "answer", "becomes", "cases", "share"], body)


def _way(before: Any, after: Any) -> tuple[str, str]:
    return ("any", "higher") if after > before else ("any", "lower")


def _most_frequent(table: Table, name: str) -> str:
    if not table.rows:
        return ""
    first, then, before, after, count, _ = table.rows[0]
    return f"Most often: {name} {first} becomes {then}, and the answer {before} becomes {after} ({count} times)."


MONOTONE = Check(
    "monotone", "Does the answer move only in the declared directions?", 3,
    lambda given: "" if given.promises.monotone else 'no direction is declared: expect={"monotone": {"income": "up"}}',
    monotone,
)  # fmt: skip
INVARIANT = Check(
    "invariant", "Do features matter that should not, and are the user's own relations kept?", 3,
    lambda given: ""
    if given.promises.invariant or given.promises.relations
    else 'nothing is declared: expect={"invariant": ["id"]}, or relations of your own',
    invariant,
)  # fmt: skip
PROTECTED = Check(
    "protected", "Do decisions hang on a protected attribute?", 3,
    lambda given: "" if given.promises.protected else 'no attribute is named: protected=["gender"]',
    protected,
)  # fmt: skip
