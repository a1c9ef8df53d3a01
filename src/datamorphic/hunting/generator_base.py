"""`Generator`: which group to execute next. It proposes, and is told."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._validation import reject, validate_integer
from .._validation import to_generator as random_generator
from ..errors import ArgumentError
from ..relations.base import Verdicts
from ..relations.box import Box, Floats
from ..relations.function import FunctionRelation
from .kernels.layout import Layout, build_box_layout, build_layout

INITIAL_CAPACITY_GROUPS = 64  # groups there is room for at the start


@dataclass(frozen=True, eq=False)
class GroupBatch:
    """Some groups: what was drawn for their sources, and their follow-ups, a row a group.

    Examples
    --------
    >>> sources, follow_ups = Groups(np.zeros((3, 1)), np.ones((3, 2)))
    >>> sources.shape, follow_ups.shape
    ((3, 1), (3, 2))
    """

    sources: Floats
    follow_ups: Floats

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.sources, self.follow_ups))


class Generator:
    """Proposes groups of a relation, or single inputs of a domain.

    Drive it by hand: `propose` gives the next groups, each chosen as if those before it had been executed; execute them,
    and `tell` what became of them. A group counts as executed from the moment it is proposed, whatever its verdict: a
    violating one too, so that the next violation is looked for elsewhere. `know` counts groups of earlier days as executed.

    Subclasses say how: `_make` prepares the memory, and four kernels work on it (see `spreading`).

    Parameters
    ----------
    relation : FunctionRelation, Box or pairs of limits
        What groups are made of; a domain for single inputs.
    k : int, optional
        How many candidates are drawn for each group.
    seed : int or Generator
        Where randomness starts.
    scaled : bool
        Whether distances are measured in widths of the domain, not as the numbers are.

    Examples
    --------
    >>> from datamorphic.groups import generators
    >>> made = generators.make("MT-RT", (0, 10), seed=1)
    >>> groups = made.propose(3)
    >>> groups.sources.ravel().round(2).tolist()
    [5.12, 9.5, 1.44]
    """

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    default_candidates: ClassVar[int] = 10  # by default
    sources_only: ClassVar[bool] = False  # whether sources are chosen without a look at follow-ups
    default_budget: ClassVar[int] = 100_000  # groups after which a trial is ended, unless the user says otherwise

    def __init__(
        self,
        relation: FunctionRelation | Box | Any,
        *,
        k: int | None = None,
        seed: Any = 0,
        scaled: bool = False,
    ) -> None:
        self.relation = relation if isinstance(relation, FunctionRelation) else Box.of(relation, self.name)
        self.k = self.default_candidates if k is None else validate_integer("k", self.name, k, 1)
        self.rng = random_generator("seed", self.name, seed)
        if self.sources_only and isinstance(self.relation, FunctionRelation):
            self.layout: Layout = build_box_layout(self.relation.domain, scaled=scaled)
        else:
            self.layout = build_layout(self.relation, scaled=scaled)
        self.count = 0
        self._capacity = INITIAL_CAPACITY_GROUPS
        self._rows = np.zeros((self.k, int(self.layout.start[-1])))
        self._memory: Any = None
        self._answer: Callable[[list[Floats]], list[Any]] | None = None
        self._prepare()

    # -- what subclasses do --------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Make the memory."""

    def _grow(self, capacity: int) -> None:
        """Make room for more groups."""

    def _advance(self, out: Floats) -> int:
        """Make groups with affine follow-ups; return how many, fewer where there was no room for more."""
        raise NotImplementedError

    def _draw_candidates(self) -> bool:
        """Draw the sources of candidates into `_rows`; return False where there is no room."""
        raise NotImplementedError

    def _choose(self, tie: float) -> int:
        """Return the best of the candidates in `_rows`."""
        raise NotImplementedError

    def _add(self, row: Floats) -> None:
        """Count a group as executed."""
        raise NotImplementedError

    # -- what everybody calls ------------------------------------------------------------------------------------

    def propose(self, count: int = 1) -> GroupBatch:
        """Return the next groups; they count as executed."""
        validate_integer("count", f"{self.name}.propose", count, 1)
        rows = np.zeros((count, int(self.layout.start[-1])))
        position = 0
        while position < count:
            # little by little, or memory would be made for groups that are far away
            chunk = min(count - position, max(self._capacity - self.count, 0))
            if chunk == 0:
                self._capacity *= 2
                self._grow(self._capacity)
                continue
            if self._runs_in_kernels:
                step = self._advance(rows[position : position + chunk])
                self.count += step
            else:
                step = self._advance_one_by_one(rows[position : position + chunk])
            position += step
        sources, follow_ups = rows[:, : self.layout.width], rows[:, self.layout.width :]
        if self.sources_only and isinstance(self.relation, FunctionRelation):
            follow_ups = self._make_follow_ups(sources)
        return GroupBatch(sources, follow_ups)

    @property
    def _runs_in_kernels(self) -> bool:
        """Whether groups can be chosen without calling a function of the user's."""
        return self.sources_only or isinstance(self.relation, Box) or self.relation.affine

    def _advance_one_by_one(self, out: Floats) -> int:
        """Make groups whose follow-ups are made by a function of the user's."""
        width = self.layout.width
        for i in range(len(out)):
            while not self._draw_candidates():
                self._grow(self._capacity)
            self._rows[:, width:] = self._replace_non_finite(self._make_follow_ups(self._rows[:, :width]))
            best = self._choose(self.rng.random())
            self._add(self._rows[best])
            self.count += 1
            out[i] = self._rows[best]
            out[i, width:] = self._follow_ups[best]
        return len(out)

    def _make_follow_ups(self, sources: Floats) -> Floats:
        assert isinstance(self.relation, FunctionRelation)
        outputs = None
        if self.relation.uses_outputs:
            if self._answer is None:
                raise ArgumentError(
                    f"Follow-ups of the relation {self.relation.name!r} depend on answers. Say who answers: "
                    "generator.answered_by(function)."
                )
            outputs = self._answer(self.relation.source_inputs(sources))
        self._follow_ups = self.relation.follow(sources, outputs)
        if not self.sources_only and self._follow_ups.shape[1] != self.layout.start[-1] - self.layout.width:
            domain_widths = [box.dimension for box in self.relation.follow_domains()]
            raise ArgumentError(
                f"Follow-ups of the relation {self.relation.name!r} have {self._follow_ups.shape[1]} columns in all, and their "
                f"domains {domain_widths}. Declare domains of as many columns: follow_domain."
            )
        return self._follow_ups

    def _replace_non_finite(self, follow_ups: Floats) -> Floats:
        """Return follow-ups as kernels can file them: what is no number lies at the lower limit."""
        low = self.layout.low[self.layout.width :]
        return np.where(np.isfinite(follow_ups), follow_ups, low)

    def answer_with(self, answer: Callable[[list[Floats]], list[Any]]) -> None:
        """Say who answers to sources, for relations whose follow-ups depend on that."""
        self._answer = answer

    def tell(self, groups: GroupBatch, verdicts: Verdicts, margins: Floats | None = None) -> None:
        """Be told what became of groups that were proposed: generators that learn from it say so; these do not."""

    def know(self, sources: Any) -> None:
        """Count groups that were executed before as executed, from their sources."""
        rows = np.asarray(sources, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.layout.width or not np.isfinite(rows).all():
            reject("sources", f"{self.name}.know", f"rows of {self.layout.width} finite numbers", sources)
        without_follow_ups = self.sources_only or isinstance(self.relation, Box)
        follow_ups = rows[:, :0] if without_follow_ups else self._replace_non_finite(self._make_follow_ups(rows))
        for row in np.concatenate([rows, follow_ups], axis=1):
            while self.count >= self._capacity:
                self._capacity *= 2
                self._grow(self._capacity)
            self._add(row)
            self.count += 1

    def clone(self, seed: Any) -> Self:
        """Return the same generator at its start, with another seed."""
        copied = copy.copy(self)
        copied.rng = random_generator("seed", self.name, seed)
        copied.count, copied._capacity = 0, INITIAL_CAPACITY_GROUPS
        copied._rows = np.zeros_like(self._rows)
        copied._prepare()
        return copied

    def __iter__(self) -> Iterator[GroupBatch]:
        while True:
            yield self.propose()

    def __repr__(self) -> str:
        return f"{self.name}({self.relation}, k={self.k}, {self.count:,} groups)"
