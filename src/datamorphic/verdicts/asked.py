"""Relations put to a model that is asked as it is: judged, counted, and made small."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import Interrupted, OutOfBudget
from ..morphisms.subject import Subject
from ..relations.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, Groups, Relation
from ..relations.examining import Broken
from ..relations.shrinking import shrunk
from ..runs.drive import Tally, drive
from ..space.describe import value_to_json
from .asking import checked
from .examples import example_of

REASON = {True: "it is promised of whatever predicts, or declared", False: "a hypothesis"}


@dataclass(frozen=True, eq=False)
class Shown:
    """A violation by a model: one case, its follow-up, both answers."""

    relation: str
    says: str
    groups: Groups

    def describe(self) -> str:
        """Return it in lines."""
        return example_of(self.groups)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        first = self.groups.take(slice(0, 1))
        source, follow_up = (
            each.frame.astype(object).to_dict("records")[0] for each in (first.source, first.follow_up)
        )
        return {
            "relation": self.relation,
            "says": self.says,
            "source": {str(name): value_to_json(value) for name, value in source.items()},
            "follow_up": {str(name): value_to_json(value) for name, value in follow_up.items()},
            "before": value_to_json(first.before.values[0]),
            "after": value_to_json(first.after.values[0]),
        }


@dataclass
class Kept:
    """What became of one relation of a model."""

    relation: Relation
    counts: Any = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    violations: list[Broken] = field(default_factory=list)
    messages: dict[str, int] = field(default_factory=dict)
    groups: Groups | None = None
    smallest: Groups | None = None


@dataclass
class Asked:
    """A model, and relations to put to it."""

    subject: Subject
    relations: Sequence[Relation]
    seed: int
    driving: Mapping[str, Any]
    tally: Tally = field(default_factory=Tally)
    kept: list[Kept] = field(default_factory=list)

    def run(self, left: Callable[[], Any] = lambda: None) -> None:
        """Put all relations to the model; `left` tells what is left of the budget."""
        sut, inputs = self.subject.sut, self.subject.seeds
        for relation in self.relations:
            found = Kept(relation)
            self.kept.append(found)
            if why := relation.why_not(sut, inputs):
                found.counts[INAPPLICABLE] = len(inputs)
                found.messages[why] = len(inputs)
                continue
            try:
                result = checked(
                    relation, sut, inputs, seed=self.seed, tally=self.tally, budget=left(), **self.driving
                )
            except OutOfBudget as error:  # what was found until then counts
                self.tally.exhausted = True
                self.tally.interrupted = isinstance(error, Interrupted)
                break
            found.groups, found.smallest = result.groups, result.smallest
            found.counts, found.violations = counted(result.groups, len(inputs)), _broken(result.groups)
            for outputs in (result.groups.before, result.groups.after):
                for text in outputs.messages.values():
                    found.messages[text] = found.messages.get(text, 0) + 1

    def shrink(self, each: Kept, broken: Broken) -> Shown | None:
        """Return the smallest violation that one leads to."""
        if each.groups is None:
            return None
        groups = each.smallest
        if broken != each.violations[0] or groups is None:
            one = each.groups.take(
                np.flatnonzero((each.groups.rows == broken.input) & (each.groups.verdicts == VIOLATED))
            )
            sut, inputs = self.subject.sut, self.subject.seeds
            relation = each.relation.fitted_to(sut, inputs)
            options = {"progress": False, "recheck": 0, "alive": True} | dict(self.driving)
            groups = drive(shrunk(relation, inputs, one, self.seed), relation.system(sut), **options)
        return Shown(each.relation.name, each.relation.says, groups) if len(groups) else None


def counted(groups: Groups, inputs: int) -> Any:
    """Return how many inputs have each verdict; one that several groups are made of counts by the worst of them."""
    worst = np.full(inputs, INAPPLICABLE, dtype=np.int8)
    for verdict in (HOLDS, UNDEFINED, VIOLATED):
        worst[groups.rows[groups.verdicts == verdict]] = verdict
    return np.bincount(worst, minlength=4)


def _broken(groups: Groups) -> list[Broken]:
    bad = groups.violations
    return [
        Broken(int(row), 0, before, None, after)
        for row, before, after in zip(bad.rows, bad.before.values, bad.after.values, strict=True)
    ]
