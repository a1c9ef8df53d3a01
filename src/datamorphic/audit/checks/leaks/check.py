"""Check whether a feature knows the label: nearly the label itself, or recorded or computed after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...._lazy import pd
from ...._text import format_percent, pluralise
from ....core.result import LEVELS, Example, Finding, Level, format_share
from ....errors import OutOfBudget
from ....reporting.document import Section, Table
from ....runs.flow import ask
from ....space.features import Categorical
from ....space.points import Points
from ...case_text import build_examples, format_label
from ...check import CheckBudget, CheckFindings, make_check, run_flow
from ...context import CheckContext
from ...feature_shuffling import measure_influence
from ...influence import Influence, find_score_changes
from ...labels import find_missing_labels, to_label_texts
from .codes import CodeTrial, find_codes, try_codes
from .encodings import Encoding, Sequel, find_encoding, find_sequel
from .label import MAX_ERROR_OF_LEAK, MAX_TREE_ROWS, is_far_better, predict_from_others, predict_from_single_features
from .rows import MIN_LABELLED_ROWS, Floats, LabelledRows, select_labelled_rows
from .signs import (
    MAX_DEPENDENCE_OF_LEAK,
    LabelWord,
    Presence,
    find_label_value,
    find_label_word_of_texts,
    find_outcome_word,
    find_presences,
    has_two_levels,
    measure_independence,
    measure_presence_independence,
)
from .skills import Skills, measure_skills

MAX_LEAKS = 2  # more features that are nearly the label mean an easy problem rather than a leak
MIN_SKILL = 0.3  # the share of the variance of the label that a column explains alone, so that it may be a leak
MIN_NAMED_GAP = 0.1  # to the skill of the next column, at the lower end of the interval, if the name is a sign
MIN_GAP = 0.2  # the same if nothing else is a sign than that other columns have nothing to do with it
MIN_SKILL_OF_COPY, MIN_GAP_OF_COPY = (
    0.65,
    0.5,
)  # the same if other columns are too few, or know too little, to compare with
MIN_CODES = 20  # different codes, nearly each of which goes with one label
MIN_SKILL_OF_CODES, MIN_GAP_OF_CODES = 0.5, 0.2
MIN_COVERAGE_OF_VALUE = 0.45  # of the rows of the label that have a value, if other columns cannot be compared with it
MIN_DECIDED_SHARE = 0.02  # of the answers that change with a column, so that a leak in it is more than advice
MIN_DECIDED_SHARE_OF_STRONG = 0.05  # the same for columns that are suspect because they tell so much
MAX_ENCODED_CLASSES = 5  # whose mean labels are compared with columns
MAX_GROUPINGS = 20
MAX_FINDINGS = 4
MAX_PROBED_ROWS = 50  # whose identifiers leave the range of the data

LATE_RECORDING_REMEDY = (
    "Find out when {name} is recorded. If it is known only after the outcome, or is derived from it, remove it and train again: "
    "the model will not have it, or not in this form, when it must decide. If it is known before, nothing is wrong."
)


@dataclass(frozen=True, kw_only=True)
class _Sign:
    """One sign that a column is recorded or computed after the label."""

    name: str  # of the column
    title: str
    detail: str
    remedy: str
    is_strong: bool = True  # whether it makes a concern, if the model uses the column
    decided_share: float = MIN_DECIDED_SHARE  # that the model must decide by the column, so that it is a concern
    confidence: float = 0.8


@dataclass(eq=False, kw_only=True)
class _LeakSearch:
    """The search for leaks in one data set."""

    context: CheckContext
    budget: CheckBudget
    rows: LabelledRows
    skills: Skills
    signs: list[_Sign] = field(default_factory=list)
    trials: list[CodeTrial] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.context.space.names)

    def format_label(self, label: int) -> str:
        """Return a class for a text."""
        return format_label(self.rows.classes[label])


def check_leaks(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Predict the label from each feature alone, and look for signs that a feature is recorded or computed after it."""
    rows = select_labelled_rows(context)
    if rows is None:
        reason = "too few labels, or labels of one class only"
        return CheckFindings(basis=reason, conclusive=False, skip_reason="inapplicable")
    tree_rows = rows.take(MAX_TREE_ROWS)
    predictions = predict_from_single_features(context, tree_rows)
    errors = {name: tree_rows.compute_error(prediction) for name, prediction in predictions.items()}
    best = min(errors, key=errors.__getitem__)
    score = "of the variance explained" if rows.numbers else "of the labels right, averaged over the classes"
    count = pluralise(len(context.columns), "feature")
    basis = f"{count}; the best alone is {best}: {format_percent(1 - errors[best])} {score}"
    near_label_names = [name for name in errors if errors[name] <= MAX_ERROR_OF_LEAK]
    if rows.numbers:  # a running number may well follow a trend in time
        near_label_names = [name for name in near_label_names if name not in context.identifiers]
    suspects = [name for name in near_label_names if name not in context.identifiers]
    others = [name for name in context.space.names if name not in suspects and name not in context.identifiers]
    findings: list[Finding] = []
    sections: list[Section] = []
    if near_label_names and others:
        other_predictions = predict_from_others(context, tree_rows, others)
        other_error = tree_rows.compute_error(other_predictions)
        influence = measure_influence(context, budget)
        leaks = [
            name
            for name in near_label_names
            if is_far_better(
                tree_rows, errors[name], predictions[name], other_error, other_predictions, len(context.space)
            )
        ]
        findings = [
            _build_leak_finding(rows, name, errors[name], other_error, len(others), influence, len(suspects))
            if name in suspects
            else _build_identifier_finding(context, budget, rows, name, errors[name], other_error, influence)
            for name in leaks
        ]
        if findings:
            sections = [_build_section(rows, errors, leaks, other_error)]
    findings = _merge_signs(context, budget, findings, _find_signs(context, budget, rows))
    return CheckFindings(basis=basis, findings=findings, sections=sections)


