"""Conformance suites: a new executor, generator or selector is tested in one line.

::

    def test_my_executor():
        check_executor(MyExecutor(...), space.sample(50, points=True))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .groups.selection import Picks, Selector
from .outputs import Status
from .relations.numeric import FunctionRelation
from .space.points import Points
from .sut.base import Executor


def check_executor(executor: Executor, points: Points) -> None:
    """Assert that an executor keeps its contract on some points it can answer.

    One output a row, in order; the same for a part, for one row and for any order of rows; nothing changed
    in what it was given; no rows, no outputs; scores of one column a label where it says it has them.
    """
    before = points.codes.copy()
    whole = executor.execute(points)
    assert len(whole) == len(points), f"{executor} gave {len(whole)} outputs for {len(points)} rows"
    assert whole.status.dtype == np.int8, f"{executor}: the status must be int8"
    np.testing.assert_array_equal(points.codes, before, err_msg=f"{executor} changed what it was given")
    assert executor.execute(points).same(whole).all(), f"{executor} answers differently the second time"

    backwards = np.arange(len(points))[::-1]
    assert executor.execute(points.take(backwards)).same(whole.take(backwards)).all(), (
        f"{executor} minds the order"
    )
    half = slice(0, len(points) // 2)
    assert executor.execute(points.take(half)).same(whole.take(half)).all(), f"{executor} minds the batch"
    first = slice(0, 1)
    assert executor.execute(points.take(first)).same(whole.take(first)).all(), f"{executor} minds single rows"
    assert len(executor.execute(points.take(slice(0, 0)))) == 0, f"{executor} gave outputs for no rows"
    twice = executor.execute(Points.concat([points, points]))
    assert twice.take(slice(len(points), None)).same(whole).all(), f"{executor} minds repeated rows"

    if executor.labels is not None:
        known = {Status(s) for s in np.unique(whole.status)} - {Status.NEW_LABEL}
        assert known <= set(Status), f"{executor}: unknown status"
        assert set(whole.values[whole.status == Status.OK].tolist()) <= set(executor.labels)
    scored = executor.execute(points, scores=True)
    assert scored.same(whole).all(), f"{executor} gives other labels when it is asked for scores"
    if executor.score_kind is None:
        assert scored.scores is None, f"{executor} gives scores it says it does not have"
    else:
        assert scored.scores is not None
        assert scored.scores.shape[0] == len(points)
        if executor.labels is not None:
            assert scored.scores.shape[1] == len(executor.labels)


def check_selector(
    make: Callable[..., Selector], relations: Sequence[FunctionRelation], *, opens: bool = True, groups: int = 60
) -> None:
    """Assert that a selector keeps its contract on some relations of one source domain.

    Parameters
    ----------
    make : callable
        Returns the selector: it is given the relations, and `seed`, `k` and `candidates` by keyword.
    relations : sequence of FunctionRelation
        At least two, with one source a group each.
    opens : bool
        Whether each relation comes once before any comes again.
    groups : int
        How many pairs are made each time.
    """
    few = len(relations)
    selector = make(relations, seed=1)
    box = selector.relations[0].domain[0]
    whole = selector.propose(groups)
    assert len(whole) == selector.count == groups, f"{selector} gave {len(whole)} pairs for {groups}"
    assert whole.sources.shape == (groups, box.dimension), f"{selector}: sources of shape {whole.sources.shape}"
    assert ((whole.relation >= 0) & (whole.relation < few)).all(), f"{selector} chose a relation there is not"
    assert box.contains(whole.sources).all(), f"{selector} left the source domain"
    settled = box.kind > 0
    assert (whole.sources[:, settled] % 1 == 0).all(), f"{selector}: whole numbers and categories must be whole"

    _assert_same(make(relations, seed=1).propose(groups), whole, f"{selector} minds more than its seed")
    _assert_same(selector.again(1).propose(groups), whole, f"{selector}: again() does not start again")
    parts = make(relations, seed=1)
    made = [parts.propose(count) for count in (1, few, 7, groups - few - 8)]
    split = Picks(*(np.concatenate(each) for each in zip(*((p.relation, p.sources) for p in made), strict=True)))
    _assert_same(split, whole, f"{selector} minds how many pairs it is asked for at once")
    assert not np.array_equal(make(relations, seed=2).propose(groups).sources, whole.sources), (
        f"{selector} does not mind its seed"
    )
    if opens:
        firsts = [make(relations, seed=seed).propose(few).relation.tolist() for seed in range(20)]
        assert all(sorted(order) == list(range(few)) for order in firsts), (
            f"{selector} leaves a relation out at first"
        )
        assert len({order[0] for order in firsts}) > 1, f"{selector} always begins with the same relation"

    before = selector.rng.bit_generator.state
    assert 0 <= selector.relation_for(whole.sources[0]) < few, f"{selector}: relation_for gave no relation"
    for number in range(few):
        assert 0 <= selector.group_for(number, whole.sources[:5]) < 5, f"{selector}: group_for gave no group"
    assert selector.count == groups, f"{selector} counts what it was only asked about"
    selector.rng.bit_generator.state = before
    further = selector.propose(groups)
    untouched = make(relations, seed=1)
    untouched.propose(groups)
    _assert_same(further, untouched.propose(groups), f"{selector} remembers what it was only asked about")

    selector.tell(further, (np.arange(groups) % 4).astype(np.int8), np.linspace(0, 1, groups))
    selector.tell(further, np.zeros(groups, dtype=np.int8), np.full(groups, np.nan))
    selector.tell(further, np.ones(groups, dtype=np.int8))
    told = selector.propose(groups).sources
    assert box.contains(told).all(), f"{selector} left the source domain after it was told"
    assert (told[:, settled] % 1 == 0).all(), f"{selector}: no whole numbers after it was told"

    data = box.sample(25, np.random.default_rng(0))
    from_data = make(relations, seed=1, candidates=data).propose(groups).sources
    assert (from_data[:, None] == data).all(axis=2).any(axis=1).all(), f"{selector} made candidates of its own"
    generated = make(relations, seed=1, candidates="FSCS-ART").propose(groups)
    assert box.contains(generated.sources).all(), f"{selector}: candidates of a generator left the source domain"
    if opens:
        assert set(generated.relation.tolist()) == set(range(few))
    assert len(make(relations, seed=1, k=1).propose(groups)) == groups, f"{selector} needs more than one candidate"


def _assert_same(picks: Picks, others: Picks, message: str) -> None:
    np.testing.assert_array_equal(picks.relation, others.relation, err_msg=message)
    np.testing.assert_array_equal(picks.sources, others.sources, err_msg=message)
