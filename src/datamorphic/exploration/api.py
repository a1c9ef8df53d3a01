"""``dm.explore``: where are the borders of a system?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._validation import to_generator, validate_choice, validate_integer, validate_positive
from ..errors import ArgumentError
from ..morphisms.subject import build_subject, find_system_name
from ..runs.engines import make_engine
from ..runs.flow import Budget
from ..runs.interrupts import Interrupts
from ..runs.keep import KeepOptions, keep_run, resolve_seed
from .front import Front
from .persistence import keep_front, retry_failures
from .refinement import REFINEMENT_METHODS, UNLIMITED_HALVINGS
from .runner import choose_border, run_exploration

STRATEGIES = ("random_target", "directed_walk", "random_walk", "auto")


def explore(
    model: Any,
    data: Any = None,
    strategy: str = "random_walk",
    walks: int = 1000,
    steps: int | None = None,
    walk_distance: int = 20,
    delta: float | None = None,
    moves: Iterable[str] | None = None,
    refine: str = "auto",
    pool: str = "fixed",
    seeds: Any = None,
    seed: Any = 0,
    engine: Any = None,
    budget: Budget | str | float | None = None,
    *,
    target: str | None = None,
    space: Any = None,
    threshold: float | None = None,
    jump: float | None = None,
    labels: str = "auto",
    timeout: float | None = None,
    batch: int | None = None,
    store: Any = None,
    resume: int | None = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
    progress: bool | None = None,
) -> Front:
    """Walk the input space of a system and return pairs of nearly equal inputs with different answers.

    Parameters
    ----------
    model : object
        A fitted estimator, a function, a path of a model file, a test system (``dm.subjects["Box 1"]``): whatever
        `dm.wrap` takes.
    data : DataFrame, array or Space, optional
        Real inputs, from which walks start; the space is read from them. A test system makes its own.
    strategy : {"random_walk", "random_target", "directed_walk", "auto"}
        A random move at each step; two inputs at random and what lies between; the same move again and again,
        each of `moves` in turn; or all three, with more walks for what finds more new border.
    walks : int
        How many walks.
    steps : int, optional
        How often a pair is halved: 20, or with `delta` as often as it takes.
    walk_distance : int
        How many steps a walk has at most.
    delta : float, optional
        A pair this near to each other is near enough.
    moves : sequence of str, optional
        The moves to take, by name ("up_age", or "age" for both); all by default.
    refine : {"auto", "bisect", "score", "multisection"}
        How pairs are narrowed: by halving, guided by the system's scores, by 15 points at once (for few pairs
        and slow calls), or by scores where they help.
    pool : {"fixed", "growing"}
        Whether later walks may start from pairs found by earlier ones.
    seeds : int or DataFrame, optional
        The inputs to start from, or how many to draw; all of `data` by default, 200 from a test system.
    seed : int
        Where randomness starts; the same seed gives the same front.
    engine : str or Dask client, optional
        Who computes: this process, ``"processes:2"``, ``"threads:2"``, ``"dask://host:port"``. The same seed gives the
        same front on all of them.
    budget : str or int, optional
        ``"1m"`` or ``"10000 runs"``; what is found until it is spent is returned.
    target : str, optional
        The column of `data` that is the label and no input.
    space : Space, optional
        The space of the inputs, instead of one read from `data`.
    threshold, jump : float, optional
        For systems that answer numbers: a border is where the answer crosses a value, or where it changes by
        more than a tolerance between neighbours. By default the value is the middle one of the first answers;
        name it if fronts are to be compared.
    labels : {"auto", "plain", "hierarchy", "multi"}
        How to read labels: any two that differ, paths like "a/b/c", several at once.
    timeout : float, optional
        Seconds an answer may take before the row counts as hanging.
    batch : int, optional
        Rows that the system is asked at once, by default 10,000 for most: smaller for slow systems, so that several
        workers have something to do, and less is asked again after a run was killed.
    store : str, path or Store, optional
        Keep the run in this run store, so that it can go on after whatever ends it: ``"runs.sqlite"``,
        ``"postgresql://..."``. Cases that the system failed on are kept there too, and tried first the next time.
    resume : int, optional
        The number of a run in the store to go on with; the other arguments must be those it was begun with.
    trust, scalar, name
        As for `dm.wrap`: whether a pickle may be loaded, whether a function takes one case, what to call it.
    progress : bool, optional
        Whether to show progress on stderr; by default if that is a terminal.

    Returns
    -------
    Front
        ``.pairs``, ``.capability``, ``.cost``, ``.quality()``, ``.plot()``, ``.diff(other)``, ...

    Examples
    --------
    >>> import datamorphic as dm
    >>> front = dm.explore(dm.subjects["Box 1"], strategy="random_target", walks=100, seeds=50)
    >>> bool((front.pairs["a_output"] != front.pairs["b_output"]).all())
    True
    """
    validate_choice("strategy", "explore", strategy, STRATEGIES)
    validate_choice("refine", "explore", refine, REFINEMENT_METHODS)
    validate_choice("pool", "explore", pool, ("fixed", "growing"))
    validate_integer("walks", "explore", walks)
    validate_integer("walk_distance", "explore", walk_distance, low=1)
    if delta is not None:
        validate_positive("delta", "explore", delta)
    halvings = validate_integer(
        "steps", "explore", steps if steps is not None else UNLIMITED_HALVINGS if delta else 20
    )
    engine = make_engine(engine)
    keep = store if isinstance(store, KeepOptions) or store is None else KeepOptions(store, resume)
    if resume is not None and keep is None:
        raise ArgumentError(f"Run {resume} is in a store. Say in which: store=...")
    if keep is not None:
        seed = resolve_seed(seed, keep)
    if timeout is not None:
        validate_positive("timeout", "explore", timeout)
    if batch is not None:
        validate_integer("batch", "explore", batch, 1)
    if strategy == "auto" and pool == "growing":
        raise ArgumentError("strategy='auto' mixes strategies over one pool, which cannot grow. Use pool='fixed'.")
    rng = to_generator("seed", "explore", seed)
    border = choose_border(threshold, jump, labels)
    wrap_options: dict[str, Any] = {"trust": trust, "scalar": scalar, "name": name}
    subject = build_subject(model, data, target=target, space=space, seeds=seeds, rng=rng, **wrap_options)
    options: dict[str, Any] = {
        "strategy": strategy, "walks": walks, "steps": halvings, "walk_distance": walk_distance, "delta": delta,
        "moves": None if moves is None else list(moves), "refine": refine, "pool": pool, "timeout": timeout, "batch": batch,
    }  # fmt: skip
    run_options: dict[str, Any] = {
        "border": border,
        "progress": progress,
        "seed": seed,
        "engine": engine,
        "budget": budget,
    }
    if keep is None:
        return run_exploration(subject, rng, **options, **run_options)
    limits = {name: limit for name, limit in vars(Budget.parse(budget)).items() if limit is not None}
    request = {
        **options, "budget": limits or None, "threshold": threshold, "jump": jump, "labels": labels, "target": target,
        "seeds": len(subject.seeds),
    }  # fmt: skip
    system = find_system_name(model, name, keep.request)
    with (
        Interrupts(),
        keep_run(
            keep,
            "explore",
            subject.name,
            request,
            seed=seed,
            rng=rng,
            model=model,
            seeds=subject.seeds,
            engine=engine.name,
        ) as session,
    ):
        retest_counts = None
        if not session.resumed:
            retest_counts = retry_failures(
                session.store, system, subject, engine=engine, timeout=timeout, batch=batch
            )
        front = run_exploration(subject, rng, **options, **run_options, session=session)
        keep_front(session, system, front)
        front.tally.retried_failures = retest_counts
        return front
