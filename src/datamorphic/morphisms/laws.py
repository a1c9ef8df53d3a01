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

from .._checks import plural, short, whole_number
from ..errors import DatamorphicError
from ..space.features import Codes
from ..space.points import Points
from .completeness import incomplete
from .examination import Examined, Finding, Triples, plain_label
from .law_report import LawReport, LawResult
from .search import points
from .system import TestSystem

Mask = npt.NDArray[np.bool_]
Check = Callable[[Examined, Triples], Finding | None]
Broken = tuple[Triples, Finding]  # triples, and how they break a law
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
    Law("midpoint", "the midpoint is nearer to both ends than they are to each other",
        _midpoint, Examined.lacks_midpoint),
    Law("step", "a move goes no farther than its step", _step, Examined.lacks_steps),
    Law("locality", "a move of one feature leaves the others alone", _local, Examined.lacks_moves),
    Law("completeness", "moves and midpoints lead from any point to any other",
        incomplete, Examined.lacks_moves, shrinks=False),
    Law("determinism", "the system answers the same input the same way",
        _repeatable, Examined.lacks_executor, shrinks=False),
    Law("batches", "the system answers a batch as it answers row by row",
        _batch_invariant, Examined.lacks_executor, shrinks=False),
)  # fmt: skip


# -- the search ----------------------------------------------------------------------------------------------


def check_laws(
    system: TestSystem,
    *,
    examples: int = 500,
    seed: int = 0,
    known: Mapping[str, Sequence[Codes]] | None = None,
    show: Callable[[str, float], None] | None = None,
) -> LawReport:
    """Check every law on `examples` triples of points and shrink what breaks one.

    `known` are triples that broke laws before, by the law's name: they are tried first. If it is given, be it empty,
    results name the triples to try first the next time. `show` is told what is being done and which share of the work
    is done already.
    """
    whole_number("examples", "laws", examples, 1)
    whole_number("seed", "laws", seed)
    examined = Examined(system)
    drawn = _draw(examined, examples, seed)
    if known and any(known.values()):
        _learn_features(examined, drawn)
    results = []
    for number, law in enumerate(LAWS):
        if show is not None:
            show(f"the law of {law.name}", number / len(LAWS))
        before = None if known is None else known.get(law.name, ())
        results.append(_check(law, examined, drawn, examples, seed, before))
    return LawReport(system.name, results, len(drawn), seed)


def _check(
    law: Law, examined: Examined, drawn: Triples, examples: int, seed: int, known: Sequence[Codes] | None
) -> LawResult:
    why_not = law.needs(examined)
    if why_not:
        return LawResult(law.name, law.says, "NOT CHECKED", why_not)
    tried = [_breaks(law, examined, triple[None]) for triple in known or ()]
    first = tuple(broken is not None for broken in tried)
    before = next((broken for broken in tried if broken is not None), None)
    finding = law.check(examined, drawn)
    if finding is None or not finding.bad.any():
        if before is None:
            words = examined.remark() if law.name == "determinism" else ""
            return LawResult(law.name, law.says, "HOLDS", words, first=first)
        (where, finding), others, again = before, before[1].others, None
    else:
        where, others = drawn, finding.others
        if law.shrinks:
            simplest = _shrink(law, examined, drawn, finding, examples, seed)
            again = None if simplest is None else simplest[0].codes[0]
            where, finding = simplest or before or (drawn, finding)
        else:
            again = None if known is None else _repeatedly(law, examined, drawn, finding)
    row = int(np.argmax(finding.bad))
    cases = Points.concat([p.take(slice(row, row + 1)) for p in (where.x, where.y, where.z)]).frame
    cases.index = ["x", "y", "z"]
    words = finding.explain(row)
    if others:
        words += f". So do {plural(len(others), 'other')}: {', '.join(others[:4])}{' and so on' if len(others) > 4 else ''}"
    return LawResult(law.name, law.says, "BROKEN", words, finding.culprit, cases, first, again)


# -- what broke a law before -----------------------------------------------------------------------------------


def _breaks(law: Law, examined: Examined, codes: Codes, culprit: str = "distance") -> Broken | None:
    """Return triples with how they break a law, None if they do not; the same answer whatever else was drawn.

    A law that does not shrink is one of many points: for it, triples are checked in the company of the pool.
    """
    triples = Triples.of(examined.space, codes if law.shrinks else np.concatenate([codes, _company(examined)]))
    try:
        finding = law.check(examined, triples)
    except DatamorphicError as error:
        if not law.shrinks:
            raise
        told = str(error)  # the name is gone when the explanation is asked for
        finding = Finding(np.ones(len(triples), dtype=bool), culprit, lambda i: told)
    return (triples, finding) if finding is not None and finding.bad.any() else None


def _company(examined: Examined) -> Codes:
    return np.stack([np.roll(examined.pool, -k, axis=0) for k in range(3)], axis=1)


def _repeatedly(law: Law, examined: Examined, drawn: Triples, finding: Finding) -> Codes | None:
    """Return a triple that breaks a law which does not shrink, and will when it is tried first; None without one."""
    row = int(np.argmax(finding.bad))
    if _breaks(law, examined, drawn.codes[row : row + 1]):
        return drawn.codes[row]
    # A finding about all rows names none of them: halving tells which it is.
    codes = drawn.codes if finding.bad.all() and len(drawn) > 1 else drawn.codes[:0]
    while len(codes) > 1:
        halves = np.array_split(codes, 2)
        codes = next((half for half in halves if _breaks(law, examined, half)), codes[:0])
    return codes[0] if len(codes) else None


def _learn_features(examined: Examined, drawn: Triples) -> None:
    """Let moves be understood by many points: single triples, and few drawn ones, would mislead."""
    crowd = Triples.of(examined.space, np.concatenate([drawn.codes, _company(examined)]))
    for name, applied in examined.moves(crowd):
        if not isinstance(applied, Exception):
            examined.feature_of(name, crowd)


# -- the search by Hypothesis ----------------------------------------------------------------------------------


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


class _Stop(Exception):
    """Tells Hypothesis that a law is broken here."""


def _shrink(
    law: Law, examined: Examined, drawn: Triples, finding: Finding, examples: int, seed: int
) -> Broken | None:
    """Return the simplest triple that breaks the law, or None where it cannot be broken twice."""
    from hypothesis.errors import HypothesisException

    verdicts = {triple.tobytes(): bool(bad) for triple, bad in zip(drawn.codes, finding.bad, strict=True)}
    last: list[Broken] = []

    def body(triple: Any) -> None:
        if verdicts.get(triple.tobytes()) is False:
            return  # known to be in order: the batch said so
        broken = _breaks(law, examined, triple[None], finding.culprit)
        if broken is not None:
            last.append(broken)
            raise _Stop

    with suppress(_Stop, HypothesisException, ExceptionGroup):
        _search(body, examined, examples, seed)
    return last[-1] if last else None
