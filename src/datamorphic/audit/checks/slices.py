"""Check whether the model is worse for a group of rows that one or two features describe."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..._stats import compute_wilson_interval
from ..._text import format_percent, format_rounded, pluralise
from ...core.result import Finding, Measure, count_rows, format_share
from ...reporting.document import Section, Table
from ..check import CheckBudget, CheckFindings, find_label_obstacle, get_facts, make_check
from ..conditions import RowCondition, build_conditions
from ..context import CheckContext
from ..judged_rows import JudgedRows, build_judged_example
from ..reference_model import MIN_REFERENCE_ROWS
from ..rivals import Rivals, collect_rivals, estimate_mean, get_explained_rows, mark_explained_rows

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

MIN_ROWS_FOR_SMALL_GROUPS = 500  # with fewer rows, groups of less than a tenth of them are missed
MIN_GROUP_ROWS = 20  # in each half of the rows
MIN_GROUP_SHARE = 0.01  # of each half
MAX_TESTED_GROUPS = 4  # per way of ranking them, on the half that was not used to find them
MAX_PAIR_SHARE = 0.95  # of the rows of either condition that satisfy both
PAIR_PENALTY = 1.0  # standard errors by which two conditions must be clearer than one
SIGNIFICANCE = 0.01  # of all tests together
MIN_DIFFERENCE = 0.05  # of the error rates inside and outside, at the lower end of the interval
MIN_NUMERIC_RATIO = 1.5  # of the mean errors of numbers inside and outside, for advice
MIN_NUMERIC_ERROR = 0.01  # of the standard deviation of the labels: smaller errors do not matter
MAX_QUICK_ERROR_RATIO = 2 / 3  # of the reference model's errors to the model's, where the data allow better
MAX_EXPLAINED_SHARE = 0.4  # of the errors of a group that a finding of an earlier check explains
MAX_CONCERNS = 3
# A group that is not mostly wrong is a concern only if it is special: there, the model is much worse than the quick model and
# than plain models that answer like it elsewhere. Outside the group, it is not much worse than the quick model.
MIN_EXCESS = 0.1  # of the error rate over the quick model's
MIN_EXCESS_AT_LOWER_END = 0.05
MIN_EXCESS_RATIO = 1.5
MIN_EXCESS_OVER_NEAREST_NEIGHBOUR = 0.03  # a model that knows rows by heart errs up to twice as often as the best one
MIN_NUMERIC_EXCESS_RATIO = 2.0
MIN_RATIO_TO_SIMILAR_MODELS = 1.25
MIN_EXCESS_OVER_SIMILAR_MODELS = 0.08  # of the error rate
MIN_LOST_ROWS = 8  # errors beyond the quick model's, at the lower end, in the half that was not used to find the group
MAX_OUTSIDE_RATIO = 1.5  # of the errors elsewhere to the quick model's
MAX_OUTSIDE_EXCESS = 0.03  # by which they may be larger besides; of the standard deviation of the labels for numbers
MAX_OUTSIDE_RATIO_IF_MOSTLY_WRONG = 2.0  # the same for a group that is mostly wrong: there may be several
MAX_OUTSIDE_EXCESS_IF_MOSTLY_WRONG = 0.1
MIN_NUMERIC_EXCESS = 0.15  # of the mean error over the quick model's, in standard deviations of the labels


@dataclass(frozen=True, eq=False, kw_only=True)
class _Group:
    """Rows that one or two conditions describe, and how much worse they are in the half that was not used to find them."""

    conditions: tuple[RowCondition, ...]
    inside: Mask
    p_value: float = 1.0  # of errors that are not larger than elsewhere; corrected for the number of tests
    excess_p_value: float = 1.0  # the same of the errors beyond those of the reference model

    @property
    def text(self) -> str:
        return " and ".join(condition.text for condition in self.conditions)


def check_slices(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Look for groups in one half of the rows, and test them on the other half."""
    rivals = collect_rivals(context, budget)
    if rivals is None:
        reason = f"fewer than {MIN_REFERENCE_ROWS} rows have an answer and a label that can be compared"
        return CheckFindings(basis=reason, conclusive=False, skip_reason="inapplicable")
    data = rivals.data
    first_half = np.random.default_rng([context.seed, 31]).permutation(len(data.rows)) < len(data.rows) // 2
    conditions = build_conditions(data.points, 2 * MIN_GROUP_ROWS, context.date_columns)
    excess = data.errors - data.reference_errors
    groups, looked_at = _find_groups(conditions, data.errors, first_half)
    excess_groups, looked_at_again = _find_groups(conditions, excess, first_half)
    groups = _test_groups([*excess_groups, *groups], data, ~first_half)
    basis = (
        f"{pluralise(max(looked_at, looked_at_again), 'group')} looked at on {pluralise(int(first_half.sum()), 'row')}, "
        f"{len(groups)} tested on {len(data.rows) - int(first_half.sum()):,} others"
    )
    findings: list[Finding] = []
    used = np.zeros(len(data.rows), dtype=bool)
    explained = get_explained_rows(context)[data.rows]  # by a finding of an earlier check
    groups = [group for group in groups if not _is_explained(group, data, explained)]
    for group in sorted(groups, key=lambda group: (group.excess_p_value, group.p_value)):
        finding = _judge_group(context, budget, group, rivals, ~first_half, used)
        if finding is not None and finding.level == "concern" and len(findings) < MAX_CONCERNS:
            findings.append(finding)
            used |= group.inside
            mark_explained_rows(context, data.rows[group.inside])
    if not findings:  # all data have groups that are hard: the clearest one is reported, if there is no concern
        hard = (
            _judge_group(context, budget, group, rivals, ~first_half, used)
            for group in sorted(groups, key=lambda g: g.p_value)
        )
        findings = [finding for finding in hard if finding is not None][:1]
    if findings:
        findings[0] = replace(findings[0], sections=(_build_section(groups, data, ~first_half),))
    elif len(data.rows) < min(MIN_ROWS_FOR_SMALL_GROUPS, len(context.inputs) // 2):
        return CheckFindings(basis=f"{basis}; there was no time for more", conclusive=False, skip_reason="budget spent")
    return CheckFindings(basis=basis, findings=findings)


def _is_explained(group: _Group, data: JudgedRows, explained: Mask) -> bool:
    """Tell whether most errors of a group have a cause that is reported already."""
    errors = data.errors[group.inside]
    return float(errors[explained[group.inside]].sum()) > MAX_EXPLAINED_SHARE * float(errors.sum())


# -- the groups --------------------------------------------------------------------------------------------------------


def _find_groups(conditions: Sequence[RowCondition], errors: Floats, half: Mask) -> tuple[list[_Group], int]:
    """Return the groups with the clearest errors in one half, and how many were looked at.

    Each group is sought among the rows that are in none of the groups before it.
    """
    groups: list[_Group] = []
    looked_at, remaining = 0, half.copy()
    while conditions and len(groups) < MAX_TESTED_GROUPS:
        clearness = _measure_clearness(conditions, errors, remaining)
        looked_at = looked_at or int(np.isfinite(clearness).sum())
        first, second = divmod(int(clearness.argmax()), len(conditions))
        if clearness[first, second] <= 0:
            break
        chosen = (conditions[first],) if first == second else (conditions[first], conditions[second])
        inside = np.logical_and.reduce([condition.inside for condition in chosen])
        groups.append(_Group(conditions=chosen, inside=inside))
        remaining &= ~inside
    return groups, looked_at


def _measure_clearness(conditions: Sequence[RowCondition], errors: Floats, rows: Mask) -> Floats:
    """Return by how many standard errors each pair of conditions (on the diagonal: one) has larger errors than all rows."""
    inside = np.column_stack([condition.inside[rows] for condition in conditions]).astype(np.float32)
    values = errors[rows]
    clearness = np.full((len(conditions), len(conditions)), -np.inf)
    if not len(values) or values.std() == 0:
        return clearness
    counts = (inside.T @ inside).astype(np.float64)
    sums = (inside.T @ (inside * (values - values.mean())[:, None].astype(np.float32))).astype(np.float64)
    least = max(MIN_GROUP_ROWS, MIN_GROUP_SHARE * len(values))
    sizes = np.diag(counts)
    is_pair = ~np.eye(len(conditions), dtype=bool)
    allowed = np.triu((counts >= least) & (counts <= len(values) - least))
    # Two conditions must leave out enough rows of each, or they are one.
    allowed &= ~is_pair | (counts <= MAX_PAIR_SHARE * np.minimum(sizes[:, None], sizes[None, :]))
    group_sizes = counts[allowed]
    deviations = values.std() * np.sqrt(group_sizes * (1 - group_sizes / len(values)))
    clearness[allowed] = sums[allowed] / deviations - PAIR_PENALTY * is_pair[allowed]
    return clearness


def _test_groups(groups: Sequence[_Group], data: JudgedRows, half: Mask) -> list[_Group]:
    """Return the groups with p-values from a half, corrected for the number of tests (Bonferroni)."""
    tests = max(1, 2 * len(groups))
    return [
        _Group(
            conditions=group.conditions,
            inside=group.inside,
            p_value=min(1.0, tests * _compare_inside(data, half & group.inside, half & ~group.inside)),
            excess_p_value=min(1.0, tests * _compare_excess(data, half & group.inside, half & ~group.inside)),
        )
        for group in groups
    ]


def _compare_inside(data: JudgedRows, inside: Mask, outside: Mask) -> float:
    """Return the p-value of errors that are not larger inside than outside."""
    from scipy.stats import fisher_exact, mannwhitneyu

    if min(inside.sum(), outside.sum()) < MIN_GROUP_ROWS:
        return 1.0
    if data.numeric:
        return float(mannwhitneyu(data.errors[inside], data.errors[outside], alternative="greater").pvalue)
    table = [[int((data.errors[part] == wrong).sum()) for wrong in (1, 0)] for part in (inside, outside)]
    return float(fisher_exact(table, alternative="greater")[1])


def _compare_excess(data: JudgedRows, inside: Mask, outside: Mask) -> float:
    """Return the p-value of errors beyond the reference model's that are not larger inside than outside.

    Comparing with the rows outside is fair to models that were fitted to these rows, and to weak models.
    """
    from scipy.stats import mannwhitneyu

    excess = data.errors - data.reference_errors
    if min(inside.sum(), outside.sum()) < MIN_GROUP_ROWS:
        return 1.0
    return float(mannwhitneyu(excess[inside], excess[outside], alternative="greater").pvalue)


# -- the findings ------------------------------------------------------------------------------------------------------


def _judge_group(
    context: CheckContext, budget: CheckBudget, group: _Group, rivals: Rivals, half: Mask, used: Mask
) -> Finding | None:
    """Return a finding if a group is significantly and noticeably worse, beyond groups that are reported already."""
    data = rivals.data
    if min(group.p_value, group.excess_p_value) > SIGNIFICANCE:
        return None
    inside, outside = half & group.inside & ~used, half & ~group.inside & ~used
    if used.any():  # what is left of the group is worse, too
        if 2 * inside.sum() < (half & group.inside).sum():
            return None
        p_values = _compare_inside(data, inside, outside), _compare_excess(data, inside, outside)
        group = replace(
            group, p_value=max(group.p_value, p_values[0]), excess_p_value=max(group.excess_p_value, p_values[1])
        )
    has_excess = (
        group.excess_p_value <= SIGNIFICANCE
        and not rivals.is_coarse
        and _is_worse_than_similar_models(context, budget, rivals, inside, outside)
    )
    losses = _measure_losses(rivals, inside, outside) if has_excess else None
    judge = _judge_numbers if data.numeric else _judge_classes
    return judge(context, group, rivals, inside, outside, losses, has_excess)


def _measure_losses(rivals: Rivals, inside: Mask, outside: Mask) -> Measure | None:
    """Return by how much the errors in a group exceed those of the quick model, if that matters and is not so elsewhere.

    The quick model is taken at its own decisions or at those that give each class as often as the model does, whichever are
    worse in the group: a model may prefer a class on purpose.
    """
    data = rivals.data
    errors = data.errors
    quick_errors = max((data.reference_errors, rivals.matched_errors), key=lambda values: float(values[inside].mean()))
    scale = float(data.numbers.std()) if data.numeric else 1.0
    excess = errors - quick_errors
    loss = estimate_mean(excess[inside])
    difference = loss.value - float(excess[outside].mean())
    low_difference = difference - math.hypot(
        loss.value - loss.low, 1.96 * float(excess[outside].std()) / math.sqrt(int(outside.sum()))
    )
    mean, quick_mean = float(errors[inside].mean()), float(quick_errors[inside].mean())
    mean_outside, quick_outside = float(errors[outside].mean()), float(quick_errors[outside].mean())
    least = MIN_NUMERIC_EXCESS if data.numeric else MIN_EXCESS
    matters = (
        loss.value >= least * scale
        and min(loss.low, low_difference) >= MIN_EXCESS_AT_LOWER_END * scale
        and mean >= _bound_honest_errors(quick_mean, len(rivals.classes))
        and mean_outside <= MAX_OUTSIDE_RATIO * quick_outside + MAX_OUTSIDE_EXCESS * scale
        and (data.numeric or loss.low * inside.sum() >= MIN_LOST_ROWS)
    )
    return loss if matters else None


def _bound_honest_errors(best: float, class_count: int) -> float:
    """Return the error of a group from which on it is not one of a model that knows rows by heart.

    Copying the label of the nearest row errs with at most R * (2 - R * M / (M - 1)), for the best error R and M classes (Cover &
    Hart 1967).
    """
    if not class_count:
        return MIN_NUMERIC_EXCESS_RATIO * best
    nearest = best * max(1.0, 2 - best * class_count / (class_count - 1))
    return max(MIN_EXCESS_RATIO * best, nearest + MIN_EXCESS_OVER_NEAREST_NEIGHBOUR)


def _is_worse_than_similar_models(
    context: CheckContext, budget: CheckBudget, rivals: Rivals, inside: Mask, outside: Mask
) -> bool:
    """Tell whether a model is worse in a group than plain models that answer like it elsewhere."""
    mean = float(rivals.data.errors[inside].mean())
    similar_means = [
        rivals.measure_mean_error(model, inside) for model in rivals.find_similar_models(context, budget, outside)
    ]
    least_excess = 0.0 if rivals.data.numeric else MIN_EXCESS_OVER_SIMILAR_MODELS
    return all(
        mean >= MIN_RATIO_TO_SIMILAR_MODELS * similar and mean - similar >= least_excess for similar in similar_means
    )


def _judge_classes(
    context: CheckContext,
    group: _Group,
    rivals: Rivals,
    inside: Mask,
    outside: Mask,
    losses: Measure | None,
    has_excess: bool,
) -> Finding | None:
    data = rivals.data
    wrong, total = int(data.errors[inside].sum()), int(inside.sum())
    wrong_outside, total_outside = int(data.errors[outside].sum()), int(outside.sum())
    reference_wrong = int(data.reference_errors[inside].sum())
    low, high = _compute_difference_interval(wrong, total, wrong_outside, total_outside)
    is_worse = group.p_value <= SIGNIFICANCE and low >= MIN_DIFFERENCE
    if not is_worse and losses is None:
        return None
    # It is more often wrong than right there, and the data allow better.
    quick_outside = float(data.reference_errors[outside].mean())
    most_outside = MAX_OUTSIDE_EXCESS_IF_MOSTLY_WRONG + MAX_OUTSIDE_RATIO_IF_MOSTLY_WRONG * quick_outside
    # a model that is better than the quick one elsewhere is expected to be so here, such as on rows that it was fitted to
    ratio = min(1.0, float(data.errors[outside].mean()) / quick_outside) if quick_outside else 1.0
    lost = estimate_mean((data.errors - ratio * data.reference_errors)[inside])
    is_mostly_wrong = (
        is_worse
        and has_excess
        and lost.low * total >= MIN_LOST_ROWS
        and wrong > total / 2
        and wrong_outside <= most_outside * total_outside
        and reference_wrong <= MAX_QUICK_ERROR_RATIO * wrong
    )
    is_concern = is_mostly_wrong or losses is not None
    title = f"The model is wrong more often where {group.text}"
    if is_mostly_wrong:
        title = f"The model is mostly wrong where {group.text}"
    elif losses is not None:
        title = f"The model is wrong far more often than the data require where {group.text}"
    difference = wrong / total - wrong_outside / total_outside
    detail = (
        f"In this group, {format_share(wrong, total, 'row')} get an answer other than their label, elsewhere "
        f"{format_percent(wrong_outside / total_outside)}: {100 * abs(difference):.3g} percentage points "
        f"{'more' if difference >= 0 else 'fewer'} ({100 * low:.3g} to {100 * high:.3g}). A quick model fitted to other rows is wrong "
        f"for {format_percent(reference_wrong / total)} there"
    )
    if losses is not None:
        quick_outside = float(data.reference_errors[outside].mean())
        detail += (
            f", and for {format_percent(quick_outside)} elsewhere: about {losses.value * total:.0f} of these wrong answers "
            f"are avoidable ({losses.low * total:.0f} to {losses.high * total:.0f}), as no plain model that otherwise answers like this "
            "one gives them"
        )
    detail += ". The group was found on one half of the rows and tested on the other."
    return _build_finding(context, group, data, inside, title, detail, is_concern, wrong, total)


def _format_error(error: float) -> str:
    return format_rounded(error)


def _judge_numbers(
    context: CheckContext,
    group: _Group,
    rivals: Rivals,
    inside: Mask,
    outside: Mask,
    losses: Measure | None,
    has_excess: bool,
) -> Finding | None:
    data = rivals.data
    errors, errors_outside = data.errors[inside], data.errors[outside]
    mean, mean_outside = float(errors.mean()), float(errors_outside.mean())
    reference_mean = float(data.reference_errors[inside].mean())
    margin = 1.96 * math.sqrt(errors.var() / len(errors) + errors_outside.var() / len(errors_outside))
    is_worse = group.p_value <= SIGNIFICANCE and mean - margin >= max(
        MIN_NUMERIC_RATIO * mean_outside, MIN_NUMERIC_ERROR * float(data.numbers.std())
    )
    if not is_worse and losses is None:
        return None
    # The median of the labels of the group is an answer that needs no model.
    constant_mean = float(np.abs(data.numbers[inside] - np.median(data.numbers[inside])).mean())
    most_outside = MAX_OUTSIDE_EXCESS_IF_MOSTLY_WRONG * float(
        data.numbers.std()
    ) + MAX_OUTSIDE_RATIO_IF_MOSTLY_WRONG * float(data.reference_errors[outside].mean())
    is_useless = (
        is_worse
        and mean_outside <= most_outside
        and has_excess
        and mean - margin > constant_mean
        and reference_mean <= MAX_QUICK_ERROR_RATIO * mean
    )
    # Where a quantity is large, honest models may be far off; a kind of rows is another matter.
    is_kind = any(not condition.is_threshold for condition in group.conditions)
    is_concern = losses is not None and (is_useless or is_kind)
    large = int((errors > np.quantile(data.errors, 0.9)).sum())
    title = f"The model's errors are {'far ' if is_concern else ''}larger where {group.text}"
    if is_concern and not is_useless:
        title = f"The model's errors are far larger than the data require where {group.text}"
    difference = mean - mean_outside
    detail = (
        f"The mean error in this group is {_format_error(mean)}, elsewhere {_format_error(mean_outside)}: "
        f"{_format_error(abs(difference))} {'more' if difference >= 0 else 'less'} "
        f"({_format_error(difference - margin)} to {_format_error(difference + margin)}). {format_share(large, len(errors), 'row')} have "
        f"an error among the largest tenth of all errors. A quick model fitted to other rows has a mean error of "
        f"{_format_error(reference_mean)} there"
    )
    if losses is not None:
        quick_outside = float(data.reference_errors[outside].mean())
        detail += (
            f", and of {_format_error(quick_outside)} elsewhere; no plain model that otherwise answers like this one is as far off "
            "in the group"
        )
    detail += ". The group was found on one half of the rows and tested on the other."
    return _build_finding(context, group, data, inside, title, detail, is_concern, large, len(errors))


def _build_finding(
    context: CheckContext,
    group: _Group,
    data: JudgedRows,
    inside: Mask,
    title: str,
    detail: str,
    is_concern: bool,
    count: int,
    total: int,
) -> Finding:
    features = ", ".join(dict.fromkeys(data.points.space.names[condition.feature] for condition in group.conditions))
    if is_concern:
        remedy = (
            "The data allow better here. Look at how rows of this group are treated on the way to the model and after it "
            "(encoding, units, joins, rules), and compare their labels with the answers. Then train with more of them."
        )
    else:
        remedy = (
            "Tell users of the model that its answers are less reliable for this group, or send such rows to a person. More "
            "rows of the group, or features that tell them apart, may help."
        )
    return Finding(
        **get_facts("slices"),
        about=features,
        title=title,
        level="concern" if is_concern else "advice",
        detail=detail,
        remedy=remedy,
        **count_rows(count, total),
        columns=tuple(dict.fromkeys(data.points.space.names[condition.feature] for condition in group.conditions)),
        explained_rows=None if data.numeric else int((2 * data.errors[group.inside] - 1).sum()),
        examples=(build_judged_example(context, data, data.find_clearest_row(inside)),),
    )


def _compute_difference_interval(count: int, total: int, other_count: int, other_total: int) -> tuple[float, float]:
    """Return the 95% interval of the difference of two proportions (Newcombe 1998, method 10)."""
    share, other_share = count / total, other_count / other_total
    low, high = compute_wilson_interval(count, total)
    other_low, other_high = compute_wilson_interval(other_count, other_total)
    difference = share - other_share
    return (
        difference - math.hypot(share - low, other_high - other_share),
        difference + math.hypot(high - share, other_share - other_low),
    )


def _build_section(groups: Sequence[_Group], data: JudgedRows, half: Mask) -> Section:
    rows = []
    for group in {group.text: group for group in sorted(groups, key=lambda group: group.p_value)}.values():
        inside, outside = half & group.inside, half & ~group.inside
        means = [
            float(errors[part].mean()) if part.any() else 0.0
            for errors, part in ((data.errors, inside), (data.errors, outside), (data.reference_errors, inside))
        ]
        cells = [f"{mean:.3g}" if data.numeric else format_percent(mean) for mean in means]
        rows.append([group.text, f"{int(inside.sum()):,}", *cells, f"{group.p_value:.2g}"])
    return Section(
        heading="Groups in which the model seemed worse",
        text="They were found on one half of the rows. The table shows the other half. The p-value is the probability "
        "of such a difference if the group were like the other rows, corrected for the number of groups tested.",
        table=Table(
            columns=["where", "rows", "error there", "error elsewhere", "quick model there", "p-value"],
            rows=rows,
            sortable=False,
        ),
    )


SLICES = make_check("slices", check_slices, find_label_obstacle)
