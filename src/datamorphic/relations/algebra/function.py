"""`FunctionRelation`: a relation between inputs and outputs of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ..._deprecation import deprecated, rename_keywords
from ..._text import format_short
from ..._validation import check_types, is_number, reject, validate_choice, validate_integer
from ...errors import ArgumentError, TestSystemError
from ...runs.flow import Flow, Query
from ...space.features import Continuous
from ...space.outputs import Outputs
from ...space.points import Batch, Points
from ...space.space import Space
from ...systems.base import Executor
from ...systems.function_runner import NumericFunction, call_by_name, make_number_space, name_columns, name_inputs
from .base import (
    HOLDS,
    INAPPLICABLE,
    UNDEFINED,
    VIOLATED,
    JudgedGroups,
    Mask,
    MetamorphicRelation,
    SystemRelation,
    Verdicts,
    format_relation,
    validate_booleans,
)
from .box import NUMBER, Affine, Box, Floats
from .domain import RangeDomain, distribute, parse_domain

DEFAULT_TOLERANCE = 1e-6
MAX_SOURCES = 1000
ANSWER_KINDS = ("numbers", "finite", "any")  # what functions may answer inside a domain
EQUAL, AT_MOST, LESS = "equal", "at_most", "less"
DOMAIN_SAMPLE_SIZE = 4096  # points from which a domain that is not declared is estimated
ColumnList = list[Any]
SidesFunction = Callable[[ColumnList, ColumnList], tuple[Any, Any]]


class Allowance(NamedTuple):
    """By how much two sides may differ: by a share of the greater one, or by a number, whichever allows more."""

    relative: float
    absolute: float

    def __str__(self) -> str:
        parts = [f"{self.relative:g} of the greater side"] if self.relative else []
        return " or ".join([*parts, f"{self.absolute:g}"] if self.absolute or not parts else parts)

    def measure(self, magnitude: Floats) -> Floats:
        """Return the allowed difference of each pair of sides; none for infinite numbers."""
        finite = np.where(np.isfinite(magnitude), magnitude, 0.0)
        return np.where(np.isfinite(magnitude), np.maximum(self.relative * finite, self.absolute), 0.0)


class Comparison(NamedTuple):
    """Which groups satisfy the relation, with which margin, if that is defined."""

    holds: Mask
    margin: Floats
    defined: Mask


class GroupAnswers(NamedTuple):
    """The verdicts and margins of groups, and their inputs and outputs: one array per source, then one per follow-up."""

    verdicts: Verdicts
    margins: Floats
    inputs: list[Floats]
    outputs: ColumnList


@check_types
@dataclass(frozen=True, eq=False, kw_only=True)
class FunctionRelation(SystemRelation):
    """A relation of a function between source inputs, follow-ups and outputs.

    The functions passed here get whole columns. Inputs are arrays with one row per group and one column per input of the
    function; if it has only one input, they are flat. `x` and `y` are lists: the inputs, sources first, and the outputs.

    Parameters
    ----------
    name : str
        The name in reports and commands.
    domain : pair, pairs, mapping, Box or Space
        The limits between which source inputs are drawn; a sequence of boxes for several sources with different limits. A
        mapping of names to limits, such as ``{"x": (-3, 3), "n": range(1, 10)}``, or to a `NumberRange`, names the arguments.
    follow_up : Affine or callable, or a sequence of them
        Makes a follow-up from the sources. A function of the sources, in order; with `uses_outputs` also of the keyword
        ``outputs``, the outputs of the sources. If arguments have names and there is one source, it is a function of the
        arguments that it needs, and returns those that change: ``lambda a: {"a": 2 * a}``. Of several sources, it gets
        a dict of arguments each.
    equal, at_most, less : callable, optional
        A function of ``(x, y)`` that returns two sides: they must be equal, or the first at most the second, or less
        than it. Without any of these, and without `expects`, all outputs must be equal.
    expects : callable, optional
        Any other condition: a function of ``(x, y)`` that returns True or False per group.
    statement : str
        The relation as a sentence, best as "change: consequence".
    sources : int
        The number of source inputs per group.
    make_inputs : callable, optional
        Converts the drawn numbers to the inputs of the function if they differ, for example if a relation starts at a
        fixed input and draws other numbers. Returns one array per source.
    applies : callable, optional
        A function of ``(x, y)``, with y the outputs of the sources, that returns where the relation applies.
    follow_domain : sequence, optional
        The limits of follow-ups. Outside them the relation is not applicable. By default the domain is derived: exactly
        for an `Affine` change, otherwise from samples.
    uses_outputs, necessary : bool
        Whether follow-ups depend on the outputs of the sources; whether every correct function satisfies the relation.
    tolerance, relative : float, bool
        The allowed difference of two sides; if `relative`, as a share of the greater one.
    relative, absolute : float
        Numbers instead of `tolerance`: the difference may be `relative` times the greater side, or `absolute`, whichever
        allows more.
    constraints : sequence, optional
        What inputs satisfy if arguments have names: ``["a <= b", "a + b + c == 1"]``, or functions of a frame.
    answers : {"numbers", "finite", "any"}
        What the function must answer inside the domain, which `check` examines, too: anything but NaN, finite numbers, or
        anything at all.
    reason : str
        Why every correct function satisfies it.

    Examples
    --------
    >>> supplement = FunctionRelation(name="supplement", domain=(0, 1000), follow_up=lambda x: np.pi - x)
    >>> supplement.sources, supplement.follow_ups
    (1, 1)
    >>> made = supplement.follow(np.array([[0.0], [1.0]]))
    >>> made.round(4).ravel().tolist()
    [3.1416, 2.1416]
    """

    name: str = field()  # without a default, although the base class has one
    domain: Any
    follow_up: Any
    equal: SidesFunction | None = None
    at_most: SidesFunction | None = None
    less: SidesFunction | None = None
    expects: Callable[[ColumnList, ColumnList], Any] | None = None
    statement: str = ""
    sources: int = 1
    make_inputs: Callable[..., Any] | None = None
    applies: Callable[[ColumnList, ColumnList], Any] | None = None
    follow_domain: Any = None
    uses_outputs: bool = False
    tolerance: float = DEFAULT_TOLERANCE
    relative: bool | float = False
    necessary: bool = True
    absolute: float | None = None
    constraints: Any = ()
    answers: str = ANSWER_KINDS[0]
    reason: str = ""

    def __post_init__(self) -> None:
        owner = f"the relation {self.name!r}"
        validate_integer("sources", owner, self.sources, 1, MAX_SOURCES)
        validate_choice("answers", owner, self.answers, ANSWER_KINDS)
        for role in ("tolerance", "relative", "absolute"):
            number = getattr(self, role)
            is_valid = number is None if role == "absolute" else isinstance(number, bool | np.bool_)
            if not is_valid and (not is_number(number) or not 0 <= float(number) < np.inf):
                reject(role, owner, "a finite number, 0 or more", number)
        if self.has_numeric_tolerance and self.tolerance != DEFAULT_TOLERANCE:
            raise ArgumentError(f"{owner} has two tolerances. Give relative= and absolute= as numbers, or tolerance=.")
        if sum(side is not None for side in (self.equal, self.at_most, self.less, self.expects)) > 1:
            raise ArgumentError(f"{owner} has several conditions. Give only one of equal, at_most, less and expects.")
        changes = self.follow_up if isinstance(self.follow_up, list | tuple) else [self.follow_up]
        if not changes or not all(callable(change) for change in changes):
            reject("follow_up", owner, "an Affine, a function of the sources, or several of these", self.follow_up)
        object.__setattr__(self, "follow_up", tuple(changes))
        several = isinstance(self.domain, list | tuple) and all(isinstance(part, Box) for part in self.domain)
        if not isinstance(self.constraints, str | Iterable):
            reject("constraints", owner, "constraints as texts, such as 'a <= b'", self.constraints)
        constraints = [self.constraints] if isinstance(self.constraints, str) else list(self.constraints)
        boxes = tuple(self.domain) if several else (parse_domain(self.domain, constraints, owner),) * self.sources
        object.__setattr__(self, "constraints", ())  # they are part of the domain from now on
        if len(boxes) != self.sources:
            raise ArgumentError(
                f"{owner} has {self.sources} source(s) but {len(boxes)} domain(s). Give one per source, or one for all."
            )
        object.__setattr__(self, "domain", boxes)
        for change in changes:
            if not isinstance(change, Affine):
                self._validate_arity("follow_up", change, owner)
            elif change.matrix.shape[1] != self.width:
                raise ArgumentError(
                    f"A follow-up of {owner} is a matrix for {change.matrix.shape[1]} numbers, but its "
                    f"{self.sources} source(s) have {self.width} in all. Give it one column per number."
                )
        if self.make_inputs is not None:
            if self.names:
                raise ArgumentError(
                    f"{owner} has named arguments, which make_inputs does not know. Give limits without names."
                )
            self._validate_arity("make_inputs", self.make_inputs, owner)
        if self.follow_domain is not None:
            object.__setattr__(self, "follow_domain", self._to_follow_boxes(owner))

    def _validate_arity(self, role: str, function: Callable[..., Any], owner: str) -> None:
        """Raise `ArgumentError` if a function cannot be called with the sources."""
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return  # functions of NumPy have no signature
        if self._list_keywords(signature):
            return
        keywords: dict[str, Any] = {"outputs": []} if self.uses_outputs and role == "follow_up" else {}
        try:
            signature.bind(*range(self.sources), **keywords)
        except TypeError as error:
            note = " and the keyword 'outputs'" if keywords else ""
            raise ArgumentError(f"{role} of {owner} must accept its {self.sources} source(s){note}: {error}.") from None

    def _list_keywords(self, signature: inspect.Signature) -> list[str]:
        """Return the named arguments that a function of a single source takes as keywords; none if it takes a dict."""
        if not self.names or self.sources > 1:
            return []
        parameters = signature.parameters.values()
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return list(self.names)
        names = [parameter.name for parameter in parameters if parameter.name != "outputs"]
        return names if set(names) <= set(self.names) else []

    def _to_follow_boxes(self, owner: str) -> tuple[Box, ...]:
        follow_domain, changes = self.follow_domain, self.follow_up
        several = isinstance(follow_domain, list | tuple) and len(follow_domain) > 0
        if len(changes) == 1 and not (several and all(isinstance(part, Box) for part in follow_domain)):
            follow_domain = [follow_domain]
        elif not several:
            reject("follow_domain", owner, f"a sequence of {len(changes)} domains, one per follow-up", follow_domain)
        boxes = tuple(Box.of(limits, owner) for limits in follow_domain)
        if len(boxes) != len(changes):
            raise ArgumentError(
                f"{owner} has {len(changes)} follow-up(s) but {len(boxes)} domain(s) for them. Give one per follow-up."
            )
        for change, box in zip(changes, boxes, strict=True):
            if isinstance(change, Affine) and len(change.matrix) != box.dimension:
                raise ArgumentError(
                    f"A follow-up of {owner} has {len(change.matrix)} columns, but its declared domain has {box.dimension}."
                )
        return boxes

    @property
    @deprecated(since="0.2", remedy="Use make_inputs.")
    def given(self) -> Callable[..., Any] | None:
        """The function that converts drawn numbers, under its old name."""
        return self.make_inputs

    @property
    def follow_ups(self) -> int:
        """The number of follow-ups per group."""
        return len(self.follow_up)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments; empty if inputs are arrays of columns without names."""
        box = self.domain[0]
        return box.names if isinstance(box, RangeDomain) and box.named else ()

    @property
    def has_numeric_tolerance(self) -> bool:
        """Whether the tolerance was given as numbers, relative or absolute."""
        return self.absolute is not None or not isinstance(self.relative, bool | np.bool_)

    @property
    def allowance(self) -> Allowance:
        """By how much two sides may differ."""
        if self.has_numeric_tolerance:
            return Allowance(float(self.relative), float(self.absolute or 0.0))
        tolerance = float(self.tolerance)
        return Allowance(tolerance, 0.0) if self.relative else Allowance(0.0, tolerance)

    @property
    def width(self) -> int:
        """The number of numbers drawn per group."""
        return sum(box.dimension for box in self.domain)

    @property
    def source_box(self) -> Box:
        """The limits of all numbers drawn per group."""
        low, high, kind = (
            np.concatenate([getattr(box, name) for box in self.domain]) for name in ("low", "high", "kind")
        )
        return Box(low, high, kind)

    @property
    def affine(self) -> bool:
        """Whether all follow-ups are affine."""
        return all(isinstance(change, Affine) for change in self.follow_up)

    # -- making groups ---------------------------------------------------------------------------------------

    def split(self, drawn: Floats) -> list[Floats]:
        """Return drawn numbers source by source, with one row per group."""
        drawn = np.asarray(drawn, dtype=float)
        if self.sources == 1:  # the usual case, on a hot path of generators
            return [drawn]
        return np.split(drawn, np.cumsum([box.dimension for box in self.domain])[:-1], axis=1)

    def source_inputs(self, drawn: Floats) -> list[Floats]:
        """Return the source inputs of the function."""
        parts = self.split(drawn)
        if self.make_inputs is None:
            return parts
        inputs = self.make_inputs(*(_flatten(part.copy()) for part in parts))
        inputs = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        if len(inputs) != self.sources:
            raise TestSystemError(
                f"make_inputs of the relation {self.name!r} returned {len(inputs)} source input(s). It must return {self.sources}."
            )
        return [self._to_rows("make_inputs", part, len(drawn)) for part in inputs]

    def follow(self, drawn: Floats, outputs: ColumnList | None = None) -> Floats:
        """Return the follow-up inputs side by side."""
        parts = [self._to_argument(part.copy()) for part in self.split(drawn)]  # a function may change its arguments
        inputs = [
            change(drawn) if isinstance(change, Affine) else self._change_inputs(change, parts, len(drawn), outputs)
            for change in self.follow_up
        ]
        if self.follow_domain is not None:
            for part, box in zip(inputs, self.follow_domain, strict=True):
                if part.shape[1] != box.dimension:
                    raise TestSystemError(
                        f"A follow-up of the relation {self.name!r} has {part.shape[1]} columns, but its declared domain "
                        f"has {box.dimension}."
                    )
        return np.concatenate(inputs, axis=1)

    def _to_argument(self, part: Floats) -> Any:
        """Return inputs as functions of the relation get them: a column, a matrix, or columns by name."""
        return dict(zip(self.names, part.T, strict=True)) if self.names else _flatten(part)

    def _change_inputs(
        self, change: Callable[..., Any], parts: list[Any], count: int, outputs: ColumnList | None = None
    ) -> Floats:
        """Return a follow-up as rows."""
        keywords: dict[str, Any] = {"outputs": outputs} if self.uses_outputs else {}
        if not self.names:
            return self._to_rows("follow_up", change(*parts, **keywords), count)
        if names := self._list_keywords(inspect.signature(change)):
            changed = change(**{name: parts[0][name] for name in names}, **keywords)
        else:
            changed = change(*parts, **keywords)
        if not isinstance(changed, Mapping):
            return self._to_rows("follow_up", changed, count)
        if unknown := [name for name in changed if name not in self.names]:
            raise TestSystemError(
                f"follow_up of the relation {self.name!r} changes {unknown[0]!r}, which is no argument. There are: "
                f"{', '.join(self.names)}."
            )
        columns = [np.broadcast_to(np.asarray(changed.get(name, parts[0][name]), float), count) for name in self.names]
        return np.column_stack(columns)

    def follow_inputs(self, follow_ups: Floats) -> list[Floats]:
        """Return the follow-ups one by one."""
        ends = np.cumsum([box.dimension for box in self.follow_domains()])[:-1]
        return np.split(follow_ups, ends, axis=1)

    def _to_rows(self, role: str, values: npt.ArrayLike, count: int) -> Floats:
        rows = np.asarray(values, dtype=float)
        if rows.ndim == 1 and len(rows) == count:
            rows = rows[:, None]
        if rows.ndim == 0:  # the same for all groups
            rows = np.full((count, 1), float(rows))
        if rows.ndim != 2 or len(rows) != count:
            raise TestSystemError(
                f"{role} of the relation {self.name!r} must return one row for each of {count:,} groups. "
                f"Got an array of shape {rows.shape}."
            )
        return rows

    # -- domains -----------------------------------------------------------------------------------------------

    def follow_domains(self) -> tuple[Box, ...]:
        """Return the box of each follow-up: declared, derived or estimated from samples."""
        return self._follow_boxes

    @cached_property
    def _follow_boxes(self) -> tuple[Box, ...]:
        if self.follow_domain:
            return self.follow_domain
        source_box = self.source_box
        if self.affine:
            return tuple(change.image(source_box) for change in self.follow_up)
        if self.uses_outputs:
            raise ArgumentError(
                f"Follow-ups of the relation {self.name!r} depend on outputs, so their domain cannot be derived. "
                "Declare it: follow_domain=(low, high)."
            )
        sample = self.draw_sources(DOMAIN_SAMPLE_SIZE, np.random.default_rng(0))
        if not self._has_domains:
            sample[0], sample[1] = source_box.low, source_box.high
        parts = [self._to_argument(part) for part in self.split(sample)]
        boxes = []
        for change in self.follow_up:
            if isinstance(change, Affine):
                boxes.append(change.image(source_box))
                continue
            follow_ups = self._change_inputs(change, parts, DOMAIN_SAMPLE_SIZE)
            finite = follow_ups[np.isfinite(follow_ups).all(axis=1)]
            if not len(finite):
                raise ArgumentError(
                    f"follow_up of the relation {self.name!r} returns no finite numbers for any of {DOMAIN_SAMPLE_SIZE:,} "
                    f"sources in {source_box}. Check its domain."
                )
            kind = np.zeros(follow_ups.shape[1], dtype=np.int8)
            boxes.append(Box(finite.min(0), finite.max(0), kind, estimated=True))
        return tuple(boxes)

    def over(self, domain: Any) -> FunctionRelation:
        """Return the relation with another source domain ("image")."""
        return replace(self, domain=domain, follow_domain=None)

    @check_types
    def drawn_from(self, distributions: Mapping[str, Any], names: Sequence[str] = ()) -> FunctionRelation:
        """Return the relation with sources drawn from distributions, within its domain.

        `distributions` are texts such as ``"normal(0, 1)"``, or distributions of SciPy, by the names of the inputs: those of the
        domain, `names`, or x, y, z and so on.
        """
        boxes = [
            distribute(
                box,
                distributions,
                (box.names if isinstance(box, RangeDomain) and box.named else names) or name_columns(box.dimension),
                f"the relation {self.name!r}",
            )
            for box in self.domain
        ]
        return replace(self, domain=tuple(boxes))

    def within(self, domain: Any) -> FunctionRelation:
        """Return the relation with sources whose follow-ups stay in a domain ("fit")."""
        box = parse_domain(domain, (), f"the relation {self.name!r}")
        if not self.affine or self.make_inputs is not None:
            raise ArgumentError(
                f"Follow-ups of the relation {self.name!r} are not affine, so it is not known which sources keep them in a "
                "domain. Give the source domain: over(domain)."
            )
        low, high = np.tile(box.low, self.sources), np.tile(box.high, self.sources)
        for change in self.follow_up:
            ends = change.preimage(box)
            if ends is None:
                raise ArgumentError(
                    f"A follow-up of the relation {self.name!r} mixes inputs, so the sources that stay in {box} do not form "
                    "a box. Give the source domain: over(domain)."
                )
            low, high = np.maximum(low, ends[0]), np.minimum(high, ends[1])
        integral = np.tile(box.kind, self.sources) != NUMBER
        low, high = np.where(integral, np.ceil(low), low), np.where(integral, np.floor(high), high)
        if (low > high).any():
            raise ArgumentError(
                f"No source of the relation {self.name!r} in {box} has its follow-ups there. Give another domain."
            )
        splits = np.cumsum([box.dimension] * self.sources)[:-1]
        boxes = [
            source.narrow(a, b) if isinstance(source, RangeDomain) else Box(a, b, box.kind)
            for source, a, b in zip(self.domain, np.split(low, splits), np.split(high, splits), strict=True)
        ]
        return replace(self, domain=tuple(boxes), follow_domain=None)

    # -- checking a system -------------------------------------------------------------------------------------

    draws_inputs = True

    def find_obstacle(self, sut: Executor, inputs: Points) -> str:
        """Return why the relation does not apply: the system takes other inputs."""
        space = inputs.space
        if any(feature.kind == "text" for feature in space.features):
            return "the relation draws numbers, but the system takes texts"
        if (widths := self.find_input_widths()) != {len(space)}:
            counts = " and ".join(map(str, sorted(widths)))
            return f"its inputs have {counts} columns, but the system takes {len(space)}: {', '.join(space.names[:6])}"
        return ""

    def list_input_boxes(self) -> tuple[Box, ...]:
        """Return the limits of inputs, as far as they are known: of the sources, unless they are computed, and of follow-ups."""
        return self.follow_domains() if self.make_inputs is not None else (*self.domain, *self.follow_domains())

    def find_input_widths(self) -> set[int]:
        """Return the numbers of columns that inputs have, source inputs and follow-ups."""
        return {box.dimension for box in self.list_input_boxes()}

    def fitted_to(self, sut: Executor, inputs: Points) -> SystemRelation:
        """Return the relation with the space of the system."""
        return _FittedFunctionRelation(self, sut.space or inputs.space)

    def named(self, name: str, *, statement: str | None = None) -> Self:
        """Return the relation with another name, and another statement if there is one."""
        return replace(self, name=name, statement=self.statement if statement is None else statement)

    def with_tolerance(self, tolerance: float) -> FunctionRelation:
        """Return the relation with another tolerance."""
        is_relative = self.relative is True
        return replace(self, tolerance=tolerance, relative=is_relative, absolute=None)

    @property
    def _has_domains(self) -> bool:
        """Whether sources are not simply drawn between limits."""
        return any(isinstance(box, RangeDomain) for box in self.domain)

    @check_types
    def draw_sources(self, count: int, rng: np.random.Generator) -> Floats:
        """Return the numbers of as many groups, drawn from the domains of the sources."""
        if not self._has_domains:
            return self.source_box.sample(count, rng)
        return np.concatenate([box.sample(count, rng) for box in self.domain], axis=1)

    def draw_inputs(self, inputs: Points, rng: np.random.Generator) -> Points:
        """Return as many groups as there are inputs: points of their space, or the numbers that several sources are made of."""
        space = inputs.space
        if self.sources > 1 or self.make_inputs is not None:
            box = self.source_box
            limits = zip(box.low.tolist(), box.high.tolist(), strict=True)
            space = Space([Continuous(f"drawn_{i}", low, high) for i, (low, high) in enumerate(limits, 1)])
        drawn = self.draw_sources(len(inputs), rng)
        if self.sources == 1 and (order := self.find_order(space)):
            drawn = drawn[:, order]
        return Points(space, drawn)

    def find_order(self, space: Space) -> list[int]:
        """Return which column of the relation each column of a space is, if they are in another order; else nothing."""
        if not self.names or self.names == space.names or set(self.names) != set(space.names):
            return []
        return [self.names.index(name) for name in space.names]

    def explain_violation(self, groups: JudgedGroups) -> list[tuple[str, str]]:
        """Return the two sides of the first group, and by how much they may differ."""
        if self.expects is not None:
            return []
        first = groups.take(slice(0, 1))
        pairs = [*(first.sources or [(first.source, first.before)]), (first.follow_up, first.after), *first.further]
        x = [self._to_argument(_get_rows(batch, self.names)) for batch, _ in pairs]
        y = [read_columns(outputs) for _, outputs in pairs]
        sides = self.equal or self.at_most or self.less
        if sides is None:
            return [("allowed", f"a difference of {self.allowance}")] if self.has_numeric_tolerance else []
        with np.errstate(all="ignore"):
            left, right = (np.ravel(side)[0] for side in sides(x, y))
        operator = "at most" if self.at_most else "less than" if self.less else "equal to"
        allowed = "" if self.less else f" (up to {self.allowance})"
        return [("sides", f"{format_short(left)} should be {operator} {format_short(right)}{allowed}")]

    def query_groups(self, drawn: Floats) -> Generator[Floats, tuple[Any, Mask], GroupAnswers]:
        """Yield inputs of the function, take their outputs and a mask of the answered ones, and judge the groups."""
        sources = self.source_inputs(drawn)
        outputs, sources_answered = yield from _query_inputs(sources)
        follow_ups = self.follow_inputs(self.follow(drawn, outputs))
        follow_up_outputs, follow_ups_answered = yield from _query_inputs(follow_ups)
        inputs, outputs = [*sources, *follow_ups], [*outputs, *follow_up_outputs]
        verdicts, margins = self.judge(inputs, outputs, sources_answered & follow_ups_answered)
        return GroupAnswers(verdicts, margins, inputs, outputs)

    # -- judging -----------------------------------------------------------------------------------------------

    def judge(self, x: ColumnList, y: ColumnList, answered: Mask | None = None) -> tuple[Verdicts, Floats]:
        """Return the verdict and the margin of each group; a margin of 0 nearly fails.

        For equal sides, the margin is the unused part of the tolerance. For an inequality, it is the difference of the sides.
        `answered` says which groups have all outputs.
        """
        count, rows = len(x[0]), x
        x = [self._to_argument(np.reshape(column, (count, -1))) for column in x]
        complete = np.ones(count, dtype=bool) if answered is None else answered.copy()
        margin = np.full(count, np.nan)
        with np.errstate(all="ignore"):
            if self.expects is not None:
                for outputs in y:
                    complete &= _has_answer(outputs, count)
                holds = validate_booleans("expects", self.name, self.expects(x, y), count, "groups")
            else:
                holds, margin, defined = self._compare(x, y, count)
                complete &= defined
            verdicts = np.where(holds, HOLDS, VIOLATED).astype(np.int8)
            verdicts[~complete] = UNDEFINED
            if self.applies is not None:
                applies = self.applies(x, y[: self.sources])
                verdicts[~validate_booleans("applies", self.name, applies, count, "groups")] = INAPPLICABLE
        if self._has_domains and self.make_inputs is None:
            for box, inputs in zip(self.domain, rows, strict=False):
                if isinstance(box, RangeDomain):
                    verdicts[~box.accepts(inputs.reshape(count, -1))] = INAPPLICABLE
        if self.follow_domain is not None:
            for box, inputs in zip(self.follow_domain, rows[self.sources :], strict=True):
                verdicts[~box.contains(inputs.reshape(count, -1))] = INAPPLICABLE
        margin[verdicts != HOLDS] = np.nan
        return verdicts, margin

    def _compare(self, x: ColumnList, y: ColumnList, count: int) -> Comparison:
        sides = self.equal or self.at_most or self.less
        if sides is None and any(np.asarray(outputs).dtype.kind not in "biufc" for outputs in y):
            return _compare_labels(y, count)
        operator = AT_MOST if self.at_most else LESS if self.less else EQUAL
        pairs = [(y[0], outputs) for outputs in y[1:]] if sides is None else [sides(x, y)]
        parts = [compare_numbers(pair, operator, self.allowance, count, self.name) for pair in pairs]
        holds, margin, defined = (np.array(column) for column in zip(*parts, strict=True))
        return Comparison(np.asarray(holds.all(axis=0)), margin.min(axis=0), np.asarray(defined.all(axis=0)))

    def __repr__(self) -> str:
        return f"FunctionRelation({self.name!r}, {self.sources}-{self.follow_ups})"

    def __str__(self) -> str:
        assumption = f"there are {self.sources} source input(s) in {self.domain[0]} and {self.follow_ups} follow-up(s)"
        return format_relation("functions", [assumption], self.name, self.statement or "see the code")


