"""Generators by distances to executed groups: FSCS-ART, RRT, MT-ART, SFIDMT-ART."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._validation import validate_choice, validate_integer, validate_positive
from ..errors import ArgumentError
from ..relations.algebra.function import FunctionRelation
from .generator_base import DomainLike, Generator, GeneratorKernels
from .kernels import pooling, spreading
from .kernels.layout import Ints
from .kernels.nearest import grow_point_index, make_point_index
from .kernels.shells import grow_shells, make_shells


class _DistanceGenerator(Generator):
    """Proposes the candidate farthest from executed groups."""

    kernels = GeneratorKernels(add=spreading.add_spread, advance=spreading.advance_spread)
    draws_ahead = True
    from_shells: ClassVar[bool] = False
    joint = False
    zones: spreading.ExclusionZones | None = None

    def _prepare(self) -> None:
        uniform = True if self.zones is None and not self.from_shells else None
        self._settings = (self.zones, uniform, True if self.joint else None)
        point_index = make_point_index(self.layout, self._capacity)
        shells = make_shells(self.layout, self._capacity) if self.from_shells else None
        self._memory = (point_index, shells)

    def _grow(self, capacity: int) -> None:
        point_index, shells = self._memory
        point_index = grow_point_index(self.layout, point_index, capacity)
        self._memory = (point_index, shells and grow_shells(shells, capacity))

    @property
    def _sizes(self) -> tuple[Ints, ...]:
        point_index, shells = self._memory
        return (point_index.size, shells.size)


class FSCS(_DistanceGenerator):
    """Fixed-size candidate set: of k uniform inputs the one farthest from executed ones."""

    name = "FSCS-ART"
    summary = "of k uniform sources the one farthest from the executed sources"
    sources_only = True


class EdgeCentre(_DistanceGenerator):
    """FSCS-ART with candidates from shells without an executed input."""

    name = "FSCS-EC"
    summary = "of k sources from empty shells the one farthest from the executed sources"
    sources_only = True
    from_shells = True


class MetamorphicDistance(EdgeCentre):
    """Metamorphic-distance ART: FSCS-EC on the sources of groups."""

    name = "MD-ART"
    summary = "FSCS-EC on the sources of groups; follow-ups do not count"


class RRT(_DistanceGenerator):
    """Restricted random testing: a uniform input outside all exclusion zones.

    The zones around executed inputs cover `ratio` of the domain together, so they shrink as they become more. After
    `tries` draws the farthest input is used.
    """

    name = "RRT"
    summary = "a uniform source outside the zones around executed ones"
    default_candidates = 1
    sources_only = True

    def __init__(
        self, relation: FunctionRelation | DomainLike, *, ratio: float = 1.5, tries: int = 100, **options: Any
    ) -> None:
        tries = validate_integer("tries", self.name, tries, 1)
        self.zones = spreading.ExclusionZones(tries, validate_positive("ratio", self.name, ratio))
        super().__init__(relation, **options)


class SFIDMT(_DistanceGenerator):
    """SFIDMT-ART: spread sources and follow-ups over their own domains.

    Candidates come from empty shells of the source domain. With `joint`, the nearest executed group counts as a whole
    instead of the nearest input in each domain.
    """

    name = "SFIDMT-ART"
    summary = "of k groups the one whose inputs are farthest from the executed ones of their own domains"
    from_shells = True

    def __init__(self, relation: FunctionRelation | DomainLike, *, joint: bool = False, **options: Any) -> None:
        self.joint = bool(joint)
        super().__init__(relation, **options)


class MTART(Generator):
    """MT-ART: keep away from a pool of all executed sources and follow-ups.

    Parameters
    ----------
    criterion : {"Min", "Avg", "Max"}
        Whether the least, mean or greatest distance counts.
    strategy : {1, 2}
        Whether distances to the pool (1) or within the group (2) come first.
    """

    name = "MT-ART"
    summary = "of k groups the one farthest from a pool of all executed inputs"
    criterion = "Min"
    draws_ahead = True
    kernels = GeneratorKernels(add=pooling.add_pool, advance=pooling.advance_pool)

    def __init__(
        self,
        relation: FunctionRelation | DomainLike,
        *,
        criterion: str | None = None,
        strategy: int = 1,
        **options: Any,
    ) -> None:
        statistic = validate_choice("criterion", self.name, criterion or self.criterion, ("Min", "Avg", "Max"))
        if strategy not in (1, 2):
            raise ArgumentError(f"The 'strategy' parameter of {self.name} must be 1 or 2. Got {strategy!r} instead.")
        number = {"Min": pooling.MIN, "Avg": pooling.AVG, "Max": pooling.MAX}[statistic]
        self._settings = (pooling.PoolSettings(number, strategy),)
        super().__init__(relation, **options)

    def _prepare(self) -> None:
        pool_layout = pooling.build_pool_layout(self.layout)
        inputs = self._capacity * self.layout.slots
        pool = pooling.InputPool(make_point_index(pool_layout, inputs), pool_layout, np.zeros(self.layout.width))
        self._memory = (pool, make_shells(self.layout, inputs))

    def _grow(self, capacity: int) -> None:
        pool, shells = self._memory
        inputs = capacity * self.layout.slots
        pool = pool._replace(point_index=grow_point_index(pool.layout, pool.point_index, inputs))
        self._memory = (pool, grow_shells(shells, inputs))

    @property
    def _sizes(self) -> tuple[Ints, ...]:
        pool, shells = self._memory
        return (pool.point_index.size, shells.size)


class MTARTMin(MTART):
    """MT-ART by least distances."""

    name = "MT-ART-Min"


class MTARTAvg(MTART):
    """MT-ART by mean distances, which prefers the edges."""

    name = "MT-ART-Avg"
    criterion = "Avg"
    prefers_edges = True
    default_budget = 5_000  # groups; each candidate is compared with the whole pool


class MTARTMax(MTART):
    """MT-ART by greatest distances, which prefers the edges."""

    name = "MT-ART-Max"
    criterion = "Max"
    prefers_edges = True
    default_budget = 5_000  # groups; each candidate is compared with the whole pool
