"""Which mutants of a program are kept: of all that its relations can find, a good mix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...mutants.forge import Mutant, module_of, mutants_of
from ...relations.base import VIOLATED
from .measuring import SEED, Trial
from .program import Program

OPERATORS = ("CRP", "AOR", "ROR", "RSR")
COUNT = 12
#: how often some relation finds a mutant at least, and how often all do at most
LEAST, MOST = 1e-4, 0.5
FEWEST = 3  # violations, or it may be hard to see again


def choose_mutants(
    program: Program, count: int = COUNT, inputs: int = 10_000, seed: int = SEED
) -> list[dict[str, str]]:
    """Return rows of mutants.csv: mutants that relations find, but not on all inputs, as different as can be.

    Each time the one is taken whose operator, line, rates and kinds of regions have been taken least so far. This is how
    mutants.csv was made, with 100,000 inputs for tanh and Erf, 3,000 for BesselJ, and 10,000 for all others.
    """
    trials = [Trial.of(relation, inputs, seed) for relation in program.relations.values()]
    found = dict(_found(program, trials))
    taken: Counter[tuple[str, str]] = Counter()
    chosen: list[Mutant] = []

    def new(mutant: Mutant) -> float:
        # operator and greatest rate weigh as much as all the rest: most mutants are of one operator, and seen often
        worth = {mark: 1 / (1 + taken[mark]) for mark in sorted(found[mutant])}
        first = sum(value for mark, value in worth.items() if mark[0] in ("operator", "greatest"))
        return first + float(np.mean(list(worth.values())))

    while found and len(chosen) < count:
        best = max(found, key=new)
        taken.update(found.pop(best))
        chosen.append(best)
    chosen.sort(key=lambda each: (each.line, each.column, int(each.id[1:])))
    return [_row(program, f"m{number}", mutant) for number, mutant in enumerate(chosen, 1)]


def _found(program: Program, trials: list[Trial]) -> Iterator[tuple[Mutant, set[tuple[str, str]]]]:
    """Yield mutants with what is to be mixed; those that raise, answer nothing or are found everywhere are left out."""
    seen = set()
    right = trials[0].answers(program)
    for mutant in mutants_of(program.source, OPERATORS, name=program.name):
        if mutant.same_as or not _one_line(program, mutant):
            continue
        try:
            function = _function(program, mutant)
            if not _differ(trials[0].answers(function), right) or not _row_by_row(function, trials[0]):
                continue
            violated = [trial.verdicts(function) == VIOLATED for trial in trials]
        except Exception:  # mutants raise whatever they like
            continue
        rates = tuple(float(each.mean()) for each in violated)
        if rates in seen or not max(LEAST, FEWEST / len(violated[0])) <= max(rates) <= MOST:
            continue
        seen.add(rates)
        marks = {("operator", mutant.operator), ("line", str(mutant.line)), ("greatest", _size(max(rates)))}
        for trial, each, rate in zip(trials, violated, rates, strict=True):
            if rate:
                kind = trial.kind(each)
                marks |= {("rate", _size(rate)), ("kind", kind), (kind, _size(rate))}
        yield mutant, marks


def _size(rate: float) -> str:
    return str(math.floor(math.log10(rate)))


def _one_line(program: Program, mutant: Mutant) -> bool:
    old, new = program.source.split("\n"), mutant.source.split("\n")
    changed = [place for place, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    return len(changed) == 1 and [line.strip() for line in old].count(old[changed[0]].strip()) == 1


def _function(program: Program, mutant: Mutant) -> Callable[..., Any]:
    name = program.function.__name__
    with module_of(mutant.source, name) as module:
        function: Callable[..., Any] = getattr(module, name)
    return function


def _differ(ours: list[Any], right: list[Any]) -> bool:
    """Tell whether answers are numbers, as many as there should be, and other ones."""
    pairs = list(zip(ours, right, strict=True))
    if not all(np.shape(a) == np.shape(b) and np.asarray(a).dtype.kind == "f" for a, b in pairs):
        return False
    return any((~np.isclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True)).any() for a, b in pairs)


def _row_by_row(function: Callable[..., Any], trial: Trial) -> bool:
    """Tell whether an answer depends on its own inputs only, and not on what else is asked at the same time."""
    few = [each[:50].T for each in trial.inputs]
    alone = [function(*each[:, ::-1])[::-1] for each in few]
    together = [each[:50] for each in trial.answers(function)]
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(alone, together, strict=True))


def _row(program: Program, id: str, mutant: Mutant) -> dict[str, str]:
    old, new = (text.split("\n")[mutant.line - 1].strip() for text in (program.source, mutant.source))
    row = {"program": program.name, "id": id, "operator": mutant.operator, "old": old, "new": new}
    return row | {"before": mutant.before, "after": mutant.after}
