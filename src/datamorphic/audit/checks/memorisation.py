"""Check whether the model has learned rows by heart: answers that hold at a given row only, and learned label noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._stats import compute_wilson_interval
from ..._text import format_percent, pluralise
from ...core.result import Example, Finding, count_rows, format_share
from ...errors import BudgetSpent
from ...exploration.changes import format_value
from ...runs.flow import ask
from ...space.features import Categorical
from ...space.outputs import Outputs
from ...space.points import Points
from ...space.projection import describe_texts
from ...space.space import Space
from ...space.text_feature import Text
from ..case_text import (
    AnsweredCase,
    build_example,
    extract_case,
    format_answer,
    format_case,
    format_label,
    read_case,
    to_plain,
    to_plain_answer,
)
from ..check import CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext
from ..labels import align_labels
from ..reference_model import ReferenceModel
from ..rivals import collect_rivals, mark_explained_rows

MAX_ROWS = 200
MAX_CLASSES = 100  # with more, any change may change the answer: vectors, texts
MIN_ROWS = 20  # fewer do not allow a judgement
MAX_CHANGED_COLUMNS = 6  # each is changed alone
TINY_STEP_SHARE = 1e-6  # of the spread of a real number: no measurement is that exact
MAX_FINE_STEP = 1e-3  # of the spread: the answer should hardly ever change within it
MAX_STEP = 0.05  # of the spread: a larger step is another case, not the same one measured again
MIN_NUMBER_VALUES = 10  # a column with fewer different whole numbers may hold codes
MIN_ANSWER_JUMP = 0.25  # of the standard deviation of numeric answers, to count as another answer
MIN_CHANGED_SHARE = 0.8  # of the changes of a row, each of one column, that change its answer
MIN_ISOLATED_SHARE = 0.01  # of the rows, at the lower end of the interval: fewer are near thresholds by chance
MIN_ISOLATED_ROWS = 5
MIN_ACCURACY_DROP = 0.05  # from the rows to their copies, if they are known by heart
MIN_DEFAULT_SHARE = 0.9  # of such rows that have the same answer, so that it is a default

MIN_EASY_ERRORS = 20  # rows that models of all kinds get right, and this one wrong
MIN_EASY_ERROR_SHARE = 0.03  # of the rows that models of all kinds get right
MAX_COPIED_ROWS = 60
MAX_COPIED_COLUMNS = 10
MIN_RECOVERED_SHARE = (
    0.35  # of the copies with one other value, at the lower end of the interval: the rest is wrong by chance
)
MIN_RECOVERED_SHARE_PER_COLUMN = 0.3
MIN_RECOVERING_COLUMN_SHARE = 0.75  # near a border, or with a misread column, fewer columns recover
DEFAULT_REMEDY = (
    "Look for a default, a fallback after an error or a time-out, or a cache on the way to the answer: the same rows get it each "
    "time, and nothing in their values explains why."
)

NEIGHBOURS = 5
MAX_SIMILAR_NEIGHBOURS = 1  # of the nearest rows have the label of a row that they contradict
MAX_LABEL_PROBABILITY = 0.25  # that the reference model gives to such a label
MIN_CONTRADICTED_ROWS = 20
MIN_LEARNED_SHARE = 0.5  # at the lower end of the interval: a model that has not seen the label follows the neighbours
MAX_PROBED_ROWS = 60
PROBES_PER_ROW = 2  # towards the nearest rows with another label
PROBE_POSITION = 0.75  # of the way


@dataclass(frozen=True, eq=False, kw_only=True)
class _Neighbourhood:
    """Given rows, and copies of them with one column changed by very little."""

    rows: npt.NDArray[np.intp]  # the positions of the rows among the inputs
    sources: npt.NDArray[np.intp]  # for each copy, the number of its row
    columns: npt.NDArray[np.intp]  # for each copy, the column that was changed
    points: Points  # the copies
    steps: dict[int, float]  # by column
    is_fine: bool  # whether all steps are tiny


def check_memorisation(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Change given rows by a hair's breadth, and look for labels that the neighbours contradict."""
    basis, findings = [], []
    neighbourhood = _build_neighbourhood(context, budget)
    if neighbourhood is not None:
        isolated = _find_isolated_rows(context, budget, neighbourhood)
        basis.append(f"{pluralise(len(neighbourhood.rows), 'row')} changed by very little")
        if isolated is not None:
            return CheckFindings(basis=basis[0], findings=[isolated])  # noise that is learned would be the same thing
    skip_reason = ""
    try:
        unexplained = _find_unexplained_answers(context, budget)
        if unexplained is not None:
            basis.append("rows that models of all kinds get right")
            findings.append(unexplained)
        noise = _find_learned_noise(context, budget)
        if noise is not None:
            noise_basis, noise_findings = noise
            basis.append(noise_basis)
            findings += noise_findings
    except BudgetSpent:
        if not basis:
            raise
        skip_reason = "budget spent"
    if not basis:
        return CheckFindings(
            basis="no column can be changed by very little, and too few labels contradict their neighbours",
            conclusive=False,
            skip_reason="inapplicable",
        )
    return CheckFindings(basis="; ".join(basis), findings=findings, skip_reason="budget spent" if skip_reason else "")


