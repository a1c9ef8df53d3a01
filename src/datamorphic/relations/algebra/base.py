"""`Relation`, the base class of relations of models, and verdicts on groups."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ..._deprecation import deprecated
from ..._lazy import pd
from ..._validation import check_types
from ...errors import DataError, TestSystemError
from ...runs.flow import Flow, Query
from ...space.outputs import Outputs, find_rounding
from ...space.points import Batch, Points, Rows, RowSelection
from ...space.space import Space
from ...systems.base import Executor

Mask = npt.NDArray[np.bool_]
Verdicts = npt.NDArray[np.int8]
HOLDS, VIOLATED, INAPPLICABLE, UNDEFINED = range(4)  # in the order of `cases.Verdict`
ROUNDING_TOLERANCE = 1e-6  # of the size or spread of real answers: many models compute in single precision


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedCases:
    """Cases with a verdict each."""

    verdicts: Verdicts  # INAPPLICABLE: the relation does not apply to the case; UNDEFINED: an answer is missing

    def __len__(self) -> int:
        return len(self.verdicts)

    def count(self, verdict: int) -> int:
        """Return the number of cases with a verdict."""
        return int((self.verdicts == verdict).sum())

    @property
    def judged_count(self) -> int:
        """The number of cases that hold or are violated."""
        return self.count(HOLDS) + self.count(VIOLATED)


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedGroups(JudgedCases):
    """Source cases and their follow-ups with both answers and a verdict per group.

    A relation with several follow-ups per source case has the first in `follow_up` and `after`, and the rest in `further`.
    """

    rows: npt.NDArray[np.intp]  # the position of each group's source case among the inputs
    source: Batch
    follow_up: Batch
    before: Outputs
    after: Outputs
    batch: Batch | None = None  # the batch of the follow-up cases, if the relation is about batches
    further: tuple[tuple[Batch, Outputs], ...] = ()  # the second and later follow-ups of each group, with their answers
    #: all source inputs with their answers, if a group has several, or if they are computed from what `source` holds
    sources: tuple[tuple[Batch, Outputs], ...] = ()
    types: npt.NDArray[Any] | None = (
        None  # the type of each violation, empty for other groups; None if there are no types
    )
    alone: bool = False  # whether answers are judged by themselves, so that the follow-ups are the source cases

    def take(self, rows: RowSelection) -> Self:
        """Return some of the groups."""
        parts = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in ("batch", "alone")}
        return replace(self, **{name: _take_rows(part, rows) for name, part in parts.items()})

    def count_types(self) -> dict[str, int]:
        """Return the number of violations per type, in the order of the types' names."""
        if self.types is None:
            return {}
        names, counts = np.unique(self.types[self.verdicts == VIOLATED].astype(str), return_counts=True)
        return dict(zip(names.tolist(), counts.tolist(), strict=True))

    @property
    def violations(self) -> Self:
        """The groups that violate the relation."""
        return self.take(np.flatnonzero(self.verdicts == VIOLATED))


def _take_rows(part: Any, rows: RowSelection) -> Any:
    """Return some rows of a part of groups: an array, cases, answers, or pairs of these."""
    if part is None:
        return None
    if isinstance(part, tuple):
        return tuple((batch.take(rows), outputs.take(rows)) for batch, outputs in part)
    return part[rows] if isinstance(part, np.ndarray) else part.take(rows)


def _deprecate_why_not(find_obstacle: Callable[..., str]) -> Callable[..., str]:
    """Return `find_obstacle` of a class under its old name, which warns."""

    @deprecated(since="0.2", remedy="Use find_obstacle.")
    def why_not(self: MetamorphicRelation, subject: Any, inputs: Any) -> str:
        return find_obstacle(self, subject, inputs)

    return why_not


class MetamorphicRelation:
    """A change of inputs and an expectation about the answers: what all relations have in common.

    The inputs are cases of a frame (`Relation`), numbers (`FunctionRelation`) or training data (`LearnerRelation`).
    """

    name: str = ""
    statement: str = ""
    necessary: bool = True
    robustness: bool = False
    reason: str = ""  # why it is necessary or not, if there is more to say than that it was declared
    needs: tuple[str, ...] = ()  # the assumptions, as sentences
    domain_noun: ClassVar[str] = ""  # the systems that it is about, for its description
    input_noun: ClassVar[str] = ""  # what its inputs and outputs are, as an assumption

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for old, new in (("says", "statement"), ("why_not", "find_obstacle")):
            if old in cls.__dict__:  # of a class written for an earlier version
                warnings.warn(
                    f"{cls.__name__}.{old} is deprecated since datamorphic 0.2. Call it {new}.",
                    DeprecationWarning,
                    stacklevel=2,
                )
                setattr(cls, new, cls.__dict__[old])
                delattr(cls, old)
        # super().why_not() must lead to the class above, as it does under the new name
        cls.why_not = _deprecate_why_not(cls.find_obstacle)

    def find_obstacle(self, subject: Any, inputs: Any) -> str:
        """Return why the relation does not apply to a subject; empty if it applies."""
        return ""

    why_not = _deprecate_why_not(find_obstacle)

    @check_types
    def named(self, name: str, *, statement: str | None = None) -> Self:
        """Return the relation with another name, and another statement if there is one."""
        relation = copy.copy(self)
        relation.name = name
        if statement is not None:
            relation.statement = statement
        return relation

    @property
    @deprecated(since="0.2", remedy="Use statement.")
    def says(self) -> str:
        """The statement, under its old name."""
        return self.statement

    @says.setter
    @deprecated(since="0.2", remedy="Set statement.")
    def says(self, statement: str) -> None:
        self.statement = statement

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __str__(self) -> str:
        return format_relation(self.domain_noun, (self.input_noun, *self.needs), self.name, self.statement)


