"""One predict per case: the published search between two inputs, as one would write it first."""

from __future__ import annotations

from benchmarks import bench_explore

from .figures import Figure

TITLE, DISTRIBUTION = "one predict per case", "scikit-learn"
REQUIREMENTS = ()  # our own environment
NOTES = (
    "A loop over Algorithm 1 of Zhu & Bayley (2022): two inputs at random, 20 halvings, one call of `predict` per case; two "
    "seconds per model. `dm.explore` does the same for a thousand pairs at once, with all of its bookkeeping, and by "
    "default is guided by the scores of the model where they help. Red wine where it is at hand, else data of its size. Wall time.",
)
MODELS = ("decision tree", "logistic regression", "5 neighbours", "SVC", "random forest 100")
MEASURE = "pairs per second"


def measure_theirs() -> list[Figure]:
    """Return the pace of one predict per case."""
    inputs, models = _fit()
    return [Figure(name, MEASURE, bench_explore.one_by_one(model, inputs), True) for name, model in models.items()]


def measure_ours() -> list[Figure]:
    """Return the pace of `dm.explore` with its defaults."""
    inputs, models = _fit()
    return [
        Figure(name, MEASURE, bench_explore.lock_step(model, inputs, 3, "auto"), True) for name, model in models.items()
    ]


def _fit():
    inputs, labels = bench_explore.data()
    models = bench_explore.models(inputs, labels)
    return inputs, {name: models[name] for name in MODELS}
