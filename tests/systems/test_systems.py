"""Wrapping systems: estimators, functions, files; and the wrappers around them."""

from __future__ import annotations

import copy
import functools
import math
from concurrent.futures import Future
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import datamorphic as dm
from datamorphic import Status
from datamorphic._clock import use_clock
from datamorphic.errors import SystemDied, SystemHung
from datamorphic.space.outputs import Outputs
from datamorphic.systems.cache import CachingSystem, CountingSystem
from datamorphic.systems.guard import GuardedSystem
from datamorphic.systems.isolation import IsolatedSystem
from datamorphic.testing.conformance import check_executor
from support.cases import in_one_test
from support.clock import ManualClock


@pytest.fixture
def training(mixed):
    frame = mixed.sample(200, seed=0)
    return frame, np.where(frame["x"] + frame["n"] > 8, "high", "low")


def encoded():
    return make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["c"]), (StandardScaler(), ["x", "n"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (LogisticRegression(), "decision"),
        (KNeighborsClassifier(3), "probability"),
        (RandomForestClassifier(5, random_state=0), "probability"),
        (SVC(), "decision"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_pipelines_on_frames_with_scores(mixed, training, model, kind):
    frame, labels = training
    pipeline = make_pipeline(encoded(), model).fit(frame, labels)
    sut = dm.wrap(pipeline, space=mixed)
    assert sut.labels == ("high", "low")
    assert sut.score_kind == kind
    check_executor(sut, mixed.sample(40, seed=1, points=True))
    outputs = sut.execute(frame, scores=True)
    np.testing.assert_array_equal(outputs.values, pipeline.predict(frame))
    best = np.array(sut.labels)[outputs.scores.argmax(axis=1)]
    np.testing.assert_array_equal(best, outputs.values)


def test_columns_are_given_in_the_order_of_the_fit(mixed, training):
    frame, labels = training
    model = KNeighborsClassifier(1).fit(frame[["n", "x"]], labels)
    sut = dm.wrap(model, space=mixed)  # the space has c too, and x first
    np.testing.assert_array_equal(sut.execute(mixed.points(frame)).values, labels)


def test_a_model_fitted_on_an_array_gets_an_array(training):
    frame, labels = training
    model = KNeighborsClassifier(1).fit(frame[["x", "n"]].to_numpy(), labels)
    space = dm.Space([dm.Continuous("x", 0, 6.28), dm.Integer("n", 0, 10)])
    sut = dm.wrap(model, space=space)
    np.testing.assert_array_equal(sut.execute(frame[["x", "n"]]).values, labels)


def test_regressors_clusterers_and_several_labels(training):
    frame, _ = training
    numbers = frame[["x", "n"]]
    space = dm.Space([dm.Continuous("x", 0, 6.28), dm.Integer("n", 0, 10)])
    regressor = dm.wrap(LinearRegression().fit(numbers, numbers["x"]), space=space)
    assert regressor.labels is None
    assert regressor.score_kind is None
    np.testing.assert_allclose(regressor.execute(numbers).values, numbers["x"])
    clusters = dm.wrap(KMeans(2, random_state=0, n_init=1).fit(numbers), space=space)
    assert set(clusters.execute(numbers).values) == {0, 1}
    targets = np.column_stack([numbers["x"] > 3, numbers["n"] > 5])
    several = dm.wrap(MultiOutputClassifier(KNeighborsClassifier(1)).fit(numbers, targets), space=space)
    assert several.execute(numbers).values[0] == tuple(targets[0].tolist())


def test_functions_of_frames_and_of_single_cases(mixed):
    points = mixed.sample(30, seed=2, points=True)
    of_frame = dm.wrap(lambda f: np.where(f["n"] > 5, "many", "few"), space=mixed, name="counter")
    by_name = dm.wrap(lambda n: "many" if n > 5 else "few", space=mixed, scalar=True)
    of_dict = dm.wrap(lambda case: "many" if case["n"] > 5 else "few", space=mixed, scalar=True)
    for sut in (of_frame, by_name, of_dict):
        check_executor(sut, points)
        assert sut.execute(points).same(of_frame.execute(points)).all()
    assert of_frame.name == "counter"


def test_a_system_without_a_space_takes_frames_as_they_are():
    sut = dm.wrap(lambda f: f["text"].str.len())
    assert sut.execute(pd.DataFrame({"text": ["a", "bcd"]})).values.tolist() == [1, 3]
    assert CachingSystem(sut).execute(pd.DataFrame({"text": ["a", "bcd"]})).values.tolist() == [1, 3]


def test_pickles_only_with_trust(tmp_path, training):
    frame, labels = training
    model = KNeighborsClassifier(1).fit(frame[["x", "n"]], labels)
    path = tmp_path / "model.joblib"
    joblib.dump(model, path)
    with pytest.raises(dm.errors.UntrustedError, match="runs any code"):
        dm.wrap(path)
    sut = dm.wrap(str(path), trust=True)
    assert sut.name == "model.joblib"
    np.testing.assert_array_equal(sut.execute(frame).values, labels)


# -- odd answers ---------------------------------------------------------------------------------------------


@in_one_test(
    ("answers", "status"),
    [
        ([1.0, np.nan, 2.0], [0, Status.MISSING, 0]),
        (["a", None, "b"], [0, Status.MISSING, 0]),
        (pd.Series(["a", pd.NA, "b"]), [0, Status.MISSING, 0]),
        (["high", float("nan"), "low"], [0, Status.MISSING, 0]),
        ([("a", 1.0), ("b", float("nan")), ("c", 2.0)], [0, Status.MISSING, 0]),
        (np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="datetime64[D]"), [0, Status.MISSING, 0]),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), [0, Status.MISSING, 0]),
        ([[1, 2], [3], [4, 5, 6]], [0, 0, 0]),
        ([True, False, True], [0, 0, 0]),
        ([("a", 1), ("b", 2), ("a", 3)], [0, 0, 0]),
        (pd.Categorical(["x", "y", "x"]), [0, 0, 0]),
        (np.array([[1], [2], [3]]), [0, 0, 0]),
    ],
)
def test_answers_of_all_sorts(answers, status):
    space = dm.Space([dm.Continuous("x", 0, 1)])
    outputs = dm.wrap(lambda f: answers, space=space).execute(space.sample(3))
    assert outputs.status.tolist() == status
    assert outputs.values.ndim == 1


