"""The trees of any model that has some, whatever library it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from .forest import Forest
from .pipeline import get_column_names, split_pipeline
from .tree import Tree

# by the library a model's class comes from, the module here that reads it
READER_MODULES = {
    "xgboost": "readers.xgboost",
    "lightgbm": "readers.lightgbm",
    "catboost": "readers.catboost",
}


def forest_of(model: Any, data: Any = None) -> Forest:
    """Return the trees of a fitted model as ours; where it knows no names of columns they are x0, x1, ...

    Parameters
    ----------
    model : estimator or Forest
        A decision tree of scikit-learn, or an ensemble of them: random forests, extra trees, gradient boosting and its
        histogram kind, AdaBoost, bagging; a model of XGBoost, LightGBM or CatBoost; or a pipeline that ends in one of
        these and keeps the columns until then (scalers and imputers do).
    data : DataFrame, optional
        Rows for the model. They tell what some models do not keep: the categories that CatBoost asks for, and names of
        columns with spaces, which LightGBM writes without.

    Raises
    ------
    ModelError
        If it is not fitted, or has no trees.
    """
    from importlib import import_module

    if isinstance(model, Forest):
        return _validate_forest(model)
    last, preprocessing = split_pipeline(model)
    reader = READER_MODULES.get(type(last).__module__.partition(".")[0])
    if reader is None:
        from .readers.scikit_learn import read_forest

        return _validate_forest(read_forest(last, get_column_names(model), preprocessing))
    return _validate_forest(
        import_module(f".{reader}", __package__).read_forest(last, get_column_names(model), preprocessing, data)
    )


def _validate_forest(forest: Forest) -> Forest:
    """Return the trees if every decision compares with something."""
    for number, tree in enumerate(forest.trees):
        nodes_without_threshold = tree.inner[np.isnan(tree.threshold[tree.inner])]
        if nodes_without_threshold.size:
            name = tree.names[tree.feature[nodes_without_threshold[0]]]
            raise ModelError(
                f"Node {int(nodes_without_threshold[0])} of tree {number} of this {forest.owner} compares {name!r} with NaN, which nothing "
                "is below or above. The model is damaged: fit it again."
            )
    return forest


def read_trees(model: Any, data: Any = None) -> list[Tree]:
    """Return the trees of a fitted model as ours, without what joins them; see `forest_of`."""
    return list(forest_of(model, data).trees)
