"""A front as a report: what was found, where, how good it is, and what to look at."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import plural, short
from ..reports.summary import Report, Section, Table
from ..space.features import Codes
from .picture import scatter
from .reading import answers, changes
from .told import lines, remarks

if TYPE_CHECKING:
    from .front import Front

MOST_KINDS = 30
MOST_FEATURES = 20
MOST_EXAMPLES = 12
MOST_INCIDENTS = 10


def front_report(front: Front) -> Report:
    """Return a front as a page of findings.

    Examples
    --------
    >>> import datamorphic as dm
    >>> front = dm.explore(dm.subjects["Box 1"], strategy="random_target", walks=100, seeds=50)
    >>> front_report(front).title
    'Where the answers of Box 1 change'
    """
    sections = [_found(front), Section("The border in a picture", _how_to_read(front), picture=scatter(front))]
    if len(front):
        sections += [_class_pairs(front), plausible_pairs(front), deciding_features(front)]
    sections += [_quality(front), *_incidents(front)]
    return Report(
        f"Where the answers of {front.subject} change",
        "Each pair is two nearly equal inputs that get different answers: between them runs a border of the system. "
        "Nobody had to know a right answer to find them; whether a border lies where it should is for you to judge.",
        sections,
    )


def _found(front: Front) -> Section:
    walks = f"{plural(front.walks, 'walk')} ({front.strategy.replace('_', ' ')})"
    head = f"{plural(len(front), 'border pair')} from {walks}" if len(front) else f"No border was found by {walks}"
    notes = remarks(front)
    told = [f"• {line}" for line in lines(front)[1:] if line not in notes]
    noted = ["", "Worth knowing:", *(f"• {note}" for note in notes)] if notes else []
    return Section(head, "\n".join(told + noted), "plain" if len(front) else "bad")


def _how_to_read(front: Front) -> str:
    if not len(front):
        return "There is nothing to draw but the inputs the walks started from."
    return "Each coloured point is a pair; its colour says which two answers meet there. Grey: real inputs."


def _class_pairs(front: Front) -> Section:
    counts = front.border_counts
    gaps, far = np.asarray(front.distance), front.plausibility
    kinds = np.array(front.borders, dtype=object)
    rows = [
        [kind, f"{count:,}", f"{count / len(front):.1%}", _number(np.median(gaps[kinds == kind])),
         _number(_median(far[kinds == kind]))]
        for kind, count in counts.head(MOST_KINDS).items()
    ]  # fmt: skip
    more = f" The {len(counts) - MOST_KINDS} rarest are left out." if len(counts) > MOST_KINDS else ""
    return Section(
        f"{plural(len(counts), 'pair')} of classes meet{'s' if len(counts) == 1 else ''}",
        "Borders between classes that nobody would confuse are worth a look, however rare. Far from real inputs a "
        f"border matters less; how far is told in parts of the features' ranges, the median of all pairs.{more}",
        table=Table(["border", "pairs", "share", "gap of the two cases", "from a real input"], rows),
    )


def plausible_pairs(front: Front) -> Section:
    """The most plausible pairs of each border in turn, so that the most common one does not take all places."""
    import pandas as pd

    order = np.argsort(front.plausibility, kind="stable")
    scale = np.array([feature.scale for feature in front.space.features])
    places = pd.DataFrame(np.round(front.a.codes[order] * scale, 2))  # nearer than that, two pairs look the same
    kinds = pd.Series([front.borders[row] for row in order])
    order = order[~places.assign(kind=kinds).duplicated().to_numpy()]
    kinds = pd.Series([front.borders[row] for row in order])
    turn = kinds.groupby(kinds).cumcount()
    chosen = order[np.argsort(turn.to_numpy(), kind="stable")][:MOST_EXAMPLES]
    ends = zip(
        chosen.tolist(),
        answers(front.a_output[chosen]),
        answers(front.b_output[chosen]),
        changes(front.a.take(chosen), front.b.take(chosen), 6),
        strict=True,
    )
    rows = [[row, a, b, change, _number(front.plausibility[row])] for row, a, b, change in ends]
    return Section(
        "The most plausible pairs",
        "Of each border in turn, the pairs nearest to a real input, with what changes between the two: everything "
        "else is equal. Pairs are numbered from 0, as in the file of a saved front.",
        table=Table(["pair", "answer", "becomes", "when", "from a real input"], rows),
    )


def deciding_features(front: Front) -> Section:
    """Return which features decide at the border."""
    table = front.deciding()
    asked = table["decides"].notna().all()
    shown = table[table["differs"] > 0].head(MOST_FEATURES)
    never = [short(name) for name in table.loc[table["differs"] == 0, "feature"]]
    silent = f" Never: {', '.join(never[:10])}{', ...' if len(never) > 10 else ''}." if never else ""
    rows = [
        [row.feature, *([f"{row.decides:.1%}"] if asked else []), f"{row.differs:.1%}", f"{row.share:.1%}"]
        for row in shown.itertuples()
    ]
    columns = ["feature", *(["decides at"] if asked else []), "differs in", "share of the distance"]
    differs = f"In how many pairs the two inputs differ in a feature, and its share of their distance.{silent}"
    if not asked:
        text = f"{differs} What decides could not be asked: the system is not at hand."
        return Section(
            f"In which features the two inputs differ: {rows[0][0]} most", text, table=Table(columns, rows)
        )
    text = f"A feature decides where giving it alone its old value back brings the old answer back. {differs}"
    return Section(f"Which features decide: {rows[0][0]} most of all", text, table=Table(columns, rows))


def _quality(front: Front) -> Section:
    rows = [
        [name, _number(row["value"]), _number(row["per_1000_calls"]), row["meaning"]]
        for name, row in front.quality().iterrows()
    ]
    return Section(
        "How good the search was",
        f"{plural(front.calls, 'call')} of the system for {plural(front.mutants, 'new test case')}.",
        table=Table(["measure", "value", "per 1,000 calls", "meaning"], rows),
    )


def _incidents(front: Front) -> list[Section]:
    """The inputs that got no proper answer, if there were any."""
    incidents = front.incidents
    if incidents is None or not len(incidents):
        return []
    some = incidents.head(MOST_INCIDENTS)
    rows = [[short(value) for value in row] for row in some.itertuples(index=False)]
    return [
        Section(
            f"{plural(len(incidents), 'input')} got no proper answer",
            "The first of them.",
            "bad",
            Table([str(name) for name in some.columns], rows),
        )
    ]


def _median(values: Codes) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else math.nan


def _number(value: Any) -> str:
    value = float(value)
    return "–" if math.isnan(value) else f"{value:.3g}"
