"""Loan applicants, made up: what they earn and owe, who they are, and how the bank decided until now."""

from __future__ import annotations

import numpy as np
import pandas as pd


def applicants(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Return applicants with the decision of the past in the column `decision`: it was not quite fair to women."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.gamma(4, 11_000, n).round(-2),
            "debts": rng.gamma(2, 5_000, n).round(-2),
            "years_employed": rng.integers(0, 30, n),
            "gender": rng.choice(["female", "male"], n),
            "home": rng.choice(["owned", "rented"], n, p=[0.4, 0.6]),
        }
    )
    worth = frame["income"] - 1.5 * frame["debts"] + 600 * frame["years_employed"]
    worth += np.where(frame["gender"] == "male", 5_000, -5_000) + rng.normal(0, 8_000, n)
    return frame.assign(decision=np.where(worth > 28_000, "approved", "refused"))