# the parameters as they were called in earlier versions
FunctionRelation.__init__ = rename_keywords("0.2", says="statement", given="make_inputs")(  # type: ignore[method-assign]
    FunctionRelation.__init__
)


class _FittedFunctionRelation(SystemRelation):
    """A relation of a function, for a system whose inputs are those of a space."""

    draws_inputs = True

    def __init__(self, relation: FunctionRelation, space: Space) -> None:
        self.relation, self.space = relation, space
        self.name, self.statement, self.necessary = relation.name, relation.statement, relation.necessary

    def draw_inputs(self, inputs: Points, rng: np.random.Generator) -> Points:
        return self.relation.draw_inputs(inputs, rng)

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        order = self.relation.find_order(self.space)
        steps, pairs = self.relation.query_groups(inputs.codes[:, np.argsort(order)] if order else inputs.codes), []
        try:
            codes = next(steps)
            while True:
                batch = Points(self.space, codes[:, order] if order else codes)
                outputs = yield Query(batch, note=self.name)
                pairs += [
                    (batch.take(part), outputs.take(part))
                    for part in (slice(start, start + len(inputs)) for start in range(0, len(batch), len(inputs)))
                ]
                codes = steps.send((read_columns(outputs), outputs.ok))
        except StopIteration as stop:
            judged: GroupAnswers = stop.value
        count = self.relation.sources
        sources, ((follow_up, after), *further) = pairs[:count], pairs[count:]
        is_drawn = inputs.space is not self.space  # numbers from which the source inputs are made
        return JudgedGroups(
            rows=np.arange(len(inputs)),
            source=inputs,
            follow_up=follow_up,
            before=sources[0][1],
            after=after,
            verdicts=judged.verdicts,
            further=tuple(further),
            sources=tuple(sources) if is_drawn else (),
        )


