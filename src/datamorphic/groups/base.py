"""`Generator`: which group to execute next. It proposes, and is told."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._checks import generator as random_generator
from .._checks import reject, whole_number
from ..errors import ArgumentError
from ..relations.base import Verdicts
from ..relations.boxes import Box, Floats
from ..relations.numeric import FunctionRelation
from .kernels.layout import Layout, layout_of, layout_of_boxes

ROOM = 64  # groups there is room for at the start


@dataclass(frozen=True, eq=False)
class Groups:
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
    says: ClassVar[str] = ""
    candidates: ClassVar[int] = 10  # by default
    alone: ClassVar[bool] = False  # whether sources are chosen without a look at follow-ups
    patience: ClassVar[int] = 100_000  # groups after which a trial is ended, unless the user says otherwise

    def __init__(
        self,
        relation: FunctionRelation | Box | Any,
        *,
        k: int | None = None,
        seed: Any = 0,
        scaled: bool = False,
    ) -> None:
        self.relation = relation if isinstance(relation, FunctionRelation) else Box.of(relation, self.name)
        self.k = self.candidates if k is None else whole_number("k", self.name, k, 1)
        self.rng = random_generator("seed", self.name, seed)
        if self.alone and isinstance(self.relation, FunctionRelation):
            self.layout: Layout = layout_of_boxes(self.relation.domain, scaled=scaled)
        else:
            self.layout = layout_of(self.relation, scaled=scaled)
        self.count = 0
        self._room = ROOM
        self._rows = np.zeros((self.k, int(self.layout.start[-1])))
        self._memory: Any = None
        self._answer: Callable[[list[Floats]], list[Any]] | None = None
        self._prepare()

    # -- what subclasses do --------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Make the memory."""

    def _grow(self, room: int) -> None:
        """Make room for more groups."""

    def _advance(self, made: Floats) -> int:
        """Make groups with affine follow-ups; return how many, fewer where there was no room for more."""
        raise NotImplementedError

    def _candidates(self) -> bool:
        """Draw the sources of candidates into `_rows`; return False where there is no room."""
        raise NotImplementedError

    def _choose(self, tie: float) -> int:
        """Return the best of the candidates in `_rows`."""
        raise NotImplementedError

    def _add(self, row: Floats) -> None:
        """Count a group as executed."""
        raise NotImplementedError

    # -- what everybody calls ------------------------------------------------------------------------------------

    def propose(self, count: int = 1) -> Groups:
        """Return the next groups; they count as executed."""
        whole_number("count", f"{self.name}.propose", count, 1)
        made = np.zeros((count, int(self.layout.start[-1])))
        done = 0
        while done < count:
            # little by little, or memory would be made for groups that are far away
            part = min(count - done, max(self._room - self.count, 0))
            if part == 0:
                self._room *= 2
                self._grow(self._room)
                continue
            if self._closed:
                step = self._advance(made[done : done + part])
                self.count += step
            else:
                step = self._by_hand(made[done : done + part])
            done += step
        sources, follow_ups = made[:, : self.layout.width], made[:, self.layout.width :]
        if self.alone and isinstance(self.relation, FunctionRelation):
            follow_ups = self._follow(sources)
        return Groups(sources, follow_ups)

    @property
    def _closed(self) -> bool:
        """Whether groups can be chosen without calling a function of the user's."""
        return self.alone or isinstance(self.relation, Box) or self.relation.affine

    def _by_hand(self, made: Floats) -> int:
        """Make groups whose follow-ups are made by a function of the user's."""
        width = self.layout.width
        for i in range(len(made)):
            while not self._candidates():
                self._grow(self._room)
            self._rows[:, width:] = self._settled(self._follow(self._rows[:, :width]))
            chosen = self._choose(self.rng.random())
            self._add(self._rows[chosen])
            self.count += 1
            made[i] = self._rows[chosen]
            made[i, width:] = self._made[chosen]
        return len(made)

    def _follow(self, sources: Floats) -> Floats:
        assert isinstance(self.relation, FunctionRelation)
        outputs = None
        if self.relation.uses_outputs:
            if self._answer is None:
                raise ArgumentError(
                    f"Follow-ups of the relation {self.relation.name!r} depend on answers. Say who answers: "
                    "generator.answered_by(function)."
                )
            outputs = self._answer(self.relation.source_inputs(sources))
        self._made = self.relation.follow(sources, outputs)
        if not self.alone and self._made.shape[1] != self.layout.start[-1] - self.layout.width:
            declared = [box.dimension for box in self.relation.follow_domains()]
            raise ArgumentError(
                f"Follow-ups of the relation {self.relation.name!r} have {self._made.shape[1]} columns in all, and their "
                f"domains {declared}. Declare domains of as many columns: follow_domain."
            )
        return self._made

    def _settled(self, made: Floats) -> Floats:
        """Return follow-ups as kernels can file them: what is no number lies at the lower limit."""
        low = self.layout.low[self.layout.width :]
        return np.where(np.isfinite(made), made, low)

    def answered_by(self, answer: Callable[[list[Floats]], list[Any]]) -> None:
        """Say who answers to sources, for relations whose follow-ups depend on that."""
        self._answer = answer

    def tell(self, groups: Groups, verdicts: Verdicts, room: Floats | None = None) -> None:
        """Be told what became of groups that were proposed: generators that learn from it say so; these do not."""

    def know(self, sources: Any) -> None:
        """Count groups that were executed before as executed, from their sources."""
        drawn = np.asarray(sources, dtype=float)
        if drawn.ndim != 2 or drawn.shape[1] != self.layout.width or not np.isfinite(drawn).all():
            reject("sources", f"{self.name}.know", f"rows of {self.layout.width} finite numbers", sources)
        alone = self.alone or isinstance(self.relation, Box)
        made = drawn[:, :0] if alone else self._settled(self._follow(drawn))
        for row in np.concatenate([drawn, made], axis=1):
            while self.count >= self._room:
                self._room *= 2
                self._grow(self._room)
            self._add(row)
            self.count += 1

    def again(self, seed: Any) -> Self:
        """Return the same generator at its start, with another seed."""
        other = copy.copy(self)
        other.rng = random_generator("seed", self.name, seed)
        other.count, other._room = 0, ROOM
        other._rows = np.zeros_like(self._rows)
        other._prepare()
        return other

    def __iter__(self) -> Iterator[Groups]:
        while True:
            yield self.propose()

    def __repr__(self) -> str:
        return f"{self.name}({self.relation}, k={self.k}, {self.count:,} groups)"
