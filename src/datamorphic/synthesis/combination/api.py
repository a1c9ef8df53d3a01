"""`dm.combine`: make new test cases by applying datamorphisms one after the other, and check them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import DataLike, EngineLike, FilePath, ModelLike
from ..._validation import check_types
from ...core.call_listeners import notify_listeners
from ...errors import ArgumentError
from ...morphisms.cases import TestSet
from ...morphisms.stock import to_test_system
from ...runs.engines import make_engine
from ...runs.interrupts import Interrupts
from ...runs.keep import StoreOptions, keep_run, resolve_seed
from ...space.table_forms import accept_tables
from .options import CombineOptions
from .persistence import remember_violations, retry_violations
from .result import CombinationResult
from .runner import plan_combination, run_combination, validate_size

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ...runs.store import Store


@accept_tables
@check_types
@notify_listeners
def combine(
    test_system: ModelLike | DataLike,
    strategy: str = "firstOrderMutantComplete",
    *,
    seeds: DataLike | TestSet | int | None = None,
    datamorphisms: Sequence[str] | str | None = None,
    order: int | None = None,
    filters: Sequence[str] | str | None = None,
    limit: int = 100_000,
    budget: int | None = None,
    seed: int = 0,
    engine: EngineLike = None,
    timeout: float | None = None,
    store: FilePath | Store | StoreOptions | None = None,
    resume: int | None = None,
    progress: bool | None = None,
) -> CombinationResult:
    """Make new cases by chains of datamorphisms, execute them, and check the metamorphisms.

    A chain is a sequence of datamorphisms that are applied to a seed case one after the other. The strategy says which
    chains are tried. Of cases with equal inputs only the first is kept. Every violation is traced to its seed case, and its
    chain is shortened as long as the violation stays.

    Parameters
    ----------
    test_system : TestSystem, class, instance, module, Space or DataFrame
        The test system. For a space or a frame, the derived moves are combined; nothing is executed.
    strategy : str
        The published name, in any style. ``"firstOrderMutantComplete"``: every datamorphism once on every seed case.
        ``"combinatorialComplete"``: every subset of the datamorphisms, in declared order. ``"permutationComplete"``: every
        ordering of every subset. ``"kOrderComplete"``: all sequences up to the length `order`, repetition allowed.
    seeds : int, DataFrame or TestSet, optional
        The seed cases, or how many to make. By default those of the first seed maker.
    datamorphisms : sequence of str, optional
        The names of the datamorphisms to combine; by default all with one or two arguments. A binary one takes the case of
        the chain and every other seed case.
    order : int, optional
        The length of the longest chains of ``"kOrderComplete"``, at most 100.
    filters : sequence of str, optional
        The names of set filters, which select among the cases before they are executed. The origins of a selected case stay
        in the test set, marked as ancestors, because they are needed to check it.
    limit : int
        The largest number of new cases that may be made without a `budget`.
    budget : int, optional
        The number of cases to draw if there are more. Each chain of each seed case is equally likely. The cases on the way
        to them are made too, marked as ancestors.
    seed : int
        The seed of the random numbers. The same seed gives the same cases.
    engine : str or Dask client, optional
        What runs the system: this process by default, ``"processes:2"``, ``"threads:2"`` or ``"dask://host:port"``.
    timeout : float, optional
        The number of seconds after which a row without an answer counts as hanging.
    store : str, path or Store, optional
        The run store in which the run is kept, so that it can be resumed. Violations are kept there too, and tried first in
        the next run.
    resume : int, optional
        The number of the stored run to resume. The other arguments must be the same as when it began.
    progress : bool, optional
        Whether to show progress on stderr; by default if stderr is a terminal.

    Returns
    -------
    CombinationResult
        With ``.tests``, ``.violations``, ``.table``, ``.holds``, ``.chain(case_id)``, ...

    Examples
    --------
    >>> import datamorphic as dm
    >>> combination = dm.combine(dm.subjects["Box 1"], "kOrderComplete", order=2, seeds=5, datamorphisms=["upward", "leftward"])
    >>> combination.estimate, combination.case_count  # up and left is the same as left and up
    (30, 25)
    >>> combination.chain(29)
    ['upward', 'upward']
    """
    options = CombineOptions(
        strategy=strategy,
        datamorphisms=datamorphisms,
        order=order,
        filters=filters,
        limit=limit,
        budget=budget,
        seed=seed,
        timeout=timeout,
    )
    chosen_engine = make_engine(engine)
    keep = store if isinstance(store, StoreOptions) or store is None else StoreOptions(store, resume)
    if resume is not None and keep is None:
        raise ArgumentError(f"Run {resume} can only be resumed from its run store. Add store=...")
    system = to_test_system(test_system)
    data: DataLike | None = test_system if hasattr(test_system, "iloc") else None
    plan = plan_combination(system, seeds, data, options)
    validate_size(plan, options)  # before a run is stored
    if keep is None:
        return run_combination(plan, options, engine=chosen_engine, progress=progress)
    request = options.to_request(len(plan.seeds))
    with (
        Interrupts(),
        keep_run(
            keep,
            "combine",
            system.name,
            request,
            seed=resolve_seed(seed, keep),
            rng=np.random.default_rng(seed),
            model=test_system,
            seeds=plan.seeds.inputs,
            engine=chosen_engine.name,
        ) as session,
    ):
        earlier = None if session.resumed else retry_violations(session.store, system, chosen_engine, options)
        combination = run_combination(plan, options, engine=chosen_engine, progress=progress, session=session)
        if earlier is not None:
            recurring, fixed_count = earlier
            combination.tally.retried_failures = len(recurring), fixed_count
            combination = replace(combination, recurring=recurring)
        remember_violations(session, combination)
        session.finish(combination)
        return combination


def estimate_size(
    test_system: ModelLike | DataLike,
    strategy: str = "firstOrderMutantComplete",
    *,
    seeds: DataLike | TestSet | int | None = None,
    datamorphisms: Sequence[str] | str | None = None,
    order: int | None = None,
    seed: int = 0,
) -> int:
    """Return the largest number of new cases that `combine` can make.

    It makes fewer if several chains lead to the same input, or a filter ends a chain.

    Examples
    --------
    >>> import datamorphic as dm
    >>> moves = ["upward", "downward", "leftward", "rightward"]
    >>> estimate_size(dm.subjects["Box 1"], "permutationComplete", seeds=10, datamorphisms=moves)
    640
    """
    options = CombineOptions(strategy=strategy, datamorphisms=datamorphisms, order=order, seed=seed)
    data: DataLike | None = test_system if hasattr(test_system, "iloc") else None
    return plan_combination(to_test_system(test_system), seeds, data, options).size