def prepare_function(model: Any, relations: Sequence[MetamorphicRelation], has_inputs: bool) -> Any:
    """Return a plain function of numbers as a system whose inputs are those of its relations; any other model as it is.

    It is called with one array per input, as in a hunt. If it `has_inputs` of its own, from data or a space, it is a model.
    """
    is_function = callable(model) and not isinstance(model, Executor | type)
    if has_inputs or not is_function or hasattr(model, "predict") or hasattr(model, "fit"):
        return model
    boxes = [
        box for relation in relations if isinstance(relation, FunctionRelation) for box in relation.list_input_boxes()
    ]
    if not boxes or not all(isinstance(relation, SystemRelation) and relation.draws_inputs for relation in relations):
        return model
    boxes = [box for box in boxes if box.dimension == boxes[0].dimension]
    low, high = np.min([box.low for box in boxes], axis=0), np.max([box.high for box in boxes], axis=0)
    whole = np.all([box.kind != NUMBER for box in boxes], axis=0)
    names = find_argument_names(relations) or name_inputs(model, boxes[0].dimension)
    space = make_number_space(names, low, high, whole)
    return NumericFunction(call_by_name(model, find_argument_names(relations)), space, getattr(model, "name", None))


def find_argument_names(relations: Sequence[object]) -> tuple[str, ...]:
    """Return the names that relations have for the arguments of a function; none if they have none."""
    named = [relation for relation in relations if isinstance(relation, FunctionRelation) and relation.names]
    for relation in named[1:]:
        if relation.names != named[0].names:
            raise ArgumentError(
                f"The relations {named[0].name!r} and {relation.name!r} name the arguments of the function in different ways: "
                f"{', '.join(named[0].names)}, and {', '.join(relation.names)}. Give both the same names in the same order."
            )
    return named[0].names if named else ()


