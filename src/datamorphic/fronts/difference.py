"""Two fronts compared: where the border stayed, moved, was gained or vanished. Regression testing for models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import positive, reject, whole_number
from ..errors import ArgumentError
from ..runs.drive import Tally, drive
from ..space.features import Categorical, Codes, Feature
from ..space.space import Space
from ..strategies.borders import Border
from ..strategies.flow import Flow
from ..sut.base import Executor
from .evidence import Real, findings, real_inputs
from .follow import Followed, Oriented, follow, measured, spacing
from .front import Front
from .reading import Sides, border_of, named
from .suspects import Answers, changed_rows, ends_of, ranked, shown

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 0.01  # of the range of a feature: a border that moved by no more is where it was
REACH = 0.25  # a border between the same classes farther away is another one
STATUS = ("kept", "moved", "vanished", "gained")


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """How the border changed from an old front to a new one.

    Attributes
    ----------
    old, new : Front
        What was compared.
    table : DataFrame
        One row a pair of either front: ``status`` (kept, moved, vanished, gained), ``shift`` (how far away a
        border between the same classes was found in the other system, numbers divided by their ranges; inf where
        none was), ``border``, which ``front`` the pair is of, whether the other system was ``asked`` about it, its
        two cases, their ``old_`` and ``new_`` answers where they are known, and ``plausibility``.
    rows : DataFrame or None
        The real inputs that the two systems answer differently, or that only one of them answers; None if that is not
        known of any.
    rows_asked : int
        Of how many real inputs both answers are known.
    rows_near : int
        How many more are answered differently, but lie within the tolerance of the border.
    findings : sequence of str
        What is a change for certain, or too much for chance; empty if nothing is.
    resolution : dict
        For each border, the shift below which nothing can be told: the tolerance where systems were asked, the
        spacing of the fronts where not.
    calls : int
        Rows that the systems computed for this.
    """

    old: Front
    new: Front
    table: pd.DataFrame
    rows: pd.DataFrame | None
    rows_asked: int
    rows_near: int
    findings: Sequence[str]
    resolution: Mapping[str, float]
    calls: int
    _cases: pd.DataFrame

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {status}" for status, count in self.counts.items() if count)
        return f"Difference({self.old.subject} -> {self.new.subject}: {counts or 'no pairs'})"

    @property
    def counts(self) -> dict[str, int]:
        """How many pairs have each status."""
        found = self.table["status"].value_counts()
        return {status: int(found.get(status, 0)) for status in STATUS}

    @property
    def judged(self) -> pd.DataFrame:
        """The pairs that count: those that a system was asked about, or all if there was none to ask."""
        asked = self.table["asked"].to_numpy(dtype=bool)
        return self.table[asked] if asked.any() else self.table

    @property
    def kept(self) -> float:
        """The share of the pairs that count that are where they were; 1 if there are none."""
        return float((self.judged["status"] == "kept").mean()) if len(self.judged) else 1.0

    @property
    def unchanged(self) -> bool:
        """Whether no change can be seen.

        Every pair that the other system was asked about must be kept, and every real input of which both answers are
        known be answered alike. The border of the very same model, looked for twice, is found in other places:
        pairs that could only be measured count where they differ by more than chance explains.
        """
        return not self.findings

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row a border, the most changed first: pairs by status, and the median shift of those that moved."""
        import pandas as pd

        table = self.table
        counts = pd.crosstab(table["border"], table["status"]).reindex(columns=list(STATUS), fill_value=0)
        counts.columns.name = None
        moved = table[table["status"] == "moved"].groupby("border")["shift"].median()
        counts["median_shift"] = moved.reindex(counts.index).astype(float)
        counts["resolution"] = [self.resolution[kind] for kind in counts.index]
        changed = counts[["moved", "vanished", "gained"]].sum(axis=1)
        return counts.loc[changed.sort_values(ascending=False, kind="stable").index]

    def first(self, n: int = 10) -> pd.DataFrame:
        """Return the cases to look at first: where the border changed most, on the most plausible inputs.

        A case counts the more the farther the border moved there, and the less the farther it is from a real input;
        a real input that is answered differently counts by its distance from all borders. Each change of answer has
        its best case before any has a second.
        """
        return self._cases.head(whole_number("n", "Difference.first", n))

    def describe(self) -> str:
        """Return the findings in words."""
        from .verdict import lines

        return "\n".join(lines(self))


