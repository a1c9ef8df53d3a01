"""Trials of generators and selectors: how many there are, and what is said of those that ended."""

from __future__ import annotations

import math

import numpy as np
import pytest

from datamorphic.data.programs import programs
from datamorphic.hunting.measures import estimate
from datamorphic.studies import group_trials
from datamorphic.studies.group_trials import MIN_TRIALS, Selecting, choose_trials, compute_ratio, describe_censored
from datamorphic.studies.workload import SCALES, Workbench
from support.studies import measure_jobs

RELATIONS = ("Sin1", "Sin2", "Sin3")
EXPECTED_TRIALS = 8
RATE = 0.02
RUNS = 2000


def stop_after_groups(counts, groups):
    """Return the trials until they have taken enough groups, as studies once did."""
    enough = np.flatnonzero((counts.cumsum() >= groups) & (np.arange(1, len(counts) + 1) >= MIN_TRIALS))
    return counts[: enough[0] + 1 if len(enough) else len(counts)]


def test_the_number_of_trials_does_not_bias_f():
    """F of a random choice is geometric, with the mean 1/rate: trials fixed beforehand recover it."""
    rng, pilot_groups = np.random.default_rng(0), group_trials.PILOT_GROUPS
    counts = rng.geometric(RATE, (RUNS, 40))
    groups, pilots = round(EXPECTED_TRIALS / RATE), rng.binomial(pilot_groups, RATE, RUNS) / pilot_groups
    planned = [run[: choose_trials(groups, 40, pilot)].mean() for run, pilot in zip(counts, pilots, strict=True)]
    mean, former = estimate(planned), estimate([stop_after_groups(run, groups).mean() for run in counts])
    assert mean.low <= 1 / RATE <= mean.high
    assert mean.high - mean.low < 0.04 / RATE
    assert former.low > 1.08 / RATE  # as with renewals, the trial that ends the sum is a long one


def test_trials_fit_the_groups():
    assert choose_trials(48_000, 400, 0.005) == 240
    assert choose_trials(48_000, 100, 0.005) == 100
    assert choose_trials(10, 100, 0.005) == MIN_TRIALS


@pytest.mark.parametrize("selector", ["random", "feedback"])
def test_selectors_run_trials_as_planned_and_report_those_that_ended(selector):
    subject = programs["Sin"]
    mutant = next(iter(subject.mutants))
    job = Selecting("Sin", mutant, RELATIONS, selector, 1, 6, 3, 10**9)
    bench = Workbench(SCALES["tiny"])
    assert math.isnan(compute_ratio(bench, job, job).value)
    measure_jobs(bench)
    assert bench.figure(job, "trials") == 6
    ended = bench.figure(job, "censored") * 6 / 100
    (note,) = describe_censored(bench, job)
    assert f"{ended:.0f} of 6 trials of {selector} ended after 3 groups" in note
    assert math.isnan(compute_ratio(bench, job, job).margin)
