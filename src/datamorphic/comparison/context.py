"""`ComparisonContext`: two systems with common inputs, and what the comparison knows about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .._clock import read_clock
from .._lazy import pd
from .._typing import DataLike
from ..errors import ArgumentError
from ..morphisms.stock import derive
from ..morphisms.subject import SubjectUnderTest
from ..space.features import Categorical, Feature
from ..space.outputs import Outputs
from ..space.points import Batch, Points
from ..space.space import Space
from ..systems.base import Executor, Function, ScoreKind, ScoreRequest, Wrapper
from ..systems.score_leads import prefer_probabilities

if TYPE_CHECKING:
    from ..core.execute import Execution

Version = Literal["old", "new"]
VERSIONS: tuple[Version, ...] = ("old", "new")


class ColumnSelection(Wrapper):
    """A system that is queried with points of a wider space, and gets its own columns of them."""

    def __init__(self, inner: Executor, space: Space) -> None:
        assert inner.space is not None
        super().__init__(inner)
        self.own_space, self.space = inner.space, space
        self.date_columns = getattr(inner, "date_columns", ())
        self._positions = [space.position(name) for name in inner.space.names]

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Answer the columns of the batch that the system takes."""
        if not isinstance(batch, Points):
            return self.inner.answer(batch, scores)
        return self.inner.answer(Points(self.own_space, batch.codes[:, self._positions]), scores)

    def with_scores(self, kind: ScoreKind) -> ColumnSelection | None:
        """Return a copy whose scores are of one kind only; None if the system does not give them."""
        choose = getattr(self.inner, "with_scores", None)
        variant = None if choose is None else choose(kind)
        return None if variant is None or self.space is None else ColumnSelection(variant, self.space)


@dataclass(kw_only=True)
class ComparisonContext:
    """Two systems with common inputs.

    Both subjects have the same space and the same seed cases, `inputs`, so either can be queried with any points of
    ``context.space``: ``context.query("old", points)``.
    """

    old: SubjectUnderTest
    new: SubjectUnderTest
    inputs: Points  # the given rows
    frame: pd.DataFrame  # the given rows with all their columns, labels included
    truth: npt.NDArray[Any] | None = None  # the labels of the rows
    execution: Execution[ComparisonContext]
    seed: int = 0
    tolerance: float | None = None  # by which answers that are numbers, and scores, may differ; None for the default
    training: pd.DataFrame | None = None  # the data that both learners can be fitted to again, with their labels
    target: str | None = None
    notes: list[str] = field(default_factory=list)
    seconds_per_row: dict[Version, float] = field(default_factory=dict)  # of the answers with scores
    _answers: dict[Version, Outputs] = field(default_factory=dict)

    @property
    def space(self) -> Space:
        """The space of the inputs of both."""
        return self.inputs.space

    @property
    def seconds_left(self) -> float | None:
        """The seconds of the budget that are left; None without a limit."""
        return self.execution.remaining_budget.seconds

    def get_subject(self, version: Version) -> SubjectUnderTest:
        """Return the old or the new subject."""
        return self.old if version == "old" else self.new

    def get_limited_subject(self, version: Version, limit: int) -> SubjectUnderTest:
        """Return one of the subjects with at most `limit` seed cases."""
        subject = self.get_subject(version)
        if len(self.inputs) <= limit:
            return subject
        rows = np.random.default_rng(self.seed).permutation(len(self.inputs))[:limit]
        return replace(subject, seeds=self.inputs.take(np.sort(rows)))

    def query(self, version: Version, points: Points, *, scores: bool = False, **details: Any) -> Outputs:
        """Return what one of the systems answers, within the budget; raises `OutOfBudget` if it is spent."""
        return self.execution.query(points, self.get_subject(version).sut, scores=scores, **details)

    def get_answers(self, version: Version) -> Outputs:
        """Return the answers of one of the systems to the given rows, with scores where it has them."""
        if version not in self._answers:
            start, counter = read_clock(), self.execution.counter.calls
            self._answers[version] = self.query_scores(version, self.inputs)
            calls = self.execution.counter.calls - counter
            self.seconds_per_row[version] = (read_clock() - start) / max(1, calls)
        return self._answers[version]

    def query_scores(self, version: Version, points: Points) -> Outputs:
        """Return what one of the systems answers, with probabilities where it has them."""
        return self.execution.query(points, prefer_probabilities(self.get_subject(version).sut), scores=True)

    @property
    def has_numeric_answers(self) -> bool:
        """Whether both answer numbers rather than classes; raise if one of them does."""
        kinds = [self.has_numbers(version) for version in VERSIONS]
        if kinds[0] is not kinds[1]:
            names = ["numbers" if kind else "classes" for kind in kinds]
            raise ArgumentError(
                f"The old model answers {names[0]} and the new one {names[1]}. Compare two models that answer the same kind of thing."
            )
        return kinds[0]

    def has_numbers(self, version: Version) -> bool:
        """Whether one of the systems answers numbers, as far as it says so or its answers show it."""
        subject = self.get_subject(version)
        if subject.has_numeric_answers or subject.sut.labels is not None:
            return subject.has_numeric_answers
        return self.get_answers(version).are_numbers(if_constant=False)

    @property
    def labels(self) -> dict[Version, tuple[Any, ...]]:
        """The classes of both, in the order of their scores."""
        return {version: tuple(self.get_subject(version).sut.labels or ()) for version in VERSIONS}

    @property
    def formats(self) -> dict[str, Callable[[float], str]]:
        """How values of columns are written that are not numbers to readers: dates."""
        columns = [
            column for version in VERSIONS for column in getattr(self.get_subject(version).sut, "date_columns", ())
        ]
        return {column.name: column.format_day for column in columns}


