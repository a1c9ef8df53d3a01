"""A learner under examination: relations put to it in a run, violations made small, old ones tried again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..errors import DataError
from ..outputs import Outputs
from ..relations.base import VIOLATED
from ..relations.drawing import ROWS, Draw, random_training
from ..relations.examining import Broken, Inputs, Tested, again, examine
from ..relations.further import LEARNER_RELATIONS
from ..relations.learned import Manner, Subject
from ..relations.learners import LearnerRelation
from ..relations.learning import answered
from ..relations.necessity import Stance
from ..relations.smaller import smallest
from ..runs.drive import Tally, drive
from ..strategies.flow import Flow, ask
from ..sut.learner import Learner
from ..sut.training import Trainings
from .violation import Violation, training_from_json, training_to_json, violation_of

Result = TypeVar("Result")
LOOKS = 20  # inputs that tell whether a learner can be repeated at all


@dataclass
class Examination:
    """Relations put to a learner.

    Attributes
    ----------
    learner : object
        Whatever has fit and predict.
    tested : sequence of Tested
        The relations, and what became of them so far.
    inputs : Inputs
        Where training sets come from.
    driving : mapping
        Options of `drive`: engine, timeout, batch, progress.
    tally : Tally
        What it cost.
    like : estimator, optional
        The one whose promises the learner must keep, if not its own.
    """

    learner: Any
    tested: Sequence[Tested]
    inputs: Inputs
    driving: Mapping[str, Any] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    like: Any = None

    def __post_init__(self) -> None:
        self.subject = Subject(self.learner, self.like)
        self._systems: dict[
            int, Learner
        ] = {}  # by seed; the same ones all the time, or processes would start anew

    def draw_random(self, most: int) -> None:
        """Have random training sets drawn, of so many rows at most, in the form that the learner takes."""
        self.inputs = replace(self.inputs, draw=random_draw(self.learner, most=most, asked=self._drive))

    def run(self, budget: Any = None) -> None:
        """Put all relations to the learner, on all inputs the budget allows."""
        self._drive(examine(self.tested, self.subject, self.inputs), budget)

    def smallest(self, each: Tested, broken: Broken, budget: Any = None) -> Violation | None:
        """Return the smallest violation that one of them leads to; None if it cannot be shown again."""
        data = self.inputs.training(broken.input)
        found = self._drive(smallest(each, self.subject, data, broken.input, broken.case), budget)
        return None if found is None else violation_of(each, found[0], found[1], shrunk=True)

    def whole(self, each: Tested, broken: Broken, budget: Any = None) -> Violation | None:
        """Return a violation as it came; None if it does not come again."""
        data = self.inputs.training(broken.input)
        found = self._drive(again(each, self.subject, [data], [broken.input], scores=True), budget)
        if broken.case not in found.violations:
            return None
        return violation_of(each, found, broken.input, shrunk=False, row=broken.case)

    def still(self, each: Tested, case: Any) -> Violation | None:
        """Try a violation of an earlier run again, as it was kept; None if it is none any more."""
        data, seed, number = training_from_json(case), int(case["seed"]), int(case.get("number", 0))
        then = replace(each, manner=replace(each.manner, seed=seed))
        found = self._drive(again(then, self.subject, [data], [number], scores=True), seed=seed)
        return violation_of(each, found, number, shrunk=True) if found.count(VIOLATED) else None

    def kept(self, violation: Violation) -> dict[str, Any] | None:
        """Return a violation as a store keeps it; None where no file can hold its values."""
        try:
            return {**training_to_json(violation.source), "seed": self.inputs.seed, "number": violation.number}
        except DataError:
            return None

    def repeats(self, budget: Any = None) -> bool:
        """Tell whether the learner, fitted again on the same data, gives the same labels."""
        relation = LEARNER_RELATIONS["refit"]
        refit = Tested(relation, Stance(True, "class_exact", ""), Manner(seed=self.inputs.seed))
        few = replace(self.inputs, count=min(LOOKS, self.inputs.count))
        self._drive(examine([refit], self.subject, few), budget)
        return not refit.changed

    def _drive(self, flow: Flow[Result], budget: Any = None, seed: int | None = None) -> Result:
        seed = self.inputs.seed if seed is None else seed
        system = self._systems.setdefault(seed, Learner(self.learner, seed=seed))
        cost = Tally()  # one tally a drive: it sets what it counts
        quiet: dict[str, Any] = {
            "recheck": 0,
            "alive": True,
            "cache": None,
        }  # a relation sees itself whether labels repeat
        try:
            return drive(flow, system, tally=cost, budget=budget, **quiet, **self.driving)
        finally:
            self.tally.runs += cost.runs
            self.tally.calls += cost.calls + cost.health.asked_again
            self.tally.seconds += cost.seconds
            self.tally.exhausted |= cost.exhausted
            self.tally.interrupted |= cost.interrupted


def random_draw(
    learner: Any, *, least: int = 1, most: int = ROWS, asked: Callable[[Flow[Outputs]], Outputs] | None = None
) -> Draw:
    """Return what draws random training sets: arrays, or frames for a learner that cannot do without.

    `asked` answers a flow with care: a learner may hang, or die, the first time already.
    """
    first = ask(Trainings([random_training(np.random.default_rng(0), least=ROWS)]))
    plain = answered(first, Learner(learner)) if asked is None else asked(first)
    return partial(random_training, least=least, most=most, framed=not plain.ok.all())


def to_test(
    relations: Iterable[LearnerRelation],
    views: Mapping[str, Stance],
    seed: int,
    ties: str = "aside",
) -> list[Tested]:
    """Return relations as they are to be tested; what is expected to fail is judged by what it is about."""
    found = []
    for relation in relations:
        view = views[relation.name]
        plain = "score_exact" if relation.about_scores else "class_exact"
        strictness = plain if view.strictness == "expected_failure" else view.strictness
        found.append(Tested(relation, view, Manner(strictness, ties, seed)))
    return found