def test_a_new_label_is_kept_and_marked():
    space = dm.Space([dm.Integer("n", 0, 9)])
    sut = dm.wrap(lambda f: np.where(f["n"] == 7, "surprise", "usual"), space=space, labels=["usual"])
    outputs = sut.execute(pd.DataFrame({"n": [6, 7]}))
    assert outputs.values.tolist() == ["usual", "surprise"]
    assert outputs.status.tolist() == [Status.OK, Status.NEW_LABEL]
    assert "not known to have" in outputs.messages[1]


def test_joining_outputs_never_turns_numbers_into_text():
    joined = Outputs.concat([Outputs.of(np.array([1, 2])), Outputs.of(np.array(["a"]))])
    assert joined.values.tolist() == [1, 2, "a"]
    assert Outputs.concat([Outputs.of(np.array([1])), Outputs.of(np.array([2.5]))]).values.tolist() == [1, 2.5]


# -- wrappers ------------------------------------------------------------------------------------------------


class Spy:
    """A model that notes how often it was asked."""

    def __init__(self):
        self.rows, self.batches = 0, []

    def __call__(self, frame):
        self.rows += len(frame)
        self.batches.append(len(frame))
        return (frame["n"] % 3).to_numpy()


@pytest.mark.parametrize(
    "around",
    [CountingSystem, CachingSystem, GuardedSystem, lambda s: GuardedSystem(s, rows=7), lambda s: CachingSystem(s, 5)],
)
def test_wrappers_are_transparent(mixed, around):
    check_executor(around(dm.wrap(Spy(), space=mixed)), mixed.sample(60, seed=4, points=True))


def test_counting_and_batches(mixed):
    spy = Spy()
    counted = CountingSystem(GuardedSystem(dm.wrap(spy, space=mixed), 0, rows=40))
    counted.execute(mixed.sample(100))
    assert (counted.calls, counted.batches) == (100, 1)
    assert spy.batches == [25, 25, 25, 25]  # none above 40, of one size, an even number


def test_the_cache_asks_nothing_twice():
    space = dm.Space([dm.Integer("n", 0, 9), dm.Continuous("x", -1, 1, nullable=True)])
    spy = Spy()
    cached = CachingSystem(dm.wrap(spy, space=space))
    frame = pd.DataFrame({"n": [1, 2, 1, 2, 1], "x": [0.0, np.nan, -0.0, np.nan, 0.5]})
    assert cached.execute(frame).values.tolist() == [1, 2, 1, 2, 1]
    assert spy.rows == 3  # 0.0 and -0.0 are equal, missing equals missing
    assert cached.execute(frame.iloc[::-1]).values.tolist() == [1, 2, 1, 2, 1]
    assert spy.rows == 3