# -- nearly the label --------------------------------------------------------------------------------------------------


def _build_section(
    rows: LabelledRows, errors: dict[str, float], suspects: Sequence[str], other_error: float
) -> Section:
    table = Table(
        columns=["feature", "share right" if not rows.numbers else "variance explained"],
        rows=[
            *(
                [name, format_percent(1 - error)]
                for name, error in sorted(errors.items(), key=lambda item: item[1])[:10]
            ),
            [f"all without {', '.join(suspects)}", format_percent(1 - other_error)],
        ],
    )
    return Section(
        heading="How well single features predict the label",
        text="A small tree of one feature each, cross-validated. The last row is a forest of all other features.",
        table=table,
    )


def _build_leak_finding(
    rows: LabelledRows,
    name: str,
    error: float,
    other_error: float,
    other_count: int,
    influence: Influence,
    suspect_count: int,
) -> Finding:
    is_most_influential = influence.rank()[0] == name and influence.count_changed(name) > 1
    changed, tried = influence.count_changed(name), influence.tried[name]
    score = "explains {} of the variance of the label" if rows.numbers else "predicts {} of the labels"
    strength = score.format(format_percent(1 - error))
    concern = is_most_influential and suspect_count <= MAX_LEAKS
    return Finding(
        check="leaks",
        about=name,
        title=f"{name} alone {strength}: it may be the label in disguise",
        level="concern" if concern else "advice",
        confidence=0.8 if concern else 0.6,
        detail=f"From {name} alone a small tree {strength} of rows that it has not seen"
        f"{'' if rows.numbers else ', averaged over the classes'}; {pluralise(other_count, 'other feature')} together reach "
        f"{format_percent(1 - other_error)}. {format_share(changed, tried, 'row')} get another answer if {name} alone is "
        f"replaced by the value of another row{', more than for any other feature' if is_most_influential else ''}.",
        remedy=LATE_RECORDING_REMEDY.format(name=name),
        examples=_build_shuffle_examples(influence, name),
        **influence.describe_impact(name),
    )


def _build_identifier_finding(
    context: CheckContext,
    budget: CheckBudget,
    rows: LabelledRows,
    name: str,
    error: float,
    other_error: float,
    influence: Influence,
) -> Finding:
    score = "explains {} of the variance of the label" if rows.numbers else "predicts {} of the labels"
    strength = score.format(format_percent(1 - error))
    is_used = influence.is_used(name) or _is_used_beyond_data(context, budget, influence, name)
    use = "The model uses it." if is_used else "The answers of the model do not depend on it."
    return Finding(
        check="leaks",
        about=name,
        title=f"{name} alone {strength}, although it looks like an identifier: its values were assigned by label",
        level="concern" if is_used else "advice",
        confidence=0.9,
        detail=f"{name} is {context.identifiers[name].role}. From {name} alone a small tree {strength} of rows that it has not seen; all "
        f"features without identifiers reach {format_percent(1 - other_error)}. {use} New rows get their {name} before "
        "their label is known.",
        remedy=f"Remove {name} from the inputs of the model, and train again. Find out how rows were numbered: sorted by the label, or "
        "joined from one file per class.",
        **influence.describe_impact(name),
    )


