"""Make the cases of all chains, or of some: all cases of one order in one batch per datamorphism.

A *state* is a chain that was applied to a seed case. Its value is the resulting input. Of several states with the same value,
the first makes the case, and the others are further ways to make it. All ways are kept, because metamorphisms compare a case
with its origins. A state is continued even if its value is not new. Two states are merged only if their values are equal and
the same chains may follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...morphisms.case_columns import Ids
from ...morphisms.cases import NO_ORIGIN, CaseKind, TestSet
from ...morphisms.morphism import Morphism
from ...morphisms.system import TestSystem
from ...space.features import Mask
from ...space.hashing import RowTable
from ...space.points import Points
from .chains import NO_STEP, ChainRule, Integers

NO_PARTNER = -1
MAX_INITIAL_CAPACITY = 1 << 20  # cases for which memory is reserved at once

ShowProgress = Callable[[str, float | None], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class States:
    """Chains applied to seed cases, one per entry."""

    parents: Integers  # the numbers of the states they continue; -1 for seed cases
    steps: npt.NDArray[np.int16]  # the datamorphism applied last
    partners: npt.NDArray[np.int32]  # the row of the seed case that is its second argument, or NO_PARTNER
    seeds: npt.NDArray[np.int32]  # the row of the seed case
    cases: Integers  # the row of the case with their value
    futures: Integers  # see `ChainRule`
    is_new: Mask  # whether the case was made by this state

    def __len__(self) -> int:
        return len(self.parents)

    def take(self, rows: Integers | Mask) -> States:
        """Return some of the states."""
        return States(**{name: column[rows] for name, column in vars(self).items()})

    @staticmethod
    def concat(parts: Sequence[States]) -> States:
        """Return the states of all parts."""
        return States(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])})

    @staticmethod
    def of_seeds(count: int) -> States:
        """Return the empty chains."""
        rows = np.arange(count, dtype=np.int64)
        return States(
            parents=np.full(count, -1, dtype=np.int64),
            steps=np.full(count, NO_STEP, dtype=np.int16),
            partners=np.full(count, NO_PARTNER, dtype=np.int32),
            seeds=rows.astype(np.int32),
            cases=rows,
            futures=np.zeros(count, dtype=np.int64),
            is_new=np.ones(count, dtype=bool),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneratedCases:
    """The cases that were made, seed cases first, and the chains that made them."""

    tests: TestSet
    seed_count: int
    states: States
    state_of_case: Integers  # the state that made each case
    repeats: Integers  # states that made a case again, from another origin or by another datamorphism
    drawn: Mask  # False for seed cases that were not drawn, and for cases that are only on the way to others
    made_count: int  # cases that datamorphisms made, whether new or not
    rejected_count: int  # chains that the filter of a datamorphism ended

    def read_chains(self, states: Integers) -> tuple[Integers, Integers, Integers]:
        """Return the seed row of some states, and the datamorphisms and second arguments of their chains, one per row."""
        seeds, path = self.states.seeds[states].astype(np.int64), []
        while (states >= self.seed_count).any():
            path.append(states)
            states = np.where(states >= self.seed_count, self.states.parents[states], states)
        # the paths run from the end of a chain to its start, and chains have different lengths
        steps = np.full((len(seeds), len(path)), NO_STEP, dtype=np.int64)
        partners = np.full((len(seeds), len(path)), NO_PARTNER, dtype=np.int64)
        lengths = sum((numbers >= self.seed_count).astype(np.int64) for numbers in path)
        for distance, numbers in enumerate(path):
            rows = np.flatnonzero(numbers >= self.seed_count)
            places = np.asarray(lengths)[rows] - 1 - distance
            steps[rows, places] = self.states.steps[numbers[rows]]
            partners[rows, places] = self.states.partners[numbers[rows]]
        return seeds, steps, partners


class CaseMaker:
    """Applies datamorphisms to states and collects the cases with new values."""

    def __init__(
        self, system: TestSystem, seeds: TestSet, datamorphisms: Sequence[Morphism], seed: int, expected: int
    ) -> None:
        self.system, self.seeds, self.datamorphisms, self.seed = system, seeds, datamorphisms, seed
        self.made_count = self.rejected_count = 0
        capacity = len(seeds) + min(expected, MAX_INITIAL_CAPACITY)
        width = seeds.inputs.codes.shape[1]
        self._table, self._count = RowTable(width), len(seeds)
        self._codes = np.empty((capacity, width))
        self._steps = np.full(capacity, NO_STEP, dtype=np.int16)
        self._origins = np.full((capacity, 2), NO_ORIGIN, dtype=np.int64)  # rows
        self._codes[: len(seeds)] = seeds.inputs.codes
        self._table.add(seeds.inputs.codes)

    def apply(
        self, step: int, states: States, numbers: Integers, partners: Integers | None, order: int
    ) -> tuple[States, Integers]:
        """Apply a datamorphism to states, and return the new states and the rows of the states that its filter lets pass.

        `numbers` are the numbers of the states among all states. `partners` are the seed rows for the second argument of a
        binary datamorphism, None for a unary one.
        """
        morphism, rows = self.datamorphisms[step], self._find_passing_rows(self.datamorphisms[step], states.cases)
        states = states.take(rows)
        cases = states.cases
        no_partners = np.full(len(rows), NO_PARTNER, dtype=np.int64)
        second_rows = no_partners if partners is None else partners[rows]
        values, is_new = np.empty(0, dtype=np.int64), np.zeros(len(rows), dtype=bool)
        if len(rows):
            space = self.seeds.space
            inputs = [Points(space, self._codes[cases])]
            if partners is not None:
                inputs.append(Points(space, self._codes[second_rows]))
            new_inputs = morphism.morph(*inputs, rng=make_step_generator(self.seed, order, step))
            values, new_rows = self._table.add(new_inputs.codes)
            is_new[new_rows] = True
            self._append(new_inputs.codes[new_rows], step, cases[new_rows], second_rows[new_rows])
            self.made_count += len(rows)
        new_states = States(
            parents=numbers[rows],
            steps=np.full(len(rows), step, dtype=np.int16),
            partners=second_rows.astype(np.int32),
            seeds=states.seeds,
            cases=values,
            futures=states.futures,
            is_new=is_new,
        )
        return new_states, rows

    def _find_passing_rows(self, morphism: Morphism, cases: Integers) -> Integers:
        """Return which of some cases the filter of a datamorphism lets pass; all if it has none."""
        if morphism.mark.filter is None or not len(cases):
            return np.arange(len(cases))
        case_filter = self.system.find("case_filter", morphism.mark.filter)
        rows = np.flatnonzero(case_filter.evaluate_cases(self._view(cases)))
        self.rejected_count += len(cases) - len(rows)
        return rows

    def _append(self, codes: npt.NDArray[np.float64], step: int, parents: Integers, partners: Integers) -> None:
        start, stop = self._count, self._count + len(codes)
        if stop > len(self._codes):
            extra = max(stop, 2 * len(self._codes)) - len(self._codes)
            self._codes = np.concatenate([self._codes, np.empty((extra, self._codes.shape[1]))])
            self._steps = np.concatenate([self._steps, np.full(extra, NO_STEP, dtype=np.int16)])
            self._origins = np.concatenate([self._origins, np.full((extra, 2), NO_ORIGIN, dtype=np.int64)])
        self._codes[start:stop], self._steps[start:stop] = codes, step
        self._origins[start:stop] = np.column_stack([parents, partners])
        self._count = stop

    def _view(self, rows: Integers) -> TestSet:
        """Return some of the cases made so far as a test set."""
        seeds, names = self.seeds, tuple(morphism.name for morphism in self.datamorphisms)
        row_ids = np.arange(self._count, dtype=np.int64) + (seeds.next_id - len(seeds))
        row_ids[: len(seeds)] = seeds.ids
        parents = self._origins[rows]
        is_seed = rows < len(seeds)
        seed_rows = np.where(is_seed, rows, 0)
        origins = np.full((len(rows), seeds.origins.shape[1]), NO_ORIGIN, dtype=np.int64)
        origins[:, :2] = np.where(parents >= 0, row_ids[parents], NO_ORIGIN)
        return TestSet(
            inputs=Points(seeds.space, self._codes[rows]),
            ids=row_ids[rows],
            kinds=np.where(is_seed, seeds.kinds[seed_rows], CaseKind.MUTANT).astype(np.int8),
            made_by=np.where(is_seed, seeds.made_by[seed_rows], self._steps[rows] + len(seeds.morphisms)).astype(
                np.int32
            ),
            morphisms=(*seeds.morphisms, *names),
            origins=np.where(is_seed[:, None], seeds.origins[seed_rows], origins),
        )

    def finish(self, levels: list[States], repeats: list[States], drawn_cases: Integers | None) -> GeneratedCases:
        """Return all cases, with marks on those that were drawn; None stands for all."""
        level_states = States.concat(levels)
        states = States.concat([level_states, *repeats])
        self._table = RowTable(1)  # frees the memory of the full table
        tests = self._view(np.arange(self._count))
        state_of_case = np.full(len(tests), -1, dtype=np.int64)
        makers = np.flatnonzero(level_states.is_new)
        state_of_case[states.cases[makers]] = makers
        repeat_numbers = np.arange(len(level_states), len(states))
        drawn = np.ones(len(tests), dtype=bool)
        if drawn_cases is not None:
            drawn[:] = False
            drawn[drawn_cases] = True
        return GeneratedCases(
            tests=tests,
            seed_count=len(self.seeds),
            states=states,
            state_of_case=state_of_case,
            repeats=_select_different_ways(states, makers[len(self.seeds) :], repeat_numbers),
            drawn=drawn,
            made_count=self.made_count,
            rejected_count=self.rejected_count,
        )


def _select_different_ways(states: States, makers: Integers, repeats: Integers) -> Integers:
    """Return the repeats that make a case from other cases, or by another datamorphism, than earlier states do."""
    if not repeats.size:
        return repeats
    numbers = np.concatenate([makers, repeats])
    parents = states.cases[states.parents[numbers]]
    keys = [states.partners[numbers], states.steps[numbers], parents, states.cases[numbers]]
    order = np.lexsort(keys)  # stable: the first of equal ways stays first
    first_places = np.sort(order[_find_starts([key[order] for key in keys])])
    return numbers[first_places[first_places >= len(makers)]]


def make_step_generator(seed: int, order: int, step: int, attempt: int = 0) -> np.random.Generator:
    """Return the random generator of a datamorphism at one place of all chains."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(order, step, attempt)))