# -- a hair's breadth --------------------------------------------------------------------------------------------------


def _find_steps(inputs: Points) -> tuple[dict[int, float], bool]:
    """Return small steps of the columns that can be changed by little, and whether all are tiny.

    A real number is moved by a millionth of its spread, a whole number by 1. Only tiny steps are returned if at least two
    columns have them, because a whole number may be another case.
    """
    steps: dict[int, float] = {}
    relative_steps: dict[int, float] = {}
    for column in inputs.space.scalars:
        feature = inputs.space.features[column]
        values = inputs.codes[:, column]
        values = values[~np.isnan(values)]
        if not feature.numeric or not len(values):
            continue
        distinct = np.unique(values)
        spread = float(np.subtract(*np.quantile(values, [0.95, 0.05]))) or float(np.ptp(values))
        if len(distinct) < MIN_NUMBER_VALUES or spread <= 0:
            continue
        is_whole = feature.kind == "integer" or bool((distinct == np.round(distinct)).all())
        step = 1.0 if is_whole else TINY_STEP_SHARE * spread
        if step <= MAX_STEP * spread:
            steps[column], relative_steps[column] = step, step / spread
    fine = {column for column, step in relative_steps.items() if step <= MAX_FINE_STEP}
    is_fine = len(fine) >= 2
    columns = sorted(fine if is_fine else steps, key=lambda column: (relative_steps[column], column))
    return {column: steps[column] for column in columns[:MAX_CHANGED_COLUMNS]}, is_fine


def _build_neighbourhood(context: CheckContext, budget: CheckBudget) -> _Neighbourhood | None:
    """Return given rows with copies that differ by very little; None if no two columns allow it."""
    steps, is_fine = _find_steps(context.inputs)
    if len(steps) < 2 or len(context.inputs) < MIN_ROWS:
        return None
    directions = (1, -1) if len(steps) <= MAX_CHANGED_COLUMNS // 2 else (1,)
    limit = context.count_affordable(
        budget.remaining(0.5), MAX_ROWS, runs_per_case=1 + len(steps) * len(directions), calls=2, minimum=MIN_ROWS
    )
    rows = context.sample_rows(limit)
    space: Space = context.space
    parts, sources, columns = [], [], []
    rng = np.random.default_rng([context.seed, 23])
    codes = context.inputs.codes[rows]
    for column, step in steps.items():
        feature = space.features[column]
        first = np.where(rng.random(len(rows)) < 0.5, step, -step)
        for direction in directions:
            changed = codes.copy()
            values = codes[:, column] + direction * first
            # At a bound, step to the other side.
            outside = (values > feature.high) | (values < feature.low)
            changed[:, column] = np.where(outside, codes[:, column] - direction * first, values)
            parts.append(changed)
            sources.append(np.arange(len(rows)))
            columns.append(np.full(len(rows), column))
    all_codes, all_sources, all_columns = np.concatenate(parts), np.concatenate(sources), np.concatenate(columns)
    valid = ~np.isnan(all_codes[np.arange(len(all_codes)), all_columns])
    if space.keeps_constraints:
        valid &= space.satisfied(all_codes)
    return _Neighbourhood(
        rows=rows,
        sources=all_sources[valid],
        columns=all_columns[valid],
        points=Points(space, all_codes[valid]),
        steps=steps,
        is_fine=is_fine,
    )


