"""Read the trees of scikit-learn models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import ModelError
from ..forest import Forest, Joining
from ..pipeline import Preprocessing
from ..tree import LEAF, UP_TO, WITHIN, Floats, Tree
from ._build import NodeBuilder, build_no_trees_error, decode_bits, describe_meanings, name_columns

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

Classes = list[npt.NDArray[Any]] | None


def read_forest(model: BaseEstimator, columns: list[str] | None, preprocessing: Preprocessing | None) -> Forest:
    """Read the trees of a fitted scikit-learn model."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.tree import BaseDecisionTree
    from sklearn.utils import get_tags

    if isinstance(model, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        return _read_histograms(model, columns, preprocessing)
    width = int(getattr(model, "n_features_in_", 0))
    names = name_columns(columns, width)
    classes = _get_classes(model)
    members: list[tuple[Any, str]] = [(model, "")] if isinstance(model, BaseDecisionTree) else _list_members(model)
    subsets = getattr(model, "estimators_features_", [None] * len(members))
    joining, values = _read_joining(model, [member for member, _ in members], classes)
    trees = []
    for (member, meaning), subset, value in zip(members, subsets, values, strict=True):
        member_classes = classes if member is model else _get_member_classes(model, member)
        answer, labels = _read_answers(member.tree_.value, member_classes)
        nodes = _read_nodes(member.tree_, value, subset)
        answer_fields = {"answer": answer, "labels": labels, "meaning": meaning}
        trees.append(nodes.build_tree(names, single=True, preprocessing=preprocessing, **answer_fields))
    labels_by_output = [tuple(class_array.tolist()) for class_array in classes or ()]
    return Forest(
        trees=tuple(trees),
        owner=type(model).__name__,
        columns=None if columns is None else tuple(columns),
        width=width,
        labels=tuple(labels_by_output) if len(labels_by_output) > 1 else next(iter(labels_by_output), None),
        joining=joining,
        takes_missing=bool(get_tags(model).input_tags.allow_nan),
        preprocessing=preprocessing,
    )


def _list_members(model: BaseEstimator) -> list[tuple[Any, str]]:
    """Return the trees of an ensemble, with what their answers mean."""
    from sklearn.base import is_classifier, is_regressor
    from sklearn.ensemble import BaseEnsemble, GradientBoostingClassifier, GradientBoostingRegressor
    from sklearn.tree import BaseDecisionTree

    kind = type(model).__name__
    members = getattr(model, "estimators_", None) if isinstance(model, BaseEnsemble) else None
    if members is None or not (is_classifier(model) or is_regressor(model)):
        raise build_no_trees_error(kind)
    flat = members.ravel().tolist() if isinstance(members, np.ndarray) else list(members)
    non_tree = next((member for member in flat if not isinstance(member, BaseDecisionTree)), None)
    if non_tree is not None:
        raise ModelError(
            f"This {kind} is an ensemble of {type(non_tree).__name__}, which is not a decision tree, so there are no leaves "
            "to cover. Fit a tree to its answers: surrogate=True (--surrogate on the command line)."
        )
    meanings = [""]
    if isinstance(model, GradientBoostingClassifier | GradientBoostingRegressor):
        labels = model.classes_.tolist() if hasattr(model, "classes_") else None
        meanings = describe_meanings(labels, model.estimators_.shape[1])
    return [(member, meanings[i % len(meanings)]) for i, member in enumerate(flat)]


def _get_classes(tree: BaseEstimator) -> Classes:
    """Return the labels of a tree, one array per output; None for numbers."""
    classes = getattr(tree, "classes_", None)
    if classes is None:
        return None
    return list(classes) if isinstance(classes, list) else [classes]


def _get_member_classes(ensemble: BaseEstimator, member: BaseEstimator) -> Classes:
    """Return the labels of a tree, which most ensembles train on numbers."""
    from sklearn.ensemble import AdaBoostClassifier

    member_classes = _get_classes(member)
    if member_classes is None or isinstance(ensemble, AdaBoostClassifier):
        return member_classes
    ensemble_classes = _get_classes(ensemble)
    assert ensemble_classes is not None
    return [labels[numbers.astype(np.intp)] for labels, numbers in zip(ensemble_classes, member_classes, strict=True)]


def _read_nodes(tree: Any, value: Floats, subset: npt.NDArray[Any] | None) -> NodeBuilder:
    """Read the nodes of one tree; `subset` are the columns that it gets."""
    feature = np.where(tree.children_left == LEAF, LEAF, tree.feature)
    if subset is not None:
        feature = np.where(feature >= 0, np.asarray(subset)[feature], LEAF)
    return NodeBuilder(
        feature=feature,
        operator=np.full(len(feature), UP_TO),
        threshold=tree.threshold,
        left=tree.children_left,
        right=tree.children_right,
        missing_left=tree.missing_go_to_left,
        value=value,
        weight=tree.weighted_n_node_samples,
    )


def _read_answers(value: Floats, classes: Classes) -> tuple[npt.NDArray[Any], tuple[Any, ...] | None]:
    """Return answers and labels from values by node, output and class."""
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


# -- how trees are combined -----------------------------------------------------------------------------


def _read_joining(
    model: BaseEstimator, members: Sequence[Any], classes: Classes
) -> tuple[Joining | None, list[Floats]]:
    """Return how the trees of a model are combined, and what each adds at its nodes."""
    from sklearn.ensemble import (
        AdaBoostClassifier,
        AdaBoostRegressor,
        GradientBoostingClassifier,
        GradientBoostingRegressor,
    )

    if isinstance(model, GradientBoostingClassifier | GradientBoostingRegressor):
        return _read_boosting(model, members)
    if isinstance(model, AdaBoostClassifier):
        assert classes is not None
        other_share = -1 / (len(classes[0]) - 1)
        values = []
        for member, weight in zip(members, model.estimator_weights_, strict=False):
            best = member.classes_[member.tree_.value[:, 0].argmax(axis=1)]
            values.append(np.where(best[:, None] == classes[0], weight, other_share * weight))
        return Joining(method="sum"), values
    if isinstance(model, AdaBoostRegressor):
        weights = tuple(model.estimator_weights_[: len(members)].tolist())
        values = [member.tree_.value[:, :, 0] for member in members]
        return Joining(method="median", decision="number", weights=weights), values
    values = [_flatten_value(model, member, classes) for member in members]
    decision = "number" if classes is None else "most"
    parts = tuple(len(labels) for labels in classes) if classes is not None else (1,) * members[0].n_outputs_
    return Joining(method="mean", decision=decision, parts=parts if len(parts) > 1 else ()), values


def _flatten_value(model: BaseEstimator, member: BaseEstimator, classes: Classes) -> Floats:
    """Return the values of a tree with one column per output and label."""
    value = member.tree_.value
    if classes is None:
        return value[:, :, 0]
    member_classes = _get_classes(member)
    assert member_classes is not None
    flat_values = np.zeros((len(value), sum(map(len, classes))))
    start = 0
    for output, labels in enumerate(classes):
        # a tree fitted to part of the rows may lack labels; its own are numbers of those of the ensemble
        places = np.arange(len(labels)) if member is model else member_classes[output].astype(np.intp)
        flat_values[:, start + places] = value[:, output, : len(places)]
        start += len(labels)
    return flat_values


def _read_boosting(model: BaseEstimator, members: Sequence[Any]) -> tuple[Joining | None, list[Floats]]:
    """Return how gradient boosting sums its trees, if it starts from a constant."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    values = [model.learning_rate * member.tree_.value[:, 0, :1] for member in members]
    if isinstance(model.init_, DummyClassifier | DummyRegressor) or model.init_ == "zero":
        start = np.ravel(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)))
        scores = len(start)
        column = tuple(i % scores for i in range(len(members)))
        decision = "number" if not hasattr(model, "classes_") else "at least" if scores == 1 else "most"
        return Joining(method="sum", start=tuple(start.tolist()), column=column, decision=decision), values
    return None, values  # it starts from the answers of another model


# -- histogram gradient boosting ------------------------------------------------------------------------


def _read_histograms(model: BaseEstimator, columns: list[str] | None, preprocessing: Preprocessing | None) -> Forest:
    """Read the trees of a fitted histogram gradient boosting model."""
    width = int(model.n_features_in_)
    order, categories = _read_columns(model, width)
    scores = int(model.n_trees_per_iteration_)
    labels = tuple(model.classes_.tolist()) if hasattr(model, "classes_") else None
    # losses for numbers use the identity or the logarithm
    link = "" if labels is not None or type(model._loss.link).__name__ != "LogLink" else "exp"
    leaf_meanings = describe_meanings(labels, scores, link)
    names = name_columns(columns, width)
    rate = float(model.learning_rate)
    trees = tuple(
        _read_tree(predictor, order, names, rate, leaf_meanings[k], preprocessing)
        for row in model._predictors
        for k, predictor in enumerate(row)
    )
    decision = "number" if labels is None else "above" if scores == 1 else "most"
    start = tuple(np.ravel(model._baseline_prediction).tolist())
    column = tuple(i % scores for i in range(len(trees)))
    return Forest(
        trees=trees,
        owner=type(model).__name__,
        columns=None if columns is None else tuple(columns),
        width=width,
        labels=labels,
        joining=Joining(method="sum", start=start, column=column, decision=decision, link=link),
        categories=categories,
        preprocessing=preprocessing,
    )


def _read_columns(model: BaseEstimator, width: int) -> tuple[Any, dict[int, tuple[Any, ...]]]:
    """Return the column of each index in the trees, where categorical columns come first, and the categories."""
    if model.is_categorical_ is None:
        return np.arange(width), {}
    order = np.concatenate([np.flatnonzero(model.is_categorical_), np.flatnonzero(~model.is_categorical_)])
    encoder = model._preprocessor.named_transformers_["encoder"]
    # NaN is the last of the categories and not a code of the trees
    categories = [[value for value in values.tolist() if value == value] for values in encoder.categories_]
    return order, {int(column): tuple(values) for column, values in zip(order, categories, strict=False)}


def _read_tree(
    source: TreePredictor,
    order: npt.NDArray[Any],
    names: tuple[str, ...],
    rate: float,
    meaning: str,
    preprocessing: Preprocessing | None,
) -> Tree:
    rows = source.nodes
    is_leaf, is_categorical = rows["is_leaf"].astype(bool), rows["is_categorical"].astype(bool)
    nodes = NodeBuilder(
        feature=np.where(is_leaf, LEAF, order[np.where(is_leaf, 0, rows["feature_idx"])]),
        operator=np.where(is_categorical, WITHIN, UP_TO),
        threshold=np.where(is_categorical, rows["bitset_idx"], rows["num_threshold"]),
        left=np.where(is_leaf, LEAF, rows["left"].astype(np.int64)),
        right=np.where(is_leaf, LEAF, rows["right"].astype(np.int64)),
        missing_left=rows["missing_go_to_left"].astype(bool),
        # only the values of leaves include the learning rate
        value=np.where(is_leaf, rows["value"], rate * rows["value"]),
        weight=rows["count"],
        sets=[frozenset(decode_bits(bits)) for bits in source.raw_left_cat_bitsets.tolist()],
    )
    return nodes.build_tree(names, single=False, preprocessing=preprocessing, meaning=meaning)
