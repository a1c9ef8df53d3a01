"""``dm.laws``: does a test system keep the laws exploration stands on?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation import validate_integer
from ..errors import DataError
from ..runs.keep import KeepOptions, keep_run
from ..runs.progress import Progress
from ..space.features import Categorical, Codes, Feature
from ..space.points import Points
from ..space.serialize import value_from_json, value_to_json
from ..space.space import Space
from .law_result import LawReport
from .laws import LAWS, check_laws
from .stock import to_test_system
from .system import TestSystem

if TYPE_CHECKING:  # SQLAlchemy is loaded where a store is opened
    from ..runs.failures import Failure
    from ..runs.session import Session
    from ..runs.store import Store

MAX_REMEMBERED_PER_LAW = 20  # counter-examples of a law that are remembered: all of them are tried the next time
KnownCounterexamples = dict[
    str, list[tuple["Failure", Codes]]
]  # by law, each as the store and as the space has it


def laws(
    test_system: Any, *, examples: int = 500, seed: int = 0, store: Any = None, progress: bool | None = None
) -> LawReport:
    """Check the laws of a test system by property-based search.

    Parameters
    ----------
    test_system : TestSystem, class, instance, module, Space or DataFrame
        What to check. A space or a frame is checked with the moves and the midpoint derived from it.
    examples : int
        How many triples of points to try.
    seed : int
        Where the search starts; the same seed finds the same.
    store : str, path or Store, optional
        Keep the check in this run store: ``"runs.sqlite"``, ``"postgresql://..."``. What breaks a law is kept there
        too, and tried first the next time, whatever the seed.
    progress : bool, optional
        Whether to show progress on stderr; by default if that is a terminal.

    Returns
    -------
    LawReport
        ``.holds``, and ``.broken``: each broken law with a shrunk counter-example in words.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.laws(dm.subjects["Box 1"], examples=50).holds
    True
    """
    options: dict[str, Any] = {
        "examples": validate_integer("examples", "laws", examples, 1),
        "seed": validate_integer("seed", "laws", seed),
    }
    system = to_test_system(test_system)
    with Progress(system.name, progress) as display:
        if store is None:
            return check_laws(system, **options, show_progress=display.show)
        return _check_and_keep(store, test_system, system, options, display)


def _check_and_keep(
    keep: Any, source: Any, system: TestSystem, options: dict[str, Any], display: Progress
) -> LawReport:
    """Check the laws, what broke them before first, and keep what came out."""
    keep = keep if isinstance(keep, KeepOptions) else KeepOptions(keep)
    space = system.known_space()
    session_inputs: dict[str, Any] = {"model": source, "seeds": Points(space, np.empty((0, len(space))))}
    parameters = {"examples": options["examples"]}
    with keep_run(keep, "laws", system.name, parameters, seed=options["seed"], **session_inputs) as session:
        known = _recall_counterexamples(session.store, system.name, space)
        triples = {law: [triple for _, triple in entries] for law, entries in known.items()}
        report = check_laws(system, **options, known_triples=triples, show_progress=display.show)
        message = _remember_counterexamples(session, report, known, space)
        session.finish(
            summary={
                "laws": len(report.results),
                "broken": len(report.broken),
                "examples": report.examples,
                "tried_first": report.tried_first,
            },
            verdicts=[
                {
                    "relation": result.law,
                    "says": result.says,
                    "verdict": result.state,
                    "cases": int(result.state == "BROKEN"),
                    "words": result.words,
                }
                for result in report.results
            ],
            artifacts={},
            message=message,
        )
        return report


# -- counter-examples in the store -----------------------------------------------------------------------------


def _recall_counterexamples(store: Store, system: str, space: Space) -> KnownCounterexamples:
    """Return the counter-examples of earlier checks, those seen last first."""
    from ..runs import failures

    return {
        law.name: [
            (failure, triple)
            for failure in failures.recall(store, system, law.name, limit=1000)
            if (triple := _to_triple(space, failure.case)) is not None
        ]
        for law in LAWS
    }


def _remember_counterexamples(
    session: Session, report: LawReport, known: KnownCounterexamples, space: Space
) -> str:
    """Forget what breaks no law any more, remember what does, and say what cannot be remembered."""
    from ..runs import failures

    message = ""
    for result in report.results:
        outcomes = list(zip(known[result.law], result.first, strict=False))  # none, where the law was not checked
        failures.forget(session.store, [failure.id for (failure, _), breaks in outcomes if not breaks])
        cases = [
            {"case": failure.case, "verdict": "BROKEN", "message": failure.message}
            for (failure, _), breaks in outcomes
            if breaks
        ]
        if result.again is not None:
            try:
                entry = {"case": _to_case(space, result.again), "verdict": "BROKEN", "message": result.words}
            except DataError as error:
                message = f"What breaks the law of {result.law} cannot be tried first the next time: {error}"
            else:
                if len(cases) < MAX_REMEMBERED_PER_LAW or any(case["case"] == entry["case"] for case in cases):
                    cases.append(entry)
        failures.remember(session.store, report.system, result.law, cases, session.run)
    return message


def _to_case(space: Space, triple: Codes) -> dict[str, Any]:
    """Return a triple as JSON has it. Not by way of a frame: a dtype such as float32 would change the numbers."""
    return {
        point: {
            feature.name: _to_value(feature, code) for feature, code in zip(space.features, codes, strict=True)
        }
        for point, codes in zip("xyz", triple.tolist(), strict=True)
    }


def _to_value(feature: Feature, code: float) -> Any:
    if np.isnan(code):
        return None
    if isinstance(feature, Categorical):
        return value_to_json(feature.values[int(code)], "category")
    return int(code) if feature.kind == "integer" else code


def _to_triple(space: Space, case: Any) -> Codes | None:
    """Return the codes of a triple; None if it is none of this space, but of one that the name once stood for."""
    try:
        if set(case) != set("xyz") or any(set(case[point]) != set(space.names) for point in "xyz"):
            return None
        rows = ({name: value_from_json(value) for name, value in case[point].items()} for point in "xyz")
        codes = Points.concat([space.points(row) for row in rows]).codes
        return codes if not space.keeps_constraints or space.satisfied(codes).all() else None
    except Exception:  # whatever values that were meant for something else may raise
        return None
