"""The chains of datamorphisms that each strategy tries: how many there are, how they continue, and the chain of each rank.

A chain is a sequence of datamorphisms, applied to a seed case from left to right. Every start of a chain of a strategy is also
a chain of that strategy, so that the chains of each length can be made from those that are one shorter.

A unary datamorphism can be applied in one way, a binary one in as many ways as there are other seed cases for its second
argument, and one of more inputs in as many ways as there are sequences of other seed cases. These numbers are the weights of
the datamorphisms; chains that differ in another argument are different. If all arguments may be new cases, the chains are the
paths of a tree, a *composition*.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..._text import suggest_name
from ..._validation import validate_integer
from ...errors import ArgumentError
from ...morphisms.morphism import normalise_name
from ...space.features import Mask

Integers = npt.NDArray[np.int64]  # rows, ids, or numbers of states or datamorphisms
Ranks = npt.NDArray[Any]  # int64, or Python's integers where there are more chains than that

NO_STEP = -1  # in a matrix of chains: the chain has ended
MAX_INT64 = 2**63 - 1
MAX_ORDER = 100  # longer chains could only be sampled, and their number has thousands of digits
MAX_COMPOSITIONS = 10**100  # the numbers of larger ones have thousands of digits
LARGEST_EXACT_SIZE = 10**15  # larger numbers of chains are written as powers of ten


@dataclass(frozen=True)
class ChainRule(ABC):
    """The chains that a strategy tries with weighted datamorphisms.

    What may follow a chain is encoded as a number, its future. Chains with equal futures can be continued in the same ways.
    """

    strategy: ClassVar[str]  # the published name

    weights: tuple[int, ...]  # the number of ways to apply each datamorphism
    order: int | None = None  # the maximal length, where the strategy has one

    @property
    @abstractmethod
    def max_length(self) -> int:
        """The length of the longest chains."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of chains per seed case."""

    @abstractmethod
    def allows(self, futures: Integers, step: int) -> Mask:
        """Return which chains with these futures the datamorphism may follow."""

    @abstractmethod
    def advance(self, futures: Integers, step: int) -> Integers:
        """Return the futures of chains after one more datamorphism."""

    @abstractmethod
    def unrank(self, ranks: Ranks) -> tuple[Integers, Integers]:
        """Return the chains with these ranks, from 0 to `count` - 1, one per row.

        The first matrix has the datamorphisms, NO_STEP after the end. The second has the number of the other arguments
        among all sequences of other seed cases; 0 where there is none.
        """

    @abstractmethod
    def count_compositions(self, seed_count: int, arities: Sequence[int]) -> int:
        """Return the number of compositions that are new cases, for datamorphisms of so many inputs."""

    def has_next(self, futures: Integers) -> Mask:
        """Return which chains with these futures can be continued."""
        allowed = np.zeros(len(futures), dtype=bool)
        for step in range(len(self.weights)):
            allowed |= self.allows(futures, step)
        return allowed

    def _make_matrices(self, rows: int) -> tuple[Integers, Integers]:
        shape = (rows, self.max_length)
        return np.full(shape, NO_STEP, dtype=np.int64), np.zeros(shape, dtype=np.int64)


class BoundedSequences(ChainRule):
    """All sequences up to a length, repetition allowed."""

    strategy = "kOrderComplete"

    @property
    def max_length(self) -> int:
        """The length of the longest chains."""
        return self.order or 1

    @property
    def count(self) -> int:
        """The number of chains per seed case."""
        return sum(sum(self.weights) ** length for length in range(1, self.max_length + 1))

    def allows(self, futures: Integers, step: int) -> Mask:
        """Return True for all: the length alone limits these chains."""
        return np.ones(len(futures), dtype=bool)

    def advance(self, futures: Integers, step: int) -> Integers:
        """Return the futures of chains after one more datamorphism."""
        return futures

    def count_compositions(self, seed_count: int, arities: Sequence[int]) -> int:
        """Return the number of trees up to a height."""
        total = seed_count
        for _ in range(self.max_length):
            total = seed_count + _count_sequences(total, arities)
        return total - seed_count

    def unrank(self, ranks: Ranks) -> tuple[Integers, Integers]:
        """Return the chains with these ranks: shorter ones first, then as numbers with one digit per step."""
        steps, choices = self._make_matrices(len(ranks))
        ends, base, start = np.cumsum(self.weights), sum(self.weights), 0
        for length in range(1, self.max_length + 1):
            rows = np.flatnonzero((ranks >= start) & (ranks < start + base**length))
            rest = ranks[rows] - start
            for place in reversed(range(length)):
                digits = (rest % base).astype(np.int64)
                rest = rest // base
                steps[rows, place] = np.searchsorted(ends, digits, side="right")
                choices[rows, place] = digits - (ends - self.weights)[steps[rows, place]]
            start += base**length
        return steps, choices


