"""Does it keep what was declared: one way only, not at all, not because of who somebody is?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._checks import plural
from ..errors import Interrupted, OutOfBudget
from ..fronts.reading import answers
from ..relations.base import VIOLATED, Groups, Relation
from ..relations.sweeping import MOST_VALUES, Swept, sweep
from ..relations.sweeps import Invariant, Monotone
from ..reports.summary import Line, Section, Table
from ..runs.drive import Tally, drive
from ..space.points import Points
from ..verdicts.asking import Checked, checked
from .checks import Check, Found, Turn
from .finding import Example, Finding
from .given import Given
from .words import brief, case_of, example_of, said, share, told_case

MOST_CASES = 1_000
MOST_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class _Tried:
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

    result: Checked
    violated: int
    judged: int
    says: str

    @property
    def shown(self) -> Groups:
        """The smallest violation."""
        smallest = self.result.smallest
        return smallest if smallest is not None and len(smallest) else self.result.groups.violations


def _tried(
    given: Given, turn: Turn, check: str, relation: Relation, part: float, values: int = MOST_VALUES
) -> _Tried:
    """Put a promise to the system within a part of what the check has left."""
    how = {"seed": given.seed, "tally": turn.tally, **given.driving}
    known, still = given.remembered.get(check), None
    if known is not None:
        still = checked(relation, given.sut, known, budget=turn.left(0.3 * part), **how)
    inputs = given.some(given.afford(turn.left(0.6 * part), MOST_CASES, each=values))
    fresh = checked(relation, given.sut, inputs, budget=turn.left(part), **how)
    violated, judged = fresh.groups.count(VIOLATED), fresh.groups.judged
    says = share(violated, judged)
    if still is not None and len(still.groups.violations):
        broken = f"{still.groups.count(VIOLATED)} of {plural(len(still.groups), 'case')} that broke it before"
        if not violated:
            says = f"{broken}, and none of {judged:,} others,"
            return _Tried(still, still.groups.count(VIOLATED), len(still.groups), says)
        says += f", and {broken},"
    return _Tried(fresh, violated, judged, says)


def _put(
    given: Given, turn: Turn, check: str, relations: Sequence[Relation], unseen: Sequence[str] = ()
) -> tuple[list[_Tried], str]:
    """Put promises to the system, and return what became of those that could be tried, and what was left out."""
    tried, left_out = [], [f"{name} is no input of the model" for name in unseen]
    for i, relation in enumerate(relations):
        why = relation.why_not(given.sut, given.inputs)
        if why:
            left_out.append(f"{relation.name}: {why}")
            continue
        values = MOST_VALUES if isinstance(relation, Monotone | Invariant) else 2
        try:
            tried.append(_tried(given, turn, check, relation, 1 / (len(relations) - i), values))
        except Interrupted:
            raise
        except OutOfBudget:
            if not tried and len(left_out) == i:
                raise  # nothing was tried: perhaps there is more time later
            left_out.append(f"{relation.name}: its share of the budget was too small")
    return tried, "; ".join(left_out)


def _found(
    tried: list[_Tried], left_out: str, noun: str, findings: list[Finding], sections: list[Section]
) -> Found:
    cases = sum(each.judged for each in tried)
    rests = f"{plural(len(tried), noun)}, {plural(cases, 'case')}" if tried else ""
    seen = bool(tried) or "is no input of the model" in left_out
    return Found("; ".join(filter(None, (rests, left_out))), findings, sections, made=seen)


def _unseen(given: Given, names: Sequence[str]) -> list[str]:
    return [name for name in names if name not in given.space.names]


def monotone(given: Given, turn: Turn) -> Found:
    """Try the declared directions."""
    tried, left_out = _put(given, turn, "monotone", given.promises.monotone_relations())
    findings, sections = [], []
    for each in tried:
        relation, found = each.result.relation, each.result.groups.violations
        if not each.violated:
            continue
        assert isinstance(relation, Monotone)
        flips = int((~found.before.same(found.after)).sum())
        flipped = f" In {flips:,} of them the answer itself changes." if not given.subject.numbers else ""
        findings.append(
            Finding(
                "monotone", relation.feature, f"More {relation.feature} can {_against(relation)}",
                "fault" if flips or given.subject.numbers else "concern", 1.0,
                f"Declared: {relation.says}. {each.says} have a value of {relation.feature} from which a step "
                f"{'up' if relation.sign > 0 else 'down'} goes the wrong way, all else equal.{flipped}",
                "Fit the model with a monotone constraint on this feature (monotonic_cst, monotone_constraints), give it "
                "more data there, or withdraw the promise.",
                each.violated, each.judged, (_fall(relation, each.shown, given.subject.numbers),),
            )
        )  # fmt: skip
        sections += _curve(given, turn, relation, each.shown)
    return _found(tried, left_out, "declared direction", findings, sections)


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
    swept = _swept(given, turn, source, relation, scores=True)
    if swept is None:
        return []
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
    """Try the features that must not matter, and the user's own relations."""
    unseen = _unseen(given, given.promises.invariant)
    declared = [each for each in given.promises.invariant_relations() if each.feature not in unseen]
    tried, left_out = _put(given, turn, "invariant", [*declared, *given.promises.relations], unseen)
    findings = []
    for each in tried:
        relation = each.result.relation
        feature = relation.feature if isinstance(relation, Invariant) else ""
        if each.violated:
            findings.append(
                Finding(
                    "invariant", feature or relation.name,
                    f"The answer hangs on {feature}, which should not matter" if feature
                    else f"A promise is broken: {relation.name}",
                    "fault" if feature or relation.necessary else "concern", 1.0,
                    f"Declared: {relation.says or relation.name}. {each.says} break it.",
                    "Take the feature out of the model, or withdraw the promise." if feature
                    else "Mend the model, or withdraw the promise.",
                    each.violated, each.judged, (example_of(each.shown),),
                )
            )  # fmt: skip
    return _found(tried, left_out, "promise", findings, [])


