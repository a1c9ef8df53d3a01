"""Measuring the jobs of studies."""

from datamorphic.core.execute import Execution
from datamorphic.studies.options import StudyOptions


def measure_jobs(bench, name="test", **settings):
    """Measure the jobs that a workbench has recorded, in this process."""
    bench.work(name, Execution("study", StudyOptions(name, progress=False), None), **settings)
