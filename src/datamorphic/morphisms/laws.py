"""The laws of moves, midpoints, distances and systems on which exploration relies.

Every law is checked on a whole batch of triples of points at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from .._text import format_short
from ..space.features import Mask
from ..space.outputs import Outputs
from ..space.points import Points
from .completeness import find_incompleteness
from .law_context import LawContext, LawViolation, Numbers, Triples

ROUNDING = 1e-9  # relative; more than what float64 loses in a few operations
MAX_SINGLE_QUERIES = 100


@dataclass(frozen=True, kw_only=True)
class Law:
    """One law."""

    name: str
    says: str  # what the law demands
    check: Callable[[LawContext, Triples], LawViolation | None]  # returns the violation in a batch of triples
    needs: str = ""  # what a test system must have: morphisms, moves, steps, midpoint, executor
    shrinks: bool = True  # whether a single triple can break the law, so that a counter-example can be shrunk
    lists_failures: bool = False  # whether the result mentions inputs on which the system failed


def _check_closure(context: LawContext, triples: Triples) -> LawViolation | None:
    for name, result in context.apply_all(triples):
        if isinstance(result, Exception):
            explain = partial(_explain_error, context, result, triples)
            return LawViolation(np.ones(len(triples), dtype=bool), name, explain)
        outside = context.find_outside_values(result)
        if outside.any():
            explain = partial(_explain_outside, context, name, result, outside)
            return LawViolation(np.any(outside, axis=1), name, explain)
        if context.space.keeps_constraints:
            satisfied, x, y = (context.space.satisfied(p.codes) for p in (result, triples.x, triples.y))
            if (~satisfied & x & y).any():
                return LawViolation(~satisfied & x & y, name, partial(_explain_invalid, context, name, result))
    return None


def _explain_error(context: LawContext, error: Exception, triples: Triples, i: int) -> str:
    return str(error) + (f" Its input was {context.format_point(triples.x, i)}." if len(triples) == 1 else "")


def _explain_outside(context: LawContext, name: str, result: Points, outside: Mask, i: int) -> str:
    j = int(np.argmax(outside[i]))
    feature = context.space.features[j]
    return f"{name} set {feature.name!r} to {context.format_value(result, i, j)}; expected: {feature.describe()}"


def _explain_invalid(context: LawContext, name: str, result: Points, i: int) -> str:
    space = context.space
    constraint = next(c for c in space.constraints if not c.satisfied(space, result.codes[i : i + 1])[0])
    return f"{name} breaks the constraint {constraint}: {context.format_point(result, i)}"


def _check_identity(context: LawContext, triples: Triples) -> LawViolation | None:
    self_distances = context.distance(triples.x, triples.x)
    distances = context.distance(triples.x, triples.y)
    same = triples.x.same(triples.y)
    broken_rows = (self_distances != 0) | ((distances > 0) == same) | (distances < 0) | ~np.isfinite(distances)

    def explain(i: int) -> str:
        if self_distances[i] != 0:
            return f"a point lies {format_short(self_distances[i])} from itself: {context.format_point(triples.x, i)}"
        return f"the distance is {format_short(distances[i])} between x and y, {context.format_pair(triples.x, triples.y, i)}"

    return LawViolation(broken_rows, "distance", explain)


def _check_symmetry(context: LawContext, triples: Triples) -> LawViolation | None:
    forward, backward = context.distance(triples.x, triples.y), context.distance(triples.y, triples.x)
    broken_rows = np.abs(forward - backward) > ROUNDING * (1 + np.abs(forward))
    return LawViolation(
        broken_rows,
        "distance",
        lambda i: (
            f"x to y is {format_short(forward[i])} and y to x is {format_short(backward[i])}, "
            f"{context.format_pair(triples.x, triples.y, i)}"
        ),
    )


def _check_triangle(context: LawContext, triples: Triples) -> LawViolation | None:
    direct = context.distance(triples.x, triples.y)
    first, second = context.distance(triples.x, triples.z), context.distance(triples.z, triples.y)
    broken_rows = direct > (first + second) * (1 + ROUNDING) + ROUNDING
    # By definition "missing" is at distance 1 from every value, so that a way through it may be shorter.
    x, y, z = (np.isnan(p.codes) for p in (triples.x, triples.y, triples.z))
    broken_rows &= ~(z & ~x & ~y).any(axis=1)
    return LawViolation(
        broken_rows,
        "distance",
        lambda i: (
            f"x to y is {format_short(direct[i])}, but by way of z only {format_short(first[i] + second[i])}, "
            f"{context.format_pair(triples.x, triples.y, i)}; z is {context.format_point(triples.z, i)}"
        ),
    )


def _check_midpoint(context: LawContext, triples: Triples) -> LawViolation | None:
    name = context.midpoint_name
    midpoints = context.apply(name, triples.x, triples.y)
    if isinstance(midpoints, Exception):
        return None  # reported by the law of closure
    distances = context.distance(triples.x, triples.y)
    to_x, to_y = context.distance(triples.x, midpoints), context.distance(midpoints, triples.y)
    nearer = (to_x < distances) & (to_y < distances)
    is_end = midpoints.same(triples.x) | midpoints.same(triples.y)
    # If constraints or discrete features leave no point between the ends, the midpoint is an end.
    nothing_between = is_end & context.find_adjacent_rows(triples.x, triples.y)
    if context.space.keeps_constraints:
        space_midpoints = context.space.midpoint(triples.x, triples.y)
        nothing_between |= is_end & (space_midpoints.same(triples.x) | space_midpoints.same(triples.y))
    broken_rows = ~nearer & ~nothing_between

    def explain(i: int) -> str:
        if distances[i] == 0:
            changes = context.format_changes(triples.x, midpoints, i)
            return f"{name} of a point with itself is another point: it moved {changes}"
        x, y, middle = triples.x.codes[i], triples.y.codes[i], midpoints.codes[i]
        low, high = np.fmin(x, y), np.fmax(x, y)
        slack = ROUNDING * (1 + np.abs(high))
        outside_text = "".join(
            f"it moved {context.space.names[j]!r} to {context.format_value(midpoints, i, j)}, which is not between "
            f"{context.format_value(triples.x, i, j)} and {context.format_value(triples.y, i, j)}; "
            for j in np.flatnonzero((middle < low - slack) | (middle > high + slack))[:2].tolist()
        )
        return (
            f"{name}(x, y) lies {format_short(to_x[i])} from x and {format_short(to_y[i])} from y, which are "
            f"{format_short(distances[i])} apart; {outside_text}{context.format_pair(triples.x, triples.y, i)}"
        )

    return LawViolation(broken_rows, name, explain)


def _check_step(context: LawContext, triples: Triples) -> LawViolation | None:
    for name, moved_points in context.apply_moves(triples):
        step = context.find_step(name, triples)
        if isinstance(moved_points, Exception) or step is None:
            continue
        j = context.find_feature(name, triples)
        missing_changed = np.isnan(triples.x.codes[:, j]) != np.isnan(moved_points.codes[:, j])
        # by definition a missing value is at distance 1 from any other
        lengths = context.distance(triples.x, moved_points) - missing_changed
        slack = ROUNDING * np.nan_to_num(np.abs(triples.x.codes)).max(initial=1.0)
        broken_rows = ~(lengths <= step * (1 + ROUNDING) + slack)
        if broken_rows.any():
            explain = partial(_explain_step, context, triples, name, moved_points, lengths, step)
            return LawViolation(broken_rows, name, explain)
    return None


def _explain_step(
    context: LawContext, triples: Triples, name: str, moved_points: Points, lengths: Numbers, step: float, i: int
) -> str:
    changes = context.format_changes(triples.x, moved_points, i)
    return f"{name} goes {format_short(lengths[i])} where its step is {format_short(step)}: {changes}"


def _check_locality(context: LawContext, triples: Triples) -> LawViolation | None:
    offenders = {}
    for name, moved_points in context.apply_moves(triples):
        if isinstance(moved_points, Exception):
            continue
        changes, own_position = context.find_changes(triples.x, moved_points), context.find_feature(name, triples)
        changes[:, own_position] = False
        for block in context.space.units:  # tied features move together
            if own_position in block:
                changes[:, list(block)] = False
        if changes.any():
            offenders[name] = (changes, moved_points)
    if not offenders:
        return None
    name, (changes, moved_points) = next(iter(offenders.items()))
    own_feature = context.space.names[context.find_feature(name, triples)]

    def explain(i: int) -> str:
        changes_text = context.format_changes(triples.x, moved_points, i, changes[i])
        return f"{name} is a move of {own_feature!r} and changes others too: {changes_text}"

    return LawViolation(np.any(changes, axis=1), name, explain, tuple(offenders)[1:])


def _format_label(answers: Outputs, i: int) -> str:
    label = answers.values[i]
    return repr(label.item() if isinstance(label, np.generic) else label)


def _check_determinism(context: LawContext, triples: Triples) -> LawViolation | None:
    first, second = context.execute(triples.x), context.execute(triples.x)
    return LawViolation(
        ~first.same(second, rounding=ROUNDING),
        context.sut_name,
        lambda i: (
            f"queried twice, it answers {_format_label(first, i)} and {_format_label(second, i)} "
            f"for {context.format_point(triples.x, i)}"
        ),
    )


def _check_batches(context: LawContext, triples: Triples) -> LawViolation | None:
    sample = triples.x.take(slice(0, MAX_SINGLE_QUERIES))
    batch_answers = context.execute(sample)
    single_answers = Outputs.concat([context.execute(point) for point in sample])
    broken_rows = np.zeros(len(triples), dtype=bool)
    broken_rows[: len(sample)] = ~batch_answers.same(single_answers, rounding=ROUNDING)
    return LawViolation(
        broken_rows,
        context.sut_name,
        lambda i: (
            f"it answers {_format_label(batch_answers, i)} in a batch of {len(sample)} and "
            f"{_format_label(single_answers, i)} alone for {context.format_point(triples.x, i)}"
        ),
    )


LAWS = (
    Law(
        name="closure", says="moves and the midpoint give inputs of the space", check=_check_closure, needs="morphisms"
    ),
    Law(name="identity", says="a distance is 0 between equal points and above 0 between others", check=_check_identity),
    Law(name="symmetry", says="a distance is the same in both directions", check=_check_symmetry),
    Law(name="triangle", says="no detour is shorter than the direct distance", check=_check_triangle),
    Law(
        name="midpoint",
        says="the midpoint is nearer to both ends than they are to each other",
        check=_check_midpoint,
        needs="midpoint",
    ),
    Law(name="step", says="a move goes no farther than its step", check=_check_step, needs="steps"),
    Law(name="locality", says="a move of one feature does not change the others", check=_check_locality, needs="moves"),
    Law(
        name="completeness",
        says="moves and midpoints lead from any point to any other",
        check=find_incompleteness,
        needs="moves",
        shrinks=False,
    ),
    Law(
        name="determinism",
        says="the system answers the same input the same way",
        check=_check_determinism,
        needs="executor",
        shrinks=False,
        lists_failures=True,
    ),
    Law(
        name="batches",
        says="the system answers a batch as it answers row by row",
        check=_check_batches,
        needs="executor",
        shrinks=False,
    ),
)