def test_the_cache_forgets_the_oldest_and_stays_right():
    space = dm.Space([dm.Integer("n", 0, 10_000)])
    spy = Spy()
    cached = CachingSystem(dm.wrap(spy, space=space), rows=50)
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = rng.integers(0, 200, 30)
        assert cached.execute(pd.DataFrame({"n": n})).values.tolist() == (n % 3).tolist()
        assert len(cached._memory[False]) <= 50 + 30
    assert 200 < spy.rows < 1800


def test_a_failure_does_not_spoil_the_cache(mixed):
    broken = True

    def model(frame):
        if broken:
            raise RuntimeError("not now")
        return frame["n"].to_numpy()

    cached = CachingSystem(dm.wrap(model, space=mixed))
    frame = mixed.sample(5)
    with pytest.raises(RuntimeError):
        cached.execute(frame)
    broken = False
    assert cached.execute(frame).values.tolist() == frame["n"].tolist()


@pytest.mark.parametrize("fault", ["raise", "exit", "length", "unhashable"])
def test_the_guard_finds_exactly_the_rows_at_fault(fault):
    space = dm.Space([dm.Integer("n", 0, 100_000)])
    bad = {3, 77, 78, 512, 999}

    def model(frame):
        hit = frame["n"].isin(bad).any()
        if hit and fault == "raise":
            raise ValueError("no such number")
        if hit and fault == "exit":
            raise SystemExit(1)
        answers = (frame["n"] % 2).tolist()
        if hit and fault == "length":
            return answers[:-1]
        return [
            bytearray(n) if n in bad and fault == "unhashable" else a for a, n in zip(answers, frame["n"], strict=True)
        ]

    guard = GuardedSystem(dm.wrap(model, space=space))
    frame = pd.DataFrame({"n": np.arange(1000)})
    outputs = guard.execute(frame)
    assert set(np.flatnonzero(outputs.status)) == bad
    expected = Status.ERROR if fault in ("raise", "exit") else Status.MALFORMED
    assert set(outputs.status[sorted(bad)]) == {expected}
    good = outputs.ok
    np.testing.assert_array_equal(outputs.values[good], frame["n"][good] % 2)
    assert guard.health.status_counts == {expected: 5}
    assert set(outputs.messages) == bad


@pytest.mark.slow
def test_a_model_that_fails_on_everything_is_said_to_have_failed(mixed):
    def model(frame):
        raise KeyError("wrong column")

    for rows in (5, 100, 1_000):
        with pytest.raises(dm.errors.SystemFailed, match="KeyError: 'wrong column'"):
            GuardedSystem(dm.wrap(model, space=mixed)).execute(mixed.sample(rows))
    guard = GuardedSystem(dm.wrap(model, space=mixed))
    for _ in range(49):  # one row that fails proves nothing, fifty in a row do
        assert guard.execute(mixed.sample(1)).status.tolist() == [Status.ERROR]
    with pytest.raises(dm.errors.SystemFailed, match="all 50 rows"):
        guard.execute(mixed.sample(1))


def test_sorted_data_may_begin_with_rows_that_fail():
    space = dm.Space([dm.Integer("n", 0, 10_000)])

    def model(frame):
        if (frame["n"] < 60).any():
            raise ValueError("too small")
        return frame["n"] % 2

    outputs = GuardedSystem(dm.wrap(model, space=space)).execute(pd.DataFrame({"n": np.arange(10_000)}))
    assert np.flatnonzero(~outputs.ok).tolist() == list(range(60))


def test_scores_survive_rows_that_fail_and_a_full_cache(training):
    frame, labels = training
    space = dm.Space([dm.Continuous("x", 0, 6.28), dm.Integer("n", 0, 10)])
    model = LogisticRegression().fit(frame[["x", "n"]], labels)

    class Picky:
        classes_ = model.classes_
        decision_function = model.decision_function

        @staticmethod
        def predict(rows):
            if (rows["n"] == 3).any():
                raise ValueError("three")
            return model.predict(rows)

    cached = CachingSystem(GuardedSystem(dm.wrap(Picky(), space=space)), rows=3)
    batches = [
        pd.DataFrame({"x": [1.0, 2.0], "n": [1, 2]}),
        pd.DataFrame({"x": [1.0], "n": [3]}),
        frame[["x", "n"]].head(4),
    ]
    for batch in [*batches, *batches]:
        outputs = cached.execute(batch, scores=True)
        good = outputs.ok
        if good.any():
            decisions = model.decision_function(batch[good])
            np.testing.assert_allclose(outputs.scores[good], np.column_stack([-decisions, decisions]))