def _find_isolated_rows(context: CheckContext, budget: CheckBudget, near: _Neighbourhood) -> Finding | None:
    """Return a finding if the answers to many rows change as soon as anything changes."""
    own_points = context.inputs.take(near.rows)
    both = run_flow(context, budget, ask(Points.concat([own_points, near.points])))
    own, copies = both.take(slice(0, len(near.rows))), both.take(slice(len(near.rows), len(both)))
    if not context.has_numeric_answers and 2 * _count_different(own) > len(own):
        return None  # vectors or texts rather than classes: any change may change them
    judged = own.ok[near.sources] & copies.ok
    changed = judged & _differ(own.take(near.sources), copies, context.has_numeric_answers, own)
    judged_counts = np.bincount(near.sources[judged], minlength=len(near.rows))
    changed_counts = np.bincount(near.sources[changed], minlength=len(near.rows))
    usable = judged_counts >= 2
    isolated = usable & (changed_counts >= MIN_CHANGED_SHARE * judged_counts)
    count, total = int(isolated.sum()), int(usable.sum())
    if count < MIN_ISOLATED_ROWS or compute_wilson_interval(count, total)[0] < MIN_ISOLATED_SHARE:
        return None
    if not near.is_fine and not _are_unusual_answers_isolated(own, isolated, usable, context.has_numeric_answers):
        return None  # whole numbers move by a whole step: a few rows may well change with it
    row = int(np.flatnonzero(isolated)[0])
    copy = int(np.flatnonzero(changed & (near.sources == row))[0])
    accuracies = _measure_accuracies(context, near, own, copies, judged)
    title = "The model knows given rows by heart: the answer holds only at the row itself"
    remedy = (
        "Look for a table of known rows (a dictionary, a join on all columns, a cache of answers) between the data and "
        "the model, and remove it. Test on rows that the model has never seen: on the given rows, the model looks better than it is."
    )
    accuracy_text = ""
    if accuracies is not None:
        accuracy_text = (
            f" It agrees with the label for {format_percent(accuracies[0])} of the rows, and for "
            f"{format_percent(accuracies[1])} of their changed copies."
        )
    default = _find_common_answer(own, isolated)
    if accuracies is not None and accuracies[0] < accuracies[1] + MIN_ACCURACY_DROP:
        title = "Some answers change as soon as any value changes by a hair's breadth"
        remedy = (
            "Look for exact comparisons, hashes, rounding or random numbers that depend on the row. Nobody can rely on an "
            "answer that depends on the last digits of its inputs."
        )
    elif not context.has_numeric_answers:
        default = ""  # all that a table of a rare class knows by heart has one answer
    if default:
        title = (
            f"Some rows get the default answer {default}: another one as soon as any value changes by a hair's breadth"
        )
        remedy = DEFAULT_REMEDY
    return Finding(
        **get_facts("memorisation.rows"),
        title=title,
        detail=f"{format_share(count, total, 'row')} get another answer as soon as any single value changes by very little "
        f"({_format_steps(context.space, near)}).{accuracy_text}",
        remedy=remedy,
        **count_rows(count, total),
        examples=(
            _build_change_example(
                read_case(own_points, row, own),
                read_case(near.points, copy, copies),
                own_points.space.names[int(near.columns[copy])],
                int(near.rows[row]),
            ),
        ),
    )


def _build_change_example(source: AnsweredCase, follow_up: AnsweredCase, name: str, row: int) -> Example:
    change = f"{name} from {format_value(source.case[name])} to {follow_up.case[name]!r}"
    text = f"{change}: {source.answer_text} becomes {follow_up.answer_text}"
    return build_example(source, follow_up, text=text, row=row)


def _find_common_answer(outputs: Outputs, rows: npt.NDArray[np.bool_]) -> str:
    """Return the answer that nearly all of some rows get; empty if there is none."""
    answers = pd.Series(outputs.to_objects()[rows], dtype=object)
    counts = answers.value_counts()
    return format_label(to_plain(counts.index[0])) if counts.iloc[0] >= MIN_DEFAULT_SHARE * len(answers) else ""


def _count_different(outputs: Outputs) -> int:
    return len(pd.unique(outputs.to_objects()))


