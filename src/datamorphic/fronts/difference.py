"""Two fronts compared: where the border stayed, moved, was gained or vanished. Regression testing for models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import plural, positive, reject, whole_number
from ..errors import ArgumentError
from ..outputs import Outputs
from ..runs.drive import Tally, drive
from ..space.features import Categorical, Feature
from ..space.points import Points
from ..space.space import Space
from ..strategies.borders import Border
from ..strategies.flow import Flow
from ..sut.base import Executor
from .follow import Followed, Oriented, follow, nearest_of_kind, spacing
from .front import Front
from .reading import answers, border_of, thinned
from .suspects import changed_rows, ends_of, ranked

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 0.01  # of the range of a feature: a border that moved by no more is where it was
REACH = 0.25  # a border between the same classes farther away is another one
CHANCE = 0.1  # without systems, this share of pairs may look changed and mean nothing
MOST_ROWS = 5_000  # real inputs that both systems are asked about
STATUS = ("kept", "moved", "vanished", "gained")

Answers = npt.NDArray[Any]


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
        none was), ``border``, which ``front`` the pair is of, its two cases, their ``old_`` and ``new_`` answers
        where they are known, and ``plausibility``.
    rows : DataFrame or None
        The real inputs that the two systems answer differently; None unless both are attached.
    rows_asked : int
        How many real inputs both were asked about.
    resolution : dict
        For each border, the shift below which nothing can be told: the tolerance where systems were asked, the
        spacing of the fronts where not.
    calls : int
        Rows that the two systems computed for this.
    """

    old: Front
    new: Front
    table: pd.DataFrame
    rows: pd.DataFrame | None
    rows_asked: int
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
    def kept(self) -> float:
        """The share of all pairs that are where they were; 1 if there are none."""
        return self.counts["kept"] / len(self.table) if len(self.table) else 1.0

    @property
    def unchanged(self) -> bool:
        """Whether no change can be seen.

        With both systems every pair must be kept and every real input answered alike. Without, the border of the
        very same model, looked for twice, is found in other places: a tenth of the pairs may look changed.
        """
        if self.rows is None:
            return self.kept >= 1 - CHANCE
        return self.kept == 1 and not len(self.rows)

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
        return "\n".join(_told(self))


def difference(front: Front, other: Front, tolerance: float | None = None) -> Difference:
    """Return where the border moved, was gained or vanished from one front (old) to another (new).

    A pair is *kept* if the other system still parts its two cases into the same classes, or parts others so within
    `tolerance` of them; *moved* if it has a border between these classes within reach, a quarter of a range (or one
    category, one whole number, where that is more); else it has *vanished* from the old or was *gained* by the new.

    Where the system of the other front is attached it is asked: about the two cases, about cases farther and
    farther along the line through them, and about cases between them and the nearest pairs of its own front. So
    `shift` is how far away a border was found; a nearer one may exist. Where it is not attached, distances
    between the fronts have to do, and nothing below their spacing (19 of 20 pairs have a neighbour that near) can
    be told.

    Parameters
    ----------
    front, other : Front
        The old and the new one, of the same features; their bounds may differ, as with newer data.
    tolerance : float, optional
        0.01 by default, of distances whose numbers are divided by the range of their feature.

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
    space, border = _common_space(front, other), _common_border(front, other)
    old, new = Oriented.of(front, space, border), Oriented.of(other, space, border)
    reach = max(REACH, tolerance, *map(_unit, space.features))
    both = front.sut is not None and other.sut is not None
    rows = Points(space, front.seeds.codes[thinned(len(front.seeds), MOST_ROWS if both else 0)])
    by_new = _ask(other.sut, follow(old, new, border, tolerance, reach), rows)
    by_old = _ask(front.sut, follow(new, old, border, tolerance, reach), rows)

    noise = {} if both else spacing(old, new)
    resolution = {kind: max(tolerance, noise.get(kind, 0.0)) for kind in [*old.kinds, *new.kinds]}
    parts, cases = [], []
    for which, its, pairs, others, heard in (
        ("old", front, old, new, by_new),
        ("new", other, new, old, by_old),
    ):
        if heard is None:
            shift = nearest_of_kind(pairs, others)[0].min(axis=1, initial=np.inf)
            blur = np.array([resolution[kind] for kind in pairs.kinds])
        else:
            shift, blur = heard.followed.shift, np.full(len(pairs), tolerance)
        gone = "vanished" if which == "old" else "gained"
        far = reach if heard is not None else blur + reach
        status = np.where(shift <= blur, "kept", np.where(shift <= far, "moved", gone))
        parts.append(_rows_of(its, which, status, shift, heard))
        cases += [ends_of(space, border, its, parts[-1], end, np.minimum(shift, reach)) for end in "ab"]
    changed = None
    if by_old is not None and by_new is not None:
        changed = changed_rows(
            rows, border, by_old.rows, by_new.rows, np.concatenate([old.first, new.first]), reach
        )
        cases.append(changed)
    return Difference(
        front,
        other,
        pd.concat(parts, ignore_index=True),
        None if changed is None else changed.drop(columns=["why", "shift", "plausibility", "change"]),
        len(rows),
        resolution,
        sum(heard.calls for heard in (by_old, by_new) if heard is not None),
        ranked(pd.concat([case for case in cases if len(case)] or cases, ignore_index=True)),
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


# -- asking ----------------------------------------------------------------------------------------------------


@dataclass
class _Heard:
    """What a system said about the pairs of the other's front, and about real inputs."""

    followed: Followed
    rows: Outputs
    calls: int


