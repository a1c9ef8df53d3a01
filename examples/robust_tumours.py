"""How robust is a real classifier against what happens to rows on their way to it?

Measurements are rounded, read from an uncalibrated device, lost and filled in. Each of these alone may be harmless, and all
together not. Every combination is tried, and each change of the answer is traced to the fewest steps that cause it.

Run it with: python examples/robust_tumours.py
"""

from __future__ import annotations

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm

TUMOURS = dm.data.load("breast_cancer")[["mean radius", "mean texture", "mean smoothness", "mean concavity", "target"]]
INPUTS, LABELS = TUMOURS.drop(columns="target"), TUMOURS["target"].map({0: "malignant", 1: "benign"})


class Robustness:
    """A test system: real tumours, what may happen to their measurements, and that the diagnosis stays."""

    space = dm.Space.from_frame(INPUTS, bounds=dict.fromkeys(INPUTS, (0, None)))

    def __init__(self, model):
        self.model, self.name = model, type(model[-1]).__name__

    @dm.seed_maker
    def some_tumours(self, rng, n=100):
        """Draw tumours from the data."""
        return INPUTS.sample(n, random_state=rng)

    @dm.datamorphism
    def rounded(self, rows):
        """Keep two significant digits, as a form does."""
        return rows.map(lambda value: float(f"{value:.2g}"))

    @dm.datamorphism
    def uncalibrated(self, rows):
        """Measure all lengths one per cent too large."""
        return rows.assign(**{"mean radius": rows["mean radius"] * 1.01})

    @dm.datamorphism
    def filled_in(self, rows):
        """Replace a lost texture by the median."""
        return rows.assign(**{"mean texture": INPUTS["mean texture"].median()})

    @dm.metamorphism(applies_to="mutant", message="the diagnosis must survive what happens on the way")
    def the_diagnosis_stays(self, case, origin):
        """Compare the diagnoses before and after."""
        return case.output == origin.output

    @dm.executor
    def diagnose(self, rows):
        """Ask the model."""
        return self.model.predict(rows)


if __name__ == "__main__":
    shares = {}
    for learner in (DecisionTreeClassifier(random_state=0), LogisticRegression()):
        model = make_pipeline(StandardScaler(), learner).fit(INPUTS, LABELS)
        combination = dm.combine(Robustness(model), "permutationComplete")
        print(combination.describe(), end="\n\n")
        shares[type(learner).__name__] = len(combination.violations) / combination.case_count
    print(pd.Series(shares, name="share of changes that flip the diagnosis").map("{:.1%}".format).to_string())
    assert shares["LogisticRegression"] < shares["DecisionTreeClassifier"]  # it was the same data
