"""Find the shortest chain of datamorphisms with which a violation still occurs.

Candidates are the subsequences of the chain that led to the violation, applied to the same seed case: all of them, shortest
first, while they are few; then chains with one datamorphism left out, as long as the violation stays. The candidates of all
violations are executed together, so that there is one query per length and not one per violation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from ...errors import OutOfBudget
from ...morphisms.cases import TestSet, Verdict
from ...morphisms.morphism import Morphism
from ...morphisms.system import TestSystem
from ...runs.flow import Flow, Query
from ...space.features import Mask
from .chains import Integers
from .generation import Chain, make_step_generator

MAX_SUBSEQUENCES = 1_000  # per violation; longer chains are shortened one datamorphism at a time
MAX_CANDIDATES = 100_000  # for all violations together

Violations = dict[str, tuple[Any, Any]]  # by metamorphism: the answers to the origin and to the last case
SeededChain = tuple[int, Chain]  # a seed row and a chain


@dataclass(frozen=True, kw_only=True)
class ChainFailure:
    """A violation: the metamorphism, the row of the seed case, and the chain that led to the case."""

    metamorphism: str
    seed: int
    chain: Chain


@dataclass(frozen=True, kw_only=True)
class ShortenedChain:
    """The shortest chain found for a violation."""

    chain: Chain
    is_searched: bool  # False if the search ended before its turn
    answers: tuple[Any, Any] | None = None  # to the last two cases; None if they are those of the violation itself


class ChainExecutor:
    """Applies chains to seed cases and checks metamorphisms on the last case of each."""

    def __init__(self, system: TestSystem, seeds: TestSet, datamorphisms: Sequence[Morphism], seed: int) -> None:
        self.system, self.seeds, self.datamorphisms, self.seed = system, seeds, datamorphisms, seed
        self.attempts = 0

    def has_fixed_end(self, failure: ChainFailure) -> bool:
        """Return whether the metamorphism applies to cases of one datamorphism only, which must come last."""
        return self.system.metamorphisms[failure.metamorphism].mark.of is not None

    def find_violations(self, candidates: Iterable[SeededChain]) -> Flow[dict[SeededChain, Violations]]:
        """Return the metamorphisms that each seed row and chain violates, with the answers to the last two cases."""
        self.attempts += 1
        violations: dict[SeededChain, Violations] = {candidate: {} for candidate in candidates}
        tests, rows = self._apply_chains(violations)
        last_rows = {candidate: rows[candidate] for candidate in violations if rows[candidate] >= 0}
        if not last_rows:
            return violations
        ids = tests.ids[list(last_rows.values())]
        tests = tests.take(_select_with_origins(tests, np.array(list(last_rows.values()))))
        tests = tests.with_outputs((yield Query(tests.inputs, note="shortening chains")))
        answers, places = tests.output.tolist(), tests.rows_of(ids)
        origin_places = tests.rows_of(tests.origins[places, 0]).tolist()
        pairs = [
            (None if origin_place < 0 else answers[origin_place], answers[place])
            for origin_place, place in zip(origin_places, places.tolist(), strict=True)
        ]
        for name, verdicts in self.system.check(tests).items():
            for candidate, verdict, pair in zip(last_rows, verdicts[places], pairs, strict=True):
                if verdict == Verdict.VIOLATED:
                    violations[candidate][name] = pair
        return violations

    def _apply_chains(self, candidates: Iterable[SeededChain]) -> tuple[TestSet, dict[SeededChain, int]]:
        """Return the cases of all starts of some chains, and their rows; -1 where a filter ended the chain.

        Seed cases come first, so that they have the same rows as in `seeds`.
        """
        tests = replace(self.seeds, outputs=None)
        rows: dict[SeededChain, int] = {}
        by_length: dict[int, list[SeededChain]] = {}
        for seed_row, chain in candidates:
            rows[seed_row, ()] = seed_row
            for length in range(1, len(chain) + 1):
                if (start := (seed_row, chain[:length])) not in rows:
                    rows[start] = -1
                    by_length.setdefault(length, []).append(start)
        for length, starts in sorted(by_length.items()):
            for step, morphism in enumerate(self.datamorphisms):
                pending = [start for start in starts if start[1][-1][0] == step and rows[start[0], start[1][:-1]] >= 0]
                parents = np.array([rows[seed_row, chain[:-1]] for seed_row, chain in pending], dtype=int)
                if morphism.mark.filter is not None and pending:
                    case_filter = self.system.find("case_filter", morphism.mark.filter)
                    passing = np.flatnonzero(case_filter.evaluate_cases(tests.take(parents)))
                    pending, parents = [pending[place] for place in passing.tolist()], parents[passing]
                if not pending:
                    continue
                origin_rows = [parents]
                origin_rows += list(np.array([chain[-1][1] for _, chain in pending], dtype=int).T)
                rng = make_step_generator(self.seed, length, step, self.attempts)
                new_inputs = morphism.morph(*(tests.inputs.take(numbers) for numbers in origin_rows), rng=rng)
                rows |= {start: len(tests) + place for place, start in enumerate(pending)}
                tests = tests.grow(new_inputs, morphism.name, [tests.ids[numbers] for numbers in origin_rows])
        return tests, rows


def _select_with_origins(tests: TestSet, rows: Integers) -> Mask:
    """Return which cases are among `rows` or their origins."""
    needed = np.zeros(len(tests), dtype=bool)
    origin_rows = tests.rows_of(tests.origins[rows])
    needed[rows] = True
    needed[origin_rows[origin_rows >= 0]] = True
    return needed


def shorten_chains(executor: ChainExecutor, failures: Sequence[ChainFailure]) -> Flow[list[ShortenedChain]]:
    """Return the shortest chain found for each violation.

    If the user or a budget ends the search, the remaining chains stay as they are.
    """
    shortened = [ShortenedChain(chain=failure.chain, is_searched=len(failure.chain) <= 1) for failure in failures]
    try:
        long_chains = yield from _search_subsequences(executor, failures, shortened)
        yield from _leave_steps_out(executor, failures, shortened, long_chains)
    except OutOfBudget:
        pass
    return shortened


def _search_subsequences(
    executor: ChainExecutor, failures: Sequence[ChainFailure], shortened: list[ShortenedChain]
) -> Flow[list[int]]:
    """Try all subsequences, shortest first; return the violations whose chains are too long for that."""
    pending = [number for number, failure in enumerate(failures) if len(failure.chain) > 1]
    long_chains: list[int] = []
    candidate_count, length = 0, 0
    while pending:
        length += 1
        candidates: dict[int, list[Chain]] = {}
        for number in pending:
            chain, has_fixed_end = failures[number].chain, executor.has_fixed_end(failures[number])
            if length >= len(chain):
                shortened[number] = ShortenedChain(chain=chain, is_searched=True)
            elif _count_subsequences(len(chain) - has_fixed_end, length - has_fixed_end) > MAX_SUBSEQUENCES:
                long_chains.append(number)
            else:
                candidates[number] = _list_subsequences(chain, length, has_fixed_end)
        trials = dict.fromkeys((failures[n].seed, chain) for n, chains in candidates.items() for chain in chains)
        candidate_count += len(trials)
        if candidate_count > MAX_CANDIDATES:
            break
        violations = (yield from executor.find_violations(trials)) if trials else {}
        pending = []
        for number, chains in candidates.items():
            failure = failures[number]
            violating_chains = (chain for chain in chains if failure.metamorphism in violations[failure.seed, chain])
            if (shortest := next(violating_chains, None)) is None:
                pending.append(number)
            else:
                answers = violations[failure.seed, shortest][failure.metamorphism]
                shortened[number] = ShortenedChain(chain=shortest, is_searched=True, answers=answers)
    return long_chains


def _count_subsequences(steps: int, length: int) -> int:
    """Return how many subsequences there are up to a length."""
    return sum(comb(steps, size) for size in range(length + 1))


def _list_subsequences(chain: Chain, length: int, has_fixed_end: bool) -> list[Chain]:
    """Return the different subsequences of a length; if the end is fixed, those that end with the last datamorphism."""
    if has_fixed_end:  # a datamorphism of several inputs may have been applied with several others
        ends = [place for place, (step, _) in enumerate(chain) if step == chain[-1][0]]
        return list(
            dict.fromkeys(
                (*start, chain[end]) for end in reversed(ends) for start in combinations(chain[:end], length - 1)
            )
        )
    return list(dict.fromkeys(combinations(chain, length)))


def _leave_steps_out(
    executor: ChainExecutor, failures: Sequence[ChainFailure], shortened: list[ShortenedChain], numbers: list[int]
) -> Flow[None]:
    """Leave out one step at a time while the violation stays."""
    candidate_count = 0
    while numbers:
        candidates: dict[int, list[Chain]] = {}
        for number in numbers:
            chain = shortened[number].chain
            places = range(len(chain) - executor.has_fixed_end(failures[number]))
            candidates[number] = list(dict.fromkeys(chain[:place] + chain[place + 1 :] for place in places))
        trials = dict.fromkeys((failures[n].seed, chain) for n, chains in candidates.items() for chain in chains)
        candidate_count += len(trials)
        if candidate_count > MAX_CANDIDATES:
            return
        violations = yield from executor.find_violations(trials)
        numbers = []
        for number, chains in candidates.items():
            failure = failures[number]
            violating_chains = (
                chain for chain in chains if chain and failure.metamorphism in violations[failure.seed, chain]
            )
            shortened[number] = replace(shortened[number], is_searched=True)
            if (shorter := next(violating_chains, None)) is not None:
                answers = violations[failure.seed, shorter][failure.metamorphism]
                shortened[number] = ShortenedChain(chain=shorter, is_searched=True, answers=answers)
                numbers.append(number)
