"""Paths into JSON answers: keys, positions and ``[*]``. Nothing in a path is evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._text import pluralise, suggest_name
from ..errors import ArgumentError, BadAnswer

#: one step: .key, ['key'], ["key"], [3], [-1], [*] or .*
_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]()'"\s*]+) | \[(?P<position>-?\d{1,9})\] | (?P<all>\[\*\]|\.\*)
    | \['(?P<single>[^']*)'\] | \["(?P<double>[^"]*)"\]""",
    re.VERBOSE,
)
MAX_PATH_STEPS = 50


class _All:
    """The step to all elements of a list, or all values of an object."""

    def __repr__(self) -> str:
        return "[*]"


ALL = _All()


@dataclass(frozen=True)
class JsonPath:
    """A path such as ``$.data[0].label``, parsed once and applied to every answer.

    Examples
    --------
    >>> JsonPath("$.data[0].label").find({"data": [{"label": "yes"}]})
    'yes'
    >>> JsonPath("$.hits[*].id").find({"hits": [{"id": 3}, {"id": 5}]})
    [3, 5]
    """

    text: str
    steps: tuple[Any, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _parse(self.text))

    def find(self, document: Any) -> Any:
        """Return the value at the path; a list of values if the path has ``[*]``.

        Raises
        ------
        BadAnswer
            If the document does not have the path.
        """
        return self._find(document, 0)

    def _find(self, value: Any, start: int) -> Any:
        for number in range(start, len(self.steps)):
            step = self.steps[number]
            if step is ALL:
                if isinstance(value, Mapping):
                    value = list(value.values())
                if not isinstance(value, list):
                    raise BadAnswer(self._format_mismatch(number, f"a {_name_kind(value)}, not a list"))
                return [self._find(item, number + 1) for item in value]
            value = self._take(value, step, number)
        return value

    def _take(self, value: Any, step: str | int, number: int) -> Any:
        if isinstance(step, int):
            if not isinstance(value, list):
                raise BadAnswer(self._format_mismatch(number, f"a {_name_kind(value)}, not a list"))
            if not -len(value) <= step < len(value):
                raise BadAnswer(self._format_mismatch(number, f"a list of {pluralise(len(value), 'element')}"))
            return value[step]
        if not isinstance(value, Mapping):
            raise BadAnswer(self._format_mismatch(number, f"a {_name_kind(value)}, not an object"))
        if step not in value:
            hint = suggest_name(step, value) if value else "It is empty."
            raise BadAnswer(self._format_mismatch(number, f"an object without {step!r}") + f". {hint}")
        return value[step]

    def _format_mismatch(self, number: int, observation: str) -> str:
        place = "$" + "".join(_format_step(step) for step in self.steps[:number])
        return f"its answer does not have {self.text}: {place} is {observation}"


def _parse(text: object) -> tuple[Any, ...]:
    if not isinstance(text, str) or not text.startswith("$"):
        raise ArgumentError(f"A path into a JSON answer begins with $, as in $.data[0].label. Got {text!r}.")
    steps: list[Any] = []
    place = 1
    while place < len(text):
        step = _STEP.match(text, place)
        if step is None or len(steps) >= MAX_PATH_STEPS:
            raise ArgumentError(
                f"The path {text!r} is not understood at character {place + 1}. It may have keys (.name or ['name']), "
                "positions ([0]) and [*] for all elements, as in $.data[0].label."
            )
        if step["all"]:
            steps.append(ALL)
        elif step["position"]:
            steps.append(int(step["position"]))
        else:
            steps.append(next(key for key in (step["name"], step["single"], step["double"]) if key is not None))
        place = step.end()
    return tuple(steps)


def _format_step(step: Any) -> str:
    if isinstance(step, str):
        return f".{step}" if re.fullmatch(r"[\w-]+", step) else f"[{step!r}]"
    return "[*]" if step is ALL else f"[{step}]"


def _name_kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {str: "text", int: "number", float: "number", list: "list", dict: "object"}
    return names.get(type(value), type(value).__name__)
