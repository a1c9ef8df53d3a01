"""What a person changes in the table of features, and the hints for the command line that it becomes.

A hint is given only where a value differs from what the data suggest, so that everything else still follows the data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError

#: the kinds of features, with their names for people
KIND_NAMES = {"continuous": "real number", "integer": "whole number", "categorical": "category", "text": "text"}
NUMBER_KINDS = ("continuous", "integer")
MAX_ORDERED_CATEGORIES = 50

#: a feature as `query_session.describe_feature` returns it
FeatureDocument = Mapping[str, Any]


@dataclass
class FeatureEdit:
    """The values of a row of the table. Empty values are None, or an empty text."""

    kind: str
    low: Any = None
    high: Any = None
    step: Any = None
    order: str = ""  # the categories, with commas between them

    @classmethod
    def of_feature(cls, feature: FeatureDocument) -> FeatureEdit:
        """Return the row of a feature as it is.

        Examples
        --------
        >>> FeatureEdit.of_feature({"kind": "categorical", "low": None, "high": None, "step": None, "values": ["a", "b"]})
        FeatureEdit(kind='categorical', low=None, high=None, step=None, order='a, b')
        """
        return cls(
            kind=feature["kind"],
            low=to_plain_number(feature["low"]),
            high=to_plain_number(feature["high"]),
            step=to_plain_number(feature["step"]),
            order=", ".join(feature["values"]),
        )


def to_plain_number(value: Any) -> Any:
    """Return a whole number without its point, and anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def has_editable_order(feature: FeatureDocument) -> bool:
    """Return whether the order of the categories can be typed: not too many, and no commas in them."""
    return feature["value_count"] <= MAX_ORDERED_CATEGORIES and not any("," in value for value in feature["values"])


def build_hints(features: list[FeatureDocument], edits: Mapping[str, FeatureEdit]) -> dict[str, dict[str, str]]:
    """Return the hints for edits, by option and column; wrong values raise `UsageError`.

    `features` are those that the data suggest.

    Examples
    --------
    >>> age = {"name": "age", "kind": "integer", "low": 18, "high": 80, "step": 3, "values": [], "value_count": 0}
    >>> build_hints([age], {"age": FeatureEdit(kind="integer", low=10, high=None, step=3)})
    {'bounds': {'age': '10:'}}
    """
    hints: dict[str, dict[str, str]] = {}

    def add(option: str, column: str, value: str) -> None:
        hints.setdefault(option, {})[column] = value

    for feature in features:
        name = feature["name"]
        edit = edits.get(name)
        if edit is None:
            continue
        if edit.kind not in KIND_NAMES:
            raise UsageError(f"{name}: {edit.kind!r} is not a kind of feature. Choose one from the list.")
        if edit.kind != feature["kind"]:
            add("kind", name, edit.kind)
        if edit.kind in NUMBER_KINDS:
            if (bounds := _read_bounds(name, feature, edit)) is not None:
                add("bounds", name, bounds)
            if (step := _read_step(name, feature, edit)) is not None:
                add("column-step", name, step)
        elif (order := _read_order(name, feature, edit)) is not None:
            add("order", name, order)
    return hints


def _read_number(name: str, noun: str, value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: {value!r} is not a number. The {noun} must be one, or empty.") from None
    if not math.isfinite(number):
        raise UsageError(f"{name}: the {noun} must be a finite number. Leave it empty for no limit.")
    return number


def _format_number(number: float | None) -> str:
    return "" if number is None else str(to_plain_number(number))


def _read_bounds(name: str, feature: FeatureDocument, edit: FeatureEdit) -> str | None:
    low, high = _read_number(name, "lowest value", edit.low), _read_number(name, "highest value", edit.high)
    if low is not None and high is not None and low > high:
        raise UsageError(
            f"{name}: the lowest value {_format_number(low)} is above the highest {_format_number(high)}. Swap them."
        )
    if edit.kind == "integer" and any(value is not None and value != round(value) for value in (low, high)):
        raise UsageError(f"{name}: a whole number has whole limits. Choose real number for others.")
    if feature["kind"] in NUMBER_KINDS:
        is_same = (low, high) == (feature["low"], feature["high"])
    else:
        is_same = low is None and high is None  # the data say which
    return None if is_same else f"{_format_number(low)}:{_format_number(high)}"


def _read_step(name: str, feature: FeatureDocument, edit: FeatureEdit) -> str | None:
    step = _read_number(name, "step", edit.step)
    if step is None or (feature["kind"] in NUMBER_KINDS and step == feature["step"]):
        return None
    if step <= 0:
        raise UsageError(f"{name}: the step must be above 0. Got {_format_number(step)}.")
    if edit.kind == "integer" and step != round(step):
        raise UsageError(f"{name}: the step of a whole number is whole. Got {_format_number(step)}.")
    return _format_number(step)


def _read_order(name: str, feature: FeatureDocument, edit: FeatureEdit) -> str | None:
    if edit.kind != "categorical" or feature["kind"] != "categorical" or not has_editable_order(feature):
        return None
    categories = [value.strip() for value in edit.order.split(",") if value.strip()]
    known_categories = [value.strip() for value in feature["values"]]
    if categories == known_categories:
        return None
    if missing := [value for value in known_categories if value not in categories]:
        raise UsageError(f"{name}: the order leaves out {', '.join(missing[:5])}. List every category once.")
    if unknown := [value for value in categories if value not in known_categories]:
        raise UsageError(f"{name}: {', '.join(unknown[:5])} is not a category of the data.")
    if len(categories) != len(known_categories):
        raise UsageError(f"{name}: a category is listed twice. List every category once.")
    return ",".join(categories)
