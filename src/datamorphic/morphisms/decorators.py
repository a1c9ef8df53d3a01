"""The nine decorators that mark the functions of a test system.

They only attach a mark to the function, which `TestSystem.collect` reads. Each can be used without options,
``@datamorphism``, or with them, ``@datamorphism(feature="x", step=0.2)``. Functions work on batches: they take and return
whole frames or test sets. ``scalar=True`` declares a function of one case.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar, overload

from .._text import suggest_name
from ..errors import TestSystemError

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

MARK_ATTRIBUTE = "__datamorphic__"


@dataclass(frozen=True, kw_only=True)
class MorphismMark:
    """The kind and the options of a decorated function."""

    kind: str
    name: str | None = None
    scalar: bool = False
    points: bool = False
    feature: str | None = None
    step: float | None = None
    move: bool = True
    filter: str | None = None
    of: str | None = None
    applies_to: str | None = None
    message: str = ""


def get_mark(function: object) -> MorphismMark | None:
    """Return the mark of a function, or None."""
    # staticmethod and classmethod objects wrap the marked function
    mark = getattr(getattr(function, "__func__", function), MARK_ATTRIBUTE, None)
    return mark if isinstance(mark, MorphismMark) else None


def _wrap_callable(target: Callable[..., Any]) -> Any:
    def call(*arguments: object, **keywords: object) -> Any:
        return target(*arguments, **keywords)

    call.__name__ = getattr(target, "__name__", type(target).__name__)
    call.__signature__ = inspect.signature(target)  # type: ignore[attr-defined]
    return staticmethod(call)  # it must not be bound again


class MarkDecorator:
    """A decorator that attaches its kind and options to a function."""

    def __init__(self, kind: str, options: tuple[str, ...], doc: str) -> None:
        self.kind, self.options = kind, options
        self.__name__ = kind
        self.__doc__ = doc

    @overload
    def __call__(self, function: AnyFunction, /) -> AnyFunction: ...
    @overload
    def __call__(self, function: None = None, /, **options: Any) -> Callable[[AnyFunction], AnyFunction]: ...
    def __call__(self, function: Any = None, /, **options: Any) -> Any:
        """Mark a function, or return a decorator that does."""
        for option in options:
            if option not in self.options:
                raise TestSystemError(f"@{self.kind} has no option {option!r}. {suggest_name(option, self.options)}")
        mark = MorphismMark(kind=self.kind, **options)

        def mark_function(target: Any) -> Any:
            if not callable(target) and not isinstance(target, classmethod):
                raise TestSystemError(f"@{self.kind} marks functions. Got {target!r}; pass options by name.")
            if not isinstance(target, FunctionType | staticmethod | classmethod):
                target = _wrap_callable(target)  # a bound method or builtin cannot carry the mark itself
            setattr(getattr(target, "__func__", target), MARK_ATTRIBUTE, mark)
            return target

        return mark_function if function is None else mark_function(function)

    def __repr__(self) -> str:
        return f"@{self.kind}"


seed_maker = MarkDecorator(
    "seed_maker",
    ("name",),
    """Mark a function that makes seed cases: ``() -> frame``.

    It may have the parameters ``n`` (the number of cases) and ``rng`` (a NumPy generator).
    """,
)

datamorphism = MarkDecorator(
    "datamorphism",
    ("name", "scalar", "points", "feature", "step", "move", "filter"),
    """Mark a function that makes new inputs from existing ones: ``(frame, ...) -> frame``, row by row.

    Parameters
    ----------
    name : str, optional
        A name other than the function's.
    scalar : bool
        Whether the function takes one case (a dict) and returns one.
    points : bool
        Whether the function takes and returns `Points` (matrices of codes) instead of frames, which is fastest.
    feature, step : optional
        The feature it moves and the longest distance of a move. The law check verifies both.
    move : bool
        False for a unary datamorphism that is not a step of a walk.
    filter : str, optional
        The name of the case filter that selects the cases it applies to.
    """,
)

metamorphism = MarkDecorator(
    "metamorphism",
    ("name", "scalar", "of", "applies_to", "message"),
    """Mark a relation that must hold: ``(cases, origins, ...) -> True or False`` for each case.

    Parameters
    ----------
    of : str, optional
        The datamorphism whose cases it applies to; by default it applies to all.
    applies_to : {"original", "mutant"}, optional
        The kind of cases it applies to; by default both.
    message : str
        The message for a violation.
    name, scalar
        As for a datamorphism.
    """,
)

case_metric = MarkDecorator(
    "case_metric", ("name", "scalar"), "Mark a measure of test cases: ``(tests) -> number`` for each case."
)

case_filter = MarkDecorator(
    "case_filter",
    ("name", "scalar"),
    "Mark a filter of test cases: ``(tests) -> True or False`` for each case, True to keep it.",
)

set_metric = MarkDecorator("set_metric", ("name",), "Mark a measure of a test set: ``(tests) -> number``.")

set_filter = MarkDecorator("set_filter", ("name",), "Mark a function that returns a test set for a test set.")

executor = MarkDecorator(
    "executor",
    ("name", "scalar", "points"),
    """Mark the function that queries the system under test: ``(frame) -> labels``.

    With ``points=True`` it takes `Points` (a matrix of codes) of the declared space, which is fastest.
    """,
)

analyser = MarkDecorator("analyser", ("name",), "Mark a function that reports on a test set: ``(tests) -> anything``.")
