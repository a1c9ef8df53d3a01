"""Describe the region of a space in which some inputs lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..relations.base import Mask
from ..space.features import Categorical
from ..space.points import Points
from ..trees.read import read_trees
from ..trees.rules import format_rule

MIN_REGION_INPUTS = 5
MIN_PRECISION_AND_RECALL = 0.8
MAX_ROWS = 20_000


def describe_region(points: Points, inside: Mask) -> str:
    """Return one or two conditions that separate the inputs `inside` from the others.

    The text is empty if no such conditions reach the required precision and recall.

    Examples
    --------
    >>> import datamorphic as dm
    >>> points = dm.Space([dm.Continuous("x", 0, 1), dm.Continuous("y", 0, 1)]).sample(2000, points=True)
    >>> describe_region(points, (points.codes > 0.75).all(axis=1))
    'y > 0.75 and x > 0.75'
    """
    from sklearn.tree import DecisionTreeClassifier

    if inside.sum() < MIN_REGION_INPUTS or inside.all():
        return ""
    rows = np.arange(len(points))
    if len(rows) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(rows))[:MAX_ROWS])
    codes, inside = points.codes[rows], inside[rows]
    for depth in (1, 2):  # one condition if that suffices
        model = DecisionTreeClassifier(max_depth=depth, class_weight="balanced", random_state=0).fit(codes, inside)
        leaves = model.apply(codes)
        counts = np.bincount(leaves, weights=inside)
        leaf = int(counts.argmax())
        if (
            counts[leaf] >= MIN_PRECISION_AND_RECALL * inside.sum()
            and inside[leaves == leaf].mean() >= MIN_PRECISION_AND_RECALL
        ):
            break
    else:
        return ""
    features = points.space.features
    categories = {feature.name: feature.values for feature in features if isinstance(feature, Categorical)}
    tree = read_trees(model)[0].with_names(points.space.names)
    # The thresholds are estimates: more digits would mean nothing.
    thresholds = np.array([float(f"{threshold:.3g}") for threshold in tree.threshold.tolist()])
    missing = {name for column, name in enumerate(points.space.names) if np.isnan(codes[:, column]).any()}
    return format_rule(replace(tree, threshold=thresholds), leaf, missing=missing, categories=categories)