def test_rows_that_hang_again_and_again_are_given_up():
    space = dm.Space([dm.Integer("n", 0, 1000)])

    from datamorphic.errors import SystemHung
    from datamorphic.systems.base import Executor

    class Sleepy(Executor):
        calls = 0

        def answer(self, batch, scores):
            Sleepy.calls += 1
            if (batch.frame["n"] > 0).any():
                raise SystemHung("no answer")
            return Outputs.of(np.zeros(len(batch)))

    sleepy = Sleepy()
    sleepy.space = space
    outputs = GuardedSystem(sleepy).execute(pd.DataFrame({"n": np.arange(500)}))
    assert outputs.status.tolist() == [Status.OK] + [Status.TIMEOUT] * 499
    assert "skipped" in outputs.messages[400]
    assert Sleepy.calls < 60

    class Drowsy(Sleepy):
        def answer(self, batch, scores):
            if batch.frame["n"].between(20, 60).any():
                raise SystemHung("no answer")
            return Outputs.of(np.zeros(len(batch)))

    drowsy = Drowsy()
    drowsy.space = space
    outputs = GuardedSystem(drowsy).execute(pd.DataFrame({"n": np.arange(500)}))
    assert np.flatnonzero(~outputs.ok).tolist() == list(range(20, 61))  # rows beyond still get their answers


def test_a_model_that_changes_its_mind_is_noticed():
    space = dm.Space([dm.Continuous("x", 0, 1)])
    rng = np.random.default_rng(0)
    guard = GuardedSystem(dm.wrap(lambda f: rng.integers(0, 2, len(f)), space=space))
    guard.execute(space.sample(500))
    assert 1 <= len(guard.health.unstable_cases) <= 16
    first = guard.health.unstable_cases[0]
    assert set(first) == {"case", "first", "second"}
    assert first["first"] != first["second"]
    steady = GuardedSystem(dm.wrap(lambda f: f["x"] > 0.5, space=space))
    steady.execute(space.sample(500))
    assert steady.health.unstable_cases == []
    assert steady.health.repeated_rows == 16


def test_a_model_that_only_fails_in_large_batches_is_remarked_on():
    space = dm.Space([dm.Continuous("x", 0, 1)])

    def model(frame):
        if len(frame) > 100:
            raise MemoryError
        return frame["x"] > 0.5

    guard = GuardedSystem(dm.wrap(model, space=space))
    assert guard.execute(space.sample(500)).ok.all()
    assert "smaller" in guard.health.remarks[0]


@pytest.mark.slow
def test_a_hanging_and_a_dying_row_are_told_apart(hang_clock):
    space, path = dm.Space([dm.Integer("n", 0, 100)]), hang_clock.path

    def model(frame):
        import os
        import time

        if (frame["n"] == 13).any():
            path.touch()
            time.sleep(3600)
        if (frame["n"] == 31).any():
            os._exit(1)
        return frame["n"] % 2

    isolated = IsolatedSystem(dm.wrap(model, space=space), timeout=1.0)
    cases = pd.DataFrame({"n": [13, 31]})
    outputs = GuardedSystem(isolated, rows=2).execute(cases)
    isolated.close()
    failures = {int(cases["n"][i]): Status(outputs.status[i]) for i in np.flatnonzero(outputs.status)}
    assert failures == {13: Status.TIMEOUT, 31: Status.DIED}


@pytest.mark.slow
@pytest.mark.parametrize("death", ["exit", "segfault", "abort", "kill"])
def test_a_system_may_die_in_any_way(death):
    """All rows but the fatal one are answered, and this process goes on."""
    space = dm.Space([dm.Integer("n", 0, 100)])

    def model(frame):
        import ctypes
        import faulthandler
        import os

        if (frame["n"] == 31).any():
            faulthandler.disable()  # its report would be printed among the tests
            if death == "exit":
                os._exit(0)
            elif death == "segfault":
                ctypes.string_at(0)
            elif death == "abort":
                os.abort()
            else:  # as if the memory had run out
                os.kill(os.getpid(), 9)
        return frame["n"] % 2

    isolated = IsolatedSystem(dm.wrap(model, space=space), timeout=600.0)
    outputs = GuardedSystem(isolated, rows=1).execute(pd.DataFrame({"n": [1, 31, 4]}))
    isolated.close()
    assert [Status(status) for status in outputs.status] == [Status.OK, Status.DIED, Status.OK]


