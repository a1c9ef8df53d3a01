"""The trees of scikit-learn's models as ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import ModelError
from ..forest import Forest, Joining
from ..model import LEAF, Floats, Tree
from ..reading import no_trees
from ..steps import Before

Classes = list[npt.NDArray[Any]] | None


def read_forest(model: Any, columns: list[str] | None, before: Before | None) -> Forest:
    """Return the trees of a fitted model of scikit-learn, and how they make its answer."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.tree import BaseDecisionTree

    if isinstance(model, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        from .histogram_trees import read_forest as read_histograms

        return read_histograms(model, columns, before)
    width = int(getattr(model, "n_features_in_", 0))
    names = tuple(columns) if columns is not None else tuple(f"x{j}" for j in range(width))
    classes = _classes(model)
    members: list[tuple[Any, str]] = [(model, "")] if isinstance(model, BaseDecisionTree) else _members(model)
    subsets = getattr(model, "estimators_features_", [None] * len(members))
    trees = [
        _read(
            member, names, classes if member is model else _classes_within(model, member), before, subset, meaning
        )
        for (member, meaning), subset in zip(members, subsets, strict=True)
    ]
    joining, values = _joining(model, [member for member, _ in members], classes)
    trees = [_with_value(tree, value) for tree, value in zip(trees, values, strict=True)]
    labels = None
    if classes is not None:
        listed = tuple(tuple(each.tolist()) for each in classes)
        labels = listed if len(listed) > 1 else listed[0]
    return Forest(
        tuple(trees),
        type(model).__name__,
        None if columns is None else tuple(columns),
        width,
        labels,
        joining,
        _takes_missing(model),
        before=before,
    )


def _members(model: Any) -> list[tuple[Any, str]]:
    """Return the trees of an ensemble, with what their answers mean."""
    from sklearn.base import is_classifier, is_regressor
    from sklearn.ensemble import BaseEnsemble, GradientBoostingClassifier, GradientBoostingRegressor
    from sklearn.tree import BaseDecisionTree

    kind = type(model).__name__
    members = getattr(model, "estimators_", None) if isinstance(model, BaseEnsemble) else None
    if members is None or not (is_classifier(model) or is_regressor(model)):
        raise no_trees(kind)
    flat = members.ravel().tolist() if isinstance(members, np.ndarray) else list(members)
    other = next((each for each in flat if not isinstance(each, BaseDecisionTree)), None)
    if other is not None:
        raise ModelError(
            f"This {kind} is an ensemble of {type(other).__name__}, which is no decision tree: there are no leaves to "
            "cover. Have a tree fitted to its answers: surrogate=True (--surrogate on the command line)."
        )
    meanings = [""]
    if isinstance(model, GradientBoostingRegressor):
        meanings = ["added to the answer"]
    elif isinstance(model, GradientBoostingClassifier):
        classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
        meanings = [f"added to the score of {label!r}" for label in classes.tolist()]
    return [(member, meanings[i % len(meanings)]) for i, member in enumerate(flat)]


def _classes(tree: Any) -> Classes:
    """Return the labels of a tree, a list of them for each of its outputs; None where it answers numbers."""
    classes = getattr(tree, "classes_", None)
    if classes is None:
        return None
    return list(classes) if isinstance(classes, list) else [classes]


def _classes_within(ensemble: Any, member: Any) -> Classes:
    """Return the labels of a tree of an ensemble: most ensembles number their labels and show trees the numbers."""
    from sklearn.ensemble import AdaBoostClassifier

    own = _classes(member)
    if own is None or isinstance(ensemble, AdaBoostClassifier):
        return own
    outer = _classes(ensemble)
    assert outer is not None
    return [labels[numbers.astype(np.intp)] for labels, numbers in zip(outer, own, strict=True)]


def _read(
    source: Any,
    names: tuple[str, ...],
    classes: Classes,
    before: Before | None,
    subset: npt.NDArray[Any] | None,
    meaning: str,
) -> Tree:
    """Return one tree of scikit-learn as ours; `subset` are the columns it gets to see."""
    tree = source.tree_
    feature = np.where(tree.children_left == LEAF, LEAF, tree.feature)
    if subset is not None:
        feature = np.where(feature >= 0, np.asarray(subset)[feature], LEAF)
    threshold = np.where(feature >= 0, tree.threshold, np.nan)
    answer, labels = _answers(tree.value, classes)
    return Tree(
        feature=feature.astype(np.int32),
        operator=np.zeros(len(feature), dtype=np.int8),
        threshold=threshold,
        left=tree.children_left.astype(np.int32),
        right=tree.children_right.astype(np.int32),
        missing_left=tree.missing_go_to_left.astype(bool),
        answer=answer,
        value=tree.value,
        weight=tree.weighted_n_node_samples / tree.weighted_n_node_samples[0],
        names=names,
        labels=labels,
        meaning=meaning,
        told=None if before is None or not before.scalers else before.told(feature, threshold),
    )


def _with_value(tree: Tree, value: Floats) -> Tree:
    from dataclasses import replace

    return replace(tree, value=value)


def _answers(value: Floats, classes: Classes) -> tuple[npt.NDArray[Any], tuple[Any, ...] | None]:
    """Return the answer of each node and the labels it may point to, from values by node, output and class."""
    if classes is None:
        if value.shape[1] == 1:
            return value[:, 0, 0].copy(), None
        kinds, places = np.unique(value[:, :, 0], axis=0, return_inverse=True)
        return places.ravel().astype(np.int32), tuple(map(tuple, kinds.tolist()))
    best = value.argmax(axis=2).astype(np.int32)
    if len(classes) == 1:
        return best[:, 0], tuple(classes[0].tolist())
    kinds, places = np.unique(best, axis=0, return_inverse=True)
    parts = [labels[kinds[:, output]].tolist() for output, labels in enumerate(classes)]
    return places.ravel().astype(np.int32), tuple(zip(*parts, strict=True))


# -- how trees make one answer --------------------------------------------------------------------------


def _joining(model: Any, members: Sequence[Any], classes: Classes) -> tuple[Joining | None, list[Floats]]:
    """Return how the trees of a model are joined, and what each adds at its nodes."""
    from sklearn.ensemble import (
        AdaBoostClassifier,
        AdaBoostRegressor,
        GradientBoostingClassifier,
        GradientBoostingRegressor,
    )

    if isinstance(model, GradientBoostingClassifier | GradientBoostingRegressor):
        return _boosted(model, members)
    if isinstance(model, AdaBoostClassifier):
        assert classes is not None
        many = len(classes[0])
        values = []
        for member, weight in zip(members, model.estimator_weights_, strict=False):
            best = member.classes_[member.tree_.value[:, 0].argmax(axis=1)]
            values.append(np.where(best[:, None] == classes[0], weight, -1 / (many - 1) * weight))
        return Joining("sum"), values
    if isinstance(model, AdaBoostRegressor):
        weights = tuple(model.estimator_weights_[: len(members)].tolist())
        return Joining("median", decides="number", weights=weights), [
            each.tree_.value[:, :, 0] for each in members
        ]
    values = [_flat_value(model, each, classes) for each in members]
    decides = "number" if classes is None else "most"
    parts = tuple(len(each) for each in classes) if classes is not None else (1,) * members[0].n_outputs_
    return Joining("mean", decides=decides, parts=parts if len(parts) > 1 else ()), values


def _flat_value(model: Any, member: Any, classes: Classes) -> Floats:
    """Return what the nodes of a tree say, all outputs side by side, a column for each label of the ensemble."""
    value = member.tree_.value
    if classes is None:
        return value[:, :, 0]
    own = _classes(member)
    assert own is not None
    wide = np.zeros((len(value), sum(map(len, classes))))
    start = 0
    for output, labels in enumerate(classes):
        # a tree that got a part of the rows may not know all labels: its ensemble showed it their numbers
        places = np.arange(len(labels)) if member is model else own[output].astype(np.intp)
        wide[:, start + places] = value[:, output, : len(places)]
        start += len(labels)
    return wide


def _boosted(model: Any, members: Sequence[Any]) -> tuple[Joining | None, list[Floats]]:
    """Return how gradient boosting adds up, from a start that is the same for every row."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    values = [model.learning_rate * each.tree_.value[:, 0, :1] for each in members]
    if isinstance(model.init_, DummyClassifier | DummyRegressor) or model.init_ == "zero":
        start = np.ravel(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)))
        scores = len(start)
        column = tuple(i % scores for i in range(len(members)))
        decides = "number" if not hasattr(model, "classes_") else "at least" if scores == 1 else "most"
        return Joining("sum", tuple(start.tolist()), column, decides), values
    return None, values  # it starts from another model's answers


def _takes_missing(model: Any) -> bool:
    try:
        from sklearn.utils import get_tags
    except ImportError:  # before 1.6
        return bool(model._get_tags()["allow_nan"])
    return bool(get_tags(model).input_tags.allow_nan)
