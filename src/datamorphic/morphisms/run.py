"""`laws`: check the laws of a test system on which exploration relies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.capability import capability
from ..core.execute import Execution
from ..errors import DataError
from ..runs.progress import Progress
from ..space.features import Categorical, Codes, Feature
from ..space.points import Points
from ..space.serialisation import value_from_json, value_to_json
from ..space.space import Space
from ..space.text_feature import Text
from .law_result import LawReport
from .law_runner import check_laws
from .laws import LAWS
from .options import LawOptions
from .system import TestSystem

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.session import Session
    from ..runs.store import Store

MAX_REMEMBERED_PER_LAW = 20  # counter-examples; all of them are tried first in the next check
KnownCounterexamples = dict[str, list[tuple[dict[str, Any], Codes]]]  # by law: the stored failure and its codes


@capability(LawOptions)
def laws(options: LawOptions, execution: Execution[TestSystem]) -> LawReport:
    """Check the laws of a test system by property-based search.

    Counter-examples are kept in the run store, and tried first in the next check, whatever its seed.

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
    system, session = execution.subject, execution.session
    with Progress(system.name, options.progress) as display:
        if session is None:
            return check_laws(execution, options, show_progress=display.show)
        space, store = system.known_space(), session.store
        # the run itself adds some and removes others: a resumed run begins with those of its beginning
        stored_failures = execution.recall(lambda: _list_failures(store, system.name))
        known = _read_counterexamples(stored_failures, space)
        triples = {law: [triple for _, triple in entries] for law, entries in known.items()}
        report = check_laws(execution, options, known_triples=triples, show_progress=display.show)
        execution.message = _remember_counterexamples(session, report, known, space)
        return report


# -- counter-examples in the store -----------------------------------------------------------------------------


def _list_failures(store: Store, system: str) -> list[dict[str, Any]]:
    """Return the counter-examples of earlier checks, the most recent first."""
    from ..runs import failures

    return [
        {"law": law.name, "id": failure.id, "case": failure.case, "message": failure.message}
        for law in LAWS
        for failure in failures.recall(store, system, law.name, limit=1000)
    ]


def _read_counterexamples(stored_failures: list[dict[str, Any]], space: Space) -> KnownCounterexamples:
    """Return the stored counter-examples with their codes, without those of another space."""
    known: KnownCounterexamples = {law.name: [] for law in LAWS}
    for failure in stored_failures:
        if (triple := _to_triple(space, failure["case"])) is not None:
            known[failure["law"]].append((failure, triple))
    return known


def _remember_counterexamples(session: Session, report: LawReport, known: KnownCounterexamples, space: Space) -> str:
    """Update the stored counter-examples, without those that hold now; return a message if one cannot be stored."""
    from ..runs import failures

    message = ""
    for result in report.results:
        outcomes = list(zip(known[result.law], result.first, strict=False))  # empty if the law was not checked
        failures.forget(session.store, [failure["id"] for (failure, _), breaks in outcomes if not breaks])
        cases = [
            {"case": failure["case"], "verdict": "BROKEN", "message": failure["message"]}
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