@pytest.mark.parametrize(("exit_code", "failure"), [(1, SystemDied), (None, SystemHung)])
def test_a_process_that_ended_is_not_taken_for_a_hanging_one(exit_code, failure, monkeypatch):
    """Although its end is noticed late, as on a busy machine."""
    space = dm.Space([dm.Integer("n", 0, 9)])
    isolated = IsolatedSystem(dm.wrap(lambda frame: frame["n"], space=space), timeout=5.0)
    child = SimpleNamespace(submit=lambda *arguments: Future(), exit_code=exit_code, close=lambda: None)
    monkeypatch.setattr(isolated, "_ready_child", lambda: child)
    with use_clock(ManualClock(step=10.0)):
        (answer,) = isolated.answers([space.sample(3)], False)
    assert isinstance(answer, failure)


@pytest.mark.parametrize(("slowdown", "status"), [(1.0, Status.TIMEOUT), (5.0, Status.OK)])
def test_a_row_that_seems_to_hang_on_a_busy_machine_is_queried_again(slowdown, status, monkeypatch):
    monkeypatch.setattr("datamorphic.systems.guard.measure_slowdown", lambda: slowdown)
    system = dm.wrap(lambda frame: frame["n"], space=dm.Space([dm.Integer("n", 0, 9)]))
    failures = [SystemHung("it did not answer")]
    answer_all = system.answers
    monkeypatch.setattr(
        system, "answers", lambda batches, scores: [failures.pop()] if failures else answer_all(batches, scores)
    )
    assert GuardedSystem(system, recheck=0).execute(pd.DataFrame({"n": [3]})).status.tolist() == [status]


@pytest.mark.slow
def test_an_error_that_does_not_travel_between_processes_is_still_an_error():
    class OddError(Exception):
        """Cannot be made again from its text, as the errors of many libraries."""

        def __init__(self, one, two):
            super().__init__(f"{one} {two}")

    with pytest.raises(TypeError):
        copy.copy(OddError("odd", "error"))  # made as pickle makes it
    space = dm.Space([dm.Integer("n", 0, 100)])

    def model(frame):
        if (frame["n"] == 5).any():
            raise OddError("odd", "error")
        return frame["n"] % 2

    isolated = IsolatedSystem(dm.wrap(model, space=space), timeout=30.0)
    outputs = GuardedSystem(isolated).execute(pd.DataFrame({"n": np.arange(16)}))
    isolated.close()
    assert np.flatnonzero(outputs.status).tolist() == [5]


def test_labels_of_mixed_types_keep_their_types():
    space = dm.Space([dm.Continuous("x", 0, 1)])
    outputs = dm.wrap(lambda f: [1, "a", True, ("b", 2)], space=space).execute(space.sample(4))
    assert outputs.values.tolist() == [1, "a", True, ("b", 2)]
    assert [type(v) for v in outputs.values] == [int, str, bool, tuple]


def test_several_labels_at_once_are_not_new_labels(training):
    from sklearn.multiclass import OneVsRestClassifier

    frame, _ = training
    numbers = frame[["x", "n"]]
    space = dm.Space([dm.Continuous("x", 0, 6.28), dm.Integer("n", 0, 10)])
    targets = np.column_stack([numbers["x"] > 3, numbers["n"] > 5, numbers["x"] < 1]).astype(int)
    sut = dm.wrap(OneVsRestClassifier(LogisticRegression()).fit(numbers, targets), space=space)
    outputs = sut.execute(numbers, scores=True)
    assert set(outputs.status) == {Status.OK}
    assert len(outputs.values[0]) == 3


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
@pytest.mark.parametrize("piped", [True, False])
def test_support_vector_machines_tell_one_score_a_pair_of_classes(shape, piped):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.random(200), "y": rng.random(200)})
    labels = (frame["x"] * 4).astype(int)
    space = dm.Space([dm.Continuous("x", 0, 1), dm.Continuous("y", 0, 1)])
    machine = SVC(decision_function_shape=shape)
    model = (make_pipeline(StandardScaler(), machine) if piped else machine).fit(frame, labels)
    sut = dm.wrap(model, space=space)
    outputs = sut.execute(frame, scores=True)
    assert sut.score_kind == "pairwise"
    assert outputs.scores.shape == (200, 6)
    first = (outputs.values == 0) | (outputs.values == 3)
    assert ((outputs.scores[first, 2] > 0) == (outputs.values[first] == 0)).mean() > 0.95  # 0 against 3
    assert machine.decision_function_shape == shape  # the model itself is left as it was


