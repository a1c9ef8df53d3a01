"""Distributions of numbers, frozen ones of SciPy or texts such as ``normal(0, 1)``, from which sources are drawn."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..._text import suggest_name
from ..._validation import reject
from ...errors import ArgumentError

TAIL = 1e-9  # of the draws, beyond each limit of a distribution that has none
_CALL = re.compile(r"\s*([a-z]\w*)\s*\(([^()]*)\)\s*")


class _Kind(NamedTuple):
    parameters: str
    build: Callable[..., Any]  # from the module of SciPy and the parameters


KINDS: Mapping[str, _Kind] = {
    "normal": _Kind("mean, deviation", lambda stats, mean, deviation: stats.norm(mean, deviation)),
    "lognormal": _Kind("median, shape", lambda stats, median, shape: stats.lognorm(shape, scale=median)),
    "uniform": _Kind("low, high", lambda stats, low, high: stats.uniform(low, high - low)),
    "exponential": _Kind("mean", lambda stats, mean: stats.expon(scale=mean)),
    "triangular": _Kind(
        "low, mode, high", lambda stats, low, mode, high: stats.triang((mode - low) / (high - low), low, high - low)
    ),
    "beta": _Kind("a, b", lambda stats, a, b: stats.beta(a, b)),
    "gamma": _Kind("shape, scale", lambda stats, shape, scale: stats.gamma(shape, scale=scale)),
    "student": _Kind("degrees of freedom", lambda stats, degrees: stats.t(degrees)),
    "poisson": _Kind("mean", lambda stats, mean: stats.poisson(mean)),
}


def is_frozen(value: object) -> bool:
    """Return whether a value is a distribution of SciPy with its parameters."""
    return not isinstance(value, type) and callable(getattr(value, "ppf", None)) and hasattr(value, "args")


def find_distribution(value: object, owner: str) -> Any:
    """Return the distribution that a frozen distribution of SciPy is, or that a text names; texts are parsed, not evaluated.

    Examples
    --------
    >>> float(find_distribution("normal(0, 2)", "here").std())
    2.0
    """
    if is_frozen(value):
        return value
    if not isinstance(value, str):
        reject(
            "distribution", owner, "a text such as 'normal(0, 1)', or a distribution of SciPy with parameters", value
        )
    match = _CALL.fullmatch(value)
    kind = match and KINDS.get(match[1])
    if not kind:
        name = match[1] if match else value
        raise ArgumentError(
            f"{owner} got the distribution {value!r}, which is not known: {suggest_name(name, list(KINDS))} "
            "Write it with its parameters, as in 'normal(0, 1)'."
        )
    from scipy import stats

    try:
        numbers = [float(part) for part in match[2].split(",")]  # type: ignore[index]
        distribution = kind.build(stats, *numbers)
    except (TypeError, ValueError, ZeroDivisionError):
        distribution = None
    if distribution is None or not distribution.ppf(0.5) == distribution.ppf(0.5):
        raise ArgumentError(
            f"{owner} got the distribution {value!r}. Its parameters are numbers: {match[1]}({kind.parameters})."  # type: ignore[index]
        )
    return distribution


def find_limits(distribution: Any) -> tuple[float, float]:
    """Return the limits of a distribution; where it has none, those beyond which hardly anything is drawn."""
    return float(distribution.ppf(TAIL)), float(distribution.ppf(1 - TAIL))


def format_distribution(value: Any) -> str:
    """Return a distribution as text."""
    if isinstance(value, str):
        return value
    parameters = [*map(str, value.args), *(f"{name}={number}" for name, number in value.kwds.items())]
    return f"{value.dist.name}({', '.join(parameters)})"
