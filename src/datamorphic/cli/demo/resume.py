"""A run that is interrupted and resumed, for the demo."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...exploration.front import Front
from ...exploration.io import write_front
from ...exploration.options import WalkOptions
from ...exploration.run import run_exploration
from ...morphisms.subject import SubjectUnderTest
from ...runs.driver import Driver
from ...runs.keep import StoreOptions, keep_run
from ...space.outputs import Outputs
from ...space.points import Batch
from ...systems.base import Executor, ScoreRequest, Wrapper
from ...systems.watchdog import make_temporary_folder


@dataclass(frozen=True)
class ResumedRun:
    """The outcome of a run that was interrupted and resumed."""

    before: int  # rows that the model computed before the interruption
    after: int  # rows that it computed after it
    whole: int  # rows of a run without an interruption
    same: bool  # whether both fronts are the same, byte for byte


class _PowerCut(BaseException):
    """Not an exception of the system under test, so that nothing catches it."""


class _Fuse(Wrapper):
    """Counts the rows that a system answers, and raises before it answers more than a limit."""

    def __init__(self, inner: Executor, limit: float = np.inf) -> None:
        super().__init__(inner)
        self.rows, self._limit = 0, limit

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Answer the batch, or raise."""
        if self.rows + len(batch) > self._limit:
            raise _PowerCut
        self.rows += len(batch)
        return self.inner.answer(batch, scores)


def interrupt_and_resume(subject: SubjectUnderTest, seed: int, options: WalkOptions) -> ResumedRun:
    """Explore once; explore again, interrupt that half-way and resume it; compare the fronts."""
    settings = {"progress": False}
    front = run_exploration(subject, np.random.default_rng(seed), options, Driver(settings).drive, seed=seed)
    all_rows = front.calls + front.tally.health.repeated_rows
    first, second = _Fuse(subject.sut, all_rows / 2), _Fuse(subject.sut)
    with make_temporary_folder() as folder:
        run_ids: list[int] = []

        def explore(sut: _Fuse, resume: int | None = None) -> Front:
            rng = np.random.default_rng(seed)
            keep = StoreOptions(Path(folder) / "runs.sqlite", resume, {}, run_ids.append)
            with keep_run(
                keep, "demo", subject.name, {}, seed=seed, rng=rng, model=None, seeds=subject.seeds
            ) as session:
                driver = Driver({**settings, "journal": session.journal})
                return run_exploration(replace(subject, sut=sut), rng, options, driver.drive, seed=seed)

        try:
            explore(first)
        except _PowerCut:
            resumed_front = explore(second, run_ids[0])
        contents = []
        for compared_front in (front, resumed_front):
            write_front(compared_front, Path(folder) / "front.parquet", query_seeds=False)
            contents.append((Path(folder) / "front.parquet").read_bytes())
    return ResumedRun(first.rows, second.rows, all_rows, contents[0] == contents[1])
