"""``dm.laws``: does a test system keep the laws exploration stands on?"""

from __future__ import annotations

from typing import Any

from ..morphisms.derived import as_test_system
from ..morphisms.laws import LawReport, check_laws


def laws(test_system: Any, *, examples: int = 500, seed: int = 0) -> LawReport:
    """Check the laws of a test system by property-based search.

    Parameters
    ----------
    test_system : TestSystem, class, instance, module, Space or DataFrame
        What to check. A space or a frame is checked with the moves and the midpoint derived from it.
    examples : int
        How many triples of points to try.
    seed : int
        Where the search starts; the same seed finds the same.

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
    return check_laws(as_test_system(test_system), examples=examples, seed=seed)