def difference(front: Front, other: Front, tolerance: float | None = None) -> Difference:
    """Return where the border moved, was gained or vanished from one front (old) to another (new).

    A pair is *kept* if the other system still parts its two cases into the same classes, or parts others so within
    `tolerance` of them; *moved* if it has a border between these classes within reach, a quarter of a range (or one
    category, one whole number, where that is more); else it has *vanished* from the old or was *gained* by the new.

    Where the system of the other front is attached it is asked: about the two cases, about cases farther and
    farther along the line through them, and about cases between them and the nearest pairs of its own front. So
    `shift` is how far away a border was found; a nearer one may exist. Where it is not attached, distances
    between the fronts have to do, and nothing below their spacing (19 of 20 pairs have a neighbour that near) can
    be told: such pairs are for information, and count only where chance cannot explain them.

    Real inputs, the seeds of the old front, are put to both systems; answers that a file keeps stand for a system
    that is not attached.

    Parameters
    ----------
    front, other : Front
        The old and the new one, of the same features; their bounds may differ, as with newer data.
    tolerance : float, optional
        0.01 by default, of distances whose numbers are divided by the range of their feature. Real inputs that near to
        the border may be answered differently.

    Examples
    --------
    >>> import datamorphic as dm
    >>> space = dm.Space([dm.Continuous("age", 0, 100)])
    >>> old = dm.explore(lambda age: "adult" if age > 18 else "child", space, scalar=True, walks=50)
    >>> new = dm.explore(lambda age: "adult" if age > 21 else "child", space, scalar=True, walks=50)
    >>> change = old.diff(new)
    >>> float(change.summary["median_shift"].iloc[0].round(3))
    0.03
    """
    import pandas as pd

    if not isinstance(other, Front):
        reject("other", "Front.diff", "a Front, as dm.explore returns it", other)
    tolerance = TOLERANCE if tolerance is None else positive("tolerance", "Front.diff", tolerance)
    space, sides = _common_space(front, other), Sides(_common_border(front, other))
    old, new = Oriented.of(front, space, sides), Oriented.of(other, space, sides)
    reach = max(REACH, tolerance, *map(_unit, space.features))
    ends = np.concatenate([old.first, new.first])
    real = real_inputs(front, other, space, sides.border, ends, tolerance, reach)
    tally = Tally()
    by_old = _ask(front.sut, follow(new, old, sides, tolerance, reach), real, "old", tally)
    by_new = _ask(other.sut, follow(old, new, sides, tolerance, reach), real, "new", tally)

    names = _names(front, other, old, new)
    noise = {} if by_old and by_new else spacing(old, new)
    resolution = {kind: max(tolerance, noise.get(kind, 0.0)) for kind in names}
    parts, cases = [], []
    for which, its, pairs, others, heard, told in (
        ("old", front, old, new, by_new, by_old),
        ("new", other, new, old, by_old, by_new),
    ):
        blur = np.full(len(pairs), tolerance)
        if heard is not None:
            shift, far = heard.shift, np.full(len(pairs), reach)
        else:
            shift, number = measured(pairs, others)
            blur = np.array([resolution[kind] for kind in pairs.kinds.tolist()])
            if told is not None:  # a pair beside one that was asked about is as that is
                beside = np.flatnonzero((shift <= blur) & (number >= 0))
                shift[beside] = told.shift[number[beside]]
                blur[beside] = tolerance
            far = blur + reach
        gone = "vanished" if which == "old" else "gained"
        status = np.where(shift <= blur, "kept", np.where(shift <= far, "moved", gone))
        kinds = [names[kind] for kind in pairs.kinds.tolist()]
        parts.append(_rows_of(its, which, status, shift, kinds, heard))
        telling = np.ones(len(pairs), dtype=bool)
        if heard is None and told is not None:  # measured beside what was asked: new classes alone tell something
            telling = ~np.isin(pairs.kinds, others.kinds)
        by = np.minimum(shift, reach)
        cases += [ends_of(sides.border, its, parts[-1], end, by, telling) for end in "ab"]
    changed = None
    if real.old is not None and real.new is not None:
        changed = changed_rows(real.points, sides.border, real.old, real.new, real.ends, reach, real.near)
        cases.append(changed)
    rows = None if changed is None else shown(space, changed, "old_answer", "new_answer")
    table = pd.concat(parts, ignore_index=True)
    return Difference(
        front,
        other,
        table,
        rows,
        0 if changed is None else len(real.points),
        int(real.near.sum()),
        findings(front, other, old, new, table, real, rows, names),
        {names[kind]: value for kind, value in resolution.items()},
        tally.calls,
        ranked(space, cases),
    )


