"""A credit report as a page, and as a verdict of one printed page for a model-risk officer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..._text import format_percent, join_names, pluralise
from ...core.result import Measure
from ...relations.algebra.change import ChangeRelation
from ...reporting.document import Axis, Drawing, Line, Page, Scatter, Section, Shape, Table, TextLabel, Tile
from ...reporting.text import NO_VALUE_TEXT
from .judging import WRONGNESS_EDGES
from .model_result import ModelResult, ViolationShare
from .result import CreditReport
from .roc_drawing import draw_roc
from .terms import (
    DIRECTION_PROMISES,
    VERDICT_STATES,
    RelationVerdict,
    count_kept,
    describe_case,
    describe_changes,
    describe_price,
    describe_relation,
    describe_share,
    describe_shortage,
    format_per_thousand,
    format_percentage_points,
    judge_share,
)

MAX_VERDICT_MODELS = 7  # rows of the comparison on one page
MAX_VERDICT_RELATIONS = 8
LONG_TABLE_WORDS = {"USE": "selected", "acceptable": ""}  # for the words of the comparison
MIN_LINE_SIZES = 3  # of a family, to draw violations by size
BAR_WIDTH, BAR_HEIGHT, BAR_GAP, BAR_LEFT = 420.0, 20.0, 8.0, 150.0


def build_page(report: CreditReport, one_page: bool = False, brief: bool = False) -> Page:
    """Build the page of a report; with `one_page`, the verdict alone; with `brief`, the short form for terminals."""
    shown_relations = report.relations[:MAX_VERDICT_RELATIONS] if one_page else report.relations
    sections = [
        _build_promises(report, shown_relations),
        *_build_example(report),
        _build_comparison(report),
        *_build_price(report),
    ]
    if not one_page and not brief:
        sections += [
            *_build_roc(report),
            _build_map(report),
            *_build_growth(report),
            _build_models(report),
            *_build_rejections(report),
            _build_violations(report),
            *_build_histogram(report),
            _build_worst_cases(report),
        ]
    return Page(
        title=f"Credit model{' verdict' if one_page else 's'}: {report.data}",
        lead="A lender expects that a better applicant is never given a higher risk. Every applicant was improved on paper, all "
        "else equal, and each model answered again.",
        verdict=format_verdict(report),
        state="good" if report.passed else "warn" if report.usable else "bad",
        facts=[] if one_page else [("Data", _format_basis(report)), *(("Note", note) for note in report.notes)],
        tiles=_build_tiles(report),
        contents=not one_page,
        sections=sections if brief else [*sections, _build_method(report)],
        compact=one_page,
    )


def _build_tiles(report: CreditReport) -> list[Tile]:
    model = _find_main_model(report)
    kept_count, tested_count = count_kept(model)
    share, is_decided = model.worst_share.value, model.name not in report.undecided
    tiles = [
        Tile(
            label=f"of {pluralise(tested_count, 'expectation')} kept",
            value=str(kept_count),
            state="good"
            if kept_count == tested_count and is_decided
            else "warn"
            if model.name not in report.rejected
            else "bad",
        ),
        Tile(
            label="of 1,000 treated wrongly, at worst",
            value=format_per_thousand(share),
            state="good" if share == 0 and is_decided else "warn" if model.name not in report.rejected else "bad",
        ),
    ]
    if model.auc is not None:
        tiles.append(Tile(label="ranking power (AUC, of 100)", value=f"{100 * model.auc.value:.1f}"))
    if model.default_rate is not None:
        tiles.append(Tile(label="of 1,000 approved loans default", value=format_per_thousand(model.default_rate)))
    return tiles


# -- sentences ----------------------------------------------------------------------------------------------------------


def format_verdict(report: CreditReport) -> str:
    """Return the verdict in a few sentences; the first one says so if not everything was measured."""
    if report.complete:
        return _format_verdict(report)
    if report.out_of_budget or report.interrupted:
        cause = "the measurements were stopped" if report.interrupted else "the budget was spent"
        ending = f"{cause} before everything was measured"
    else:
        ending = f"{join_names(report.unfinished)} could not be measured in every repetition"
    return f"Incomplete: {ending}. So far: {_format_verdict(report)}"


def _format_verdict(report: CreditReport) -> str:
    choice = report.choice
    if not report.trained:
        return _format_given_verdict(report)
    if choice.selected is None:
        return (
            f"Do not use any of these {pluralise(len(report.models), 'model')}: each treats more than "
            f"{format_percent(report.threshold)} of applicants wrongly in some respect."
        )
    kept_count, tested_count = count_kept(report[choice.selected])
    all_kept = kept_count == tested_count
    keeps = f"It keeps {'all' if all_kept else f'{kept_count} of'} {pluralise(tested_count, 'expectation')}."
    if not all_kept:
        keeps = f"{keeps} The others stay within the limit of {format_percent(report.threshold)} of applicants."
    assert choice.auc_cost is not None
    assert choice.best is not None
    price = describe_price(choice.auc_cost, f"that of the best model, {choice.best}")
    if not choice.within_band:
        price = f"Every model that ranks as well as the best one was rejected. {price}"
    return f"Use {choice.selected}. {keeps} {price}"


def _format_given_verdict(report: CreditReport) -> str:
    rejections = report.rejected
    shortages = [describe_shortage(shortage, report.threshold) for shortage in report.undecided.values()]
    if shortages and report.selected is None:
        rejection_text = f" Rejected: {', '.join(rejections)}." if rejections else ""
        return f"{' '.join(shortages)}{rejection_text}"
    if len(report.models) == 1:
        model = report.models[0]
        if rejections:
            return f"Reject {model.name}: it is {_describe_rejection(report, model)}."
        kept_count, tested_count = count_kept(model)
        limit = ""
        if kept_count < tested_count:
            limit = f" The others stay within the limit of {format_percent(report.threshold)} of applicants."
        return f"Accept {model.name}: it keeps {kept_count} of {pluralise(tested_count, 'expectation')}.{limit}"
    if report.selected is None:
        return f"Reject all {pluralise(len(report.models), 'model')}: none keeps what is expected of it."
    rejection_text = f" Rejected: {', '.join(rejections)}." if rejections else ""
    cost = report.choice.auc_cost
    price = "" if cost is None else f" {describe_price(cost, f'that of the best model, {report.choice.best}')}"
    return " ".join([f"Use {report.selected}.{price}{rejection_text}", *shortages])


def _describe_rejection(report: CreditReport, model: ModelResult) -> str:
    """Return why a model is rejected."""
    rejection = report.choice.rejections[model.name]
    relation = next(relation for relation in report.relations if relation.name == rejection.relation)
    changes = describe_changes(relation)
    share = describe_share(model.shares[rejection.relation].strong)
    return f"wrong for {share} applicants after the change '{changes[0].lower()}{changes[1:]}'"


def _format_basis(report: CreditReport, *, with_cost: bool = True) -> str:
    """Return what the report is based on, and what it cost."""
    rate = "" if report.default_rate is None else f", of which {format_percent(report.default_rate)} defaulted"
    name = report.data if "." in report.data else f"{report.data[:1].upper()}{report.data[1:]}"
    parts = [f"{name}: {pluralise(report.loans, 'loan')}{rate}"]
    if report.trained:
        loans = pluralise(report.settings["test_loans"], "loan")
        repetitions = report.settings["repetitions"]
        where = f"tested on {loans} of later years" if report.later else f"{loans} held out"
        parts.append(f"{pluralise(repetitions, 'repetition')}, {where}{' in each' if repetitions > 1 else ''}")
    if with_cost:
        parts.append(f"{pluralise(report.answers, 'answer')} in {_format_seconds(report.seconds)}")
    return "; ".join(parts)


def _find_main_model(report: CreditReport) -> ModelResult:
    """Return the model that a report is about: the selected one, or else the one with the highest AUC, or the first."""
    return report[report.choice.selected or report.choice.best or report.models[0].name]


def _describe_signs(report: CreditReport, model: ModelResult) -> list[str]:
    """Return whether the weights of a linear model have the expected signs; nothing for other models."""
    wrong = model.count_wrong_signs(report.directions)
    if not wrong:
        return []
    columns = [column for column, count in wrong.items() if count]
    if columns:
        return [f"Its weights of {', '.join(columns)} have the wrong sign in some repetition."]
    return [f"Its weights of {', '.join(wrong)} have the right sign in every repetition."]


def _format_seconds(seconds: float) -> str:
    """Return a duration, with a decimal below ten seconds.

    Examples
    --------
    >>> [_format_seconds(seconds) for seconds in (0.04, 7.31, 104.2, 4210.0)]
    ['0.0 s', '7.3 s', '104 s', '70 min']
    """
    if seconds >= 600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


# -- the verdict -------------------------------------------------------------------------------------------------------


def _find_contrast(report: CreditReport) -> ModelResult | None:
    """Return a model to show beside the main one: the best rejected one, or else the best other one."""
    main = _find_main_model(report)
    others = [model for model in report.models if model.name != main.name]
    rejected_models = [model for model in others if model.name in report.rejected]
    return max(rejected_models or others, key=lambda model: 0.0 if model.auc is None else model.auc.value, default=None)


def _build_promises(report: CreditReport, relations: Sequence[ChangeRelation]) -> Section:
    main, contrast = _find_main_model(report), _find_contrast(report)
    strong = report.settings["strong"]
    models = [main] if contrast is None else [main, contrast]
    promises = {DIRECTION_PROMISES[relation.direction] for relation in relations}
    rows: list[list[str]] = []
    marked: list[tuple[int, int]] = []
    verdict_words = set()
    for relation in relations:
        row = [describe_changes(relation) if len(promises) == 1 else describe_relation(relation)]
        for model in models:
            verdict = judge_share(model.shares[relation.name], report.threshold, strong, is_given=not report.trained)
            verdict_words.add(verdict.word)
            if VERDICT_STATES[verdict.word] == "bad":
                marked.append((len(rows), len(row)))
            row.append(_shorten_verdict(verdict, model.shares[relation.name]))
        rows.append(row)
    left_out = len(report.relations) - len(relations)
    almost = " Almost kept: only smaller errors." if "ALMOST KEPT" in verdict_words else ""
    heading = f"Expected: {promises.pop()} with" if len(promises) == 1 else "Expected"
    return Section(
        heading="What a lender expects, and what the models do",
        text="All else equal, for each applicant. Wrong means that the estimated risk moved the wrong way by at least "
        f"{format_percentage_points(strong)}. A model is rejected if an expectation is wrong for more than "
        f"{format_per_thousand(report.threshold)} of 1,000 applicants. Numbers: applicants treated wrongly, of 1,000, and in "
        f"brackets the range of the true number, with 95% confidence.{almost}",
        table=Table(
            columns=[heading, *map(_name_in_table, models)],
            rows=rows,
            sortable=False,
            marked=marked,
            note=f"{left_out} more expectations are in the full report." if left_out else "",
        ),
    )


def _shorten_verdict(verdict: RelationVerdict, share: ViolationShare) -> str:
    """Return a verdict with the number of applicants that are treated wrongly, of 1,000."""
    if verdict.word not in ("BROKEN", "WITHIN LIMIT", "TOO FEW LOANS"):
        return verdict.word
    value, low, high = (
        format_per_thousand(number, exact=True) for number in (share.strong.value, share.strong.low, share.strong.high)
    )
    return f"{verdict.word}: {value} ({low} to {high})"


def _name_in_table(model: ModelResult) -> str:
    return f"{model.name[0].upper()}{model.name[1:]}"


def _build_example(report: CreditReport) -> list[Section]:
    """Return the worst case of the main model, or of a rejected one, as an example."""
    main, contrast = _find_main_model(report), _find_contrast(report)
    for model in filter(None, (main, contrast)):
        cases = [case for own_cases in model.worst_cases.values() for case in own_cases]
        strong_cases = [case for case in cases if case.wrongness >= report.settings["strong"]]
        if strong_cases:
            single = [case for case in strong_cases if len(case.changes) == 1] or strong_cases
            worst = max(single, key=lambda case: case.wrongness)
            return [Section(heading=f"An example: {model.name}", text=describe_case(worst))]
    return []


def _build_comparison(report: CreditReport) -> Section:
    models = _choose_compared_models(report)
    rows: list[list[str]] = []
    marked: list[tuple[int, int]] = []
    for number, model in enumerate(models):
        verdict = _choose_word(report, model)
        if verdict == "USE":
            marked += [(number, 0), (number, 4)]
        rows.append(
            [
                _name_in_table(model),
                _format_auc(model.auc),
                NO_VALUE_TEXT if model.default_rate is None else format_per_thousand(model.default_rate),
                format_per_thousand(model.worst_share.value),
                verdict,
            ]
        )
    approval = format_percent(report.settings["approval_rate"])
    left_out = len(report.models) - len(models)
    note = f"{left_out} more models were compared; the full report has them." if left_out else ""
    return Section(
        heading="The models compared",
        text=f"Ranking power (AUC): 50 is chance, 100 perfect. Defaults: if the {approval} of applicants with the lowest "
        "estimated risk are approved. Treated wrongly: for the expectation that is broken most often.",
        table=Table(
            columns=[
                "Model",
                "Ranking power (range)",
                "Defaults, of 1,000 approved",
                "Treated wrongly, of 1,000",
                "Verdict",
            ],
            rows=rows,
            marked=marked,
            sortable=False,
            note=note,
        ),
    )


def _choose_word(report: CreditReport, model: ModelResult) -> str:
    """Return the verdict on a model in one or two words."""
    if model.name in report.undecided:
        return "NO VERDICT"
    if model.name in report.choice.rejections:
        return "REJECTED"
    return "USE" if model.name == report.selected else "acceptable"


def _choose_compared_models(report: CreditReport) -> list[ModelResult]:
    """Return the selected, the best and each family's best model, ordered by ranking power."""

    def rank(model: ModelResult) -> float:
        return 0.0 if model.auc is None else model.auc.value

    names = [name for name in (report.choice.selected, report.choice.best) if name is not None]
    families: dict[str, ModelResult] = {}
    for model in report.models:
        best = families.get(model.rung.family)
        if best is None or rank(model) > rank(best):
            families[model.rung.family] = model
    largest = {model.rung.family: model for model in report.models}  # families are listed from small to large
    for model in [*families.values(), *(largest[name] for name in largest if "boosting" in name.lower())]:
        names.append(model.name)
    models = [report[name] for name in dict.fromkeys(names)][:MAX_VERDICT_MODELS]
    return sorted(models, key=rank, reverse=True)


