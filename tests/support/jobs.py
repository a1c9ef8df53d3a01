"""Jobs without child processes, for tests that are not about processes: starting one takes seconds of imports."""

from __future__ import annotations

import warnings

from datamorphic.errors import format_error_line
from datamorphic.runs.jobs import JobError, JobSuccess


def run_jobs_here(function, jobs, *, progress=None, **_):
    """Call a function with each job in this process; the limits of `runs.jobs.run_jobs` do not apply."""
    outcomes = []
    for number, job in enumerate(jobs):
        try:
            with warnings.catch_warnings(action="ignore"):  # of mutants
                outcomes.append(JobSuccess(function(job)))
        except Exception as error:
            outcomes.append(JobError(format_error_line(error)))
        if progress is not None:
            progress(number, outcomes[-1])
    return outcomes
