"""Choose a mix of mutants of a program that its relations can detect: how data/programs/mutants.csv was made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from datamorphic.data.programs.program import NumericProgram
from datamorphic.hunting.violation_regions import GroupSample
from datamorphic.mutation.forge import SourceMutant, load_module, make_mutants
from datamorphic.relations.algebra.base import VIOLATED
from datamorphic.studies.program_regions import DEFAULT_SEED

OPERATORS = ("CRP", "AOR", "ROR", "RSR")
DEFAULT_MUTANT_COUNT = 12
#: limits of the greatest violation rate of a mutant over all relations
MIN_GREATEST_RATE, MAX_GREATEST_RATE = 1e-4, 0.5
MIN_VIOLATIONS = 3  # violations, or it may be hard to see again


def choose_mutants(
    program: NumericProgram, count: int = DEFAULT_MUTANT_COUNT, inputs: int = 10_000, seed: int = DEFAULT_SEED
) -> list[dict[str, str]]:
    """Return rows of mutants.csv: diverse mutants that relations detect on some inputs.

    In each step the mutant is chosen whose operator, line, rates and kinds of regions have been chosen least so far.
    mutants.csv was made this way, with 100,000 inputs for tanh and Erf, 3,000 for BesselJ, and 10,000 for the others.
    """
    samples = [GroupSample.draw(relation, inputs, seed) for relation in program.relations.values()]
    marks_by_mutant = dict(_find_detectable_mutants(program, samples))
    mark_counts: Counter[tuple[str, str]] = Counter()
    chosen_mutants: list[SourceMutant] = []

    def measure_novelty(mutant: SourceMutant) -> float:
        # operator and greatest rate weigh as much as all the rest, because most mutants agree in these
        weights = {mark: 1 / (1 + mark_counts[mark]) for mark in sorted(marks_by_mutant[mutant])}
        main_weight = sum(value for mark, value in weights.items() if mark[0] in ("operator", "greatest"))
        return main_weight + float(np.mean(list(weights.values())))

    while marks_by_mutant and len(chosen_mutants) < count:
        best = max(marks_by_mutant, key=measure_novelty)
        mark_counts.update(marks_by_mutant.pop(best))
        chosen_mutants.append(best)
    chosen_mutants.sort(key=lambda mutant: (mutant.line, mutant.column, int(mutant.id[1:])))
    return [_to_row(program, f"m{number}", mutant) for number, mutant in enumerate(chosen_mutants, 1)]


def _find_detectable_mutants(
    program: NumericProgram, samples: list[GroupSample]
) -> Iterator[tuple[SourceMutant, set[tuple[str, str]]]]:
    """Yield detectable mutants with the marks to be mixed.

    Mutants that raise, give no output or violate nearly everywhere are left out.
    """
    known_rates = set()
    right_answers = samples[0].query(program)
    for mutant in make_mutants(program.source, OPERATORS, name=program.name):
        if mutant.same_as or not _is_unique_line_change(program, mutant):
            continue
        try:
            name = program.function.__name__
            with load_module(mutant.source, name) as module:
                function: Callable[..., Any] = getattr(module, name)
            if not _has_other_answers(samples[0].query(function), right_answers):
                continue
            if not _is_row_independent(function, samples[0]):
                continue
            violated = [sample.judge(function) == VIOLATED for sample in samples]
        except Exception:  # a mutant may raise anything
            continue
        rates = tuple(float(flags.mean()) for flags in violated)
        least_rate = max(MIN_GREATEST_RATE, MIN_VIOLATIONS / len(violated[0]))
        if rates in known_rates or not least_rate <= max(rates) <= MAX_GREATEST_RATE:
            continue
        known_rates.add(rates)
        marks = {("operator", mutant.operator), ("line", str(mutant.line)), ("greatest", _format_magnitude(max(rates)))}
        for sample, flags, rate in zip(samples, violated, rates, strict=True):
            if rate:
                kind = sample.classify(flags, function).kind
                marks |= {("rate", _format_magnitude(rate)), ("kind", kind), (kind, _format_magnitude(rate))}
        yield mutant, marks


def _format_magnitude(rate: float) -> str:
    return str(math.floor(math.log10(rate)))


def _is_unique_line_change(program: NumericProgram, mutant: SourceMutant) -> bool:
    old, new = program.source.split("\n"), mutant.source.split("\n")
    changed_lines = [place for place, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    return len(changed_lines) == 1 and [line.strip() for line in old].count(old[changed_lines[0]].strip()) == 1


def _has_other_answers(answers: list[Any], right_answers: list[Any]) -> bool:
    """Return whether outputs are numbers of the right shape that differ from the right ones."""
    pairs = list(zip(answers, right_answers, strict=True))
    if not all(np.shape(a) == np.shape(b) and np.asarray(a).dtype.kind == "f" for a, b in pairs):
        return False
    return any((~np.isclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True)).any() for a, b in pairs)


def _is_row_independent(function: Callable[..., Any], sample: GroupSample) -> bool:
    """Return whether an output depends on its own inputs only, not on the rest of the batch."""
    columns = [rows[:50].T for rows in sample.inputs]
    reversed_answers = [function(*arrays[:, ::-1])[::-1] for arrays in columns]
    batch_answers = [answers[:50] for answers in sample.query(function)]
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(reversed_answers, batch_answers, strict=True))


def _to_row(program: NumericProgram, id: str, mutant: SourceMutant) -> dict[str, str]:
    old, new = (text.split("\n")[mutant.line - 1].strip() for text in (program.source, mutant.source))
    row = {"program": program.name, "id": id, "operator": mutant.operator, "old": old, "new": new}
    return row | {"before": mutant.before, "after": mutant.after}