def test_what_is_no_score_a_class_is_left_out():
    class Odd:
        classes_ = np.array([0, 1])

        def predict(self, frame):
            return (frame["x"] > 0.5).astype(int)

        def decision_function(self, frame):
            return np.ones((len(frame), 5))

    sut = dm.wrap(Odd(), space=dm.Space([dm.Continuous("x", 0, 1)]))
    assert sut.execute(pd.DataFrame({"x": [0.2]}), scores=True).scores is None
    assert sut.score_kind is None


@in_one_test(
    "function",
    [
        lambda x, thr=0.5: x > thr,
        lambda **case: case["x"] > 0.5,
        lambda x, /: x > 0.5,
        lambda case: case["x"] > 0.5,
        math.sqrt,
        functools.partial(lambda x, thr: x > thr, thr=0.5),
    ],
)
def test_functions_of_one_case_in_every_style(function):
    space = dm.Space([dm.Continuous("x", 0, 1)])
    frame = pd.DataFrame({"x": [0.04, 0.81]})
    answers = dm.wrap(function, space=space, scalar=True).execute(frame).values.tolist()
    assert answers == ([0.2, 0.9] if function is math.sqrt else [False, True])


def test_a_model_that_cannot_travel_says_so():
    import threading

    space = dm.Space([dm.Integer("n", 0, 9)])
    lock = threading.Lock()
    isolated = IsolatedSystem(dm.wrap(lambda f: f["n"] if lock else 0, space=space), timeout=5)
    with pytest.raises(dm.errors.ModelError, match="must be possible to pickle"):
        GuardedSystem(isolated).execute(space.sample(3))


def test_many_small_batches_of_whole_numbers_are_quick():
    """Whole numbers have all their bits at the top: a weak hash would put them all into one slot."""
    from datamorphic.space.hashing import RowTable, _hash_rows, _to_bits

    numbers = np.arange(4096.0)[:, None]
    slots = _hash_rows(_to_bits(numbers)) & np.uint64(8191)
    assert len(np.unique(slots)) > 2800  # of 4096 into 8192; by chance 3,225
    wide = np.zeros((4096, 22))
    wide[:, -1] = np.arange(4096)
    assert len(np.unique(_hash_rows(_to_bits(wide)) & np.uint64(8191))) > 2800
    table = RowTable(1)
    assert table.add(numbers)[0].tolist() == list(range(4096))


def test_what_the_cache_gave_out_is_not_changed_by_what_it_learns():
    space = dm.Space([dm.Integer("n", 0, 100)])
    sut = CachingSystem(dm.wrap(lambda f: f["n"].where(f["n"] < 50), space=space))
    first = sut.execute(pd.DataFrame({"n": [1, 2, 3]}))
    second = sut.execute(pd.DataFrame({"n": [60, 1, 70]}))
    third = sut.execute(pd.DataFrame({"n": [70, 80, 2]}))
    assert first.messages == {}
    assert set(second.messages) == {0, 2}
    assert set(third.messages) == {0, 1}
    assert third.status.tolist() == [Status.MISSING, Status.MISSING, Status.OK]


@pytest.mark.slow
def test_a_guard_can_be_asked_for(hang_clock):
    space, path = dm.Space([dm.Integer("n", 0, 1000)]), hang_clock.path

    def model(frame):
        import time

        if (frame["n"] == 7).any():
            raise ValueError("seven")
        if (frame["n"] == 8).any():
            path.touch()
            time.sleep(3600)
        return frame["n"] % 2

    frame = pd.DataFrame({"n": [1, 2, 7]})
    with pytest.raises(ValueError, match="seven"):
        dm.wrap(model, space=space).execute(frame)
    assert dm.wrap(model, space=space, guarded=True).execute(frame).status.tolist() == [0, 0, Status.ERROR]
    slow = dm.wrap(model, space=space, timeout=1.0)
    outputs = slow.execute(pd.DataFrame({"n": [1, 2, 7, 8, 9]}))
    assert outputs.status.tolist() == [0, 0, Status.ERROR, Status.TIMEOUT, 0]
    assert slow.health.status_counts == {Status.ERROR: 1, Status.TIMEOUT: 1}
