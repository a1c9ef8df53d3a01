"""Which mutants of a program are kept: of all that its relations can find, a good mix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from ...mutants.forge import Mutant, module_of, mutants_of
from ...relations.base import VIOLATED
from .measuring import SEED, Trial
from .program import Program

OPERATORS = ("CRP", "AOR", "ROR", "RSR")
COUNT = 12
#: between these lies how often some relation finds a mutant
LEAST, MOST = 1e-4, 0.4


def choose_mutants(program: Program, count: int = COUNT, inputs: int = 20_000, seed: int = SEED) -> list[dict[str, str]]:
    """Return rows of mutants.csv: mutants that relations find, but not on all inputs, as different as can be.

    Each time the one is taken whose operator, line, rates and kinds of regions have been taken least so far.
    """
    trials = [Trial.of(relation, inputs, seed) for relation in program.relations.values()]
    found = {mutant: sorted(marks) for mutant, marks in _found(program, trials)}
    taken: Counter[Hashable] = Counter()
    chosen: list[Mutant] = []
    while found and len(chosen) < count:
        best = max(found, key=lambda each: sum(1 / (1 + taken[mark]) for mark in found[each]) / len(found[each]))
        taken.update(found.pop(best))
        chosen.append(best)
    chosen.sort(key=lambda each: (each.line, each.column, int(each.id[1:])))
    return [_row(program, f"m{number}", mutant) for number, mutant in enumerate(chosen, 1)]


def _found(program: Program, trials: list[Trial]) -> Iterator[tuple[Mutant, set[Any]]]:
    """Yield mutants with what is to be mixed; those that raise, answer nothing or are found everywhere are left out."""
    seen = set()
    for mutant in mutants_of(program.source, OPERATORS, name=program.name):
        if mutant.same_as or not _one_line(program, mutant):
            continue
        function = _function(program, mutant)
        if function is None or not _answers(program, function, trials[0]):
            continue
        try:
            violated = [trial.verdicts(function) == VIOLATED for trial in trials]
        except Exception:
            continue
        rates = tuple(float(each.mean()) for each in violated)
        if rates in seen or not any(LEAST <= rate <= MOST for rate in rates):
            continue
        seen.add(rates)
        marks: set[Any] = {("operator", mutant.operator), ("line", str(mutant.line)), ("greatest", _size(max(rates)))}
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


def _function(program: Program, mutant: Mutant) -> Callable[..., Any] | None:
    name = program.function.__name__
    try:
        with module_of(mutant.source, name) as module:
            return getattr(module, name)
    except Exception:
        return None


def _answers(program: Program, function: Callable[..., Any], trial: Trial) -> bool:
    """Tell whether a function answers with numbers, as many as the program does, and not always with the same."""
    few = [each[:200].T for each in trial.inputs]
    try:
        ours = [function(*each) for each in few]
    except Exception:
        return False
    right = [program(*each) for each in few]
    alike = all(np.shape(a) == np.shape(b) and np.asarray(a).dtype.kind == "f" for a, b in zip(ours, right, strict=True))
    return alike and bool(np.isfinite(ours[0]).any())


def _row(program: Program, id: str, mutant: Mutant) -> dict[str, str]:
    old, new = (text.split("\n")[mutant.line - 1].strip() for text in (program.source, mutant.source))
    row = {"program": program.name, "id": id, "operator": mutant.operator, "old": old, "new": new}
    return row | {"before": mutant.before, "after": mutant.after}
