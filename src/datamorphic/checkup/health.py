"""Is it healthy: the same answer twice, whatever is asked beside and however it is written?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._checks import plural
from ..relations.base import UNDEFINED, VIOLATED, Relation
from ..relations.predicting import ALONE, ORDERS, PREDICTING, Batches
from ..verdicts.asking import checked
from .checks import Check, Found, Turn
from .finding import Finding, Level
from .given import Given
from .words import example_of, share

BATCH = 200  # rows of the batch whose order is changed

#: level, title and remedy of a violation of each relation
ABOUT: dict[str, tuple[Level, str, str]] = {
    "repeats": (
        "fault",
        "The same case gets different answers",
        "Fix the seeds of everything random in prediction (dropout, sampling, Monte Carlo), and let no call change "
        "the state of the model. Until then every other result here is partly chance.",
    ),
    "row order": (
        "fault",
        "The answer depends on where a case stands in the batch",
        "Look for state that is carried from row to row, for ranks, sorting or alignment inside a batch, and for an "
        "index that is joined by position.",
    ),
    "batches": (
        "fault",
        "A case gets another answer alone than among others",
        "Look for statistics that are taken from the batch at prediction time (a mean, a scaler that is fitted again, "
        "batch normalisation in training mode). They belong into training.",
    ),
    "column order": (
        "concern",
        "Columns are read by their place, not by their name",
        "Select the columns by name before the model is asked, or refuse a frame whose columns stand in another order.",
    ),
    "row labels": (
        "fault",
        "The answer depends on the labels of the rows",
        "Somewhere a result is aligned by the index of the frame. Reset the index first, or compute with arrays.",
    ),
    "number types": (
        "concern",
        "Whole numbers written as floats get another answer",
        "Convert the columns to one type before the model is asked: a missing value or a join turns ints into floats.",
    ),
}


def _kept(name: str, given: Given, turn: Turn) -> Found:
    """Put one of the relations that every model keeps to the system."""
    relation: Relation = PREDICTING[name]
    most, asks = min(BATCH, given.sut.batch_rows), {"row order": ORDERS + 1, "batches": 3}.get(name, 2)
    if name == "batches":  # a call a case: the most expensive of them all
        alone = int(given.afford(turn.left(0.3), ALONE, each=1 + given.pace.call / max(given.pace.row, 1e-9)))
        relation, most = Batches(alone), min(most, 7 * alone)
    inputs = given.some(given.afford(turn.left(0.5), most, each=asks, calls=asks))
    result = checked(
        relation, given.sut, inputs, seed=given.seed, tally=turn.tally, budget=turn.left(), **given.driving
    )
    groups = result.groups
    cases = len(np.unique(groups.rows[groups.verdicts == VIOLATED]))
    of = len(np.unique(groups.rows[groups.verdicts <= VIOLATED]))
    rests = f"{plural(of, 'case')}, {plural(groups.judged, 'comparison')}"
    if cases and relation.whole:
        given.shaky = True
        given.unstable |= name == "repeats"
    if not of:
        refused = len(groups) and groups.count(UNDEFINED) == 0
        return Found(
            "it refuses such frames, which is safe" if refused else "no case could be judged", made=bool(refused)
        )
    if not cases:
        return Found(rests)
    level, title, remedy = ABOUT[name]
    smallest = result.smallest if result.smallest is not None and len(result.smallest) else groups.violations
    among = 0 if smallest.among is None else len(smallest.among)
    batch = f" in a batch of {plural(among, 'row')}"
    how = {
        "repeats": (" when it is first asked", "and when it is asked again"),
        "row order": (batch, "and when its rows stand in another order"),
        "batches": (batch, "and when it is asked in a smaller one"),
    }.get(name, ("", "and written in the other way"))
    finding = Finding(
        name, "", title, level, 1.0, f"The promise: {relation.says}. {share(cases, of)} break it.", remedy, cases, of,
        (example_of(smallest, 0, how),),
    )  # fmt: skip
    return Found(rests, [finding])


def _check_of(name: str, asks: str, weight: float) -> Check:
    def why_not(given: Given) -> str:
        if name != "repeats" and given.unstable:
            return "answers do not repeat, so nothing can be told from asking in another way"
        if name in ("row order", "batches") and getattr(given.sut, "scalar", False):
            return "the function takes one case at a time"
        return PREDICTING[name].why_not(given.sut, given.inputs)

    return Check(name, asks, weight, why_not, lambda given, turn: _kept(name, given, turn), of_asking=True)


REPEATS = _check_of("repeats", "Does the same case get the same answer when it is asked again?", 1)
BATCHES: Sequence[Check] = (
    _check_of("row order", "Does a case get the same answer wherever it stands in a batch?", 1),
    _check_of("batches", "Does a case get the same answer alone as among others?", 2),
    _check_of("column order", "Are columns read by their names?", 0.5),
    _check_of("row labels", "Are the labels of rows left alone?", 0.5),
    _check_of("number types", "Are whole numbers the same numbers as floats?", 0.5),
)
