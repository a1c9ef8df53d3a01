"""Fronts that several tests use."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from support.fronts import credit, explore


@pytest.fixture(scope="session")
def people():
    """Every kind of feature, some missing, a constraint, and a rule with all of them."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "age": pd.array(rng.integers(18, 90, n), dtype="Int64"),
            "card": pd.Categorical(rng.choice(["Blue", "Silver", "Gold"], n), categories=["Blue", "Silver", "Gold"]),
            "income": rng.normal(50, 15, n).round(2),
            "debt": rng.uniform(0, 20, n).round(2),
        }
    )
    frame.loc[::13, "age"] = pd.NA
    frame.loc[5::17, "card"] = np.nan
    frame["income"] = frame["income"].clip(lower=10)
    frame["debt"] = np.minimum(frame["debt"], frame["income"])
    return frame


@pytest.fixture(scope="session")
def mixed_front(people):
    space = dm.Space.from_frame(people, constraints=["debt <= income"])
    return dm.explore(credit, people, space=space, walks=300, progress=False, strategy="random_walk")


@pytest.fixture(scope="session")
def empty_front():
    return explore(lambda f: np.full(len(f), "same"))


@pytest.fixture(scope="session")
def wavy():
    def rule(shift):
        return lambda f: np.where(
            np.abs(np.sin(f["x"]) + 5 - f["y"] - shift) < 1, "band", np.where(f["y"] > 5, "up", "down")
        )

    return rule
