"""The laws a test system must keep, checked by property-based search, broken ones told in words.

Every law looks at a whole batch of drawn points at once. Only where it finds one that breaks it does
Hypothesis search again, case by case, for the simplest such points.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import plural, short, whole_number
from ..errors import DatamorphicError
from ..space.points import Points
from .completeness import incomplete
from .examination import Examined, Finding, Triples, plain_label
from .law_report import LawReport, LawResult
from .search import points
from .system import TestSystem

if TYPE_CHECKING:
    pass

Mask = npt.NDArray[np.bool_]
Check = Callable[[Examined, Triples], Finding | None]
ROUNDING = 1e-9  # relative; more than what float64 loses in a few operations


@dataclass(frozen=True)
class Law:
    """One law: what it says, how a batch is checked, and whether a counter-example can be shrunk."""

    name: str
    says: str
    check: Check
    needs: Callable[[Examined], str | None] = lambda examined: None
    shrinks: bool = True


def _any(mask: Mask) -> Mask:
    """Tell which rows have a true value."""
    return np.asarray(mask.any(axis=1))


# -- the laws ------------------------------------------------------------------------------------------------


def _closed(ex: Examined, t: Triples) -> Finding | None:
    """Moves and the midpoint give inputs of the space."""
    for name, applied in ex.everything(t):
        if isinstance(applied, Exception):
            return Finding(np.ones(len(t), dtype=bool), name, partial(ex.told_error, applied, t.x))
        outside = ex.outside(applied)
        if outside.any():
            return Finding(_any(outside), name, partial(ex.told_outside, name, applied, outside))
        invalid = ex.invalid(applied) & ~ex.invalid(t.x) & ~ex.invalid(t.y)
        if invalid.any():
            return Finding(invalid, name, partial(ex.told_invalid, name, applied))
    return None


def _zero(ex: Examined, t: Triples) -> Finding | None:
    own = ex.distance(t.x, t.x)
    apart = ex.distance(t.x, t.y)
    bad = (own != 0) | ((apart > 0) == t.x.same(t.y)) | (apart < 0) | ~np.isfinite(apart)

    def explain(i: int) -> str:
        if own[i] != 0:
            return f"a point lies {short(own[i])} from itself: {ex.told(t.x, i)}"
        return f"the distance is {short(apart[i])} between x and y, {ex.told_pair(t.x, t.y, i)}"

    return Finding(bad, "distance", explain)


def _symmetric(ex: Examined, t: Triples) -> Finding | None:
    there, back = ex.distance(t.x, t.y), ex.distance(t.y, t.x)
    bad = np.abs(there - back) > ROUNDING * (1 + np.abs(there))
    return Finding(
        bad,
        "distance",
        lambda i: f"x to y is {short(there[i])} and y to x is {short(back[i])}, {ex.told_pair(t.x, t.y, i)}",
    )


def _triangle(ex: Examined, t: Triples) -> Finding | None:
    direct, first, second = ex.distance(t.x, t.y), ex.distance(t.x, t.z), ex.distance(t.z, t.y)
    bad = direct > (first + second) * (1 + ROUNDING) + ROUNDING
    # "Missing" lies 1 from every value by definition: a way through it is a short cut, and no fault.
    x, y, z = (np.isnan(p.codes) for p in (t.x, t.y, t.z))
    bad &= ~(z & ~x & ~y).any(axis=1)
    return Finding(
        bad,
        "distance",
        lambda i: (
            f"x to y is {short(direct[i])}, but by way of z only {short(first[i] + second[i])}, "
            f"{ex.told_pair(t.x, t.y, i)}; z is {ex.told(t.z, i)}"
        ),
    )


def _midpoint(ex: Examined, t: Triples) -> Finding | None:
    name = ex.midpoint_name
    middle = ex.apply(name, t.x, t.y)
    if isinstance(middle, Exception):
        return None  # told by the first law
    apart, to_x, to_y = ex.distance(t.x, t.y), ex.distance(t.x, middle), ex.distance(middle, t.y)
    nearer = (to_x < apart) & (to_y < apart)
    is_end = middle.same(t.x) | middle.same(t.y)
    # Where constraints or the lattice of whole numbers leave nothing between, the midpoint is an end.
    nothing_between = is_end & ex.nothing_between(t.x, t.y)
    if ex.space.keeps_constraints:
        own = ex.space.midpoint(t.x, t.y)
        nothing_between |= is_end & (own.same(t.x) | own.same(t.y))
    bad = ~nearer & ~nothing_between

    def explain(i: int) -> str:
        if apart[i] == 0:
            return f"{name} of a point with itself is another point: it moved {ex.changes(t.x, middle, i)}"
        wrong = ex.not_between(t.x, t.y, middle, i)
        distances = f"{short(to_x[i])} from x and {short(to_y[i])} from y, which are {short(apart[i])} apart"
        return f"{name}(x, y) lies {distances}; {wrong}{ex.told_pair(t.x, t.y, i)}"

    return Finding(bad, name, explain)


def _step(ex: Examined, t: Triples) -> Finding | None:
    for name, applied in ex.moves(t):
        step = ex.step_of(name, t)
        if isinstance(applied, Exception) or step is None:
            continue
        gone = ex.distance(t.x, applied)
        j = ex.feature_of(name, t)
        vanished = np.isnan(t.x.codes[:, j]) != np.isnan(applied.codes[:, j])
        gone = gone - vanished  # a missing value is 1 away from any other by definition
        bad = ~(gone <= step * (1 + ROUNDING) + ROUNDING * np.nan_to_num(np.abs(t.x.codes)).max(initial=1.0))
        if bad.any():

            def explain(
                i: int, name: str = name, applied: Points = applied, gone: Any = gone, step: float = step
            ) -> str:
                return (
                    f"{name} goes {short(gone[i])} where its step is {short(step)}: {ex.changes(t.x, applied, i)}"
                )

            return Finding(bad, name, explain)
    return None


def _local(ex: Examined, t: Triples) -> Finding | None:
    offenders = {}
    for name, applied in ex.moves(t):
        if isinstance(applied, Exception):
            continue
        others = ex.changed(t.x, applied)
        others[:, ex.feature_of(name, t)] = False
        for block in ex.space.units:  # tied features move together
            if ex.feature_of(name, t) in block:
                others[:, list(block)] = False
        if others.any():
            offenders[name] = (others, applied)
    if not offenders:
        return None
    name, (others, applied) = next(iter(offenders.items()))
    own = ex.space.names[ex.feature_of(name, t)]

    def explain(i: int) -> str:
        return f"{name} is a move of {own!r} and changes others too: {ex.changes(t.x, applied, i, others[i])}"

    return Finding(_any(others), name, explain, tuple(other for other in offenders if other != name))


def _repeatable(ex: Examined, t: Triples) -> Finding | None:
    first, second = ex.execute(t.x), ex.execute(t.x)
    return Finding(
        ~first.same(second, rounding=ROUNDING),
        ex.sut_name,
        lambda i: (
            f"asked twice, it answers {plain_label(first.values[i])!r} and {plain_label(second.values[i])!r} "
            f"for {ex.told(t.x, i)}"
        ),
    )


def _batch_invariant(ex: Examined, t: Triples) -> Finding | None:
    some = t.x.take(slice(0, 100))
    batch = ex.execute(some)
    alone = ex.one_by_one(some)
    bad = np.zeros(len(t), dtype=bool)
    bad[: len(some)] = ~batch.same(alone, rounding=ROUNDING)
    return Finding(
        bad,
        ex.sut_name,
        lambda i: (
            f"it answers {plain_label(batch.values[i])!r} in a batch of {len(some)} and "
            f"{plain_label(alone.values[i])!r} alone for {ex.told(t.x, i)}"
        ),
    )


LAWS = (
    Law("closure", "moves and the midpoint give inputs of the space", _closed, Examined.lacks_morphisms),
    Law("identity", "a distance is 0 between equal points and above 0 between others", _zero),
    Law("symmetry", "a distance is the same in both directions", _symmetric),
    Law("triangle", "no way round is shorter than the direct one", _triangle),
    Law(
        "midpoint",
        "the midpoint is nearer to both ends than they are to each other",
        _midpoint,
        Examined.lacks_midpoint,
    ),
    Law("step", "a move goes no farther than its step", _step, Examined.lacks_steps),
    Law("locality", "a move of one feature leaves the others alone", _local, Examined.lacks_moves),
    Law(
        "completeness",
        "moves and midpoints lead from any point to any other",
        incomplete,
        Examined.lacks_moves,
        False,
    ),
    Law(
        "determinism",
        "the system answers the same input the same way",
        _repeatable,
        Examined.lacks_executor,
        False,
    ),
    Law(
        "batches",
        "the system answers a batch as it answers row by row",
        _batch_invariant,
        Examined.lacks_executor,
        False,
    ),
)


# -- the search ----------------------------------------------------------------------------------------------


def check_laws(
    system: TestSystem, *, examples: int = 500, seed: int = 0, show: Callable[[str, float], None] | None = None
) -> LawReport:
    """Check every law on `examples` triples of points and shrink what breaks one.

    `show` is told what is being done and which share of the work is done already.
    """
    whole_number("examples", "laws", examples, 1)
    whole_number("seed", "laws", seed)
    examined = Examined(system)
    drawn = _draw(examined, examples, seed)
    results = []
    for number, law in enumerate(LAWS):
        if show is not None:
            show(f"the law of {law.name}", number / len(LAWS))
        results.append(_check(law, examined, drawn, examples, seed))
    return LawReport(system.name, results, len(drawn), seed)


def _check(law: Law, examined: Examined, drawn: Triples, examples: int, seed: int) -> LawResult:
    why_not = law.needs(examined)
    if why_not:
        return LawResult(law.name, law.says, "NOT CHECKED", why_not)
    finding = law.check(examined, drawn)
    if finding is None or not finding.bad.any():
        return LawResult(law.name, law.says, "HOLDS", examined.remark() if law.name == "determinism" else "")
    where, row, others = drawn, int(np.argmax(finding.bad)), finding.others
    if law.shrinks:
        simplest = _shrink(law, examined, drawn, finding, examples, seed)
        if simplest is not None:
            (where, finding), row = simplest, 0
    cases = Points.concat([p.take(slice(row, row + 1)) for p in (where.x, where.y, where.z)]).frame
    cases.index = ["x", "y", "z"]
    words = finding.explain(row)
    if others:
        words += f". So do {plural(len(others), 'other')}: {', '.join(others[:4])}{' and so on' if len(others) > 4 else ''}"
    return LawResult(law.name, law.says, "BROKEN", words, finding.culprit, cases)


def _search(body: Callable[[Any], None], examined: Examined, examples: int, seed: int) -> None:
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
        )(hypothesis.given(points(examined.space, 3, examined.pool))(test))
    )()


def _draw(examined: Examined, examples: int, seed: int) -> Triples:
    drawn: list[Any] = []
    _search(drawn.append, examined, examples, seed)
    return Triples.of(examined.space, np.stack(drawn))


class _Broken(Exception):
    """Tells Hypothesis that a law is broken here."""


def _shrink(
    law: Law, examined: Examined, drawn: Triples, finding: Finding, examples: int, seed: int
) -> tuple[Triples, Finding] | None:
    """Return the simplest triple that breaks the law, or None where it cannot be broken twice."""
    from hypothesis.errors import HypothesisException

    verdicts = {triple.tobytes(): bool(bad) for triple, bad in zip(drawn.codes, finding.bad, strict=True)}
    last: list[tuple[Triples, Finding]] = []

    def body(triple: Any) -> None:
        if verdicts.get(triple.tobytes()) is False:
            return  # known to be in order: the batch said so
        one = Triples.of(examined.space, triple[None])
        try:
            found = law.check(examined, one)
        except DatamorphicError as error:
            told = str(error)  # the name is gone when the explanation is asked for
            found = Finding(np.ones(1, dtype=bool), finding.culprit, lambda i: told)
        if found is not None and found.bad[0]:
            last.append((one, found))
            raise _Broken

    with suppress(_Broken, HypothesisException, ExceptionGroup):
        _search(body, examined, examples, seed)
    return last[-1] if last else None
