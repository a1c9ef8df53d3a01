"""Jobs in child processes, and without: starting one takes seconds of imports, and few tests are about processes."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

from datamorphic.errors import format_error_line
from datamorphic.runs.jobs import JobError, JobPool, JobSuccess


def run_jobs(function, jobs, *, workers=1, **limits):
    """Return the outcomes of jobs in child processes."""
    with JobPool(function, **limits) as pool, ThreadPoolExecutor(workers) as threads:
        return list(threads.map(pool.run, jobs))


class JobPoolHere(JobPool):
    """Calls a function with jobs in this process; the limits of `JobPool` do not apply."""

    def __init__(self, function, **_):
        self._function, self._lanes = function, []

    def run(self, job):
        try:
            with warnings.catch_warnings(action="ignore"):  # of mutants
                return JobSuccess(self._function(job))
        except Exception as error:
            return JobError(format_error_line(error))