class FirstOrder(BoundedSequences):
    """Every datamorphism once."""

    strategy = "firstOrderMutantComplete"


class OrderedSubsets(ChainRule):
    """Every non-empty subset of the datamorphisms, in declared order."""

    strategy = "combinatorialComplete"

    @property
    def max_length(self) -> int:
        """The length of the longest chains."""
        return len(self.weights)

    @property
    def count(self) -> int:
        """The number of chains per seed case."""
        product = 1
        for weight in self.weights:
            product *= 1 + weight
        return product - 1

    def allows(self, futures: Integers, step: int) -> Mask:
        """Return which chains end before this datamorphism."""
        return futures <= step

    def advance(self, futures: Integers, step: int) -> Integers:
        """Return the number of the first datamorphism that may follow."""
        return np.full(len(futures), step + 1, dtype=np.int64)

    def count_compositions(self, seed_count: int, arities: Sequence[int]) -> int:
        """Return the number of trees; the arguments of a datamorphism are cases of those declared before it."""
        total = seed_count
        for arity in arities:
            total += _count_sequences(total, [arity])
        return total - seed_count

    def unrank(self, ranks: Ranks) -> tuple[Integers, Integers]:
        """Return the chains with these ranks: one digit per datamorphism says whether, and how, it is applied."""
        steps, choices = self._make_matrices(len(ranks))
        rest, lengths, rows = ranks + 1, np.zeros(len(ranks), dtype=np.int64), np.arange(len(ranks))
        for step, weight in enumerate(self.weights):
            digits = (rest % (1 + weight)).astype(np.int64)
            rest = rest // (1 + weight)
            step_rows = rows[digits > 0]
            steps[step_rows, lengths[step_rows]] = step
            choices[step_rows, lengths[step_rows]] = digits[step_rows] - 1
            lengths[step_rows] += 1
        return steps, choices


