"""The journal of a run: answers as bytes and back, and runs that go on where they stopped, asking nothing twice."""

from __future__ import annotations

import datetime
import json
import zlib
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import datamorphic as dm
from datamorphic import Status
from datamorphic.errors import DataError, Interrupted, OutOfBudget, StoreError
from datamorphic.runs import journal as journal_module
from datamorphic.runs.deadline import DeadlinePassed
from datamorphic.runs.driver import CallCounter, drive
from datamorphic.runs.flow import Query, ask
from datamorphic.runs.journal import HEADER_FORMAT, RunJournal, pack_outputs, unpack_outputs
from datamorphic.runs.store import Store
from datamorphic.space.outputs import Outputs
from datamorphic.space.points import Rows
from datamorphic.systems.base import Executor, SystemTraits
from datamorphic.systems.guard import SolvedPiece
from support.cases import FEW_EXAMPLES, LONG

SPACE = dm.Space([dm.Integer("n", 0, 1_000_000)])


def numbers(values):
    return SPACE.points(pd.DataFrame({"n": np.asarray(values, dtype=np.int64)}))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("journals") / "runs.sqlite") as store:
        yield store


# -- outputs of every kind ---------------------------------------------------------------------------------------

PLAIN = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4", ">f8", "U1", "U7"]
LABELS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)


def as_objects(labels):
    values = np.empty(len(labels), dtype=object)
    values[:] = labels
    return values


@st.composite
def outputs(draw, least=0, most=12, width=None):
    count = draw(st.integers(least, most))
    if draw(st.booleans()):
        values = as_objects(draw(st.lists(LABELS, min_size=count, max_size=count)))
    else:
        values = draw(npst.arrays(np.dtype(draw(st.sampled_from(PLAIN))), count))
    status = draw(npst.arrays(np.int8, count, elements=st.sampled_from([0, 0, *map(int, Status)])))
    for row in np.flatnonzero((status != Status.OK) & (status != Status.NEW_LABEL)):
        if values.dtype == object:
            values[row] = None  # what a row without an answer holds
    columns = draw(st.none() | st.integers(1, 3)) if width is None else width
    scores = None if not columns else draw(npst.arrays(np.float64, (count, columns)))
    bad = np.flatnonzero(status).tolist()
    rows = draw(st.sets(st.sampled_from(bad))) if bad else set()
    return Outputs(values, status, scores, {row: draw(st.text(max_size=5)) for row in sorted(rows)})


def as_plain_values(outputs):
    """All there is in outputs, so that equal means the same to the last bit and type."""
    values = outputs.values
    return {
        "dtype": values.dtype,
        "values": [repr(value) for value in values.tolist()] if values.dtype == object else values.tobytes(),
        "status": (outputs.status.dtype, outputs.status.tolist()),
        "scores": None if outputs.scores is None else (outputs.scores.shape, outputs.scores.tobytes()),
        "messages": outputs.messages,
    }


@pytest.mark.slow
@given(outputs())
@example(Outputs.empty())
@example(Outputs.of(np.array(["", "a\0b", "é🦜"])))
@example(Outputs.of(np.array([np.nan, -np.inf, -0.0]), np.array([[np.nan], [np.inf], [-0.0]])))
@example(Outputs.of(as_objects([(1, ("a", None)), True, 1, 1.0, float("nan"), 10**40])))
@example(Outputs(as_objects([None]), np.array([Status.ERROR], np.int8), None, {0: "\ud800\0"}))
def test_outputs_come_back_to_the_last_bit(outputs):
    assert as_plain_values(unpack_outputs(pack_outputs(outputs))) == as_plain_values(outputs)


@pytest.mark.slow
@given(outputs())
def test_what_comes_back_can_be_written_to(outputs):
    back = unpack_outputs(pack_outputs(outputs))
    for array in (back.values, back.status, back.scores):
        assert array is None or array.flags.writeable  # the cache copies rows into them


def test_numbers_of_numpy_among_other_labels_come_back_as_pythons():
    back = unpack_outputs(
        pack_outputs(Outputs.of(as_objects([np.int64(3), np.str_("a"), (np.float64(0.5), np.bool_(True))])))
    )
    assert [repr(label) for label in back.values] == ["3", "'a'", "(0.5, True)"]


