"""Nine decorators. They leave a mark on a function and do nothing else; `TestSystem.collect` reads it.

Each can be used bare, ``@datamorphism``, or with options, ``@datamorphism(feature="x", step=0.2)``. Functions
are batched: they take and give whole frames or test sets. ``scalar=True`` lifts a function of one case.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from .._text import suggest_name
from ..errors import TestSystemError

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

MARK_ATTRIBUTE = "__datamorphic__"


@dataclass(frozen=True)
class MorphismMark:
    """What a decorator wrote down."""

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
    """Return the mark a function carries, if any."""
    # a staticmethod or classmethod hides the function it was made of
    mark = getattr(getattr(function, "__func__", function), MARK_ATTRIBUTE, None)
    return mark if isinstance(mark, MorphismMark) else None


def _wrap_callable(target: Callable[..., Any]) -> Any:
    def call(*arguments: Any, **keywords: Any) -> Any:
        return target(*arguments, **keywords)

    call.__name__ = getattr(target, "__name__", type(target).__name__)
    call.__signature__ = inspect.signature(target)  # type: ignore[attr-defined]
    return staticmethod(call)  # it is bound already, or never will be


class MarkDecorator:
    """A decorator that writes down its kind and options: ``@mark`` or ``@mark(option=...)``."""

    def __init__(self, kind: str, options: tuple[str, ...], doc: str) -> None:
        self.kind, self.options = kind, options
        self.__name__ = kind
        self.__doc__ = doc

    @overload
    def __call__(self, function: AnyFunction, /) -> AnyFunction: ...
    @overload
    def __call__(self, function: None = None, /, **options: Any) -> Callable[[AnyFunction], AnyFunction]: ...
    def __call__(self, function: Any = None, /, **options: Any) -> Any:
        """Leave the mark on a function, or return what will."""
        for option in options:
            if option not in self.options:
                raise TestSystemError(
                    f"@{self.kind} has no option {option!r}. {suggest_name(option, self.options)}"
                )
        mark = MorphismMark(self.kind, **options)

        def mark_function(target: Any) -> Any:
            if isinstance(target, staticmethod | classmethod):
                setattr(target.__func__, MARK_ATTRIBUTE, mark)
                return target
            if not callable(target):
                raise TestSystemError(f"@{self.kind} marks functions. Got {target!r}; options are given by name.")
            if not inspect.isfunction(target):
                target = _wrap_callable(target)  # a method or builtin of others: not ours to mark
            setattr(getattr(target, "__func__", target), MARK_ATTRIBUTE, mark)
            return target

        return mark_function if function is None else mark_function(function)

    def __repr__(self) -> str:
        return f"@{self.kind}"


seed_maker = MarkDecorator(
    "seed_maker",
    ("name",),
    """Mark a function that makes test cases from nothing: ``() -> frame``.

    It may take ``n`` (how many) and ``rng`` (a NumPy generator), by these names.
    """,
)

datamorphism = MarkDecorator(
    "datamorphism",
    ("name", "scalar", "points", "feature", "step", "move", "filter"),
    """Mark a function that makes new inputs from given ones: ``(frame, ...) -> frame``, row by row.

    Parameters
    ----------
    name : str, optional
        Instead of the function's own.
    scalar : bool
        It takes one case (a dict) and returns one.
    points : bool
        It takes and returns `Points`, the matrix of codes, instead of frames: fastest.
    feature, step : optional
        The feature it moves and how far at most; the law check holds it to them.
    move : bool
        False for a unary datamorphism that is no step of a walk.
    filter : str, optional
        The case filter that says which cases it applies to.
    """,
)

metamorphism = MarkDecorator(
    "metamorphism",
    ("name", "scalar", "of", "applies_to", "message"),
    """Mark a promise: ``(cases, origins, ...) -> True or False`` for each case.

    Parameters
    ----------
    of : str, optional
        Only for cases made by this datamorphism.
    applies_to : {"original", "mutant"}, optional
        Only for cases of this kind.
    message : str
        What to say when it is broken.
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
    "Mark a choice of test cases: ``(tests) -> True or False`` for each case, True to keep it.",
)

set_metric = MarkDecorator("set_metric", ("name",), "Mark a measure of a test set: ``(tests) -> number``.")

set_filter = MarkDecorator("set_filter", ("name",), "Mark a function from test set to test set.")

executor = MarkDecorator(
    "executor", ("name", "scalar"), "Mark the function that asks the system under test: ``(frame) -> labels``."
)

analyser = MarkDecorator(
    "analyser", ("name",), "Mark a function that reports on a test set: ``(tests) -> anything``."
)
