"""Limits on the time of work that looks at no clock."""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import suppress

import pytest

from datamorphic.errors import OutOfBudget
from datamorphic.runs import deadline
from datamorphic.runs.deadline import DeadlinePassed, TimeLimit, cancel_stop, stop_soon
from datamorphic.runs.interrupts import Interrupts
from datamorphic.runs.journal import RecordedLimit

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signal")


LONG_SECONDS = 600  # a limit that does nothing is noticed by its missing exception, however slow the machine is


def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


def test_work_that_takes_too_long_is_ended():
    limit = TimeLimit(0.1)
    with pytest.raises(OutOfBudget), limit:
        work(LONG_SECONDS)
    assert limit.passed
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_work_in_time_is_not_disturbed():
    limit = TimeLimit(5)
    with limit:
        work(0.01)
    assert not limit.passed
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_catching_all_exceptions_does_not_help():
    def stubborn():
        try:
            work(LONG_SECONDS)
        except Exception:
            pytest.fail("a guard must not see it")

    def very_stubborn():
        for _ in range(2):
            with suppress(BaseException):
                work(LONG_SECONDS)
        work(LONG_SECONDS)

    for function in (stubborn, very_stubborn):
        with pytest.raises(OutOfBudget), TimeLimit(0.05):
            function()


def test_an_error_of_interrupted_work_is_the_limit():
    def compare():
        try:
            work(5)
        except BaseException as error:  # as NumPy does in comparisons
            raise TypeError("cannot compare") from error

    limit = TimeLimit(0.05)
    with pytest.raises(OutOfBudget), limit:
        compare()
    assert limit.passed


def test_the_limit_that_passes_first_counts():
    outer, inner = TimeLimit(5), TimeLimit(0.05)
    with outer:
        with pytest.raises(OutOfBudget), inner:
            work(5)
        work(0.02)
    assert (outer.passed, inner.passed) == (False, True)
    outer, inner = TimeLimit(0.05), TimeLimit(5)
    with pytest.raises(OutOfBudget), outer, inner:
        work(5)
    assert (outer.passed, inner.passed) == (True, False)


def test_other_errors_pass_through():
    with pytest.raises(KeyError), TimeLimit(5):
        raise KeyError("x")
    with pytest.raises(DeadlinePassed), TimeLimit(5):
        raise DeadlinePassed(TimeLimit(1))


def test_ctrl_c_ends_a_block_without_a_limit():
    try:
        stop_soon(0.05)
        with pytest.raises(KeyboardInterrupt), TimeLimit(None):
            work(LONG_SECONDS)
        work(0.3)  # outside of a block nothing is ended
    finally:
        cancel_stop()
    with TimeLimit(None):
        work(0.1)


def test_a_nested_block_may_be_ended_soon_after_ctrl_c():
    with Interrupts() as outermost, Interrupts(0.05) as interrupts:
        assert interrupts is outermost
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), TimeLimit(None):
            work(LONG_SECONDS)
    assert outermost.count == 1


def test_limits_do_nothing_in_other_threads_and_beside_other_users_of_the_signal():
    outcomes = []

    def try_limit():
        limit = TimeLimit(0.01)
        with limit:
            work(0.05)
        outcomes.append(limit.passed)

    thread = threading.Thread(target=try_limit)
    thread.start()
    thread.join()
    previous = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        try_limit()
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert outcomes == [False, False]


class AlarmingList(list):
    """The active limits; the alarm comes while one is looked for."""

    def index(self, item):
        deadline._handle_alarm(signal.SIGALRM, None)
        return super().index(item)


def test_an_alarm_at_the_end_of_a_limit_leaves_nothing_active(clock, monkeypatch):
    monkeypatch.setattr(TimeLimit, "_active", AlarmingList())
    with TimeLimit(5):
        clock.move(6)
    assert TimeLimit._active == []
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


@pytest.mark.parametrize(
    "code", [TimeLimit.__enter__, TimeLimit.__exit__, RecordedLimit.__enter__, RecordedLimit.__exit__]
)
def test_no_limit_ends_the_begin_or_end_of_a_limit(code):
    assert code.__code__ in deadline._UNINTERRUPTED_CODE


def test_an_uninterrupted_function_is_not_ended(clock):
    def interrupt():
        deadline._handle_alarm(signal.SIGALRM, sys._getframe())

    @deadline.uninterrupted
    def end():
        interrupt()

    limit = TimeLimit(5)
    with limit:
        clock.move(6)
        end()
        assert not limit.passed
        clock.move(-6)
    with pytest.raises(OutOfBudget), TimeLimit(-1):
        interrupt()


def test_the_lock_of_coverage_is_not_left_behind(clock):
    code = "import sys\ndef lock_data(interrupt):\n    interrupt(14, sys._getframe())\n"
    collector = {"__name__": "coverage.collector"}
    exec(code, collector)
    limit = TimeLimit(5)
    with limit:
        clock.move(6)
        collector["lock_data"](deadline._handle_alarm)
        assert not limit.passed
        clock.move(-6)


def test_a_limit_works_after_one_whose_begin_was_interrupted(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(TimeLimit, "_active", ())  # which has no append: an exception after the handler is set
        with pytest.raises(AttributeError), TimeLimit(5):
            pytest.fail("it did not begin")
    test_work_that_takes_too_long_is_ended()
