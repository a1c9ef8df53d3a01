"""The trees of LightGBM's models as ours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import ModelError
from ..forest import Forest, Joining
from ..model import LEAF, UP_TO, WITHIN, Tree
from ..reading import no_trees
from ..steps import Before
from .building import Nodes, codes_in, meanings, names_of

# what the sum of the leaves goes through, by objective
LINKS = {
    "binary": "sigmoid",
    "cross_entropy": "sigmoid",
    "cross_entropy_lambda": "softplus",
    "multiclass": "softmax",
    "multiclassova": "sigmoid",
    "poisson": "exp",
    "gamma": "exp",
    "tweedie": "exp",
}
PLAIN = [
    "regression",
    "regression_l1",
    "huber",
    "fair",
    "quantile",
    "mape",
    "lambdarank",
    "rank_xendcg",
]  # stays as it is
GROUPED, FIRST_IS_LEFT = 1, 2  # bits of a decision, before those of what counts as missing
NEARLY_ZERO = float(np.float32(1e-35))  # up to here, from -NEARLY_ZERO on, values count as 0
BELOW_ZERO = float(np.nextafter(-NEARLY_ZERO, -np.inf))
ZERO, NAN = 1, 2  # what counts as missing; else nothing does, and NaN is taken for 0


def read_forest(model: Any, columns: list[str] | None, before: Before | None, data: Any = None) -> Forest:
    """Return the trees of a fitted model of LightGBM, and how they make its answer.

    Of a model that was stopped early the trees that answer are read, those up to the best round. A plain Booster
    answers as its `predict` does, but of several classes it tells the number of the likeliest rather than how likely
    each is. LightGBM writes names of columns without spaces; where data are given, they tell the right ones.
    """
    owner = type(model).__name__
    booster = getattr(model, "booster_", model)
    if not hasattr(booster, "model_to_string"):
        raise no_trees(owner)
    text = booster.model_to_string()
    head, *parts = _parts(text)
    width, scores = int(head["max_feature_idx"]) + 1, int(head["num_tree_per_iteration"])
    objective, _, settings = head.get("objective", "").partition(" ")
    link = "square" if settings == "sqrt" else LINKS.get(objective, "")
    labels = tuple(np.asarray(model.classes_).tolist()) if hasattr(model, "classes_") else None
    if labels is None and scores > 1:
        labels = tuple(range(scores))
    columns = _with_spaces(columns, data)
    told, names = meanings(labels, scores, link), names_of(columns, width)
    gone: dict[int, float] = {}
    trees = tuple(_read(part, names, told[i % scores], before, gone, owner) for i, part in enumerate(parts))
    if not trees:
        raise ModelError(f"This {owner} has no trees yet. Fit it first, with at least one round.")
    scale = next((float(each[8:]) for each in settings.split() if each.startswith("sigmoid:")), 1.0)
    joining = Joining(
        "mean" if "average_output" in head else "sum",
        (0.0,) * scores,
        tuple(i % scores for i in range(len(trees))),
        "number" if labels is None else "half" if scores == 1 else "most",
        link,
        scale,
    )
    return Forest(
        trees,
        owner,
        None if columns is None else tuple(columns),
        width,
        labels,
        joining if objective in LINKS or objective in PLAIN else None,
        categories=_categories(text, booster.pandas_categorical, owner),
        gone=gone,
        before=before,
    )


def _parts(text: str) -> Iterator[dict[str, str]]:
    """Return what a model's text says of the whole, and of each tree, by name."""
    for part in text.partition("\nend of trees")[0].split("\nTree="):
        yield {name: value for name, _, value in (line.partition("=") for line in part.splitlines()[1:])}


def _with_spaces(columns: list[str] | None, data: Any) -> list[str] | None:
    """Return names of columns as the data write them."""
    if columns is None or not hasattr(data, "columns"):
        return columns
    written = {str(name).replace(" ", "_"): str(name) for name in data.columns}
    return [written.get(name, name) for name in columns]


def _categories(text: str, known: list[list[Any]] | None, owner: str) -> dict[int, tuple[Any, ...]]:
    """Return what the codes of columns of categories stand for; nothing for columns that hold the codes."""
    if not known:
        return {}
    places = text.rpartition("\n[categorical_feature: ")[2].partition("]")[0].split(",")
    if len(places) != len(known) or not all(place.isdigit() for place in places):
        raise ModelError(
            f"This {owner} was fitted on {len(known)} columns of pandas' categories and told of others by "
            "categorical_feature, so that it cannot be known which are which. Make all of them categories of pandas."
        )
    return {int(place): tuple(values) for place, values in zip(places, known, strict=True)}


def _read(
    source: dict[str, str],
    names: tuple[str, ...],
    meaning: str,
    before: Before | None,
    gone: dict[int, float],
    owner: str,
) -> Tree:
    """Return one tree of LightGBM as ours, its inner nodes first; columns where 0 is missing are added to `gone`."""

    def numbers(name: str, kind: type = float) -> Any:
        return np.array(source.get(name, "").split(), dtype=kind)

    if source.get("is_linear", "0") != "0":
        raise ModelError(
            f"The leaves of this {owner} hold linear models (linear_tree=True), which are not read. Fit it without."
        )
    leaf_value = numbers("leaf_value")
    if int(source["num_leaves"]) == 1:
        nodes = Nodes()
        nodes.add(leaf_value[0], 1.0)
        return nodes.tree(names, single=False, before=before, meaning=meaning)
    feature, threshold = numbers("split_feature", int), numbers("threshold")
    decision = numbers("decision_type", int)
    grouped, missing = (decision & GROUPED) > 0, decision >> 2
    zero = ~grouped & (missing == ZERO)
    gone.update(dict.fromkeys(feature[zero].tolist(), 0.0))
    if any(column in gone for column in feature[~grouped & ~zero].tolist()):
        raise ModelError(f"Some trees of this {owner} take 0 for a missing value and others do not. Fit it anew.")
    taken_for_zero = ~grouped & (missing != ZERO) & (missing != NAN)
    near = ~grouped & (np.abs(threshold) <= NEARLY_ZERO)
    inner, leaves = len(feature), len(leaf_value)
    filler = np.full(leaves, LEAF)
    nodes = Nodes(
        feature=np.concatenate([feature, filler]),
        operator=np.concatenate([np.where(grouped, WITHIN, UP_TO), filler * 0]),
        threshold=np.concatenate(
            [np.where(near, np.where(threshold < 0, BELOW_ZERO, NEARLY_ZERO), threshold), filler]
        ),
        left=np.concatenate([_places(numbers("left_child", int), inner), filler]),
        right=np.concatenate([_places(numbers("right_child", int), inner), filler]),
        missing_left=np.concatenate(
            [
                np.where(taken_for_zero, threshold >= 0, ~grouped & ((decision & FIRST_IS_LEFT) > 0)),
                filler == 0,
            ]
        ),
        value=np.concatenate([numbers("internal_value"), leaf_value]),
        weight=np.concatenate([numbers("internal_count"), numbers("leaf_count")]),
    )
    ends, words = numbers("cat_boundaries", int), numbers("cat_threshold", int)
    nodes.sets = [frozenset(codes_in(words[a:b])) for a, b in pairwise(ends)]
    return nodes.tree(names, single=False, before=before, meaning=meaning)


def _places(children: Any, inner: int) -> Any:
    """Return the numbers of children: leaves, which are counted from -1 down, come after all inner nodes."""
    return np.where(children < 0, inner + ~children, children)
