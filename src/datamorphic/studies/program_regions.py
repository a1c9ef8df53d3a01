"""Measure how often mutants of a program violate its relations, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._lazy import pd
from .._stats import compute_wilson_interval
from .._validation import validate_integer
from ..data.programs.program import NumericProgram
from ..hunting.violation_regions import DEFAULT_GROUPS, GroupSample
from ..relations.algebra.base import UNDEFINED, VIOLATED
from ..relations.algebra.function import FunctionRelation

DEFAULT_SEED = 0


def measure_regions(
    program: NumericProgram,
    inputs: int = DEFAULT_GROUPS,
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
            kind = sample.classify(violated, mutant).kind
            rows.append((id, mutant.operator, name, count / inputs, low, high, kind, undefined))
    columns = ["mutant", "operator", "relation", "rate", "low", "high", "kind", "undefined"]
    frame = pd.DataFrame(rows, columns=columns)
    order = {id: place for place, id in enumerate(mutants)}
    return frame.sort_values("mutant", key=lambda ids: ids.map(order), kind="stable", ignore_index=True)
