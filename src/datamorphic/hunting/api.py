"""The public functions `hunt`, `generate` and `simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._typing import DataLike, EngineLike, ModelLike
from .._validation import check_types
from ..relations.function import FunctionRelation
from ..space.space import Space
from ..space.table_forms import accept_tables
from .generator_base import DomainLike, GeneratorLike, GroupBatch
from .options import GenerateOptions, HuntOptions, SimulateOptions, merge_candidates
from .regions import Region
from .result import Hunt
from .runner import RelationsLike, generate_groups, run_hunt
from .selector_base import SelectorLike
from .simulation import Simulation, run_simulation


@accept_tables
@check_types
def hunt(
    sut: ModelLike,
    relations: RelationsLike = None,
    generator: GeneratorLike | None = None,
    selector: SelectorLike | None = None,
    budget: int | None = None,
    trials: int = 1,
    seed: int = 0,
    *,
    stop_after: int | None = 1,
    k: int | None = None,
    data: DataLike | None = None,
    space: Space | None = None,
    target: str | None = None,
    batch: int | None = None,
    engine: EngineLike = None,
    timeout: float | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Hunt:
    """Hunt for groups that violate relations, with as few groups as possible.

    Parameters
    ----------
    sut : callable, program, model or system
        The system under test: a function, called with one array per input; a program of `dm.programs` or one of its
        mutants; a model with ``predict``, the path of a model file, or a system that `dm.wrap` returns. The inputs of
        models and systems are those of a space.
    relations : FunctionRelation, Relation, name, or several
        The relations that must hold. For a program, the names of its relations; by default all of them. With a
        selector, relations of a program draw their sources from the whole domain of the program. For a credit risk
        model also "credit.HMR1" to "credit.HMR5": relations about changes compare probabilities, and changed columns
        are drawn from their ranges.
    generator : str, optional
        The generator that chooses the next group; see `dm.generate`. By default ``"SFIDMT-ART"``; for relations about
        rows of a frame ``"MD-ART"``, which compares sources only, because making the follow-ups of all candidates
        would take long. ``"rows"`` takes the rows of `data` as sources, in a random order and none twice per relation; it
        is the default for texts and for relations made of patterns, such as `dm.relations.translation_relations()`, whose cases
        cannot be drawn.
    selector : str, optional
        The selector that chooses among several relations, e.g. ``"MRGS-ART"``. By default relations take turns, each
        with its own generator.
    budget : int, optional
        The maximal number of groups per trial. Without it, a trial has at most 100,000 groups, and the hunt ends after 10
        seconds, whatever is left to try; compiling does not count.
    trials : int
        The number of trials, each with its own random numbers.
    seed : int
        The seed of the random numbers.
    stop_after : int, optional
        The number of violations that end a trial; None to collect all within the budget.
    k : int, optional
        The number of candidates per group.
    data, space, target
        For models: rows or a space that define the inputs, and the column of the label, which is not an input.
    batch : int, optional
        The maximal number of groups executed at once. Groups after the one that ends a trial do not count. Selectors
        that learn from verdicts learn batch by batch, so their choices depend on this size.
    engine, timeout
        For models: what computes the answers, and the time limit per batch in seconds.
    progress : bool, optional
        Whether to show progress on stderr; by default if stderr is a terminal.
    **options
        Options of the generator or the selector.

    Returns
    -------
    Hunt
        The result, with `f_measures`, `violations`, `groups`, `table` and `describe()`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> tanh = dm.programs["tanh"]
    >>> result = dm.hunt(tanh.mutants["emu10"], "tripling", trials=20, seed=1)
    >>> len(result.f_measures), result.violated
    (20, 20)
    >>> dm.hunt(tanh, "tripling", budget=1000).found
    False
    """
    hunt_options = HuntOptions(
        generator=generator,
        selector=selector,
        budget=budget,
        trials=trials,
        seed=seed,
        stop_after=stop_after,
        batch=batch,
        engine=engine,
        timeout=timeout,
        progress=progress,
        proposer_options=merge_candidates(k, options),
    )
    return run_hunt(sut, relations, hunt_options, data=data, space=space, target=target)


@check_types
def generate(
    relation: FunctionRelation | DomainLike,
    generator: GeneratorLike = "SFIDMT-ART",
    n: int = 1000,
    seed: int = 0,
    *,
    k: int | None = None,
    **options: Any,
) -> GroupBatch:
    """Generate groups of a relation, without executing anything.

    Parameters
    ----------
    relation : FunctionRelation, Box or pairs of limits
        The relation whose groups are generated; or a domain, to generate single inputs.
    generator : str
        For groups: ``"MT-RT"`` (random), ``"SFIDMT-ART"``, ``"MT-ART-Min"``, ``"MT-BART"``, ``"MT-IPART"``,
        ``"MT-RPART"``, ``"SFIDMT-BART"``. These compare sources only: ``"FSCS-ART"``, ``"RRT"``, ``"RPART"``,
        ``"BART"``, ``"IPART"``, ``"Sobol"``, ``"Halton"``.
    n : int
        The number of groups.
    seed : int
        The seed of the random numbers.
    k : int, optional
        The number of candidates per group.
    **options
        Options of the generator.

    Returns
    -------
    GroupBatch
        The arrays `sources` and `follow_ups`, one row per group.

    Examples
    --------
    >>> import datamorphic as dm
    >>> groups = dm.generate(dm.programs["tanh"].relations["tripling"], "MT-BART", n=100)
    >>> groups.sources.shape, groups.follow_ups.shape
    ((100, 1), (100, 1))
    """
    generate_options = GenerateOptions(
        generator=generator, n=n, seed=seed, generator_options=merge_candidates(k, options)
    )
    return generate_groups(relation, generate_options)


@check_types
def simulate(
    generator: GeneratorLike = "SFIDMT-ART",
    region: str | Region = "block",
    rate: float = 0.005,
    dimension: int = 2,
    relation: FunctionRelation | Sequence[FunctionRelation] | None = None,
    scenario: str | None = None,
    trials: int = 10_000,
    seed: int = 0,
    *,
    selector: SelectorLike | None = None,
    violating: int = 0,
    budget: int | None = None,
    boxes: int = 50,
    workers: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Simulation:
    """Simulate how many groups a generator needs until the first violation.

    Nothing is executed: a violation region, drawn again for each trial, stands for a program that is wrong there. So
    generators can be compared in seconds.

    Parameters
    ----------
    generator : str
        The generator: ``"MT-RT"``, ``"SFIDMT-ART"``, ``"MT-BART"``, ``"FSCS-ART"``, ``"Sobol"`` ...
    region : {"block", "strip", "point"} or Region
        One box; a band between adjacent sides; many small boxes.
    rate : float
        The share of the source domain that violates.
    dimension : int
        The number of inputs, if no relation is given.
    relation : FunctionRelation, or several of them, optional
        What makes follow-ups; several with a `selector`. By default sources lie in the unit cube, and follow-ups are
        mirrored at its centre.
    scenario : str, optional
        One of A1 to C5: where the region lies, and whether the follow-up domain is wider than the source domain (A),
        the same (B), or narrower (C).
    trials, seed : int
        The number of regions drawn, and the seed of the random numbers.
    selector : str, optional
        The selector among several relations, e.g. ``"MRGS-ART"``; only the relation with the number `violating` is
        violated.
    budget : int, optional
        The maximal number of groups per trial.
    boxes : int
        The number of boxes of a point region.
    workers : int, optional
        The number of trials that run side by side; it does not change the result.
    progress : bool, optional
        Whether to show progress on stderr; by default if stderr is a terminal.
    **options
        Options of the generator or the selector, e.g. ``k=10``.

    Returns
    -------
    Simulation
        The result, with `f_measure`, `f_ratio`, `cohens_d`, `f_measures` and `describe()`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> simulation = dm.simulate("IPART", "block", rate=0.01, trials=200, seed=1)
    >>> bool(simulation.f_ratio < 0.8)
    True
    """
    return run_simulation(
        SimulateOptions(
            generator=generator,
            region=region,
            rate=rate,
            dimension=dimension,
            relation=relation,
            scenario=scenario,
            trials=trials,
            seed=seed,
            selector=selector,
            violating=violating,
            budget=budget,
            boxes=boxes,
            workers=workers,
            progress=progress,
            proposer_options=options,
        )
    )
