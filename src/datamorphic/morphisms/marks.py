"""Nine decorators. They leave a mark on a function and do nothing else; `TestSystem.collect` reads it.

Each can be used bare, ``@datamorphism``, or with options, ``@datamorphism(feature="x", step=0.2)``. Functions
are batched: they take and give whole frames or test sets. ``scalar=True`` lifts a function of one case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

Function = TypeVar("Function", bound=Callable[..., Any])

ATTRIBUTE = "__datamorphic__"


@dataclass(frozen=True)
class Mark:
    """What a decorator wrote down."""

    kind: str
    name: str | None = None
    scalar: bool = False
    feature: str | None = None
    step: float | None = None
    move: bool = True
    filter: str | None = None
    of: str | None = None
    applies_to: str | None = None
    message: str = ""


def mark_of(function: object) -> Mark | None:
    """Return the mark a function carries, if any."""
    # a staticmethod or classmethod hides the function it was made of
    mark = getattr(getattr(function, "__func__", function), ATTRIBUTE, None)
    return mark if isinstance(mark, Mark) else None


def _marked(function: Callable[..., Any] | None, mark: Mark) -> Any:
    def leave(target: Any) -> Any:
        setattr(getattr(target, "__func__", target), ATTRIBUTE, mark)
        return target

    return leave if function is None else leave(function)


@overload
def seed_maker(function: Function, /) -> Function: ...
@overload
def seed_maker(*, name: str | None = None) -> Callable[[Function], Function]: ...
def seed_maker(function: Any = None, /, *, name: str | None = None) -> Any:
    """Mark a function that makes test cases from nothing: ``() -> frame``.

    It may take ``n`` (how many) and ``rng`` (a NumPy generator), by these names.
    """
    return _marked(function, Mark("seed_maker", name))


@overload
def datamorphism(function: Function, /) -> Function: ...
@overload
def datamorphism(
    *,
    name: str | None = None,
    scalar: bool = False,
    feature: str | None = None,
    step: float | None = None,
    move: bool = True,
    filter: str | None = None,
) -> Callable[[Function], Function]: ...
def datamorphism(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    scalar: bool = False,
    feature: str | None = None,
    step: float | None = None,
    move: bool = True,
    filter: str | None = None,
) -> Any:
    """Mark a function that makes new inputs from given ones: ``(frame, ...) -> frame``, row by row.

    Parameters
    ----------
    name : str, optional
        Instead of the function's own.
    scalar : bool
        It takes one case (a dict) and returns one.
    feature, step : optional
        The feature it moves and how far at most; the law check holds it to them.
    move : bool
        False for a unary datamorphism that is no step of a walk.
    filter : str, optional
        The case filter that says which cases it applies to.
    """
    return _marked(
        function,
        Mark("datamorphism", name, scalar=scalar, feature=feature, step=step, move=move, filter=filter),
    )


@overload
def metamorphism(function: Function, /) -> Function: ...
@overload
def metamorphism(
    *,
    of: str | None = None,
    applies_to: str | None = None,
    message: str = "",
    name: str | None = None,
    scalar: bool = False,
) -> Callable[[Function], Function]: ...
def metamorphism(
    function: Any = None,
    /,
    *,
    of: str | None = None,
    applies_to: str | None = None,
    message: str = "",
    name: str | None = None,
    scalar: bool = False,
) -> Any:
    """Mark a promise: ``(cases, origins, ...) -> True or False`` for each case.

    Parameters
    ----------
    of : str, optional
        Only for cases made by this datamorphism.
    applies_to : {"original", "mutant"}, optional
        Only for cases of this kind.
    message : str
        What to say when it is broken.
    """
    mark = Mark("metamorphism", name, scalar=scalar, of=of, applies_to=applies_to, message=message)
    return _marked(function, mark)


@overload
def case_metric(function: Function, /) -> Function: ...
@overload
def case_metric(*, name: str | None = None, scalar: bool = False) -> Callable[[Function], Function]: ...
def case_metric(function: Any = None, /, *, name: str | None = None, scalar: bool = False) -> Any:
    """Mark a measure of test cases: ``(tests) -> number`` for each case."""
    return _marked(function, Mark("case_metric", name, scalar=scalar))


@overload
def case_filter(function: Function, /) -> Function: ...
@overload
def case_filter(*, name: str | None = None, scalar: bool = False) -> Callable[[Function], Function]: ...
def case_filter(function: Any = None, /, *, name: str | None = None, scalar: bool = False) -> Any:
    """Mark a choice of test cases: ``(tests) -> True or False`` for each case, True to keep it."""
    return _marked(function, Mark("case_filter", name, scalar=scalar))


@overload
def set_metric(function: Function, /) -> Function: ...
@overload
def set_metric(*, name: str | None = None) -> Callable[[Function], Function]: ...
def set_metric(function: Any = None, /, *, name: str | None = None) -> Any:
    """Mark a measure of a test set: ``(tests) -> number``."""
    return _marked(function, Mark("set_metric", name))


@overload
def set_filter(function: Function, /) -> Function: ...
@overload
def set_filter(*, name: str | None = None) -> Callable[[Function], Function]: ...
def set_filter(function: Any = None, /, *, name: str | None = None) -> Any:
    """Mark a function from test set to test set."""
    return _marked(function, Mark("set_filter", name))


@overload
def executor(function: Function, /) -> Function: ...
@overload
def executor(*, name: str | None = None, scalar: bool = False) -> Callable[[Function], Function]: ...
def executor(function: Any = None, /, *, name: str | None = None, scalar: bool = False) -> Any:
    """Mark the function that asks the system under test: ``(frame) -> labels``."""
    return _marked(function, Mark("executor", name, scalar=scalar))


@overload
def analyser(function: Function, /) -> Function: ...
@overload
def analyser(*, name: str | None = None) -> Callable[[Function], Function]: ...
def analyser(function: Any = None, /, *, name: str | None = None) -> Any:
    """Mark a function that reports on a test set: ``(tests) -> anything``."""
    return _marked(function, Mark("analyser", name))