# -- what can be compared ------------------------------------------------------------------------------------


def _common_space(front: Front, other: Front) -> Space:
    """Return the space to compare in, the old one."""
    a, b = front.space, other.space
    if a.names != b.names:
        only = [
            f"{name!r} only in the {which}"
            for which, one, two in (("old", a, b), ("new", b, a))
            for name in one.names
            if name not in two.names
        ]
        raise ArgumentError(
            f"Two fronts can be compared if their features are the same, in the same order. Here "
            f"{', '.join(only[:4]) or 'the order differs'}. Explore both models on the same columns."
        )
    for mine, theirs in zip(a.features, b.features, strict=True):
        if _form(mine) != _form(theirs):
            raise ArgumentError(
                f"The feature {mine.name!r} is {mine.describe()} in the old front and {theirs.describe()} in the new. "
                "Explore both models with one space: space=dm.Space.from_frame(data)."
            )
    return a


def _form(feature: Feature) -> tuple[Any, ...]:
    """Return what two features must share so that their codes mean the same."""
    values = [(type(value), value) for value in feature.values] if isinstance(feature, Categorical) else []
    return feature.kind, feature.nullable, values


def _common_border(front: Front, other: Front) -> Border:
    mine, theirs = (str(each.settings.get("border", "")) for each in (front, other))
    if mine != theirs and mine and theirs and len(front) and len(other):
        raise ArgumentError(
            f"The two fronts show different borders: {mine} in the old, {theirs} in the new. Explore both models with "
            "the same threshold=, jump= or labels=."
        )
    return border_of(front if len(front) else other)


def _unit(feature: Feature) -> float:
    """Return how far the nearest other value of a feature is."""
    if isinstance(feature, Categorical):
        return 1.0
    return feature.scale if feature.kind == "integer" else 0.0


def _names(front: Front, other: Front, old: Oriented, new: Oriented) -> dict[int, str]:
    """Return what to call each kind of border: as the old front does, where it knows it."""
    kinds = np.concatenate([old.kinds, new.kinds])
    said = [pair for each in (front, other) for pair in zip(each.a_output, each.b_output, strict=True)]
    return named(kinds, [*front.kinds, *other.kinds], said)


# -- asking ----------------------------------------------------------------------------------------------------


def _ask(sut: Executor | None, following: Flow[Followed], real: Real, which: str, tally: Tally) -> Followed | None:
    """Ask a system about the pairs of the other's front and about real inputs."""
    if sut is None:
        return None

    def flow() -> Flow[Followed]:
        followed = yield from following
        yield from real.ask(which)
        return followed

    own = Tally()
    followed = drive(flow(), sut, tally=own)
    tally.calls += own.calls
    return followed


def _rows_of(
    front: Front, which: str, status: Answers, shift: Codes, kinds: list[str], heard: Followed | None
) -> pd.DataFrame:
    """Return the rows of the table for the pairs of one front."""
    import pandas as pd

    nothing = np.full(len(front), None, dtype=object)
    mine = {"a": front.a_output.astype(object), "b": front.b_output.astype(object)}
    theirs = {"a": nothing, "b": nothing} if heard is None else heard.answers
    old, new = (mine, theirs) if which == "old" else (theirs, mine)
    said = {f"{when}_{end}": ends[end] for when, ends in (("old", old), ("new", new)) for end in "ab"}
    about = {"status": status, "shift": shift, "border": kinds, "front": which, "asked": heard is not None}
    return pd.concat(
        [
            pd.DataFrame(about, index=range(len(front))),
            front.a.frame.add_prefix("a."),
            front.b.frame.add_prefix("b."),
            pd.DataFrame(said, dtype=object),
            pd.DataFrame({"plausibility": front.plausibility}),
        ],
        axis=1,
    )