class Permutations(ChainRule):
    """Every ordering of every non-empty subset of the datamorphisms.

    A future is the set of the datamorphisms used so far, as bits.
    """

    strategy = "permutationComplete"

    @property
    def max_length(self) -> int:
        """The length of the longest chains."""
        return len(self.weights)

    @property
    def count(self) -> int:
        """The number of chains per seed case."""
        # with the elementary symmetric polynomials e_k of the weights, there are k! e_k chains of length k
        sums = [1] + [0] * len(self.weights)
        for weight in self.weights:
            for size in range(len(self.weights), 0, -1):
                sums[size] += weight * sums[size - 1]
        total, factorial = 0, 1
        for size in range(1, len(sums)):
            factorial *= size
            total += factorial * sums[size]
        return total

    def allows(self, futures: Integers, step: int) -> Mask:
        """Return which chains do not have this datamorphism yet."""
        return (futures >> step) & 1 == 0

    def advance(self, futures: Integers, step: int) -> Integers:
        """Return the futures of chains after one more datamorphism."""
        return futures | (1 << step)

    def count_compositions(self, seed_count: int, arities: Sequence[int]) -> int:
        """Return the number of trees; the arguments of a datamorphism are cases of all others."""

        @cache
        def count(left: tuple[int, ...]) -> int:
            total = seed_count
            for arity in set(left):
                place = left.index(arity)
                total += left.count(arity) * _count_sequences(count(left[:place] + left[place + 1 :]), [arity])
            return total

        return count(tuple(sorted(arities))) - seed_count

    def unrank(self, ranks: Ranks) -> tuple[Integers, Integers]:
        """Return the chains with these ranks, step by step.

        The number of ways to continue depends on how many datamorphisms of each weight are left.
        """
        steps, choices = self._make_matrices(len(ranks))
        weights = sorted(set(self.weights))
        has_weight = np.array([[weight == own_weight for own_weight in self.weights] for weight in weights])
        free = np.ones((len(ranks), len(self.weights)), dtype=bool)
        rest = ranks + 1  # 0 ends a chain
        for place in range(self.max_length):
            rows = np.flatnonzero(rest > 0)
            left = (free[rows][:, None] & has_weight).sum(axis=2)  # datamorphisms per chain and weight
            for counts in np.unique(left, axis=0):
                group = rows[(left == counts).all(axis=1)]
                number, start = rest[group] - 1, 0
                for weight, count, is_candidate in zip(weights, counts.tolist(), has_weight, strict=True):
                    after = self._count_continuations(weights, counts, weight) if count else 0
                    in_part = (number >= start) & (number < start + count * weight * after)
                    part_rows, offset = group[in_part], number[in_part] - start
                    start += count * weight * after
                    if not part_rows.size:
                        continue
                    index = (offset // (weight * after)).astype(np.int64)
                    offset = offset % (weight * after)
                    candidates = np.cumsum(free[part_rows] & is_candidate, axis=1)
                    next_steps = (candidates > index[:, None]).argmax(axis=1)
                    steps[part_rows, place] = next_steps
                    choices[part_rows, place] = (offset // after).astype(np.int64)
                    free[part_rows, next_steps] = False
                    rest[part_rows] = offset % after
        return steps, choices

    @staticmethod
    def _count_continuations(weights: list[int], counts: Integers, used_weight: int) -> int:
        """Return in how many ways a chain can continue or end after a datamorphism of a weight is used."""
        left = [weight for weight, count in zip(weights, counts.tolist(), strict=True) for _ in range(count)]
        left.remove(used_weight)
        return Permutations(tuple(left)).count + 1


def _count_sequences(cases: int, arities: Sequence[int]) -> int:
    """Return the number of ways to apply datamorphisms of so many inputs to different cases; raise if it has no end."""
    if cases > MAX_COMPOSITIONS:
        raise ArgumentError(
            f"The strategy makes more than 10^{math.log10(MAX_COMPOSITIONS):.0f} cases if any argument may be a new case. Give "
            'arguments="seeds", or fewer datamorphisms of several inputs, or a smaller order.'
        )
    return sum(math.perm(cases, arity) for arity in arities)


RULES: dict[str, type[ChainRule]] = {
    rule.strategy: rule for rule in (FirstOrder, OrderedSubsets, Permutations, BoundedSequences)
}
STRATEGIES = tuple(RULES)
#: the plain names of the strategies
PLAIN_NAMES = {
    "first_order": FirstOrder.strategy,
    "combinations": OrderedSubsets.strategy,
    "permutations": Permutations.strategy,
    "sequences": BoundedSequences.strategy,
}
#: other names of the strategies: commands of Morphy's scripts
ALIASES = {
    "firstOrderComplete": FirstOrder.strategy,
    "mutants1stOrderComplete": FirstOrder.strategy,
    "makeMutants1stOrderComplete": FirstOrder.strategy,
}


def parse_strategy(name: str, order: int | None) -> tuple[str, int | None]:
    """Return the published name of a strategy, whose plain or published name may be written in any style, and its order.

    Examples
    --------
    >>> parse_strategy("permutations", None)
    ('permutationComplete', None)
    >>> parse_strategy("kOrderComplete(2)", None)
    ('kOrderComplete', 2)
    """
    text = name.strip()
    if match := re.fullmatch(r"(.*?)\s*\(\s*(\d{1,18})\s*\)", text):
        text, written_order = match[1], int(match[2])
        if order is not None and order != written_order:
            raise ArgumentError(
                f"The strategy {name!r} has the order {written_order}, but the argument order is {order!r}. Give one of them."
            )
        order = written_order
    known = {normalise_name(strategy): strategy for strategy in STRATEGIES}
    known |= {normalise_name(alias): strategy for alias, strategy in (PLAIN_NAMES | ALIASES).items()}
    strategy = known.get(normalise_name(text))
    if strategy is None:
        raise ArgumentError(f"There is no strategy {name!r}. {suggest_name(text, [*PLAIN_NAMES, *STRATEGIES])}")
    if strategy != BoundedSequences.strategy:
        if order is not None:
            raise ArgumentError(
                f"Only {BoundedSequences.strategy} has an order. Got {order!r} for {strategy}. Leave it out, or change the strategy."
            )
        return strategy, None
    if order is None:
        raise ArgumentError(
            f"{strategy} needs the length of its longest chains. Add order=2 (--order 2 on the command line), for example."
        )
    return strategy, validate_integer("order", "combine", order, 1, MAX_ORDER)


def draw_ranks(rng: np.random.Generator, total: int, count: int) -> Ranks:
    """Return `count` different numbers below `total` in ascending order; every selection is equally likely."""
    if total <= MAX_INT64:
        return np.sort(rng.choice(total, count, replace=False, shuffle=False))
    byte_count, ranks = (total.bit_length() + 7) // 8, set[int]()
    surplus_bits = 8 * byte_count - total.bit_length()
    while len(ranks) < count:
        rank = int.from_bytes(rng.bytes(byte_count), "big") >> surplus_bits
        if rank < total:
            ranks.add(rank)
    return np.array(sorted(ranks), dtype=object)


def split_ranks(ranks: Ranks, chains_per_seed: int) -> tuple[Integers, Ranks]:
    """Return the seed case of each rank, and the rank of its chain."""
    return (ranks // chains_per_seed).astype(np.int64), ranks % chains_per_seed


def format_size(size: int) -> str:
    """Return a number of cases for a sentence; very large ones as a power of ten."""
    return f"{size:,}" if size < LARGEST_EXACT_SIZE else f"about 10^{math.floor(math.log10(size))}"
