"""People whose loans are decided."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from support.scorers import squash


@pytest.fixture(scope="package")
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 1500),
            "income": rng.normal(50, 15, 1500).round(1),
            "region": rng.choice(["north", "south", "east"], 1500),
        }
    )
    frame["label"] = np.where(rng.random(1500) < squash((frame.income - 50) / 4), "yes", "no")
    return frame
