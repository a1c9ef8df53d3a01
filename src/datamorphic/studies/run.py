"""`study`: compute published tables again, ours beside the printed figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.capability import capability
from ..core.execute import Execution
from .options import StudyOptions

if TYPE_CHECKING:
    from .overview import StudyOverview
    from .plan import StudyPlan
    from .result import Study
    from .tree_experiment import ExperimentPlan
    from .tree_experiment_result import TreeExperiment


@capability(StudyOptions)
def study(
    options: StudyOptions, execution: Execution[StudyPlan | ExperimentPlan]
) -> Study | StudyOverview | TreeExperiment:
    """Compute a published table, a group of tables, or all of them, beside the printed figures.

    Each measurement is stored when it is done. The same seed gives the same figures on every engine, apart from times. With your
    own data, the study "trees" makes the experiment of Silveira et al. (2025) with them.

    Returns
    -------
    Study, StudyOverview or TreeExperiment
        ``.rows`` of one study; of all, ``.reports`` with verdicts, and ``.to_site(folder)``; with your own data, ``.trees``,
        ``.scores`` and ``.comparisons``.

    Examples
    --------
    >>> study("random_target", scale="tiny").rows.columns.tolist()[:7]
    ['row', 'column', 'published', 'ours', 'note', 'margin', 'trials']
    >>> import datamorphic as dm
    >>> experiment = study("trees", data=dm.data.load("iris"), target="target", scale="tiny", progress=False)
    >>> bool(experiment.average_scores().loc["BVA", "accuracy"] < 0.9)
    True
    >>> overview = study("all", engine="processes:2", store="runs.sqlite")  # doctest: +SKIP
    """
    return execution.subject.compute(execution)