def test_what_a_failed_row_holds_is_nothing():
    status = np.array([Status.OK, Status.MALFORMED, Status.NEW_LABEL], np.int8)
    back = unpack_outputs(pack_outputs(Outputs(as_objects(["a", object(), "c"]), status)))
    assert back.values.tolist() == ["a", None, "c"]


@pytest.mark.parametrize(
    "values",
    [
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([5], dtype="timedelta64[s]"),
        np.array([1 + 2j]),
        np.array([b"bytes"]),
        as_objects([datetime.date(2020, 1, 1)]),
        as_objects([("a", 1j)]),
        as_objects([b"bytes"]),
    ],
    ids=lambda values: f"{values.dtype}-{type(values.tolist()[0]).__name__}",
)
def test_labels_that_cannot_be_kept_are_refused_with_their_type(values):
    with pytest.raises(DataError, match=r"cannot be (kept|stored).*Use strings"):
        pack_outputs(Outputs.of(values))


# -- damage ------------------------------------------------------------------------------------------------------

SOME = Outputs(
    np.array([3, 1, 2]),
    np.array([0, 6, 0], np.int8),
    np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]]),
    {1: "a label it was not known to have"},
)


def headed(about, body=b""):
    head = json.dumps(about).encode()
    return HEADER_FORMAT.pack(len(head), zlib.crc32(head + body)) + head + body


@pytest.mark.slow
@given(outputs(1, 6), st.data())
def test_bytes_that_are_cut_short_are_refused(outputs, data):
    whole = pack_outputs(outputs)
    with pytest.raises(DataError, match="damaged"):
        unpack_outputs(whole[: data.draw(st.integers(0, len(whole) - 1))])


@given(st.binary(max_size=80))
@example(headed([]))
@example(headed({}))
@example(headed({"rows": 1, "parts": [8], "dtype": "<i8"}))
@example(headed({"rows": 1, "parts": [], "dtype": "<i8"}))
@example(headed({"rows": 1, "parts": ["x"], "dtype": "<i8"}))
@example(headed({"rows": 1, "parts": [], "dtype": "|O", "values": [{"list": []}]}))
@example(headed({"rows": 1, "parts": [], "dtype": "|O", "values": ["a"], "scores": 3}))
@example(headed({"rows": 1, "parts": [], "dtype": "|O", "values": ["a"], "messages": {"x": "y"}}))
@example(headed({"rows": 1, "parts": [], "dtype": "V8"}))
def test_bytes_that_are_something_else_are_refused(data):
    with pytest.raises(DataError, match="damaged"):
        unpack_outputs(data)


def test_a_label_of_a_type_that_needs_pickling_is_never_made():
    with pytest.raises(DataError, match="type of labels"):
        unpack_outputs(headed({"rows": 1, "parts": [8], "dtype": "|O"}, pack_outputs(Outputs.of(np.array([0])))[-17:]))


def flips(data):
    """The data with each of its bits changed in turn."""
    for place in range(8 * len(data)):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        yield bytes(changed)


def test_a_changed_bit_raises_nothing_but_our_own_error():
    refused = 0
    for data in flips(pack_outputs(SOME)):
        try:
            unpack_outputs(data)
        except DataError:
            refused += 1
    assert refused > 100


def test_every_changed_bit_is_noticed():
    for data in flips(pack_outputs(SOME)):
        with pytest.raises(DataError, match="damaged"):
            unpack_outputs(data)


@pytest.mark.parametrize(
    "about",
    [
        {"rows": 2, "parts": [], "dtype": "|O", "values": ["a"]},
        {"rows": 2, "parts": [], "dtype": "|O", "values": ["a", "b"], "messages": {"7": "no such row"}},
        {"rows": 1, "parts": [1 << 50], "dtype": "<i8"},
        {"rows": 1, "parts": [-8], "dtype": "<i8"},
        {"rows": 1 << 50, "parts": [], "dtype": "|O", "values": ["a"]},
        {"rows": 3, "parts": [16], "dtype": "<i8"},
    ],
)
def test_figures_that_cannot_be_true_are_refused(about):
    body = pack_outputs(Outputs.of(np.array([1, 2])))
    body = body[HEADER_FORMAT.size + HEADER_FORMAT.unpack_from(body)[0] :]  # two numbers, compressed
    with pytest.raises(DataError, match="damaged"):
        unpack_outputs(headed(about, body if about["parts"] else b""))


