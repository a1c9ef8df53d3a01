"""``dm.laws``: does a test system keep the laws exploration stands on?"""

from __future__ import annotations

from typing import Any

from ..morphisms.derived import as_test_system
from ..morphisms.law_report import LawReport
from ..morphisms.laws import check_laws
from ..runs.progress import Progress


def laws(test_system: Any, *, examples: int = 500, seed: int = 0, progress: bool | None = None) -> LawReport:
    """Check the laws of a test system by property-based search.

    Parameters
    ----------
    test_system : TestSystem, class, instance, module, Space or DataFrame
        What to check. A space or a frame is checked with the moves and the midpoint derived from it.
    examples : int
        How many triples of points to try.
    seed : int
        Where the search starts; the same seed finds the same.
    progress : bool, optional
        Whether to show progress on stderr; by default if that is a terminal.

    Returns
    -------
    LawReport
        ``.holds``, and ``.broken``: each broken law with a shrunk counter-example in words.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.laws(dm.subjects["Box 1"], examples=50).holds
    True
    """
    system = as_test_system(test_system)
    with Progress(system.name, progress) as shown:
        return check_laws(system, examples=examples, seed=seed, show=shown.show)
