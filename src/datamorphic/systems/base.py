"""`Executor`: what every system under test looks like from inside; and plain functions as one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..space.inference import validate_frame
from ..space.outputs import Outputs
from ..space.points import Batch, Points, Rows
from .coerce import Labels, to_outputs
from .training import TrainingBatch

if TYPE_CHECKING:
    from ..space.space import Space

ScoreRequest = bool | Literal["only"]
ScoreKind = Literal["decision", "probability", "pairwise"]
SCORE_KINDS: tuple[ScoreKind | None, ...] = (
    "pairwise",
    "decision",
    "probability",
    None,
)  # as systems fall back on them
AnswerOrError = Outputs | BaseException  # what comes of asking: outputs, or what went wrong


class Executor:
    """A system that answers batches.

    `execute` is called with a frame, `Points` or `Rows`, any number of times, from one thread, and returns one
    output a row, in order. A subclass implements `answer`, which is never given an empty batch; it may raise
    (the `Guarded` wrapper finds the rows at fault) and may not keep or change the batch.

    Attributes
    ----------
    name : str
        For messages and reports.
    space : Space or None
        The space of its inputs, where it is known.
    labels : tuple or None
        The labels it can answer, where they are known.
    score_kind : {"decision", "probability", "pairwise"} or None
        What `Outputs.scores` holds when scores are asked for: a decision value or a probability for each of
        `labels`, or a decision value for each two of them (0 and 1, 0 and 2, ..., 1 and 2, ...), above 0 for
        the first. None where there are none.
    batch_rows : int
        How many rows a run asks at once, whoever computes them: enough to be quick, few enough to be shared out.
    far : bool
        Whether it is reached on a way that costs time, so that small batches should travel together.
    """

    name: str = "system"
    space: Space | None = None
    labels: Labels | None = None
    score_kind: ScoreKind | None = None
    batch_rows: int = 10_000
    far: bool = False

    def execute(self, data: Any, *, scores: ScoreRequest = False) -> Outputs:
        """Return the outputs of a batch, with scores where they are asked for and exist.

        With ``scores="only"`` the labels may be guessed from the scores.
        """
        batch = self.batch(data)
        score_request = scores if self.score_kind is not None else False
        return self.answer(batch, score_request) if len(batch) else Outputs.empty()

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Return the outputs of a batch that is not empty."""
        raise NotImplementedError

    def answers(self, batches: Sequence[Batch], scores: ScoreRequest) -> list[AnswerOrError]:
        """Answer batches, none of them empty, one by one; an error takes the place of what it prevented."""
        answers: list[AnswerOrError] = []
        for batch in batches:
            try:
                answers.append(self.answer(batch, scores))
            except (Exception, SystemExit) as error:
                answers.append(error)
        return answers

    def batch(self, data: Any) -> Batch:
        """Return user data as a batch of this system's inputs."""
        if isinstance(data, Points | Rows | TrainingBatch):
            return data
        return Rows(validate_frame(data)) if self.space is None else self.space.points(data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


@dataclass(frozen=True)
class SystemTraits:
    """What is known of a system's answers, as it can be told to its twin in another process."""

    labels: bool = True
    score_kind: ScoreKind | None = None

    @classmethod
    def from_system(cls, system: Executor) -> SystemTraits:
        """Return what a system knows of itself."""
        return cls(system.labels is not None, system.score_kind)

    def apply_to(self, system: Executor) -> None:
        """Let a system know what it does not know yet: a twin that was asked less may know less."""
        if SCORE_KINDS.index(self.score_kind) > SCORE_KINDS.index(system.score_kind):
            system.score_kind = self.score_kind
        if not self.labels:
            system.labels = None


class Wrapper(Executor):
    """An executor around another; it answers for it, and passes on what it is."""

    def __init__(self, inner: Executor) -> None:
        self.inner = inner
        self.name, self.space, self.labels = inner.name, inner.space, inner.labels
        self.score_kind, self.batch_rows = inner.score_kind, inner.batch_rows


class RemoteSystem(Wrapper):
    """A way to a system elsewhere: batches go there together, and `answers` is what a subclass implements."""

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Ask one batch."""
        answer = self.answers([batch], scores)[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def answers(self, batches: Sequence[Batch], scores: ScoreRequest) -> list[AnswerOrError]:
        """Ask batches together."""
        raise NotImplementedError


class Function(Executor):
    """A plain function: of a frame, or with ``scalar=True`` of one case.

    A scalar function whose parameters are named like the features is called with them, ``f(x=1.0, n=2)``;
    any other is given the case as a dict.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        space: Space | None = None,
        *,
        scalar: bool = False,
        name: str | None = None,
        labels: Iterable[Any] | None = None,
    ) -> None:
        self.function, self.space, self.scalar = function, space, scalar
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.labels = None if labels is None else tuple(labels)
        if scalar:
            self.batch_rows = 100  # one call a row, so small batches lose nothing

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Call the function on the frame, or on one case after the other."""
        frame = batch.frame
        if not self.scalar:
            return to_outputs(self.function(frame), len(frame), self.labels)
        call = build_case_caller(self.function, list(frame.columns))
        answers = [call(dict(zip(frame.columns, case, strict=True))) for case in frame.itertuples(index=False)]
        return to_outputs(answers, len(frame), self.labels, scalar=True)


def build_case_caller(function: Callable[..., Any], names: list[str]) -> Callable[[dict[str, Any]], Any]:
    """Return a call of a one-case function: with its features by name if it asks for features, else with a dict."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function
    by_name = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name in names
    ]
    required = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if required and all(p.kind == p.POSITIONAL_ONLY and p.name in names for p in required):
        return lambda case: function(*(case[p.name] for p in required))
    if all(p.name in by_name for p in required):
        takes_all = any(p.kind == p.VAR_KEYWORD for p in parameters)
        if required or takes_all:
            argument_names = names if takes_all else by_name
            return lambda case: function(**{name: case[name] for name in argument_names})
    if len(names) == 1 and len(required) == 1 and required[0].kind == required[0].POSITIONAL_ONLY:
        return lambda case: function(case[names[0]])  # math.sin and the like
    return function