# -- pieces ------------------------------------------------------------------------------------------------------


def begun(store, seed=0):
    return store.begin("explore", "spy", {}, seed=seed)


def journal_of(store, run, seed=0, **options):
    return RunJournal(store, run, np.random.default_rng(seed), **options)


PIECES = st.lists(
    st.builds(
        SolvedPiece,
        outputs=outputs(1, 4, width=0) | outputs(1, 4, width=2),
        repeated_rows=st.integers(0, 3),
        failures=st.just(0),
        alive=st.booleans(),
        traits=st.builds(SystemTraits, st.booleans(), st.sampled_from([None, "decision", "probability"])),
    ).map(lambda solved: SolvedPiece(**{**vars(solved), "failures": solved.repeated_rows})),
    min_size=1,
    max_size=6,
)


def solved_as_plain_values(solved):
    return {**vars(solved), "outputs": as_plain_values(solved.outputs)}


@pytest.mark.slow
@FEW_EXAMPLES
@given(pieces=PIECES, data=st.data())
def test_pieces_of_any_kind_in_any_order_come_back_unchanged(store, pieces, data):
    run, batch = begun(store), numbers(range(30))
    writing = journal_of(store, run)
    assert writing.find_pieces(batch, False, len(pieces)) == {}
    order = data.draw(st.permutations(range(len(pieces))))
    written_pieces = order[: data.draw(st.integers(0, len(order)))]
    for piece in written_pieces:
        writing.keep(piece, pieces[piece])
        if data.draw(st.booleans()):
            writing.write()  # the store is told now and then: never of a piece twice
    writing.write()
    stored_pieces = journal_of(store, run).find_pieces(batch, False, len(pieces))
    assert {piece: solved_as_plain_values(solved) for piece, solved in stored_pieces.items()} == {
        piece: solved_as_plain_values(pieces[piece]) for piece in written_pieces
    }


def test_pieces_alike_are_kept_together_and_others_apart(store, monkeypatch):
    monkeypatch.setattr("datamorphic.runs.journal.WRITE_INTERVAL_SECONDS", 1000)  # a slow machine writes no earlier
    run, batch = begun(store), numbers(range(30))
    writing = journal_of(store, run)
    writing.find_pieces(batch, False, 6)
    texts = ["a", "b", "ccc", "d", "e"]  # the third is of another dtype, and piece 4 is still under way
    for piece, text in zip([0, 1, 2, 3, 5], texts, strict=True):
        writing.keep(piece, SolvedPiece(outputs=Outputs.of(np.array([text]))))
    writing.write()
    assert [(entry.first, entry.pieces) for entry in store.entries(run)] == [(0, 2), (2, 1), (3, 1), (5, 1)]


# -- runs that go on ---------------------------------------------------------------------------------------------


class Cut(BaseException):
    """What ends a run from outside."""


class Spy(Executor):
    """Answers numbers with words, writes down what it was asked, and ends the run at a call of your choice."""

    name, space, batch_rows = "spy", SPACE, 5

    def __init__(self, cut=None, raising=False, label=None):
        self.asked = []
        self.calls = 0
        self._cut, self._raising, self._label = cut, raising, label

    def answer(self, batch, scores):
        n = batch.frame["n"].to_numpy()
        if self.calls == self._cut:
            raise Cut
        self.calls += 1
        self.asked += n.tolist()
        if self._raising and (n % 11 == 3).any():
            raise ValueError("three too many")
        if self._label is not None:
            return Outputs.of(self._label(n))
        words = np.array(["low" if item < 500_000 else "higher" for item in n])  # dtypes differ from piece to piece
        status = np.where(n % 13 == 5, Status.MISSING, Status.OK).astype(np.int8)
        messages = {int(row): "no answer" for row in np.flatnonzero(status)}
        return Outputs(words, status, None, messages)


def wander(rng, sizes, ending=None):
    """A flow of which every question depends on chance and on all answers before; tells all it was told."""
    seen, place = [], 0
    try:
        for number, size in enumerate(sizes):
            if number == ending:
                raise Cut
            rows = (rng.integers(0, 1_000_000, size) + place) % 1_000_000
            outputs = yield Query(numbers(rows), fresh=bool(number % 2), progress=number / len(sizes))
            place += 7 * int((outputs.values == "low").sum())
            seen.append(as_plain_values(outputs))
    except OutOfBudget as stop:
        if isinstance(stop, Interrupted):
            raise
    return seen


