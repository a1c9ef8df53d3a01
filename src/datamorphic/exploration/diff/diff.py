"""Two fronts compared: where the border stayed, moved, was gained or vanished. Regression testing for models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._validation import reject, validate_integer, validate_positive
from ...errors import ArgumentError
from ...runs.driver import CallCounter, drive
from ...runs.flow import Flow
from ...space.features import Categorical, Codes, Feature
from ...space.space import Space
from ...systems.base import Executor
from .._utils import SideIndex, name_borders, restore_border
from ..borders import Border
from ..front import Front
from .evidence import RealInputs, describe_changes, select_real_inputs
from .follow import BorderTrace, OrientedPairs, follow_border, measure_shifts, measure_spacing
from .ranking import Answers, build_case_frame, find_changed_ends, find_changed_inputs, rank_cases

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_TOLERANCE = 0.01  # of the range of a feature: a border that moved by no more is where it was
DEFAULT_REACH = 0.25  # a border between the same classes farther away is another one
STATUSES = ("kept", "moved", "vanished", "gained")


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
        status_counts = self.table["status"].value_counts()
        return {status: int(status_counts.get(status, 0)) for status in STATUSES}

    @property
    def judged(self) -> pd.DataFrame:
        """The pairs that count: those that a system was asked about, or all if there was none to ask."""
        queried = self.table["asked"].to_numpy(dtype=bool)
        return self.table[queried] if queried.any() else self.table

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
        counts = pd.crosstab(table["border"], table["status"]).reindex(columns=list(STATUSES), fill_value=0)
        counts.columns.name = None
        median_shifts = table[table["status"] == "moved"].groupby("border")["shift"].median()
        counts["median_shift"] = median_shifts.reindex(counts.index).astype(float)
        counts["resolution"] = [self.resolution[kind] for kind in counts.index]
        changed_counts = counts[["moved", "vanished", "gained"]].sum(axis=1)
        return counts.loc[changed_counts.sort_values(ascending=False, kind="stable").index]

    def first(self, n: int = 10) -> pd.DataFrame:
        """Return the cases to look at first: where the border changed most, on the most plausible inputs.

        A case counts the more the farther the border moved there, and the less the farther it is from a real input;
        a real input that is answered differently counts by its distance from all borders. Each change of answer has
        its best case before any has a second.
        """
        return self._cases.head(validate_integer("n", "Difference.first", n))

    def describe(self) -> str:
        """Return the findings in words."""
        from .text import format_difference

        return "\n".join(format_difference(self))


def compare_fronts(old_front: Front, new_front: Front, tolerance: float | None = None) -> Difference:
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

    if not isinstance(new_front, Front):
        reject("other", "Front.diff", "a Front, as dm.explore returns it", new_front)
    tolerance = DEFAULT_TOLERANCE if tolerance is None else validate_positive("tolerance", "Front.diff", tolerance)
    space, sides = _get_common_space(old_front, new_front), SideIndex(_get_common_border(old_front, new_front))
    old_pairs, new_pairs = (
        OrientedPairs.from_front(old_front, space, sides),
        OrientedPairs.from_front(new_front, space, sides),
    )
    reach = max(DEFAULT_REACH, tolerance, *map(_get_unit_distance, space.features))
    ends = np.concatenate([old_pairs.first, new_pairs.first])
    inputs = select_real_inputs(old_front, new_front, space, sides.border, ends, tolerance, reach)
    counter = CallCounter()
    trace_in_old = _query_system(
        old_front.sut, follow_border(new_pairs, old_pairs, sides, tolerance, reach), inputs, "old", counter
    )
    trace_in_new = _query_system(
        new_front.sut, follow_border(old_pairs, new_pairs, sides, tolerance, reach), inputs, "new", counter
    )

    names = _name_all_borders(old_front, new_front, old_pairs, new_pairs)
    noise = {} if trace_in_old and trace_in_new else measure_spacing(old_pairs, new_pairs)
    resolution = {kind: max(tolerance, noise.get(kind, 0.0)) for kind in names}
    parts, cases = [], []
    for version, source, pairs, other_pairs, trace, reverse_trace in (
        ("old", old_front, old_pairs, new_pairs, trace_in_new, trace_in_old),
        ("new", new_front, new_pairs, old_pairs, trace_in_old, trace_in_new),
    ):
        min_shift = np.full(len(pairs), tolerance)
        if trace is not None:
            shift, max_shift = trace.shift, np.full(len(pairs), reach)
        else:
            shift, partner = measure_shifts(pairs, other_pairs)
            min_shift = np.array([resolution[kind] for kind in pairs.kinds.tolist()])
            if reverse_trace is not None:  # a pair beside one that was asked about is as that is
                neighbours = np.flatnonzero((shift <= min_shift) & (partner >= 0))
                shift[neighbours] = reverse_trace.shift[partner[neighbours]]
                min_shift[neighbours] = tolerance
            max_shift = min_shift + reach
        lost_status = "vanished" if version == "old" else "gained"
        status = np.where(shift <= min_shift, "kept", np.where(shift <= max_shift, "moved", lost_status))
        kinds = [names[kind] for kind in pairs.kinds.tolist()]
        parts.append(_build_rows(source, version, status, shift, kinds, trace))
        informative = np.ones(len(pairs), dtype=bool)
        if (
            trace is None and reverse_trace is not None
        ):  # measured beside what was asked: new classes alone tell something
            informative = ~np.isin(pairs.kinds, other_pairs.kinds)
        change = np.minimum(shift, reach)
        cases += [find_changed_ends(sides.border, source, parts[-1], end, change, informative) for end in "ab"]
    changed_inputs = None
    if inputs.old is not None and inputs.new is not None:
        changed_inputs = find_changed_inputs(
            inputs.points, sides.border, inputs.old, inputs.new, inputs.ends, reach, inputs.near
        )
        cases.append(changed_inputs)
    rows = None if changed_inputs is None else build_case_frame(space, changed_inputs, "old_answer", "new_answer")
    table = pd.concat(parts, ignore_index=True)
    return Difference(
        old_front,
        new_front,
        table,
        rows,
        0 if changed_inputs is None else len(inputs.points),
        int(inputs.near.sum()),
        describe_changes(old_front, new_front, old_pairs, new_pairs, table, inputs, rows, names),
        {names[kind]: value for kind, value in resolution.items()},
        counter.calls,
        rank_cases(space, cases),
    )


# -- what can be compared ------------------------------------------------------------------------------------


def _get_common_space(old_front: Front, new_front: Front) -> Space:
    """Return the space to compare in, the old one."""
    a, b = old_front.space, new_front.space
    if a.names != b.names:
        exclusive_names = [
            f"{name!r} only in the {version}"
            for version, here, there in (("old", a, b), ("new", b, a))
            for name in here.names
            if name not in there.names
        ]
        raise ArgumentError(
            f"Two fronts can be compared if their features are the same, in the same order. Here "
            f"{', '.join(exclusive_names[:4]) or 'the order differs'}. Explore both models on the same columns."
        )
    for old_feature, new_feature in zip(a.features, b.features, strict=True):
        if _build_code_key(old_feature) != _build_code_key(new_feature):
            raise ArgumentError(
                f"The feature {old_feature.name!r} is {old_feature.describe()} in the old front and {new_feature.describe()} in the new. "
                "Explore both models with one space: space=dm.Space.from_frame(data)."
            )
    return a


def _build_code_key(feature: Feature) -> tuple[Any, ...]:
    """Return what two features must share so that their codes mean the same."""
    values = [(type(value), value) for value in feature.values] if isinstance(feature, Categorical) else []
    return feature.kind, feature.nullable, values


def _get_common_border(old_front: Front, new_front: Front) -> Border:
    old_border, new_border = (str(source.settings.get("border", "")) for source in (old_front, new_front))
    if old_border != new_border and old_border and new_border and len(old_front) and len(new_front):
        raise ArgumentError(
            f"The two fronts show different borders: {old_border} in the old, {new_border} in the new. Explore both models with "
            "the same threshold=, jump= or labels=."
        )
    return restore_border(old_front if len(old_front) else new_front)


def _get_unit_distance(feature: Feature) -> float:
    """Return how far the nearest other value of a feature is."""
    if isinstance(feature, Categorical):
        return 1.0
    return feature.scale if feature.kind == "integer" else 0.0


def _name_all_borders(
    old_front: Front, new_front: Front, old_pairs: OrientedPairs, new_pairs: OrientedPairs
) -> dict[int, str]:
    """Return what to call each kind of border: as the old front does, where it knows it."""
    kinds = np.concatenate([old_pairs.kinds, new_pairs.kinds])
    answer_pairs = [
        pair for source in (old_front, new_front) for pair in zip(source.a_output, source.b_output, strict=True)
    ]
    return name_borders(kinds, [*old_front.kinds, *new_front.kinds], answer_pairs)


# -- asking ----------------------------------------------------------------------------------------------------


def _query_system(
    sut: Executor | None, follow_flow: Flow[BorderTrace], inputs: RealInputs, version: str, counter: CallCounter
) -> BorderTrace | None:
    """Ask a system about the pairs of the other's front and about real inputs."""
    if sut is None:
        return None

    def combine_flows() -> Flow[BorderTrace]:
        trace = yield from follow_flow
        yield from inputs.query(version)
        return trace

    own_counter = CallCounter()
    trace = drive(combine_flows(), sut, tally=own_counter)
    counter.calls += own_counter.calls
    return trace


def _build_rows(
    front: Front, version: str, status: Answers, shift: Codes, kinds: list[str], trace: BorderTrace | None
) -> pd.DataFrame:
    """Return the rows of the table for the pairs of one front."""
    import pandas as pd

    no_answers = np.full(len(front), None, dtype=object)
    own_answers = {"a": front.a_output.astype(object), "b": front.b_output.astype(object)}
    other_answers = {"a": no_answers, "b": no_answers} if trace is None else trace.answers
    old, new = (own_answers, other_answers) if version == "old" else (other_answers, own_answers)
    answer_columns = {f"{when}_{end}": ends[end] for when, ends in (("old", old), ("new", new)) for end in "ab"}
    pair_columns = {
        "status": status,
        "shift": shift,
        "border": kinds,
        "front": version,
        "asked": trace is not None,
    }
    return pd.concat(
        [
            pd.DataFrame(pair_columns, index=range(len(front))),
            front.a.frame.add_prefix("a."),
            front.b.frame.add_prefix("b."),
            pd.DataFrame(answer_columns, dtype=object),
            pd.DataFrame({"plausibility": front.plausibility}),
        ],
        axis=1,
    )
