"""One relation put to one learner for an assert: fitted again and again, told in words, and remembered."""

from __future__ import annotations

import time
from typing import Any

from ..errors import DataError
from ..relations.base import INAPPLICABLE, UNDEFINED
from ..relations.drawing import parts_of
from ..relations.examining import Inputs
from ..relations.learners import LearnerRelation
from ..relations.necessity import Stance
from ..sut.learner import learner_text
from ..verdicts.examination import Examination, random_draw, to_test
from ..verdicts.violation import Violation
from .holding import Held
from .replaying import Memory

CASES = 20  # test cases of a training set: a fit may be slow
FEWEST = 20  # rows of a random one, so that most relations apply


def held_by_learner(
    relation: LearnerRelation,
    learner: Any,
    stance: Stance,
    memory: Memory,
    *,
    data: Any = None,
    target: str | None = None,
    cases: int,
    seed: int,
    budget: Any = None,
    shrink: bool = True,
) -> Held:
    """Put a relation to a learner: what violated it before first, then new training sets.

    Without `shrink` no smaller example is looked for, and nothing is kept: for promises that nobody has to keep.
    """
    name, began = relation.name, time.monotonic()
    draw = random_draw(learner, least=FEWEST) if data is None else parts_of(data, target)
    inputs = Inputs(draw, cases, CASES, seed)
    (each,) = to_test([relation], {name: stance}, seed)
    learning = Examination(learner, [each], inputs, {"progress": False})
    tried = []
    still: list[Violation] = []
    for failure in [] if each.statistical or not shrink else memory.recall(name):
        try:
            again = learning.still(each, failure.case)
        except (DataError, KeyError, TypeError, ValueError):
            continue  # a case of another learner of this name
        tried.append((failure, again is not None))
        still += [again] if again is not None else []
    learning.run(budget)
    smallest, note = None, ""
    if each.statistical:
        note = f"{each.changed:,} changed, judged by their distribution"
    elif each.changed and shrink:
        smallest = learning.smallest(each, each.violations[0]) or learning.whole(each, each.violations[0])
    case = None if smallest is None else learning.kept(smallest)
    memory.learn(name, tried, [] if case is None else [case])
    shown = still[0] if still else smallest
    notes = [
        note,
        f"{len(still)} of {len(tried)} replayed" if tried else "",
        "the budget is spent" if learning.tally.exhausted else "",
    ]
    silent = [text for text in each.messages if text]
    return Held(
        relation=name,
        says=relation.says,
        system=learner_text(learner),
        cases=each.judged,
        violated=each.violated,
        undefined=int(each.counts[UNDEFINED]),
        calls=learning.tally.calls,
        seconds=time.monotonic() - began,
        example="" if shown is None else shown.describe(),
        silent=silent[0] if silent and (each.counts[UNDEFINED] or each.counts[INAPPLICABLE]) else "",
        tried=len(tried),
        replayed=len(still),
        note=", ".join(filter(None, notes)),
        remark="" if stance.necessary else f"Not every right learner of its kind keeps it: {stance.reason}.",
    )
