"""Our side of the comparisons of borders: pairs by `dm.explore`, the smallest changes of given rows by `Front.nearest`."""

from __future__ import annotations

import pandas as pd

from .figures import Figure
from .tasks import (
    CASES,
    PAIR_DISTANCE,
    TARGET,
    CountedModel,
    Stopwatch,
    describe_flips,
    find_invalid_loans,
    fit_cancer_models,
    fit_loan_forest,
    load_cancer,
    make_loans,
    measure_distances,
    measure_loan_distances,
    take_cases,
)

FLIP_OPTIONS = {"strategy": "random_target", "walks": 300}
PAIRS_TASK, FLIPS_TASK = "border pairs, {}", "smallest change of given rows, {}"


def measure_cancer() -> list[Figure]:
    """Return the figures of the models of numbers."""
    inputs, _ = load_cancer()
    figures = []
    for name, model in fit_cancer_models().items():
        figures += _measure(f"cancer, {name}", model, inputs, inputs[take_cases(len(inputs))], measure_distances)
    return figures


def measure_loans() -> list[Figure]:
    """Return the figures of the model of mixed columns."""
    loans = make_loans().drop(columns=TARGET)
    cases = loans.iloc[take_cases(len(loans))].reset_index(drop=True)
    return _measure("loans, random forest", fit_loan_forest(), loans, cases, measure_loan_distances)


def _measure(name, model, inputs, cases, measure) -> list[Figure]:
    import datamorphic as dm

    counted_model = CountedModel(model)
    dm.explore(counted_model, inputs, **FLIP_OPTIONS, progress=False).nearest(cases[:1])  # imports and compiles
    counted_model.rows = 0
    with Stopwatch() as watch:
        front = dm.explore(counted_model, inputs, delta=PAIR_DISTANCE, progress=False)
    figures = [
        Figure(PAIRS_TASK.format(name), "rows queried per pair", counted_model.rows / len(front)),
        Figure(PAIRS_TASK.format(name), "CPU seconds per pair", watch.seconds / len(front)),
    ]
    counted_model.rows = 0
    with Stopwatch() as watch:  # the front is made for these cases alone
        changes = dm.explore(counted_model, inputs, **FLIP_OPTIONS, progress=False).nearest(cases)
    neighbours = changes.filter(like="to.").set_axis(list(pd.DataFrame(cases).columns), axis=1)
    flipped = model.predict(cases) != model.predict(
        neighbours if isinstance(cases, pd.DataFrame) else neighbours.to_numpy()
    )
    valid = flipped & ~find_invalid_loans(neighbours) if isinstance(cases, pd.DataFrame) else flipped
    flip_figures = describe_flips(counted_model, watch, CASES, measure(cases, neighbours), valid)
    return figures + [Figure(FLIPS_TASK.format(name), measure, value) for measure, value in flip_figures.items()]
