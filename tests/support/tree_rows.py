"""Rows on which a reader of trees shows what it got wrong: on thresholds, beside them, missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from datamorphic.trees.inputs import read_data
from datamorphic.trees.mutants import build_mutant

NEIGHBOURS = [
    lambda limits: limits,
    lambda limits: np.nextafter(limits, np.inf),
    lambda limits: np.nextafter(limits, -np.inf),
    lambda limits: limits.astype(np.float32),
    lambda limits: np.nextafter(limits.astype(np.float32), np.float32(np.inf)),
    lambda limits: np.nextafter(limits.astype(np.float32), np.float32(-np.inf)),
]


def make_rows(forest, frame, seed=0):
    """Rows to ask: each column shuffled by itself, of the data and three times as many on thresholds or beside them."""
    rng = np.random.default_rng(seed)
    edges = pd.concat([frame] * 3, ignore_index=True)
    for column, name in enumerate(frame.columns):
        if column in forest.categories or not pd.api.types.is_float_dtype(frame[name]):
            continue
        limits = np.concatenate(
            [
                (tree.threshold if tree.data_thresholds is None else tree.data_thresholds)[tree.feature == column]
                for tree in forest.trees
            ]
        )
        limits = limits[np.isfinite(limits)]
        if limits.size:
            drawn = rng.choice(limits, len(edges))
            with np.errstate(over="ignore"):
                near = [beside(drawn).astype(np.float64) for beside in NEIGHBOURS]
            chosen = np.choose(rng.integers(0, len(near), len(edges)), near)
            edges[name] = np.where(np.abs(chosen) <= np.finfo(np.float32).max, chosen, drawn)
            if forest.takes_missing:
                edges.loc[rng.random(len(edges)) < 0.1, name] = np.nan
    rows = pd.concat([frame, edges], ignore_index=True)
    return pd.DataFrame({name: rows[name].sample(frac=1, random_state=rng).array for name in rows})


def seen(forest, frame):
    """The rows as the trees of a forest see them."""
    inputs, rows, _ = read_data(forest, frame)
    return inputs.to_tree_matrix(rows)


def joint_kills_one_by_one(forest, matrix, of, tolerance):
    """Each mutant put in the place of its tree, and the whole forest asked."""
    before = forest.decide(forest.scores(matrix))
    for number, mutants in enumerate(of):
        for mutant in range(len(mutants)):
            trees = list(forest.trees)
            trees[number] = build_mutant(trees[number], mutants, mutant)
            changed = replace(forest, trees=tuple(trees))
            after = changed.decide(changed.scores(matrix))
            yield np.flatnonzero(np.abs(after - before) > tolerance).tolist()