def session(store, run, system, sizes, *, batch=7, seed=0, ending=None, journal=RunJournal, **options):
    """Begin a run, or go on with it; return what it found, or None if it was cut, and its tally."""
    rng, tally = np.random.default_rng(seed), CallCounter()
    run_journal = journal(store, run, rng)
    try:
        answers = drive(
            wander(rng, sizes, ending), system, journal=run_journal, tally=tally, batch=batch, progress=False, **options
        )
    except Cut:
        answers = None
    return answers, tally


def whole(store, sizes, **options):
    system = Spy()
    answers, tally = session(store, begun(store), system, sizes, **options)
    return answers, tally, system


def cost(tally):
    return (tally.runs, tally.calls, tally.health.repeated_rows, tally.health.status_counts, tally.incidents.to_dict())


SIZES = [3, 20, 1, 9, 14]


def test_a_whole_journal_is_told_again_without_asking(store):
    run, first, second = begun(store), Spy(), Spy()
    answers, tally = session(store, run, first, SIZES)
    again, tally_again = session(store, run, second, SIZES)
    assert first.asked
    assert second.asked == []
    assert again == answers
    assert cost(tally_again) == cost(tally)


def test_a_journal_changes_nothing_about_a_run(store):
    answers, tally, system = whole(store, SIZES)
    rng, bare, tally_bare = np.random.default_rng(0), Spy(), CallCounter()
    assert drive(wander(rng, SIZES), bare, tally=tally_bare, batch=7, progress=False) == answers
    assert bare.asked == system.asked
    assert cost(tally_bare) == cost(tally)


def test_pieces_are_as_large_as_was_asked_for(store):
    run = begun(store)
    session(store, run, Spy(), [20], recheck=0)
    sizes = [size for entry in store.entries(run) for size in entry.about["sizes"]]
    assert sizes == [5, 5, 5, 5]  # none above 7, and an even number


def test_the_smaller_half_of_a_journal_is_half_the_work(store):
    full, _, system = whole(store, SIZES, recheck=0)
    run, before, after = begun(store), Spy(cut=4), Spy()
    assert session(store, run, before, SIZES, recheck=0)[0] is None
    assert session(store, run, after, SIZES, recheck=0)[0] == full
    assert 0 < len(after.asked) < len(system.asked)


@pytest.mark.slow
def test_every_place_to_cut_gives_the_same_and_asks_nothing_twice(store):
    full, tally, system = whole(store, SIZES)
    for cut in range(system.calls):
        run, before, after = begun(store), Spy(cut=cut), Spy()
        assert session(store, run, before, SIZES)[0] is None
        again, tally_again = session(store, run, after, SIZES)
        assert again == full, f"cut at call {cut}"
        assert before.asked + after.asked == system.asked, f"cut at call {cut}"
        assert cost(tally_again) == cost(tally)


def test_a_flow_that_raises_between_any_two_questions_goes_on_there(store):
    full, _, system = whole(store, SIZES)
    for ending in range(len(SIZES)):
        run, before, after = begun(store), Spy(), Spy()
        assert session(store, run, before, SIZES, ending=ending)[0] is None
        assert session(store, run, after, SIZES)[0] == full
        assert before.asked + after.asked == system.asked


class Killed(RunJournal):
    """A journal whose process is gone once the run is cut: nothing is written after that."""

    def write(self, *, only_if_due=False):
        if only_if_due:
            super().write(only_if_due=True)


@pytest.mark.slow
def test_a_kill_costs_no_more_than_what_was_not_yet_written(store, monkeypatch):
    monkeypatch.setattr(journal_module, "WRITE_INTERVAL_SECONDS", 0.0)  # written piece by piece, nothing is lost at all
    full, _, system = whole(store, SIZES)
    for cut in range(0, system.calls, 1 if LONG else 3):
        run, before, after = begun(store), Spy(cut=cut), Spy()
        assert session(store, run, before, SIZES, journal=Killed)[0] is None
        assert session(store, run, after, SIZES)[0] == full
        assert before.asked + after.asked == system.asked
    monkeypatch.setattr(
        journal_module, "WRITE_INTERVAL_SECONDS", 1e9
    )  # nothing is ever due, all is lost, and asked again
    run, before, after = begun(store), Spy(cut=system.calls - 1), Spy()
    assert session(store, run, before, SIZES, journal=Killed)[0] is None
    assert session(store, run, after, SIZES)[0] == full
    assert after.asked == system.asked


