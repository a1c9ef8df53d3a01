"""``dm.laws``: does a test system keep the laws exploration stands on?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import whole_number
from ..errors import DataError
from ..morphisms.derived import as_test_system
from ..morphisms.law_report import LawReport
from ..morphisms.laws import LAWS, check_laws
from ..morphisms.system import TestSystem
from ..runs.progress import Progress
from ..space.describe import value_from_json, value_to_json
from ..space.features import Categorical, Codes, Feature
from ..space.points import Points
from ..space.space import Space

if TYPE_CHECKING:  # SQLAlchemy is loaded where a store is opened
    from ..runs.failures import Failure
    from ..runs.session import Session
    from ..runs.store import Store

MOST = 20  # counter-examples of a law that are remembered: all of them are tried the next time
Known = dict[str, list[tuple["Failure", Codes]]]  # by law, each as the store and as the space has it


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
    how: dict[str, Any] = {
        "examples": whole_number("examples", "laws", examples, 1),
        "seed": whole_number("seed", "laws", seed),
    }
    system = as_test_system(test_system)
    with Progress(system.name, progress) as shown:
        if store is None:
            return check_laws(system, **how, show=shown.show)
        return _kept(store, test_system, system, how, shown)


def _kept(keep: Any, source: Any, system: TestSystem, how: dict[str, Any], shown: Progress) -> LawReport:
    """Check the laws, what broke them before first, and keep what came out."""
    from ..runs.session import Session
    from .keeping import Keep, opened

    keep = keep if isinstance(keep, Keep) else Keep(keep)
    space = system.known_space()
    about: dict[str, Any] = {"model": source, "seeds": Points(space, np.empty((0, len(space))))}
    parameters = {"examples": how["examples"], **keep.words}
    with (
        opened(keep) as store,
        Session(store, None, "laws", system.name, parameters, seed=how["seed"], **about) as session,
    ):
        keep.begun(session.run)
        known = _recalled(store, system.name, space)
        triples = {law: [triple for _, triple in each] for law, each in known.items()}
        report = check_laws(system, **how, known=triples, show=shown.show)
        unkept = _remembered(session, report, known, space)
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
            message=unkept,
        )
        return report


# -- counter-examples in the store -----------------------------------------------------------------------------


def _recalled(store: Store, system: str, space: Space) -> Known:
    """Return the counter-examples of earlier checks, those seen last first."""
    from ..runs import failures

    return {
        law.name: [
            (failure, triple)
            for failure in failures.recall(store, system, law.name, limit=1000)
            if (triple := _triple(space, failure.case)) is not None
        ]
        for law in LAWS
    }


def _remembered(session: Session, report: LawReport, known: Known, space: Space) -> str:
    """Forget what breaks no law any more, remember what does, and say what cannot be remembered."""
    from ..runs import failures

    unkept = ""
    for result in report.results:
        tried = list(zip(known[result.law], result.first, strict=False))  # none, where the law was not checked
        failures.forget(session.store, [failure.id for (failure, _), breaks in tried if not breaks])
        cases = [
            {"case": failure.case, "verdict": "BROKEN", "message": failure.message}
            for (failure, _), breaks in tried
            if breaks
        ]
        if result.again is not None:
            try:
                found = {"case": _case(space, result.again), "verdict": "BROKEN", "message": result.words}
            except DataError as error:
                unkept = f"What breaks the law of {result.law} cannot be tried first the next time: {error}"
            else:
                if len(cases) < MOST or any(each["case"] == found["case"] for each in cases):
                    cases.append(found)
        failures.remember(session.store, report.system, result.law, cases, session.run)
    return unkept


def _case(space: Space, triple: Codes) -> dict[str, Any]:
    """Return a triple as JSON has it. Not by way of a frame: a dtype such as float32 would change the numbers."""
    return {
        point: {feature.name: _value(feature, code) for feature, code in zip(space.features, codes, strict=True)}
        for point, codes in zip("xyz", triple.tolist(), strict=True)
    }


def _value(feature: Feature, code: float) -> Any:
    if np.isnan(code):
        return None
    if isinstance(feature, Categorical):
        return value_to_json(feature.values[int(code)], "category")
    return int(code) if feature.kind == "integer" else code


def _triple(space: Space, case: Any) -> Codes | None:
    """Return the codes of a triple; None if it is none of this space, but of one that the name once stood for."""
    try:
        if set(case) != set("xyz") or any(set(case[point]) != set(space.names) for point in "xyz"):
            return None
        rows = ({name: value_from_json(value) for name, value in case[point].items()} for point in "xyz")
        codes = Points.concat([space.points(row) for row in rows]).codes
        return codes if not space.keeps_constraints or space.satisfied(codes).all() else None
    except Exception:  # whatever values that were meant for something else may raise
        return None
