"""`simulate`: how soon a generator, or a selector, would find a violation."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .._validation import validate_integer
from ..runs.progress import Progress
from .measures import FMeasures
from .simulation import Simulation, build_setting

TRIALS_PER_TASK = 50  # trials between two looks at the clock


def simulate(
    generator: Any = "SFIDMT-ART",
    region: Any = "block",
    rate: float = 0.005,
    dimension: int = 2,
    relation: Any = None,
    scenario: str | None = None,
    trials: int = 10_000,
    seed: int = 0,
    *,
    selector: Any = None,
    violating: int = 0,
    budget: int | None = None,
    boxes: int = 50,
    workers: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Simulation:
    """Tell how many groups a generator makes until one hits a violation region, which is drawn anew for each trial.

    Nothing is executed: the region stands for a program that is wrong there. So generators can be compared in seconds.

    Parameters
    ----------
    generator : str
        Who proposes: ``"MT-RT"``, ``"SFIDMT-ART"``, ``"MT-BART"``, ``"FSCS-ART"``, ``"Sobol"`` ...
    region : {"block", "strip", "point"} or Region
        One box; a band between adjacent sides; many small boxes.
    rate : float
        The share of the source domain that violates.
    dimension : int
        How many inputs there are, where no relation says it.
    relation : FunctionRelation, or several of them, optional
        Makes follow-ups; several with a `selector`. By default the sources lie in the unit cube and are mirrored.
    scenario : str, optional
        One of A1 to C5: where the region lies, and whether the follow-up domain is wider than that of the sources (A), the
        same (B), or narrower (C).
    trials, seed : int
        How many regions are drawn, and where randomness starts.
    selector : str, optional
        Who chooses among several relations, e.g. ``"MRGS-ART"``; only the relation with the number `violating` is violated.
    budget : int, optional
        Groups after which a trial is ended.
    boxes : int
        How many boxes a point region has.
    workers : int, optional
        How many trials are made side by side; the result is the same for any number.
    progress : bool, optional
        Whether to show progress on stderr; by default if that is a terminal.
    **options
        For the generator or the selector, e.g. ``k=10``.

    Returns
    -------
    Simulation
        With `f_measure`, `f_ratio`, `cohens_d`, `f_measures` and `describe()`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> found = dm.simulate("IPART", "block", rate=0.01, trials=200, seed=1)
    >>> bool(found.f_ratio < 0.8)
    True
    """
    validate_integer("trials", "simulate", trials, 1)
    validate_integer("seed", "simulate", seed)
    setting = build_setting(
        generator, region, rate, dimension, relation, scenario, selector, violating, budget, boxes, seed, options
    )
    worker_count = (
        min(os.cpu_count() or 1, 8) if workers is None else validate_integer("workers", "simulate", workers, 1)
    )
    counts, censored = np.zeros(trials, dtype=np.int64), np.zeros(trials, dtype=bool)

    def run_trials(first: int) -> None:
        for number in range(first, min(first + TRIALS_PER_TASK, trials)):
            counts[number], censored[number] = setting.run_trial(number)

    start_time = time.perf_counter()
    starts = range(0, trials, TRIALS_PER_TASK)
    run_trials(0)  # kernels are compiled by one thread
    with Progress(f"simulating {setting.proposer.name}", progress) as display:
        pool = ThreadPoolExecutor(worker_count)
        try:
            for tasks_done, _ in enumerate(pool.map(run_trials, starts[1:]), 2):
                display.show(f"{min(tasks_done * TRIALS_PER_TASK, trials):,} trials", tasks_done / len(starts))
        finally:
            pool.shutdown(cancel_futures=True)  # or Ctrl-C would wait for all trials
    return Simulation(
        setting.proposer.name, setting, FMeasures(counts, censored), time.perf_counter() - start_time
    )
