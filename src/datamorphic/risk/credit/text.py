"""A credit report as text."""

from __future__ import annotations

from ..._text import format_percent, pluralize
from .measures import Estimate
from .model_result import ModelResult
from .result import CreditReport
from .terms import (
    count_kept,
    describe_changes,
    describe_price,
    describe_relation,
    describe_share,
    format_percentage_points,
    judge_share,
)

NAME_WIDTH = 46


def format_credit(report: CreditReport) -> str:
    """Return the verdict, a line per model, the promises of the selected model, and what constraints cost."""
    lines = [format_verdict(report), "", format_basis(report), ""]
    lines += [*_format_models(report), "", *_explain_columns(report)]
    model = find_main_model(report)
    lines += ["", f"How {model.name} meets the expectations:"]
    for relation in report.relations:
        verdict = judge_share(model.shares[relation.name], report.threshold, report.settings["strong"])
        detail = f"; {verdict.detail}" if verdict.detail else ""
        lines.append(f"  {verdict.word:<12} {relation.name}: {describe_relation(relation)}{detail}")
    lines += [f"  {line}" for line in describe_signs(report, model)]
    if report.mitigations:
        lines += ["", "Monotone constraints, and how they change the AUC (in points of 100, with 95% intervals):"]
        lines += [
            f"  {mitigation.unconstrained}: strong violations {format_percent(mitigation.strong_before.value)} without "
            f"constraints, {format_percent(mitigation.strong_after.value)} with; AUC {format_auc_change(mitigation.auc_price)}"
            for mitigation in report.mitigations
        ]
    return "\n".join([*lines, *(["", *report.notes] if report.notes else [])])


def format_verdict(report: CreditReport) -> str:
    """Return the verdict in a few sentences; the first one says so if not everything was measured."""
    if report.complete:
        return _format_verdict(report)
    cause = "the measurements were stopped" if report.interrupted else "the budget was spent"
    return f"Incomplete: {cause} before everything was measured. So far: {_format_verdict(report)}"


def _format_verdict(report: CreditReport) -> str:
    choice = report.choice
    if not report.trained:
        return _format_given_verdict(report)
    if choice.selected is None:
        return (
            f"Do not use any of these {pluralize(len(report.models), 'model')}: each treats more than "
            f"{format_percent(report.threshold)} of applicants wrongly in some respect."
        )
    kept_count, tested_count = count_kept(report[choice.selected])
    all_kept = kept_count == tested_count
    keeps = f"It keeps {'all' if all_kept else f'{kept_count} of'} {pluralize(tested_count, 'expectation')}."
    if not all_kept:
        keeps = f"{keeps} The others stay within the limit of {format_percent(report.threshold)} of applicants."
    assert choice.auc_cost is not None
    assert choice.best is not None
    price = describe_price(choice.auc_cost, f"that of the best model, {choice.best}")
    if not choice.within_band:
        price = f"Every model that ranks as well as the best one was rejected. {price}"
    return f"Use {choice.selected}. {keeps} {price}"


def _format_given_verdict(report: CreditReport) -> str:
    rejections = report.choice.rejections
    if len(report.models) == 1:
        model = report.models[0]
        if rejections:
            return f"Reject {model.name}: it is {describe_rejection(report, model)}."
        kept_count, tested_count = count_kept(model)
        limit = ""
        if kept_count < tested_count:
            limit = f" The others stay within the limit of {format_percent(report.threshold)} of applicants."
        return f"Accept {model.name}: it keeps {kept_count} of {pluralize(tested_count, 'expectation')}.{limit}"
    if report.selected is None:
        return f"Reject all {pluralize(len(report.models), 'model')}: none keeps what is expected of it."
    rejection_text = f" Rejected: {', '.join(rejections)}." if rejections else ""
    cost = report.choice.auc_cost
    price = "" if cost is None else f" {describe_price(cost, f'that of the best model, {report.choice.best}')}"
    return f"Use {report.selected}.{price}{rejection_text}"