def _is_used_beyond_data(context: CheckContext, budget: CheckBudget, influence: Influence, name: str) -> bool:
    """Tell whether scores or answers change with values of a column below and above all of the data."""
    column = context.space.position(name)
    if not context.space.features[column].numeric:
        return False
    known = context.inputs.codes[:, column]
    low, high = float(np.nanmin(known)), float(np.nanmax(known))
    inputs = influence.inputs.take(slice(0, MAX_PROBED_ROWS))
    parts = [inputs]
    for value in (low - (high - low), high + (high - low)):
        codes = inputs.codes.copy()
        codes[:, column] = value
        parts.append(Points(context.space, codes))
    outputs = run_flow(context, budget, ask(Points.concat(parts), scores=True, note="leaks"))
    own, *others = (outputs.take(slice(place * len(inputs), (place + 1) * len(inputs))) for place in range(len(parts)))
    return any(bool((find_score_changes(own, other) & own.ok & other.ok).any()) for other in others)


def _build_shuffle_examples(influence: Influence, name: str) -> tuple[Example, ...]:
    """Return a real row whose answer changes with a value of another row."""
    rows = np.flatnonzero(influence.changed[name])[:1].tolist()
    points, outputs = influence.shuffled[name]
    return build_examples((influence.inputs, points), (influence.answers, outputs), rows)


# -- signs -------------------------------------------------------------------------------------------------------------


def _find_signs(context: CheckContext, budget: CheckBudget, rows: LabelledRows) -> list[_Sign]:
    """Return the signs that columns are recorded or computed after the label, the strongest for each column first."""
    features = context.space.features
    columns = [
        column
        for column in context.columns
        if features[column].kind != "text" and context.space.names[column] not in context.identifiers
    ]
    is_category = [isinstance(feature, Categorical) for feature in features]
    skills = measure_skills(rows.codes, rows.to_targets(), columns, is_category, context.seed)
    search = _LeakSearch(context=context, budget=budget, rows=rows, skills=skills)
    _look_for_computed_columns(search)
    for presence in find_presences(rows, features, columns):
        sign = _describe_presence(search, presence)
        search.signs += [] if sign is None else [sign]
    for column in columns:
        value = find_label_value(rows, features[column], column)
        place = columns.index(column)
        if value and skills.values[place] >= MIN_SKILL:
            search.signs.append(_describe_label_word(search, column, value, float(skills.values[place])))
    _judge_strongest(search)
    for column in context.columns:
        word = find_label_word_of_texts(rows, features[column], column)
        if word is not None:
            search.signs.append(_describe_word_of_texts(search, column, word))
    for column in find_codes(context, rows):
        try:
            trial = try_codes(context, budget, rows, column)
        except OutOfBudget:
            break
        if trial is not None and trial.is_decisive:
            search.trials.append(trial)
            search.signs.append(_describe_codes(trial))
    return search.signs


def _describe_presence(search: _LeakSearch, presence: Presence) -> _Sign | None:
    """Describe a column that is in a state for one label only; None if that is what features of real things look like."""
    name, label = search.names[presence.column], search.format_label(presence.label)
    extra = ""
    if presence.is_value:
        rows, features = search.rows, search.context.space.features
        independence = measure_presence_independence(rows, features, search.skills, presence, search.context.seed)
        if independence is None:
            gap_low = _measure_gap_for_label(search, presence)
            if presence.coverage < MIN_COVERAGE_OF_VALUE or gap_low < MIN_NAMED_GAP:
                return None
            extra = " It tells far more than any other feature."
        elif independence > MAX_DEPENDENCE_OF_LEAK:
            return None
        else:
            extra = " Among these rows it goes with no other feature, although the other features go together."
    return _Sign(
        name=name,
        title=f"{name} is {presence.filled} for rows labelled {label} only: it may be recorded after the outcome",
        detail=f"Where {name} is {presence.filled}, {format_share(presence.count, presence.total, 'row')} are labelled {label}; "
        f"where it is {presence.others}, {format_share(presence.absent_count, presence.absent_total, 'row')} are. This holds in "
        f"both halves of the rows.{extra}",
        remedy=LATE_RECORDING_REMEDY.format(name=name),
        confidence=0.85,
    )