def _format_auc(auc: Measure | None) -> str:
    return NO_VALUE_TEXT if auc is None else f"{100 * auc.value:.1f} ({100 * auc.low:.1f} to {100 * auc.high:.1f})"


def _build_price(report: CreditReport) -> list[Section]:
    if not report.mitigations:
        return []
    best = max(report.mitigations, key=lambda mitigation: report[mitigation.unconstrained].auc.value)  # type: ignore[union-attr]
    rates = ""
    if best.default_rate_before is not None and best.default_rate_after is not None:
        before, after = (format_per_thousand(rate) for rate in (best.default_rate_before, best.default_rate_after))
        rates = f" Of 1,000 approved loans, {before} default without and {after} with constraints."
    before_share, after_share = (
        format_per_thousand(report[name].worst_share.value) for name in (best.unconstrained, best.constrained)
    )
    price = describe_price(best.auc_price, "without constraints")
    return [
        Section(
            heading="What a repair costs",
            text=f"Monotone constraints forbid a model to move the wrong way. {best.unconstrained[0].upper()}"
            f"{best.unconstrained[1:]} treats {before_share} of 1,000 applicants wrongly without constraints, and "
            f"{after_share} with them. {price}{rates}",
        )
    ]


def _build_method(report: CreditReport) -> Section:
    settings = report.settings
    lines = [f"{_format_basis(report, with_cost=False)}."]
    if report.trained:
        share = format_percent(1 - settings["test_share"])
        lines.append(f"Each model was trained on {share} of the loans and tested on loans that it had not seen.")
        if settings["repeats"] > 1:
            lines.append(
                f"Defaults are rare, so each was used {settings['repeats']} times in training: estimated risks are higher than "
                "real ones."
            )
    lines.append(
        "Ranking power is the chance that a loan that defaults was given a higher risk than one that was repaid. Nothing is said "
        "about expectations that are not listed."
    )
    main = _find_main_model(report)
    return Section(
        heading="How this was measured", text=" ".join([*lines, *_describe_signs(report, main), *report.notes])
    )