def make_all_cases(maker: CaseMaker, rule: ChainRule, show_progress: ShowProgress) -> GeneratedCases:
    """Make the cases of all chains of a strategy."""
    level = States.of_seeds(len(maker.seeds))
    numbers, levels, state_count = np.arange(len(level)), [level], len(level)
    repeats: list[States] = []
    # a binary datamorphism takes every other seed case: what may follow depends on the seed case
    has_partners = any(morphism.arity == 2 for morphism in maker.datamorphisms)
    for order in range(1, rule.max_length + 1):
        parts = []
        for step, morphism in enumerate(maker.datamorphisms):
            show_progress(f"order {order}: {morphism.name}", None)
            rows = np.flatnonzero(rule.allows(level.futures, step))
            partners = None
            if morphism.arity == 2:
                rows, partners = _pair_with_other_seeds(rows, level.seeds, len(maker.seeds))
            states, _ = maker.apply(step, level.take(rows), numbers[rows], partners, order)
            parts.append(replace(states, futures=rule.advance(states.futures, step)))
        level = States.concat(parts)
        repeats.append(level.take(~level.is_new))
        can_continue = rule.has_next(level.futures) & (order < rule.max_length)
        rows = _merge(level, can_continue, has_partners)
        level, can_continue = level.take(rows), can_continue[rows]
        levels.append(level)
        numbers = state_count + np.flatnonzero(can_continue)
        state_count += len(level)
        level = level.take(can_continue)
        if not len(level):
            break
    return maker.finish(levels, repeats, None)


