"""`laws`: check the laws of a test system on which exploration relies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import DataLike, ModelLike, StoreLike
from .._validation import check_types
from ..errors import DataError
from ..runs.keep import StoreOptions, keep_run
from ..runs.progress import Progress
from ..space.features import Categorical, Codes, Feature
from ..space.points import Points
from ..space.serialize import value_from_json, value_to_json
from ..space.space import Space
from ..space.table_forms import accept_tables
from ..space.text_feature import Text
from .law_result import LawReport
from .law_runner import check_laws
from .laws import LAWS
from .options import LawOptions
from .stock import to_test_system
from .system import TestSystem

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.failures import Failure
    from ..runs.session import Session
    from ..runs.store import Store

MAX_REMEMBERED_PER_LAW = 20  # counter-examples; all of them are tried first in the next check
KnownCounterexamples = dict[str, list[tuple["Failure", Codes]]]  # by law: the stored failure and its codes


@accept_tables
@check_types
def laws(
    test_system: ModelLike | DataLike,
    *,
    examples: int = 500,
    seed: int = 0,
    store: StoreLike | StoreOptions = None,
    progress: bool | None = None,
) -> LawReport:
    """Check the laws of a test system by property-based search.

    Parameters
    ----------
    test_system : TestSystem, class, instance, module, Space or DataFrame
        The test system to check. A space or a frame is checked with the moves and the midpoint derived from it.
    examples, seed : int
        The number of triples of points to try, and the start of the search. The same seed gives the same result.
    store : str, path or Store, optional
        The run store that keeps the check: ``"runs.sqlite"``, ``"postgresql://..."``. Counter-examples are kept there
        too and tried first in the next check, whatever its seed.
    progress : bool, optional
        Whether to show progress on stderr; by default only if stderr is a terminal.

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
    options = LawOptions(examples=examples, seed=seed)
    system = to_test_system(test_system)
    with Progress(system.name, progress) as display:
        if store is None:
            return check_laws(system, options, show_progress=display.show)
        keep = store if isinstance(store, StoreOptions) else StoreOptions(store)
        return _check_and_keep(keep, test_system, system, options, display)


def _check_and_keep(
    keep: StoreOptions, source: object, system: TestSystem, options: LawOptions, display: Progress
) -> LawReport:
    """Check the laws, earlier counter-examples first, and store the outcome."""
    space = system.known_space()
    no_points = Points(space, np.empty((0, len(space))))
    parameters = {"examples": options.examples}
    with keep_run(keep, "laws", system.name, parameters, seed=options.seed, model=source, seeds=no_points) as session:
        known = _recall_counterexamples(session.store, system.name, space)
        triples = {law: [triple for _, triple in entries] for law, entries in known.items()}
        report = check_laws(system, options, known_triples=triples, show_progress=display.show)
        with session.tolerate_lost_store():
            session.finish(report, _remember_counterexamples(session, report, known, space))
        return report


# -- counter-examples in the store -----------------------------------------------------------------------------


def _recall_counterexamples(store: Store, system: str, space: Space) -> KnownCounterexamples:
    """Return the counter-examples of earlier checks, the most recent first."""
    from ..runs import failures

    return {
        law.name: [
            (failure, triple)
            for failure in failures.recall(store, system, law.name, limit=1000)
            if (triple := _to_triple(space, failure.case)) is not None
        ]
        for law in LAWS
    }


def _remember_counterexamples(session: Session, report: LawReport, known: KnownCounterexamples, space: Space) -> str:
    """Update the stored counter-examples, without those that hold now; return a message if one cannot be stored."""
    from ..runs import failures

    message = ""
    for result in report.results:
        outcomes = list(zip(known[result.law], result.first, strict=False))  # empty if the law was not checked
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
                message = f"The counter-example to the law of {result.law} cannot be stored and tried again: {error}"
            else:
                if len(cases) < MAX_REMEMBERED_PER_LAW or any(case["case"] == entry["case"] for case in cases):
                    cases.append(entry)
        failures.remember(session.store, report.system, result.law, cases, session.run)
    return message


def _to_case(space: Space, triple: Codes) -> dict[str, Any]:
    """Return a triple as JSON data; a frame with a dtype such as float32 would change the numbers."""
    return {
        point: {feature.name: _to_value(feature, code) for feature, code in zip(space.features, codes, strict=True)}
        for point, codes in zip("xyz", triple.tolist(), strict=True)
    }


def _to_value(feature: Feature, code: float) -> Any:
    if np.isnan(code):
        return None
    if isinstance(feature, Text):
        return feature.decode_texts(np.array([code]))[0]
    if isinstance(feature, Categorical):
        return value_to_json(feature.values[int(code)], "category")
    return int(code) if feature.kind == "integer" else code


def _to_triple(space: Space, case: Mapping[str, Any]) -> Codes | None:
    """Return the codes of a stored triple, or None if the name of the system stood for another space then."""
    try:
        if set(case) != set("xyz") or any(set(case[point]) != set(space.names) for point in "xyz"):
            return None
        rows = ({name: value_from_json(value) for name, value in case[point].items()} for point in "xyz")
        codes = Points.concat([space.points(row) for row in rows]).codes
        return codes if not space.keeps_constraints or space.satisfied(codes).all() else None
    except Exception:  # values of another space may raise anything
        return None
