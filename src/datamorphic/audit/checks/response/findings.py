"""Build findings about cuts, reversals and single values, with their texts, examples and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ...._text import format_percent, format_rounded, format_short, pluralise
from ....core.result import Finding, Level, count_rows, format_share
from ....reporting.document import Line, Section, Table
from ....space.points import Points
from ...check import get_facts
from ...context import CheckContext
from ...responses import Numbers, Response, Responses
from .cuts import Cut, choose_label
from .reversals import Reversal
from .single_values import SingleValue
from .trials import CutTrial
from .turns import TurnTrial

REMEDY = (
    "Look for a rule, a limit or a change of units at this value in the code before and after the model, and in how the "
    "training data were made. If it is intended, document it for everyone who uses the answers."
)


def build_cut_finding(context: CheckContext, responses: Responses, trial: CutTrial) -> Finding:
    """Return a finding about a cut, or an island between two, that the labels speak against."""
    cut, feature = trial.cut, trial.cut.feature
    beside = cut.values_beside[0 if trial.side == "above" else 1]
    region = _format_region(context, trial)
    title = f"The answer jumps {_format_place(context, cut)}, and the labels do not"
    if trial.end is not None:
        title = f"The answer changes where {feature} is {region}, and the labels do not"
    changes = np.abs(trial.own - trial.moved_answers)
    count, of = int((changes > cut.response.rounding).sum()), len(trial.rows)
    nearest = "" if of == trial.rows_in_region else ", those nearest to the jump,"
    if responses.numeric:
        errors = [float(np.abs(answers - trial.truth).mean()) for answers in (trial.own, trial.moved_answers)]
        texts = [format_rounded(error) for error in errors]
        comparison = f"The mean error of these rows is {texts[0]}, and would be {texts[1]}"
    else:
        shares = [float((answers == trial.truth).mean()) for answers in (trial.own, trial.moved_answers)]
        comparison = (
            f"{format_percent(shares[0])} of these rows are answered as they are labelled, and "
            f"{format_percent(shares[1])} would be"
        )
    helped_rows = np.flatnonzero((trial.own != trial.truth) & (trial.moved_answers == trial.truth))
    first = 0
    if len(helped_rows):
        helped_points = context.inputs.take(trial.rows[helped_rows])
        first = int(helped_rows[context.prefer_plausible(helped_points, feature, [beside])])
    example = responses.build_example(
        context.inputs.take(trial.rows[first : first + 1]),
        cut.response.column,
        beside,
        (float(trial.own[first]), float(trial.moved_answers[first])),
        row=int(trial.rows[first]),
    )
    return Finding(
        **get_facts("response.cut"),
        about=feature,
        title=title,
        detail=f"{format_share(count, of, 'row')} with {feature} {region}{nearest} get another answer when only {feature} is "
        f"changed, to {_format_value(context, feature, beside)}. {comparison} with that value.",
        remedy=REMEDY,
        **count_rows(count, of),
        examples=(example,),
        sections=(_draw_cut(context, responses, cut),),
        effect=float(np.median(changes)) if responses.numeric else None,
        explained_rows=None if responses.numeric else 2 * trial.wrong_in_region - trial.rows_in_region,
    )


def _format_region(context: CheckContext, trial: CutTrial) -> str:
    """Return the values on one side of a cut, or between two."""
    format_value = partial(_format_value, context, trial.cut.feature)
    cut, end = trial.cut, trial.end
    if end is not None:
        lower, upper = sorted([cut, end], key=lambda cut: cut.low)
        if lower.neighbours is None or upper.neighbours is None:
            return f"between {format_value(lower.place)} and {format_value(upper.place)}"
        first, last = format_value(lower.neighbours[1]), format_value(upper.neighbours[0])
        return first if first == last else f"from {first} to {last}"
    if cut.neighbours is None:
        return f"{trial.side} {format_value(cut.place)}"
    below, above = map(format_value, cut.neighbours)
    return f"at least {above}" if trial.side == "above" else f"at most {below}"


def _format_place(context: CheckContext, cut: Cut) -> str:
    """Return where a cut lies."""
    if cut.neighbours is None:
        return f"at {cut.feature} {_format_value(context, cut.feature, cut.place)}"
    below, above = (_format_value(context, cut.feature, value) for value in cut.neighbours)
    return f"between {cut.feature} {below} and {above}"


def _format_step(context: CheckContext, cut: Cut) -> str:
    """Return the step across a cut, as a verb of the feature."""
    if cut.neighbours is None:
        return f"passes {_format_value(context, cut.feature, cut.place)}"
    below, above = (_format_value(context, cut.feature, value) for value in cut.neighbours)
    return f"goes from {below} to {above}"


def _draw_cut(context: CheckContext, responses: Responses, cut: Cut) -> Section:
    extra = [(cut.low, cut.before, cut.before_levels), (cut.high, cut.after, cut.after_levels)]
    note = f"It jumps {_format_place(context, cut)}."
    return _draw_response(context, responses, cut.response, choose_label(cut), extra, note)


def build_turn_finding(context: CheckContext, responses: Responses, trial: TurnTrial) -> Finding:
    """Return a finding about answers that turn back where the labels go on."""
    turn, feature = trial.turn, trial.turn.response.feature
    value = _format_value(context, feature, turn.value)
    fall, rise = ("fall", "rise") if (turn.sign > 0) == (turn.side == "above") else ("rise", "fall")
    what = "Answers" if turn.label is None else f"Scores of {responses.format_answer(turn.label)}"
    labels = "labels" if turn.label is None else f"the shares of {responses.format_answer(turn.label)} among the labels"
    changes = np.abs(trial.own - trial.moved_answers)
    count, of = int((changes > turn.response.rounding).sum()), len(trial.rows)
    if responses.numeric:
        errors = [np.abs(answers - trial.truth) for answers in (trial.own, trial.moved_answers)]
        texts = [format_rounded(float(np.nanmean(error))) for error in errors]
        comparison = f"their mean error is {texts[0]}, and would be {texts[1]}"
    else:
        errors = [(answers != trial.truth).astype(np.float64) for answers in (trial.own, trial.moved_answers)]
        shares = [format_percent(1 - float(error.mean())) for error in errors]
        comparison = f"{shares[0]} of them are answered as they are labelled, and {shares[1]} would be"
    row = int((errors[0] - np.nan_to_num(errors[1], nan=np.inf)).argmax())
    example = responses.build_example(
        context.inputs.take(trial.rows[row : row + 1]),
        turn.response.column,
        turn.value,
        (float(trial.own[row]), float(trial.moved_answers[row])),
        row=int(trial.rows[row]),
    )
    note = f"{what} {fall} {turn.side} {value}, and {labels} {rise}."
    return Finding(
        **get_facts("response.turn"),
        about=feature,
        title=f"{what} {fall} as {feature} rises {turn.side} {value}, although {labels} {rise}",
        detail=f"In {pluralise(of, 'real row')} with {feature} {turn.side} {value}, {comparison} with {feature} changed to {value}.",
        remedy=f"Look at how {feature} is read and limited before the model, and at the curve: either values {turn.side} {value} are "
        "changed on the way, or the model has learned a wrong curve from too few rows there.",
        **count_rows(count, of),
        examples=(example,),
        sections=(_draw_response(context, responses, turn.response, turn.label or 0, [], note),),
        effect=float(np.nanmedian(changes)) if responses.numeric else None,
    )


def build_reversal_finding(context: CheckContext, responses: Responses, reversal: Reversal) -> Finding:
    """Return a finding about a smooth response that jumps back."""
    cut, feature = reversal.cut, reversal.cut.feature
    place, of = (
        _format_value(context, feature, cut.place if cut.neighbours is None else cut.neighbours[0]),
        len(cut.jumps),
    )
    count = cut.changed or int(cut.jumps.sum())
    fall, rise = ("falls", "rises") if reversal.jump < 0 else ("rises", "falls")
    detail = (
        f"{format_share(count, of, 'row')} get {'another answer' if cut.changed else 'a far different score'} when only "
        f"{feature} {_format_step(context, cut)}: the score of {responses.format_answer(reversal.label)} {fall} there by "
        f"{abs(reversal.jump):.2f} on average, although it {rise} smoothly with {feature} everywhere else."
    )
    title = f"The answer jumps back {_format_place(context, cut)}, against its own trend"
    if reversal.factor is not None:
        unit = (
            f"divided by {_format_number(reversal.factor)}"
            if reversal.factor > 1
            else f"multiplied by {_format_number(1 / reversal.factor)}"
        )
        title = f"Above {place}, {feature} is read as if it were {unit}"
        detail += f" Above it, the scores are those of the value {unit}."
    changed = np.flatnonzero(np.abs(cut.before - cut.after) > 0)
    row = 0
    if len(changed):
        changed_points = responses.inputs.take(changed)
        row = int(changed[context.prefer_plausible(changed_points, feature, [cut.low, cut.high])])
    codes = responses.inputs.codes[row : row + 1].copy()
    codes[0, cut.response.column] = cut.low
    example = responses.build_example(
        Points(context.space, codes), cut.response.column, cut.high, (float(cut.before[row]), float(cut.after[row]))
    )
    return Finding(
        **get_facts("response.reversal"),
        about=feature,
        title=title,
        confidence=0.95 if reversal.factor is not None else 0.8,
        detail=detail,
        remedy=REMEDY,
        **count_rows(count, of),
        examples=(example,),
        sections=(_draw_cut(context, responses, cut),),
        answer_changes=cut.changed > 0,
        effect=None if cut.changed else abs(reversal.jump),
    )


def build_value_finding(
    context: CheckContext, responses: Responses, single: SingleValue, level: Level, evidence: str
) -> Finding:
    """Return a finding about a single value."""
    feature, value = single.feature, _format_number(single.value)
    count, of = int(single.alone.sum()), len(single.alone)
    rows = np.flatnonzero(single.alone)
    shown_values = [single.value, single.neighbours[1]]
    row = int(rows[context.prefer_plausible(responses.inputs.take(rows), feature, shown_values)])
    codes = responses.inputs.codes[row : row + 1].copy()
    codes[0, single.response.column] = single.neighbours[1]
    example = responses.build_example(
        Points(context.space, codes),
        single.response.column,
        single.value,
        (float(single.answers[row, 2]), float(single.answers[row, 1])),
    )
    changes = np.abs(single.answers[:, 1] - single.answers[:, 2])[single.alone]
    return Finding(
        **get_facts("response.value"),
        about=feature,
        title=f"The value {value} of {feature} is answered unlike the values around it",
        level=level,
        detail=f"{format_share(count, of, 'row')} get one answer if only {feature} is just below or just above {value}, and "
        f"another one if it is {value}. {evidence}",
        remedy=f"If {value} stands for a missing value, pass a missing value and impute it, or add a column that says "
        "that it is missing. If not, look for a special case in the code around the model.",
        **count_rows(count, of),
        examples=(example,),
        sections=(_tabulate_value(responses, single),),
        effect=float(np.median(changes)) if responses.numeric else None,
    )


def _tabulate_value(responses: Responses, single: SingleValue) -> Section:
    """Return a table of the answers at a single value and at its neighbours."""
    feature = single.feature
    own = single.answers[single.alone, 1]
    label = 0 if responses.numeric else int(np.bincount(own.astype(int)).argmax())
    table = Table(
        columns=[feature, "mean answer" if responses.numeric else f"share answered {responses.format_answer(label)}"],
        rows=[
            [
                _format_number(place),
                f"{np.nanmean(single.answers[:, i]):.4g}"
                if responses.numeric
                else format_percent(float(np.mean(single.answers[:, i] == label))),
            ]
            for i, place in enumerate((single.neighbours[0], single.value, single.neighbours[1]))
        ],
        sortable=False,
    )
    rows = pluralise(len(single.answers), "real row")
    return Section(
        heading=f"The answer around {feature} {_format_number(single.value)}",
        text=f"{rows}, each with these values of {feature} and its own values of everything else.",
        table=table,
    )


def _format_value(context: CheckContext, feature: str, value: float) -> str:
    """Return a value of a feature, and days as the date that they stand for."""
    date = next((column for column in context.date_columns if column.name == feature), None)
    return _format_number(value) if date is None else date.format_day(value)


def _format_number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else format_short(value)


def _draw_response(
    context: CheckContext,
    responses: Responses,
    response: Response,
    label: int,
    extra: Sequence[tuple[float, Numbers, Numbers | None]],
    note: str,
) -> Section:
    """Return a picture of the mean answer along a feature, with the values beside a cut added."""
    values: list[float] = [*response.values.tolist(), *(value for value, _, _ in extra)]
    columns: list[Numbers] = [*response.answers.T, *(answers for _, answers, _ in extra)]
    means: list[float] = []
    for column, answers in enumerate(columns):
        levels = None
        if response.levels is not None and column < len(response.values):
            levels = response.levels[:, column, label]
        elif column >= len(response.values) and extra[column - len(response.values)][2] is not None:
            levels = extra[column - len(response.values)][2][:, label]  # type: ignore[index]
        if response.numeric:
            levels = answers
        means.append(float(np.nanmean(levels)) if levels is not None else float(np.nanmean(answers == label)))
    order = np.argsort(values, kind="stable").tolist()
    bands = []
    for place in order:
        known = columns[place][~np.isnan(columns[place])]
        usual = "" if response.numeric or not len(known) else np.bincount(known.astype(int)).argmax()
        bands.append("" if usual == "" else responses.format_answer(float(usual)))
    if response.numeric:
        quantity = "mean answer"
    elif response.levels is not None:
        quantity = f"mean score of {responses.format_answer(label)}"
    else:
        quantity = f"share answered {responses.format_answer(label)}"
    return Section(
        heading=f"The answer along {response.feature}",
        text=f"The {quantity} over {pluralise(len(responses.inputs), 'real row')}, each with all these values of "
        f"{response.feature} and its own values of everything else. {note}",
        picture=Line(
            title=f"{quantity} along {response.feature}",
            subtitle=note,
            x_label=response.feature,
            y_label=quantity,
            values=[means[place] for place in order],
            bands=bands,
            notes=[f"{response.feature} {_format_value(context, response.feature, values[place])}" for place in order],
            steps=[values[place] for place in order],
        ),
    )
