"""Inputs that the space does not have: missing and unseen values, other spellings, other types, other forms of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ...errors import OutOfBudget
from ...space.features import Categorical, Feature
from ...space.outputs import Outputs
from ...space.points import Points, Rows
from .twins import PairedAnswers
from .walks import Positions, Search

ForeignKind = Literal["missing", "unseen", "spelling", "empty", "fraction", "type", "negative zero"]
FormKind = Literal["column order", "row order", "single rows", "categories as texts", "texts as categories"]

PROBE_ROWS = 100  # per feature and kind of value
MAX_FEATURES = 60  # that are probed: images have more
SINGLE_ROWS = 6  # that are asked alone
FORM_ROWS = 200
UNSEEN_TEXT = "unseen category"


@dataclass(frozen=True, eq=False, kw_only=True)
class ForeignSite:
    """A value of one feature that is not in the space, for which two systems differ."""

    feature: int
    kind: ForeignKind
    value: Any  # of the example
    row: int  # the given row of the example
    answers: PairedAnswers  # to the example
    count: int  # rows of those tried for which they differ
    tried: int


@dataclass(frozen=True, eq=False, kw_only=True)
class FormSite:
    """A form of the query in which two systems differ, although they agree on the rows themselves."""

    kind: FormKind
    row: int
    answers: PairedAnswers
    count: int
    tried: int
    changed_side: int  # 0 if the form changes the answers of the old system, 1 for the new one


# -- values --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class ForeignProbe:
    """Foreign values of one kind in the place of one column, for some rows."""

    feature: int
    name: str
    kind: ForeignKind
    column: pd.Series[Any]
    places: npt.NDArray[np.intp]  # of the rows that are different from what they were

    def build_frame(self, frame: pd.DataFrame, count: int) -> pd.DataFrame:
        """Return the first rows of the probe."""
        places = self.places[:count]
        changed = frame.iloc[places].copy()
        changed[self.name] = self.column.iloc[places]
        return changed


def find_foreign_sites(search: Search) -> list[ForeignSite]:
    """Return the kinds of foreign values for which the two systems differ on rows where they agree otherwise."""
    rows = search.sample_agreeing(PROBE_ROWS)
    if not len(rows):
        return []
    frame = search.points.take(rows).frame
    probes = _list_probes(search, frame)
    first = _ask_probes(search, frame, probes, 1)
    refused = [
        probe for probe, answers in zip(probes, first, strict=True) if not (answers.old.ok & answers.new.ok).all()
    ]
    sites = [
        _build_site(probe, rows, frame, answers)
        for probe, answers in zip(probes, first, strict=True)
        if probe in refused and answers.refused.any()
    ]
    answered = [probe for probe in probes if probe not in refused]
    for probe, answers in zip(answered, _ask_probes(search, frame, answered, PROBE_ROWS), strict=True):
        if answers.differ.any() and not (probe.kind == "negative zero" and _differ_at_zero(search, rows, probe)):
            sites.append(_build_site(probe, rows, frame, answers))
    return sites


def _list_probes(search: Search, frame: pd.DataFrame) -> list[ForeignProbe]:
    space = search.points.space
    return [
        ForeignProbe(
            feature=position, name=space.names[position], kind=kind, column=column, places=np.flatnonzero(is_other)
        )
        for position in space.scalars[:MAX_FEATURES]
        for kind, column, is_other in list_foreign_columns(space.features[position], frame[space.names[position]])
        if is_other.any()
    ]


def _ask_probes(search: Search, frame: pd.DataFrame, probes: list[ForeignProbe], count: int) -> list[PairedAnswers]:
    """Return the answers to the first rows of each probe: those that keep the types of the columns in one query."""
    answers: dict[int, PairedAnswers] = {}
    common = [place for place, probe in enumerate(probes) if probe.column.dtype == frame[probe.name].dtype]
    groups = [common] if common else []
    groups += [[place] for place in range(len(probes)) if place not in set(common)]
    for group in groups:
        frames = [probes[place].build_frame(frame, count) for place in group]
        if search.twins.is_late():
            raise OutOfBudget("the time of the search is over")
        joined = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
        paired = search.twins.ask(Rows(joined))
        search.tried += len(joined)
        start = 0
        for place, part in zip(group, frames, strict=True):
            answers[place] = paired.take(np.arange(start, start + len(part)))
            start += len(part)
    return [answers[place] for place in range(len(probes))]


def _build_site(probe: ForeignProbe, rows: Positions, frame: pd.DataFrame, answers: PairedAnswers) -> ForeignSite:
    worst = int(answers.severity.argmax())
    return ForeignSite(
        feature=probe.feature,
        kind=probe.kind,
        value=probe.column.iloc[int(probe.places[worst])],
        row=int(rows[probe.places[worst]]),
        answers=answers.take(np.array([worst])),
        count=int(answers.differ.sum()),
        tried=len(answers),
    )


def _differ_at_zero(search: Search, rows: Positions, probe: ForeignProbe) -> bool:
    codes = search.points.codes[rows[probe.places]].copy()
    codes[:, probe.feature] = 0.0
    return bool(search.twins.ask(Points(search.points.space, codes)).differ.any())


def list_foreign_columns(
    feature: Feature, column: pd.Series[Any]
) -> Iterator[tuple[ForeignKind, pd.Series[Any], npt.NDArray[np.bool_]]]:
    """Yield columns of foreign values in the place of a column, and which rows of them are different from it."""
    every = np.ones(len(column), dtype=bool)
    known = column.notna().to_numpy()
    missing = column.where(np.zeros(len(column), dtype=bool))
    yield "missing", missing, known
    if isinstance(feature, Categorical):
        yield from _list_unknown_categories(feature, column)
    elif feature.kind == "text":
        texts = column.astype(object).fillna("")
        yield "empty", pd.Series([""] * len(column), index=column.index, dtype=object), every
        yield "spelling", texts.map(str.upper), known
    elif feature.kind == "integer":
        if pd.api.types.is_integer_dtype(column.dtype) and not column.isna().any():
            yield "type", column.astype(np.float64), known
            yield "fraction", column.astype(np.float64) + 0.5, known
    elif pd.api.types.is_float_dtype(column.dtype):
        yield "negative zero", pd.Series(np.full(len(column), -0.0), index=column.index), every
        whole = column.dropna().astype(np.float64)
        if len(whole) == len(column) and (whole % 1 == 0).all() and (whole.abs() < 2**31).all():
            yield "type", column.astype(np.int64), every


def _list_unknown_categories(
    feature: Categorical, column: pd.Series[Any]
) -> Iterator[tuple[ForeignKind, pd.Series[Any], npt.NDArray[np.bool_]]]:
    values = feature.values
    known = set(values)
    if all(isinstance(value, str) for value in values):
        unseen: Any = UNSEEN_TEXT
        yield "unseen", _replace_values(column, [unseen] * len(column)), np.ones(len(column), dtype=bool)
        if "" not in known:
            yield "empty", _replace_values(column, [""] * len(column)), np.ones(len(column), dtype=bool)
        for respell in RESPELLINGS:
            texts = [respell(value) if isinstance(value, str) else value for value in column.astype(object)]
            is_new = np.array([isinstance(text, str) and text not in known for text in texts], dtype=bool)
            yield "spelling", _replace_values(column, texts), is_new
    elif all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        unseen = max(values) + 1  # type: ignore[type-var, operator]
        yield "unseen", _replace_values(column, [unseen] * len(column)), np.ones(len(column), dtype=bool)


RESPELLINGS: tuple[Callable[[str], str], ...] = (str.upper, str.lower, lambda text: f" {text} ")


def _replace_values(column: pd.Series[Any], values: list[Any]) -> pd.Series[Any]:
    """Return a column with other values in the type of the column, which may need further categories."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        further = [value for value in dict.fromkeys(values) if value not in column.dtype.categories and value == value]
        dtype = pd.CategoricalDtype([*column.dtype.categories, *further], column.dtype.ordered)
        return pd.Series(values, index=column.index, dtype=dtype)
    return pd.Series(values, index=column.index, dtype=column.dtype)


