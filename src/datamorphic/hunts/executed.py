"""Which sources a hunt executed: chosen again from its seed, since a hunt keeps violating groups only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DatamorphicError
from ..groups.generators import make
from ..groups.selectors import SELECTORS, find_selector
from ..relations.base import Mask
from ..relations.boxes import Floats
from .hunt import Hunt
from .hunting import FIRST, MOST, SHARE, Proposing, Turns

SHOWN = 4_000  # groups of the first trial


@dataclass(frozen=True, eq=False)
class Executed:
    """The sources of one relation in the first trial, with the numbers of their groups, and whether these violate."""

    sources: Floats
    number: npt.NDArray[np.int64]
    violated: Mask
    groups: int  # of this relation that are told, of all in the trial


def executed(hunt: Hunt, relation: int, **options: Any) -> Executed | None:
    """Return the sources of a relation in the first trial, or None where they cannot be told.

    They are chosen again from the seed, with these options of the generator or selector, and compared with the violating
    groups that were kept: where one differs, nothing is told.
    """
    kept = {each.number: each for each in hunt.kept if each.trial == 0}
    for scaled in (False, True):  # of models, distances are measured in widths
        try:
            made = _chosen(hunt, scaled, options)
        except (DatamorphicError, TypeError):  # follow-ups depend on answers; options of something else
            return None
        if made is None:
            return None
        which, sources = made
        if all(_same(hunt, which, sources, kept[number]) for number in kept if number <= len(which)):
            rows = np.flatnonzero(which == relation)
            drawn = _drawn(hunt, sources, rows, relation)
            broken = np.array([row + 1 in kept for row in rows.tolist()], dtype=bool)
            return Executed(drawn, rows + 1, broken, len(which))
    return None


def _chosen(hunt: Hunt, scaled: bool, options: dict[str, Any]) -> tuple[npt.NDArray[np.int64], Floats] | None:
    """Return the relation and the sources of each group, as they are chosen in batches of the same sizes."""
    of_selector = hunt.generator in SELECTORS
    if of_selector and not hunt.found:
        return (
            None  # one that learns chooses otherwise when it is told nothing: there must be something to compare
        )
    proposing: Proposing = (
        find_selector(hunt.generator)(hunt.relations, **options)
        if of_selector
        else Turns([make(hunt.generator, each, scaled=scaled, **options) for each in hunt.relations])
    )
    turn = proposing.again(np.random.default_rng([hunt.seed, 0]))
    which: list[npt.NDArray[np.int64]] = []
    sources: list[Floats] = []
    wanted, done = min(hunt.trials[0].groups, SHOWN), 0
    while done < wanted:
        count = min(max(FIRST, done // SHARE), MOST, hunt.budget - done)
        picks = turn.propose(count)
        which.append(picks.relation)
        sources.append(picks.sources)
        done += count
    if not which:
        return None
    return np.concatenate(which)[:wanted], np.concatenate(sources)[:wanted]


def _drawn(hunt: Hunt, sources: Floats, rows: Any, relation: int) -> Floats:
    return sources[rows][:, : hunt.relations[relation].width]


def _same(hunt: Hunt, which: npt.NDArray[np.int64], sources: Floats, violation: Any) -> bool:
    row = violation.number - 1
    if which[row] != violation.relation:
        return False
    relation = hunt.relations[violation.relation]
    drawn = _drawn(hunt, sources, [row], violation.relation)
    inputs = [*relation.source_inputs(drawn), *relation.follow_inputs(relation.follow(drawn))]
    return all(np.array_equal(a[0], b) for a, b in zip(inputs, violation.inputs, strict=True))
