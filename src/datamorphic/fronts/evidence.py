"""What speaks for a change between two fronts: real inputs, pairs that are not kept, and what chance cannot explain."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import plural
from ..outputs import Outputs
from ..space.features import Codes
from ..space.points import Points
from ..space.space import Space
from ..strategies.borders import Border
from ..strategies.flow import Flow, Question
from .chance import RARE, UNLIKELY, only_in, unlike
from .follow import Oriented
from .front import Front
from .reading import Mask, answers, said, thinned
from .suspects import Answers, near_border

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 5_000  # real inputs that both systems are asked about


@dataclass
class Real:
    """Real inputs, and what the old and the new system say to them, as far as that is known.

    Attributes
    ----------
    points : Points
        The inputs.
    old, new : Outputs or None
        The answers.
    border, ends, tolerance, reach
        What tells answers apart, where borders are known, and how near to one and how far from one is what.
    near : ndarray of bool
        Where answers differ so near to the border that it means nothing.
    """

    points: Points
    border: Border
    ends: Codes
    tolerance: float
    reach: float
    old: Outputs | None = None
    new: Outputs | None = None
    near: Mask = field(init=False)

    def __post_init__(self) -> None:
        self.near = np.zeros(len(self.points), dtype=bool)

    def ask(self, which: str) -> Flow[None]:
        """Ask one of the two systems; if the other has answered, look for the border near what differs too."""
        if not len(self.points):
            return
        mine = yield Question(self.points, note="comparing")
        theirs = self.new if which == "old" else self.old
        setattr(self, which, mine)
        if theirs is not None:
            self.near = yield from near_border(
                self.points, self.border, mine, theirs, self.ends, self.tolerance, self.reach
            )


def real_inputs(front: Front, other: Front, space: Space, *about: Any) -> Real:
    """Return the real inputs to compare by: seeds of the old front, or those that answers were kept of.

    `about` is what else `Real` must know.
    """

    def known(its: Front) -> tuple[Points, Outputs | None]:
        kept = its.seed_answers
        return Points(space, its.seeds.codes[thinned(len(its.seeds), 0 if kept is None else len(kept))]), kept

    if front.sut is not None and other.sut is not None:
        return Real(Points(space, front.seeds.codes[thinned(len(front.seeds), MOST_ROWS)]), *about)
    (mine, old), (theirs, new) = known(front), known(other)
    if other.sut is not None:
        return replace(Real(mine, *about), old=old)
    if front.sut is not None:
        return replace(Real(theirs, *about), new=new)
    place = {row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(mine.codes))}
    at = np.array([place.get(row.tobytes(), -1) for row in np.ascontiguousarray(theirs.codes)], dtype=np.intp)
    both = np.flatnonzero(at >= 0)
    real = Real(mine.take(at[both]), *about)
    if both.size and old is not None and new is not None:
        real.old, real.new = old.take(at[both]), new.take(both)
    return real


def findings(
    front: Front,
    other: Front,
    old: Oriented,
    new: Oriented,
    table: pd.DataFrame,
    real: Real,
    changed: pd.DataFrame | None,
    names: dict[int, str],
) -> list[str]:
    """Return what is a change for certain, and what chance cannot explain, a sentence each."""
    told = []
    asked = table[table["asked"].to_numpy(dtype=bool)]
    gone = int((asked["status"] != "kept").sum())
    if gone:
        told.append(
            f"{gone:,} of {plural(len(asked), 'pair')} that a system was asked about are not where they were"
        )
    told += told_rows(changed, len(real.points))
    for system, pairs, others, its, theirs, what in (
        (front.sut, new, old, other, front, "found for the first time"),
        (other.sut, old, new, front, other, "no longer found"),
    ):
        kinds = [] if system is not None else _only_here(pairs, others, its, theirs)
        if kinds:
            few = ", ".join(names[kind] for kind in kinds[:8])
            told.append(f"borders {what}: {few}{', ...' if len(kinds) > 8 else ''}")
    if front.sut is None and other.sut is None:
        told += _from_files(front, other, old, new, real)
    return told


def told_rows(changed: pd.DataFrame | None, asked: int) -> list[str]:
    """Return what changed about real inputs, of which `asked` were asked about; `changed` ends with both answers."""
    if changed is None:
        return []
    before, after = (
        np.array([said is not None for said in changed.iloc[:, place]], dtype=bool) for place in (-2, -1)
    )
    counts = {
        "are answered differently": before & after,
        "get no answer any more": before & ~after,
        "got no answer before": ~before & after,
    }
    of = plural(asked, "real input")
    return [f"{int(some.sum()):,} of {of} {what}" for what, some in counts.items() if some.any()]


def _only_here(pairs: Oriented, others: Oriented, its: Front, theirs: Front) -> list[int]:
    """Return the kinds of border of one front that the other lacks, though it looked for them as hard."""
    if its.strategy != theirs.strategy:
        return []
    return only_in(pairs.kinds, others.kinds, len(its.walk_runs), len(theirs.walk_runs), its.walk)


def _from_files(front: Front, other: Front, old: Oriented, new: Oriented, real: Real) -> list[str]:
    """Return what two fronts show without any system to ask."""
    told = []
    said_old, said_new = (_labels(each) for each in (front, other))
    if not len(real.points) and len(said_old) and len(said_new):
        for some, others, what in ((said_new, said_old, "is given"), (said_old, said_new, "is no longer given")):
            only = only_in(some, others, len(some), len(others), np.arange(len(some)))
            told += [f"the answer {answers([each])[0]} {what}: chance would do that once in {1 / RARE:,.0f} times"
                     for each in only[:8]]  # fmt: skip
    likely = unlike(front, other, old, new, real.tolerance)
    if likely <= UNLIKELY:
        told.append(
            "the pairs of the two fronts lie farther from each other, or look other ways, than those of random halves "
            f"of both (p = {likely:.3f})"
        )
    return told


def _labels(front: Front) -> Answers:
    """Return the answers to seeds that a file keeps."""
    if front.seed_answers is None:
        return np.empty(0, dtype=object)
    values = said(front.seed_answers)
    return values[[value is not None for value in values]]
