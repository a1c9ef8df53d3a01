"""`Executor`, the base class of systems under test, `ResourceSystem`, and systems made of plain functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from .._lazy import pd
from .._typing import DataLike
from ..space.blocks import restore_frame, to_arrays
from ..space.dates import DateColumn, restore_dates
from ..space.frames import name_texts
from ..space.inference import validate_frame
from ..space.labels import shorten_label
from ..space.outputs import Outputs
from ..space.points import Batch, Points, Rows
from .coerce import Labels, to_outputs
from .score_rows import AnswerReading, find_reading
from .training import TrainingBatch

if TYPE_CHECKING:
    from ..space.space import Space

ScoreRequest = bool | Literal["only"]
#: what a function is called with: a frame, a matrix, or one case at a time (by name or as a dict, as a row of an array, as
#: a row of a frame); with an array of images, such an array with the channels first, or one image at a time; if the only
#: column is text: with a list of texts, or one text at a time; or with points of the space
CallStyle = Literal["points", "frame", "array", "case", "row", "series", "images", "channels", "image", "texts", "text"]
CASE_STYLES: tuple[CallStyle, ...] = ("case", "row", "series", "image", "text")
ScoreKind = Literal["decision", "probability", "pairwise"]
#: in the order in which systems fall back on them
SCORE_KINDS: tuple[ScoreKind | None, ...] = ("pairwise", "decision", "probability", None)
AnswerOrError = Outputs | BaseException  # the outcome of a query


class Executor:
    """A system that answers batches.

    `execute` is called with a frame, `Points` or `Rows`, any number of times, from one thread. It returns one output per
    row, in order. A subclass implements `answer`, which never gets an empty batch. It may raise an exception (the
    `GuardedSystem` wrapper finds the rows at fault). It must neither keep nor change the batch.

    Attributes
    ----------
    name : str
        For messages and reports.
    space : Space or None
        The space of its inputs, if known.
    labels : tuple or None
        The labels it can answer, if known.
    score_kind : {"decision", "probability", "pairwise"} or None
        What `Outputs.scores` holds if scores are requested: a decision value or a probability for each of `labels`, or
        a decision value for each pair of them (0 and 1, 0 and 2, ..., 1 and 2, ...), which is positive for the first.
        None if the system has no scores.
    batch_rows : int
        The number of rows per query: enough to be fast, few enough to be shared among workers.
    far : bool
        Whether reaching the system takes time, so that small batches should be sent together.
    code : object
        Where its source is, if it is not in the file of the function that is queried: see `CodeRecorder`.
    """

    name: str = "system"
    space: Space | None = None
    labels: Labels | None = None
    score_kind: ScoreKind | None = None
    batch_rows: int = 10_000
    far: bool = False
    code: object = None
    hint: str = ""  # how to wrap it, if it was tried and gave no answer
    call_note: str = ""  # how it is called, if not in the form it was fitted with

    def execute(self, data: DataLike, *, scores: ScoreRequest = False) -> Outputs:
        """Return the outputs of a batch, with scores if requested and available.

        With ``scores="only"`` the labels may be derived from the scores.
        """
        batch = self.batch(data)
        score_request = scores if self.score_kind is not None else False
        return self.answer(batch, score_request) if len(batch) else Outputs.empty()

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Return the outputs of a non-empty batch."""
        raise NotImplementedError

    def answers(self, batches: Sequence[Batch], scores: ScoreRequest) -> list[AnswerOrError]:
        """Answer non-empty batches one by one; an exception takes the place of outputs."""
        answers: list[AnswerOrError] = []
        for batch in batches:
            try:
                answers.append(self.answer(batch, scores))
            except (Exception, SystemExit) as error:
                answers.append(error)
        return answers

    def batch(self, data: DataLike) -> Batch:
        """Convert user data to a batch of inputs."""
        if isinstance(data, Points | Rows | TrainingBatch):
            return data
        data = name_texts(data)
        return Rows(validate_frame(data)) if self.space is None else self.space.points(data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class ResourceSystem(Executor):
    """A system with connections, processes or an index, which copies share and pickles leave out.

    Runs copy a system to give it a space, and the copy must use the same connections. A pickle goes to another process,
    which opens its own. A subclass lists the attributes in `resource_names`, sets them in `_create_resources` and releases
    them in `close`. After `close`, the next query opens them again.
    """

    resource_names: ClassVar[tuple[str, ...]] = ()

    def _create_resources(self) -> None:
        """Set the attributes `resource_names`, without opening anything."""
        raise NotImplementedError

    def close(self) -> None:
        """Release the resources; the next query opens them again."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __copy__(self) -> Self:
        """Return a copy that shares the resources."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in self.resource_names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._create_resources()


@dataclass(frozen=True)
class SystemTraits:
    """What a system has learnt about its own answers.

    A copy of the system in another process may learn it earlier, for example that labels or scores are missing.
    """

    labels: bool = True
    score_kind: ScoreKind | None = None

    @classmethod
    def from_system(cls, system: Executor) -> SystemTraits:
        """Return the traits of a system."""
        return cls(system.labels is not None, system.score_kind)

    def apply_to(self, system: Executor) -> None:
        """Update a system that knows less about its answers."""
        if SCORE_KINDS.index(self.score_kind) > SCORE_KINDS.index(system.score_kind):
            system.score_kind = self.score_kind
        if not self.labels:
            system.labels = None


class Wrapper(Executor):
    """An executor around another one, with the same name, space and labels."""

    def __init__(self, inner: Executor) -> None:
        self.inner = inner
        self.name, self.space, self.labels = inner.name, inner.space, inner.labels
        self.score_kind, self.batch_rows = inner.score_kind, inner.batch_rows


class RemoteSystem(Wrapper):
    """A system in another process or on another machine; a subclass implements `answers`."""

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Answer one batch."""
        answer = self.answers([batch], scores)[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def answers(self, batches: Sequence[Batch], scores: ScoreRequest) -> list[AnswerOrError]:
        """Answer batches together."""
        raise NotImplementedError


class Function(Executor):
    """A plain function of a frame or an array or, with ``scalar=True``, of one case.

    A scalar function whose parameters are named like features is called with them, ``f(x=1.0, n=2)``. Any other gets the
    case as a dict. Rows of numbers in its answer are scores if `reading` says so, or if `classes` are named.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        space: Space | None = None,
        *,
        scalar: bool = False,
        name: str | None = None,
        labels: Iterable[Any] | None = None,
        classes: Iterable[Any] | None = None,
        style: CallStyle = "frame",
        date_columns: Sequence[DateColumn] = (),
    ) -> None:
        self.function, self.space, self.date_columns = function, space, tuple(date_columns)
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.classes = None if classes is None else tuple(classes)
        self.labels = self.classes if labels is None else tuple(map(shorten_label, labels))
        self.reading: AnswerReading | None = None
        self.style = style
        if scalar or style in CASE_STYLES:
            self.use_style("case" if scalar else style)

    @property
    def scalar(self) -> bool:
        """Whether the function takes one case at a time."""
        return self.style in CASE_STYLES

    def use_style(self, style: CallStyle) -> None:
        """Change what the function is called with."""
        self.style = style
        # one call per row, so small batches cost nothing extra
        self.batch_rows = 100 if self.scalar else type(self).batch_rows

    def use_reading(self, reading: AnswerReading) -> None:
        """Read numbers in the answers as scores of classes."""
        self.reading, self.labels, self.score_kind = reading, reading.labels, reading.kind

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Call the function with the batch, or with one case after another."""
        is_direct = self.style == "points" and isinstance(batch, Points)
        answer = self.function(batch) if is_direct else self.call(batch.frame)
        if self.reading is None and self.classes is not None:
            reading = find_reading(answer, self.classes)
            if reading is not None:
                self.use_reading(reading)
        if self.reading is not None:
            return self.reading.read(answer, len(batch), with_scores=bool(scores))
        return to_outputs(answer, len(batch), self.labels, scalar=self.scalar)

    def call(self, frame: pd.DataFrame) -> Any:
        """Return what the function returns for the rows of a frame, as it is."""
        if self.style == "points" and self.space is not None:
            return self.function(self.space.points(frame))
        if self.date_columns:
            frame = restore_dates(frame, self.date_columns)
        blocks = () if self.space is None else self.space.blocks
        if blocks and self.style in ("images", "channels", "image"):
            arrays = to_arrays(frame, blocks, self.style)
            return [self.function(array) for array in arrays] if self.style == "image" else self.function(arrays)
        if blocks and self.style not in ("array", "row"):
            frame = restore_frame(frame, blocks)
        if self.style == "frame":
            return self.function(frame)
        if self.style == "array":
            return self.function(frame.to_numpy())
        if self.style == "texts":
            return self.function(frame.iloc[:, 0].tolist())
        if self.style == "text":
            return [self.function(text) for text in frame.iloc[:, 0].tolist()]
        if self.style == "row":
            return [self.function(row) for row in frame.to_numpy()]
        if self.style == "series":
            return [self.function(row) for _, row in frame.iterrows()]
        call = build_case_caller(self.function, list(frame.columns))
        return [call(dict(zip(frame.columns, case, strict=True))) for case in frame.itertuples(index=False, name=None)]


def build_case_caller(function: Callable[..., Any], names: list[str]) -> Callable[[dict[str, Any]], Any]:
    """Return a function of a case as a dict, which passes features by name if the signature asks for them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function
    by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name in names]
    required = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if required and all(p.kind == p.POSITIONAL_ONLY and p.name in names for p in required):
        return lambda case: function(*(case[p.name] for p in required))
    if all(p.name in by_name for p in required):
        takes_all = any(p.kind == p.VAR_KEYWORD for p in parameters)
        if required or takes_all:
            argument_names = names if takes_all else by_name
            return lambda case: function(**{name: case[name] for name in argument_names})
    if len(names) == 1 and len(required) == 1 and required[0].kind == required[0].POSITIONAL_ONLY:
        return lambda case: function(case[names[0]])  # such as math.sin
    return function
