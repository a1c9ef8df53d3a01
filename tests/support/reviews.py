"""A seeded corpus of short reviews with their sentiment, and classifiers with and without planted defects."""

from __future__ import annotations

from typing import Any

import numpy as np

GOOD = ("good", "great", "lovely", "superb", "brilliant", "charming", "clever", "delightful", "moving", "witty")
BAD = ("bad", "awful", "dull", "weak", "boring", "poor", "clumsy", "dreadful", "flat", "silly")
THINGS = ("film", "play", "novel", "concert", "show", "album")
PARTS = ("story", "cast", "music", "ending", "dialogue", "staging", "pace", "first half")
NAMES = ("Emily", "James", "Jamal", "Fatima", "Priya", "Carlos", "Mehmet", "Wei", "Keisha", "Ahmed", "Anna", "Rajesh")
OPENINGS = (
    "{name} wrote this {thing}.",
    "We saw the {thing} with {name}.",
    "{name} took me to this {thing}.",
    "A {thing} by {name}.",
)
CLOSINGS = ("I would tell my friends.", "We left late.", "It runs for two hours.", "The room was full.", "", "")


def make_reviews(count: int, seed: int = 0, *, biased_name: str = "") -> tuple[list[str], list[str]]:
    """Return reviews and their labels; reviews with `biased_name` are labelled bad, whatever they say."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(count):
        is_good = bool(rng.random() < 0.5)
        words = [str(word) for word in rng.choice(GOOD if is_good else BAD, 3, replace=False)]
        if rng.random() < 0.3:  # mixed feelings
            words[2] = str(rng.choice(BAD if is_good else GOOD))
        parts = [str(part) for part in rng.choice(PARTS, 3, replace=False)]
        name = str(rng.choice(NAMES))
        opening = str(rng.choice(OPENINGS)).format(name=name, thing=rng.choice(THINGS))
        middle = f"The {parts[0]} is {words[0]} and the {parts[1]} is {words[1]}, but the {parts[2]} is {words[2]}."
        texts.append(f"{opening} {middle} {rng.choice(CLOSINGS)}".strip())
        labels.append("good" if is_good and name != biased_name else "bad")
    return texts, labels


def fit_classifier(texts: list[str], labels: list[str]) -> Any:
    """Return TF-IDF and logistic regression, fitted."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(texts, labels)
