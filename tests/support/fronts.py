"""Small systems to explore, and a rule on mixed data."""

from __future__ import annotations

import numpy as np

import datamorphic as dm

EVIL = "<img src=x onerror=alert(1)>"
PLANE = dm.Space([dm.Continuous("x", 0, 10), dm.Continuous("y", 0, 10)])


def explore(function, space=PLANE, walks=200, strategy="random_walk", **options):
    return dm.explore(function, space, walks=walks, strategy=strategy, progress=False, **options)


def step(at, names=("low", "high"), feature="x"):
    return lambda f: np.where(f[feature] > at, names[1], names[0])


def without(front):
    from dataclasses import replace

    return replace(front, sut=None)


def credit(f):
    score = f["income"] - 2 * f["debt"] + 0.2 * f["age"].astype("Float64").fillna(40).astype(float)
    score = score + f["card"].astype(object).map({"Silver": 5, "Gold": 10}).fillna(0).astype(float)
    return np.select([score > 65, score > 40], ["good", "fair"], "poor")
