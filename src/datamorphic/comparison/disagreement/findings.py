"""Findings about two systems that must be one: one per feature and kind of difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..._text import format_percent, format_short, join_names, pluralise
from ...core.result import LEVELS, Example, Finding, Level, Measure
from ...exploration.changes import format_value
from ...space.points import Points
from .cases import format_outcome, to_json_row, to_json_value
from .foreign import ForeignSite, FormSite
from .shrinking import Site, is_real
from .twins import PairedAnswers
from .values import FeatureGrid, count_decimals
from .walks import Search

CHECK = "disagreement"
SiteKind = Literal["missing", "category", "edge", "range", "precision", "ignored", "tie", "score precision"]
#: The width of a range, in sizes of its values, up to which double and single precision explain it.
DOUBLE_PRECISION = 1e-9
SINGLE_PRECISION = 1e-6
MIN_ROUNDED_SITES = 3  # ranges of one feature, from which rounding may be their common cause
MAX_ROUNDING_DECIMALS = 3
MIN_ROUNDED_SHARE = 0.9  # of the differences, which vanish where both get a rounded value
MIN_COMMON_FEATURES = 4  # the same kind of difference in so many features has one cause: the libraries differ
MAX_EXAMPLES = 3
MAX_SITES_IN_TITLE = 3
MAX_NAMES = 8

REMEDIES = {
    "given": "Compare the two step by step on the rows that differ: columns, types, preprocessing, model.",
    "missing": "Use the same default for missing values of {names} in both.",
    "category": "Compare the list of categories of {names} in both, and their order.",
    "edge": "Compare how both cut {names} there: `<` or `<=`, and float32 or float64.",
    "range": "Compare what both do with {names} in this range: clipping, bins, units, defaults.",
    "rounding": "Round {names} in both or in neither, to the same number of decimals.",
    "precision": "Compute in the same precision in both, or accept it: no value with the decimals of the data is concerned.",
    "score precision": "Compute in the same precision in both, or raise the tolerance.",
    "tie": "Decide by the same rule in both where two classes have the same score.",
    "unseen": "Treat unseen categories of {names} alike in both: refuse them, or use the same default.",
    "empty": "Treat an empty text in {names} alike in both: as missing, or as a category.",
    "spelling": "Remove spaces and change letters of {names} in both or in neither.",
    "fraction": "Refuse fractions in {names} in both, or round them in both.",
    "type": "Convert {names} to the same type in both before they are used.",
    "negative zero": "Replace -0.0 by 0.0 in {names} in both.",
    "column order": "Select the columns by name in both.",
    "row order": "Make the answer to a row independent of the other rows of the query in both.",
    "single rows": "Make the answer to a row independent of the other rows of the query in both.",
    "categories as texts": "Convert the type of columns of categories in both before they are used.",
    "texts as categories": "Convert the type of columns of texts in both before they are used.",
}
#: What is different about an input of this kind, after "the two differ".
FOREIGN_WORDS = {
    "missing": "where {names} is missing",
    "unseen": "where {names} has an unseen category",
    "empty": "where {names} is an empty text",
    "spelling": "where {names} is spelt with other spaces or letters",
    "fraction": "where {names}, a whole number in the data, has a fraction",
    "type": "where {names} has another type of number",
    "negative zero": "where {names} is -0.0",
}
FORM_WORDS = {
    "column order": "the columns come in another order",
    "row order": "the rows come in another order",
    "single rows": "rows are asked one by one",
    "categories as texts": "categories are sent as texts",
    "texts as categories": "texts are sent as categories",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Disagreement:
    """One case on which the two systems differ, as it is reported."""

    features: tuple[int, ...]  # the first is at fault
    kind: str
    level: Level
    example: Example
    given_rows: int  # that differ like this
    answers: PairedAnswers
    value_text: str = ""
    range_share: str = ""  # how many given rows have a value in the range
    site: Site | None = None


def build_findings(
    search: Search, sites: Sequence[Site], foreign_sites: Sequence[ForeignSite], form_sites: Sequence[FormSite]
) -> list[Finding]:
    """Return the findings of a search, worst first."""
    differences = [difference for site in sites if (difference := _describe_site(search, site)) is not None]
    differences = _join_rounding(search, differences)
    differences += [_describe_foreign_site(search, site) for site in foreign_sites]
    findings = [_build_finding(search, kind, group) for kind, group in _group(search, differences)]
    findings += [_build_form_finding(search, site) for site in form_sites]
    findings += _build_given_finding(search, differences)
    return sorted(findings, key=lambda finding: finding.rank)


# -- what a difference is ------------------------------------------------------------------------------------------


def classify(search: Search, site: Site) -> SiteKind:
    """Return the kind of a site by the width of its range and by what it takes to explain it."""
    if np.isnan(site.code):
        return "missing"
    feature = search.features[site.feature]
    if not site.is_one_value:
        size = max(abs(site.code), feature.width)
        is_narrow = site.high - site.low <= SINGLE_PRECISION * size
        is_plausible = is_narrow and feature.has_plausible_value(site.low, site.high)
        if is_narrow and not (is_plausible and site.real_gap):
            is_rounding = site.high - site.low <= DOUBLE_PRECISION * size or site.answers.ties.all()
            return "ignored" if is_rounding else "precision"
    if not site.real_gap:
        return "tie" if site.answers.ties.all() else "score precision"
    if site.is_one_value:
        return "category"
    return "edge" if site.is_narrow else "range"


def _judge_level(search: Search, site: Site, kind: SiteKind, given_rows: int) -> Level:
    if given_rows and site.real_gap:
        return "fault"
    feature = search.features[site.feature]
    is_far = kind in ("edge", "range") and (
        feature.is_far(max(site.low, min(site.high, feature.high)))
        or feature.is_far(min(site.high, max(site.low, feature.low)))
    )
    if kind in ("precision", "tie", "score precision") or site.answers.refused.all() or is_far:
        return "advice"
    return "fault"


def _describe_site(search: Search, site: Site) -> Disagreement | None:
    kind = classify(search, site)
    if kind == "ignored":
        return None
    feature = search.features[site.feature]
    given_rows = _count_given_rows(search, site)
    points = Points(search.points.space, site.codes[None, :])
    case = to_json_row(search.points.take(np.array([site.row])).frame)
    values = to_json_row(points.frame)
    names = [search.points.space.names[position] for position in site.changed]
    changed = {name: values[name] for name in names}
    range_share = ""
    total = len(search.points)
    if not site.is_one_value and not np.isnan(site.code):
        inside = feature.count_between(site.low, site.high)
        range_share = f"{inside:,} of {total:,} given rows ({format_percent(inside / total)}) have such a value"
    return Disagreement(
        features=(site.feature, *(position for position in site.changed if position != site.feature)),
        kind=kind,
        level=_judge_level(search, site, kind, given_rows),
        example=_build_example(site.row, case, changed, site.answers),
        given_rows=given_rows,
        answers=site.answers,
        value_text=_format_range(search, feature, site, kind),
        range_share=range_share,
        site=site,
    )


def _count_given_rows(search: Search, site: Site) -> int:
    differ = search.given_answers.differ
    if not differ.any():
        return 0
    values = search.points.codes[:, site.feature]
    inside = np.isnan(values) if np.isnan(site.code) else (values >= site.low) & (values <= site.high)
    return int((differ & inside).sum())


def _format_range(search: Search, feature: FeatureGrid, site: Site, kind: SiteKind) -> str:
    """Return the values of a site in words, such as "is 65" or "is above 100"."""
    space = search.points.space
    if np.isnan(site.code):
        return "is missing"
    value = format_value(space.decode_value(site.feature, site.code))
    if site.is_one_value or site.low == site.high or kind == "edge":
        return f"is {value}"
    open_low = site.low < feature.low - feature.width / 2  # beyond the data, where it ends says nothing
    open_high = site.high > feature.high + feature.width / 2
    low_text, high_text = _format_end(site.low, -1), _format_end(site.high, 1)
    if open_low and open_high:
        return f"is {value}, and for nearly all other values"
    if open_high:
        return f"is {low_text}"
    if open_low:
        return f"is {high_text}"
    return f"is {low_text} and {high_text}"


def _format_end(number: float, side: int) -> str:
    """Return the end of a range in words: below 19 rather than at most 18.999999999999996."""
    outer = float(np.nextafter(number, side * np.inf))
    if count_decimals(outer) < count_decimals(number):
        return f"{'below' if side > 0 else 'above'} {format_short(outer)}"
    return f"{'at most' if side > 0 else 'at least'} {format_short(number)}"


def _describe_foreign_site(search: Search, site: ForeignSite) -> Disagreement:
    name = search.points.space.names[site.feature]
    case = to_json_row(search.points.take(np.array([site.row])).frame)
    is_missing = site.kind == "missing"
    refused = bool(site.answers.refused.all())
    is_off_type = site.kind == "fraction"
    is_small = not refused and not _is_real_answer(search, site.answers)
    return Disagreement(
        features=(site.feature,),
        kind=site.kind,
        level="advice" if refused or is_off_type or is_small else "fault",
        example=_build_example(site.row, case, {name: None if is_missing else to_json_value(site.value)}, site.answers),
        given_rows=0,
        answers=site.answers,
        value_text=FOREIGN_WORDS[site.kind].format(names=name),
        range_share=_describe_foreign_share(search, site),
    )


def _describe_foreign_share(search: Search, site: ForeignSite) -> str:
    """Return how many rows differ with such a value, and whether the given rows have such values."""
    parts = []
    if not site.answers.refused.all():
        parts.append(f"{site.count:,} of {pluralise(site.tried, 'row')} that got such a value differ")
    if site.kind == "missing":
        missing = int(np.isnan(search.points.codes[:, site.feature]).sum())
        parts.append(f"the value is missing in {missing:,} of the {pluralise(len(search.points), 'given row')}")
    elif site.kind != "type":
        parts.append("no given row has such a value")
    return ", and ".join(parts)


def _is_real_answer(search: Search, answers: PairedAnswers) -> bool:
    return bool(is_real(search, answers).any())


def _build_example(row: int, case: dict[str, Any], changed: dict[str, Any], answers: PairedAnswers) -> Example:
    old, new = format_outcome(answers.old, 0), format_outcome(answers.new, 0)
    if old == new and answers.old.scores is not None and answers.new.scores is not None:
        place = int(np.nan_to_num(np.abs(answers.old.scores[0] - answers.new.scores[0])).argmax())
        scores = [f"{side.scores[0, place]:.7g}" for side in (answers.old, answers.new) if side.scores is not None]
        old, new = (f"{answer} with the score {score}" for answer, score in zip((old, new), scores, strict=True))
    parts = [
        f"{name} {'missing' if value is None else format_value(value)} instead of "
        f"{'missing' if case[name] is None else format_value(case[name])}"
        for name, value in changed.items()
    ]
    with_text = f" with {join_names(parts)}" if parts else ""
    return Example(
        text=f"row {row}{with_text}: old answers {old}, new answers {new}",
        case=case,
        answer=to_json_value(answers.old.to_objects()[0]),
        changed=changed,
        new_answer=to_json_value(answers.new.to_objects()[0]),
        row=row,
    )


# -- groups --------------------------------------------------------------------------------------------------------


def _join_rounding(search: Search, differences: list[Disagreement]) -> list[Disagreement]:
    """Give several ranges of one feature the kind "rounding" if they vanish where both systems get rounded values."""
    by_feature: dict[int, list[Disagreement]] = defaultdict(list)
    for difference in differences:
        if difference.kind in ("edge", "range") and difference.site is not None:
            by_feature[difference.features[0]].append(difference)
    replaced: dict[int, Disagreement] = {}
    for feature, group in by_feature.items():
        decimals = _find_rounding_decimals(search, feature, group)
        if decimals is None:
            continue
        words = "has decimals" if decimals == 0 else f"has more than {pluralise(decimals, 'decimal')}"
        level = min((difference.level for difference in group), key=LEVELS.index)
        for difference in group:
            replaced[id(difference)] = _copy(difference, kind="rounding", value_text=words, level=level)
    return [replaced.get(id(difference), difference) for difference in differences]


def _copy(difference: Disagreement, **changes: Any) -> Disagreement:
    names = difference.__dataclass_fields__
    return Disagreement(**{name: changes.get(name, getattr(difference, name)) for name in names})


def _find_rounding_decimals(search: Search, feature: int, group: list[Disagreement]) -> int | None:
    """Return the number of decimals up to which both systems agree; None if rounding is not the cause."""
    if search.features[feature].is_whole or len(group) < MIN_ROUNDED_SITES or search.twins.is_late():
        return None
    codes = np.concatenate(
        [cases.codes[cases.walked == feature] for cases, _ in search.disagreements]
        + [np.stack([difference.site.codes for difference in group if difference.site is not None])]
    )
    codes = codes[np.isfinite(codes[:, feature])][-500:]
    trials = []
    for decimals in range(MAX_ROUNDING_DECIMALS + 1):
        trial = codes.copy()
        trial[:, feature] = np.round(trial[:, feature], decimals)
        trials.append(trial)
    changes = [trial[:, feature] != codes[:, feature] for trial in trials]
    differ = search.twins.ask(Points(search.points.space, np.concatenate(trials))).differ.reshape(len(trials), -1)
    for decimals in reversed(range(len(trials))):
        if changes[decimals].mean() >= MIN_ROUNDED_SHARE and 1 - differ[decimals].mean() >= MIN_ROUNDED_SHARE:
            return decimals
    return None


def _group(search: Search, differences: Iterable[Disagreement]) -> list[tuple[str, list[Disagreement]]]:
    """Return the differences by feature and kind; a kind that most features share is one group."""
    by_key: dict[tuple[Any, ...], list[Disagreement]] = defaultdict(list)
    for difference in differences:
        refusal = _find_refusing_side(difference.answers)
        is_common = refusal >= 0 or difference.kind in ("precision", "score precision", "tie")
        feature = -1 if is_common else difference.features[0]
        by_key[(difference.kind, difference.level, refusal, feature)].append(difference)
    features_by_kind: dict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
    for key in by_key:
        features_by_kind[key[:3]].append(key)
    groups = []
    for (kind, *_), keys in features_by_kind.items():
        is_foreign = kind in FOREIGN_WORDS
        if is_foreign and len(keys) >= MIN_COMMON_FEATURES:
            groups.append((kind, [difference for key in keys for difference in by_key[key]]))
        else:
            groups += [(kind, by_key[key]) for key in keys]
    return groups


def _find_refusing_side(answers: PairedAnswers) -> int:
    """Return 0 if the old system refuses the case and the new one answers, 1 for the reverse, else -1."""
    if not answers.refused.all():
        return -1
    return 0 if not answers.old.ok.all() else 1


# -- texts ---------------------------------------------------------------------------------------------------------


def _build_finding(search: Search, kind: str, group: list[Disagreement]) -> Finding:
    names = list(dict.fromkeys(search.points.space.names[difference.features[0]] for difference in group))
    names_text = (
        join_names(names[:MAX_NAMES])
        if len(names) <= MAX_NAMES
        else (f"{', '.join(names[:MAX_NAMES])} and {pluralise(len(names) - MAX_NAMES, 'more feature')}")
    )
    order = sorted(group, key=lambda difference: (len(difference.features), -difference.answers.severity.max()))
    first = order[0]
    given_rows = max(difference.given_rows for difference in group)
    refusing_side = _find_refusing_side(first.answers)
    title = _write_title(kind, order, names, names_text, refusing_side)
    further = dict.fromkeys(
        search.points.space.names[place] for difference in group for place in difference.features[1:]
    )
    parts = [_capitalise(first.example.text) + "."]
    if first.site is not None and len(first.features) > 1:
        parts.append(f"It also needs the value of {join_names(list(further)[:MAX_NAMES])} in the example.")
    if (kind in FOREIGN_WORDS and first.site is None and first.range_share) or (
        first.range_share and kind in ("edge", "range")
    ):
        parts.append(_capitalise(first.range_share) + ".")
    if kind == "precision":
        parts.append(_describe_gaps(search, order))
    parts.append(_describe_rows(search, given_rows))
    if not first.answers.answers_differ.any() and not first.answers.refused.any():
        parts.append(f"The answers are equal; {search.twins.tolerance_text}.")
    return Finding(
        check=CHECK,
        about=names[0] if len(names) == 1 else "",
        title=title,
        level=min((difference.level for difference in group), key=LEVELS.index),
        confidence=1.0,
        detail=" ".join(parts),
        remedy=REMEDIES[kind].format(names=names_text),
        cases=len(group),
        cases_tried=0,
        examples=tuple(difference.example for difference in order[:MAX_EXAMPLES]),
        counted_in_detail=True,
        noun="place",
        sampled=False,
        columns=tuple(names),
        affected_rows=given_rows,
        rows=len(search.points),
        answer_changes=any(
            (difference.answers.answers_differ | difference.answers.refused).any() for difference in group
        ),
        effect=float(np.nanmax(first.answers.gaps)) if not np.isnan(first.answers.gaps).all() else None,
        inputs="given" if given_rows else "changed",
        cause=f"disagreement {kind} {names[0]}",
    )


def _write_title(kind: str, group: list[Disagreement], names: list[str], names_text: str, refusing_side: int) -> str:
    if kind in FOREIGN_WORDS and group[0].site is None:
        where = FOREIGN_WORDS[kind].format(names=names_text if len(names) == 1 else f"one of {names_text}")
    elif kind == "precision":
        where = f"only by rounding to single precision, at borders along {names_text}"
    elif kind == "score precision":
        where = f"by rounding of the scores, along {names_text}"
    elif kind == "tie":
        where = f"in how they decide ties, along {names_text}"
    else:
        texts = list(dict.fromkeys(difference.value_text for difference in group))
        more = f" (and {len(texts) - MAX_SITES_IN_TITLE} more)" if len(texts) > MAX_SITES_IN_TITLE else ""
        where = f"where {names[0]} {_join_values(texts[:MAX_SITES_IN_TITLE])}{more}"
    if refusing_side >= 0:
        sides = ("old", "new") if refusing_side == 0 else ("new", "old")
        return f"{sides[0].capitalize()} refuses and {sides[1]} answers {where}"
    return f"Old and new differ {where}"


def _join_values(texts: list[str]) -> str:
    """Return "is a", "is b" as "is a or b"."""
    if all(text.startswith("is ") for text in texts):
        return "is " + join_names([text.removeprefix("is ") for text in texts], "or")
    return join_names(texts, "or")


def _describe_gaps(search: Search, group: list[Disagreement]) -> str:
    sites = [difference.site for difference in group if difference.site is not None]
    widest = max(
        sites, key=lambda site: (site.high - site.low) / max(abs(site.code), search.features[site.feature].width)
    )
    name = search.points.space.names[widest.feature]
    inside = sum(search.features[site.feature].count_between(site.low, site.high) for site in sites)
    return (
        f"The widest gap is {widest.high - widest.low:.2g} of {name}, at {widest.code:.10g}; "
        f"{'no given value lies' if not inside else pluralise(inside, 'given value') + ' lie'} in such a gap."
    )


def _describe_rows(search: Search, count: int) -> str:
    share = Measure.from_counts(count, len(search.points))
    total = pluralise(len(search.points), "given row")
    if not count:
        return f"None of the {total} differs like this, so at most {format_percent(share.high)} of such rows do (95%)."
    value, low, high = map(format_percent, share)
    return f"{count:,} of the {total} differ like this ({value}, {low} to {high})."


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _build_form_finding(search: Search, site: FormSite) -> Finding:
    words = FORM_WORDS[site.kind]
    side = ("old", "new")[site.changed_side]
    case = to_json_row(search.points.take(np.array([site.row])).frame)
    example = _build_example(site.row, case, {}, site.answers)
    is_form_of_interface = site.kind == "column order" or bool(site.answers.refused.all())
    return Finding(
        check=CHECK,
        about="",
        title=f"Old and new differ if {words}: the answers of {side} change",
        level="advice" if is_form_of_interface else "fault",
        confidence=1.0,
        detail=f"{_capitalise(example.text)}. {site.count:,} of {pluralise(site.tried, 'given row')} differ in this form, although "
        "both answer them alike in their own form.",
        remedy=REMEDIES[site.kind],
        cases=site.count,
        cases_tried=site.tried,
        examples=(example,),
        counted_in_detail=True,
        noun="row",
        inputs="changed",
        cause=f"disagreement {site.kind}",
    )


def _build_given_finding(search: Search, differences: Sequence[Disagreement]) -> list[Finding]:
    """Return a finding about given rows that differ, unless findings about features explain them."""
    differ = search.given_answers.differ
    count = int(differ.sum())
    explained = np.zeros(len(differ), dtype=bool)
    for difference in differences:
        site = difference.site
        if site is None or not difference.given_rows:
            continue
        values = search.points.codes[:, site.feature]
        explained |= np.isnan(values) if np.isnan(site.code) else (values >= site.low) & (values <= site.high)
    rest = differ & ~explained
    if not rest.any():
        return []
    row = int(np.where(rest, search.given_answers.severity, 0.0).argmax())
    answers = search.given_answers.take(np.array([row]))
    case = to_json_row(search.points.take(np.array([row])).frame)
    is_small = not any(
        _is_real_answer(search, search.given_answers.take(np.array([place]))) for place in np.flatnonzero(rest)[:100]
    )
    is_small &= not search.given_answers.answers_differ[rest].any() or search.twins.numeric
    what = "answers" if (search.given_answers.answers_differ | search.given_answers.refused)[rest].any() else "scores"
    example = _build_example(row, case, {}, answers)
    return [
        Finding(
            check=CHECK,
            about="",
            title=f"The {what} to {pluralise(int(rest.sum()), 'given row')} differ",
            level="advice" if is_small else "fault",
            confidence=1.0,
            detail=f"{_capitalise(example.text)}. {_describe_rows(search, count)} {_capitalise(search.twins.tolerance_text)}.",
            remedy=REMEDIES["score precision" if is_small else "given"],
            cases=int(rest.sum()),
            cases_tried=len(differ),
            examples=(example,),
            counted_in_detail=True,
            noun="row",
            affected_rows=int(rest.sum()),
            rows=len(differ),
            answer_changes=what == "answers",
            inputs="given",
            cause="disagreement given",
        )
    ]
