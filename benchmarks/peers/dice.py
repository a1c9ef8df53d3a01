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
    counted = CountedModel(fit_loan_forest())
    numbers = [name for name in inputs.columns if name not in CATEGORIES]
    data = dice_ml.Data(dataframe=loans, continuous_features=numbers, outcome_name=TARGET)
    figures = []
    for method in METHODS:
        counted.rows = 0
        np.random.seed(0)  # noqa: NPY002 (what it draws from)
        with Stopwatch() as watch:
            search = dice_ml.Dice(data, dice_ml.Model(model=counted, backend="sklearn"), method=method)
            answer = search.generate_counterfactuals(cases, total_CFs=1, desired_class="opposite", verbose=False)
        examples = [example.final_cfs_df for example in answer.cf_examples_list]
        answered = np.array([example is not None and len(example) > 0 for example in examples])
        changed = pd.concat([example[:1] for example in examples if example is not None], ignore_index=True)
        changed, sources = changed[inputs.columns], cases[answered].reset_index(drop=True)
        for name in numbers:
            changed[name] = changed[name].astype(float)
        flipped = counted.model.predict(sources) != counted.model.predict(changed)
        distances = measure_loan_distances(sources, changed)
        described = describe_flips(counted, watch, CASES, distances, flipped & ~find_invalid_loans(changed))
        with Stopwatch() as narrowing:
            pairs = narrow(
                counted.predict, blend_loans, sources[flipped], changed[flipped], np.maximum(distances[flipped], 1e-9)
            )
        seconds = watch.seconds + narrowing.seconds
        settings = f" ({method})"
        name = "loans, random forest"
        figures += [
            Figure(PAIRS_TASK.format(name) + settings, "rows asked per pair", counted.rows / pairs),
            Figure(PAIRS_TASK.format(name) + settings, "CPU seconds per pair", seconds / pairs),
            *(Figure(FLIPS_TASK.format(name) + settings, measure, value) for measure, value in described.items()),
        ]
    return figures


def measure_ours() -> list[Figure]:
    """Return our figures of the same task."""
    return borders.measure_loans()
