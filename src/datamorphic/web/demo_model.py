"""The demo of the studio: a model that decides about loans, trained on data with planted mistakes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from .._files import write_file
from .._lazy import pd
from ..errors import MissingExtra

MODEL_NAME, DATA_NAME, TARGET = "demo-loans.skops", "demo-loans.csv", "decision"
ROWS = 1_000
CARDS, GENDERS, JOBS = ("none", "basic", "gold"), ("female", "male"), ("employed", "self-employed", "retired")

#: what is wrong with the model, for the page
PLANTED_MISTAKES = (
    "Women need more income than men for the same decision.",
    "Around an income of 60,000, more income turns an approval into a refusal.",
    "Decisions about the self-employed were noted at random, so that the model is often wrong about them.",
    "The number of the application gives the decision away.",
)


def make_loans(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """Return applications for loans with the decisions of a bank that makes mistakes.

    Examples
    --------
    >>> make_loans(200)["decision"].unique().tolist()
    ['declined', 'approved']
    """
    rng = np.random.default_rng(seed)
    age = rng.integers(19, 75, rows)
    income = np.round(rng.lognormal(10.5, 0.45, rows), -2).astype(int)
    debt = np.round(rng.gamma(1.5, 6_000, rows), -2).astype(int)
    years = np.minimum(rng.integers(0, 40, rows), age - 18)
    card, gender = rng.choice(CARDS, rows, p=(0.3, 0.5, 0.2)), rng.choice(GENDERS, rows)
    job = rng.choice(JOBS, rows, p=(0.7, 0.2, 0.1))
    score = (income - 38_000) / 12_000 - debt / 9_000 + years / 15 + 0.4 * (card == "gold") + 0.5
    score += np.where(gender == "male", 0.8, -0.8)
    score -= 2.5 * ((income > 58_000) & (income < 68_000))
    score = np.where(job == "self-employed", rng.normal(0, 1, rows), score)
    approved = score + rng.logistic(0, 0.2, rows) > 0
    frame = pd.DataFrame(
        {
            "application": 0,
            "age": age,
            "income": income,
            "debt": debt,
            "years_employed": years,
            "card": card,
            "gender": gender,
            "job": job,
            TARGET: np.where(approved, "approved", "declined"),
        }
    )
    # applications were filed by decision, and numbered afterwards
    frame = frame.iloc[np.argsort(approved + rng.normal(0, 0.9, rows), kind="stable")].reset_index(drop=True)
    frame["application"] = 70_000 + np.arange(rows)
    return frame


def make_demo_files(folder: Path) -> tuple[Path, Path, str]:
    """Write the data and a model that was trained on them to a folder, and return them with the target."""
    try:
        from skops.io import dump
    except ImportError:
        raise MissingExtra(
            "The demo writes its model with skops. Install it: pip install 'datamorphic[skops]'."
        ) from None
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    model_path, data_path = folder / MODEL_NAME, folder / DATA_NAME
    if model_path.is_file() and data_path.is_file():
        return model_path, data_path, TARGET
    frame = make_loans()
    encoder = OrdinalEncoder(categories=[list(CARDS), list(GENDERS), list(JOBS)])
    model = make_pipeline(
        make_column_transformer((encoder, ["card", "gender", "job"]), remainder="passthrough"),
        RandomForestClassifier(n_estimators=8, max_depth=6, random_state=0),
    )
    model.fit(frame.drop(columns=TARGET), frame[TARGET])
    write_file(data_path, lambda draft: frame.to_csv(draft, index=False))
    write_file(model_path, partial(dump, model))
    return model_path, data_path, TARGET
