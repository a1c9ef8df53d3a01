"""The check of all laws by property-based search.

Every law is first checked on a batch of random triples of points. If it is broken, Hypothesis searches again, one triple
at a time, for the simplest counter-example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial

import numpy as np

from .._estimates import WorkPace
from .._text import pluralise
from ..core.execute import Execution
from ..errors import ArgumentError, DatamorphicError, OutOfBudget
from ..space.features import Codes
from ..space.points import Points
from .law_context import LawContext, LawViolation, Triples
from .law_result import LawReport, LawResult
from .laws import LAWS, Law
from .options import LawOptions
from .strategies import build_points_strategy
from .system import TestSystem

Counterexample = tuple[Triples, LawViolation]
MAX_LISTED_CULPRITS = 4


def check_laws(
    execution: Execution[TestSystem],
    options: LawOptions,
    *,
    known_triples: Mapping[str, Sequence[Codes]] | None = None,
    show_progress: Callable[[str, float], None] | None = None,
) -> LawReport:
    """Check every law of a test system and shrink the counter-examples.

    `known_triples` broke laws in earlier checks and are tried first. If a mapping is given, even an empty one, results name
    the triples to try first in the next check. `show_progress` gets the current task and the share of the work done.
    """
    system = execution.subject
    context = LawContext(system, execution)
    no_codes = np.empty((0, 3, len(context.space)))
    draw = partial(_draw_triples, context, options)
    sample = Triples(context.space, execution.attempt("the points to try", draw, no_codes))
    if known_triples and any(known_triples.values()) and len(sample):
        _learn_features(context, sample)
    results = []
    for number, law in enumerate(LAWS):
        if show_progress is not None:
            show_progress(f"the law of {law.name}", number / len(LAWS))
        known_codes = None if known_triples is None else known_triples.get(law.name, ())
        untried = LawResult(law=law.name, says=law.says, state="NOT CHECKED", words="the check ended before")
        check = partial(_check_law, law, context, sample, options, known_codes)
        results.append(execution.attempt(f"the law of {law.name}", check, untried))
    return LawReport(
        system.name,
        results,
        len(sample),
        options.seed,
        unfinished=tuple(execution.unfinished),
        interrupted=execution.counter.interrupted,
    )


def _check_law(
    law: Law, context: LawContext, sample: Triples, options: LawOptions, known_triples: Sequence[Codes] | None
) -> LawResult:
    context.continue_search()
    make_result = partial(LawResult, law=law.name, says=law.says)
    if reason := context.explain_missing(law.needs):
        return make_result(state="NOT CHECKED", words=reason)
    known_results = [_find_counterexample(law, context, triple[None]) for triple in known_triples or ()]
    still_broken = tuple(result is not None for result in known_results)
    known_counterexample = next((result for result in known_results if result is not None), None)
    violation = law.check(context, sample)
    if violation is None or not violation.broken_rows.any():
        if known_counterexample is None:
            failures = context.failure_count if law.lists_failures else 0
            text = f"it failed on some inputs, {failures:,} times in all" if failures else ""
            return make_result(state="HOLDS", words=text, first=still_broken)
        (triples, violation), others, retry_codes = known_counterexample, known_counterexample[1].others, None
    else:
        triples, others = sample, violation.others
        if law.shrinks:
            simplest = _shrink_counterexample(law, context, sample, violation, options)
            retry_codes = None if simplest is None else simplest[0].codes[0]
            triples, violation = simplest or known_counterexample or (sample, violation)
        else:
            retry_codes = None if known_triples is None else _find_repeatable_triple(law, context, sample, violation)
    row = int(np.argmax(violation.broken_rows))
    cases = Points.concat([p.take(slice(row, row + 1)) for p in (triples.x, triples.y, triples.z)]).frame
    cases.index = ["x", "y", "z"]
    text = violation.explain(row)
    if others:
        end = " and so on" if len(others) > MAX_LISTED_CULPRITS else ""
        text += f". So do {pluralise(len(others), 'other')}: {', '.join(others[:MAX_LISTED_CULPRITS])}{end}"
    return make_result(
        state="BROKEN", words=text, culprit=violation.culprit, cases=cases, first=still_broken, again=retry_codes
    )


# -- counter-examples ------------------------------------------------------------------------------------------


def _find_counterexample(
    law: Law, context: LawContext, codes: Codes, culprit: str = "distance"
) -> Counterexample | None:
    """Return triples with their violation of a law, or None if they satisfy it.

    The outcome does not depend on what else was drawn. A law that does not shrink is about many points at once: its
    triples are checked together with those of the pool.
    """
    triples = Triples(context.space, codes if law.shrinks else np.concatenate([codes, _build_pool_triples(context)]))
    try:
        violation = law.check(context, triples)
    except DatamorphicError as error:
        if not law.shrinks or isinstance(error, OutOfBudget):
            raise
        message = str(error)  # Python deletes `error` at the end of this block
        violation = LawViolation(np.ones(len(triples), dtype=bool), culprit, lambda i: message)
    return (triples, violation) if violation is not None and violation.broken_rows.any() else None


def _build_pool_triples(context: LawContext) -> Codes:
    return np.stack([np.roll(context.pool, -k, axis=0) for k in range(3)], axis=1)


def _find_repeatable_triple(law: Law, context: LawContext, sample: Triples, violation: LawViolation) -> Codes | None:
    """Return a triple that breaks a law again when it is tried first, or None."""
    row = int(np.argmax(violation.broken_rows))
    if _find_counterexample(law, context, sample.codes[row : row + 1]):
        return sample.codes[row]
    # A violation that marks all rows does not say which of them causes it: find out by bisection.
    codes = sample.codes if violation.broken_rows.all() and len(sample) > 1 else sample.codes[:0]
    while len(codes) > 1:
        halves = np.array_split(codes, 2)
        codes = next((half for half in halves if _find_counterexample(law, context, half)), codes[:0])
    return codes[0] if len(codes) else None


def _learn_features(context: LawContext, sample: Triples) -> None:
    """Infer the feature of every move from many points; few would mislead."""
    triples = Triples(context.space, np.concatenate([sample.codes, _build_pool_triples(context)]))
    for name, moved_points in context.apply_moves(triples):
        if not isinstance(moved_points, Exception):
            context.find_feature(name, triples)


# -- the search with Hypothesis --------------------------------------------------------------------------------


def _draw_triples(context: LawContext, options: LawOptions) -> Codes:
    """Return the triples on which all laws are checked."""
    drawn_codes: list[Codes] = []
    pace = WorkPace("laws", {"examples": options.examples})

    def body(triple: Codes) -> None:
        drawn_codes.append(triple)
        context.continue_search()
        pace.note(len(drawn_codes) / options.examples)

    _run_hypothesis(body, context, options)
    return np.stack(drawn_codes)


def _run_hypothesis(body: Callable[[Codes], None], context: LawContext, options: LawOptions) -> None:
    """Run `body` on triples that Hypothesis draws, reproducibly; errors that end the search are raised as they are."""
    import hypothesis
    from hypothesis import HealthCheck, Phase

    def test(triple: Codes) -> None:
        try:
            body(triple)
        except (ArgumentError, OutOfBudget) as error:
            raise _SearchEnded(error) from None

    run = hypothesis.seed(options.seed)(
        hypothesis.settings(
            max_examples=options.examples,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=hypothesis.Verbosity.quiet,
        )(hypothesis.given(build_points_strategy(context.space, 3, context.pool))(test))
    )
    with _ignore_constants_in_modules():
        try:
            run()
        except _SearchEnded as end:
            raise end.reason from None


@contextmanager
def _ignore_constants_in_modules() -> Iterator[None]:
    """Keep Hypothesis from drawing numbers that occur in the source code of loaded modules.

    They would make draws depend on which modules are loaded, and to parse these takes seconds. There is no setting for it;
    versions that do not look at modules, or do it in another way, are left alone.
    """
    from hypothesis.internal.conjecture import providers

    function = getattr(providers, "_get_local_constants", None)
    constants, cache = getattr(providers, "Constants", None), getattr(providers, "CONSTANTS_CACHE", None)
    if function is None or constants is None or cache is None:
        yield
        return
    cache.cache.clear()  # of constants that tests of the user may have left
    providers._get_local_constants = constants
    try:
        yield
    finally:
        providers._get_local_constants = function
        cache.cache.clear()


class _SearchEnded(BaseException):
    """Ends a search. Hypothesis takes an `Exception` for a counterexample, and would try it again."""

    def __init__(self, reason: DatamorphicError) -> None:
        super().__init__(str(reason))
        self.reason = reason


class _LawBroken(Exception):
    """Raised to let Hypothesis know that a triple breaks a law."""


def _shrink_counterexample(
    law: Law, context: LawContext, sample: Triples, violation: LawViolation, options: LawOptions
) -> Counterexample | None:
    """Return the simplest triple that breaks the law, or None."""
    from hypothesis.errors import HypothesisException

    keys = (triple.tobytes() for triple in sample.codes)
    verdicts = dict(zip(keys, violation.broken_rows.tolist(), strict=True))
    counterexamples: list[Counterexample] = []

    def body(triple: Codes) -> None:
        if verdicts.get(triple.tobytes()) is False:
            return  # the check of the batch has shown that it satisfies the law
        counterexample = _find_counterexample(law, context, triple[None], violation.culprit)
        if counterexample is not None:
            counterexamples.append(counterexample)
            raise _LawBroken

    with suppress(_LawBroken, HypothesisException, ExceptionGroup):
        _run_hypothesis(body, context, options)
    return counterexamples[-1] if counterexamples else None
