"""Call a function of numbers in batches, with one array per input, and separate answers from failures."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadAnswer, SystemFailed, format_error_line
from ..space.features import Continuous, Integer
from ..space.outputs import Outputs, Status
from ..space.points import Batch, Points
from ..space.space import Space
from .base import Executor, ScoreRequest
from .coerce import to_outputs

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
COLUMN_LETTERS = "xyzuvw"  # names of inputs without names
MAX_FAILURES_WITHOUT_ANSWER = 200  # inputs; a function that fails on all of them is given up


class FunctionRunner:
    """Calls a function with one array per input, and counts calls and failures.

    A function that does not take arrays is called row by row. If a call raises, the batch is halved until the rows at
    fault are found; these have no answer.
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", None) or getattr(function, "name", "function"))
        self.calls = 0  # rows the function was called with
        self.failures = 0  # rows without an answer
        self.messages: Counter[str] = Counter()  # failures per error message
        self._takes_scalars = False
        self._has_answered = False
        self._is_transposed: bool | None = None  # whether several outputs are rows of the answer; None: not known yet

    @property
    def most_frequent_message(self) -> str:
        """The error message of most failures; empty if there are none."""
        return max(self.messages, key=self.messages.__getitem__, default="")

    def __call__(self, inputs: Floats) -> tuple[Any, Mask]:
        """Return one answer per row of inputs, and a mask of the rows that have one."""
        self.calls += len(inputs)
        answered = np.ones(len(inputs), dtype=bool)
        return self._run_batch(inputs, answered, 0), answered

    def _run_batch(self, inputs: Floats, answered: Mask, first: int) -> Any:
        if self._takes_scalars:
            return self._run_one_by_one(inputs, answered, first)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")  # overflows show in the answers
                values = self._to_rows(self.function(*inputs.T.copy()), inputs)
            self._has_answered = True
            return values
        except (Exception, SystemExit) as error:
            if not self._has_answered and self._is_scalar_function(inputs[0]):
                self._takes_scalars = True
                return self._run_one_by_one(inputs, answered, first)
            if len(inputs) > 1:
                middle = len(inputs) // 2
                halves = (
                    self._run_batch(inputs[:middle], answered, first),
                    self._run_batch(inputs[middle:], answered, first + middle),
                )
                return _join_halves(halves)
            self._record_failure(error, len(inputs))
            answered[first : first + len(inputs)] = False
            return np.full(len(inputs), np.nan)

    def _is_scalar_function(self, row: Floats) -> bool:
        """Return whether the function answers a single row of plain numbers."""
        try:
            return np.ndim(self.function(*row.tolist())) <= 1
        except (Exception, SystemExit):
            return False

    def _run_one_by_one(self, inputs: Floats, answered: Mask, first: int) -> Any:
        answers: list[Any] = []
        shape: tuple[int, ...] | None = None
        for i, row in enumerate(inputs.tolist()):
            try:
                answer = self.function(*row)
                if shape is not None and np.shape(answer) != shape:
                    raise BadAnswer(f"The answer has shape {np.shape(answer)}, but others have {shape}.")
                shape, self._has_answered = np.shape(answer), True
            except (Exception, SystemExit) as error:
                self._record_failure(error, 1)
                answered[first + i] = False
                answer = None
            answers.append(answer)
        valid_answers = [answer for answer in answers if answer is not None]
        blank: Any = np.full(np.shape(valid_answers[0]), np.nan) if valid_answers else np.nan
        if valid_answers and isinstance(valid_answers[0], str):
            blank = ""
        return np.array([blank if answer is None else answer for answer in answers])

    def _record_failure(self, error: BaseException, count: int) -> None:
        self.failures += count
        text = format_error_line(error)
        self.messages[text] += count
        if not self._has_answered and self.failures >= MAX_FAILURES_WITHOUT_ANSWER:
            raise SystemFailed(f"{self.name} answered none of {self.failures:,} inputs. The last error: {text}")

    def _to_rows(self, answer: object, inputs: Floats) -> Any:
        count = len(inputs)
        values = np.asarray(answer)
        if values.ndim == 2 and count in values.shape:
            if values.shape[0] != values.shape[1]:
                self._is_transposed = values.shape[1] == count
            elif self._is_transposed is None and count > 1:
                # as many outputs as rows: one more row shows which axis is which
                longer = np.concatenate([inputs, inputs[:1]])
                self._is_transposed = np.shape(self.function(*longer.T.copy()))[1] == count + 1
            if self._is_transposed:
                values = values.T
        if values.ndim == 0 and count == 1:
            values = values.reshape(1)
        if values.ndim not in (1, 2) or len(values) != count:
            raise BadAnswer(
                f"{self.name} gave an answer of shape {values.shape} for {count:,} rows. It is called with one array "
                "per input, and must return one number per row."
            )
        return values


