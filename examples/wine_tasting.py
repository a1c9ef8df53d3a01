"""A test system: moves that only make sense for wine, a promise about them, and the laws they must keep.

Run it with: python examples/wine_tasting.py
"""

from __future__ import annotations

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import datamorphic as dm

WINES = dm.data.load("wine")
INPUTS = WINES[["alcohol", "flavanoids", "color_intensity", "proline"]]
MODEL = make_pipeline(StandardScaler(), SVC()).fit(INPUTS, WINES["target"])


class Tasting:
    """Wines, how they change, and what the model makes of them."""

    space = dm.Space.from_frame(INPUTS, moves="open")

    @dm.seed_maker
    def bottles(self):
        """Start from real bottles."""
        return INPUTS

    @dm.datamorphism(move=False)  # it changes two features at once: no step of a walk
    def aged(self, wine):
        """Some years in the cellar: flavanoids fade, and the colour deepens."""
        return wine.assign(flavanoids=wine.flavanoids * 0.85, color_intensity=wine.color_intensity * 1.1)

    @dm.datamorphism
    def blended(self, one, other):
        """Half of one and half of the other."""
        return self.space.midpoint(one, other)

    @dm.metamorphism(of="aged", message="age alone makes no other wine of it")
    def still_the_same(self, case, origin):
        """Compare a wine with itself when it was young."""
        return case.output == origin.output

    @dm.executor
    def cultivar(self, wines):
        """Ask the model."""
        return MODEL.predict(wines)


system = dm.TestSystem.collect(Tasting)
seeds = system.make_seeds(seed=1)
tests = dm.TestSet.concat([seeds, system.mutate("aged", seeds)])
tests = tests.with_outputs(system.sut.execute(tests.inputs))
verdicts = system.check(tests)["still_the_same"]
print(f"{len(seeds)} bottles, some years older: {(verdicts == 'violated').sum()} are taken for others.")
mutant = len(seeds) + 3
print(f"Where case {mutant} comes from: {tests.lineage(mutant)}\n")

laws = dm.laws(Tasting, examples=100)
print(laws)
front = dm.explore(Tasting, strategy="random_target", walks=200)
print(f"\n{front.describe()}")
assert len(front)
