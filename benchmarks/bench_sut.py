"""What the wrappers cost: 40 batches of 25,000 rows, a tenth of them queried before."""

from __future__ import annotations

import numpy as np

import datamorphic as dm
from benchmarks.timing import line, seconds
from datamorphic.runs.driver import drive
from datamorphic.systems.cache import CachingSystem
from datamorphic.systems.guard import GuardedSystem

SPACE = dm.Space([dm.Continuous(f"x{j}", 0, 1) for j in range(11)])


def batches():
    rng = np.random.default_rng(0)
    fresh = SPACE.sample(900_000, seed=1, points=True)
    for i in range(40):
        new = fresh.take(slice(i * 22_500, (i + 1) * 22_500))
        yield dm.Points.concat([new, fresh.take(rng.integers(0, (i + 1) * 22_500, 2_500))])


def main():
    queries = list(batches())
    model = dm.wrap(lambda f: f["x0"] > f["x1"], space=SPACE)

    def flow():
        for batch in queries:  # noqa: UP028 (a list takes no answers)
            yield batch

    def through(make):
        def run():
            executor = make()
            for batch in queries:
                executor.execute(batch)

        return seconds(run)

    bare = through(lambda: model)
    line("a model that does next to nothing, bare", f"{bare:.2f} s", f"{bare:.2f} us a row")
    for name, make in {"guarded": lambda: GuardedSystem(model), "cached": lambda: CachingSystem(model)}.items():
        took = through(make)
        line(f"the same, {name}", f"{took:.2f} s", f"{took - bare:+.2f} us a row")
    took = seconds(lambda: drive(flow(), model))
    line("the same, driven (all wrappers)", f"{took:.2f} s", f"{took - bare:+.2f} us a row")
