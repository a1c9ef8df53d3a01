"""Keep violations of combinations in a run store, to be tried first the next time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..._typing import EngineLike
from ...errors import DataError, Interrupted, UsageError
from ...morphisms.cases import TestSet
from ...morphisms.morphism import Morphism
from ...morphisms.system import TestSystem
from ...runs.driver import drive
from ...space.points import Points
from ...space.serialisation import value_from_json, value_to_json
from ...space.space import Space
from .generation import Chain
from .options import ChainOptions
from .result import CombinationResult
from .shortening import ChainExecutor

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ...runs.failures import Failure
    from ...runs.session import Session
    from ...runs.store import Store

MAX_REMEMBERED_PER_METAMORPHISM = 20  # violations, one per shortest chain


def retry_violations(
    store: Store, system: TestSystem, engine: EngineLike, options: ChainOptions
) -> tuple[list[str], int] | None:
    """Try the violations of earlier runs, and forget those that do not occur any more.

    Return those that still occur, in words, and the number of others; None if none is known.
    """
    from ...runs import failures

    if system.sut is None:
        return None
    space = system.known_space()
    datamorphisms = list(system.datamorphisms.values())
    inputs: list[Points] = []
    known: list[tuple[Failure, str, tuple[int, Chain]]] = []
    for name in system.metamorphisms:
        for failure in failures.recall(store, system.name, _name_relation(name), MAX_REMEMBERED_PER_METAMORPHISM):
            try:
                known.append((failure, name, _read_violation(failure.case, space, datamorphisms, inputs)))
            except (UsageError, LookupError, TypeError, ValueError):
                continue  # of another system with the same name, or of a datamorphism that is gone
    if not known:
        return None
    executor = ChainExecutor(system, TestSet.of_seeds(Points.concat(inputs)), datamorphisms, options.seed)
    flow = executor.find_violations(dict.fromkeys(chain for _, _, chain in known))
    try:
        violations = drive(
            flow, system.sut, engine=engine, timeout=options.timeout, progress=False, recheck=0, alive=True
        )
    except Interrupted:
        return None  # the combination that follows will stop too
    fixed_ids = [failure.id for failure, name, chain in known if name not in violations[chain]]
    failures.forget(store, fixed_ids)
    return [f"{name}: {failure.message}" for failure, name, _ in known if failure.id not in fixed_ids], len(fixed_ids)


def remember_violations(session: Session, combination: CombinationResult) -> None:
    """Store one violation per shortest chain."""
    from ...runs import failures

    for name in combination.violated:
        groups = [group for group in combination.groups if group.metamorphism == name and group.is_searched]
        cases = []
        for group in groups[:MAX_REMEMBERED_PER_METAMORPHISM]:
            seed, chain = group.example
            try:
                steps = [
                    [combination.datamorphisms[step], [_write_seed(combination, row) for row in partners] or None]
                    for step, partners in chain
                ]
                case = {"seed": _write_seed(combination, seed), "chain": steps}
            except DataError:
                continue  # the values cannot be written
            cases.append({"case": case, "verdict": "VIOLATED", "message": group.words})
        failures.remember(session.store, combination.subject, _name_relation(name), cases, session.run)


def _name_relation(metamorphism: str) -> str:
    return f"combine: {metamorphism}"


def _write_seed(combination: CombinationResult, row: int) -> dict[str, Any]:
    """Return a seed case as JSON data."""
    (record,) = combination.cases.tests.inputs.take(slice(row, row + 1)).frame.astype(object).to_dict("records")
    return {str(name): value_to_json(value) for name, value in record.items()}


def _read_violation(
    case: Mapping[str, Any], space: Space, datamorphisms: list[Morphism], inputs: list[Points]
) -> tuple[int, Chain]:
    """Return a stored violation as the row of its seed case among `inputs`, to which it is added, and its chain."""

    def read_seed(values: Mapping[str, Any]) -> Points:
        if values.keys() != set(space.names):
            raise DataError("The stored case belongs to another space.")
        return space.points({name: value_from_json(value) for name, value in values.items()})

    numbers = {morphism.name: number for number, morphism in enumerate(datamorphisms)}
    points, chain = [read_seed(case["seed"])], []
    for name, partners in case["chain"]:
        others = [partners] if isinstance(partners, dict) else partners or []  # a single one was stored as it is
        if len(others) != datamorphisms[numbers[name]].arity - 1:
            raise DataError(f"The datamorphism {name!r} has changed.")
        start = len(inputs) + len(points)
        chain.append((numbers[name], tuple(range(start, start + len(others)))))
        points += map(read_seed, others)
    row = len(inputs)
    inputs += points
    return row, tuple(chain)
