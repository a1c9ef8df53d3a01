"""Compare two fronts: where the border stayed, moved, was gained or vanished. Regression testing for models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._validation import reject, validate_integer, validate_positive
from ...core.result import Result
from ...errors import ArgumentError
from ...reporting.junit import JUnitCase
from ...runs.driver import CallCounter, drive
from ...runs.flow import Flow
from ...space.features import Categorical, Codes, Feature
from ...space.space import Space
from ..borders import Border, SideIndex, name_borders
from ..changes import Answers, Mask
from ..front_data import FrontData
from .evidence import ChangeEvidence, collect_evidence
from .follow import ROUNDING_SLACK, BorderTrace, OrientedPairs, follow_border, measure_shifts, measure_spacing
from .ranking import RealInputs, build_case_frame, find_changed_ends, rank_cases, select_real_inputs

DEFAULT_TOLERANCE = 0.01  # share of a range: a border that moved by at most this is unchanged
DEFAULT_REACH = 0.25  # share of a range: beyond it, a border between the same classes is a different one
STATUSES = ("kept", "moved", "vanished", "gained")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Difference(Result):
    """The changes of the border from an old front to a new one.

    Attributes
    ----------
    old, new : Front
        The fronts that were compared.
    table : DataFrame
        One row per pair of either front: ``status`` (kept, moved, vanished, gained), ``shift`` (the distance at which
        a border between the same classes was found in the other system, numbers divided by their ranges; inf where
        none was found), ``border``, the ``front`` it belongs to, whether the other system was ``asked`` about it, its
        two cases, their ``old_`` and ``new_`` answers where known, and ``plausibility``.
    rows : DataFrame or None
        The real inputs that the two systems answer differently, or that only one of them answers. None if no real
        input has two known answers.
    rows_asked, rows_near : int
        The number of real inputs whose two answers are known, and of further real inputs that are answered differently
        but lie within the tolerance of the border.
    evidence : sequence of ChangeEvidence
        The changes that are certain, or too large for chance, by kind; empty if there are none.
    resolution : dict
        The smallest shift per border that can be detected: the tolerance where systems were queried, else the
        spacing of the fronts.
    calls : int
        The number of model calls of the comparison.
    """

    _PAGE = "exploration.diff.page:build_difference_page"

    old: FrontData
    new: FrontData
    table: pd.DataFrame
    rows: pd.DataFrame | None
    rows_asked: int
    rows_near: int
    evidence: Sequence[ChangeEvidence]
    resolution: Mapping[str, float]
    calls: int
    inputs: RealInputs | None = None  # the real inputs, with their old and new answers
    _cases: pd.DataFrame
    _unanswered_cases: Mask

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {status}" for status, count in self.counts.items() if count)
        return f"Difference({self.old.subject} -> {self.new.subject}: {counts or 'no pairs'})"

    @property
    def counts(self) -> dict[str, int]:
        """The number of pairs per status."""
        status_counts = self.table["status"].value_counts()
        return {status: int(status_counts.get(status, 0)) for status in STATUSES}

    @property
    def findings(self) -> list[str]:
        """The changes that are certain, or too large for chance, as sentences; empty if there are none."""
        return [item.text for item in self.evidence]

    @property
    def judged(self) -> pd.DataFrame:
        """The pairs that count: those a system was queried about, or all if there was none to query."""
        queried = self.table["asked"].to_numpy(dtype=bool)
        return self.table[queried] if queried.any() else self.table

    @property
    def kept(self) -> float:
        """The share of judged pairs that are kept; 1 if there are none."""
        return float((self.judged["status"] == "kept").mean()) if len(self.judged) else 1.0

    @property
    def unchanged(self) -> bool:
        """Whether no change was detected.

        Every pair that the other system was queried about must be kept, and every real input with two known answers
        must be answered alike. Two explorations of the same model find the border in different places, so pairs that
        could only be measured count where they differ by more than chance explains.
        """
        return not self.evidence

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per border, the most changed first: pairs by status, and the median shift of those that moved."""
        table = self.table
        counts = pd.crosstab(table["border"], table["status"]).reindex(columns=list(STATUSES), fill_value=0)
        counts.columns.name = None
        median_shifts = table[table["status"] == "moved"].groupby("border")["shift"].median()
        counts["median_shift"] = median_shifts.reindex(counts.index).astype(float)
        counts["resolution"] = [self.resolution[kind] for kind in counts.index]
        changed_counts = counts[["moved", "vanished", "gained"]].sum(axis=1)
        return counts.loc[changed_counts.sort_values(ascending=False, kind="stable").index]

    def first(self, n: int = 10) -> pd.DataFrame:
        """Return the `n` cases to look at first: where the border changed most, on the most plausible inputs.

        A case ranks higher the farther the border moved there, and the nearer it is to a real input. A real input that
        is answered differently ranks by its distance from all borders. Each change of answer gets its best case before
        any gets a second one.
        """
        return self._cases.head(validate_integer("n", "Difference.first", n))

    def document(self) -> dict[str, Any]:
        """Return the counts and the findings as a JSON-serialisable dict."""
        return self._collect(
            *("unchanged", "kept", "findings", "rows_asked", "rows_near", "calls"),
            old=self.old.subject,
            new=self.new.subject,
            statuses=self.counts,
            borders=self.summary.to_dict("index"),
            rows_changed=None if self.rows is None else len(self.rows),
        )

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return whether the border is unchanged, as one test case."""
        findings = self.findings
        return [
            JUnitCase(
                name="the border is unchanged",
                outcome="failed" if findings else "passed",
                kind="border changed",
                message=findings[0] if findings else "",
                detail="\n".join(findings),
            )
        ]

    def _export_name(self) -> str:
        return f"{self.old.subject} -> {self.new.subject}"


def compare_fronts(old_front: FrontData, new_front: FrontData, tolerance: float | None = None) -> Difference:
    """Return where the border moved, was gained or vanished from an old front to a new one.

    A pair is *kept* if the other system still gives its two cases the same two classes, or separates other cases so
    within `tolerance` of them. It has *moved* if the other system has a border between these classes within reach: a
    quarter of a range, or one category or one integer where that is more. Otherwise it has *vanished* from the old
    front or was *gained* by the new one.

    Where the system of the other front is attached, it is queried: about the two cases, about cases farther and
    farther along the line through them, and about cases between them and the nearest pairs of its own front. So
    `shift` is the distance at which a border was found; a nearer one may exist. Where the system is not attached,
    distances between the fronts are used instead, and shifts below their spacing (19 of 20 pairs have a neighbour
    that near) cannot be detected. Such pairs count only where chance cannot explain them.

    Both systems are queried about real inputs, the seed cases of the old front. Answers in a file replace those of a
    system that is not attached.

    The two fronts have the same features, but their bounds may differ, as with newer data. The tolerance is 0.01 by
    default. Distances divide numbers by the range of their feature. Real inputs this near to the border may be answered
    differently.

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
    if not isinstance(new_front, FrontData):
        reject("other", "Front.diff", "a Front, as dm.explore returns it", new_front)
    tolerance = DEFAULT_TOLERANCE if tolerance is None else validate_positive("tolerance", "Front.diff", tolerance)
    space, sides = _get_common_space(old_front, new_front), SideIndex(_get_common_border(old_front, new_front))
    old_pairs, new_pairs = (OrientedPairs.from_front(front, space, sides) for front in (old_front, new_front))
    reach = max(DEFAULT_REACH, tolerance, *map(_get_unit_distance, space.features))
    ends = np.concatenate([old_pairs.first, new_pairs.first])
    points, old, new = select_real_inputs(old_front, new_front, space)
    inputs = RealInputs(
        points=points, border=sides.border, ends=ends, tolerance=tolerance, reach=reach, old=old, new=new
    )

    def query_system(version: str, pairs: OrientedPairs, own_pairs: OrientedPairs) -> Flow[BorderTrace]:
        trace = yield from follow_border(pairs, own_pairs, sides, tolerance, reach)
        yield from inputs.query(version)
        return trace

    trace_in_old = trace_in_new = None
    old_counter, new_counter = CallCounter(), CallCounter()
    if old_front.sut is not None:
        trace_in_old = drive(query_system("old", new_pairs, old_pairs), old_front.sut, tally=old_counter)
    if new_front.sut is not None:
        trace_in_new = drive(query_system("new", old_pairs, new_pairs), new_front.sut, tally=new_counter)

    kinds = np.concatenate([old_pairs.kinds, new_pairs.kinds])
    answer_pairs = [
        pair for front in (old_front, new_front) for pair in zip(front.a_output, front.b_output, strict=True)
    ]
    names = name_borders(kinds, [*old_front.kinds, *new_front.kinds], answer_pairs)
    noise = {} if trace_in_old and trace_in_new else measure_spacing(old_pairs, new_pairs)
    resolution = {kind: max(tolerance, noise.get(kind, 0.0)) for kind in names}
    parts, cases = [], []
    for version, source, pairs, other_pairs, trace, reverse_trace in (
        ("old", old_front, old_pairs, new_pairs, trace_in_new, trace_in_old),
        ("new", new_front, new_pairs, old_pairs, trace_in_old, trace_in_new),
    ):
        min_shift = np.full(len(pairs), tolerance * ROUNDING_SLACK)
        if trace is not None:
            shift, max_shift = trace.shift, np.full(len(pairs), reach * ROUNDING_SLACK)
        else:
            shift, partner = measure_shifts(pairs, other_pairs)
            min_shift = np.array([resolution[kind] for kind in pairs.kinds.tolist()])
            if reverse_trace is not None:  # a pair shares the shift of a queried neighbour
                neighbours = np.flatnonzero((shift <= min_shift) & (partner >= 0))
                shift[neighbours] = reverse_trace.shift[partner[neighbours]]
                min_shift[neighbours] = tolerance * ROUNDING_SLACK
            max_shift = min_shift + reach
        lost_status = "vanished" if version == "old" else "gained"
        status = np.where(shift <= min_shift, "kept", np.where(shift <= max_shift, "moved", lost_status))
        borders = [names[kind] for kind in pairs.kinds.tolist()]
        parts.append(_build_rows(source, version, status, shift, borders, trace))
        informative = np.ones(len(pairs), dtype=bool)
        if trace is None and reverse_trace is not None:  # only new classes add to what the queried pairs show
            informative = ~np.isin(pairs.kinds, other_pairs.kinds)
        change = np.minimum(shift, reach)
        cases += [find_changed_ends(sides.border, source, parts[-1], end, change, informative) for end in "ab"]
    rows = None
    if (changed_inputs := inputs.find_changed()) is not None:
        cases.append(changed_inputs)
        rows = build_case_frame(space, changed_inputs, "old_answer", "new_answer")
    table = pd.concat(parts, ignore_index=True)
    ranked_cases, unanswered_cases = rank_cases(space, cases)
    return Difference(
        old=old_front,
        new=new_front,
        table=table,
        rows=rows,
        rows_asked=0 if rows is None else len(points),
        rows_near=int(inputs.near.sum()),
        evidence=collect_evidence(
            old_front, new_front, old_pairs, new_pairs, table=table, inputs=inputs, changed_inputs=rows, names=names
        ),
        resolution={names[kind]: value for kind, value in resolution.items()},
        calls=old_counter.calls + new_counter.calls,
        inputs=None if rows is None else inputs,
        _cases=ranked_cases,
        _unanswered_cases=unanswered_cases,
    )


