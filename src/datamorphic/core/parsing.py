"""Values of options from texts of the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import UsageError
from ..runs.flow import Budget

SIZE_UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}  # in bytes


def parse_number(text: str, option: str, example: str) -> float:
    """Return a number, an int if it is whole."""
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"{option} takes a number after the equals sign, as in {example}. Got {text!r}.") from None
    return int(number) if number.is_integer() else number


def parse_kinds(texts: Sequence[str]) -> dict[str, str]:
    """Return the kinds of columns from ``age=integer``."""
    return dict(_split_last(text, "--kind", "age=integer") for text in texts)


def parse_steps(texts: Sequence[str]) -> dict[str, float]:
    """Return the steps of columns from ``age=3``."""
    steps = dict(_split_last(text, "--column-step", "age=3") for text in texts)
    return {name: parse_number(value, "--column-step", "age=3") for name, value in steps.items()}


def parse_bounds(texts: Sequence[str]) -> dict[str, tuple[float | None, float | None]]:
    """Return the ranges of columns from ``age=20:80``; ``age=20:`` has no upper limit."""
    bounds = {}
    for text in texts:
        name, limits = _split_last(text, "--bounds", "age=20:80")
        if ":" not in limits:
            raise UsageError(f"--bounds takes a column and two limits, as in age=20:80. Got {text!r}.")
        low, high = (
            parse_number(limit, "--bounds", "age=20:80") if limit.strip() else None for limit in limits.split(":", 1)
        )
        bounds[name] = (low, high)
    return bounds


def parse_orders(texts: Sequence[str]) -> dict[str, list[str | float]]:
    """Return the categories of columns in their order from ``card=Blue,Gold``."""
    orders = {}
    for text in texts:
        name, sign, listing = text.partition("=")
        labels = [label.strip() for label in listing.split(",")]
        if not sign or not name.strip() or not all(labels):
            raise UsageError(f"--order takes a column and its categories in order, as in card=Blue,Gold. Got {text!r}.")
        orders[name.strip()] = parse_labels(labels)
    return orders


def parse_classes(text: str) -> list[str | float]:
    """Return the names of classes from ``no,yes``."""
    labels = [label.strip() for label in text.split(",")]
    if len(labels) < 2 or not all(labels):
        raise UsageError(f"--classes takes the names of at least two classes, as in no,yes. Got {text!r}.")
    return parse_labels(labels)


def parse_labels(labels: list[str]) -> list[str | float]:
    """Return labels as numbers if all are numbers, as they are read from a CSV file."""
    try:
        return [parse_number(label, "", "") for label in labels]
    except UsageError:
        return [*labels]


def parse_names(text: str, option: str) -> list[str]:
    """Return the names in a list that is separated by commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(f"{option} takes names separated by commas, as in swap,double. Got {text!r}.")
    return names


def parse_pair(text: str, option: str, expected: str) -> tuple[str, str]:
    """Split ``NAME=VALUE`` at the first equals sign."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"{option} takes {expected}. Got {text!r}.")
    return name.strip(), value.strip()


def parse_pairs(texts: Sequence[str], option: str, expected: str) -> dict[str, str]:
    """Return values by name from ``NAME=VALUE``."""
    return dict(parse_pair(text, option, expected) for text in texts)


def parse_size(text: str, option: str = "--memory") -> int:
    """Return a size of memory in bytes: ``512MB``, ``1.5 GB`` or a number of bytes."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(|[kMG]?B)\s*", text, re.IGNORECASE)
    size = 0 if match is None else int(float(match[1]) * SIZE_UNITS[match[2].upper()])
    if size < 1:
        raise UsageError(f"{option} takes a size, as in 512MB or 1GB. Got {text!r}.")
    return size


def parse_budget(text: str) -> str:
    """Return a budget as it is written, which must have a unit: 5 may mean seconds or runs."""
    Budget.parse(text, needs_unit=True)
    return text


def _split_last(text: str, option: str, example: str) -> tuple[str, str]:
    """Split at the last equals sign: the value has none, the name of a column may."""
    name, sign, value = text.rpartition("=")
    if not sign or not name.strip() or not value.strip():
        raise UsageError(f"{option} takes a column and a value, as in {example}. Got {text!r}.")
    return name.strip(), value.strip()
