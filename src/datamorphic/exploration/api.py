"""`dm.explore`: find the borders of a system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from .._typing import DataLike, EngineLike, FilePath, ModelLike, SeedLike
from .._validation import check_types, to_generator
from ..core.call_listeners import notify_listeners
from ..errors import ArgumentError
from ..morphisms.subject import build_subject, find_system_name
from ..runs.engines import make_engine, needs_processes
from ..runs.flow import Budget
from ..runs.interrupts import Interrupts
from ..runs.keep import StoreOptions, keep_run, resolve_seed
from ..space.frames import join_target
from ..space.options import SpaceOptions
from ..space.space import Space
from ..space.table_forms import accept_tables
from .front import Front
from .options import ExploreOptions
from .persistence import remember_failures, retry_failures
from .runner import run_exploration

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.store import Store


@accept_tables
@check_types
@notify_listeners
def explore(
    model: ModelLike,
    data: DataLike | None = None,
    strategy: str = "auto",
    walks: int = 1000,
    steps: int | None = None,
    walk_distance: int = 20,
    delta: float | None = None,
    moves: Iterable[str] | None = None,
    refine: str = "auto",
    pool: str = "fixed",
    seeds: DataLike | int | None = None,
    seed: SeedLike = 0,
    engine: EngineLike = None,
    budget: Budget | str | float | None = None,
    *,
    target: str | npt.ArrayLike | None = None,
    space: Space | None = None,
    kinds: Mapping[str, str] | None = None,
    feature_steps: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
    threshold: float | None = None,
    jump: float | None = None,
    labels: str = "auto",
    classes: Sequence[Any] | None = None,
    timeout: float | None = None,
    batch: int | None = None,
    store: FilePath | Store | StoreOptions | None = None,
    resume: int | None = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
    progress: bool | None = None,
) -> Front:
    """Walk the input space of a system and return pairs of nearly equal inputs with different answers.

    Parameters
    ----------
    model : ModelLike
        A fitted estimator, a function, the path of a model file, or a test system such as ``dm.subjects["Box 1"]``:
        anything that `dm.wrap` accepts.
    data : DataFrame, path, array or Space, optional
        Real inputs from which walks start; the space is inferred from them. Images are an array of shape
        (n, height, width). A test system makes its own inputs.
    strategy : {"auto", "random_walk", "random_target", "directed_walk"}
        ``"random_walk"`` draws a move at each step. ``"random_target"`` draws two inputs and searches between them.
        ``"directed_walk"`` repeats the same move, each of `moves` in turn. ``"auto"``, the default, uses all three, with
        more walks for those that find more new border (Zhu & Bayley 2022), but not ``"random_target"`` if `moves` are
        named.
    walks, walk_distance : int
        The number of walks, and the maximum number of steps per walk.
    steps : int, optional
        The maximum number of halvings per pair: 20 by default, or as many as `delta` takes.
    delta : float, optional
        The distance at which a pair is near enough and is not halved again.
    moves : sequence of str, optional
        The names of the moves to use (``"up_age"``, or ``"age"`` for both directions); all by default.
    refine : {"auto", "bisect", "score", "multisection"}
        How pairs are narrowed: by halving; guided by the scores of the system; by 15 points at once (for few pairs and
        slow calls); or, with ``"auto"``, by scores where they help.
    pool : {"fixed", "growing"}
        Whether later walks may start from pairs found by earlier ones.
    seeds : int or DataFrame, optional
        The seed cases, or how many to draw. By default all rows of `data`, or 200 of a test system. Of more than 20,000
        rows, 20,000 are drawn, or two per walk if that is more: memory does not depend on the number of rows.
    seed : int
        The seed of the random numbers. The same seed gives the same front.
    engine : str or Dask client, optional
        What runs the model: this process by default, ``"processes:2"``, ``"threads:2"`` or ``"dask://host:port"``. The
        same seed gives the same front on each of them.
    budget : str or int, optional
        The limit of time or runs, such as ``"1m"`` or ``"10000 runs"``. When it is spent, the pairs found until then
        are returned.
    target : str or array, optional
        The column of `data` that holds the label, which is not an input, or one label per case.
    space : Space, optional
        The space of the inputs, instead of one inferred from `data`.
    kinds, feature_steps, bounds, orders : dict, optional
        Hints for inferring the space from `data`, by column, as `kinds`, `steps`, `bounds` and `orders` of
        `Space.from_frame`. Not together with `space`.
    threshold, jump : float, optional
        For systems that answer numbers: a border is where the answer crosses the threshold, or where it changes by
        more than the jump between neighbours. By default the threshold is the median of the first answers. Set it if
        fronts are to be compared.
    labels : {"auto", "plain", "hierarchy", "multi"}
        How labels are compared: as plain labels, as paths such as "a/b/c", or as several labels at once.
    classes : sequence, optional
        The names of the classes, in the order of the probabilities, scores or codes that the system answers.
    timeout : float, optional
        The number of seconds after which a row without an answer counts as hanging.
    batch : int, optional
        The number of rows per model call; 10,000 for most systems by default. Use a smaller one for slow systems: more
        workers can share the rows, and a resumed run repeats fewer of them.
    store : str, path or Store, optional
        The run store in which the run is kept, so that it can be resumed: ``"runs.sqlite"``, ``"postgresql://..."``.
        Cases on which the system fails are kept there too, and tried first in the next run.
    resume : int, optional
        The number of the stored run to resume. The other arguments must be the same as when it began.
    trust, scalar, name
        As for `dm.wrap`: whether a pickle may be loaded, whether a function takes a single case, and the name of the
        system.
    progress : bool, optional
        Whether to show progress on stderr; by default if stderr is a terminal.

    Returns
    -------
    Front
        With ``.pairs``, ``.capability``, ``.cost``, ``.quality()``, ``.plot()``, ``.diff(other)``, ...

    Examples
    --------
    >>> import datamorphic as dm
    >>> front = dm.explore(dm.subjects["Box 1"], strategy="random_target", walks=100, seeds=50)
    >>> bool((front.pairs["a_output"] != front.pairs["b_output"]).all())
    True
    """
    data, target_name = join_target(data, target, getattr(space, "blocks", ()))
    options = ExploreOptions(
        strategy=strategy,
        walks=walks,
        steps=steps,
        walk_distance=walk_distance,
        delta=delta,
        moves=None if moves is None else list(moves),
        refine=refine,
        pool=pool,
        timeout=timeout,
        batch=batch,
        budget=budget,
        threshold=threshold,
        jump=jump,
        labels=labels,
        target=target_name,
        classes=classes,
        hints=SpaceOptions(kinds=kinds, steps=feature_steps, bounds=bounds, orders=orders),
    )
    chosen_engine = make_engine(engine)
    keep = store if isinstance(store, StoreOptions) or store is None else StoreOptions(store, resume)
    if resume is not None and keep is None:
        raise ArgumentError(f"Run {resume} can only be resumed from its run store. Add store=...")
    if keep is not None:
        seed = resolve_seed(seed, keep)
    rng = to_generator("seed", options.OWNER, seed)
    wrap_options: dict[str, Any] = {"trust": trust, "scalar": scalar, "name": name, "classes": options.classes}
    wrap_options |= {"timeout": timeout, "isolated": needs_processes(chosen_engine)}
    subject = build_subject(
        model,
        data,
        target=target_name,
        space=space,
        space_options=options.hints,
        seeds=seeds,
        max_rows=options.max_seed_cases,
        rng=rng,
        **wrap_options,
    )
    if keep is None:
        return run_exploration(subject, rng, options, seed=seed, engine=chosen_engine, progress=progress)
    system = find_system_name(model, name, keep.request)
    run_options: dict[str, Any] = {"seed": seed, "rng": rng, "model": model, "engine": chosen_engine.name}
    request = options.to_request(len(subject.seeds))
    with Interrupts(), keep_run(keep, "explore", subject.name, request, seeds=subject.seeds, **run_options) as session:
        failures = None if session.resumed else retry_failures(session.store, system, subject, chosen_engine, options)
        front = run_exploration(
            subject, rng, options, seed=seed, engine=chosen_engine, progress=progress, session=session
        )
        remember_failures(session, system, front)
        session.finish(front)
        front.tally.retried_failures = failures
        return front
