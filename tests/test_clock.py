"""Clocks: that of the processor is never ahead of that of the computer, nor much slower."""

from __future__ import annotations

import pytest

import datamorphic as dm
from datamorphic import _clock
from datamorphic._clock import MAX_STRETCH, ProcessorClock, read_clock, use_clock
from support.clock import ManualClock


@pytest.fixture
def times(monkeypatch):
    """The clock of the computer and the processor time, which the test sets."""
    computer, processor = ManualClock(), ManualClock()
    monkeypatch.setattr(_clock, "_computer_clock", computer)
    monkeypatch.setattr(_clock.time, "process_time", processor.read)
    return computer, processor


def test_work_on_a_busy_machine_counts_by_processor_time(times):
    computer, processor = times
    with use_clock(computer):
        clock = ProcessorClock(stretch=3.0)
        start = clock.read()
        computer.move(10)
        processor.move(5)
        assert clock.read() - start == pytest.approx(5)


def test_waiting_counts_although_it_uses_no_processor(times):
    computer, _ = times
    with use_clock(computer):
        clock = ProcessorClock(stretch=3.0)
        start = clock.read()
        computer.move(9)
        assert clock.read() - start == pytest.approx(3)
        assert ProcessorClock(stretch=100.0).stretch == MAX_STRETCH


def test_several_threads_do_not_make_it_run_ahead(times):
    computer, processor = times
    with use_clock(computer):
        clock = ProcessorClock(stretch=2.0)
        start = clock.read()
        computer.move(1)
        processor.move(8)
        assert clock.read() - start == pytest.approx(1)
        processor.move(-1)  # it never goes back
        assert clock.read() - start == pytest.approx(1)


def test_a_test_on_a_busy_machine_says_so_and_counts_its_own_seconds(monkeypatch):
    monkeypatch.setattr("datamorphic.audit.run.measure_slowdown", lambda: 3.0)
    monkeypatch.setattr("datamorphic.audit.run.TOLERATED_OVERTIME_SECONDS", -100.0)
    iris = dm.data.load("iris").drop(columns="target")
    start = read_clock()
    result = dm.test(lambda frame: frame["petal width (cm)"] > 1, iris, only="repeats", progress=False)
    assert 0 < result.seconds <= read_clock() - start
    assert any("computing took 3 times as long as usual" in note for note in result.notes)
