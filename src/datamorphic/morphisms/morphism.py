"""`Morphism`: one marked function, its shape verified, callable on batches whatever its style."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from .._text import pluralize
from ..errors import DatamorphicError, TestSystemError
from ..space.points import Points
from .cases import TestSet
from .decorators import MorphismMark

if TYPE_CHECKING:
    import pandas as pd

    from ..space.space import Space

#: parameters that are given by name where a function of that kind has them
INJECTED_PARAMETERS = {"seed_maker": ("rng", "n", "seed"), "datamorphism": ("rng", "seed")}

#: how many arguments each kind takes, at least and at most (None: any number), and what they are
ARGUMENT_LIMITS: dict[str, tuple[int, int | None, str]] = {
    "seed_maker": (0, 0, "no arguments but n and rng"),
    "datamorphism": (1, None, "one input or more"),
    "metamorphism": (1, None, "the case, and its origins if it wants them"),
    "case_metric": (1, 1, "the test cases"),
    "case_filter": (1, 1, "the test cases"),
    "set_metric": (1, 1, "the test set"),
    "set_filter": (1, 1, "the test set"),
    "executor": (1, 1, "the inputs"),
    "analyser": (1, 1, "the test set"),
}


def normalize_name(name: str) -> str:
    """Return a name without its style: ``RandomValue200`` and ``random_value_200`` are one."""
    return "".join(filter(str.isalnum, name.casefold()))


@dataclass(frozen=True)
class Case:
    """One test case, as scalar functions see it."""

    input: dict[str, Any]
    output: Any = None
    id: int = -1


@dataclass(frozen=True)
class Morphism:
    """A marked function.

    Attributes
    ----------
    name : str
        The name it is called by.
    mark : Mark
        What its decorator said.
    function : callable
        The function, bound if it is a method.
    arity : int
        How many inputs it takes.
    home : str
        Where it is defined, for messages.
    derived : bool
        Whether it is the space's own.
    """

    name: str
    mark: MorphismMark
    function: Callable[..., Any]
    arity: int
    location: str
    derived: bool = False

    @classmethod
    def from_function(cls, name: str, mark: MorphismMark, function: Callable[..., Any], location: str) -> Morphism:
        """Return the morphism, or raise `TestSystemError` that names the function and what is wrong with it."""
        source = f"{location}, marked @{mark.kind},"
        if not callable(function):
            raise TestSystemError(f"{source} is not callable.")
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            raise TestSystemError(f"{source} has no signature to read. Wrap it in a def.") from None
        required_parameters = [
            p
            for p in parameters
            if p.name not in INJECTED_PARAMETERS.get(mark.kind, ())
            and p.default is p.empty
            and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        min_count, max_count, meaning = ARGUMENT_LIMITS[mark.kind]
        if mark.kind == "executor" and mark.scalar:
            max_count = None  # f(x, y): one parameter a feature
        if any(p.kind == p.KEYWORD_ONLY for p in required_parameters):
            raise TestSystemError(f"{source} has a keyword-only parameter without a default. Give it one.")
        if len(required_parameters) < min_count or (
            max_count is not None and len(required_parameters) > max_count
        ):
            parameters_text = f"({', '.join(p.name for p in required_parameters)})"
            raise TestSystemError(f"{source} must take {meaning}. It takes {parameters_text}.")
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TestSystemError(f"{source} must return its result, not yield or await it.")
        return cls(name, mark, function, len(required_parameters), location)

    def _build_keywords(self, rng: np.random.Generator | None, n: int | None) -> dict[str, Any]:
        """The arguments that are passed by name, where the function has them."""
        rng = rng if rng is not None else np.random.default_rng(0)
        keywords: dict[str, Any] = {}
        for p in inspect.signature(self.function).parameters.values():
            if p.name not in INJECTED_PARAMETERS.get(self.mark.kind, ()):
                continue
            if p.name == "rng":
                keywords["rng"] = rng
            elif p.name == "seed":
                keywords["seed"] = int(rng.integers(2**31))
            elif n is not None or p.default is p.empty:
                keywords["n"] = n if n is not None else 200
        return keywords

    def fail(self, problem: str, cause: BaseException | None = None) -> NoReturn:
        """Raise an error about this function."""
        raise TestSystemError(f"{self.location}, marked @{self.mark.kind}, {problem}") from cause

    def call(self, *arguments: Any, rng: np.random.Generator | None = None, n: int | None = None) -> Any:
        """Call the function; what it raises comes back as an error that names it."""
        try:
            return self.function(*arguments, **self._build_keywords(rng, n))
        except DatamorphicError:
            raise
        except (Exception, SystemExit) as error:
            self.fail(f"raised {type(error).__name__}: {error}.", error)

    # -- the kinds ----------------------------------------------------------------------------------

    def make_seeds(self, rng: np.random.Generator, n: int | None, space: Space | None = None) -> pd.DataFrame:
        """Make test cases and return them as a frame."""
        return self._to_frame(self.call(rng=rng, n=n), space)

    def morph(self, *inputs: Points, rng: np.random.Generator | None = None, lenient: bool = False) -> Points:
        """Make a new input from each row of the given ones.

        ``lenient=True`` lets values through that do not fit the space, for whoever wants to complain about them.
        """
        if len(inputs) != self.arity:
            self.fail(f"takes {pluralize(self.arity, 'input')} and was given {len(inputs)}.")
        space = inputs[0].space
        if self.derived:
            return self.call(*inputs, rng=rng)
        if self.mark.points:
            return self._validate_points(self.call(*inputs, rng=rng), inputs[0])
        frames = [points.frame for points in inputs]
        if self.mark.scalar:
            new_frame = self._to_frame(
                [self.call(*cases, rng=rng) for cases in zip(*map(_to_dicts, frames), strict=True)], space
            )
        else:
            new_frame = self._to_frame(self.call(*(frame.copy() for frame in frames), rng=rng), space)
        if len(new_frame) != len(inputs[0]):
            self.fail(
                f"gave {pluralize(len(new_frame), 'row')} for {pluralize(len(inputs[0]), 'row')}. It must make one from each; "
                "a function of one case is declared with scalar=True."
            )
        try:
            return space.points(new_frame, lenient=lenient)
        except DatamorphicError as error:
            self.fail(f"gave inputs that are not in the space: {error}", error)

    def _validate_points(self, result: Any, inputs: Points) -> Points:
        """Return points that a function made, if they are as many and of the same space."""
        if not isinstance(result, Points) or result.space is not inputs.space:
            self.fail(f"must give Points of the space it was given, as points=True says. It gave {result!r}.")
        if len(result) != len(inputs):
            self.fail(
                f"gave {pluralize(len(result), 'row')} for {pluralize(len(inputs), 'row')}. It must make one from each."
            )
        return result

    def _to_frame(self, result: Any, space: Space | None) -> pd.DataFrame:
        import pandas as pd

        if isinstance(result, Points):
            return result.frame
        if isinstance(result, pd.DataFrame):
            return result
        if isinstance(result, Sequence) and all(isinstance(case, dict) for case in result):
            return pd.DataFrame(list(result), columns=None if space is None or result else list(space.names))
        if (
            isinstance(result, np.ndarray)
            and result.ndim == 2
            and space is not None
            and result.shape[1] == len(space)
        ):
            return pd.DataFrame(result, columns=list(space.names))
        if space is None and isinstance(result, np.ndarray) and result.ndim == 2:
            return pd.DataFrame(result, columns=[f"x{j}" for j in range(result.shape[1])])
        self.fail(f"must give a frame of inputs. It gave {type(result).__name__}.")

    def evaluate_cases(self, *sets: TestSet) -> npt.NDArray[Any]:
        """Return one value a case: of a metric, a filter or a metamorphism."""
        rows = len(sets[0])
        if self.mark.scalar:
            answer: Any = [self.call(*cases) for cases in zip(*map(_to_cases, sets), strict=True)]
        else:
            answer = self.call(*sets)
        values = np.asarray(answer)
        if values.shape != (rows,):
            self.fail(
                f"must give one value for each of {pluralize(rows, 'case')}. It gave {_format_shape(answer, values)}."
            )
        if self.mark.kind in ("case_filter", "metamorphism"):
            if (
                rows
                and values.dtype != bool
                and not (values.dtype == object and all(isinstance(v, bool) for v in values))
            ):
                self.fail(f"must give True or False for each case. It gave values of type {values.dtype}.")
            return values.astype(bool)
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            self.fail(f"must give a number for each case. It gave values of type {values.dtype}.")

    def evaluate_set(self, tests: TestSet) -> Any:
        """Return what a set metric, a set filter or an analyser makes of a test set."""
        answer = self.call(tests)
        if self.mark.kind == "set_filter" and not isinstance(answer, TestSet):
            self.fail(f"must give a TestSet. It gave {type(answer).__name__}.")
        if self.mark.kind == "set_metric":
            try:
                return float(answer)
            except (TypeError, ValueError):
                self.fail(f"must give a number. It gave {type(answer).__name__}.")
        return answer


def _format_shape(answer: Any, values: npt.NDArray[Any]) -> str:
    return f"a single {type(answer).__name__}" if values.ndim == 0 else f"an array of shape {values.shape}"


def _to_dicts(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return frame.astype(object).to_dict("records")


def _to_cases(tests: TestSet) -> list[Case]:
    outputs: Any = [None] * len(tests) if tests.outputs is None else tests.outputs.values.tolist()
    return [
        Case(case, output, int(number))
        for case, output, number in zip(_to_dicts(tests.input), outputs, tests.ids, strict=True)
    ]
