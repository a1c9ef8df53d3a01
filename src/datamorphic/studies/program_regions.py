"""Measure how often mutants of a program violate its relations, and where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._stats import compute_wilson_interval
from .._validation import validate_integer
from ..data.programs.program import NumericProgram
from ..hunting.classify_region import classify
from ..relations.algebra.base import UNDEFINED, VIOLATED, Verdicts
from ..relations.algebra.box import Floats
from ..relations.algebra.function import FunctionRelation

DEFAULT_INPUTS, DEFAULT_SEED = 100_000, 0


@dataclass(frozen=True, kw_only=True)
class GroupSample:
    """Groups of a relation, drawn once for all mutants."""

    relation: FunctionRelation
    draws: Floats
    inputs: list[Floats]
    low: Floats
    high: Floats

    @classmethod
    def draw(cls, relation: FunctionRelation, inputs: int, seed: int) -> GroupSample:
        """Return uniform groups in the source domain of a relation."""
        rng = np.random.default_rng(seed)
        return cls.of(relation, np.concatenate([box.sample(inputs, rng) for box in relation.domain], axis=1))

    @classmethod
    def of(cls, relation: FunctionRelation, draws: Floats) -> GroupSample:
        """Return the groups with these source inputs, side by side."""
        return cls(
            relation=relation,
            draws=draws,
            inputs=relation.source_inputs(draws) + relation.follow_inputs(relation.follow(draws)),
            low=np.concatenate([box.low for box in relation.domain]),
            high=np.concatenate([box.high for box in relation.domain]),
        )

    def query(self, function: Callable[..., Any]) -> list[Any]:
        """Return the outputs of a function for the inputs of the groups."""
        return [function(*part.T) for part in self.inputs]

    def judge(self, function: Callable[..., Any]) -> Verdicts:
        """Return the verdicts of the groups for a function."""
        return self.relation.judge(self.inputs, self.query(function))[0]

    def classify_region(self, violated: npt.NDArray[np.bool_], function: Callable[..., Any] | None = None) -> str:
        """Return the kind of region of the groups that a function violates; it is needed in more than three dimensions."""
        if function is None:
            return classify(self.draws, violated, self.low, self.high).kind

        def violates(draws: Floats) -> npt.NDArray[np.bool_]:
            return GroupSample.of(self.relation, draws).judge(function) == VIOLATED

        return classify(self.draws, violated, self.low, self.high, violates).kind


def measure_regions(
    program: NumericProgram,
    inputs: int = DEFAULT_INPUTS,
    seed: int = DEFAULT_SEED,
    *,
    mutants: Mapping[str, Any] | None = None,
    relations: Mapping[str, FunctionRelation] | None = None,
) -> pd.DataFrame:
    """Return the violation rate and the kind of region per mutant and relation.

    `NumericProgram.regions` is this table, measured with the default inputs and seed. A rate is a share of all groups,
    including those with an undefined output; its interval is Wilson's 95% interval.

    `inputs` uniform sources are drawn per relation, in its own source domain. `mutants` and `relations` restrict the
    table to these.
    """
    inputs = validate_integer("inputs", "measure_regions", inputs, 1)
    mutants = program.mutants if mutants is None else mutants
    relations = program.relations if relations is None else relations
    rows = []
    for name, relation in relations.items():
        sample = GroupSample.draw(relation, inputs, seed)
        for id, mutant in mutants.items():
            verdicts = sample.judge(mutant)
            violated = verdicts == VIOLATED
            count = int(violated.sum())
            low, high = compute_wilson_interval(count, inputs)
            undefined = float((verdicts == UNDEFINED).mean())
            kind = sample.classify_region(violated, mutant)
            rows.append((id, mutant.operator, name, count / inputs, low, high, kind, undefined))
    columns = ["mutant", "operator", "relation", "rate", "low", "high", "kind", "undefined"]
    frame = pd.DataFrame(rows, columns=columns)
    order = {id: place for place, id in enumerate(mutants)}
    return frame.sort_values("mutant", key=lambda ids: ids.map(order), kind="stable", ignore_index=True)