def _measure_gap_for_label(search: _LeakSearch, presence: Presence) -> float:
    """Return by how much more a column tells about one class than any other column, at the lower end of the interval."""
    rows, features = search.rows, search.context.space.features
    is_category = [isinstance(feature, Categorical) for feature in features]
    targets = (rows.labels == presence.label).astype(np.float64)[:, None]
    skills = measure_skills(rows.codes, targets, search.skills.columns, is_category, search.context.seed)
    place = list(skills.columns).index(presence.column)
    others = [other for other in np.argsort(-skills.values, kind="stable").tolist() if other != place]
    return skills.measure_gap(place, others[0]).low if others else 0.0


def _describe_label_word(search: _LeakSearch, column: int, value: str, skill: float) -> _Sign:
    name = search.names[column]
    return _Sign(
        name=name,
        title=f"{name} says the label in words: {value}",
        detail=f"The value {value} of {name} contains the name of the class, and occurs with this class only. Alone, {name} explains "
        f"{format_percent(skill)} of the variance of the label on held-out rows.",
        remedy=LATE_RECORDING_REMEDY.format(name=name),
    )


def _judge_strongest(search: _LeakSearch) -> None:
    """Judge the column that tells most, if it tells far more than any other one."""
    skills, rows = search.skills, search.rows
    if len(skills.columns) < 2:
        return
    first, second = np.argsort(-skills.values, kind="stable")[:2].tolist()
    skill, gap = float(skills.values[first]), skills.measure_gap(first, second)
    if skill < MIN_SKILL or gap.low < MIN_NAMED_GAP:
        return
    name, other = search.names[skills.columns[first]], search.names[skills.columns[second]]
    strength = (
        f"Alone, {name} explains {format_percent(skill)} of the variance of the label on held-out rows, and the next "
        f"best feature, {other}, {format_percent(max(0.0, float(skills.values[second])))}: {100 * gap.value:.3g} points "
        f"less ({100 * gap.low:.3g} to {100 * gap.high:.3g}, with 99% confidence)."
    )
    word = find_outcome_word(name)
    if word:
        search.signs.append(
            _Sign(
                name=name,
                title=f"{name} tells far more than any other feature, and by its name it is known only afterwards",
                detail=f"{strength} Its name contains the word “{word}”.",
                remedy=LATE_RECORDING_REMEDY.format(name=name),
                decided_share=MIN_DECIDED_SHARE_OF_STRONG,
            )
        )
        return
    if gap.low < MIN_GAP:
        return
    features = search.context.space.features
    independence = measure_independence(rows, features, skills, first, search.context.seed)
    column = skills.columns[first]
    is_code = isinstance(features[column], Categorical) and len(np.unique(rows.codes[:, column])) >= MIN_CODES
    is_unlike_all = independence is None and (
        has_two_levels(rows, column, is_code)
        and skill >= (MIN_SKILL_OF_CODES if is_code else MIN_SKILL_OF_COPY)
        and gap.low >= (MIN_GAP_OF_CODES if is_code else MIN_GAP_OF_COPY)
    )
    if is_unlike_all or (independence is not None and independence <= MAX_DEPENDENCE_OF_LEAK):
        reason = (
            "Features of real things rarely tell so much if the others tell so little."
            if independence is None
            else f"Within a class, no other feature explains more than {format_percent(max(0.0, independence))} of {name}, although "
            "the other features go together: what is derived from the label looks like this."
        )
        search.signs.append(
            _Sign(
                name=name,
                title=f"Nearly each code of {name} goes with one label: it may have been given out after the outcome"
                if is_code
                else f"{name} looks like the label with noise: it tells far more than any other feature",
                detail=f"{strength} {reason}",
                remedy=LATE_RECORDING_REMEDY.format(name=name),
                decided_share=MIN_DECIDED_SHARE if is_code else MIN_DECIDED_SHARE_OF_STRONG,
                confidence=0.7,
            )
        )


def _describe_word_of_texts(search: _LeakSearch, column: int, word: LabelWord) -> _Sign:
    name = search.names[column]
    text, label_text = word.word, search.format_label(word.label)
    names_label = text in search.rows.classes[word.label].lower() or bool(find_outcome_word(text))
    return _Sign(
        name=name,
        title=f"The word “{text}” in {name} occurs with the label {label_text} only",
        detail=f"{format_share(word.count, word.total, 'text')} with “{text}” are labelled {label_text}. The word "
        "may be a mark of the source of the texts, or have been added when the outcome was known.",
        remedy=f"Look at texts with “{text}”, and find out when {name} is written. If the word was added after the outcome, or marks "
        "the source, remove it from the texts and train again.",
        is_strong=names_label or word.is_alone,
    )


