"""What keeping a run costs, and where workers pay: seconds, and the ratio to the plain run."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from benchmarks.bench_explore import board, mixed_space
from benchmarks.timing import line

ENGINES = ("serial", "processes:1", "processes:2", "threads:2")


def timed(*arguments, **options):
    """Return a front and how long it took, all of its bookkeeping included."""
    began = time.perf_counter()
    front = dm.explore(*arguments, **options, progress=False)
    return front, time.perf_counter() - began


def storing(name, *arguments, repeat=2, **options):
    """Explore without a store and with one, turn by turn: other work on the machine then hits both."""
    bare_seconds = stored_seconds = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(repeat):
            front, seconds = timed(*arguments, **options)
            bare_seconds = min(bare_seconds, seconds)
            file = Path(folder, f"runs-{number}.sqlite")
            bare_pairs, (front, seconds) = len(front), timed(*arguments, **options, store=file)
            stored_seconds = min(stored_seconds, seconds)
            if len(front) != bare_pairs:
                raise RuntimeError("a store changed what was found")
    print(f"\n  {name}: {len(front):,} pairs, {front.runs:,} runs, {front.calls:,} calls")
    line("without a store", f"{bare_seconds:.2f} s")
    extra_seconds = stored_seconds - bare_seconds
    line("kept in SQLite", f"{stored_seconds:.2f} s", f"{extra_seconds:+.2f} s, {extra_seconds / bare_seconds:+.1%}")


def workers(name, model, inputs, walks):
    """Explore with each engine; what workers cost to start is told apart, by a run that asks next to nothing."""

    def explore(engine, walks, **options):
        return timed(model, inputs, "random_target", walks, refine="bisect", engine=engine, **options)

    print(f"\n  {name}")
    print(f"  {'':<24}{'total':>10}{'ratio':>8}{'start-up':>12}{'without it':>12}{'ratio':>8}")
    plain = steady_plain = None
    for engine in ENGINES:
        front, total = explore(engine, walks)
        starting = explore(engine, 4, batch=1, seeds=4, max_halvings=1)[1]  # a row at a time: every worker has to start
        steady = total - starting
        plain, steady_plain = plain or total, steady_plain or steady
        print(
            f"  {engine:<24}{total:>8.2f} s{total / plain:>8.2f}{starting:>10.2f} s{steady:>10.2f} s"
            f"{steady / steady_plain:>8.2f}"
        )
    print(
        f"  {front.calls:,} calls, questions in up to {front.tally.max_batches} batches; ratios are to the serial engine"
    )


def main():
    storing("Box 1, random target", dm.subjects["Box 1"], strategy="random_target", walks=900_000, seeds=2000)
    storing("20 mixed features, random walk", board, mixed_space(), walks=60_000, seeds=2000)
    inputs, labels = make_classification(1600, 13, n_informative=8, n_classes=3, random_state=0)
    forest = RandomForestClassifier(100, random_state=0).fit(inputs, labels)
    workers("a forest of 100 trees", forest, inputs, walks=80_000)
    tree = DecisionTreeClassifier(random_state=0).fit(inputs, labels)
    workers("one decision tree", tree, inputs, walks=200_000)


if __name__ == "__main__":
    main()
