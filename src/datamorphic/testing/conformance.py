"""Conformance suites that test a new executor, generator or selector in one line.

::

    def test_my_executor():
        check_executor(MyExecutor(...), space.sample(50, points=True))

    def test_my_generator():
        check_generator(lambda seed: MyGenerator(relation, seed=seed), relation)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .._validation import check_types, reject, validate_integer
from ..errors import ArgumentError
from ..hunting.generator_base import Generator, GroupBatch
from ..hunting.selector_base import Picks, Selector
from ..relations.algebra.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED
from ..relations.algebra.box import Box
from ..relations.algebra.domain import RangeDomain, parse_domain
from ..relations.algebra.function import FunctionRelation
from ..space.outputs import Status
from ..space.points import Points, RowSelection
from ..systems.base import Executor


@check_types
def check_executor(executor: Executor, points: Points) -> None:
    """Assert that an executor satisfies its contract on points that it can answer.

    It must return one output per row, in order, the same for parts, single rows and any order of rows. It must not change
    its input. Without rows it must return no outputs. Scores must have one column per label, if it declares them.
    """
    before = points.codes.copy()
    whole = executor.execute(points)
    assert len(whole) == len(points), f"{executor} gave {len(whole)} outputs for {len(points)} rows"
    assert whole.status.dtype == np.int8, f"{executor}: the status must be int8"
    np.testing.assert_array_equal(points.codes, before, err_msg=f"{executor} changed its input")
    selections: list[tuple[RowSelection, str]] = [
        (slice(None), "gives other answers the second time"),
        (np.arange(len(points))[::-1], "depends on the order of rows"),
        (slice(0, len(points) // 2), "depends on the batch"),
        (slice(0, 1), "gives other answers to single rows"),
    ]
    for rows, complaint in selections:
        assert executor.execute(points.take(rows)).same(whole.take(rows)).all(), f"{executor} {complaint}"
    assert len(executor.execute(points.take(slice(0, 0)))) == 0, f"{executor} gave outputs for no rows"
    twice = executor.execute(Points.concat([points, points]))
    assert twice.take(slice(len(points), None)).same(whole).all(), f"{executor} gives other answers to repeated rows"

    if executor.labels is not None:
        known = {Status(s) for s in np.unique(whole.status)} - {Status.NEW_LABEL}
        assert known <= set(Status), f"{executor}: unknown status"
        assert set(whole.values[whole.status == Status.OK].tolist()) <= set(executor.labels)
    scored = executor.execute(points, scores=True)
    assert scored.same(whole).all(), f"{executor} gives other labels with scores"
    if executor.score_kind is None:
        assert scored.scores is None, f"{executor} gives scores although it declares none"
    else:
        assert scored.scores is not None
        assert scored.scores.shape[0] == len(points)
        if executor.labels is not None:
            assert scored.scores.shape[1] == len(executor.labels)


@check_types
def check_selector(
    make: Callable[..., Selector], relations: Sequence[FunctionRelation], *, opens: bool = True, groups: int = 60
) -> None:
    """Assert that a selector satisfies its contract on some relations.

    `make` returns a selector for relations, with `seed`, `k` and `candidates` as keywords. There must be at least two
    `relations`, each with one source per group. `opens` says whether each relation is chosen once before any is chosen
    again, and `groups` is the number of pairs per call.
    """
    relation_count = len(relations)
    validate_integer("groups", "check_selector", groups, relation_count + 9)
    selector = make(relations, seed=1)
    box = selector.relations[0].domain[0]
    whole = selector.propose(groups)
    assert len(whole) == selector.count == groups, f"{selector} gave {len(whole)} pairs for {groups}"
    assert whole.sources.shape == (groups, box.dimension), f"{selector}: sources of shape {whole.sources.shape}"
    assert ((whole.relation >= 0) & (whole.relation < relation_count)).all(), (
        f"{selector} chose a relation that does not exist"
    )
    assert box.contains(whole.sources).all(), f"{selector} left the source domain"
    integral = box.kind > 0
    assert (whole.sources[:, integral] % 1 == 0).all(), f"{selector}: whole numbers and categories must be whole"

    _assert_same(make(relations, seed=1).propose(groups), whole, f"{selector} depends on more than its seed")
    _assert_same(selector.clone(1).propose(groups), whole, f"{selector}: again() does not start again")
    parts = make(relations, seed=1)
    picks = [parts.propose(count) for count in (1, relation_count, 7, groups - relation_count - 8)]
    split = Picks(*(np.concatenate(columns) for columns in zip(*((p.relation, p.sources) for p in picks), strict=True)))
    _assert_same(split, whole, f"{selector} depends on the number of pairs per call")
    assert not np.array_equal(make(relations, seed=2).propose(groups).sources, whole.sources), (
        f"{selector} ignores its seed"
    )
    if opens:
        first_orders = [make(relations, seed=seed).propose(relation_count).relation.tolist() for seed in range(20)]
        assert all(sorted(order) == list(range(relation_count)) for order in first_orders), (
            f"{selector} leaves out a relation at first"
        )
        assert len({order[0] for order in first_orders}) > 1, f"{selector} always begins with the same relation"

    before = selector.rng.bit_generator.state
    assert 0 <= selector.choose_relation(whole.sources[0]) < relation_count, (
        f"{selector}: relation_for returned no relation"
    )
    for number in range(relation_count):
        assert 0 <= selector.choose_group(number, whole.sources[:5]) < 5, f"{selector}: group_for returned no group"
    assert selector.count == groups, f"{selector} counts queries that choose nothing"
    selector.rng.bit_generator.state = before
    further = selector.propose(groups)
    untouched = make(relations, seed=1)
    untouched.propose(groups)
    _assert_same(further, untouched.propose(groups), f"{selector} remembers queries that choose nothing")

    selector.tell(further, (np.arange(groups) % 4).astype(np.int8), np.linspace(0, 1, groups))
    selector.tell(further, np.zeros(groups, dtype=np.int8), np.full(groups, np.nan))
    selector.tell(further, np.ones(groups, dtype=np.int8))
    sources = selector.propose(groups).sources
    assert box.contains(sources).all(), f"{selector} left the source domain after feedback"
    assert (sources[:, integral] % 1 == 0).all(), f"{selector}: no whole numbers after feedback"

    data = box.sample(25, np.random.default_rng(0))
    from_data = make(relations, seed=1, candidates=data).propose(groups).sources
    assert (from_data[:, None] == data).all(axis=2).any(axis=1).all(), f"{selector} made candidates of its own"
    generated = make(relations, seed=1, candidates="FSCS-ART").propose(groups)
    assert box.contains(generated.sources).all(), f"{selector}: candidates of a generator left the source domain"
    if opens:
        assert set(generated.relation.tolist()) == set(range(relation_count))
    assert len(make(relations, seed=1, k=1).propose(groups)) == groups, f"{selector} needs more than one candidate"


def _assert_same(batch: Picks | GroupBatch, other_batch: Picks | GroupBatch, message: str) -> None:
    for name, values in vars(batch).items():
        np.testing.assert_array_equal(values, getattr(other_batch, name), err_msg=message)


@check_types
def check_generator(
    make: Callable[[int], Generator], relation: FunctionRelation | Box | Any, *, groups: int = 200
) -> None:
    """Assert that a generator satisfies its contract.

    `make` makes a generator from a seed, `relation` is the relation of its groups. The same seed must give the same groups,
    for any sizes of proposals, and another seed other groups. Sources must be in the domain, with the follow-ups that belong
    to them. Feedback and groups that were executed earlier must be accepted.
    """
    validate_integer("groups", "check_generator", groups, 1)
    generator = make(0)
    if not isinstance(generator, Generator):
        reject("make", "check_generator", "a function of a seed that returns a Generator", make)
    target = relation if isinstance(relation, FunctionRelation) else parse_domain(relation, (), generator.name)
    domain = list(target.domain) if isinstance(target, FunctionRelation) else [target]
    width = sum(box.dimension for box in domain)
    assert generator.name, f"{generator} has no name"
    assert generator.count == 0, f"{generator} counts groups before the first proposal"

    whole = generator.propose(groups)
    assert len(whole) == groups, f"{generator} gave {len(whole)} groups instead of {groups}"
    assert generator.count == groups, f"{generator} counts {generator.count} groups after {groups}"
    assert whole.sources.shape == (groups, width), f"{generator}: sources of shape {whole.sources.shape}"
    columns = np.split(whole.sources, np.cumsum([box.dimension for box in domain])[:-1], 1)
    for box, part in zip(domain, columns, strict=True):
        outside = ~(box.accepts(part) if isinstance(box, RangeDomain) else box.contains(part))
        assert not outside.any(), f"{generator} left the domain {box}: {part[outside][0]}"
        fractions = part[:, box.kind != 0] % 1
        assert not fractions.any(), f"{generator} gave fractions instead of whole numbers"
    if isinstance(target, FunctionRelation):
        complaint = f"{generator} gave follow-ups of other sources"
        np.testing.assert_array_equal(whole.follow_ups, target.follow(whole.sources), err_msg=complaint)
    else:
        assert whole.follow_ups.shape == (groups, 0), f"{generator} gave follow-ups of a domain"

    for cut in ([1] * groups, [groups // 3, 1, groups - groups // 3 - 1], [groups - 1, 1]):
        other_generator = make(0)
        parts = _join_groups([other_generator.propose(count) for count in cut if count])
        _assert_same(parts, whole, f"{generator} depends on the sizes of proposals")
    parts = _join_groups(list(islice(make(0), groups)))
    _assert_same(parts, whole, f"{generator} gives other groups when iterated")
    assert not np.array_equal(make(1).propose(groups).sources, whole.sources), f"{generator} ignores its seed"

    _check_feedback(make, whole)
    for bad_count in (0, -1, 1.5, "3", None):
        _assert_refused(make(0).propose, bad_count)
    # too many numbers per row, NaN, and a flat list
    for sources in ([[0.0] * (width + 1)], [[np.nan] * width], [0.0] * width):
        _assert_refused(make(0).know, sources)


def _check_feedback(make: Callable[[int], Generator], whole: GroupBatch) -> None:
    """Assert that a generator accepts all verdicts and earlier groups."""
    groups = len(whole)
    generator = make(0)
    for verdict in (HOLDS, VIOLATED, INAPPLICABLE, UNDEFINED):
        pair = generator.propose(2)
        generator.tell(pair, np.array([verdict, HOLDS], dtype=np.int8))
        generator.tell(pair, np.array([verdict, HOLDS], dtype=np.int8), np.array([np.nan, 0.5]))
    assert generator.count == 8, f"{generator} counts {generator.count} groups after 8"

    second_generator, earlier = make(1), make(2).propose(groups).sources
    second_generator.know(earlier[:1])
    second_generator.know(earlier[1:])
    assert second_generator.count == groups, f"{second_generator} does not count groups executed earlier"
    before = earlier.copy()
    assert len(second_generator.propose(groups)) == groups
    count = second_generator.count
    assert count == 2 * groups, f"{second_generator} counts {count} groups after {2 * groups}"
    np.testing.assert_array_equal(earlier, before, err_msg=f"{second_generator} changed the groups executed earlier")
    second_generator.know(earlier[:0])
    second_generator.know(np.repeat(earlier[:1], 70, axis=0))  # the same group many times
    assert len(second_generator.propose(3)) == 3


def _join_groups(parts: list[GroupBatch]) -> GroupBatch:
    return GroupBatch(
        np.concatenate([part.sources for part in parts]), np.concatenate([part.follow_ups for part in parts])
    )


def _assert_refused(call: Callable[[Any], Any], argument: object) -> None:
    try:
        call(argument)
    except ArgumentError:
        return
    raise AssertionError(f"{call.__name__}({argument!r}) must raise ArgumentError")
