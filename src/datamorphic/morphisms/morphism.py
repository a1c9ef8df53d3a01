"""`Morphism`: one marked function with a validated signature, callable on batches."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import pluralise, to_text
from ..errors import DatamorphicError, TestSystemError
from ..space.blocks import restore_frame
from ..space.points import Points
from .cases import TestSet
from .decorators import MorphismMark

if TYPE_CHECKING:
    from ..space.space import Space

#: parameters that a function of that kind may have, which are passed by name
INJECTED_PARAMETERS = {"seed_maker": ("rng", "n", "seed"), "datamorphism": ("rng", "seed")}

#: the least and the largest number of arguments of each kind (None: no limit), and their meaning
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


def normalise_name(name: str) -> str:
    """Return a name in lower case without separators, for comparisons.

    ``RandomValue200`` and ``random_value_200`` are the same name.
    """
    return "".join(filter(str.isalnum, name.casefold()))


@dataclass(frozen=True)
class Case:
    """One test case, as passed to functions declared with ``scalar=True``."""

    input: dict[str, Any]
    output: Any = None
    id: int = -1


@dataclass(frozen=True, kw_only=True)
class Morphism:
    """A marked function."""

    name: str  # in the test system
    mark: MorphismMark
    function: Callable[..., Any]  # bound if it is a method
    arity: int
    location: str  # where it is defined, for messages
    derived: bool = False  # whether it is derived from the space instead of declared

    @classmethod
    def from_function(cls, name: str, mark: MorphismMark, function: Callable[..., Any], location: str) -> Morphism:
        """Return the morphism of a marked function; its signature is validated."""
        source = f"{location}, marked @{mark.kind},"
        if not callable(function):
            raise TestSystemError(f"{source} is not callable.")
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            raise TestSystemError(f"{source} has no readable signature. Wrap it in a function.") from None
        required_parameters = [
            p
            for p in parameters
            if p.name not in INJECTED_PARAMETERS.get(mark.kind, ())
            and p.default is p.empty
            and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        min_count, max_count, meaning = ARGUMENT_LIMITS[mark.kind]
        if mark.kind == "executor" and mark.scalar:
            max_count = None  # f(x, y): one parameter per feature
        if any(p.kind == p.KEYWORD_ONLY for p in required_parameters):
            raise TestSystemError(f"{source} has a keyword-only parameter without a default. Give it one.")
        if len(required_parameters) < min_count or (max_count is not None and len(required_parameters) > max_count):
            names = ", ".join(p.name for p in required_parameters)
            raise TestSystemError(f"{source} must take {meaning}. It takes ({names}).")
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TestSystemError(f"{source} must return its result, not yield or await it.")
        return cls(name=name, mark=mark, function=function, arity=len(required_parameters), location=location)

    def _build_keywords(self, rng: np.random.Generator | None, n: int | None) -> dict[str, Any]:
        """Return the arguments that the function takes by name."""
        if not self._injected:
            return {}
        rng = rng if rng is not None else np.random.default_rng(0)
        keywords: dict[str, Any] = {}
        for name, is_required in self._injected.items():
            if name == "rng":
                keywords["rng"] = rng
            elif name == "seed":
                keywords["seed"] = int(rng.integers(2**31))
            elif n is not None or is_required:
                keywords["n"] = n if n is not None else 200
        return keywords

    @cached_property
    def _injected(self) -> dict[str, bool]:
        """The parameters that are passed by name, and whether they have no default."""
        names = INJECTED_PARAMETERS.get(self.mark.kind, ())
        parameters = inspect.signature(self.function).parameters.values()
        return {p.name: p.default is p.empty for p in parameters if p.name in names}

    def fail(self, problem: str, cause: BaseException | None = None) -> NoReturn:
        """Raise `TestSystemError` about this function."""
        raise TestSystemError(f"{self.location}, marked @{self.mark.kind}, {problem}") from cause

    def call(self, *arguments: object, rng: np.random.Generator | None = None, n: int | None = None) -> Any:
        """Call the function; an exception becomes a `TestSystemError`."""
        try:
            return self.function(*arguments, **self._build_keywords(rng, n))
        except DatamorphicError:
            raise
        except (Exception, SystemExit) as error:
            self.fail(f"raised {type(error).__name__}: {to_text(error)}.", error)

    # -- the kinds ----------------------------------------------------------------------------------

    def make_seeds(self, rng: np.random.Generator, n: int | None, space: Space | None = None) -> pd.DataFrame | Points:
        """Return the seed cases of a seed maker."""
        cases = self.call(rng=rng, n=n)
        return cases if isinstance(cases, Points) else self._to_frame(cases, space)

    def morph(self, *inputs: Points, rng: np.random.Generator | None = None, lenient: bool = False) -> Points:
        """Return the new inputs that a datamorphism makes, one per row of its inputs.

        With ``lenient=True`` values outside the space are accepted, so that the caller can report them.
        """
        if len(inputs) != self.arity:
            self.fail(f"takes {pluralise(self.arity, 'input')} and was called with {len(inputs)}.")
        space = inputs[0].space
        if self.derived:
            return self.call(*inputs, rng=rng)
        if self.mark.points:
            result = self.call(*inputs, rng=rng)
            if not isinstance(result, Points) or result.space is not space:
                self.fail(
                    f"must return Points of the space of its inputs, as it is declared with points=True. It returned {result!r}."
                )
            self._validate_length(result, inputs[0], "It must return one row for each.")
            return result
        frames = [restore_frame(points.frame, space.blocks) for points in inputs]
        if self.mark.scalar:
            answer: Any = [self.call(*cases, rng=rng) for cases in zip(*map(_to_dicts, frames), strict=True)]
        else:
            answer = self.call(*(frame.copy() for frame in frames), rng=rng)
        new_frame = self._to_frame(answer, space)
        remedy = "It must return one row for each; declare a function of one case with scalar=True."
        self._validate_length(new_frame, inputs[0], remedy)
        try:
            return space.points(new_frame, lenient=lenient)
        except DatamorphicError as error:
            self.fail(f"returned inputs that are not in the space: {error}", error)

    def _validate_length(self, result: Sized, inputs: Points, remedy: str) -> None:
        if len(result) != len(inputs):
            self.fail(f"returned {pluralise(len(result), 'row')} for {pluralise(len(inputs), 'row')}. {remedy}")

    def _to_frame(self, result: object, space: Space | None) -> pd.DataFrame:
        if isinstance(result, Points):
            return result.frame
        if isinstance(result, pd.DataFrame):
            return result
        if isinstance(result, Sequence) and all(isinstance(case, dict) for case in result):
            return pd.DataFrame(list(result), columns=None if space is None or result else list(space.names))
        if isinstance(result, np.ndarray) and result.ndim == 2:
            names = [f"x{j}" for j in range(result.shape[1])] if space is None else list(space.names)
            if len(names) == result.shape[1]:
                return pd.DataFrame(result, columns=names)
        self.fail(f"must return a frame of inputs. It returned {type(result).__name__}.")

    def evaluate_cases(self, *sets: TestSet) -> npt.NDArray[Any]:
        """Return one value per case: of a case metric, a case filter or a metamorphism."""
        rows = len(sets[0])
        if self.mark.scalar:
            answer: Any = [self.call(*cases) for cases in zip(*map(_to_cases, sets), strict=True)]
        else:
            answer = self.call(*sets)
        values = np.asarray(answer)
        if values.shape != (rows,):
            shape = f"an array of shape {values.shape}" if values.ndim else f"a single {type(answer).__name__}"
            self.fail(f"must return one value for each of {pluralise(rows, 'case')}. It returned {shape}.")
        if self.mark.kind in ("case_filter", "metamorphism"):
            is_boolean = values.dtype == bool or (values.dtype == object and all(isinstance(v, bool) for v in values))
            if rows and not is_boolean:
                self.fail(f"must return True or False for each case. It returned values of type {values.dtype}.")
            return values.astype(bool)
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            self.fail(f"must return a number for each case. It returned values of type {values.dtype}.")

    def evaluate_set(self, tests: TestSet) -> Any:
        """Return the result of a set metric, a set filter or an analyser for a test set."""
        answer = self.call(tests)
        if self.mark.kind == "set_filter" and not isinstance(answer, TestSet):
            self.fail(f"must return a TestSet. It returned {type(answer).__name__}.")
        if self.mark.kind == "set_metric":
            try:
                return float(answer)
            except (TypeError, ValueError):
                self.fail(f"must return a number. It returned {type(answer).__name__}.")
        return answer


def _to_dicts(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return frame.astype(object).to_dict("records")


def _to_cases(tests: TestSet) -> list[Case]:
    outputs: Any = [None] * len(tests) if tests.outputs is None else tests.outputs.values.tolist()
    return [Case(*case) for case in zip(_to_dicts(tests.input), outputs, tests.ids.tolist(), strict=True)]