def _get_rows(batch: Batch, names: tuple[str, ...]) -> Floats:
    """Return cases as numbers, with the columns in the order of names if they have these."""
    columns = batch.space.names if isinstance(batch, Points) else ()
    rows = batch.codes if isinstance(batch, Points) else batch.frame.to_numpy(dtype=float)
    return rows[:, [columns.index(name) for name in names]] if names and set(names) == set(columns) else rows


def read_columns(outputs: Outputs) -> npt.NDArray[Any]:
    """Return answers as a relation compares them: numbers as such, with NaN for no answer, tuples as rows of a matrix."""
    values, ok = outputs.values, outputs.ok
    if values.dtype.kind != "O" or not ok.any():
        return values
    answers = values[ok].tolist()
    parts = answers if isinstance(answers[0], tuple | list) else [[answer] for answer in answers]
    width = len(parts[0])
    if not all(isinstance(part, tuple | list) and len(part) == width and all(map(is_number, part)) for part in parts):
        return values
    numbers = np.full((len(values), width), np.nan)
    numbers[ok] = parts
    return numbers if isinstance(answers[0], tuple | list) else numbers[:, 0]


def _query_inputs(inputs: list[Floats]) -> Generator[Floats, tuple[Any, Mask], tuple[ColumnList, Mask]]:
    """Return the outputs part by part; parts of the same width are queried at once."""
    rows = len(inputs[0])
    if len({part.shape[1] for part in inputs}) == 1 and len(inputs) > 1:
        values, answered = yield np.concatenate(inputs)
        parts = [values[i * rows : (i + 1) * rows] for i in range(len(inputs))]
        return parts, np.asarray(answered.reshape(len(inputs), rows).all(axis=0))
    parts, all_answered = [], np.ones(rows, dtype=bool)
    for part in inputs:
        values, answered = yield part
        parts.append(values)
        all_answered &= answered
    return parts, all_answered