def join_subjects(
    old: SubjectUnderTest, new: SubjectUnderTest, build_neutral_subject: partial[SubjectUnderTest]
) -> tuple[SubjectUnderTest, SubjectUnderTest]:
    """Return both subjects with one space and the same seed cases.

    If their columns differ, the space has the columns of both. `build_neutral_subject` returns a subject for the names of
    some columns of the data.
    """
    old_space, new_space = old.seeds.space, new.seeds.space
    if _are_alike(old_space, new_space):
        points = old.seeds
        return old, _give_common_space(new, points)
    names = list(dict.fromkeys([*old_space.names, *new_space.names]))
    points = build_neutral_subject(names).seeds
    for space in (old_space, new_space):
        for feature in space.features:
            common = points.space.features[points.space.position(feature.name)]
            if _build_key(feature) != _build_key(common):
                raise ArgumentError(
                    f"The column {feature.name!r} is {feature.describe()} for one model and {common.describe()} for the other. "
                    "Say how to read it: kinds= (--kind on the command line)."
                )
    return _give_common_space(old, points), _give_common_space(new, points)


def answer_nothing(frame: pd.DataFrame) -> npt.NDArray[Any]:
    """Return the same answer for every row: the system that only reads columns."""
    return np.zeros(len(frame), dtype=np.intp)


def select_columns(data: DataLike, names: list[str]) -> pd.DataFrame:
    """Return some columns of the data, in the order of the data."""
    frame: Any = data
    selected: pd.DataFrame = frame[[name for name in frame.columns if name in names]]
    return selected


def make_neutral_system() -> Executor:
    """Return a system that answers every frame, to infer a space by it."""
    return Function(answer_nothing, name="columns", labels=(0,))


def _give_common_space(subject: SubjectUnderTest, points: Points) -> SubjectUnderTest:
    """Return a subject with other seed cases, whose space may have further columns."""
    sut = subject.sut
    if subject.seeds.space.names == points.space.names:
        sut.space = points.space
    else:
        sut = ColumnSelection(sut, points.space)
    return replace(subject, sut=sut, system=derive(points.space, sut), seeds=points)


def _are_alike(old_space: Space, new_space: Space) -> bool:
    return old_space.names == new_space.names and all(
        _build_key(a) == _build_key(b) for a, b in zip(old_space.features, new_space.features, strict=True)
    )


def _build_key(feature: Feature) -> tuple[Any, ...]:
    """Return what two features must share for their codes to mean the same."""
    values = [(type(value), value) for value in feature.values] if isinstance(feature, Categorical) else []
    return feature.kind, values