# -- the full report ---------------------------------------------------------------------------------------------------


def _build_roc(report: CreditReport) -> list[Section]:
    """Return the ROC curves of the models compared; nothing if it is not known who defaulted."""
    curves = [(model, model.roc) for model in _choose_compared_models(report) if model.roc is not None]
    if not curves:
        return []
    return [
        Section(
            heading="ROC curves",
            text="Whoever refuses all applicants above some risk refuses defaulters, and also some who would have paid. A curve "
            "shows both shares for every limit: the further above the diagonal, the better. The AUC is the area below the "
            "curve. Curves are means over repetitions.",
            chart=draw_roc([(f"{model.name}: AUC {_format_estimate(model.auc)}", curve) for model, curve in curves]),
        )
    ]


def _build_map(report: CreditReport) -> Section:
    models = [model for model in report.models if model.auc is not None]
    return Section(
        heading="Ranking power against violations",
        text="Each point is a model. Best is at the lower right: high AUC, no violations.",
        picture=Scatter(
            title="AUC and share of strong violations over all relations",
            subtitle="",
            x_axis=Axis("AUC"),
            y_axis=Axis("strong violations, %"),
            x=[model.auc.value for model in models if model.auc is not None],
            y=[100 * model.strong_share.value for model in models],
            groups=[model.rung.family for model in models],
            notes=[f"{model.name}: {describe_share(model.strong_share)} treated wrongly" for model in models],
        )
        if models
        else None,
    )