def _flatten(part: Floats) -> Floats:
    """Return a single column as a flat array."""
    return part[:, 0] if part.ndim == 2 and part.shape[1] == 1 else part


# -- comparing the two sides of a relation, per group ------------------------------------------------------------


def _has_answer(output: npt.ArrayLike, count: int) -> Mask:
    """Return which answers are present: neither NaN nor None in any part."""
    values = np.asarray(output).reshape(count, -1)
    if values.dtype.kind in "fc":
        return np.asarray(~np.isnan(values).any(axis=1))
    if values.dtype.kind != "O":
        return np.ones(count, dtype=bool)
    return np.array([all(part is not None and part == part for part in row) for row in values], dtype=bool)


def _compare_labels(outputs: list[Any], count: int) -> Comparison:
    """Compare answers that are not numbers: all must be equal."""
    first = np.asarray(outputs[0]).reshape(count, -1)
    holds, defined = np.ones(count, dtype=bool), _has_answer(outputs[0], count)
    for output in outputs[1:]:
        holds &= np.asarray(first == np.asarray(output).reshape(count, -1)).astype(bool).all(axis=1)
        defined &= _has_answer(output, count)
    return Comparison(holds, np.full(count, np.nan), defined)


def compare_numbers(sides: tuple[Any, Any], operator: str, allowance: Allowance, count: int, name: str) -> Comparison:
    """Compare two numeric sides: arrays with one row per group."""
    a, b = (_to_numbers(side, count, name, operator) for side in sides)
    difference = a - b
    defined = np.asarray(~np.isnan(difference).any(axis=1))
    if operator == LESS:
        margin = np.where(difference < 0, -difference, np.minimum(-difference, -np.finfo(float).tiny))
        return Comparison((margin >= 0).all(axis=1), margin.min(axis=1), defined)
    magnitude = np.maximum(np.abs(a), np.abs(b)) if allowance.relative else np.ones(difference.shape)
    allowed = allowance.measure(magnitude)
    if operator == AT_MOST:
        margin = allowed - difference
    else:
        gap = np.abs(difference)
        margin = np.where(allowed > 0, (allowed - gap) / np.maximum(allowed, 1e-300), -gap)
    return Comparison((margin >= 0).all(axis=1), margin.min(axis=1), defined)


def _to_numbers(values: npt.ArrayLike, count: int, name: str, operator: str) -> Any:
    side = np.asarray(values)
    try:
        if side.dtype.kind == "c" and operator != EQUAL:
            raise TypeError  # complex numbers have no order
        side = side if side.dtype.kind == "c" else side.astype(float)
    except (TypeError, ValueError):
        raise TestSystemError(
            f"A side of the relation {name!r} cannot be compared as a number: {side.dtype}. Compare such answers with "
            "expects."
        ) from None
    if side.ndim == 0:
        side = np.full(count, side.item())
    if len(side) != count:
        raise TestSystemError(
            f"A side of the relation {name!r} must have one number for each of {count:,} groups. "
            f"Got an array of shape {np.asarray(values).shape}."
        )
    return side.reshape(count, -1)
