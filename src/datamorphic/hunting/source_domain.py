"""`SourceDomain`: source domains that are not boxes, because inputs satisfy constraints or have a distribution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..relations.algebra.base import Mask
from ..relations.algebra.box import NUMBER, Box, Floats
from ..relations.algebra.domain import RangeDomain
from ..relations.algebra.function import FunctionRelation
from ..space.constraints import Constraint

BISECTIONS = 20  # on the way from a row inside a domain to one outside


@dataclass(frozen=True, eq=False)
class SourceDomain:
    """The domains of the sources of a group, side by side, and the boxes in which generators work.

    A column with a distribution is a quantile, from 0 to 1, in these boxes.
    """

    domains: tuple[Box, ...]

    @staticmethod
    def of(relation: FunctionRelation | Box) -> SourceDomain:
        """Return the source domain of a relation, or of single inputs."""
        return SourceDomain(relation.domain if isinstance(relation, FunctionRelation) else (relation,))

    @cached_property
    def warps(self) -> bool:
        """Whether numbers in the boxes are other ones in the domain."""
        return any(len(box.distributed) > 0 for box in self.domains if isinstance(box, RangeDomain))

    @cached_property
    def settles(self) -> bool:
        """Whether a constraint changes drawn rows so that more of them satisfy it."""
        return any(type(constraint).settle is not Constraint.settle for constraint in self._constraints)

    @cached_property
    def is_box(self) -> bool:
        """Whether the domain is just the boxes."""
        return not self.warps and not self._constraints

    @cached_property
    def _constraints(self) -> list[Constraint]:
        spaces = [box.space for box in self.domains if isinstance(box, RangeDomain)]
        return [constraint for space in spaces if space.keeps_constraints for constraint in space.constraints]

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """The boxes in which generators work."""
        return tuple(_build_box(box) for box in self.domains)

    def place(self, rows: Floats, rng: np.random.Generator) -> tuple[Floats, Mask]:
        """Return numbers of the boxes as inputs, and which of them lie inside the domain."""
        parts, inside = [], np.ones(len(rows), dtype=bool)
        for box, part in zip(self.domains, self._split(rows), strict=True):
            if isinstance(box, RangeDomain):
                part = part.copy(order="F")
                for column in box.distributed:
                    part[:, column] = box.ranges[column].take_quantiles(part[:, column])
                if box.space.keeps_constraints:
                    for constraint in box.space.constraints:
                        constraint.settle(box.space, part, rng)
                    inside &= box.accepts(part)
            parts.append(part)
        return np.concatenate(parts, axis=1), inside

    def pull_inside(self, rows: Floats, inside: Mask, rng: np.random.Generator) -> tuple[Floats, Mask]:
        """Move the rows that are not inside towards random ones that are, just until they are; return which are inside."""
        outside = np.flatnonzero(~inside)
        if not len(outside):
            return rows, inside
        inner = np.concatenate([box.sample(len(outside), rng) for box in self.domains], axis=1)
        outer = rows[outside].copy()
        for _ in range(BISECTIONS):
            middle, is_inside = self._accept((inner + outer) / 2)
            inner[is_inside], outer[~is_inside] = middle[is_inside], middle[~is_inside]
        rows = rows.copy()
        rows[outside] = inner
        return rows, np.ones(len(rows), dtype=bool)

    def _accept(self, rows: Floats) -> tuple[Floats, Mask]:
        """Return rows, rounded where numbers are whole, and which of them are in all domains."""
        parts, inside = [], np.ones(len(rows), dtype=bool)
        for box, part in zip(self.domains, self._split(rows), strict=True):
            part = np.where(box.kind == NUMBER, part, np.rint(part))
            inside &= box.accepts(part) if isinstance(box, RangeDomain) else box.contains(part)
            parts.append(part)
        return np.concatenate(parts, axis=1), inside

    def unplace(self, inputs: Floats) -> Floats:
        """Return inputs as numbers of the boxes."""
        rows = inputs.copy()
        columns = self._split(rows)
        for box, part in zip(self.domains, columns, strict=True):
            if isinstance(box, RangeDomain):
                for column in box.distributed:
                    part[:, column] = box.ranges[column].find_shares(part[:, column])
        return rows

    def _split(self, rows: Floats) -> list[Floats]:
        return np.split(rows, np.cumsum([box.dimension for box in self.domains])[:-1], axis=1)


def _build_box(box: Box) -> Box:
    if not isinstance(box, RangeDomain):
        return box
    low, high, kind = box.low.copy(), box.high.copy(), box.kind.copy()
    for column in box.distributed:
        low[column], high[column], kind[column] = 0.0, 1.0, NUMBER
    return Box(low, high, kind)
