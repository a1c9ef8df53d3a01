"""What happens when a run is cut short, shown rather than told: for the demo."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ...exploration.front import Front
from ...exploration.io import write_front
from ...exploration.options import ExploreOptions
from ...exploration.runner import run_exploration
from ...morphisms.subject import SubjectUnderTest
from ...runs.keep import KeepOptions, keep_run
from ...space.outputs import Outputs
from ...space.points import Batch
from ...systems.base import Executor, ScoreRequest, Wrapper


@dataclass(frozen=True)
class Resumed:
    """A run that was cut short and went on.

    Attributes
    ----------
    before, after, whole : int
        Rows that the system was asked before the cut and after it, and without one.
    same : bool
        Whether the front is the same, byte for byte.
    """

    before: int
    after: int
    whole: int
    same: bool


class _PowerCut(BaseException):
    """No failure of the system: nobody catches it."""


class _Fuse(Wrapper):
    """Counts the rows a system answers, and blows before it answers more than so many."""

    def __init__(self, inner: Executor, most: float = np.inf) -> None:
        super().__init__(inner)
        self.rows, self._most = 0, most

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Answer, or blow."""
        if self.rows + len(batch) > self._most:
            raise _PowerCut
        self.rows += len(batch)
        return self.inner.answer(batch, scores)


def cut_and_resumed(subject: SubjectUnderTest, seed: int, options: ExploreOptions) -> Resumed:
    """Explore, explore again and cut that short half-way, go on with it, and compare."""
    front = run_exploration(subject, np.random.default_rng(seed), options, seed=seed, progress=False)
    whole = front.calls + front.tally.health.repeated_rows
    first, second = _Fuse(subject.sut, whole / 2), _Fuse(subject.sut)
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        numbers: list[int] = []

        def explored(sut: _Fuse, resume: int | None = None) -> Front:
            rng, keep = (
                np.random.default_rng(seed),
                KeepOptions(Path(folder) / "runs.sqlite", resume, {}, numbers.append),
            )
            with keep_run(
                keep, "demo", subject.name, {}, seed=seed, rng=rng, model=None, seeds=subject.seeds
            ) as session:
                return run_exploration(
                    replace(subject, sut=sut), rng, options, seed=seed, session=session, progress=False
                )

        try:
            explored(first)
        except _PowerCut:
            again = explored(second, numbers[0])
        files = []
        for each in (front, again):
            write_front(each, Path(folder) / "front.parquet", query_seeds=False)
            files.append((Path(folder) / "front.parquet").read_bytes())
    return Resumed(first.rows, second.rows, whole, files[0] == files[1])
