"""Make the cases of all chains, or of some: all cases of one order in one batch per datamorphism.

A *state* is a chain that was applied to a seed case. Its value is the resulting input. Of several states with the same value,
the first makes the case, and the others are further ways to make it. All ways are kept, because metamorphisms compare a case
with its origins. A state is continued even if its value is not new. Two states are merged only if their values are equal and
the same chains may follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import perm
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

#: numbers of datamorphisms, each with the rows of the cases that are its other arguments
Chain = tuple[tuple[int, tuple[int, ...]], ...]
ShowProgress = Callable[[str, float | None], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class States:
    """Chains applied to seed cases, one per entry."""

    parents: Integers  # the numbers of the states they continue; -1 for seed cases
    steps: npt.NDArray[np.int16]  # the datamorphism applied last
    partners: npt.NDArray[np.int32]  # the rows of the cases that are its other arguments, NO_PARTNER after the last
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
    def of_seeds(count: int, width: int) -> States:
        """Return the empty chains; `width` is the largest number of other arguments."""
        rows = np.arange(count, dtype=np.int64)
        return States(
            parents=np.full(count, -1, dtype=np.int64),
            steps=np.full(count, NO_STEP, dtype=np.int16),
            partners=np.full((count, width), NO_PARTNER, dtype=np.int32),
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

    def read_chains(self, states: Integers) -> list[tuple[int, Chain]]:
        """Return the seed row and the chain of some states."""
        seeds, path = self.states.seeds[states].astype(np.int64), []
        while (states >= self.seed_count).any():
            path.append(states)
            states = np.where(states >= self.seed_count, self.states.parents[states], states)
        # the paths run from the end of a chain to its start, and chains have different lengths
        steps = np.full((len(seeds), len(path)), NO_STEP, dtype=np.int64)
        partners = np.full((len(seeds), len(path), self.states.partners.shape[1]), NO_PARTNER, dtype=np.int64)
        lengths = sum((numbers >= self.seed_count).astype(np.int64) for numbers in path)
        for distance, numbers in enumerate(path):
            rows = np.flatnonzero(numbers >= self.seed_count)
            places = np.asarray(lengths)[rows] - 1 - distance
            steps[rows, places] = self.states.steps[numbers[rows]]
            partners[rows, places] = self.states.partners[numbers[rows]]
        return [
            (
                seed,
                tuple(
                    (step, tuple(row for row in others if row >= 0))
                    for step, others in zip(*chain, strict=True)
                    if step >= 0
                ),
            )
            for seed, *chain in zip(seeds.tolist(), steps.tolist(), partners.tolist(), strict=True)
        ]


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
        self.partner_width = max(1, *(morphism.arity - 1 for morphism in datamorphisms))
        self._origins = np.full((capacity, 1 + self.partner_width), NO_ORIGIN, dtype=np.int64)  # rows
        self._codes[: len(seeds)] = seeds.inputs.codes
        self._table.add(seeds.inputs.codes)

    def apply(
        self, step: int, states: States, numbers: Integers, partners: Integers, order: int
    ) -> tuple[States, Integers]:
        """Apply a datamorphism to states, and return the new states and the rows of the states that its filter lets pass.

        `numbers` are the numbers of the states among all states. `partners` are the rows of the cases for the other arguments
        of the datamorphism, one column for each.
        """
        morphism, rows = self.datamorphisms[step], self._find_passing_rows(self.datamorphisms[step], states.cases)
        states = states.take(rows)
        cases = states.cases
        all_partners = np.full((len(rows), self.partner_width), NO_PARTNER, dtype=np.int64)
        all_partners[:, : morphism.arity - 1] = partners[rows, : morphism.arity - 1]
        values, is_new = np.empty(0, dtype=np.int64), np.zeros(len(rows), dtype=bool)
        if len(rows):
            space = self.seeds.space
            arguments = [cases, *all_partners[:, : morphism.arity - 1].T]
            inputs = [Points(space, self._codes[argument]) for argument in arguments]
            new_inputs = morphism.morph(*inputs, rng=make_step_generator(self.seed, order, step))
            values, new_rows = self._table.add(new_inputs.codes)
            is_new[new_rows] = True
            self._append(new_inputs.codes[new_rows], step, cases[new_rows], all_partners[new_rows])
            self.made_count += len(rows)
        new_states = States(
            parents=numbers[rows],
            steps=np.full(len(rows), step, dtype=np.int16),
            partners=all_partners.astype(np.int32),
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
            self._origins = np.concatenate([self._origins, np.full((extra, self._origins.shape[1]), NO_ORIGIN)])
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
        width = max(seeds.origins.shape[1], parents.shape[1])
        origins = np.full((len(rows), width), NO_ORIGIN, dtype=np.int64)
        origins[:, : parents.shape[1]] = np.where(parents >= 0, row_ids[parents], NO_ORIGIN)
        origins[is_seed] = NO_ORIGIN
        origins[is_seed, : seeds.origins.shape[1]] = seeds.origins[rows[is_seed]]
        return TestSet(
            inputs=Points(seeds.space, self._codes[rows]),
            ids=row_ids[rows],
            kinds=np.where(is_seed, seeds.kinds[seed_rows], CaseKind.MUTANT).astype(np.int8),
            made_by=np.where(is_seed, seeds.made_by[seed_rows], self._steps[rows] + len(seeds.morphisms)).astype(
                np.int32
            ),
            morphisms=(*seeds.morphisms, *names),
            origins=origins,
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
    keys = [*states.partners[numbers].T, states.steps[numbers], parents, states.cases[numbers]]
    order = np.lexsort(keys)  # stable: the first of equal ways stays first
    first_places = np.sort(order[_find_starts([key[order] for key in keys])])
    return numbers[first_places[first_places >= len(makers)]]


def make_step_generator(seed: int, order: int, step: int, attempt: int = 0) -> np.random.Generator:
    """Return the random generator of a datamorphism at one place of all chains."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(order, step, attempt)))