def protected(given: Given, turn: Turn) -> Found:
    """Change a protected attribute alone, and count the decisions that change with it."""
    unseen = _unseen(given, given.promises.protected)
    relations = [Invariant(name) for name in given.promises.protected if name not in unseen]
    tried, left_out = _put(given, turn, "protected", relations, unseen)
    findings, sections = [], []
    for each in tried:
        relation, found = each.result.relation, each.result.groups.violations
        if not each.violated:
            continue
        assert isinstance(relation, Invariant)
        name, often = relation.feature, ""
        table = _exchanges(given, turn, relation, each.result.inputs)
        if table is not None:
            often = _most_frequent(table, name)
            text = f"Each row: cases that were given another {name} and nothing else, and what became of their answers."
            sections.append(Section(f"Decisions that change with {name} alone", text, table=table))
        shown = [
            each.shown,
            *(found.take(slice(row, row + 1)) for row in range(min(MOST_EXAMPLES - 1, len(found)))),
        ]
        findings.append(
            Finding(
                "protected", name, f"Decisions hang on {name}", "fault", 1.0,
                f"{each.says} get another decision if {name} alone changes.{often}",
                f"Ask whether {name} may matter here. If not, leave it out of the model, and look for columns that stand "
                "for it; then test again.",
                each.violated, each.judged, tuple(example_of(one) for one in shown if len(one)),
            )
        )  # fmt: skip
    return _found(tried, left_out, "attribute", findings, sections)


def _exchanges(given: Given, turn: Turn, relation: Invariant, inputs: Points) -> Table | None:
    """Return how many cases have which change of the answer with which change of the attribute."""
    swept = _swept(given, turn, inputs, relation)
    if swept is None:
        return None
    known = swept.known
    own_known = known[np.arange(swept.shape[0]), swept.own]
    rows, columns = np.nonzero(relation.changes(swept) & known & own_known[:, None])
    ends = (swept.own[rows], columns)
    attribute = [swept.points(rows, places).frame[relation.feature].tolist() for places in ends]
    own, other = (swept.answers(rows, places).values for places in ends)
    category = swept.inputs.space[relation.feature].kind == "categorical"
    told = [[brief(value) for value in column] if category else column for column in attribute]
    said = (own, other) if own.dtype.kind == "f" else (answers(own), answers(other))
    changes = {  # of a number many values may do the same to one case, which counts once
        (row, *((a, b) if category else _way(a, b)), *((x, y) if isinstance(x, str) else _way(x, y)))
        for row, a, b, x, y in zip(rows.tolist(), *told, *said, strict=True)
    }
    counted = Counter(change[1:] for change in changes)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    body = [[*key, f"{count:,}", f"{100 * count / swept.shape[0]:.1f} %"] for key, count in ranked[:30]]
    return Table([relation.feature, "becomes", "answer", "becomes", "cases", "share"], body)


def _swept(
    given: Given, turn: Turn, inputs: Points, relation: Monotone | Invariant, scores: bool = False
) -> Swept | None:
    """Ask some cases with every value of a feature; None if there is no time."""
    tally = Tally()
    flow = sweep(inputs, relation.feature, relation.tried, scores=scores)
    try:
        return drive(flow, given.sut, tally=tally, budget=turn.left(), **given.quiet())
    except Interrupted:
        raise
    except OutOfBudget:
        return None
    finally:
        turn.add(tally)


def _way(before: Any, after: Any) -> tuple[str, str]:
    return ("any", "higher") if after > before else ("any", "lower")


def _most_frequent(table: Table, name: str) -> str:
    if not table.rows:
        return ""
    first, then, before, after, count, _ = table.rows[0]
    return f" Most often: {name} {first} becomes {then}, and the answer {before} becomes {after} ({count} times)."


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