def _pair_with_other_seeds(rows: Integers, seeds: npt.NDArray[np.int32], seed_count: int) -> tuple[Integers, Integers]:
    """Return every state with every seed case but its own."""
    pair_rows, partners = np.repeat(rows, seed_count), np.tile(np.arange(seed_count), len(rows))
    others = seeds[pair_rows] != partners
    return pair_rows[others], partners[others]


def _merge(states: States, can_continue: Mask, by_seed: bool) -> Integers:
    """Return the rows of the states to keep.

    These are the states that made a case and, of equal states that can be continued, the first.
    """
    candidates = np.flatnonzero(can_continue)
    keys = [states.cases[candidates], states.futures[candidates]]
    if by_seed:
        keys.append(states.seeds[candidates].astype(np.int64))
    order = np.lexsort(keys)  # stable: the first of equal states stays first
    keep = states.is_new.copy()
    keep[candidates[order[_find_starts([key[order] for key in keys])]]] = True
    return np.flatnonzero(keep)


def _find_starts(sorted_keys: Sequence[npt.NDArray[np.integer[Any]]]) -> Mask:
    """Return where a run of equal keys begins."""
    starts = np.zeros(len(sorted_keys[0]), dtype=bool)
    starts[:1] = True
    for key in sorted_keys:
        starts[1:] |= key[1:] != key[:-1]
    return starts