def _build_growth(report: CreditReport) -> list[Section]:
    """Return how violations grow with the size of the models of a family."""
    sections = []
    for family in dict.fromkeys(model.rung.family for model in report.models):
        models = [model for model in report.models if model.rung.family == family]
        if len(models) < MIN_LINE_SIZES or not any(model.strong_share.value for model in models):
            continue
        sections.append(
            Section(
                heading=f"{family[0].upper()}{family[1:]}: violations by size",
                text="",
                picture=Line(
                    title="Share of strong violations over all relations",
                    x_label=models[0].rung.unit or "size",
                    y_label="strong violations, %",
                    values=[100 * model.strong_share.value for model in models],
                    bands=(),
                    notes=[f"{model.rung.size}, AUC {_format_auc(model.auc)}" for model in models],
                    steps=_locate_sizes(models),
                ),
                folding="open" if "boosting" in family.lower() else "closed",
            )
        )
    return sections


def _locate_sizes(models: Sequence[ModelResult]) -> list[float]:
    """Return the sizes as places on an axis, if they grow; otherwise the models are evenly spaced."""
    sizes = [model.rung.complexity for model in models]
    return sizes if all(small < large for small, large in pairwise(sizes)) else []


def _build_models(report: CreditReport) -> Section:
    rows = []
    for model in report.models:
        free, total = model.violation_free
        word = _choose_word(report, model)
        rows.append(
            [
                model.name,
                _format_estimate(model.auc),
                NO_VALUE_TEXT if model.gini is None else f"{model.gini.value:.3f}",
                _format_estimate(model.ks),
                _format_share(model.strong_share),
                f"{100 * model.weak_share.value:.2f}%",
                f"{free} of {total}",
                LONG_TABLE_WORDS.get(word, word.lower()),
            ]
        )
    return Section(
        heading="All models",
        text="Shares are over all relations together; in brackets, 95% intervals. The last but one column counts repetitions "
        "without any violation, strong or weak.",
        table=Table(
            columns=["model", "AUC", "Gini", "KS", "strong", "weak", "without violations", "verdict"], rows=rows
        ),
    )


