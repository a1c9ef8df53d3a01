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
from ..space.points import Points
from .completeness import find_incompleteness
from .law_context import LawContext, LawViolation, Numbers, Triples, to_plain_label

LawCheck = Callable[[LawContext, Triples], LawViolation | None]
ROUNDING = 1e-9  # relative; more than what float64 loses in a few operations
MAX_SINGLE_QUERIES = 100


@dataclass(frozen=True, kw_only=True)
class Law:
    """One law.

    Attributes
    ----------
    name : str
        The name of the law.
    says : str
        What the law demands.
    check : callable
        Returns the violation in a batch of triples, or None.
    explain_missing : callable
        Returns why the law does not apply to a test system, or None if it does.
    shrinks : bool
        Whether a single triple can break the law, so that a counter-example can be shrunk.
    lists_failures : bool
        Whether the result mentions inputs on which the system failed.
    """

    name: str
    says: str
    check: LawCheck
    explain_missing: Callable[[LawContext], str | None] = lambda context: None
    shrinks: bool = True
    lists_failures: bool = False


def _any_per_row(mask: Mask) -> Mask:
    """Return which rows have at least one true value."""
    return np.asarray(mask.any(axis=1))


def _check_closure(context: LawContext, triples: Triples) -> LawViolation | None:
    for name, result in context.apply_all(triples):
        if isinstance(result, Exception):
            return LawViolation(
                np.ones(len(triples), dtype=bool), name, partial(context.format_error, result, triples.x)
            )
        outside = context.find_outside_values(result)
        if outside.any():
            return LawViolation(_any_per_row(outside), name, partial(context.format_outside, name, result, outside))
        invalid = (
            context.find_invalid_rows(result)
            & ~context.find_invalid_rows(triples.x)
            & ~context.find_invalid_rows(triples.y)
        )
        if invalid.any():
            return LawViolation(invalid, name, partial(context.format_invalid, name, result))
    return None


def _check_identity(context: LawContext, triples: Triples) -> LawViolation | None:
    self_distances = context.distance(triples.x, triples.x)
    distances = context.distance(triples.x, triples.y)
    broken_rows = (
        (self_distances != 0)
        | ((distances > 0) == triples.x.same(triples.y))
        | (distances < 0)
        | ~np.isfinite(distances)
    )

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
        outside_text = context.format_not_between(triples.x, triples.y, midpoints, i)
        distances_text = (
            f"{format_short(to_x[i])} from x and {format_short(to_y[i])} from y, "
            f"which are {format_short(distances[i])} apart"
        )
        return f"{name}(x, y) lies {distances_text}; {outside_text}{context.format_pair(triples.x, triples.y, i)}"

    return LawViolation(broken_rows, name, explain)


def _check_step(context: LawContext, triples: Triples) -> LawViolation | None:
    for name, moved_points in context.apply_moves(triples):
        step = context.find_step(name, triples)
        if isinstance(moved_points, Exception) or step is None:
            continue
        lengths = context.distance(triples.x, moved_points)
        j = context.find_feature(name, triples)
        missing_changed = np.isnan(triples.x.codes[:, j]) != np.isnan(moved_points.codes[:, j])
        lengths = lengths - missing_changed  # by definition a missing value is at distance 1 from any other
        broken_rows = ~(
            lengths <= step * (1 + ROUNDING) + ROUNDING * np.nan_to_num(np.abs(triples.x.codes)).max(initial=1.0)
        )
        if broken_rows.any():

            def explain(
                i: int,
                name: str = name,
                moved_points: Points = moved_points,
                lengths: Numbers = lengths,
                step: float = step,
            ) -> str:
                changes = context.format_changes(triples.x, moved_points, i)
                return f"{name} goes {format_short(lengths[i])} where its step is {format_short(step)}: {changes}"

            return LawViolation(broken_rows, name, explain)
    return None


def _check_locality(context: LawContext, triples: Triples) -> LawViolation | None:
    offenders = {}
    for name, moved_points in context.apply_moves(triples):
        if isinstance(moved_points, Exception):
            continue
        changes = context.find_changes(triples.x, moved_points)
        changes[:, context.find_feature(name, triples)] = False
        for block in context.space.units:  # tied features move together
            if context.find_feature(name, triples) in block:
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

    return LawViolation(
        _any_per_row(changes), name, explain, tuple(offender for offender in offenders if offender != name)
    )


def _check_determinism(context: LawContext, triples: Triples) -> LawViolation | None:
    first, second = context.execute(triples.x), context.execute(triples.x)
    return LawViolation(
        ~first.same(second, rounding=ROUNDING),
        context.sut_name,
        lambda i: (
            f"queried twice, it answers {to_plain_label(first.values[i])!r} and {to_plain_label(second.values[i])!r} "
            f"for {context.format_point(triples.x, i)}"
        ),
    )


def _check_batches(context: LawContext, triples: Triples) -> LawViolation | None:
    sample = triples.x.take(slice(0, MAX_SINGLE_QUERIES))
    batch_answers = context.execute(sample)
    single_answers = context.execute_row_by_row(sample)
    broken_rows = np.zeros(len(triples), dtype=bool)
    broken_rows[: len(sample)] = ~batch_answers.same(single_answers, rounding=ROUNDING)
    return LawViolation(
        broken_rows,
        context.sut_name,
        lambda i: (
            f"it answers {to_plain_label(batch_answers.values[i])!r} in a batch of {len(sample)} and "
            f"{to_plain_label(single_answers.values[i])!r} alone for {context.format_point(triples.x, i)}"
        ),
    )


LAWS = (
    Law(
        name="closure",
        says="moves and the midpoint give inputs of the space",
        check=_check_closure,
        explain_missing=LawContext.explain_missing_morphisms,
    ),
    Law(name="identity", says="a distance is 0 between equal points and above 0 between others", check=_check_identity),
    Law(name="symmetry", says="a distance is the same in both directions", check=_check_symmetry),
    Law(name="triangle", says="no detour is shorter than the direct distance", check=_check_triangle),
    Law(
        name="midpoint",
        says="the midpoint is nearer to both ends than they are to each other",
        check=_check_midpoint,
        explain_missing=LawContext.explain_missing_midpoint,
    ),
    Law(
        name="step",
        says="a move goes no farther than its step",
        check=_check_step,
        explain_missing=LawContext.explain_missing_steps,
    ),
    Law(
        name="locality",
        says="a move of one feature does not change the others",
        check=_check_locality,
        explain_missing=LawContext.explain_missing_moves,
    ),
    Law(
        name="completeness",
        says="moves and midpoints lead from any point to any other",
        check=find_incompleteness,
        explain_missing=LawContext.explain_missing_moves,
        shrinks=False,
    ),
    Law(
        name="determinism",
        says="the system answers the same input the same way",
        check=_check_determinism,
        explain_missing=LawContext.explain_missing_executor,
        shrinks=False,
        lists_failures=True,
    ),
    Law(
        name="batches",
        says="the system answers a batch as it answers row by row",
        check=_check_batches,
        explain_missing=LawContext.explain_missing_executor,
        shrinks=False,
    ),
)