def make_drawn_cases(
    maker: CaseMaker, seeds: Integers, steps: Integers, choices: Integers, show_progress: ShowProgress
) -> GeneratedCases:
    """Make the cases of some chains, one per row, with all cases on the way to them.

    `seeds` are the rows of their seed cases. `steps` and `choices` are what `ChainRule.unrank` returns.
    """
    level = States.of_seeds(len(maker.seeds))
    levels, state_count = [level], len(level)
    numbers, drawn_cases = np.arange(len(level)), [np.empty(0, dtype=np.int64)]
    is_binary = np.array([morphism.arity == 2 for morphism in maker.datamorphisms])
    nodes = seeds.copy()  # the row of each chain in `level`, -1 where a filter ended it
    for place in range(steps.shape[1]):
        chains = np.flatnonzero((steps[:, place] != NO_STEP) & (nodes >= 0))
        if not chains.size:
            break
        others = choices[chains, place]
        partners = others + (others >= seeds[chains])  # the chain's own seed case is left out
        chain_steps = steps[chains, place]
        partners = np.where(is_binary[chain_steps], partners, NO_PARTNER)
        # chains with the same start share their states
        keys = np.column_stack([chain_steps, nodes[chains], partners])
        transitions, inverse = np.unique(keys, axis=0, return_inverse=True)
        parts, places, size = [], np.full(len(transitions), -1, dtype=np.int64), 0
        for step, morphism in enumerate(maker.datamorphisms):
            show_progress(f"order {place + 1}: {morphism.name}", None)
            step_rows = np.flatnonzero(transitions[:, 0] == step)
            rows = transitions[step_rows, 1]
            second_rows = transitions[step_rows, 2] if morphism.arity == 2 else None
            states, passing_rows = maker.apply(step, level.take(rows), numbers[rows], second_rows, place + 1)
            places[step_rows[passing_rows]] = size + np.arange(len(passing_rows))
            parts.append(states)
            size += len(states)
        level = States.concat(parts)
        levels.append(level)
        numbers = state_count + np.arange(len(level))
        state_count += len(level)
        nodes[:] = -1
        nodes[chains] = places[inverse.ravel()]
        is_last = (steps[:, place + 1] == NO_STEP) if place + 1 < steps.shape[1] else np.ones(len(steps), dtype=bool)
        drawn_cases.append(level.cases[nodes[is_last & (nodes >= 0)]])
    repeats = [level.take(~level.is_new) for level in levels]
    return maker.finish(levels, repeats, np.concatenate(drawn_cases))


def mark_ancestors(tests: TestSet, rows: Integers) -> Mask:
    """Return which cases are in some rows, or are ancestors of these."""
    needed = np.zeros(len(tests), dtype=bool)
    origin_rows, generation = tests.rows_of(tests.origins), rows
    while generation.size:
        needed[generation] = True
        parents: Ids = np.unique(origin_rows[generation])
        generation = parents[(parents >= 0) & ~needed[parents]]
    return needed