def _differ(before: Outputs, after: Outputs, numeric: bool, own: Outputs) -> npt.NDArray[np.bool_]:
    if not numeric:
        return ~before.same(after)
    own_values = own.values[own.ok].astype(np.float64)
    jump = MIN_ANSWER_JUMP * float(own_values.std()) if len(own_values) else 0.0
    differences = np.abs(before.values.astype(np.float64) - after.values.astype(np.float64))
    return np.asarray(differences > jump)


def _are_unusual_answers_isolated(
    own: Outputs, isolated: npt.NDArray[np.bool_], usable: npt.NDArray[np.bool_], numeric: bool
) -> bool:
    """Tell whether most rows with an answer other than the most frequent one are isolated, as in a table of rows."""
    candidates = usable & own.ok
    if not numeric and candidates.any():
        codes = pd.factorize(own.to_objects())[0]
        candidates &= codes != np.bincount(codes[candidates]).argmax()
    count, total = int((isolated & candidates).sum()), int(candidates.sum())
    return total > 0 and compute_wilson_interval(count, total)[0] > 0.5


def _format_steps(space: Space, near: _Neighbourhood) -> str:
    names = [space.names[column] for column in near.steps]
    text = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return f"{text} by {'a millionth of the spread' if near.is_fine else 'one unit or less'}"


def _measure_accuracies(
    context: CheckContext, near: _Neighbourhood, own: Outputs, copies: Outputs, judged: npt.NDArray[np.bool_]
) -> tuple[float, float] | None:
    """Return how often answers agree with the labels, at the rows and beside them; None if there are no labels."""
    if context.truth is None or context.has_numeric_answers:
        return None
    labels = context.truth[near.rows]
    shares = []
    for outputs, sources, use in ((own, np.arange(len(near.rows)), own.ok), (copies, near.sources, judged)):
        texts = align_labels(labels[sources[use]], outputs.values[use], tuple(context.sut.labels or ()))
        if texts is None:
            return None
        shares.append(float((texts[0] == texts[1]).mean()))
    return shares[0], shares[1]


# -- defaults ----------------------------------------------------------------------------------------------------------


def _find_unexplained_answers(context: CheckContext, budget: CheckBudget) -> Finding | None:
    """Return a finding if wrong answers become right as soon as any column has another value, as defaults do."""
    if context.truth is None or context.answers is None or context.has_numeric_answers or context.query_dependent:
        return None
    rivals = collect_rivals(context, budget)
    if rivals is None or not rivals.classes:
        return None
    wrong = (rivals.answers != rivals.labels) & (rivals.predictions == rivals.labels)
    if wrong.sum() < MIN_EASY_ERRORS:
        return None
    easy = rivals.find_easy_rows(context, budget)
    wrong &= easy
    count, total = int(wrong.sum()), int(easy.sum())
    columns = _choose_varied_columns(context.inputs)
    if count < max(MIN_EASY_ERRORS, MIN_EASY_ERROR_SHARE * total) or len(columns) < 2:
        return None
    rng = np.random.default_rng([context.seed, 37])
    places = rng.permutation(np.flatnonzero(wrong))[:MAX_COPIED_ROWS]
    limit = context.count_affordable(budget.remaining(0.5), len(places), runs_per_case=len(columns))
    if limit < MIN_EASY_ERRORS:
        return None
    places = places[:limit]
    points = context.inputs.take(rivals.data.rows[places])
    copies = [_copy_with_other_values(context.inputs, points, column, rng) for column in columns]
    outputs = run_flow(context, budget, ask(Points.concat(copies)))
    labels = np.tile(rivals.data.labels[places], len(columns))
    texts = align_labels(labels, outputs.values, tuple(context.sut.labels or ()))
    if texts is None or not outputs.ok.all():
        return None
    recovered = (texts[0] == texts[1]).reshape(len(columns), len(places))
    shares = recovered.mean(axis=1)
    if (
        compute_wilson_interval(int(recovered.sum()), recovered.size)[0] < MIN_RECOVERED_SHARE
        or (shares >= MIN_RECOVERED_SHARE_PER_COLUMN).mean() < MIN_RECOVERING_COLUMN_SHARE
    ):
        return None
    mark_explained_rows(context, rivals.data.rows[wrong])
    answers = context.answers.take(rivals.data.answer_rows)
    default = _find_common_answer(answers, wrong)
    kind = f"the default answer {default}" if default else "a stale or arbitrary answer"
    column, place = (int(number) for number in np.argwhere(recovered)[0])
    source = read_case(points, place, answers.take(places))
    follow_up = read_case(copies[column], place, outputs.take(slice(column * len(places), (column + 1) * len(places))))
    name = points.space.names[columns[column]]
    return Finding(
        **get_facts("memorisation.defaults"),
        title=f"Many rows get {kind}, and often the right one as soon as any value changes",
        detail=f"{format_share(count, total, 'row')} whose label models of every kind find get a wrong answer. With the value of another "
        f"row in any one of {pluralise(len(columns), 'column')}, {format_percent(float(recovered.mean()))} of "
        f"{pluralise(len(places), 'row')} are answered as they are labelled ({format_percent(float(shares.min()))} to "
        f"{format_percent(float(shares.max()))}, depending on the column). So no column explains the wrong answers.",
        remedy=DEFAULT_REMEDY,
        **count_rows(count, total),
        examples=(_build_change_example(source, follow_up, name, int(rivals.data.rows[places[place]])),),
    )


