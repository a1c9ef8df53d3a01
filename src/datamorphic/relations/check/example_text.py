"""The violation of a relation by a model as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._text import pluralize
from ...space.outputs import Outputs
from ..base import JudgedGroups

MAX_FEATURES_SHOWN = 20
MAX_VALUE_CHARACTERS = 60


def format_example(groups: JudgedGroups) -> str:
    """Return the first group as lines: the case, its answer, the change."""
    first = groups.take(slice(0, 1))
    source, follow_up = (batch.frame.astype(object).to_dict("records")[0] for batch in (first.source, first.follow_up))
    changed_values = {name: value for name, value in follow_up.items() if not _is_same(source.get(name), value)}
    before, after = _format_answer(first.before), _format_answer(first.after)
    if before == after:
        before, after = before + _format_scores(first.before), after + _format_scores(first.after)
    lines = [("case", _format_case(source)), ("answer", before)]
    if changed_values:
        lines += [("changed", _format_case(changed_values)), ("becomes", after)]
    else:
        lines.append(("and then", after))
    if groups.batch is not None:
        lines.append(("among", pluralize(len(groups.batch), "row")))
    return "\n".join(f"{heading:<9}{text}" for heading, text in lines)


def _format_case(case: dict[Any, Any]) -> str:
    parts = [f"{name}={_format_value(value)}" for name, value in list(case.items())[:MAX_FEATURES_SHOWN]]
    hidden_count = len(case) - MAX_FEATURES_SHOWN
    return ", ".join(parts) + (f" and {pluralize(hidden_count, 'more feature')}" if hidden_count > 0 else "")


def _format_value(value: object) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[: MAX_VALUE_CHARACTERS - 3] + "..."


def _is_same(first: object, second: object) -> bool:
    equal = first == second or (first != first and second != second)
    return bool(equal) and isinstance(first, str) == isinstance(second, str)


def _format_answer(outputs: Outputs) -> str:
    return _format_value(outputs.values[0])


def _format_scores(outputs: Outputs) -> str:
    if outputs.scores is None:
        return ""
    return f" (scores {', '.join(f'{score:.6g}' for score in outputs.scores[0])})"
