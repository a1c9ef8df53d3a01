"""People and models that decide about them: fair ones, and ones that depend on who people are in a known way."""

from __future__ import annotations

import numpy as np
import pandas as pd


def draw_people(n=500, seed=0):
    """Applicants; the area tells the origin, years of employment the age, and a husband is a man."""
    rng = np.random.default_rng(seed)
    gender, origin = rng.choice(["f", "m"], n), rng.choice(["foreign", "native"], n)
    agrees = rng.random(n) < 0.9
    age = rng.integers(20, 66, n)
    partner = np.where(gender == "m", "husband", "wife")
    return pd.DataFrame(
        {
            "income": rng.gamma(4, 11, n).round(1),
            "debt": rng.uniform(0, 30, n).round(1),
            "gender": gender,
            "origin": origin,
            "area": np.where((origin == "foreign") == agrees, "north", "south"),
            "age": age,
            "years": np.floor((age - 18) * rng.random(n)).astype(int),
            "relationship": np.where(rng.random(n) < 0.5, partner, "single"),
        }
    )


def decide(surplus):
    return np.where(surplus > 25, "approved", "refused")


def judge_fairly(frame):
    """Look at nothing but income and debt."""
    return decide(frame.income - frame.debt)


def judge_gender(frame):
    return decide(frame.income - frame.debt - 10 * (frame.gender == "f"))


def judge_area(frame):
    """Look at a stand-in for the origin."""
    return decide(frame.income - frame.debt - 10 * (frame.area == "north"))


def judge_both(frame):
    """Look at gender and origin together: on average, neither makes a difference alone."""
    return decide(frame.income - frame.debt - 10 * ((frame.gender == "f") == (frame.origin == "foreign")))


def judge_probability(frame):
    """Answer a probability of default, which gender raises a bit."""
    return 1 / (1 + np.exp((frame.income - frame.debt) / 10 - 0.4 * (frame.gender == "f")))