@pytest.mark.slow
@FEW_EXAMPLES
@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=5),
    batch=st.integers(1, 40),
    cuts=st.lists(st.integers(0, 12), max_size=4),
    seed=st.integers(0, 3),
)
def test_runs_cut_again_and_again_end_the_same_and_ask_nothing_twice(store, sizes, batch, cuts, seed):
    full, tally, system = whole(store, sizes, batch=batch, seed=seed)
    run, query_counts = begun(store, seed), Counter()
    answers = None
    for cut in [*cuts, None]:
        spy = Spy(cut=cut)
        answers, tally_again = session(store, run, spy, sizes, batch=batch, seed=seed)
        query_counts.update(spy.asked)
        if answers is not None:
            break
    assert answers == full
    assert query_counts == Counter(system.asked)
    assert cost(tally_again) == cost(tally)


@pytest.mark.parametrize("engine", [None, "threads:3"])
def test_rows_at_fault_are_found_once_whoever_computes(store, engine):
    sizes, full_spy = [40, 25], Spy(raising=True)
    full, tally = session(store, begun(store), full_spy, sizes)
    assert tally.health.status_counts[Status.ERROR] > 2
    run, before, after = begun(store), Spy(cut=30, raising=True), Spy(raising=True)
    assert session(store, run, before, sizes)[0] is None
    stored_rows = sum(entry.rows for entry in store.entries(run))
    assert stored_rows > 0
    again, tally_again = session(store, run, after, sizes, engine=engine)
    assert again == full
    assert cost(tally_again) == cost(tally)
    assert not (Counter(after.asked) - Counter(full_spy.asked))


def test_the_store_hears_how_far_a_run_is(store):
    run = begun(store)
    session(store, run, Spy(), SIZES)
    about = store.run(run)
    assert about.runs == sum(SIZES)
    assert about.calls > 0
    assert about.done == 4 / 5


# -- runs that are not the same any more -------------------------------------------------------------------------


def test_another_question_is_refused_and_says_so(store):
    run = begun(store)
    session(store, run, Spy(cut=4), SIZES)
    other = Spy()
    with pytest.raises(StoreError, match=rf"Run {run} cannot be resumed: its query 2 differs .*Start a new run"):
        session(store, run, other, [3, 19, 1, 9, 14], recheck=0)
    assert other.asked == []


def test_another_random_state_is_refused_though_the_question_is_the_same(store):
    run, batch = begun(store), numbers([1, 2, 3])
    drive(ask(batch), Spy(), journal=journal_of(store, run, 0), progress=False)
    assert store.run(run).calls == 3
    with pytest.raises(StoreError, match="query 1 differs"):
        drive(ask(batch), Spy(), journal=journal_of(store, run, 1), progress=False)
    system = Spy()
    drive(ask(batch), system, journal=journal_of(store, run, 0), progress=False)
    assert system.asked == []


def test_scores_wanted_or_not_are_two_questions(store):
    run, batch = begun(store), numbers([1, 2, 3])
    journal_writing = journal_of(store, run)
    journal_writing.find_pieces(batch, False, 1)
    journal_writing.keep(0, SolvedPiece(outputs=Outputs.of(np.array([1, 2, 3]))))
    journal_writing.write()
    with pytest.raises(StoreError, match="query 1"):
        journal_of(store, run).find_pieces(batch, True, 1)


@pytest.mark.parametrize("change", [0.5, pytest.param(1e-13)])
def test_rows_without_a_space_are_compared_to_the_last_digit(store, change):
    run = begun(store)
    writing = journal_of(store, run)
    writing.find_pieces(Rows(pd.DataFrame({"x": [0.25]})), False, 1)
    writing.keep(0, SolvedPiece(outputs=Outputs.of(np.array([1]))))
    writing.write()
    with pytest.raises(StoreError, match="query 1"):
        journal_of(store, run).find_pieces(Rows(pd.DataFrame({"x": [0.25 + change]})), False, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, np.int64(7), None], ids=lambda seed: type(seed).__name__)
