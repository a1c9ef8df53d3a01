"""The test system behind the runs in runs.sqlite.gz. Do not edit: stored runs keep a hash of this file."""

import os
import time

import numpy as np

import datamorphic as dm


class StoredSystem:
    """Three kinds of features, two labels, and a corner in which the system fails."""

    space = dm.Space(
        [dm.Continuous("x", 0, 6, step=0.3), dm.Integer("n", 0, 40, step=2), dm.Categorical("c", ["a", "b", "d"])]
    )

    @dm.seed_maker
    def grid(self):
        return self.space.sample(40, seed=5)

    @dm.executor
    def classify(self, cases):
        if ((cases["x"] > 5.8) & (cases["n"] == 38)).any():
            raise ValueError("no such case")
        time.sleep(float(os.environ.get("STORED_SYSTEM_PAUSE", "0")))
        return np.where(np.sin(cases["x"]) * 20 + (cases["c"] == "b") * 5 > cases["n"] - 15, "red", "blue")


class FaultySystem(StoredSystem):
    """The midpoint loses a feature."""

    @dm.datamorphism(feature="x")
    def longer(self, case):
        return self.space.up(case, "x")

    @dm.datamorphism
    def between(self, one, other):
        return self.space.midpoint(one, other).assign(n=0)