def _build_rejections(report: CreditReport) -> list[Section]:
    rejections = [report.choice.rejections[name] for name in report.rejected]
    if not rejections:
        return []
    rows = [
        [rejection.model, rejection.relation, _describe_rejection(report, report[rejection.model])]
        for rejection in rejections
    ]
    return [
        Section(
            heading="Why models are rejected",
            text="The expectation that each of them breaks most often.",
            table=Table(columns=["model", "relation", "reason"], rows=rows),
            folding="closed",
        )
    ]


def _build_violations(report: CreditReport) -> Section:
    names = [relation.name for relation in report.relations]
    rows: list[list[str]] = []
    marked: list[tuple[int, int]] = []
    for model in report.models:
        row = [model.name]
        for name in names:
            share = model.shares[name]
            if share.strong.value > report.threshold:
                marked.append((len(rows), len(row)))
            row.append(f"{100 * share.strong.value:.2f} / {100 * share.weak.value:.2f}")
        rows.append(row)
    first = report.models[0].shares
    counts = "; ".join(
        f"{name}: {pluralise(share.clipped, 'case')} cut at the end of a range, {share.inapplicable:,} inapplicable"
        for name, share in first.items()
        if share.clipped or share.inapplicable
    )
    return Section(
        heading="Violations by relation",
        text="\n".join([f"• {relation.name}: {describe_relation(relation)}" for relation in report.relations]),
        table=Table(
            columns=["model", *names],
            rows=rows,
            marked=marked,
            caption="Strong / weak violations in percent of the applicants that the relation applies to",
            note=counts and f"Of {first[names[0]].cases:,} cases: {counts}.",
        ),
    )