def test_a_run_goes_on_whatever_its_chance_was_made_from(tmp_path, seed):
    url, calls, stop_at = tmp_path / "runs.sqlite", [], 6

    def model(frame):
        if len(calls) == stop_at:
            raise KeyboardInterrupt
        calls.append(len(frame))
        return frame["n"] > 500_000

    def explore(resume=None):
        return dm.explore(model, SPACE, walks=12, seed=seed, store=url, resume=resume, progress=False)

    assert explore().tally.interrupted
    stop_at = None
    assert not explore(resume=1).exhausted


def test_chance_that_cannot_be_written_down_is_refused(tmp_path):
    for seed in (np.random.SeedSequence(7), np.random.default_rng(7)):
        with pytest.raises(dm.errors.ArgumentError, match="so that the run can be repeated"):
            dm.explore(dm.subjects["Box 1"], walks=5, seed=seed, store=tmp_path / "runs.sqlite")


# -- time --------------------------------------------------------------------------------------------------------


def test_what_is_only_told_again_takes_no_time(store, clock):
    run, batch = begun(store), numbers([1, 2])
    writing = journal_of(store, run)
    writing.find_pieces(batch, False, 1)
    clock.time += 3
    writing.keep(0, SolvedPiece(outputs=Outputs.of(np.array([1, 2]))))
    clock.time += 2
    writing.write()
    assert writing.seconds == 5
    assert store.run(run).seconds == 5
    resumed = journal_of(store, run, earlier_seconds=5.0)
    clock.time += 100  # somebody reads the journal, slowly
    assert resumed.seconds == 0
    assert len(resumed.find_pieces(batch, False, 1)) == 1
    clock.time += 100
    assert resumed.seconds == 3  # as when it was answered
    resumed.find_pieces(batch, False, 1)  # this one is new
    clock.time += 2
    assert resumed.seconds == 7


def test_a_budget_of_time_that_was_spent_does_not_cut_off_what_is_told_again(store):
    run = begun(store)
    session(store, run, Spy(), SIZES, ending=3)  # three questions are answered, then it is killed
    rng, tally, system = np.random.default_rng(0), CallCounter(), Spy()
    journal = RunJournal(store, run, rng, earlier_seconds=100.0)
    answers = drive(wander(rng, SIZES), system, journal=journal, tally=tally, batch=7, progress=False, budget="50s")
    assert len(answers) >= 3
    assert tally.exhausted


def test_a_budget_of_time_goes_on_where_it_was(store, clock):
    class Slow(Spy):
        def answer(self, batch, scores):
            outputs = super().answer(batch, scores)
            clock.time += 10
            return outputs

    def timed(run, system, earlier_seconds=0.0):
        rng, tally = np.random.default_rng(0), CallCounter()
        journal = RunJournal(store, run, rng, earlier_seconds=earlier_seconds)
        try:
            answers = drive(
                wander(rng, [5] * 10),
                system,
                journal=journal,
                tally=tally,
                batch=5,
                recheck=0,
                progress=False,
                budget="45s",
            )
        except Cut:
            answers = None
        return answers, tally.exhausted, journal.seconds

    full, exhausted, seconds = timed(begun(store), Slow())
    assert exhausted
    assert (len(full), seconds) == (5, 50)
    run = begun(store)
    _, _, spent = timed(run, Slow(cut=3))
    assert spent == 30
    clock.time += 1000  # the night between the two
    again, exhausted, _ = timed(run, Slow(), spent)
    assert again == full
    assert exhausted


def test_a_budget_of_runs_counts_what_was_told_again(store):
    full, tally, _ = whole(store, SIZES, budget=35)
    assert 0 < tally.runs <= 35
    run = begun(store)
    session(store, run, Spy(cut=3), SIZES, budget=35)
    again, tally_again = session(store, run, Spy(), SIZES, budget=35)
    assert again == full
    assert tally_again.exhausted
    assert tally_again.runs == tally.runs


class Timed(Spy):
    """Takes ten seconds or more for every batch; a time limit may end its work."""

    limit = None

    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def answer(self, batch, scores):
        if self.limit is not None:
            raise DeadlinePassed(self.limit)
        outputs = super().answer(batch, scores)
        self.clock.move(10 + self.calls % 3)
        return outputs