def _join_halves(parts: tuple[Any, Any]) -> Any:
    """Return the answers to two halves; a half without answers takes the other shape."""
    a, b = parts
    if a.ndim != b.ndim or a.shape[1:] != b.shape[1:]:
        wider_half = a if a.ndim > b.ndim else b
        a, b = (half if half is wider_half else np.full((len(half), *wider_half.shape[1:]), np.nan) for half in (a, b))
    return np.concatenate([a, b])


class NumericFunction(Executor):
    """A function that is called with one array per input, as a system with a space of numbers."""

    def __init__(self, function: Callable[..., Any], space: Space, name: str | None = None) -> None:
        self._runner = FunctionRunner(function, name)
        self.name, self.space, self.width = self._runner.name, space, len(space)

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Call the function; a row on which it fails has no answer."""
        codes = batch.codes if isinstance(batch, Points) else batch.frame.to_numpy(dtype=np.float64)
        values, answered = self._runner(codes)
        outputs = to_outputs(values, len(codes))
        if not answered.all():
            failed_rows = np.flatnonzero(~answered)
            outputs.status[failed_rows] = Status.ERROR
            outputs.messages.update(dict.fromkeys(failed_rows.tolist(), self._runner.most_frequent_message))
        return outputs


def call_by_name(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """Return a function that takes arguments in the order of their names.

    It is called with keywords if it has parameters of these names, in whatever order, else in the order of the names.
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a compiled function
        return function
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    by_keyword = [name for name, parameter in parameters.items() if parameter.kind is not parameter.POSITIONAL_ONLY]
    if not names or (not takes_any and not set(names) <= set(by_keyword)):
        return function
    return KeywordFunction(function, tuple(names))


class KeywordFunction:
    """A function that is called with its arguments by name."""

    def __init__(self, function: Callable[..., Any], names: tuple[str, ...]) -> None:
        self.function, self.names = function, names
        self.name = str(getattr(function, "__name__", None) or getattr(function, "name", "function"))

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return self.function(**dict(zip(self.names, arguments, strict=True)))


def name_inputs(function: Callable[..., Any], count: int) -> tuple[str, ...]:
    """Return names for the inputs of a function: those of its parameters, if it has as many."""
    try:
        names = [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):  # a compiled function
        names = []
    return tuple(names) if len(names) == count else name_columns(count)


def name_columns(count: int) -> tuple[str, ...]:
    """Return letters as names of columns, or numbers if they are many."""
    return tuple(COLUMN_LETTERS[:count]) if count <= len(COLUMN_LETTERS) else tuple(str(j) for j in range(count))


def make_number_space(names: Sequence[str], low: Floats, high: Floats, whole: Mask) -> Space:
    """Return a space of numbers between limits, whole ones where `whole`."""
    limits = zip(names, low.tolist(), high.tolist(), whole.tolist(), strict=True)
    return Space([(Integer if is_whole else Continuous)(name, a, b) for name, a, b, is_whole in limits])