def _build_histogram(report: CreditReport) -> list[Section]:
    """Return how large violations are, for the model with the most strong ones."""
    model = max(report.models, key=lambda model: model.strong_share.value)
    totals = [sum(bins) for bins in zip(*model.histogram.values(), strict=True)]
    if not any(totals):
        return []
    return [
        Section(
            heading="How wrong the violations are",
            text=f"Violations of {model.name} by size, all relations together. From "
            f"{format_percentage_points(report.settings['strong'])} on they are strong.",
            drawing=draw_histogram(totals),
        )
    ]


def draw_histogram(counts: Sequence[int]) -> Drawing:
    """Return bars of the number of violations by size, largest size on top."""
    points = [100 * edge for edge in WRONGNESS_EDGES[1:]]
    labels = [f"below {points[0]:g} points", *(f"{low:g} to {high:g} points" for low, high in pairwise(points))]
    shapes: list[Shape | TextLabel] = []
    most = max(*counts, 1)
    for place, (label, count) in enumerate(reversed(list(zip(labels, counts, strict=True)))):
        top = place * (BAR_HEIGHT + BAR_GAP) + 4
        width = BAR_WIDTH * count / most
        shapes.append(TextLabel(BAR_LEFT - 8, top + 15, label, "end small"))
        shapes.append(
            Shape(f"M{BAR_LEFT:g} {top:g}h{width:.1f}v{BAR_HEIGHT:g}h-{width:.1f}z", "bar", f"{label}: {count:,}")
        )
        shapes.append(TextLabel(BAR_LEFT + width + 6, top + 15, f"{count:,}", "small"))
    height = len(counts) * (BAR_HEIGHT + BAR_GAP) + 8
    listing = ", ".join(f"{label}: {count:,}" for label, count in zip(labels, counts, strict=True))
    return Drawing(width=BAR_LEFT + BAR_WIDTH + 70, height=height, shapes=shapes, alt=f"Violations by size: {listing}")


def _build_worst_cases(report: CreditReport) -> Section:
    rows = []
    for model in report.models:
        cases = [case for own_cases in model.worst_cases.values() for case in own_cases]
        if cases:
            worst = max(cases, key=lambda case: case.wrongness)
            rows.append([model.name, worst.relation, describe_case(worst), f"{100 * worst.wrongness:.2g}"])
    return Section(
        heading="The worst case of each model",
        text="" if rows else "No model broke a relation.",
        table=Table(columns=["model", "relation", "applicant", "wrong by, points"], rows=rows) if rows else None,
        folding="closed",
    )


def _format_estimate(estimate: Measure | None) -> str:
    return NO_VALUE_TEXT if estimate is None else f"{estimate.value:.3f} ({estimate.low:.3f}–{estimate.high:.3f})"


def _format_share(share: Measure) -> str:
    return f"{100 * share.value:.2f}% ({100 * share.low:.2f}–{100 * share.high:.2f})"
