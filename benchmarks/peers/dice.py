"""DiCE: counterfactuals, rows near a given one with the opposite answer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from . import borders
from .borders import FLIPS_TASK, PAIRS_TASK
from .figures import Figure
from .tasks import (
    CASES,
    CATEGORIES,
    TARGET,
    CountedModel,
    Stopwatch,
    blend_loans,
    describe_flips,
    find_invalid_loans,
    fit_loan_forest,
    make_loans,
    measure_loan_distances,
    narrow,
    take_cases,
)

TITLE, DISTRIBUTION = "DiCE", "dice-ml"
REQUIREMENTS = ("dice-ml==0.12",)
NOTES = (
    "DiCE returns counterfactuals for people: few changed features, several that differ from each other, and features that must "
    "not change are options that `front.nearest` does not have. Here it returns one per row, with the defaults of its three "
    "methods for models that only answer. It does not narrow to the border: its counterfactual and the row are halved "
    "to a pair in the same way as for HopSkipJump, which costs about 12 rows.",
)
METHODS = ("random", "genetic", "kdtree")


def measure_theirs() -> list[Figure]:
    """Return the figures of DiCE."""
    import dice_ml

    loans = make_loans()
    inputs = loans.drop(columns=TARGET)
    cases = inputs.iloc[take_cases(len(loans))].reset_index(drop=True)
    counted_model = CountedModel(fit_loan_forest())
    numbers = [name for name in inputs.columns if name not in CATEGORIES]
    data = dice_ml.Data(dataframe=loans, continuous_features=numbers, outcome_name=TARGET)
    figures = []
    for method in METHODS:
        counted_model.rows = 0
        np.random.seed(0)  # noqa: NPY002 (what it draws from)
        with Stopwatch() as watch:
            search = dice_ml.Dice(data, dice_ml.Model(model=counted_model, backend="sklearn"), method=method)
            answer = search.generate_counterfactuals(cases, total_CFs=1, desired_class="opposite", verbose=False)
        examples = [example.final_cfs_df for example in answer.cf_examples_list]
        answered = np.array([example is not None and len(example) > 0 for example in examples])
        counterfactuals = pd.concat([example[:1] for example in examples if example is not None], ignore_index=True)
        counterfactuals, sources = counterfactuals[inputs.columns], cases[answered].reset_index(drop=True)
        for name in numbers:
            counterfactuals[name] = counterfactuals[name].astype(float)
        flipped = counted_model.model.predict(sources) != counted_model.model.predict(counterfactuals)
        distances = measure_loan_distances(sources, counterfactuals)
        flip_figures = describe_flips(
            counted_model, watch, CASES, distances, flipped & ~find_invalid_loans(counterfactuals)
        )
        with Stopwatch() as narrowing:
            pairs = narrow(
                counted_model.predict,
                blend_loans,
                sources[flipped],
                counterfactuals[flipped],
                np.maximum(distances[flipped], 1e-9),
            )
        seconds = watch.seconds + narrowing.seconds
        settings = f" ({method})"
        name = "loans, random forest"
        figures += [
            Figure(PAIRS_TASK.format(name) + settings, "rows queried per pair", counted_model.rows / pairs),
            Figure(PAIRS_TASK.format(name) + settings, "CPU seconds per pair", seconds / pairs),
            *(Figure(FLIPS_TASK.format(name) + settings, measure, value) for measure, value in flip_figures.items()),
        ]
    return figures


def measure_ours() -> list[Figure]:
    """Return our figures of the same task."""
    return borders.measure_loans()
