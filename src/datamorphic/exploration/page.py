"""A front as a report: what was found, where, how good it is, and what to look at."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import format_short, pluralize
from ..reporting.document import Page, Section, Table
from ..space.features import Codes
from ._utils import format_answers, format_changes
from .plot import build_scatter
from .text import collect_remarks, format_front

if TYPE_CHECKING:
    from .front import Front

MAX_BORDERS = 30
MAX_FEATURES = 20
MAX_EXAMPLE_PAIRS = 12
MAX_INCIDENTS = 10


def build_front_page(front: Front) -> Page:
    """Return a front as a page of findings.

    Examples
    --------
    >>> import datamorphic as dm
    >>> front = dm.explore(dm.subjects["Box 1"], strategy="random_target", walks=100, seeds=50)
    >>> build_front_page(front).title
    'Where the answers of Box 1 change'
    """
    sections = [
        _build_overview(front),
        Section(heading="The border in a picture", text=_explain_picture(front), picture=build_scatter(front)),
    ]
    if len(front):
        sections += [_build_class_pairs(front), build_plausible_pairs(front), build_deciding_features(front)]
    sections += [_build_quality(front), *_build_incidents(front)]
    return Page(
        title=f"Where the answers of {front.subject} change",
        lead="Each pair is two nearly equal inputs that get different answers: between them runs a border of the system. "
        "Nobody had to know a right answer to find them; whether a border lies where it should is for you to judge.",
        sections=sections,
    )


def _build_overview(front: Front) -> Section:
    walks = f"{pluralize(front.walks, 'walk')} ({front.strategy.replace('_', ' ')})"
    head = (
        f"{pluralize(len(front), 'border pair')} from {walks}" if len(front) else f"No border was found by {walks}"
    )
    notes = collect_remarks(front)
    bullets = [f"• {line}" for line in format_front(front)[1:] if line not in notes]
    note_lines = ["", "Worth knowing:", *(f"• {note}" for note in notes)] if notes else []
    return Section(heading=head, text="\n".join(bullets + note_lines), state="plain" if len(front) else "bad")


def _explain_picture(front: Front) -> str:
    if not len(front):
        return "There is nothing to draw but the inputs the walks started from."
    return "Each coloured point is a pair; its colour says which two answers meet there. Grey: real inputs."


def _build_class_pairs(front: Front) -> Section:
    counts = front.border_counts
    gaps, distances = np.asarray(front.distance), front.plausibility
    kinds = np.array(front.borders, dtype=object)
    rows = [
        [kind, f"{count:,}", f"{count / len(front):.1%}", _format_number(np.median(gaps[kinds == kind])),
         _format_number(_compute_median(distances[kinds == kind]))]
        for kind, count in counts.head(MAX_BORDERS).items()
    ]  # fmt: skip
    omission = f" The {len(counts) - MAX_BORDERS} rarest are left out." if len(counts) > MAX_BORDERS else ""
    return Section(
        heading=f"{pluralize(len(counts), 'pair')} of classes meet{'s' if len(counts) == 1 else ''}",
        text="Borders between classes that nobody would confuse are worth a look, however rare. Far from real inputs a "
        f"border matters less; how far is told in parts of the features' ranges, the median of all pairs.{omission}",
        table=Table(columns=["border", "pairs", "share", "gap of the two cases", "from a real input"], rows=rows),
    )


def build_plausible_pairs(front: Front) -> Section:
    """The most plausible pairs of each border in turn, so that the most common one does not take all places."""
    import pandas as pd

    order = np.argsort(front.plausibility, kind="stable")
    scale = np.array([feature.scale for feature in front.space.features])
    places = pd.DataFrame(np.round(front.a.codes[order] * scale, 2))  # nearer than that, two pairs look the same
    kinds = pd.Series([front.borders[row] for row in order])
    order = order[~places.assign(kind=kinds).duplicated().to_numpy()]
    kinds = pd.Series([front.borders[row] for row in order])
    turn = kinds.groupby(kinds).cumcount()
    chosen_rows = order[np.argsort(turn.to_numpy(), kind="stable")][:MAX_EXAMPLE_PAIRS]
    ends = zip(
        chosen_rows.tolist(),
        format_answers(front.a_output[chosen_rows]),
        format_answers(front.b_output[chosen_rows]),
        format_changes(front.a.take(chosen_rows), front.b.take(chosen_rows), 6),
        strict=True,
    )
    rows = [[row, a, b, change, _format_number(front.plausibility[row])] for row, a, b, change in ends]
    return Section(
        heading="The most plausible pairs",
        text="Of each border in turn, the pairs nearest to a real input, with what changes between the two: everything "
        "else is equal. Pairs are numbered from 0, as in the file of a saved front.",
        table=Table(columns=["pair", "answer", "becomes", "when", "from a real input"], rows=rows),
    )


def build_deciding_features(front: Front) -> Section:
    """Return which features decide at the border."""
    table = front.deciding()
    decides_known = table["decides"].notna().all()
    top_features = table[table["differs"] > 0].head(MAX_FEATURES)
    never = [format_short(name) for name in table.loc[table["differs"] == 0, "feature"]]
    never_note = f" Never: {', '.join(never[:10])}{', ...' if len(never) > 10 else ''}." if never else ""
    rows = [
        [
            row.feature,
            *([f"{row.decides:.1%}"] if decides_known else []),
            f"{row.differs:.1%}",
            f"{row.share:.1%}",
        ]
        for row in top_features.itertuples()
    ]
    columns = ["feature", *(["decides at"] if decides_known else []), "differs in", "share of the distance"]
    differs = f"In how many pairs the two inputs differ in a feature, and its share of their distance.{never_note}"
    if not decides_known:
        text = f"{differs} What decides could not be asked: the system is not at hand."
        return Section(
            heading=f"In which features the two inputs differ: {rows[0][0]} most",
            text=text,
            table=Table(columns=columns, rows=rows),
        )
    text = f"A feature decides where giving it alone its old value back brings the old answer back. {differs}"
    return Section(
        heading=f"Which features decide: {rows[0][0]} most of all",
        text=text,
        table=Table(columns=columns, rows=rows),
    )


def _build_quality(front: Front) -> Section:
    rows = [
        [name, _format_number(row["value"]), _format_number(row["per_1000_calls"]), row["meaning"]]
        for name, row in front.quality().iterrows()
    ]
    return Section(
        heading="How good the search was",
        text=f"{pluralize(front.calls, 'call')} of the system for {pluralize(front.mutants, 'new test case')}.",
        table=Table(columns=["measure", "value", "per 1,000 calls", "meaning"], rows=rows),
    )


def _build_incidents(front: Front) -> list[Section]:
    """The inputs that got no proper answer, if there were any."""
    incidents = front.incidents
    if incidents is None or not len(incidents):
        return []
    first_incidents = incidents.head(MAX_INCIDENTS)
    rows = [[format_short(value) for value in row] for row in first_incidents.itertuples(index=False)]
    return [
        Section(
            heading=f"{pluralize(len(incidents), 'input')} got no proper answer",
            text="The first of them.",
            state="bad",
            table=Table(columns=[str(name) for name in first_incidents.columns], rows=rows),
        )
    ]


def _compute_median(values: Codes) -> float:
    known_values = values[~np.isnan(values)]
    return float(np.median(known_values)) if known_values.size else math.nan


def _format_number(value: Any) -> str:
    value = float(value)
    return "–" if math.isnan(value) else f"{value:.3g}"