def _ask(sut: Executor | None, following: Flow[Followed], rows: Points) -> _Heard | None:
    if sut is None:
        return None

    def flow() -> Flow[tuple[Followed, Outputs]]:
        followed = yield from following
        return followed, (yield rows)

    tally = Tally()
    followed, answered = drive(flow(), sut, tally=tally)
    return _Heard(followed, answered, tally.calls)


# -- telling ---------------------------------------------------------------------------------------------------


def _rows_of(
    front: Front, which: str, status: Answers, shift: npt.NDArray[np.float64], heard: _Heard | None
) -> pd.DataFrame:
    """Return the rows of the table for the pairs of one front."""
    import pandas as pd

    nothing = np.full(len(front), None, dtype=object)
    mine = {"a": front.a_output.astype(object), "b": front.b_output.astype(object)}
    theirs = {"a": nothing, "b": nothing} if heard is None else heard.followed.answers
    old, new = (mine, theirs) if which == "old" else (theirs, mine)
    said = {f"{when}_{end}": ends[end] for when, ends in (("old", old), ("new", new)) for end in "ab"}
    return pd.concat(
        [
            pd.DataFrame({"status": status, "shift": shift, "border": list(front.kinds), "front": which}),
            front.a.frame.add_prefix("a."),
            front.b.frame.add_prefix("b."),
            pd.DataFrame(said, dtype=object),
            pd.DataFrame({"plausibility": front.plausibility}),
        ],
        axis=1,
    )


def _told(change: Difference) -> list[str]:
    counts, old, new = change.counts, change.old, change.new
    names = old.subject if old.subject == new.subject else f"{old.subject} and {new.subject}"
    if not len(change.table):
        return [f"Neither of the two fronts of {names} has a border: there is nothing to compare."]
    verdict = "has changed"
    if change.unchanged:
        verdict = "is where it was" if change.rows is not None else "shows no change that could not be chance"
    lines = [
        f"The border of {names}, old and new, {verdict}: {change.kept:.1%} of {len(change.table):,} pairs are kept."
    ]
    moved = change.table[(change.table["status"] == "moved")]["shift"]
    if len(moved):
        lines.append(
            f"{plural(len(moved), 'pair')} moved, by {moved.median():.2g} of the features' ranges (median) and "
            f"{moved.max():.2g} at most"
        )
    for status, whose in (("vanished", "old"), ("gained", "new")):
        if counts[status]:
            lines.append(
                f"{plural(counts[status], 'pair')} of the {whose} front {status}: the other has none like it near"
            )
    for kind, row in change.summary.head(5).iterrows():
        if int(row["kept"]) < int(row[list(STATUS)].sum()):
            lines.append(f"  {kind}: " + ", ".join(f"{int(row[each]):,} {each}" for each in STATUS if row[each]))
    only = change.summary.query("kept == 0 and moved == 0")
    for status, said in (("vanished", "no longer found"), ("gained", "found for the first time")):
        kinds = only.index[only[status] > 0].tolist()
        if kinds:
            lines.append(f"borders {said}: {', '.join(kinds[:8])}{', ...' if len(kinds) > 8 else ''}")
    if change.rows is not None:
        share = len(change.rows) / max(1, change.rows_asked)
        lines.append(
            f"{len(change.rows):,} of {plural(change.rows_asked, 'real input')} ({share:.1%}) are answered differently"
        )
    else:
        usual = float(np.median([change.resolution[kind] for kind in change.table["border"]]))
        lines.append(
            f"Not both systems are at hand to be asked: shifts below {usual:.2g}, the spacing of the pairs, cannot be told "
            "from chance. Attach them for more: front.attach(model)."
        )
    if not change.unchanged and len(change._cases):
        case = change._cases.iloc[0]
        both = " -> ".join(answers([case["old_answer"], case["new_answer"]]))
        lines.append(f"Look first at difference.first(): {both}, {case['why']}")
    lines.append(f"{plural(change.calls, 'call')} of the systems")
    return lines
