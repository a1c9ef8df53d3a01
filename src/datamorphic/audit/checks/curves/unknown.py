"""Categories of the data that the model does not know: they are answered like one that it has never seen, and badly."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...._text import format_percent, format_rounded, pluralise
from ....core.result import Finding, count_rows
from ....runs.flow import ask
from ....space.features import Categorical
from ....space.points import Rows
from ...case_text import format_label, to_plain
from ...check import CheckBudget, get_facts, run_flow
from ...context import CheckContext
from ...edits import UNKNOWN_CATEGORY, set_column
from ...judged_rows import build_judged_example
from ...responses import RELATIVE_ROUNDING, Response, Responses, encode_outputs
from ...rivals import Rivals, estimate_mean, mark_explained_rows

Mask = npt.NDArray[np.bool_]

MIN_CATEGORY_ROWS = 30
MIN_EXCESS = 0.05  # of the errors over the quick model's, per row of the category and more than elsewhere
MIN_NUMERIC_EXCESS = 0.1  # the same for numbers, in standard deviations of the labels
MIN_EXCESS_RATIO = 1.25  # of the errors to the quick model's
MAX_UNKNOWN_SHARE = 0.5  # of the categories: if more are unknown, the feature does not reach the model


def find_unknown_categories(
    context: CheckContext, budget: CheckBudget, rivals: Rivals, responses: Responses
) -> Iterator[Finding]:
    """Yield a concern about each category that is answered like an unknown one, where the data allow clearly better."""
    for response in responses:
        feature = context.space.features[response.column]
        if not isinstance(feature, Categorical) or not all(isinstance(value, str) for value in feature.values):
            continue
        unknown = _find_twins(context, budget, responses, response)
        if unknown.sum() > MAX_UNKNOWN_SHARE * len(unknown):
            continue
        for code in response.values[unknown].tolist():
            inside = rivals.data.points.codes[:, response.column] == code
            if inside.sum() >= MIN_CATEGORY_ROWS and _is_costly(rivals, inside):
                mark_explained_rows(context, rivals.data.rows[inside])
                yield _build_finding(context, rivals, responses, response, inside)


def _find_twins(context: CheckContext, budget: CheckBudget, responses: Responses, response: Response) -> Mask:
    """Return which categories get the scores, or the answers, of an unknown one in all sampled rows."""
    none = np.zeros(len(response.values), dtype=bool)
    inputs = responses.inputs
    first = set_column(inputs.frame.iloc[:1], response.feature, UNKNOWN_CATEGORY)
    if not run_flow(context, budget, ask(Rows(first), note="curves", fresh=True)).ok.all():
        return none  # it refuses them, which is safe
    frame = set_column(inputs.frame, response.feature, UNKNOWN_CATEGORY)
    outputs = run_flow(context, budget, ask(Rows(frame), scores=response.scores is not None, note="curves", fresh=True))
    if not outputs.ok.all():
        return none
    if response.scores is not None and outputs.scores is not None:
        tolerance = RELATIVE_ROUNDING * max(float(np.ptp(response.scores)), 1e-3)
        return np.asarray((np.abs(response.scores - outputs.scores[:, None, :]) <= tolerance).all(axis=(0, 2)))
    if not response.numeric:
        return none  # labels alone are too coarse to tell
    answers = encode_outputs(context, responses.codes, inputs, outputs)
    return np.asarray((np.abs(response.answers - answers[:, None]) <= response.rounding).all(axis=0))


def _is_costly(rivals: Rivals, inside: Mask) -> bool:
    """Tell whether the model is clearly worse than the quick one in some rows, and more so than elsewhere."""
    errors, quick_errors = rivals.data.errors, rivals.data.reference_errors
    excess = errors - quick_errors
    least = MIN_NUMERIC_EXCESS * float(rivals.labels.std()) if rivals.data.numeric else MIN_EXCESS
    return bool(
        estimate_mean(excess[inside]).low > 0
        and excess[inside].mean() - excess[~inside].mean() >= least
        and errors[inside].mean() >= MIN_EXCESS_RATIO * quick_errors[inside].mean()
    )


def _build_finding(
    context: CheckContext, rivals: Rivals, responses: Responses, response: Response, inside: Mask
) -> Finding:
    data = rivals.data
    row = data.find_clearest_row(inside)
    category = format_label(to_plain(data.points.frame[response.feature].iloc[row]))
    means = [float(errors[part].mean()) for errors, part in _list_errors(rivals, inside)]
    if data.numeric:
        own, quick, elsewhere = map(format_rounded, means)
        figures = f"Their mean error is {own}; that of a quick model fitted to other rows is {quick}. Elsewhere it is {elsewhere}"
    else:
        own, quick, elsewhere = (format_percent(mean) for mean in means)
        figures = f"{own} of the answers are wrong; a quick model fitted to other rows errs for {quick}. Elsewhere {elsewhere} are wrong"
    return Finding(
        **get_facts("curves.unknown"),
        about=response.feature,
        title=f"The model does not know {response.feature} {category}: it answers such rows like a category that it has never seen",
        detail=f"{pluralise(len(responses.inputs), 'real row')} get exactly the same scores with {category} as with a made-up one, and "
        f"other scores with most other categories. {pluralise(int(inside.sum()), 'row')} of the data have it. {figures}.",
        remedy=f"Find out whether rows with {category} were in the training data, and spelt as here. Train with them, or map the "
        "category to a known one on purpose, and let the encoder refuse categories that it does not know.",
        **count_rows(int(inside.sum()), len(inside)),
        answer_changes=None,
        examples=(build_judged_example(context, data, row),),
    )


def _list_errors(rivals: Rivals, inside: Mask) -> list[tuple[npt.NDArray[np.float64], Mask]]:
    data = rivals.data
    return [(data.errors, inside), (data.reference_errors, inside), (data.errors, ~inside)]
