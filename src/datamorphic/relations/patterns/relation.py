"""Input patterns and output patterns, and the relations they compose into with ``>>``."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

import numpy as np
import numpy.typing as npt

from ..._deprecation import rename_keywords
from ..._lazy import pd
from ..._text import suggest_name
from ..._validation import check_types, reject, reject_operand, validate_choice
from ...errors import ArgumentError, TestSystemError
from ...runs.flow import Flow, Query
from ...space.outputs import Outputs
from ...space.points import Batch, Points
from ...space.space import Space
from ...systems.base import Executor
from ..algebra.base import (
    HOLDS,
    INAPPLICABLE,
    UNDEFINED,
    VIOLATED,
    JudgedGroups,
    Mask,
    Relation,
    format_relation,
    to_batch,
    validate_booleans,
)

Answers = npt.NDArray[Any]
Promise = Literal["MR", "HMR", "MRR"]
Side = TypeVar("Side")

#: what a relation promises: its noun in the template of a relation
PROMISES: dict[str, str] = {
    "MR": "metamorphic relation",
    "HMR": "hypothesised metamorphic relation",
    "MRR": "metamorphic relation for robustness",
}


def explain(text: str, default: Any = dataclasses.MISSING) -> Any:
    """Return a field of a pattern with the sentence that explains the parameter to a user."""
    return field(default=default, metadata={"help": text})


def name_part(part: object) -> str:
    """Return the part of an answer that is compared, to be put behind a noun."""
    return "" if part is None else f" ({part})"


@dataclass_transform(frozen_default=True, kw_only_default=True)
def executable(kind: type[Side]) -> type[Side]:
    """Make a pattern a frozen record of its parameters, whose types are checked."""
    return check_types(dataclass(frozen=True, kw_only=True)(kind))


@dataclass(frozen=True, kw_only=True)
class InputPattern:
    """How the follow-up cases come from the source cases.

    A subclass implements `make`, and `applies` if it does not apply to every case. Both get all cases at once, as a frame.
    Its fields are its parameters.

    Examples
    --------
    >>> import datamorphic as dm
    >>> longer = dm.patterns["Conjunctive Conditions"].input(column="brand", values=("Acme",))
    >>> print((longer >> dm.patterns["Subset"].output()).statement)
    brand is restricted to 'Acme': all items of the follow-up's answer are in the source's answer
    """

    pattern: ClassVar[str] = ""  # the name of its pattern in the catalogue
    clause: ClassVar[str] = ""  # what `describe` returns, with fields in braces: "{self.column} gets another value"
    fresh: ClassVar[bool] = False  # whether answers must not come from a cache, because the same case is queried again
    uses_answers: ClassVar[bool] = False  # whether follow-ups are made from the answers to the source cases

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns that the data must have."""
        names: list[str] = []
        for name in ("column", "columns", "text", "filter"):
            value = getattr(self, name, None) or ()
            names += [value] if isinstance(value, str) else list(value)
        return tuple(names)

    def describe(self) -> str:
        """Return the change as a clause: "brand is restricted to 'Acme'"."""
        if not self.clause:
            raise NotImplementedError
        return self.clause.format(self=self)

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return to which source cases the pattern applies; by default to all."""
        return np.ones(len(frame), dtype=bool)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return one or more frames of follow-up cases, each with one row per source case, in the same order."""
        raise NotImplementedError(f"{type(self).__name__} must implement make(), which returns follow-up cases.")

    def make_from_answers(self, frame: pd.DataFrame, answers: Answers, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the follow-up cases of a pattern that uses the answers to the source cases."""
        return self.make(frame, rng)

    def follow_ups(self, frame: pd.DataFrame, rng: np.random.Generator | None = None) -> list[pd.DataFrame]:
        """Return the follow-up cases of a frame, after a look at its columns.

        Examples
        --------
        >>> import datamorphic as dm, pandas as pd
        >>> negated = dm.patterns["Symmetric"].input(columns=("x",))
        >>> negated.follow_ups(pd.DataFrame({"x": [1.0, -2.0]}))[0]["x"].tolist()
        [-1.0, 2.0]
        """
        self.check_columns(frame)
        frames = self.make(frame.copy(), np.random.default_rng(0) if rng is None else rng)
        return validate_frames(frames, len(frame), type(self).__name__)

    def find_obstacle(self, space: Space) -> str:
        """Return why cases of a space cannot be changed; empty if they can."""
        return ""

    def fitted_to(self, space: Space) -> InputPattern:
        """Return the pattern with what it needs to know of a space."""
        return self

    def check_columns(self, frame: pd.DataFrame) -> None:
        """Raise an error if the data lack a column that the pattern changes."""
        for name in self.columns_read:
            if name not in frame.columns:
                raise ArgumentError(
                    f"The input pattern {self.pattern or type(self).__name__!r} needs the column {name!r}, which the data "
                    f"do not have. {suggest_name(name, frame.columns)}"
                )

    def then(self, following: InputPattern) -> InputPattern:
        """Return the composition: `following` changes what this pattern made.

        Examples
        --------
        >>> import datamorphic as dm, pandas as pd
        >>> add, double = dm.patterns["Additive"].input(columns=("x",), amount=1), dm.patterns["Multiplicative"].input(
        ...     columns=("x",), factor=2
        ... )
        >>> add.then(double).follow_ups(pd.DataFrame({"x": [1.0]}))[0]["x"].tolist()
        [4.0]
        """
        if not isinstance(following, InputPattern):
            reject("following", "then", "an input pattern", following)
        return ChainedInput(first=self, second=following)

    def where(self, **conditions: Any) -> InputPattern:
        """Return the pattern for cases with some values only; it does not apply to others.

        Examples
        --------
        >>> import datamorphic as dm, pandas as pd
        >>> colder = dm.patterns["Additive"].input(columns=("degrees",), amount=-5).where(unit="C")
        >>> colder.applies(pd.DataFrame({"degrees": [20.0, 68.0], "unit": ["C", "F"]})).tolist()
        [True, False]
        """
        if not conditions:
            raise ArgumentError("where() needs at least one condition, as in where(unit='C').")
        return ConditionalInput(change=self, conditions=conditions)

    def __rshift__(self, output: object) -> PatternRelation:
        if not isinstance(output, OutputPattern):
            reject_operand(">>", "an output pattern, as in dm.patterns['Equality'].output()", output)
        return PatternRelation(self, output)


@dataclass(frozen=True, kw_only=True)
class ChainedInput(InputPattern):
    """Two input patterns, one after the other; see `InputPattern.then`."""

    first: InputPattern
    second: InputPattern

    def __post_init__(self) -> None:
        if self.first.uses_answers or self.second.uses_answers:
            raise ArgumentError("An input pattern that uses answers cannot be composed with another one.")

    @property
    def pattern(self) -> str:  # type: ignore[override]
        """The names of both patterns."""
        return f"{self.first.pattern}, then {self.second.pattern}"

    @property
    def fresh(self) -> bool:  # type: ignore[override]
        """Whether answers must not come from a cache."""
        return self.first.fresh or self.second.fresh

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns that the data must have."""
        return (*self.first.columns_read, *self.second.columns_read)

    def find_obstacle(self, space: Space) -> str:
        """Return why one of the changes cannot be made."""
        return self.first.find_obstacle(space) or self.second.find_obstacle(space)

    def fitted_to(self, space: Space) -> InputPattern:
        """Return both for a space."""
        return dataclasses.replace(self, first=self.first.fitted_to(space), second=self.second.fitted_to(space))

    def describe(self) -> str:
        """Return both changes."""
        return f"{self.first.describe()}, then {self.second.describe()}"

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return where the first applies, and the second to what the first makes."""
        applies = np.asarray(self.first.applies(frame), dtype=bool)
        for changed_frame in self.first.make(frame.copy(), np.random.default_rng(0)):
            applies = applies & np.asarray(self.second.applies(changed_frame), dtype=bool)
        return applies

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return what the second makes of each follow-up of the first."""
        return [last for middle in self.first.make(frame, rng) for last in self.second.make(middle, rng)]


@dataclass(frozen=True, kw_only=True)
class ConditionalInput(InputPattern):
    """An input pattern for cases with some values only; see `InputPattern.where`."""

    change: InputPattern
    conditions: dict[str, Any]

    @property
    def pattern(self) -> str:  # type: ignore[override]
        """The name of the pattern."""
        return self.change.pattern

    @property
    def fresh(self) -> bool:  # type: ignore[override]
        """Whether answers must not come from a cache."""
        return self.change.fresh

    @property
    def uses_answers(self) -> bool:  # type: ignore[override]
        """Whether follow-ups are made from the answers to the source cases."""
        return self.change.uses_answers

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns that the data must have."""
        return (*self.change.columns_read, *self.conditions)

    def find_obstacle(self, space: Space) -> str:
        """Return why the change cannot be made."""
        return self.change.find_obstacle(space)

    def fitted_to(self, space: Space) -> InputPattern:
        """Return the pattern for a space."""
        return dataclasses.replace(self, change=self.change.fitted_to(space))

    def describe(self) -> str:
        """Return the change and its conditions."""
        conditions = " and ".join(f"{name} is {value!r}" for name, value in self.conditions.items())
        return f"{conditions}, and {self.change.describe()}"

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases have the values."""
        applies = np.asarray(self.change.applies(frame), dtype=bool)
        for name, value in self.conditions.items():
            applies = applies & np.asarray(frame[name] == value, dtype=bool)
        return applies

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return what the pattern makes."""
        return self.change.make(frame, rng)

    def make_from_answers(self, frame: pd.DataFrame, answers: Answers, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return what the pattern makes of the answers."""
        return self.change.make_from_answers(frame, answers, rng)


@dataclass(frozen=True, kw_only=True)
class OutputPattern:
    """How the answers to follow-up cases relate to the answer to their source case.

    A subclass implements `compare` for all groups at once, or `holds` for one group.
    """

    pattern: ClassVar[str] = ""  # the name of its pattern in the catalogue
    clause: ClassVar[str] = ""  # what `describe` returns, with fields in braces; {part} is the part that is compared
    needs_scores: ClassVar[bool] = False  # whether `judge_outputs` reads scores
    judges_failures: ClassVar[bool] = False  # whether `judge_outputs` also gets groups in which an answer is missing
    size_noun: ClassVar[str] = ""  # what `measure` returns, such as "difference of hits"; empty if it measures nothing
    types: ClassVar[Mapping[str, str]] = {}  # types of violations that `classify` tells apart, with their meanings
    part: str | int | None = explain(
        "The part of the answer to compare: a key of a dict or a position in a list; by default the whole answer.", None
    )

    def describe(self) -> str:
        """Return the expectation as a clause: "the answers are the same"."""
        if not self.clause:
            raise NotImplementedError
        return self.clause.format(self=self, part=name_part(self.part))

    def find_obstacle(self, sut: Executor, name: str) -> str:
        """Return why the answers of a system cannot be judged by the relation of this name; empty if they can."""
        return ""

    def system(self, sut: Executor) -> Executor:
        """Return the system with the scores that the pattern reads; by default as it is."""
        return sut

    def fitted_to(self, sut: Executor) -> OutputPattern:
        """Return the pattern with what it needs to know of a system."""
        return self

    def expects(self, before: Answers, afters: Sequence[Answers]) -> Mask:
        """Return per group whether the answers are as expected.

        `before` are the answers to the source cases, `afters` those to the follow-up cases, one array per follow-up.

        Examples
        --------
        >>> import datamorphic as dm, numpy as np
        >>> bigger = dm.patterns["Monotone"].output()
        >>> bigger.expects(np.array([1.0, 2.0]), [np.array([1.5, 1.0])]).tolist()
        [True, False]
        """
        return self.judge(None, before, afters)

    def judge_outputs(self, frame: pd.DataFrame | None, before: Outputs, afters: Sequence[Outputs]) -> Mask:
        """Return per group whether the answers, with their scores, are as expected."""
        return self.judge(frame, before.values, [after.values for after in afters])

    def judge(self, frame: pd.DataFrame | None, before: Answers, afters: Sequence[Answers]) -> Mask:
        """Return per group whether the answers are as expected; `frame` are the source cases."""
        before, *selected = (self._select(np.asarray(answers)) for answers in (before, *afters))
        if not selected:
            raise ArgumentError(
                f"The output pattern {type(self).__name__} needs the answers to at least one follow-up."
            )
        return self.compare(frame, before, selected)

    def compare(self, frame: pd.DataFrame | None, before: Answers, afters: list[Answers]) -> Mask:
        """Return per group whether the answers, or their selected parts, are as expected."""
        groups = zip(before, zip(*afters, strict=True), strict=True)
        return np.array([bool(self.holds(source, follow_ups)) for source, follow_ups in groups], dtype=bool)

    def measure(self, before: Answers, afters: Sequence[Answers]) -> npt.NDArray[np.float64]:
        """Return per group how far the answers are from what is expected; only patterns with a `size_noun` have it."""
        raise NotImplementedError(f"{type(self).__name__} does not measure how far answers are from what is expected.")

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether one group is as expected."""
        raise NotImplementedError(f"{type(self).__name__} must implement holds() or compare().")

    def classify(
        self, source: pd.DataFrame, follow_ups: Sequence[pd.DataFrame], before: Answers, afters: Sequence[Answers]
    ) -> list[str]:
        """Return the type of each violation, one of `types`; only called for violated groups."""
        return [""] * len(before)

    def explain_difference(self, before: Any, afters: Sequence[Any]) -> list[tuple[str, str]]:
        """Return what differs between the answers of one violated group, as terms and texts; by default nothing."""
        return []

    def _select(self, answers: Answers) -> Answers:
        if self.part is None:
            return answers
        parts = np.empty(len(answers), dtype=object)
        for row, answer in enumerate(answers):
            parts[row] = self._select_one(answer)
        kinds = {type(part) for part in parts}
        return np.array(parts.tolist()) if kinds and kinds <= {int, float} else parts

    def _select_one(self, answer: Any) -> Any:
        try:
            return answer[self.part]
        except (KeyError, IndexError, TypeError):
            raise TestSystemError(
                f"The answer {answer!r} has no part {self.part!r}. Give the key of an answer that is a dict, or the position "
                "in one that is a list."
            ) from None

    def __and__(self, other: object) -> OutputPattern:
        if not isinstance(other, OutputPattern):
            reject_operand("&", "an output pattern, as in dm.patterns['Equality'].output()", other)
        return BothOutputs(first=self, second=other)


@dataclass(frozen=True, kw_only=True)
class BothOutputs(OutputPattern):
    """Two output patterns that must hold together."""

    first: OutputPattern
    second: OutputPattern

    @property
    def pattern(self) -> str:  # type: ignore[override]
        """The names of both patterns."""
        return f"{self.first.pattern} and {self.second.pattern}"

    @property
    def needs_scores(self) -> bool:  # type: ignore[override]
        """Whether one of them reads scores."""
        return self.first.needs_scores or self.second.needs_scores

    def describe(self) -> str:
        """Return both expectations."""
        return f"{self.first.describe()}, and {self.second.describe()}"

    def find_obstacle(self, sut: Executor, name: str) -> str:
        """Return why one of them cannot judge the answers."""
        return self.first.find_obstacle(sut, name) or self.second.find_obstacle(sut, name)

    def system(self, sut: Executor) -> Executor:
        """Return the system with the scores that they read."""
        return self.first.system(self.second.system(sut))

    def fitted_to(self, sut: Executor) -> OutputPattern:
        """Return both for a system."""
        return dataclasses.replace(self, first=self.first.fitted_to(sut), second=self.second.fitted_to(sut))

    def judge_outputs(self, frame: pd.DataFrame | None, before: Outputs, afters: Sequence[Outputs]) -> Mask:
        """Return where both hold."""
        return self.first.judge_outputs(frame, before, afters) & self.second.judge_outputs(frame, before, afters)

    def judge(self, frame: pd.DataFrame | None, before: Answers, afters: Sequence[Answers]) -> Mask:
        """Return where both hold."""
        return self.first.judge(frame, before, afters) & self.second.judge(frame, before, afters)


def validate_frames(frames: Any, rows: int, owner: str) -> list[Any]:
    """Return the follow-up frames of an input pattern if each has one row per source case."""
    frames = list(frames) if isinstance(frames, list | tuple) else [frames]
    for frame in frames:
        if not hasattr(frame, "columns") or len(frame) != rows:
            size = f"{len(frame):,} rows" if hasattr(frame, "columns") else f"a {type(frame).__name__}"
            raise TestSystemError(
                f"The input pattern {owner} made {size} for {rows:,} source cases. It must make frames with one row per case, "
                "in the same order."
            )
    if not frames:
        raise TestSystemError(f"The input pattern {owner} made no follow-up. It must make at least one frame.")
    return frames


@check_types
class PatternRelation(Relation):
    """A relation made of an input pattern and an output pattern, by ``input >> output``.

    All follow-ups of a source case are queried and judged together.

    Attributes
    ----------
    input, output : InputPattern, OutputPattern
        The two patterns.
    promise : {"MR", "HMR", "MRR"}
        A necessary property of the system; a hypothesis, whose violation shows how the system behaves; or a property of a
        robust system.
    domain : str
        The kind of system it is about.

    Examples
    --------
    >>> import datamorphic as dm
    >>> relation = dm.patterns["Symmetric"].input(columns=("x",)) >> dm.patterns["Symmetric"].output(odd=True)
    >>> print(relation.named("sine.MR1", domain="odd functions"))
    In the domain of odd functions
    assuming that
    - the input has x
    the following metamorphic relation should hold
    - sine.MR1:
      if x changes its sign,
      then the follow-up's answer is the negative of the source's answer.
    """

    @rename_keywords("0.2", says="statement")
    def __init__(
        self,
        input: InputPattern,
        output: OutputPattern,
        *,
        name: str = "",
        promise: Promise = "MR",
        domain: str = "",
        needs: Sequence[str] = (),
        statement: str = "",
    ) -> None:
        self.input, self.output = input, output
        self.name = name or f"{input.pattern} >> {output.pattern}"
        validate_choice("promise", "PatternRelation", promise, PROMISES)
        self.promise = promise
        self.necessary, self.robustness = promise == "MR", promise == "MRR"
        self.domain, self.needs = domain, tuple(needs)
        self.statement = statement or f"{input.describe()}: {output.describe()}"
        self.about = tuple(dict.fromkeys(input.columns_read))
        self.size_noun = output.size_noun

    @rename_keywords("0.2", says="statement")
    def named(
        self,
        name: str,
        *,
        promise: Promise | None = None,
        domain: str | None = None,
        needs: Sequence[str] | None = None,
        statement: str | None = None,
    ) -> Self:
        """Return the relation with a name, and with what else is given.

        `promise` is "MR", "HMR" or "MRR", `domain` the kind of system, `needs` the assumptions as sentences, `statement` the relation
        as a sentence "change: consequence".
        """
        relation = copy.copy(self)
        PatternRelation.__init__(
            relation,
            self.input,
            self.output,
            name=name,
            promise=self.promise if promise is None else promise,
            domain=self.domain if domain is None else domain,
            needs=self.needs if needs is None else needs,
            statement=self.statement if statement is None else statement,
        )
        return relation

    @property
    def keeps_follow_ups(self) -> bool:
        """Whether a stored violation is replayed with its follow-up."""
        return not self.input.uses_answers

    def find_obstacle(self, sut: Executor, inputs: Points) -> str:
        """Return why the relation does not apply: its cases cannot be changed, or the answers cannot be judged."""
        return self.input.find_obstacle(inputs.space) or self.output.find_obstacle(sut, self.name)

    def system(self, sut: Executor) -> Executor:
        """Return the system with the scores that the output pattern reads."""
        return self.output.system(sut)

    def fitted_to(self, sut: Executor, inputs: Points) -> PatternRelation:
        """Return the relation with what its patterns need to know of the system and its inputs."""
        relation = copy.copy(self)
        relation.input, relation.output = self.input.fitted_to(inputs.space), self.output.fitted_to(sut)
        relation.about = tuple(dict.fromkeys(relation.input.columns_read))
        return relation

    def with_tolerance(self, tolerance: float) -> PatternRelation:
        """Return the relation with another tolerance, if its output pattern has one."""
        relation = copy.copy(self)
        if hasattr(self.output, "tolerance"):
            parameters: dict[str, Any] = {"tolerance": tolerance}
            relation.output = dataclasses.replace(self.output, **parameters)
        return relation

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return to which source cases the input pattern applies."""
        self.input.check_columns(frame)
        return self.input.applies(frame)

    def follow_up(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the follow-up of each source case, if there is only one and it needs no answer."""
        if self.input.uses_answers:
            raise ArgumentError(
                f"Follow-ups of the relation {self.name!r} are made from answers. Hunt among rows of data: hunt(..., data=...)."
            )
        frames = self.input.follow_ups(frame, rng)
        if len(frames) > 1:
            raise ArgumentError(
                f"The relation {self.name!r} has {len(frames)} follow-ups per case. Hunt among rows of data, hunt(..., data=...), or "
                "give its input pattern a single value."
            )
        return frames[0]

    def expects(self, before: npt.NDArray[Any], after: npt.NDArray[Any]) -> Any:
        """Return per group whether the answers of a relation with one follow-up are as expected."""
        return self.output.expects(before, [after])

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query source cases and all their follow-ups, and judge the answers together."""
        frame, fresh = inputs.frame, self.input.fresh
        applies = validate_booleans("applies", self.name, self.applies(frame), len(frame))
        frames = [] if self.input.uses_answers else self.input.follow_ups(frame, rng)
        scores = self.output.needs_scores
        before = yield Query(inputs, scores, note=self.name, fresh=fresh)
        if self.input.uses_answers:
            made_frames = self.input.make_from_answers(frame.copy(), before.to_objects(), rng)
            frames = validate_frames(made_frames, len(frame), type(self.input).__name__)
        batches = [to_batch(follow_up_frame, inputs.space) for follow_up_frame in frames]
        afters = []
        for batch in batches:
            afters.append((yield Query(batch, scores, note=self.name, fresh=fresh)))
        pairs = list(zip(batches, afters, strict=True))
        return self.judge_all(np.arange(len(inputs)), inputs, before, pairs, applies)

    def judge(
        self,
        rows: npt.NDArray[np.intp],
        source: Batch,
        follow_up: Batch,
        before: Outputs,
        after: Outputs,
        applies: Mask | None = None,
    ) -> JudgedGroups:
        """Return groups of one follow-up with their verdicts."""
        return self.judge_all(rows, source, before, [(follow_up, after)], applies)

    def judge_all(
        self,
        rows: npt.NDArray[np.intp],
        source: Batch,
        before: Outputs,
        follow_ups: Sequence[tuple[Batch, Outputs]],
        applies: Mask | None = None,
    ) -> JudgedGroups:
        """Return groups of several follow-ups with their verdicts."""
        answered = before.ok.copy()
        for _, outputs in follow_ups:
            answered &= outputs.ok
        if self.output.judges_failures:
            answered[:] = True
        judged = answered if applies is None else answered & applies
        verdicts = np.full(len(rows), UNDEFINED, dtype=np.int8)
        if judged.any():
            rows_judged = np.flatnonzero(judged)
            answers = [outputs.take(rows_judged) for _, outputs in follow_ups]
            frame = source.take(rows_judged).frame
            as_expected = self.output.judge_outputs(frame, before.take(rows_judged), answers)
            as_expected = validate_booleans("the output pattern", self.name, as_expected, int(judged.sum()), "groups")
            verdicts[judged] = np.where(as_expected, HOLDS, VIOLATED)
        if applies is not None:
            verdicts[~applies] = INAPPLICABLE
        types = self._classify(source, before, follow_ups, verdicts) if self.output.types else None
        (follow_up, after), *further = follow_ups
        return JudgedGroups(
            rows=rows,
            source=source,
            follow_up=follow_up,
            before=before,
            after=after,
            verdicts=verdicts,
            further=tuple(further),
            types=types,
        )

    def measure_violations(self, violations: JudgedGroups) -> npt.NDArray[np.float64] | None:
        """Return how far the answers are from what the output pattern expects, if it measures that."""
        if not self.size_noun:
            return None
        afters = [violations.after.values, *(outputs.values for _, outputs in violations.further)]
        return self.output.measure(violations.before.values, afters)

    def _classify(
        self,
        source: Batch,
        before: Outputs,
        follow_ups: Sequence[tuple[Batch, Outputs]],
        verdicts: npt.NDArray[np.int8],
    ) -> npt.NDArray[Any]:
        """Return the type of each violation, and empty texts for other groups."""
        types = np.full(len(verdicts), "", dtype=object)
        violated_rows = np.flatnonzero(verdicts == VIOLATED)
        if violated_rows.size:
            types[violated_rows] = self.output.classify(
                source.take(violated_rows).frame,
                [batch.take(violated_rows).frame for batch, _ in follow_ups],
                before.values[violated_rows],
                [outputs.values[violated_rows] for _, outputs in follow_ups],
            )
        return types

    def violation_types(self) -> dict[str, str]:
        """Return the types of violations that the output pattern tells apart."""
        return dict(self.output.types)

    def explain_violation(self, groups: JudgedGroups) -> list[tuple[str, str]]:
        """Return the type of the first violation and what differs between its answers."""
        first = groups.take(slice(0, 1))
        facts = []
        if first.types is not None and first.types[0]:
            name = str(first.types[0])
            facts.append(("type", f"{name}: {self.output.types.get(name, '')}"))
        afters = [first.after.values[0], *(outputs.values[0] for _, outputs in first.further)]
        return facts + self.output.explain_difference(first.before.values[0], afters)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.promise})"

    def __str__(self) -> str:
        columns = ", ".join(self.about)
        needs = self.needs or ((f"the input has {columns}",) if columns else ("the input is a case",))
        return format_relation(
            self.domain or "systems that answer cases", needs, self.name, self.statement, PROMISES[self.promise]
        )
