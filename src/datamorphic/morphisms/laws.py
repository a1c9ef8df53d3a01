"""The laws a test system must keep, checked by property-based search, broken ones told in words.

Every law looks at a whole batch of drawn points at once. Only where it finds one that breaks it does
Hypothesis search again, case by case, for the simplest such points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import format_short, pluralize
from .._validation import validate_integer
from ..errors import DatamorphicError
from ..space.features import Codes
from ..space.points import Points
from .completeness import find_incompleteness
from .law_result import LawReport, LawResult
from .law_runner import LawContext, LawViolation, Triples, to_plain_label
from .strategies import build_points_strategy
from .system import TestSystem

Mask = npt.NDArray[np.bool_]
LawCheck = Callable[[LawContext, Triples], LawViolation | None]
Counterexample = tuple[Triples, LawViolation]  # triples, and how they break a law
ROUNDING = 1e-9  # relative; more than what float64 loses in a few operations


@dataclass(frozen=True)
class Law:
    """One law: what it says, how a batch is checked, and whether a counter-example can be shrunk."""

    name: str
    says: str
    check: LawCheck
    explain_missing: Callable[[LawContext], str | None] = lambda context: None
    shrinks: bool = True


def _any_per_row(mask: Mask) -> Mask:
    """Tell which rows have a true value."""
    return np.asarray(mask.any(axis=1))


# -- the laws ------------------------------------------------------------------------------------------------


def _check_closure(context: LawContext, triples: Triples) -> LawViolation | None:
    """Moves and the midpoint give inputs of the space."""
    for name, result in context.apply_all(triples):
        if isinstance(result, Exception):
            return LawViolation(
                np.ones(len(triples), dtype=bool), name, partial(context.format_error, result, triples.x)
            )
        outside = context.find_outside_values(result)
        if outside.any():
            return LawViolation(
                _any_per_row(outside), name, partial(context.format_outside, name, result, outside)
            )
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
            return (
                f"a point lies {format_short(self_distances[i])} from itself: {context.format_point(triples.x, i)}"
            )
        return f"the distance is {format_short(distances[i])} between x and y, {context.format_pair(triples.x, triples.y, i)}"

    return LawViolation(broken_rows, "distance", explain)


def _check_symmetry(context: LawContext, triples: Triples) -> LawViolation | None:
    forward, backward = context.distance(triples.x, triples.y), context.distance(triples.y, triples.x)
    broken_rows = np.abs(forward - backward) > ROUNDING * (1 + np.abs(forward))
    return LawViolation(
        broken_rows,
        "distance",
        lambda i: (
            f"x to y is {format_short(forward[i])} and y to x is {format_short(backward[i])}, {context.format_pair(triples.x, triples.y, i)}"
        ),
    )


def _check_triangle(context: LawContext, triples: Triples) -> LawViolation | None:
    direct, first, second = (
        context.distance(triples.x, triples.y),
        context.distance(triples.x, triples.z),
        context.distance(triples.z, triples.y),
    )
    broken_rows = direct > (first + second) * (1 + ROUNDING) + ROUNDING
    # "Missing" lies 1 from every value by definition: a way through it is a short cut, and no fault.
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
        return None  # told by the first law
    distances, to_x, to_y = (
        context.distance(triples.x, triples.y),
        context.distance(triples.x, midpoints),
        context.distance(midpoints, triples.y),
    )
    nearer = (to_x < distances) & (to_y < distances)
    is_end = midpoints.same(triples.x) | midpoints.same(triples.y)
    # Where constraints or the lattice of whole numbers leave nothing between, the midpoint is an end.
    nothing_between = is_end & context.find_adjacent_rows(triples.x, triples.y)
    if context.space.keeps_constraints:
        space_midpoints = context.space.midpoint(triples.x, triples.y)
        nothing_between |= is_end & (space_midpoints.same(triples.x) | space_midpoints.same(triples.y))
    broken_rows = ~nearer & ~nothing_between

    def explain(i: int) -> str:
        if distances[i] == 0:
            return f"{name} of a point with itself is another point: it moved {context.format_changes(triples.x, midpoints, i)}"
        outside_text = context.format_not_between(triples.x, triples.y, midpoints, i)
        distances_text = f"{format_short(to_x[i])} from x and {format_short(to_y[i])} from y, which are {format_short(distances[i])} apart"
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
        lengths = lengths - missing_changed  # a missing value is 1 away from any other by definition
        broken_rows = ~(
            lengths <= step * (1 + ROUNDING) + ROUNDING * np.nan_to_num(np.abs(triples.x.codes)).max(initial=1.0)
        )
        if broken_rows.any():

            def explain(
                i: int,
                name: str = name,
                moved_points: Points = moved_points,
                lengths: Any = lengths,
                step: float = step,
            ) -> str:
                return f"{name} goes {format_short(lengths[i])} where its step is {format_short(step)}: {context.format_changes(triples.x, moved_points, i)}"

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
        return f"{name} is a move of {own_feature!r} and changes others too: {context.format_changes(triples.x, moved_points, i, changes[i])}"

    return LawViolation(
        _any_per_row(changes), name, explain, tuple(offender for offender in offenders if offender != name)
    )


def _check_determinism(context: LawContext, triples: Triples) -> LawViolation | None:
    first, second = context.execute(triples.x), context.execute(triples.x)
    return LawViolation(
        ~first.same(second, rounding=ROUNDING),
        context.sut_name,
        lambda i: (
            f"asked twice, it answers {to_plain_label(first.values[i])!r} and {to_plain_label(second.values[i])!r} "
            f"for {context.format_point(triples.x, i)}"
        ),
    )


def _check_batches(context: LawContext, triples: Triples) -> LawViolation | None:
    sample = triples.x.take(slice(0, 100))
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
    Law("closure", "moves and the midpoint give inputs of the space", _check_closure, LawContext.explain_missing_morphisms),
    Law("identity", "a distance is 0 between equal points and above 0 between others", _check_identity),
    Law("symmetry", "a distance is the same in both directions", _check_symmetry),
    Law("triangle", "no way round is shorter than the direct one", _check_triangle),
    Law("midpoint", "the midpoint is nearer to both ends than they are to each other",
        _check_midpoint, LawContext.explain_missing_midpoint),
    Law("step", "a move goes no farther than its step", _check_step, LawContext.explain_missing_steps),
    Law("locality", "a move of one feature leaves the others alone", _check_locality, LawContext.explain_missing_moves),
    Law("completeness", "moves and midpoints lead from any point to any other",
        find_incompleteness, LawContext.explain_missing_moves, shrinks=False),
    Law("determinism", "the system answers the same input the same way",
        _check_determinism, LawContext.explain_missing_executor, shrinks=False),
    Law("batches", "the system answers a batch as it answers row by row",
        _check_batches, LawContext.explain_missing_executor, shrinks=False),
)  # fmt: skip


# -- the search ----------------------------------------------------------------------------------------------


def check_laws(
    system: TestSystem,
    *,
    examples: int = 500,
    seed: int = 0,
    known_triples: Mapping[str, Sequence[Codes]] | None = None,
    show_progress: Callable[[str, float], None] | None = None,
) -> LawReport:
    """Check every law on `examples` triples of points and shrink what breaks one.

    `known` are triples that broke laws before, by the law's name: they are tried first. If it is given, be it empty,
    results name the triples to try first the next time. `show` is told what is being done and which share of the work
    is done already.
    """
    validate_integer("examples", "laws", examples, 1)
    validate_integer("seed", "laws", seed)
    context = LawContext(system)
    sample = _draw_triples(context, examples, seed)
    if known_triples and any(known_triples.values()):
        _learn_features(context, sample)
    results = []
    for number, law in enumerate(LAWS):
        if show_progress is not None:
            show_progress(f"the law of {law.name}", number / len(LAWS))
        known_codes = None if known_triples is None else known_triples.get(law.name, ())
        results.append(_check_law(law, context, sample, examples, seed, known_codes))
    return LawReport(system.name, results, len(sample), seed)


def _check_law(
    law: Law, context: LawContext, sample: Triples, examples: int, seed: int, known_triples: Sequence[Codes] | None
) -> LawResult:
    reason = law.explain_missing(context)
    if reason:
        return LawResult(law.name, law.says, "NOT CHECKED", reason)
    known_results = [_find_counterexample(law, context, triple[None]) for triple in known_triples or ()]
    still_broken = tuple(result is not None for result in known_results)
    known_counterexample = next((result for result in known_results if result is not None), None)
    violation = law.check(context, sample)
    if violation is None or not violation.broken_rows.any():
        if known_counterexample is None:
            text = context.format_failures() if law.name == "determinism" else ""
            return LawResult(law.name, law.says, "HOLDS", text, first=still_broken)
        (triples, violation), others, retry_codes = known_counterexample, known_counterexample[1].others, None
    else:
        triples, others = sample, violation.others
        if law.shrinks:
            simplest = _shrink_counterexample(law, context, sample, violation, examples, seed)
            retry_codes = None if simplest is None else simplest[0].codes[0]
            triples, violation = simplest or known_counterexample or (sample, violation)
        else:
            retry_codes = (
                None if known_triples is None else _find_repeatable_triple(law, context, sample, violation)
            )
    row = int(np.argmax(violation.broken_rows))
    cases = Points.concat([p.take(slice(row, row + 1)) for p in (triples.x, triples.y, triples.z)]).frame
    cases.index = ["x", "y", "z"]
    text = violation.explain(row)
    if others:
        text += f". So do {pluralize(len(others), 'other')}: {', '.join(others[:4])}{' and so on' if len(others) > 4 else ''}"
    return LawResult(law.name, law.says, "BROKEN", text, violation.culprit, cases, still_broken, retry_codes)


# -- what broke a law before -----------------------------------------------------------------------------------


def _find_counterexample(
    law: Law, context: LawContext, codes: Codes, culprit: str = "distance"
) -> Counterexample | None:
    """Return triples with how they break a law, None if they do not; the same answer whatever else was drawn.

    A law that does not shrink is one of many points: for it, triples are checked in the company of the pool.
    """
    triples = Triples.of(
        context.space, codes if law.shrinks else np.concatenate([codes, _build_pool_triples(context)])
    )
    try:
        violation = law.check(context, triples)
    except DatamorphicError as error:
        if not law.shrinks:
            raise
        message = str(error)  # the name is gone when the explanation is asked for
        violation = LawViolation(np.ones(len(triples), dtype=bool), culprit, lambda i: message)
    return (triples, violation) if violation is not None and violation.broken_rows.any() else None


def _build_pool_triples(context: LawContext) -> Codes:
    return np.stack([np.roll(context.pool, -k, axis=0) for k in range(3)], axis=1)


def _find_repeatable_triple(
    law: Law, context: LawContext, sample: Triples, violation: LawViolation
) -> Codes | None:
    """Return a triple that breaks a law which does not shrink, and will when it is tried first; None without one."""
    row = int(np.argmax(violation.broken_rows))
    if _find_counterexample(law, context, sample.codes[row : row + 1]):
        return sample.codes[row]
    # A finding about all rows names none of them: halving tells which it is.
    codes = sample.codes if violation.broken_rows.all() and len(sample) > 1 else sample.codes[:0]
    while len(codes) > 1:
        halves = np.array_split(codes, 2)
        codes = next((half for half in halves if _find_counterexample(law, context, half)), codes[:0])
    return codes[0] if len(codes) else None


def _learn_features(context: LawContext, sample: Triples) -> None:
    """Let moves be understood by many points: single triples, and few drawn ones, would mislead."""
    triples = Triples.of(context.space, np.concatenate([sample.codes, _build_pool_triples(context)]))
    for name, moved_points in context.apply_moves(triples):
        if not isinstance(moved_points, Exception):
            context.find_feature(name, triples)


# -- the search by Hypothesis ----------------------------------------------------------------------------------


def _run_hypothesis(body: Callable[[Any], None], context: LawContext, examples: int, seed: int) -> None:
    """Run `body` on triples that Hypothesis draws; the same seed draws the same ones."""
    import hypothesis
    from hypothesis import HealthCheck, Phase

    def test(triple: Any) -> None:
        body(triple)

    hypothesis.seed(seed)(
        hypothesis.settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=hypothesis.Verbosity.quiet,
        )(hypothesis.given(build_points_strategy(context.space, 3, context.pool))(test))
    )()


def _draw_triples(context: LawContext, examples: int, seed: int) -> Triples:
    triples: list[Any] = []
    _run_hypothesis(triples.append, context, examples, seed)
    return Triples.of(context.space, np.stack(triples))


class _LawBroken(Exception):
    """Tells Hypothesis that a law is broken here."""


def _shrink_counterexample(
    law: Law, context: LawContext, sample: Triples, violation: LawViolation, examples: int, seed: int
) -> Counterexample | None:
    """Return the simplest triple that breaks the law, or None where it cannot be broken twice."""
    from hypothesis.errors import HypothesisException

    verdicts = {
        triple.tobytes(): bool(broken) for triple, broken in zip(sample.codes, violation.broken_rows, strict=True)
    }
    counterexamples: list[Counterexample] = []

    def body(triple: Any) -> None:
        if verdicts.get(triple.tobytes()) is False:
            return  # known to be in order: the batch said so
        counterexample = _find_counterexample(law, context, triple[None], violation.culprit)
        if counterexample is not None:
            counterexamples.append(counterexample)
            raise _LawBroken

    with suppress(_LawBroken, HypothesisException, ExceptionGroup):
        _run_hypothesis(body, context, examples, seed)
    return counterexamples[-1] if counterexamples else None
