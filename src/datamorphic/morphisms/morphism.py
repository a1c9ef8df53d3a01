"""`Morphism`: one marked function, its shape verified, callable on batches whatever its style."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from .._checks import plural
from ..cases import TestSet
from ..errors import DatamorphicError, TestSystemError
from ..space.points import Points
from .marks import Mark

if TYPE_CHECKING:
    import pandas as pd

    from ..space.space import Space

#: parameters that are given by name where a function of that kind has them
GIVEN = {"seed_maker": ("rng", "n", "seed"), "datamorphism": ("rng", "seed")}

#: how many arguments each kind takes, at least and at most (None: any number), and what they are
SHAPES: dict[str, tuple[int, int | None, str]] = {
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


def plain(name: str) -> str:
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
    mark: Mark
    function: Callable[..., Any]
    arity: int
    home: str
    derived: bool = False

    @classmethod
    def verified(cls, name: str, mark: Mark, function: Callable[..., Any], home: str) -> Morphism:
        """Return the morphism, or raise `TestSystemError` that names the function and what is wrong with it."""
        offender = f"{home}, marked @{mark.kind},"
        if not callable(function):
            raise TestSystemError(f"{offender} is not callable.")
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            raise TestSystemError(f"{offender} has no signature to read. Wrap it in a def.") from None
        wanted = [
            p
            for p in parameters
            if p.name not in GIVEN.get(mark.kind, ())
            and p.default is p.empty
            and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        least, most, meaning = SHAPES[mark.kind]
        if mark.kind == "executor" and mark.scalar:
            most = None  # f(x, y): one parameter a feature
        if any(p.kind == p.KEYWORD_ONLY for p in wanted):
            raise TestSystemError(f"{offender} has a keyword-only parameter without a default. Give it one.")
        if len(wanted) < least or (most is not None and len(wanted) > most):
            given = f"({', '.join(p.name for p in wanted)})"
            raise TestSystemError(f"{offender} must take {meaning}. It takes {given}.")
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TestSystemError(f"{offender} must return its result, not yield or await it.")
        return cls(name, mark, function, len(wanted), home)

    def _given(self, rng: np.random.Generator | None, n: int | None) -> dict[str, Any]:
        """The arguments that are passed by name, where the function has them."""
        rng = rng if rng is not None else np.random.default_rng(0)
        given: dict[str, Any] = {}
        for p in inspect.signature(self.function).parameters.values():
            if p.name not in GIVEN.get(self.mark.kind, ()):
                continue
            if p.name == "rng":
                given["rng"] = rng
            elif p.name == "seed":
                given["seed"] = int(rng.integers(2**31))
            elif n is not None or p.default is p.empty:
                given["n"] = n if n is not None else 200
        return given

    def fail(self, what: str, cause: BaseException | None = None) -> NoReturn:
        """Raise an error about this function."""
        raise TestSystemError(f"{self.home}, marked @{self.mark.kind}, {what}") from cause

    def call(self, *arguments: Any, rng: np.random.Generator | None = None, n: int | None = None) -> Any:
        """Call the function; what it raises comes back as an error that names it."""
        try:
            return self.function(*arguments, **self._given(rng, n))
        except DatamorphicError:
            raise
        except (Exception, SystemExit) as error:
            self.fail(f"raised {type(error).__name__}: {error}.", error)

    # -- the kinds ----------------------------------------------------------------------------------

    def seeds(self, rng: np.random.Generator, n: int | None, space: Space | None = None) -> pd.DataFrame:
        """Make test cases and return them as a frame."""
        return self._as_frame(self.call(rng=rng, n=n), space)

    def morph(self, *inputs: Points, rng: np.random.Generator | None = None, lenient: bool = False) -> Points:
        """Make a new input from each row of the given ones.

        ``lenient=True`` lets values through that do not fit the space, for whoever wants to complain about them.
        """
        if len(inputs) != self.arity:
            self.fail(f"takes {plural(self.arity, 'input')} and was given {len(inputs)}.")
        space = inputs[0].space
        if self.derived:
            return self.call(*inputs, rng=rng)
        if self.mark.points:
            return self._checked(self.call(*inputs, rng=rng), inputs[0])
        frames = [points.frame for points in inputs]
        if self.mark.scalar:
            made = self._as_frame(
                [self.call(*cases, rng=rng) for cases in zip(*map(_cases, frames), strict=True)], space
            )
        else:
            made = self._as_frame(self.call(*(frame.copy() for frame in frames), rng=rng), space)
        if len(made) != len(inputs[0]):
            self.fail(
                f"gave {plural(len(made), 'row')} for {plural(len(inputs[0]), 'row')}. It must make one from each; "
                "a function of one case is declared with scalar=True."
            )
        try:
            return space.points(made, lenient=lenient)
        except DatamorphicError as error:
            self.fail(f"gave inputs that are not in the space: {error}", error)

    def _checked(self, made: Any, given: Points) -> Points:
        """Return points that a function made, if they are as many and of the same space."""
        if not isinstance(made, Points) or made.space is not given.space:
            self.fail(f"must give Points of the space it was given, as points=True says. It gave {made!r}.")
        if len(made) != len(given):
            self.fail(
                f"gave {plural(len(made), 'row')} for {plural(len(given), 'row')}. It must make one from each."
            )
        return made

    def _as_frame(self, made: Any, space: Space | None) -> pd.DataFrame:
        import pandas as pd

        if isinstance(made, Points):
            return made.frame
        if isinstance(made, pd.DataFrame):
            return made
        if isinstance(made, Sequence) and all(isinstance(case, dict) for case in made):
            return pd.DataFrame(list(made), columns=None if space is None or made else list(space.names))
        if isinstance(made, np.ndarray) and made.ndim == 2 and space is not None and made.shape[1] == len(space):
            return pd.DataFrame(made, columns=list(space.names))
        if space is None and isinstance(made, np.ndarray) and made.ndim == 2:
            return pd.DataFrame(made, columns=[f"x{j}" for j in range(made.shape[1])])
        self.fail(f"must give a frame of inputs. It gave {type(made).__name__}.")

    def per_case(self, *sets: TestSet) -> npt.NDArray[Any]:
        """Return one value a case: of a metric, a filter or a metamorphism."""
        rows = len(sets[0])
        if self.mark.scalar:
            answer: Any = [self.call(*cases) for cases in zip(*map(_scalar_cases, sets), strict=True)]
        else:
            answer = self.call(*sets)
        values = np.asarray(answer)
        if values.shape != (rows,):
            self.fail(f"must give one value for each of {plural(rows, 'case')}. It gave {_shape(answer, values)}.")
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

    def of_set(self, tests: TestSet) -> Any:
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


def _shape(answer: Any, values: npt.NDArray[Any]) -> str:
    return f"a single {type(answer).__name__}" if values.ndim == 0 else f"an array of shape {values.shape}"


def _cases(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return frame.astype(object).to_dict("records")


def _scalar_cases(tests: TestSet) -> list[Case]:
    outputs: Any = [None] * len(tests) if tests.outputs is None else tests.outputs.values.tolist()
    return [
        Case(case, output, int(number))
        for case, output, number in zip(_cases(tests.input), outputs, tests.ids, strict=True)
    ]