class SystemRelation(MetamorphicRelation):
    """A relation about the answers of a system: a model, a function, a service.

    A checker asks `find_obstacle`, takes `fitted_to` the system and its inputs, lets the relation `draw_inputs`, and drives the
    flow `check`, which queries `system` and returns the judged groups.
    """

    whole: bool = False  # whether it is about batches as a whole, not about single cases
    draws_inputs: bool = False  # whether it draws its inputs itself instead of taking those of the data
    size_noun: str = ""  # what the size of a violation is, such as "difference of hits", if violations have sizes
    about: tuple[str, ...] = ()  # the features whose values an example must keep
    tolerance: float = 0.0  # by which answers that are numbers, or scores, may differ beyond rounding

    @property
    def keeps_follow_ups(self) -> bool:
        """Whether a stored violation is replayed with its follow-up; otherwise `check` makes new ones from its source."""
        return False

    def find_obstacle(self, sut: Executor, inputs: Points) -> str:
        """Return why the relation does not apply to a system; empty if it applies."""
        return ""

    def fitted_to(self, sut: Executor, inputs: Points) -> SystemRelation:
        """Return the relation with what it needs to know of a system and its inputs.

        The same fitted relation is used for all cases.
        """
        return self

    def with_tolerance(self, tolerance: float) -> SystemRelation:
        """Return the relation with another tolerance."""
        relation = copy.copy(self)
        relation.tolerance = tolerance
        return relation

    def system(self, sut: Executor) -> Executor:
        """Return the system as this relation queries it; by default as it is."""
        return sut

    def draw_inputs(self, inputs: Points, rng: np.random.Generator) -> Points:
        """Return as many source inputs as there are inputs; by default these themselves."""
        return inputs

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query source and follow-up cases, and judge the answers."""
        raise NotImplementedError

    def measure_violations(self, violations: JudgedGroups) -> npt.NDArray[np.float64] | None:
        """Return the size of each violation, as a positive number; None if violations have no size.

        Reports count violations by the powers of ten of their sizes.
        """
        return None

    def violation_types(self) -> dict[str, str]:
        """Return the types of violations that the relation tells apart, with their meanings; by default none."""
        return {}

    def explain_violation(self, groups: JudgedGroups) -> list[tuple[str, str]]:
        """Return more about the first of some violations, as terms and texts; by default nothing."""
        return []


class Relation(SystemRelation):
    """A metamorphic relation of a model: a change of a case and its effect.

    To write your own, implement `follow_up`, which makes the follow-up cases, and `expects`, which compares the two answers.
    Without `expects`, the answers must be the same. Both get whole columns, all cases at once.

    Attributes
    ----------
    name : str
        The name in reports and commands.
    statement : str
        The relation as a sentence.
    necessary : bool
        Whether every correct system satisfies it, so that a violation is a fault. Otherwise it is a hypothesis, and a
        violation shows how the system behaves.
    robustness : bool
        Whether it is about faulty or noisy inputs, which a robust system copes with. Reports list such relations apart.

    Examples
    --------
    >>> import datamorphic as dm
    >>> class Richer(dm.Relation):
    ...     name = "richer"
    ...     statement = "twice the income never turns a yes into a no"
    ...
    ...     def follow_up(self, frame, rng):
    ...         return frame.assign(income=frame.income * 2)
    ...
    ...     def expects(self, before, after):
    ...         return ~((before == "yes") & (after == "no"))
    """

    domain_noun = "systems that answer single cases"
    input_noun = "the input is a case, the output is the answer of the system"

    @property
    def keeps_follow_ups(self) -> bool:
        """Whether a stored violation is replayed with its follow-up; otherwise `check` makes new ones from its source."""
        return type(self).check is Relation.check

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return to which source cases the relation applies; by default to all."""
        return np.ones(len(frame), dtype=bool)

    def follow_up(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return one follow-up case per source case, in the same order."""
        raise NotImplementedError(f"{type(self).__name__} must implement follow_up(), which makes the follow-up cases.")

    def expects(self, before: npt.NDArray[Any], after: npt.NDArray[Any]) -> Any:
        """Return per group whether the answers are as expected; by default the same."""
        return are_same_answers(before, after, self.tolerance)

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query source and follow-up cases, and judge the answers."""
        frame = inputs.frame
        applies = validate_booleans("applies", self.name, self.applies(frame), len(frame))
        follow_up_frame = self.follow_up(frame.copy(), rng)
        if len(follow_up_frame) != len(frame):
            raise TestSystemError(
                f"follow_up of the relation {self.name!r} returned {len(follow_up_frame):,} rows for {len(frame):,} source "
                "cases. It must return one row per case, in the same order."
            )
        follow_up = to_batch(follow_up_frame, inputs.space)
        before = yield Query(inputs, note=self.name)
        after = yield Query(follow_up, note=self.name)
        return self.judge(np.arange(len(inputs)), inputs, follow_up, before, after, applies)

    def judge(
        self,
        rows: npt.NDArray[np.intp],
        source: Batch,
        follow_up: Batch,
        before: Outputs,
        after: Outputs,
        applies: Mask | None = None,
    ) -> JudgedGroups:
        """Return the groups with their verdicts."""
        verdicts = np.full(len(rows), UNDEFINED, dtype=np.int8)
        both = before.ok & after.ok
        if both.any():
            as_expected = self.expects(before.values[both], after.values[both])
            as_expected = validate_booleans("expects", self.name, as_expected, int(both.sum()))
            verdicts[both] = np.where(as_expected, HOLDS, VIOLATED)
        if applies is not None:
            verdicts[~applies] = INAPPLICABLE
        return JudgedGroups(
            rows=rows, source=source, follow_up=follow_up, before=before, after=after, verdicts=verdicts
        )


def are_same_answers(before: npt.NDArray[Any], after: npt.NDArray[Any], tolerance: float = 0.0) -> Mask:
    """Return which answers are the same; numbers up to rounding, or a tolerance."""
    if before.dtype.kind == after.dtype.kind == "f":
        rounding = max(ROUNDING_TOLERANCE, find_rounding(before), find_rounding(after))
        size = np.maximum(np.maximum(np.abs(before), np.abs(after)), np.ptp(before))
        return np.asarray(np.abs(before - after) <= np.maximum(rounding * size, tolerance))
    return Outputs.of(before).same(Outputs.of(after), rounding=ROUNDING_TOLERANCE)


def find_worst_verdicts(groups: JudgedGroups, inputs: int) -> Verdicts:
    """Return the verdict on each input: that of its worst group; inputs without a group are inapplicable."""
    worst = np.full(inputs, INAPPLICABLE, dtype=np.int8)
    for verdict in (HOLDS, UNDEFINED, VIOLATED):
        worst[groups.rows[groups.verdicts == verdict]] = verdict
    return worst


def to_batch(frame: pd.DataFrame, space: Space) -> Batch:
    """Return follow-up cases as points of a space, or as plain rows if they are outside of it."""
    try:
        return space.points(frame)
    except DataError:
        return Rows(frame.reset_index(drop=True))


def validate_booleans(function: str, name: str, values: npt.ArrayLike, length: int, noun: str = "cases") -> Mask:
    """Return the values of a function of a relation if they are booleans."""
    column = np.asarray(values)
    if column.shape != (length,) or column.dtype.kind not in "bO":
        raise TestSystemError(
            f"{function} of the relation {name!r} must return True or False for each of {length:,} {noun}. "
            f"Got {column.dtype} of shape {column.shape}."
        )
    return column.astype(bool)


def format_relation(
    domain: str, assumptions: Sequence[str], name: str, statement: str, noun: str = "metamorphic relation"
) -> str:
    """Return a relation in the usual template of metamorphic relations."""
    change, consequence = split_statement(statement)
    statement = f"  if {change},\n  then {consequence}." if consequence else f"  {statement}."
    assumption_lines = "".join(f"- {assumption}\n" for assumption in assumptions)
    return (
        f"In the domain of {domain}\nassuming that\n{assumption_lines}"
        f"the following {noun} should hold\n- {name}:\n{statement}"
    )


def split_statement(statement: str) -> tuple[str, str]:
    """Split a statement "change: consequence"; without a colon it is the change."""
    change, _, consequence = statement.partition(": ")
    return change, consequence


def get_relation_name(relation: MetamorphicRelation) -> str:
    """Return the name of a relation, or that of its class if it has none."""
    return relation.name or type(relation).__name__
