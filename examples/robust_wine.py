"""A real classifier and measurements that vary: which harmless changes of the measurements change the answer?

Run it with: python examples/robust_wine.py
"""

from __future__ import annotations

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import datamorphic as dm

WINES = dm.data.load("wine")
INPUTS = WINES.drop(columns="target")
MODEL = make_pipeline(StandardScaler(), SVC()).fit(INPUTS, WINES["target"])


class RobustWine:
    """Bottles of wine, errors of measurement, and the answer that should stay."""

    space = dm.Space.from_frame(INPUTS, moves="open")

    @dm.seed_maker
    def bottles(self):
        """Start from real bottles."""
        return INPUTS

    @dm.datamorphism(move=False)
    def rounded(self, wine):
        """Round to one digit, as on a label."""
        return wine.round(1)

    @dm.datamorphism(move=False)
    def warm_laboratory(self, wine):
        """Measure a little too much alcohol and magnesium, as on a warm day."""
        return wine.assign(alcohol=wine.alcohol * 1.01, magnesium=wine.magnesium * 1.03)

    @dm.datamorphism(move=False)
    def faded(self, wine):
        """Reduce the colour, as in a bottle that stood in the light."""
        return wine.assign(color_intensity=wine.color_intensity * 0.95)

    @dm.datamorphism(move=False)
    def measured_again(self, wine, rng):
        """Change every measurement by up to one percent."""
        return wine * rng.uniform(0.99, 1.01, wine.shape)

    @dm.metamorphism(applies_to="mutant", message="a bottle stays the same wine, however it is measured")
    def same_cultivar(self, case, origin):
        """Compare the answers."""
        return case.output == origin.output

    @dm.executor
    def cultivar(self, wines):
        """Query the model."""
        return MODEL.predict(wines)


if __name__ == "__main__":
    combination = dm.combine(RobustWine, "permutations")
    print(combination.describe())
    bottles = combination.violations["seed_case"].nunique()
    print(f"\nFor {bottles} of {combination.seed_count} bottles, the answer depends on how they are measured.")
