"""`Rivals`: what the quick model and plain models predict for labelled rows, beside the answers of the model under test."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .._stats import Z_95
from ..core.result import Measure
from .check import CheckBudget
from .context import CheckContext
from .judged_rows import JudgedRows, collect_judged_rows
from .labels import align_labels
from .plain_models import PlainModel, find_similar_models, fit_plain_models, match_decisions

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MAX_COARSE_OUTPUTS = 32  # different scores or numbers of a model with few decisions, such as a tree of five levels
MIN_IMITATED_SHARE = 0.95  # of the outputs for other rows, by a small tree
MIN_COARSE_ROWS = 200  # fewer rows do not tell
SHARED_RIVALS = "rivals"  # the key of the context's shared measurements
SHARED_PLAIN_MODELS = "plain models"
SHARED_EXPLAINED_ROWS = "explained rows"


@dataclass(frozen=True, eq=False, kw_only=True)
class Rivals:
    """Labelled rows with the answers of the model, and what models say that were fitted to other rows."""

    data: JudgedRows
    classes: tuple[str, ...]  # empty for numbers
    labels: Floats  # codes of classes, or numbers
    answers: Floats  # codes of classes, -1 for others, or numbers
    predictions: Floats  # of the quick model
    probabilities: Floats | None  # of the quick model: rows by classes; None for numbers
    is_coarse: (
        bool  # whether the model has few different scores or numbers: it is simple, and may well be wrong in places
    )

    def measure_errors(self, predictions: Floats) -> Floats:
        """Return the error of each prediction: 0 or 1 for classes, the absolute difference for numbers."""
        if self.classes:
            return (predictions != self.labels).astype(np.float64)
        return np.abs(predictions - self.labels)

    def match(self, probabilities: Floats) -> Floats:
        """Return the decisions by probabilities that give each class as often as the model does."""
        counts = np.bincount(self.answers[self.answers >= 0].astype(np.intp), minlength=len(self.classes))
        return match_decisions(probabilities, counts)

    @cached_property
    def matched_errors(self) -> Floats:
        """The errors of the quick model if it gives each class as often as the model does."""
        if self.probabilities is None:
            return self.data.reference_errors
        return self.measure_errors(self.match(self.probabilities))

    def get_plain_models(self, context: CheckContext, budget: CheckBudget) -> list[PlainModel]:
        """Return the plain models, which are fitted at the first call of all checks."""
        if SHARED_PLAIN_MODELS not in context.shared:
            context.shared[SHARED_PLAIN_MODELS] = fit_plain_models(
                self.data.points,
                self.labels,
                len(self.classes),
                seed=context.seed,
                seconds=budget.remaining().seconds,
                dates=context.date_columns,
            )
        models: list[PlainModel] = context.shared[SHARED_PLAIN_MODELS]
        return models

    def find_similar_models(self, context: CheckContext, budget: CheckBudget, rows: Mask) -> list[PlainModel]:
        """Return the models that answer most like the tested one in some rows: plain ones or the quick one.

        They decide as they do, or give each class as often as the model does.
        """
        quick = PlainModel(name="the quick model", predictions=self.predictions, probabilities=self.probabilities)
        models = [*self.get_plain_models(context, budget), quick]
        matched = [
            replace(model, predictions=self.match(model.probabilities))
            for model in models
            if model.probabilities is not None
        ]
        return find_similar_models([*models, *matched], self.answers, rows)

    def measure_mean_error(self, model: PlainModel, rows: Mask) -> float:
        """Return the mean error of a plain model in some rows."""
        return float(self.measure_errors(model.predictions)[rows].mean())

    def find_easy_rows(self, context: CheckContext, budget: CheckBudget) -> Mask:
        """Return the rows whose label models of all kinds find, although they were fitted to other rows.

        The quick model finds it also by the decisions that give each class as often as the model does. An honest model of any
        kind finds the label of nearly all these rows. For classes only.
        """
        easy = (self.predictions == self.labels) & (self.matched_errors == 0)
        for model in self.get_plain_models(context, budget):
            if not model.is_crude:
                easy &= model.predictions == self.labels
        return np.asarray(easy)


def estimate_mean(values: Floats) -> Measure:
    """Return a mean with its 95% interval."""
    mean = float(values.mean())
    margin = Z_95 * float(values.std()) / math.sqrt(max(1, len(values) - 1))
    return Measure(mean, mean - margin, mean + margin, len(values))


def mark_explained_rows(context: CheckContext, rows: npt.NDArray[np.intp]) -> None:
    """Remember rows, by their positions among the inputs, whose errors a finding explains, for checks that run later."""
    get_explained_rows(context)[rows] = True


def get_explained_rows(context: CheckContext) -> Mask:
    """Return which inputs have errors that a finding explains."""
    if SHARED_EXPLAINED_ROWS not in context.shared:
        context.shared[SHARED_EXPLAINED_ROWS] = np.zeros(len(context.inputs), dtype=bool)
    explained: Mask = context.shared[SHARED_EXPLAINED_ROWS]
    return explained


def collect_rivals(context: CheckContext, budget: CheckBudget) -> Rivals | None:
    """Return the rivals, collected at the first call of all checks; None if too few rows have a label and an answer."""
    if SHARED_RIVALS not in context.shared:
        context.shared[SHARED_RIVALS] = _collect(context, budget)
    rivals: Rivals | None = context.shared[SHARED_RIVALS]
    return rivals


def _collect(context: CheckContext, budget: CheckBudget) -> Rivals | None:
    reference = context.fit_reference_model(budget.remaining())
    data = None if reference is None else collect_judged_rows(context, reference)
    if reference is None or data is None or context.answers is None:
        return None
    places = np.searchsorted(reference.rows, data.rows)
    values = context.answers.values[data.answer_rows]
    labels = reference.labels[places]
    if reference.classes:
        texts = align_labels(data.labels, values, tuple(context.sut.labels or ()))
        if texts is None:
            return None
        code_of_text = dict(zip(texts[0].tolist(), labels.tolist(), strict=True))
        answers = np.array([code_of_text.get(text, -1.0) for text in texts[1].tolist()])
    else:
        answers = values.astype(np.float64)
    outputs, output_rows = answers[:, None], data.rows
    if reference.classes and context.probabilities is not None and context.score_rows is not None:
        outputs, output_rows = context.probabilities, context.score_rows
    return Rivals(
        data=data,
        classes=reference.classes,
        labels=labels,
        answers=answers,
        predictions=reference.predictions[places],
        probabilities=None if reference.probabilities is None else reference.probabilities[places],
        is_coarse=(not reference.classes or context.probabilities is not None)
        and has_few_decisions(context.inputs.codes[output_rows], outputs, context.seed),
    )


def has_few_decisions(codes: Floats, outputs: Floats, seed: int) -> bool:
    """Tell whether a small tree gives the same few scores or numbers, also to rows that it was not fitted to.

    Nearest neighbours give few scores, too, but by no few decisions.
    """
    from sklearn.tree import DecisionTreeClassifier

    levels, places = np.unique(np.round(outputs, 9), axis=0, return_inverse=True)
    if len(outputs) < MIN_COARSE_ROWS or len(levels) > MAX_COARSE_OUTPUTS:
        return False
    columns = np.nan_to_num(codes, nan=-1e9, posinf=1e30, neginf=-1e30).astype(np.float32)
    tree = DecisionTreeClassifier(max_leaf_nodes=2 * MAX_COARSE_OUTPUTS, random_state=seed)
    tree.fit(columns[::2], places.ravel()[::2])
    return bool(tree.score(columns[1::2], places.ravel()[1::2]) >= MIN_IMITATED_SHARE)