def _get_common_space(old_front: FrontData, new_front: FrontData) -> Space:
    """Return the space of the old front, or raise if the spaces do not match."""
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
                f"The feature {old_feature.name!r} is {old_feature.describe()} in the old front and "
                f"{new_feature.describe()} in the new. Explore both models with one space: "
                "space=dm.Space.from_frame(data)."
            )
    return a


def _build_code_key(feature: Feature) -> tuple[Any, ...]:
    """Return what two features must share for their codes to mean the same."""
    values = [(type(value), value) for value in feature.values] if isinstance(feature, Categorical) else []
    return feature.kind, feature.nullable, values


def _get_common_border(old_front: FrontData, new_front: FrontData) -> Border:
    """Return the border that both fronts show, or raise if they show different ones."""
    if not len(old_front) or not len(new_front):
        return (old_front if len(old_front) else new_front).restore_border()
    old_border, new_border = old_front.restore_border(), new_front.restore_border()
    if not old_border.is_like(new_border):
        raise ArgumentError(
            f"The two fronts show different borders: {old_border.description} in the old, {new_border.description} in "
            "the new. Explore both models with the same threshold=, jump= or labels=."
        )
    return old_border


def _get_unit_distance(feature: Feature) -> float:
    """Return the distance to the nearest other value of a feature; 0 for real numbers."""
    return {"categorical": 1.0, "text": feature.scale, "integer": feature.scale, "continuous": 0.0}[feature.kind]


def _build_rows(
    front: FrontData, version: str, status: Answers, shift: Codes, kinds: list[str], trace: BorderTrace | None
) -> pd.DataFrame:
    """Build the rows of the table for the pairs of one front."""
    no_answers = np.full(len(front), None, dtype=object)
    own_answers = {"a": front.a_output.astype(object), "b": front.b_output.astype(object)}
    other_answers = {"a": no_answers, "b": no_answers} if trace is None else trace.answers
    old, new = (own_answers, other_answers) if version == "old" else (other_answers, own_answers)
    answer_columns = {f"{when}_{end}": ends[end] for when, ends in (("old", old), ("new", new)) for end in "ab"}
    pair_columns = {"status": status, "shift": shift, "border": kinds, "front": version, "asked": trace is not None}
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