def _choose_varied_columns(inputs: Points) -> list[int]:
    """Return the columns whose values differ most from row to row: those in which two rows most likely differ."""
    varieties = {}
    for column in inputs.space.scalars:
        codes = inputs.codes[:, column]
        _, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
        varieties[column] = 1 - float(((counts / max(1, counts.sum())) ** 2).sum()) if len(counts) > 1 else 0.0
    columns = sorted(varieties, key=lambda column: -varieties[column])
    return [column for column in columns if varieties[column] > 0][:MAX_COPIED_COLUMNS]


def _copy_with_other_values(inputs: Points, points: Points, column: int, rng: np.random.Generator) -> Points:
    """Return points with another value of a column each, drawn from the inputs."""
    codes = points.codes.copy()
    known = inputs.codes[~np.isnan(inputs.codes[:, column]), column]
    for row in range(len(codes)):
        others = known[known != codes[row, column]]
        codes[row, column] = rng.choice(others)
    return Points(points.space, codes)


# -- learned label noise -----------------------------------------------------------------------------------------------


def _find_learned_noise(context: CheckContext, budget: CheckBudget) -> tuple[str, list[Finding]] | None:
    """Return what was judged, and a finding if labels that everything around contradicts were learned.

    None is returned if the data do not allow a judgement.
    """
    if context.truth is None or context.answers is None or context.query_rows is None or context.has_numeric_answers:
        return None
    reference = context.fit_reference_model(budget.remaining())
    if reference is None:
        return None
    positions = np.full(len(context.inputs), -1, dtype=np.intp)
    positions[context.query_rows] = np.arange(len(context.query_rows))
    answered = positions[reference.rows]
    usable = (answered >= 0) & context.answers.ok[answered]
    neighbours = _find_neighbours(context.inputs.take(reference.rows))
    similar = (reference.labels[neighbours] == reference.labels[:, None]).sum(axis=1)
    contradicted = usable & (reference.label_probabilities <= MAX_LABEL_PROBABILITY)
    contradicted &= similar <= MAX_SIMILAR_NEIGHBOURS
    total = int(contradicted.sum())
    if total < MIN_CONTRADICTED_ROWS:
        return None
    chosen = np.flatnonzero(contradicted)
    rows = reference.rows[chosen]
    texts = align_labels(context.truth[rows], context.answers.values[answered[chosen]], tuple(context.sut.labels or ()))
    if texts is None:
        return None
    learned = texts[0] == texts[1]
    basis = f"{pluralise(total, 'label')} that their neighbours contradict"
    count = int(learned.sum())
    if compute_wilson_interval(count, total)[0] <= MIN_LEARNED_SHARE:
        return basis, []
    probe_count, flip_count = _count_flips(context, budget, reference, chosen[learned], neighbours)
    if not probe_count or compute_wilson_interval(flip_count, probe_count)[0] <= MIN_LEARNED_SHARE:
        return basis, []
    all_rows = int(usable.sum())
    row = int(rows[learned][0])
    case = extract_case(context.inputs.take([row]), 0)
    answer = int(answered[chosen[learned][0]])
    return basis, [
        Finding(
            **get_facts("memorisation.labels"),
            detail=f"{format_share(count, all_rows, 'row')} are answered as they are labelled, although their {NEIGHBOURS} nearest "
            f"rows and a quick model fitted without them contradict the label. That is {format_percent(count / total)} of all labels "
            "that are so contradicted. A little further, before the next row with another label, the answer has flipped back for "
            f"{format_percent(flip_count / probe_count)} of those tried. So it looks better on these rows than it is on new ones.",
            **count_rows(count, all_rows),
            examples=(
                Example(
                    text=f"{format_case(case)}: {format_answer(context.answers, answer)}, although "
                    f"{NEIGHBOURS - int(similar[chosen[learned][0]])} of the {NEIGHBOURS} nearest rows have another label",
                    case=case,
                    answer=to_plain_answer(context.answers, answer),
                    row=row if context.has_data else None,
                ),
            ),
        )
    ]