def make_all_cases(maker: CaseMaker, rule: ChainRule, show_progress: ShowProgress) -> GeneratedCases:
    """Make the cases of all chains of a strategy; the other arguments of datamorphisms are seed cases."""
    level = States.of_seeds(len(maker.seeds), maker.partner_width)
    numbers, levels, state_count = np.arange(len(level)), [level], len(level)
    repeats: list[States] = []
    # a datamorphism of several inputs takes all other seed cases: what may follow depends on the seed case
    has_partners = any(morphism.arity > 1 for morphism in maker.datamorphisms)
    for order in range(1, rule.max_length + 1):
        parts = []
        for step, morphism in enumerate(maker.datamorphisms):
            show_progress(f"order {order}: {morphism.name}", None)
            rows = np.flatnonzero(rule.allows(level.futures, step))
            rows, partners = _add_other_seeds(rows, level.seeds, len(maker.seeds), morphism.arity - 1)
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


def _add_other_seeds(
    rows: Integers, seeds: npt.NDArray[np.int32], seed_count: int, count: int
) -> tuple[Integers, Integers]:
    """Return every state with every sequence of so many different seed cases but its own."""
    sequences = np.array(list(permutations(range(seed_count), count)), dtype=np.int64)
    sequences = sequences.reshape(perm(seed_count, count), count)
    state_rows, partners = np.repeat(rows, len(sequences)), np.tile(sequences, (len(rows), 1))
    others = (seeds[state_rows][:, None] != partners).all(axis=1)
    return state_rows[others], partners[others]