def _describe_codes(trial: CodeTrial) -> _Sign:
    benefit = (
        f"In {pluralise(len(trial.changed), 'row')}, the code of another row in place of the own one changes the share of right answers "
        f"by {-100 * trial.benefit.value:+.3g} percentage points ({-100 * trial.benefit.high:+.3g} to {-100 * trial.benefit.low:+.3g})."
    )
    return _Sign(
        name=trial.name,
        title=f"The answers depend on {trial.name}, although it has hardly any rows per code",
        detail=f"{trial.name} has {trial.distinct:,} different codes in {pluralise(trial.code_rows, 'row')}. {benefit}",
        remedy=f"Remove {trial.name}, or replace it by something that many codes share, such as a region or a group: what "
        "the model has learned from single codes did not help on these rows.",
        is_strong=trial.is_useless,
        confidence=0.8,
    )


# -- columns that were computed from labels ----------------------------------------------------------------------------


def _look_for_computed_columns(search: _LeakSearch) -> None:
    """Compare columns with mean labels of categories, later labels and running means, on all rows."""
    context = search.context
    labels = _collect_targets(context, search.rows)
    if labels is None:
        return
    codes = context.inputs.codes
    groupings = _find_groupings(context)
    is_ordered = context.subject.rows is None or bool((np.diff(context.subject.rows) == 1).all())
    features = context.space.features
    for column in context.columns:
        if not features[column].numeric or features[column].name in context.identifiers:
            continue
        name, values = features[column].name, codes[:, column]
        for by, targets in labels:
            other_groupings = [(group, groups) for group, groups in groupings if group != name]
            encoding = find_encoding(values, targets, other_groupings, name, by)
            if encoding is not None:
                search.signs.append(_describe_encoding(encoding))
                break
            sequel = find_sequel(values, targets, name) if is_ordered else None
            if sequel is not None:
                search.signs.append(_describe_sequel(sequel))
                break


def _collect_targets(context: CheckContext, rows: LabelledRows) -> list[tuple[str, Floats]] | None:
    """Return the labels of all inputs as numbers, or as indicators of the most frequent classes; None if one is missing."""
    assert context.truth is not None
    truth = context.truth
    if len(truth) != len(context.inputs) or find_missing_labels(truth).any():
        return None
    if rows.numbers:
        numbers = pd.to_numeric(pd.Series(truth), errors="coerce").to_numpy(dtype=np.float64)
        return [("", numbers)] if np.isfinite(numbers).all() else None
    texts = to_label_texts(truth).astype(str)
    counts = np.bincount(rows.labels, minlength=len(rows.classes))
    frequent = np.argsort(-counts, kind="stable")[:MAX_ENCODED_CLASSES].tolist()
    targets = [(rows.classes[label], (texts == rows.classes[label]).astype(np.float64)) for label in frequent]
    try:  # classes that are numbers may be averaged as they are
        numbers = truth.astype(np.float64)
    except (TypeError, ValueError):
        return targets
    is_indicator = bool(np.isin(numbers, (0.0, 1.0)).all())
    return targets if is_indicator or not np.isfinite(numbers).all() else [*targets, ("", numbers)]


def _find_groupings(context: CheckContext) -> list[tuple[str, npt.NDArray[np.intp]]]:
    """Return the columns whose values may be groups, with the number of the group of each row; a missing value is a group."""
    groupings = []
    for column in context.columns:
        feature = context.space.features[column]
        if not isinstance(feature, Categorical) and feature.kind != "integer":
            continue
        _, groups = np.unique(context.inputs.codes[:, column], return_inverse=True)
        groups = np.asarray(groups.reshape(-1), dtype=np.intp)
        if len(groups) and groups.max() + 1 <= len(groups) / 2:
            groupings.append((feature.name, groups))
    groupings.sort(
        key=lambda item: not isinstance(context.space.features[context.space.position(item[0])], Categorical)
    )
    return groupings[:MAX_GROUPINGS]