def _find_neighbours(points: Points) -> npt.NDArray[np.intp]:
    """Return the positions of the nearest rows of each row: numbers by their spread, categories as equal or not."""
    from sklearn.neighbors import NearestNeighbors

    parts = []
    for column, feature in enumerate(points.space.features):
        codes = points.codes[:, column]
        known = ~np.isnan(codes)
        if not known.any():
            continue
        if isinstance(feature, Text):
            parts.append(np.nan_to_num(describe_texts(feature, codes)))
        elif isinstance(feature, Categorical):
            values = np.unique(codes[known])
            parts.append((codes[:, None] == values) / np.sqrt(2.0))
        else:
            spread = float(codes[known].std())
            filled = np.where(known, codes, np.median(codes[known]))
            parts.append((filled / spread if spread > 0 else 0 * filled)[:, None])
    matrix = np.column_stack(parts) if parts else np.zeros((len(points), 1))
    search = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(matrix)
    return np.asarray(search.kneighbors(return_distance=False), dtype=np.intp)  # without the row itself


def _count_flips(
    context: CheckContext,
    budget: CheckBudget,
    reference: ReferenceModel,
    learned: npt.NDArray[np.intp],
    neighbours: npt.NDArray[np.intp],
) -> tuple[int, int]:
    """Return how many rows were tried, and for how many the answer flips before the nearest rows with another label."""
    limit = context.count_affordable(budget.remaining(0.5), MAX_PROBED_ROWS, runs_per_case=1 + PROBES_PER_ROW)
    learned = learned[:limit]
    # The nearest rows with another label: a row that its neighbours contradict has enough of them.
    contrary = reference.labels[neighbours[learned]] != reference.labels[learned][:, None]
    order = np.argsort(~contrary, axis=1, kind="stable")[:, :PROBES_PER_ROW]
    targets = np.take_along_axis(neighbours[learned], order, axis=1)
    starts = context.inputs.codes[reference.rows[learned]]
    probes = [
        _move_towards(context.space, starts, context.inputs.codes[reference.rows[targets[:, i]]])
        for i in range(PROBES_PER_ROW)
    ]
    points = Points(context.space, np.concatenate([starts, *probes]))
    outputs = run_flow(context, budget, ask(points))
    own = outputs.take(slice(0, len(learned)))
    flips = np.zeros(len(learned), dtype=bool)
    for i in range(PROBES_PER_ROW):
        probe = outputs.take(slice((i + 1) * len(learned), (i + 2) * len(learned)))
        flips |= own.ok & probe.ok & ~own.same(probe)
    return int(own.ok.sum()), int(flips.sum())


def _move_towards(
    space: Space, starts: npt.NDArray[np.float64], targets: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return points most of the way from the starts to the targets; whole numbers stay whole, categories are those of the targets."""
    codes = starts + PROBE_POSITION * (targets - starts)
    codes = np.where(np.isnan(codes), targets, codes)
    for column, feature in enumerate(space.features):
        if feature.kind == "integer":
            codes[:, column] = np.round(codes[:, column])
        elif not feature.numeric:
            codes[:, column] = targets[:, column]
    return codes


def _find_skip_reason(context: CheckContext) -> str:
    if not context.has_data:
        return "no data are given"
    if not context.has_numeric_answers and len(context.label_counts) > MAX_CLASSES:
        return "the answers are neither numbers nor a few classes"
    if context.unstable:
        return "answers do not repeat, so that differences between rows mean nothing"
    return ""


MEMORISATION = make_check("memorisation", check_memorisation, _find_skip_reason)
