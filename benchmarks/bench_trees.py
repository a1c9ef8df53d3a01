"""Mutants of trees: the kill matrix against mutate in place and predict, and the coverage of a large forest."""

from __future__ import annotations

import resource
import sys
import time
from importlib.util import find_spec

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from benchmarks.timing import line, seconds
from datamorphic.trees.kills import find_kills
from datamorphic.trees.mutants import generate_mutants
from datamorphic.trees.read import read_trees
from datamorphic.trees.tree import ABOVE, BELOW, EQUAL, FROM

ROWS, DECISIONS = 10_000, 1_000
TREES, MANY = 500, 50_000


def main():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 12)).astype(np.float32)
    y = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 1.2, ROWS) > 0).astype(int)
    source = DecisionTreeClassifier(max_leaf_nodes=DECISIONS + 1, random_state=0).fit(X[:6000], y[:6000])
    [tree] = read_trees(source)
    mutants = generate_mutants(tree)
    slow, expected = _in_place(source, X, mutants)
    line(f"mutate in place and predict, {len(mutants):,} mutants", f"{slow:.2f} s", f"{ROWS:,} rows")
    ways = {"NumPy": False} | ({"numba": True} if find_spec("numba") else {})
    for name, compiled in ways.items():
        kills = find_kills(tree, X, mutants, compiled=compiled)  # compiles, too
        same = np.array_equal(kills.start, expected[0]) and np.array_equal(kills.rows, expected[1])
        took = seconds(lambda compiled=compiled: find_kills(tree, X, mutants, compiled=compiled))
        line(f"  by routing slices, {name}", f"{1000 * took:.1f} ms", f"{slow / took:.0f} x, same matrix: {same}")
    _forest()


def _in_place(source, X, mutants):
    """Change scikit-learn's own tree, ask it, and change it back: how one would do it without us.

    It knows <= alone. Another comparison comes of a threshold one step lower, of children exchanged, or, for ==, of a
    threshold that nothing is below: rows that are equal go left as they did before.
    """
    tree = source.tree_
    threshold, left, right = tree.threshold, tree.children_left, tree.children_right
    before = source.predict(X)
    start, rows = [0], []
    began = time.perf_counter()
    for node, operator, limit in zip(mutants.node, mutants.operator, mutants.threshold, strict=True):
        old, one, other = threshold[node], left[node], right[node]
        threshold[node] = {BELOW: np.nextafter(limit, -np.inf), FROM: np.nextafter(limit, -np.inf), EQUAL: -np.inf}.get(
            operator, limit
        )
        if operator in (ABOVE, FROM):
            left[node], right[node] = other, one
        after = source.predict(X)
        if operator == EQUAL:
            after = np.where(X[:, tree.feature[node]] == limit, before, after)
        threshold[node], left[node], right[node] = old, one, other
        killers = np.flatnonzero(after != before)
        rows.append(killers)
        start.append(start[-1] + len(killers))
    return time.perf_counter() - began, (np.array(start), np.concatenate(rows))


def _forest():
    X, y = make_classification(MANY, 20, n_informative=10, random_state=0)
    model = RandomForestClassifier(TREES, random_state=0, n_jobs=-1).fit(X[:10_000], y[:10_000])
    before = _peak()
    began = time.perf_counter()
    coverage = dm.cover(model, X)
    took = time.perf_counter() - began
    what = f"coverage of {TREES} trees, {coverage.leaves:,} leaves, {MANY:,} rows"
    line(what, f"{took:.2f} s", f"peak +{_peak() - before:.2f} GB")


def _peak():
    """The most memory that was in use so far, in gigabytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