def _describe_encoding(encoding: Encoding) -> _Sign:
    name = encoding.column
    of = f"the share of the label {format_label(encoding.by)}" if encoding.by else "the mean label"
    where = f"in each {encoding.group}" if encoding.group else "of the rows that have the value"
    agreement = format_share(encoding.agreeing, encoding.rows, "row")
    how = {
        "means": f"For {agreement}, {name} is {of} {where}, exactly.",
        "smoothed means": f"For {agreement}, {name} is {of} {where}, drawn towards the mean of all rows, exactly.",
        "means of the other rows": f"For {agreement}, {name} is {of} among the other rows {where}, exactly. Within a group, it is "
        "lower for rows with the label, and so it tells the label.",
        "close means": f"In {pluralise(encoding.groups, 'group')}, {name} is closer to {of} {where} than it can be if it was computed "
        "from other rows.",
    }[encoding.kind]
    return _Sign(
        name=name,
        title=f"{name} was computed from the labels of these rows: it is {of} {where}",
        detail=f"{how} Figures of quality on these rows are too good, since the model has seen a part of the answer.",
        remedy=f"Compute {name} from the training rows alone and, for training rows, from the other folds "
        "(sklearn.preprocessing.TargetEncoder inside the pipeline does both). Then measure again.",
        confidence=0.95,
    )


def _describe_sequel(sequel: Sequel) -> _Sign:
    name = sequel.column
    if sequel.kind == "next":
        title = f"{name} is the label of the next row"
        detail = f"In the order of the rows, {name} equals the label of the row after it ({pluralise(sequel.rows, 'row')} compared)."
    else:
        title = f"{name} is a mean of labels that includes the row's own label"
        detail = (
            f"In the order of the rows, {name} changes from row to row as the mean of the labels of {sequel.window} rows, the last of "
            f"which is the row itself ({pluralise(sequel.rows, 'row')} compared)."
        )
    return _Sign(
        name=name,
        title=title,
        detail=detail,
        remedy=f"Shift {name} so that it ends before the row that is to be predicted, and train again: later labels are not known then.",
        confidence=0.95,
    )


# -- findings ----------------------------------------------------------------------------------------------------------


def _merge_signs(
    context: CheckContext, budget: CheckBudget, findings: list[Finding], signs: Sequence[_Sign]
) -> list[Finding]:
    """Return one finding for each column: what predicts nearly all labels, with the signs about it, and other signs."""
    if not signs:
        return findings
    influence = measure_influence(context, budget)
    by_name = {finding.about: finding for finding in findings}
    for name in dict.fromkeys(sign.name for sign in signs):
        pairs = [(_build_sign_finding(influence, sign), sign.detail) for sign in signs if sign.name == name]
        pairs.sort(key=lambda pair: (LEVELS.index(pair[0].level), -pair[0].confidence))
        first = by_name.get(name, pairs[0][0])
        level: Level = min((finding.level for finding in (first, *(finding for finding, _ in pairs))), key=LEVELS.index)
        extra = [detail for finding, detail in pairs if finding is not first]
        by_name[name] = replace(first, level=level, detail=" ".join([first.detail, *extra[:2]]))
    return sorted(by_name.values(), key=lambda finding: LEVELS.index(finding.level))[:MAX_FINDINGS]


def _build_sign_finding(influence: Influence, sign: _Sign) -> Finding:
    name = sign.name
    changed, tried = influence.count_changed(name), influence.tried[name]
    is_decisive = changed >= 2 and changed >= sign.decided_share * min(tried, 2 * _count_rarer_answers(influence))
    return Finding(
        check="leaks",
        about=name,
        title=sign.title,
        level="concern" if sign.is_strong and is_decisive else "advice",
        confidence=sign.confidence,
        detail=f"{sign.detail} {_describe_use(influence, name)}",
        remedy=sign.remedy,
        examples=_build_shuffle_examples(influence, name),
        **influence.describe_impact(name),
    )


def _count_rarer_answers(influence: Influence) -> int:
    """Return how many answers are not the most frequent one: of a rare class, few answers can change."""
    answers = influence.answers.take(influence.answers.ok).to_objects()
    counts = np.unique(answers.astype(str), return_counts=True)[1]
    return len(answers) - int(counts.max(initial=0))


def _describe_use(influence: Influence, name: str) -> str:
    share = format_share(influence.count_changed(name), influence.tried[name], "row")
    return f"{share} get another answer if {name} alone is replaced by the value of another row."


def _find_skip_reason(context: CheckContext) -> str:
    if context.truth is None:
        return "no labels are given: target="
    if context.answers is None:
        return "the system was not queried"
    if len(context.space) < 2:
        return "there is only one feature"
    return "" if len(context.inputs) >= MIN_LABELLED_ROWS else f"fewer than {MIN_LABELLED_ROWS} rows are labelled"


LEAKS = make_check("leaks", check_leaks, _find_skip_reason)
