"""Violation regions of real programs: where their groups violate a relation.

The sources of violating groups are the MRVR-S of Ying (2024, definitions 3.5 and 3.6), their follow-ups the MRVR-F. Both are
judged by random groups, which are executed, so that the share of violating groups is an estimate with an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._text import pluralise
from .._validation import reject, validate_integer, validate_seed
from ..core.result import Measure, Result
from ..errors import ArgumentError
from ..relations.algebra.base import UNDEFINED, VIOLATED, Mask, Verdicts
from ..relations.algebra.box import Affine, Box, Floats
from ..relations.algebra.domain import RangeDomain
from ..relations.algebra.function import FunctionRelation, GroupAnswers
from ..reporting.junit import JUnitCase
from ..systems.function_runner import COLUMN_LETTERS, FunctionRunner, call_by_name
from .region_kinds import UNCLASSIFIED, Classification, Violates, classify
from .regions import Region, to_points

DEFAULT_GROUPS = 100_000  # the number behind the stored regions of programs


def judge_groups(function: Callable[..., Any], relation: FunctionRelation, draws: Floats) -> GroupAnswers:
    """Execute groups by a function, and return their verdicts with all inputs and outputs; `draws` has one row per group."""
    runner = FunctionRunner(call_by_name(function, relation.names))
    steps = relation.query_groups(draws)
    try:
        inputs = next(steps)
        while True:
            inputs = steps.send(runner(inputs))
    except StopIteration as stop:
        answers: GroupAnswers = stop.value
        return answers


@dataclass(frozen=True, eq=False)
class GroupSample:
    """Random groups of a relation, on which any number of functions can be judged."""

    relation: FunctionRelation
    draws: Floats

    @classmethod
    def draw(cls, relation: FunctionRelation, count: int, seed: int) -> GroupSample:
        """Return uniform groups in the source domain of a relation."""
        rng = np.random.default_rng(seed)
        return cls(relation, np.concatenate([box.sample(count, rng) for box in relation.domain], axis=1))

    @cached_property
    def inputs(self) -> list[Floats]:
        """The source inputs, then the follow-ups, which do not depend on outputs."""
        relation = self.relation
        return relation.source_inputs(self.draws) + relation.follow_inputs(relation.follow(self.draws))

    @property
    def low(self) -> Floats:
        """The lower ends of the source domain."""
        return self.relation.source_box.low

    @property
    def high(self) -> Floats:
        """The upper ends of the source domain."""
        return self.relation.source_box.high

    def query(self, function: Callable[..., Any]) -> list[Any]:
        """Return the outputs of a function for the inputs of the groups."""
        return [function(*part.T) for part in self.inputs]

    def judge(self, function: Callable[..., Any]) -> Verdicts:
        """Return the verdicts of the groups for a function."""
        return judge_groups(function, self.relation, self.draws).verdicts

    def classify(self, violated: Mask, function: Callable[..., Any] | None = None) -> Classification:
        """Return the kind of region of violating sources; the function is needed in more than three dimensions."""
        violates = None if function is None else make_violates(function, self.relation)
        return classify_points(self.draws, violated, self.relation.source_box, violates)

    def classify_follow_ups(
        self, violated: Mask, function: Callable[..., Any] | None = None, inputs: Sequence[Floats] | None = None
    ) -> tuple[Classification, ...]:
        """Return the kind of region of violating follow-ups, for each follow-up of a group.

        `inputs` are those of the groups, sources first, if follow-ups depend on outputs. In more than three dimensions, the
        function is needed, and a follow-up that is an invertible affine map of a single source.
        """
        relation = self.relation
        parts = list(self.inputs if inputs is None else inputs)[relation.sources :]
        return tuple(
            classify_points(points, violated, box, _make_violates_of_follow_ups(function, relation, change))
            for points, box, change in zip(parts, relation.follow_domains(), relation.follow_up, strict=True)
        )


def make_violates(function: Callable[..., Any], relation: FunctionRelation) -> Violates:
    """Return a function that says of drawn sources whether their groups violate."""

    def violates(draws: Floats) -> Mask:
        return np.asarray(judge_groups(function, relation, draws).verdicts == VIOLATED)

    return violates


def _make_violates_of_follow_ups(
    function: Callable[..., Any] | None, relation: FunctionRelation, change: Callable[..., Any]
) -> Violates | None:
    """Return a function that says of follow-ups whether their groups violate; None where sources cannot be computed back."""
    if function is None or not isinstance(change, Affine):
        return None
    matrix = change.matrix
    if matrix.shape[0] != matrix.shape[1] or np.linalg.matrix_rank(matrix) < len(matrix):
        return None
    violates, inverse, box = make_violates(function, relation), np.linalg.inv(matrix), relation.source_box

    def violates_at(follow_ups: Floats) -> Mask:
        draws = (follow_ups - change.offset) @ inverse.T
        flags = box.contains(draws)
        flags[flags] = violates(draws[flags]) if flags.any() else False
        return flags

    return violates_at


def classify_points(points: Floats, violated: Mask, box: Box, violates: Violates | None = None) -> Classification:
    """Return the kind of region of violating points of a box, over the columns that vary; other points are left out."""
    inside, varying = box.contains(points), box.low < box.high
    if not inside.any() or not varying.any():
        reason = "there is a single input" if inside.any() else "no input lies in the domain"
        return Classification(kind=UNCLASSIFIED, reason=reason, rate=0.0)
    rows = np.clip(points[inside], box.low, box.high)[:, varying]  # inside up to rounding
    probe = violates if varying.all() else None
    return classify(rows, violated[inside], box.low[varying], box.high[varying], probe)


# -- samples and regions -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class ViolationSample:
    """Random sources of a relation, and whether their groups violate it."""

    sources: Floats  # the numbers drawn for each group
    violated: Mask
    low: Floats  # the ends of the source domain
    high: Floats
    names: tuple[str, ...]  # of its columns

    @cached_property
    def classification(self) -> Classification:
        """The kind of the violation region."""
        return classify(self.sources, self.violated, self.low, self.high)

    def describe(self) -> str:
        """Return the violation rate and the kind of region in two sentences."""
        kind = {"none": "There is no violation", "not classified": "The region is not classified"}.get(
            self.classification.kind, f"A {self.classification.kind} region"
        )
        share = f"{self.violated.mean():.3%} of {pluralise(len(self.sources), 'random source')} violate the relation."
        return f"{share} {kind}: {self.classification.reason}."


def name_columns(relation: FunctionRelation | Box) -> tuple[str, ...]:
    """Return names for the numbers that are drawn for a group."""
    boxes = relation.domain if isinstance(relation, FunctionRelation) else (relation,)
    if isinstance(relation, FunctionRelation) and relation.make_inputs is not None:
        return tuple(f"p{i}" for i in range(1, relation.width + 1))  # parameters, from which inputs are made
    names = []
    for i, box in enumerate(boxes, 1):
        letters: Sequence[str] = (
            box.names if isinstance(box, RangeDomain) and box.named else COLUMN_LETTERS[: box.dimension]
        )
        if box.dimension > len(letters):
            letters = [f"x{j}" for j in range(1, box.dimension + 1)]
        names += [name if len(boxes) == 1 else f"{name}{i}" for name in letters]
    return tuple(names)


def sample_violations(
    function: Callable[..., Any], relation: FunctionRelation, n: int = DEFAULT_GROUPS, seed: int = 0
) -> ViolationSample:
    """Execute random groups of a relation by a function, and return which violate it."""
    validate_integer("n", "sample_violations", n, 1)
    sample = GroupSample.draw(relation, n, validate_seed("seed", "sample_violations", seed))
    return _build_sample(sample, sample.judge(function))


def _build_sample(sample: GroupSample, verdicts: Verdicts) -> ViolationSample:
    return ViolationSample(
        sources=sample.draws,
        violated=verdicts == VIOLATED,
        low=sample.low,
        high=sample.high,
        names=name_columns(sample.relation),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredRegion(Region):
    """The points of a domain for which a function is true; its share of the domain is estimated by random points."""

    violates: Violates
    domain: Box
    rate: Measure  # the share of the domain, with its 95% interval

    def contains(self, points: Any) -> Mask:
        """Return which points (n, d) lie in the region; the function is called."""
        coordinates = to_points(points, self.domain.dimension, "Region.contains")
        inside = self.domain.contains(coordinates)
        if inside.any():
            inside[inside] = self.violates(coordinates[inside])
        return inside

    @property
    def volume(self) -> float:
        """The volume in units of the domain, estimated."""
        return self.rate.value * float((self.domain.high - self.domain.low).prod())

    def measure_share(self, low: Floats, high: Floats) -> Measure:
        """Return the share of its domain."""
        return self.rate


@dataclass(frozen=True, eq=False, kw_only=True)
class ViolationRegion(MeasuredRegion, Result):
    """Where a function violates a relation; see `classify_region`.

    It is a region for `dm.simulate`, too.

    Attributes
    ----------
    name : str
        The name of the function.
    relation : FunctionRelation
        The relation.
    kind : str
        The kind of region of the sources of violating groups: "block", "strip", "point", "none" (no violation) or "not
        classified".
    rate : Measure
        The share of groups that violate the relation, with its 95% interval.
    undefined : float
        The share of groups that could not be judged.
    sources : Classification
        The kind of region of the sources (MRVR-S), with the reason and the figures it is based on.
    follow_ups : tuple of Classification
        The same of the follow-ups (MRVR-F), one per follow-up of a group.
    sample : ViolationSample
        The random sources, and whether they violate.
    """

    _SUMMARY = ("kind",)
    _PAGE: ClassVar[str] = "hunting.page:build_region_page"

    name: str
    relation: FunctionRelation
    undefined: float
    sources: Classification
    follow_ups: tuple[Classification, ...]
    sample: ViolationSample

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The classification of sources and of each follow-up: inputs, kind, reason, components, elongation."""
        names = ["sources"] + [
            "follow-ups" if len(self.follow_ups) == 1 else f"follow-ups {number}"
            for number in range(1, len(self.follow_ups) + 1)
        ]
        return [
            {
                "inputs": name,
                "kind": part.kind,
                "reason": part.reason,
                "components": part.components,
                "elongation": part.elongation,
            }
            for name, part in zip(names, (self.sources, *self.follow_ups), strict=True)
        ]

    @property
    def headline(self) -> str:
        """The kinds of region in one line."""
        kinds = ", ".join(f"{row['inputs']} {row['kind']}" for row in self.rows)
        return f"{self.name}, {self.relation.name!r}: {kinds}"

    def __repr__(self) -> str:
        return f"ViolationRegion({self.headline})"

    def document(self) -> dict[str, Any]:
        """Return the region as a JSON-serialisable dict."""
        return self._collect(
            "undefined",
            function=self.name,
            relation=self.relation.name,
            groups=len(self.sample.sources),
            regions=self.rows,
            **self.rate.to_columns("rate"),
        )

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one test case, which always passes: violations are what is measured."""
        return [JUnitCase(name=self.relation.name, output=self.headline)]

    def _export_name(self) -> str:
        return self.name


def classify_region(
    function: Callable[..., Any],
    relation: FunctionRelation | str | None = None,
    *,
    n: int = DEFAULT_GROUPS,
    seed: int = 0,
    name: str | None = None,
) -> ViolationRegion:
    """Return where a function violates a relation, and the kind of that region.

    Random groups are executed. The kinds are those of Ying (2024, definitions 3.7 to 3.9), by a rule of ours: a *block* is one
    compact part, a *strip* a slender band between two sides of the domain, and a *point* region has at least four parts,
    none with more than half of it. The kind is given for the sources (MRVR-S) and for the follow-ups (MRVR-F) of violating
    groups.

    Parameters
    ----------
    function : callable
        The program, called with one array per input; for example a mutant of `dm.programs`.
    relation : FunctionRelation or str, optional
        The relation, or its name for a program of `dm.programs`. By default its only relation.
    n : int
        The number of random groups.
    seed : int
        The seed of the random numbers.
    name : str, optional
        The name of the function in reports.

    Examples
    --------
    >>> import datamorphic as dm
    >>> tanh = dm.programs["tanh"]
    >>> region = dm.hunting.classify_region(tanh.mutants["emu10"], "tripling", n=20_000)
    >>> region.kind, region.follow_ups[0].kind, region.contains([[0.5], [500.0]]).tolist()
    ('block', 'block', [True, False])
    """
    relation = find_own_relation(function, relation, "classify_region")
    validate_integer("n", "classify_region", n, 1)
    sample = GroupSample.draw(relation, n, validate_seed("seed", "classify_region", seed))
    answers = judge_groups(function, relation, sample.draws)
    violated = np.asarray(answers.verdicts == VIOLATED)
    sources = sample.classify(violated, function)
    return ViolationRegion(
        kind=sources.kind,
        violates=make_violates(function, relation),
        domain=relation.source_box,
        rate=Measure.from_counts(int(violated.sum()), n),
        name=name or str(getattr(function, "name", None) or getattr(function, "__name__", "function")),
        relation=relation,
        undefined=float((answers.verdicts == UNDEFINED).mean()),
        sources=sources,
        follow_ups=sample.classify_follow_ups(violated, function, answers.inputs),
        sample=_build_sample(sample, answers.verdicts),
    )


def is_predicate(function: Callable[..., Any], domain: Box) -> bool:
    """Return whether a function of one array per input answers True or False."""
    values, _ = FunctionRunner(function)(domain.sample(2, np.random.default_rng(0)))
    return bool(np.asarray(values).dtype == np.bool_)


def measure_predicate(function: Callable[..., Any], domain: Box, seed: int, n: int = DEFAULT_GROUPS) -> MeasuredRegion:
    """Return the region of a domain where a function of one array per input is true."""
    name = str(getattr(function, "__name__", "function"))

    def violates(points: Floats) -> Mask:
        values, answered = FunctionRunner(function)(points)
        flags = np.asarray(values)
        if flags.dtype != np.bool_ or flags.shape != (len(points),):
            reject("region", "simulate", f"True or False for each point from {name}()", values)
        return flags & answered

    count = int(violates(domain.sample(n, np.random.default_rng(seed))).sum())
    return MeasuredRegion(kind=name, violates=violates, domain=domain, rate=Measure.from_counts(count, n))


def find_own_relation(function: Callable[..., Any], relation: object, owner: str) -> FunctionRelation:
    """Return a relation object, found by name or as the program's only one."""
    if isinstance(relation, FunctionRelation):
        return relation
    own_relations: Mapping[str, FunctionRelation] = getattr(function, "relations", None) or {}
    if isinstance(relation, str) and own_relations:
        return own_relations[relation]
    if relation is None and len(own_relations) == 1:
        return next(iter(own_relations.values()))
    if relation is None and own_relations:
        raise ArgumentError(
            f"{owner}() got no relation, but {getattr(function, 'name', 'the program')} has "
            f"{pluralise(len(own_relations), 'relation')}. Name one of them: {', '.join(own_relations)}."
        )
    reject("relation", owner, "a FunctionRelation, or the name of a relation of a program", relation)
