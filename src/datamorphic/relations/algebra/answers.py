"""`FunctionAnswers`: a function must answer inside its domain, without an error and with numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...runs.flow import Flow, Query
from ...space.outputs import Outputs
from ...space.points import Points
from .base import HOLDS, VIOLATED, JudgedGroups, Mask, MetamorphicRelation, SystemRelation
from .function import ANSWER_KINDS, FunctionRelation

NUMBERS, FINITE, ANY = ANSWER_KINDS


class FunctionAnswers(SystemRelation):
    """A function answers finite arguments inside the domains of its relations."""

    name = "answers"
    reason = "arguments inside the domain that was declared have an answer"
    draws_inputs = True

    def __init__(self, relations: Sequence[FunctionRelation]) -> None:
        self.relations = tuple(relations)
        self.is_finite = all(relation.answers == FINITE for relation in relations)
        kind = "a finite number" if self.is_finite else "an answer that is no NaN"
        self.statement = f"finite arguments inside the domain: {kind}, and no error"

    def draw_inputs(self, inputs: Points, rng: np.random.Generator) -> Points:
        """Return as many cases as there are inputs, from the domains of all relations; of a single one, its own cases."""
        counts = [len(part) for part in np.array_split(np.arange(len(inputs)), len(self.relations))]
        parts = []
        for relation, count in zip(self.relations, counts, strict=True):
            drawn = relation.split(relation.draw_sources(count, rng))[0]
            order = relation.find_order(inputs.space)
            parts.append(drawn[:, order] if order else drawn)
        return Points(inputs.space, np.concatenate(parts))

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query the cases, and look at the answers alone."""
        outputs = yield Query(inputs, note=self.name)
        verdicts = np.where(self._is_answer(outputs), HOLDS, VIOLATED).astype(np.int8)
        return JudgedGroups(
            rows=np.arange(len(inputs)),
            source=inputs,
            follow_up=inputs,
            before=outputs,
            after=outputs,
            verdicts=verdicts,
            alone=True,
        )

    def _is_answer(self, outputs: Outputs) -> Mask:
        is_answer = outputs.ok.copy()
        if outputs.values.dtype.kind in "fc":
            good = np.isfinite(outputs.values) if self.is_finite else ~np.isnan(outputs.values)
            is_answer &= good
        return is_answer


def find_answers_relation(relations: Sequence[MetamorphicRelation], width: int) -> FunctionAnswers | None:
    """Return the relation that a function answers inside the domains of its relations; None if no domain is its inputs'."""
    declared = [
        relation
        for relation in relations
        if isinstance(relation, FunctionRelation)
        and relation.answers != ANY
        and relation.make_inputs is None
        and relation.domain[0].dimension == width
    ]
    distinct: list[FunctionRelation] = []
    for relation in declared:  # relations often share a domain
        if not any(_share_domain(relation, other) for other in distinct):
            distinct.append(relation)
    return FunctionAnswers(distinct) if distinct else None


def _share_domain(a: FunctionRelation, b: FunctionRelation) -> bool:
    box, other = a.domain[0], b.domain[0]
    return box is other or (type(box) is type(other) and not a.names and box.same(other))
