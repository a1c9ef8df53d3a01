"""`Generator`, the base class of what proposes the next groups to execute."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from .._estimates import refuse_many_rows
from .._typing import SeedLike
from .._validation import reject, to_generator, validate_integer
from ..errors import ArgumentError
from ..relations.algebra.base import Verdicts
from ..relations.algebra.box import Box, Floats
from ..relations.algebra.domain import parse_domain
from ..relations.algebra.function import FunctionRelation
from ..space.space import Space
from .affine_form import find_affine_form
from .kernels.ahead import GroupsAhead, make_groups_ahead
from .kernels.compiling import Kernel
from .kernels.layout import Ints, Layout, build_box_layout, build_layout
from .plain_kernels import MAX_PLAIN_GROUPS, advance_without_compiling
from .random_numbers import NumberStream
from .source_domain import SourceDomain

#: a domain of inputs: a box, a space, a pair of limits, or one pair per input, which may have names
DomainLike: TypeAlias = Box | Space | Mapping[str, Any] | Sequence[float] | Sequence[Sequence[float]]

INITIAL_CAPACITY_GROUPS = 64
FIRST_DOMAIN_BATCH = 16  # groups that are drawn at once and then restricted to a domain that is not a box
DOMAIN_BATCH_DIVISOR = 8  # later batches have an eighth of the groups so far, so few are wasted
MAX_DOMAIN_BATCH = 8192
MAX_TRIES_PER_GROUP = 1000  # drawn in the box around a domain, for each group inside it
MAX_GROUPS_AHEAD = 256
MAX_GROUPS_COMPARED = 1024  # at once, with what the function of the user makes
MAX_NUMBERS_AHEAD = 2**20  # in candidates of groups that are drawn ahead
MAX_CANDIDATES = 1_000_000  # per group


@dataclass(frozen=True, eq=False)
class GroupBatch:
    """Groups, one row per group: what was drawn for the sources, and the follow-ups."""

    sources: Floats
    follow_ups: Floats

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.sources, self.follow_ups))


class GeneratorKernels(NamedTuple):
    """The functions that count a group as executed and make groups."""

    add: Kernel
    advance: Kernel


class Generator:
    """Proposes groups of a relation, or single inputs of a domain.

    To drive it by hand, call `propose` for the next groups, execute them, and `tell` their verdicts. A group counts as
    executed from the moment it is proposed, whatever its verdict, so that the next violation is looked for elsewhere.
    `know` counts groups that were executed earlier.

    A subclass has `_prepare` and `_grow`, which make the memory of executed groups and enlarge it, and names its
    `kernels`, or overrides the methods that call them: `_advance`, which makes groups, and `_add`.

    If a function of the user makes the follow-ups, it is called once for the candidates of several groups. If it looks
    affine, the kernel makes the follow-ups itself, and the function confirms them afterwards. Otherwise candidates are drawn ahead as
    if choices did not matter: a choice closes one shell of many. The kernel that chooses stops at the first candidate in a
    shell closed in between, so the groups are those made one by one. Where candidates depend on every choice, those of one
    group are drawn ahead.

    If the domain is not a box, because its inputs satisfy constraints or have a distribution, groups are made in a box: that of the
    limits, or of quantiles. They are then placed in the domain; those outside are left out, although the memory has them, so that
    what is left spreads over the domain as all of them over the box. This is done for whole batches, whose sizes depend on the
    groups so far alone. Generators that prefer edges would hardly ever propose one inside: theirs are pulled to the edge of the domain.

    Parameters
    ----------
    relation : FunctionRelation, Box or pairs of limits
        The relation whose groups are proposed; or a domain, to propose single inputs.
    k : int, optional
        The number of candidates per group.
    seed : int or Generator
        The seed of the random numbers.
    scaled : bool
        Whether distances are measured in widths of the domain.

    Examples
    --------
    >>> from datamorphic.hunting.generators import make_generator
    >>> generator = make_generator("MT-RT", (0, 10), seed=1)
    >>> groups = generator.propose(3)
    >>> groups.sources.ravel().round(2).tolist()
    [5.12, 9.5, 1.44]
    """

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    default_candidates: ClassVar[int] = 10
    sources_only: ClassVar[bool] = False  # whether sources are chosen without regard to follow-ups
    default_budget: ClassVar[int] = 100_000  # groups per trial of a simulation
    prefers_edges: ClassVar[bool] = (
        False  # whether nearly all groups lie at edges of the box, where few are in a domain
    )
    draws_ahead: ClassVar[bool] = False  # whether candidates depend little on what was chosen before
    kernels: ClassVar[GeneratorKernels]
    _settings: tuple[Any, ...] = ()
    _stream: NumberStream
    _avoids_compiling = False  # whether so few groups are requested that kernels run as plain Python
    _advance_code: Callable[..., Any] | None = None  # of the kernel; it does not check the types of its arguments

    def __init__(
        self, relation: FunctionRelation | DomainLike, *, k: int | None = None, seed: SeedLike = 0, scaled: bool = False
    ) -> None:
        self.relation = relation if isinstance(relation, FunctionRelation) else parse_domain(relation, (), self.name)
        self._domain = SourceDomain.of(self.relation)
        self.k = self.default_candidates if k is None else validate_integer("k", self.name, k, 1, MAX_CANDIDATES)
        self.rng = to_generator("seed", self.name, seed)
        if self.sources_only or not isinstance(self.relation, FunctionRelation):
            self.layout: Layout = build_box_layout(self._domain.boxes, scaled=scaled)
        elif self._domain.warps:  # then a function makes the follow-ups, whatever they are
            self.layout = build_box_layout(self._domain.boxes, self.relation.follow_domains(), scaled=scaled)
        else:
            self.layout = build_layout(self.relation, scaled=scaled)
        self._executed = self._proposed = 0  # in the memory; of them, inside a domain that is not a box
        self._capacity = INITIAL_CAPACITY_GROUPS
        refuse_many_rows(self.name, "k", self.k, int(self.layout.start[-1]))
        self._assume_affine()
        self._reserve_candidates()
        self._memory: tuple[Any, ...] = ()
        self._answer: Callable[[list[Floats]], list[Any]] | None = None
        self._waiting: GroupBatch | None = None  # groups inside a domain that is not a box, to be proposed next
        self._prepare()

    # -- what subclasses may override ----------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Make an empty memory of executed groups."""
        raise NotImplementedError

    def _grow(self, capacity: int) -> None:
        """Enlarge the memory for `capacity` groups; the types of arrays and their order in memory stay."""
        raise NotImplementedError

    def _make_room(self) -> None:
        """Enlarge what limits the memory besides the number of groups."""

    @property
    def _state(self) -> tuple[Any, ...]:
        """The arguments that all kernels of a generator share."""
        return (self.layout, *self._settings, *self._memory)

    @property
    def _sizes(self) -> tuple[Ints, ...]:
        """The arrays that count what is in the memory, to undo groups; only subclasses with `draws_ahead` have them."""
        raise NotImplementedError

    def _advance(self, out: Floats) -> int:
        """Write groups to `out`; return how many there are, with the numbers and the memory at hand."""
        affine = True if self._ahead is None else None  # code behind a None is not compiled
        room = (self._candidates, self._scores, affine, self._ahead, self._follow_ups)
        arguments = (self._stream.numbers, *self._state, *room, out)
        if self._avoids_compiling:
            return int(advance_without_compiling(self.kernels.advance, *arguments))
        if self._advance_code is not None:
            return int(self._advance_code(*arguments))
        step = int(self.kernels.advance(*arguments))
        if self._ahead is not None:  # then there are many short calls
            self._advance_code = self.kernels.advance.get_compiled_code(arguments)
        return step

    def _add(self, row: Floats) -> None:
        """Count a group as executed."""
        self.kernels.add(*self._state, row)

    # -- what callers use ----------------------------------------------------------------------------------------

    def propose(self, count: int = 1) -> GroupBatch:
        """Return the next groups; they count as executed."""
        validate_integer("count", f"{self.name}.propose", count, 1)
        if self._domain.is_box:
            return self._draw_groups(count)
        groups = self._take_from_domain(count)
        self._proposed += count
        return groups

    @property
    def count(self) -> int:
        """The number of groups that count as executed."""
        return self._executed if self._domain.is_box else self._proposed

    def _take_from_domain(self, count: int) -> GroupBatch:
        """Return the next groups inside a domain that is not a box."""
        parts = [] if self._waiting is None else [self._waiting]
        size, tries = sum(map(len, parts)), 0
        while size < count:
            batch = min(max(FIRST_DOMAIN_BATCH, self._executed // DOMAIN_BATCH_DIVISOR), MAX_DOMAIN_BATCH)
            parts.append(self._restrict(self._draw_groups(batch)))
            size, tries = size + len(parts[-1]), tries + batch
            if tries > MAX_TRIES_PER_GROUP * (size + 1):
                raise ArgumentError(
                    f"{self.name} drew {tries:,} sources between the limits of the domain, of which {size:,} satisfy its "
                    "constraints: too few to continue. Give closer limits, or other constraints."
                )
        sources, follow_ups = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        self._waiting = GroupBatch(sources[count:], follow_ups[count:])
        return GroupBatch(sources[:count], follow_ups[:count])

    def _restrict(self, groups: GroupBatch) -> GroupBatch:
        """Return the groups that lie inside the domain when they are placed in it."""
        rows, inside = self._domain.place(groups.sources, self.rng)
        if self.prefers_edges:
            rows, inside = self._domain.pull_inside(rows, inside, self.rng)
        if (self._domain.settles or self.prefers_edges) and isinstance(
            self.relation, FunctionRelation
        ):  # they have other follow-ups now
            return GroupBatch(rows[inside], self._make_follow_ups(rows[inside], placed=True))
        return GroupBatch(rows[inside], groups.follow_ups[inside])

    def _draw_groups(self, count: int) -> GroupBatch:
        """Return the next groups in the box."""
        rows = np.zeros((count, int(self.layout.start[-1])))
        self._avoids_compiling = self._executed + count <= MAX_PLAIN_GROUPS
        position = 0
        if self._ahead is not None:
            self._ahead.size[0] = 0
        with NumberStream(self.rng, 4 * self.k * rows.size + 16) as self._stream:
            while position < count:
                # memory grows with the groups in it, not with those asked for
                chunk = rows[position : min(count, position + self._capacity - self._executed)]
                if not len(chunk):
                    self._capacity *= 2
                    self._grow(self._capacity)
                    continue
                step = self._advance_as_affine(chunk) if self._assumed_affine else self._advance(chunk)
                self._executed += step
                position += step
                candidates = self._follow_ahead()
                if self._stream.is_short:
                    self._stream.extend()
                elif step + candidates == 0:
                    self._make_room()
        sources, follow_ups = rows[:, : self.layout.width], rows[:, self.layout.width :]
        if self.sources_only and isinstance(self.relation, FunctionRelation):
            follow_ups = self._make_follow_ups(sources)
        return GroupBatch(sources, follow_ups)

    @property
    def _python_relation(self) -> FunctionRelation | None:
        """The relation, if a function makes the follow-ups of candidates."""
        relation = self.relation
        return None if self.sources_only or isinstance(relation, Box) or self._is_affine else relation

    @property
    def _is_affine(self) -> bool:
        """Whether kernels can make the follow-ups, from the numbers that they draw."""
        return isinstance(self.relation, FunctionRelation) and self.relation.affine and not self._domain.warps

    def _assume_affine(self) -> None:
        """Let the kernel make the follow-ups, if the function of the user looks affine."""
        self._assumed_affine = False
        if self.draws_ahead and self._domain.is_box and (relation := self._python_relation):
            change = find_affine_form(relation)
            if change is not None and len(change.matrix) == self.layout.start[-1] - self.layout.width:
                self.layout = self.layout._replace(matrix=change.matrix, offset=change.offset)
                self._assumed_affine = True

    def _reserve_candidates(self) -> None:
        """Make room for the candidates of a group, of groups ahead, or of all groups whose follow-ups are compared."""
        columns = int(self.layout.start[-1])
        max_groups = max(MAX_NUMBERS_AHEAD // (self.k * columns), 1)
        groups = min(max_groups, MAX_GROUPS_COMPARED) if self._assumed_affine else 1
        candidates = np.zeros((groups, self.k, columns))
        self._candidates = candidates if self.draws_ahead else candidates[0]
        self._scores = np.zeros((3, self.k))
        self._ahead: GroupsAhead | None = None
        self._follow_ups: Floats | None = None
        if not self._assumed_affine and (relation := self._python_relation):
            # a relation that depends on outputs executes all candidates, so none is drawn in vain
            draws_several = self.draws_ahead and not relation.uses_outputs
            groups = min(max_groups, MAX_GROUPS_AHEAD) if draws_several else 1
            self._ahead = make_groups_ahead(groups, self.k, self.layout)
            self._follow_ups = np.zeros((0, columns - self.layout.width))

    def _advance_as_affine(self, out: Floats) -> int:
        """Write groups whose follow-ups the kernel made; return how many.

        The function of the user makes the follow-ups of all candidates once more. If one of them differs in a bit, the groups
        are undone, and the function makes all follow-ups from now on.
        """
        begin, sizes = int(self._stream.numbers.position[0]), [array.copy() for array in self._sizes]
        step = self._advance(out[: len(self._candidates)])
        if not step:
            return 0
        sources, follow_ups = np.split(self._candidates[:step], [self.layout.width], axis=2)
        try:
            expected = self._make_follow_ups(sources.reshape(-1, self.layout.width))
        except BaseException:
            self._undo_groups(begin, sizes)
            raise
        if expected.tobytes() == follow_ups.tobytes():
            return step
        self._undo_groups(begin, sizes)
        self._assumed_affine = False
        self._reserve_candidates()
        return 0

    def _undo_groups(self, begin: int, sizes: list[Ints]) -> None:
        """Forget the groups made since the random number at `begin`, when the memory had these sizes."""
        self._stream.numbers.position[0] = begin
        for array, size in zip(self._sizes, sizes, strict=True):
            array[:] = size
        self._grow(self._capacity)  # files anew what is left, because its lists still lead to the undone groups

    def _follow_ahead(self) -> int:
        """Make the follow-ups of the candidates drawn ahead; return the number of groups."""
        if self._ahead is None or not (size := int(self._ahead.size[0])):
            return 0
        self._follow_ups = self._make_follow_ups(self._ahead.sources[:size].reshape(-1, self.layout.width))
        return size

    def _make_follow_ups(self, sources: Floats, *, placed: bool = False) -> Floats:
        """Return the follow-ups of sources, NaN for sources outside the domain."""
        if self._domain.is_box or placed:
            return self._follow(sources)
        rows, inside = self._domain.place(sources, np.random.default_rng(0))
        assert isinstance(self.relation, FunctionRelation)
        width = sum(box.dimension for box in self.relation.follow_domains())
        follow_ups = np.full((len(rows), width), np.nan)
        if inside.any():
            follow_ups[inside] = self._follow(rows[inside])
        return follow_ups

    def _follow(self, sources: Floats) -> Floats:
        assert isinstance(self.relation, FunctionRelation)
        outputs = None
        if self.relation.uses_outputs:
            if self._answer is None:
                raise ArgumentError(
                    f"Follow-ups of the relation {self.relation.name!r} depend on outputs. Set the function that "
                    "answers sources: generator.answer_with(function)."
                )
            outputs = self._answer(self.relation.source_inputs(sources))
        follow_ups = self.relation.follow(sources, outputs)
        if not self.sources_only and follow_ups.shape[1] != self.layout.start[-1] - self.layout.width:
            domain_widths = [box.dimension for box in self.relation.follow_domains()]
            raise ArgumentError(
                f"Follow-ups of the relation {self.relation.name!r} have {follow_ups.shape[1]} columns in all, but "
                f"their domains have {domain_widths}. Declare domains with as many columns: follow_domain."
            )
        return np.ascontiguousarray(follow_ups)  # `_advance_code` does not check the order of its arguments in memory

    def answer_with(self, answer: Callable[[list[Floats]], list[Any]]) -> None:
        """Set the function that answers sources, if follow-ups depend on outputs."""
        self._answer = answer

    def tell(self, groups: GroupBatch, verdicts: Verdicts, margins: Floats | None = None) -> None:
        """Take the verdicts of proposed groups; generators that learn override this."""

    def know(self, sources: npt.ArrayLike) -> None:
        """Count groups that were executed earlier, given by their sources."""
        rows = np.asarray(sources, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.layout.width or not np.isfinite(rows).all():
            reject("sources", f"{self.name}.know", f"rows of {self.layout.width} finite numbers", sources)
        if self.sources_only or isinstance(self.relation, Box):
            follow_ups = rows[:, :0]
        else:
            follow_ups = self._make_follow_ups(rows, placed=True)
            follow_ups = np.where(np.isfinite(follow_ups), follow_ups, self.layout.low[self.layout.width :])
        for row in np.concatenate([self._domain.unplace(rows), follow_ups], axis=1):
            while self._executed >= self._capacity:
                self._capacity *= 2
                self._grow(self._capacity)
            self._add(row)
            self._executed += 1
        self._proposed += len(rows)

    def clone(self, seed: SeedLike) -> Self:
        """Return a copy of the generator at its start, with another seed."""
        generator = copy.copy(self)
        generator.rng = to_generator("seed", self.name, seed)
        generator._executed, generator._proposed, generator._capacity = 0, 0, INITIAL_CAPACITY_GROUPS
        generator._waiting = None
        generator._advance_code = self._advance_code
        generator._reserve_candidates()
        generator._prepare()
        return generator

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without machine code, which cannot be pickled."""
        return {name: value for name, value in self.__dict__.items() if name != "_advance_code"}

    def __iter__(self) -> Iterator[GroupBatch]:
        while True:
            yield self.propose()

    def __repr__(self) -> str:
        return f"{self.name}({self.relation}, k={self.k}, {self.count:,} groups)"


#: a generator by its name, or its class
GeneratorLike: TypeAlias = str | type[Generator]