def make_all_compositions(maker: CaseMaker, rule: ChainRule, show_progress: ShowProgress) -> GeneratedCases:
    """Make the cases of all compositions of a strategy, in which every argument may be a case that was made before.

    A composition is a tree. It belongs to a strategy if all its paths from a seed case to the new case are chains of the
    strategy. The arguments of a datamorphism are different cases.
    """
    pool = States.of_seeds(len(maker.seeds), maker.partner_width)
    newest, levels = 0, [pool]  # the first state of the last level
    repeats: list[States] = []
    for order in range(1, rule.max_length + 1):
        parts = []
        for step, morphism in enumerate(maker.datamorphisms):
            show_progress(f"order {order}: {morphism.name}", None)
            numbers = _list_arguments(
                np.flatnonzero(rule.allows(pool.futures, step)), newest, pool.cases, morphism.arity
            )
            first = numbers[:, 0]
            states, rows = maker.apply(step, pool.take(first), first, pool.cases[numbers[:, 1:]], order)
            futures = np.bitwise_or.reduce(pool.futures[numbers[rows]], axis=1)  # what any argument went through
            parts.append(replace(states, futures=rule.advance(futures, step)))
        level = States.concat(parts)
        repeats.append(level.take(~level.is_new))
        newest = len(pool)
        keys = np.column_stack(
            [np.concatenate([pool.cases, level.cases]), np.concatenate([pool.futures, level.futures])]
        )
        first_places = np.unique(keys, axis=0, return_index=True)[1]
        level = level.take(np.sort(first_places[first_places >= newest]) - newest)
        if not len(level):
            break
        levels.append(level)
        pool = States.concat([pool, level])
    return maker.finish(levels, repeats, None)


def _list_arguments(candidates: Integers, newest: int, cases: Integers, arity: int) -> Integers:
    """Return every sequence of states with different cases, one per row, of which one at least is of the last level."""
    grid = np.meshgrid(*[candidates] * arity, indexing="ij")
    numbers = np.stack([axis.ravel() for axis in grid], axis=1)
    values = np.sort(cases[numbers], axis=1)
    is_different = (values[:, 1:] != values[:, :-1]).all(axis=1)
    return numbers[is_different & (numbers >= newest).any(axis=1)]


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
    level = States.of_seeds(len(maker.seeds), maker.partner_width)
    levels, state_count = [level], len(level)
    numbers, drawn_cases = np.arange(len(level)), [np.empty(0, dtype=np.int64)]
    arities = np.array([morphism.arity for morphism in maker.datamorphisms])
    nodes = seeds.copy()  # the row of each chain in `level`, -1 where a filter ended it
    for place in range(steps.shape[1]):
        chains = np.flatnonzero((steps[:, place] != NO_STEP) & (nodes >= 0))
        if not chains.size:
            break
        chain_steps = steps[chains, place]
        partners = _choose_other_seeds(choices[chains, place], seeds[chains], len(maker.seeds), maker.partner_width)
        partners[np.arange(maker.partner_width) >= arities[chain_steps][:, None] - 1] = NO_PARTNER
        # chains with the same start share their states
        keys = np.column_stack([chain_steps, nodes[chains], partners])
        transitions, inverse = np.unique(keys, axis=0, return_inverse=True)
        parts, places, size = [], np.full(len(transitions), -1, dtype=np.int64), 0
        for step, morphism in enumerate(maker.datamorphisms):
            show_progress(f"order {place + 1}: {morphism.name}", None)
            step_rows = np.flatnonzero(transitions[:, 0] == step)
            rows = transitions[step_rows, 1]
            other_rows = transitions[step_rows, 2:]
            states, passing_rows = maker.apply(step, level.take(rows), numbers[rows], other_rows, place + 1)
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


def _choose_other_seeds(choices: Integers, seeds: Integers, seed_count: int, count: int) -> Integers:
    """Return the sequence of different seed cases of each number, without the chain's own seed case."""
    taken, rest = seeds[:, None], choices
    for left in range(seed_count - 1, seed_count - 1 - count, -1):
        row, rest = rest % max(left, 1), rest // max(left, 1)
        for other in np.sort(taken, axis=1).T:
            row = row + (row >= other)
        taken = np.column_stack([taken, row])
    return taken[:, 1:]


def mark_ancestors(tests: TestSet, rows: Integers) -> Mask:
    """Return which cases are in some rows, or are ancestors of these."""
    needed = np.zeros(len(tests), dtype=bool)
    origin_rows, generation = tests.rows_of(tests.origins), rows
    while generation.size:
        needed[generation] = True
        parents: Ids = np.unique(origin_rows[generation])
        generation = parents[(parents >= 0) & ~needed[parents]]
    return needed
