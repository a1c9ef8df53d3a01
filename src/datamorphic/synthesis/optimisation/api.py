"""`dm.optimise`: improve a test set by a genetic algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._typing import DataLike, EngineLike, FilePath, ModelLike, SeedLike
from ..._validation import check_types, to_generator
from ...core.call_listeners import notify_listeners
from ...errors import ArgumentError
from ...morphisms.cases import TestSet
from ...runs.engines import make_engine, needs_processes
from ...runs.flow import Budget
from ...runs.interrupts import Interrupts
from ...runs.keep import StoreOptions, keep_run, resolve_seed
from ...space.space import Space
from ...space.table_forms import accept_tables
from .options import MetricLike, OptimiseOptions
from .registry import build_metrics
from .result import Optimisation
from .runner import build_optimisation_subject, needs_execution, run_optimisation

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ...runs.store import Store


@accept_tables
@check_types
@notify_listeners
def optimise(
    test_system: ModelLike,
    strategy: str = "GAOptimizeFilter",
    *,
    metric: MetricLike | Sequence[MetricLike] = "mean_nearest_distance",
    tests: TestSet | DataLike | None = None,
    seeds: int | None = None,
    steps: int = 50,
    mutant_ratio: float = 0.5,
    remove_ratio: float | None = None,
    change_rate: float = 0.001,
    patience: int = 10,
    datamorphisms: Sequence[str] | str | None = None,
    filters: Sequence[str] | str | None = None,
    tree: ModelLike | None = None,
    tolerance: float | None = None,
    target: str | None = None,
    space: Space | None = None,
    seed: SeedLike = 0,
    engine: EngineLike = None,
    timeout: float | None = None,
    batch: int | None = None,
    budget: Budget | str | float | None = None,
    store: FilePath | Store | StoreOptions | None = None,
    resume: int | None = None,
    trust: bool = False,
    name: str | None = None,
    progress: bool | None = None,
) -> Optimisation:
    """Improve a test set by a genetic algorithm, and return the best set found.

    The genes are test cases. Each cycle makes new cases with the datamorphisms of the test system, unary ones (mutation) and
    binary ones (crossover), and chooses as many cases from the old and the new ones as there were before. A candidate that is
    worse than the best set so far is discarded, so the metric never falls.

    Parameters
    ----------
    test_system : TestSystem, class, module or model
        What declares the datamorphisms, such as ``dm.subjects["Box 2"]``; or a model with `tests`, whose moves are derived
        from the values of its features.
    strategy : str
        How the cases of the next set are chosen, by the name that Morphy gave it. ``"GAOptimizeFilter"``: the set filters of
        the test system, or if it declares none, of the two nearest cases one goes, again and again, except cases that a
        coverage would miss.
        ``"GAOptimizeWeakestRemoval"``: the cases that contribute least to the metric go. ``"GAOptimizeStrongestMutant"``:
        the new cases that contribute most replace the old cases that contribute least. ``"GAOptimizeRandomRemoval"``: cases
        go at random.
    metric : str, callable, or a list of them
        What is to grow. ``"mean_nearest_distance"`` (diversity), ``"border_coverage"``, ``"leaf_coverage"``,
        ``"mutation_score"``, ``"label_balance"``, a ``@set_metric`` of the test system by name, or a function of a test set.
        With several, sets are kept of which none is as good as another in every metric.
    tests : TestSet or DataFrame, optional
        The test set to start from. By default the first seed maker makes one.
    seeds : int, optional
        The number of cases that the seed maker is to make, instead of `tests`.
    steps : int
        The maximum number of cycles.
    mutant_ratio : float
        The number of new cases per cycle, as a share of the test set. New cases stay in the ranges of the space, or, where
        it has no bounds, of the first test set.
    remove_ratio : float, optional
        The share of cases that a cycle removes by the rule of the strategy, for ``"GAOptimizeWeakestRemoval"`` (by default
        as many as it takes; with a smaller share the rest is removed at random) and ``"GAOptimizeStrongestMutant"`` (the
        share of the set that is replaced, 0.2 by default).
    change_rate, patience : float, int
        The search ends early if no metric grows by this share of its value within so many cycles. One cycle without a gain is
        common, hence the patience. A metric that is still 0 does not end the search, and with ``change_rate=0`` all
        cycles are used.
    datamorphisms, filters : sequence of str, optional
        The names of the datamorphisms and of the set filters to use; all by default.
    tree : estimator, optional
        The tree or forest that ``"leaf_coverage"`` and ``"mutation_score"`` are about, if not the system under test.
    tolerance : float, optional
        For ``"mutation_score"`` of trees that answer numbers: as in `dm.cover`.
    target : str, optional
        The column of `tests` that holds the label, which is not an input.
    space : Space, optional
        The space of the inputs of a model, instead of one inferred from `tests`.
    seed : int
        The seed of the random numbers. The same seed gives the same result.
    engine, timeout, batch
        As for `dm.explore`.
    budget : str or int, optional
        The limit of time or executions, such as ``"1m"`` or ``"10000 runs"``. When it is spent, the best set found until
        then is returned.
    store : str, path or Store, optional
        The run store in which the run is kept, so that it can be resumed.
    resume : int, optional
        The number of the stored run to resume. The other arguments must be the same as when it began.
    trust, name
        As for `dm.wrap`.
    progress : bool, optional
        Whether to show progress on stderr; by default if stderr is a terminal.

    Returns
    -------
    Optimisation
        With ``.tests``, ``.fitness``, ``.gain``, ``.history``, ``.pool``, and for several metrics ``.sets`` and
        ``.trade_offs``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> better = dm.optimise(dm.subjects["Box 2"], "GAOptimizeWeakestRemoval", seeds=50, steps=20)
    >>> len(better.tests), better.gain["mean_nearest_distance"] > 0.25
    (50, True)
    """
    options = OptimiseOptions(
        strategy=strategy,
        metric=metric,
        steps=steps,
        mutant_ratio=mutant_ratio,
        remove_ratio=remove_ratio,
        change_rate=change_rate,
        patience=patience,
        datamorphisms=datamorphisms,
        filters=filters,
        tree=tree,
        tolerance=tolerance,
        timeout=timeout,
        batch=batch,
        budget=budget,
    )
    chosen_engine = make_engine(engine)
    keep = store if isinstance(store, StoreOptions) or store is None else StoreOptions(store, resume)
    if resume is not None and keep is None:
        raise ArgumentError(f"Run {resume} can only be resumed from its run store. Add store=...")
    if keep is not None:
        seed = resolve_seed(seed, keep)
    rng = to_generator("seed", options.OWNER, seed)
    wrap_options: dict[str, Any] = {"trust": trust, "name": name, "timeout": timeout}
    wrap_options["isolated"] = needs_processes(chosen_engine)
    subject = build_optimisation_subject(test_system, tests, seeds, rng, target=target, space=space, **wrap_options)
    metrics = build_metrics(options, subject.system, subject.sut, numeric=subject.has_numeric_answers)
    running: dict[str, Any] = {"seed": seed, "engine": chosen_engine, "progress": progress}
    if keep is None:
        return run_optimisation(subject, metrics, rng, options, **running)
    request = options.to_request([metric.name for metric in metrics], len(subject.tests))
    run_options: dict[str, Any] = {"seed": seed, "model": test_system, "engine": chosen_engine.name}
    run_options["seeds"] = subject.tests.inputs
    if needs_execution(subject, metrics, options):
        run_options["rng"] = rng  # for a journal of the answers; without answers a resumed run starts again
    with Interrupts(), keep_run(keep, "optimise", subject.name, request, **run_options) as session:
        result = run_optimisation(subject, metrics, rng, options, **running, session=session)
        session.finish(result)
        return result
