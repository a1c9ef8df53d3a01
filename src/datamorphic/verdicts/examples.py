"""A violation by a model, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import plural
from ..outputs import Outputs
from ..relations.base import Groups

MOST_FEATURES = 20  # of an example that are shown


def example_of(groups: Groups) -> str:
    """Return the first of some violations in lines: the case, its answer, what changed, the answer to that."""
    first = groups.take(slice(0, 1))
    source, follow_up = (
        batch.frame.astype(object).to_dict("records")[0] for batch in (first.source, first.follow_up)
    )
    changed = {name: value for name, value in follow_up.items() if not _same(source.get(name), value)}
    before, after = _answer(first.before), _answer(first.after)
    if before == after:
        before, after = (text + _scores(each) for text, each in ((before, first.before), (after, first.after)))
    lines = [("case", _told(source)), ("answer", before)]
    lines += [("changed", _told(changed)), ("becomes", after)] if changed else [("and then", after)]
    if groups.among is not None:
        lines.append(("among", plural(len(groups.among), "row")))
    return "\n".join(f"{what:<9}{text}" for what, text in lines)


def _told(case: dict[Any, Any]) -> str:
    shown = [f"{name}={_value(value)}" for name, value in list(case.items())[:MOST_FEATURES]]
    more = len(case) - MOST_FEATURES
    return ", ".join(shown) + (f" and {plural(more, 'more feature')}" if more > 0 else "")


def _value(value: Any) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    text = repr(plain)
    return text if len(text) <= 60 else text[:57] + "..."


def _same(one: Any, two: Any) -> bool:
    same = one == two or (one != one and two != two)
    return bool(same) and isinstance(one, str) == isinstance(two, str)


def _answer(outputs: Outputs) -> str:
    return _value(outputs.values[0])


def _scores(outputs: Outputs) -> str:
    if outputs.scores is None:
        return ""
    return f" (scores {', '.join(f'{score:.6g}' for score in outputs.scores[0])})"