def decide_by_time(journal, system, clock, ends):
    """Ask questions whose sizes and ends depend on the time, and return all that was decided.

    `ends` has the rounds whose time limit ends the block: before, in, or after its second question.
    """
    decisions = []
    for number in range(8):
        size = 3 + int(journal.recall(clock.read)) % 5
        try:
            with journal.limit(1000.0) as outer, journal.limit(None) as inner:
                limit = (inner if number % 2 else outer)._timer
                outputs = drive(ask(numbers(range(size))), system, journal=journal, batch=2, progress=False, recheck=0)
                decisions.append(len(outputs))
                if ends.get(number) == "before":
                    raise DeadlinePassed(limit)
                system.limit = limit if ends.get(number) == "in" else None
                flow = wander(np.random.default_rng(number), [4, 4, 4])
                decisions.append(drive(flow, system, journal=journal, batch=2, progress=False, recheck=0, budget="25s"))
                if ends.get(number) == "after":
                    raise DeadlinePassed(limit)
        except OutOfBudget as error:
            decisions.append(str(error))
        finally:
            system.limit = None
    drive(ask(numbers([1])), system, journal=journal, progress=False)
    return decisions


def test_a_resumed_run_decides_as_its_first_part_did_however_slow_that_was(store, clock, monkeypatch):
    monkeypatch.setattr(journal_module, "WRITE_INTERVAL_SECONDS", 0.0)
    run, rng = begun(store), np.random.default_rng(0)
    ends = {1: "before", 2: "in", 4: "after", 5: "in", 6: "before"}
    decisions = decide_by_time(RunJournal(store, run, rng), Timed(clock), clock, ends)
    assert decisions.count("the time is up") == len(ends)
    assert len({item for item in decisions if isinstance(item, int)}) > 1
    assert len({len(item) for item in decisions if isinstance(item, list)}) == 1  # budgets end all flows early
    clock.move(12345)
    replaying = Timed(clock)
    assert decide_by_time(RunJournal(store, run, rng), replaying, clock, {}) == decisions
    assert replaying.calls == 0
    entries = list(store.entries(run))
    for count in range(1, len(entries)):  # killed after every entry
        killed = begun(store)
        seconds = float(entries[count - 1].about["seconds"])
        store.commit(killed, entries[:count], seconds=seconds)
        journal, resumed = RunJournal(store, killed, rng, earlier_seconds=seconds), Timed(clock)
        assert not journal.seconds
        decide_by_time(journal, resumed, clock, {})
        assert not journal.replaying
        assert resumed.calls > 0
        assert journal.seconds > seconds


# -- labels that cannot be kept ----------------------------------------------------------------------------------


def test_labels_that_cannot_be_kept_stop_no_run(store):
    def days(n):
        return (n % 3).astype("datetime64[D]")

    run, rng = begun(store), np.random.default_rng(0)
    journal = RunJournal(store, run, rng)
    answers = drive(wander(rng, SIZES), Spy(label=days), journal=journal, batch=7, progress=False)
    assert len(answers) == len(SIZES)
    assert "datetime64" in journal.stop_reason
    assert next(store.entries(run), None) is None
    assert store.run(run).calls > 0  # how far it is can be told all the same


def test_what_was_kept_before_an_unkeepable_label_is_not_asked_again(store, monkeypatch):
    monkeypatch.setattr(journal_module, "WRITE_INTERVAL_SECONDS", 0.0)
    late = 500_000

    def odd(n):
        return as_objects([datetime.date(2020, 1, 1) if item > late else "a word" for item in n.tolist()])

    def flow():
        first = yield Query(numbers([1, 2, 3]))
        second = yield Query(numbers([4, late + 1]))
        third = yield Query(numbers([5]))
        return [first.values.tolist(), second.values.tolist(), third.values.tolist()]

    run, before, after = begun(store), Spy(label=odd), Spy(label=odd)
    for system in (before, after):
        journal = journal_of(store, run)
        answers = drive(flow(), system, journal=journal, progress=False, recheck=0)
        assert answers == [["a word"] * 3, ["a word", datetime.date(2020, 1, 1)], ["a word"]]
        assert "date" in journal.stop_reason
    assert before.asked == [1, 2, 3, 4, late + 1, 5]
    assert after.asked == [4, late + 1, 5]
