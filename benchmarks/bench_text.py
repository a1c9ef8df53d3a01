"""Texts: relations of 10,000 cases, and border pairs of a classifier.

A pipeline of TF-IDF and logistic regression. Five relations on 10,000 cases should take under 20 s.
"""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import datamorphic as dm
from benchmarks.timing import line, seconds

CASES = 10_000
RELATIONS = ("text.letter case", "text.punctuation", "text.spaces", "text.neutral words", "text.typo")
WORDS = {"good": ("good", "great", "lovely", "superb"), "bad": ("bad", "awful", "dull", "weak")}


def make_reviews(count: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return different reviews with their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(["good", "bad"], size=count)
    texts = []
    for number, label in enumerate(labels):
        first, second = rng.choice(WORDS[label], 2)
        name, part = rng.choice(["Emily", "James", "Fatima", "Wei"]), rng.choice(["story", "cast", "music", "ending"])
        texts.append(f"{name} saw part {number}. The {part} is {first}, and the rest is {second}.")
    return texts, labels.tolist()


def main():
    texts, labels = make_reviews(CASES)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(texts[:2_000], labels[:2_000])
    relations = dm.relations.text_relations()
    tested_relations = [relations[name] for name in RELATIONS]
    took = seconds(lambda: dm.check(model, texts, relations=tested_relations, inputs=CASES), repeat=1)
    line(f"{len(tested_relations)} relations on {CASES:,} texts", f"{took:.1f} s", "goal: under 20 s")
    fronts = []
    took = seconds(lambda: fronts.append(dm.explore(model, texts[:2_000], walks=1_000)), repeat=1)
    line("border pairs of a text classifier", f"{took:.1f} s", f"{len(fronts[0]):,} pairs")


if __name__ == "__main__":
    main()
