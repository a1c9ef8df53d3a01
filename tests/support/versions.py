"""Marks of tests that need a newer version of a library than the lowest allowed one."""

from __future__ import annotations

import pytest
import sklearn

splits_missing_values_well = pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8),
    reason="scikit-learn before 1.8 fits trees with splits at infinity where values are missing",
)
