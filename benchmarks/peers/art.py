"""HopSkipJump of the Adversarial Robustness Toolbox: borders of models that only answer."""

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
    blend_rows,
    describe_flips,
    find_invalid_loans,
    fit_cancer_models,
    fit_loan_forest,
    load_cancer,
    make_loans,
    measure_distances,
    measure_loan_distances,
    narrow,
    take_cases,
)

TITLE, DISTRIBUTION = "ART, HopSkipJump", "adversarial-robustness-toolbox"
REQUIREMENTS = ("adversarial-robustness-toolbox==1.20.1", "packaging")  # it imports packaging without requiring it
NOTES = (
    "HopSkipJump looks for the smallest change of each given row and uses answers only, no probabilities. Its defaults are "
    "50 iterations with up to 10,000 rows each; 10 iterations are shown, too. It works in float32, for images at first: all "
    "features share one range, so that numbers are scaled to [0, 1] and categories become one column each. It treats those "
    "columns as numbers. A change of the loans counts as valid if every category exists and whole numbers are whole.",
    "`dm.explore` (defaults; `delta=0.001`) searches borders anywhere between and around the data, which is less than "
    'HopSkipJump\'s task. The same task is that of `front.nearest`; the front that it starts from (`strategy="random_target", '
    "walks=300`) is part of its cost. The distance is Euclidean, numbers divided by their ranges, a changed category counts 1.",
)
ITERATIONS = (50, 10)
ONE, ZERO = 1 - 1e-3, 1e-3  # a column of a category that is one of these is a valid one


def measure_theirs() -> list[Figure]:
    """Return the figures of HopSkipJump."""
    inputs, _ = load_cancer()
    figures = []
    for name, model in fit_cancer_models().items():
        for iterations in ITERATIONS:
            figures += _measure_cancer(name, model, inputs, iterations)
    for iterations in ITERATIONS:
        figures += _measure_loans(iterations)
    return figures


def measure_ours() -> list[Figure]:
    """Return our figures of the same tasks."""
    return borders.measure_cancer() + borders.measure_loans()


def _measure_cancer(name, model, inputs, iterations) -> list[Figure]:
    cases, counted_model = inputs[take_cases(len(inputs))], CountedModel(model)
    with Stopwatch() as watch:
        neighbours = _attack(counted_model, cases, iterations)
    flipped = model.predict(cases) != model.predict(neighbours)
    distances = measure_distances(cases, neighbours)
    flip_figures = describe_flips(counted_model, watch, CASES, distances, flipped)
    with Stopwatch() as narrowing:
        pairs = narrow(counted_model.predict, blend_rows, cases[flipped], neighbours[flipped], distances[flipped])
    return _make_figures(
        f"cancer, {name}", iterations, flip_figures, counted_model, watch.seconds + narrowing.seconds, pairs
    )


def _measure_loans(iterations) -> list[Figure]:
    pipeline = fit_loan_forest()
    loans = make_loans().drop(columns=TARGET)
    cases = loans.iloc[take_cases(len(loans))].reset_index(drop=True)
    encoder = LoanEncoder(loans, pipeline)
    counted_model, encoded = CountedModel(encoder), encoder.encode(cases)
    with Stopwatch() as watch:
        neighbours = _attack(counted_model, encoded, iterations)
    flipped = encoder.predict(encoded) != encoder.predict(neighbours)
    decoded = encoder.decode(neighbours)
    distances = measure_loan_distances(cases, decoded)
    flip_figures = describe_flips(counted_model, watch, CASES, distances, flipped & ~find_invalid_loans(decoded))
    with Stopwatch() as narrowing:
        pairs = narrow(counted_model.predict, blend_rows, encoded[flipped], neighbours[flipped], distances[flipped])
    seconds = watch.seconds + narrowing.seconds
    return _make_figures("loans, random forest", iterations, flip_figures, counted_model, seconds, pairs)


def _attack(counted_model, cases, iterations) -> np.ndarray:
    from art.attacks.evasion import HopSkipJump
    from art.estimators.classification import BlackBoxClassifier

    np.random.seed(0)  # noqa: NPY002 (what it draws from)
    shape = cases.shape[1:]
    classifier = BlackBoxClassifier(
        counted_model.predict_proba, shape, len(counted_model.classes_), clip_values=(0.0, 1.0)
    )
    return HopSkipJump(classifier, max_iter=iterations, verbose=False).generate(cases.astype(np.float32))


def _make_figures(name, iterations, flip_figures, counted_model, seconds, pairs) -> list[Figure]:
    settings = "" if iterations == ITERATIONS[0] else f" (max_iter={iterations})"
    return [
        Figure(PAIRS_TASK.format(name) + settings, "rows queried per pair", counted_model.rows / pairs),
        Figure(PAIRS_TASK.format(name) + settings, "CPU seconds per pair", seconds / pairs),
        *(Figure(FLIPS_TASK.format(name) + settings, measure, value) for measure, value in flip_figures.items()),
    ]


class LoanEncoder:
    """The forest of loans as a model of numbers in [0, 1], one column per category."""

    def __init__(self, loans: pd.DataFrame, pipeline):
        self.scaling, self.forest = pipeline[0].named_transformers_["standardscaler"], pipeline[-1]
        self.classes_ = self.forest.classes_
        self.numbers = [name for name in loans.columns if name not in CATEGORIES]
        self.low, self.range = loans[self.numbers].min().to_numpy(), np.ptp(loans[self.numbers].to_numpy(), axis=0)

    def encode(self, loans: pd.DataFrame) -> np.ndarray:
        """Return loans as numbers."""
        columns = [(loans[self.numbers].to_numpy() - self.low) / self.range]
        columns += [loans[name].to_numpy()[:, None] == np.array(values) for name, values in CATEGORIES.items()]
        return np.hstack(columns).astype(float)

    def decode(self, encoded: np.ndarray) -> pd.DataFrame:
        """Return numbers as loans; columns that are no category become the category "none"."""
        loans = pd.DataFrame(self._unscale(encoded), columns=self.numbers)
        start = len(self.numbers)
        for name, values in CATEGORIES.items():
            block = encoded[:, start : start + len(values)]
            exists = ((block > ONE).sum(axis=1) == 1) & ((block < ZERO).sum(axis=1) == len(values) - 1)
            loans[name] = np.where(exists, np.array(values)[block.argmax(axis=1)], "none")
            start += len(values)
        return loans

    def predict(self, encoded):
        """Return the answers."""
        return self.classes_[np.argmax(self.predict_proba(encoded), axis=1)]

    def predict_proba(self, encoded):
        """Return the probabilities of the forest."""
        encoded = np.asarray(encoded, dtype=float)
        scaled = self.scaling.transform(pd.DataFrame(self._unscale(encoded), columns=self.numbers))
        return self.forest.predict_proba(np.hstack([scaled, encoded[:, len(self.numbers) :]]))

    def _unscale(self, encoded):
        return self.low + np.asarray(encoded[:, : len(self.numbers)], dtype=float) * self.range
