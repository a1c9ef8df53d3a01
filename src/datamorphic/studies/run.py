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


@capability(StudyOptions)
def study(options: StudyOptions, execution: Execution[StudyPlan]) -> Study | StudyOverview:
    """Compute a published table, a group of tables, or all of them, beside the printed figures.

    Each measurement is stored when it is done. The same seed gives the same figures on every engine, apart from times.

    Returns
    -------
    Study or StudyOverview
        ``.rows`` of one study; of all, ``.reports`` with verdicts, and ``.to_site(folder)``.

    Examples
    --------
    >>> study("random_target", scale="tiny").rows.columns.tolist()[:7]
    ['row', 'column', 'published', 'ours', 'note', 'margin', 'trials']
    >>> overview = study("all", engine="processes:2", store="runs.sqlite")  # doctest: +SKIP
    """
    return execution.subject.compute(execution)