# -- forms ---------------------------------------------------------------------------------------------------------


def find_form_sites(search: Search) -> list[FormSite]:
    """Return the forms of a query that change the answers of one of the systems only."""
    rows = search.sample_agreeing(FORM_ROWS)
    sites: list[FormSite] = []
    if not len(rows):
        return sites
    frame = search.points.take(rows).frame
    try:
        base = search.twins.ask(Rows(frame))
        for kind, form in _list_forms(frame):
            if search.twins.is_late():
                return sites
            answers = search.twins.ask(Rows(form))
            if kind == "row order":
                answers = answers.take(np.arange(len(frame))[::-1])
            sites += _judge_form(search, kind, rows, base, answers)
        single = [search.twins.ask(Rows(frame.iloc[[place]])) for place in range(min(SINGLE_ROWS, len(frame)))]
        answers = PairedAnswers.concat(single)
        sites += _judge_form(search, "single rows", rows[: len(answers)], base.take(np.arange(len(answers))), answers)
    except OutOfBudget:
        return sites
    return sites


def _list_forms(frame: pd.DataFrame) -> Iterator[tuple[FormKind, pd.DataFrame]]:
    if frame.shape[1] > 1:
        yield "column order", frame[frame.columns[::-1]]
    yield "row order", frame.iloc[::-1].reset_index(drop=True)
    categories = [name for name in frame.columns if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    texts = [
        name
        for name in frame.columns
        if name not in categories and frame[name].map(lambda value: isinstance(value, str)).all()
    ]
    if categories:
        yield "categories as texts", frame.astype(dict.fromkeys(categories, object))
    if texts:
        yield "texts as categories", frame.astype(dict.fromkeys(texts, "category"))


def _judge_form(
    search: Search, kind: FormKind, rows: Positions, base: PairedAnswers, answers: PairedAnswers
) -> list[FormSite]:
    """Return a site if the systems agree on some rows, and no longer agree on them in another form.

    A system may refuse a form that it does not know: that is better than a wrong answer.
    """
    differ = answers.differ & ~base.differ & ~answers.refused
    if not differ.any():
        return []
    worst = int(np.where(differ, answers.severity, 0.0).argmax())
    sides: list[tuple[Outputs, Outputs]] = [(base.old, answers.old), (base.new, answers.new)]
    changed = [int(search.twins.compare_one_side(before, after)[differ].sum()) for before, after in sides]
    return [
        FormSite(
            kind=kind,
            row=int(rows[worst]),
            answers=answers.take(np.array([worst])),
            count=int(differ.sum()),
            tried=len(answers),
            changed_side=int(changed[1] >= changed[0]),
        )
    ]