def describe_rejection(report: CreditReport, model: ModelResult) -> str:
    """Return why a model is rejected."""
    rejection = report.choice.rejections[model.name]
    relation = next(relation for relation in report.relations if relation.name == rejection.relation)
    changes = describe_changes(relation)
    share = describe_share(model.shares[rejection.relation].strong)
    return f"wrong for {share} applicants after the change '{changes[0].lower()}{changes[1:]}'"


def format_basis(report: CreditReport, *, with_cost: bool = True) -> str:
    """Return what the report is based on, and what it cost."""
    rate = "" if report.default_rate is None else f", of which {format_percent(report.default_rate)} defaulted"
    name = report.data if "." in report.data else f"{report.data[:1].upper()}{report.data[1:]}"
    parts = [f"{name}: {pluralize(report.loans, 'loan')}{rate}"]
    if report.trained:
        loans = pluralize(report.settings["test_loans"], "loan")
        repetitions = report.settings["repetitions"]
        where = f"tested on {loans} of later years" if report.later else f"{loans} held out"
        parts.append(f"{pluralize(repetitions, 'repetition')}, {where}{' in each' if repetitions > 1 else ''}")
    if with_cost:
        parts.append(f"{pluralize(report.answers, 'answer')} in {format_seconds(report.seconds)}")
    return "; ".join(parts)


def find_main_model(report: CreditReport) -> ModelResult:
    """Return the model that a report is about: the selected one, or else the one with the highest AUC, or the first."""
    return report[report.choice.selected or report.choice.best or report.models[0].name]


def describe_signs(report: CreditReport, model: ModelResult) -> list[str]:
    """Return whether the weights of a linear model have the expected signs; nothing for other models."""
    wrong = model.count_wrong_signs(report.directions)
    if not wrong:
        return []
    columns = [column for column, count in wrong.items() if count]
    if columns:
        return [f"Its weights of {', '.join(columns)} have the wrong sign in some repetition."]
    return [f"Its weights of {', '.join(wrong)} have the right sign in every repetition."]


def _format_models(report: CreditReport) -> list[str]:
    lines = [
        f"{'':<{NAME_WIDTH}} {'AUC':>5} {'95% interval':>13} {'Gini':>6} {'KS':>6} {'strong':>7} {'weak':>7}  clean"
    ]
    for model in report.models:
        free, total = model.violation_free
        mark = "selected" if model.name == report.selected else ""
        mark = "rejected" if model.name in report.choice.rejections else mark
        figures = (
            f"{_format_figure(model.auc):>5} {_format_interval(model.auc):>13} {_format_figure(model.gini):>6} "
            f"{_format_figure(model.ks):>6} {100 * model.strong_share.value:>6.2f}% {100 * model.weak_share.value:>6.2f}%"
        )
        lines.append(f"{model.name:<{NAME_WIDTH}} {figures}  {free}/{total} {mark}".rstrip())
    return lines


def _format_figure(estimate: Estimate | None) -> str:
    return "-" if estimate is None else f"{estimate.value:.3f}"


def _format_interval(estimate: Estimate | None) -> str:
    return "-" if estimate is None else f"{estimate.low:.3f}-{estimate.high:.3f}"


def _explain_columns(report: CreditReport) -> list[str]:
    size = format_percentage_points(report.settings["strong"])
    return [
        f"strong: changed applicants whose risk moves the wrong way by at least {size}; weak: by less",
        "clean: repetitions without any violation",
    ]


def format_auc_change(price: Estimate) -> str:
    """Return how constraints change the AUC, in points, with the interval; `price` is the AUC that they cost.

    Examples
    --------
    >>> format_auc_change(Estimate(0.005, -0.024, 0.035))
    '-0.5 (-3.5 to +2.4)'
    """
    value, low, high = (f"{100 * number:+.1f}" for number in (-price.value, -price.high, -price.low))
    return f"{value} ({low} to {high})"


def format_seconds(seconds: float) -> str:
    """Return a duration, with a decimal below ten seconds.

    Examples
    --------
    >>> [format_seconds(seconds) for seconds in (0.04, 7.31, 104.2, 4210.0)]
    ['0.0 s', '7.3 s', '104 s', '70 min']
    """
    if seconds >= 600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
