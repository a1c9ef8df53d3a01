"""Read the trees of a model of any supported library."""

from __future__ import annotations

import numpy as np

from .._typing import DataLike, ModelLike
from ..errors import ModelError
from .forest import Forest
from .pipeline import get_column_names, split_pipeline
from .tree import Tree

# the reader of each library; scikit-learn is the default
READER_MODULES = {"xgboost": "readers.xgboost", "lightgbm": "readers.lightgbm", "catboost": "readers.catboost"}


def forest_of(model: ModelLike, data: DataLike | None = None) -> Forest:
    """Read the trees of a fitted model.

    Columns without names are called x0, x1, ...

    Parameters
    ----------
    model : estimator or Forest
        A decision tree of scikit-learn or an ensemble of them (random forest, extra trees, gradient boosting, its
        histogram kind, AdaBoost, bagging); a model of XGBoost, LightGBM or CatBoost; or a pipeline of scalers and
        imputers that ends in one of these.
    data : DataFrame, optional
        Rows for the model. Some models do not keep all names: CatBoost keeps only hashes of categories, and LightGBM
        writes column names without spaces. They are found in the data.

    Raises
    ------
    ModelError
        If the model is not fitted or has no trees.
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
    """Return the forest if every decision has a threshold, else raise `ModelError`."""
    for number, tree in enumerate(forest.trees):
        nodes_without_threshold = tree.inner[np.isnan(tree.threshold[tree.inner])]
        if nodes_without_threshold.size:
            name = tree.names[tree.feature[nodes_without_threshold[0]]]
            raise ModelError(
                f"Node {int(nodes_without_threshold[0])} of tree {number} of this {forest.owner} compares {name!r} with "
                "NaN, which decides nothing. The model is damaged: fit it again."
            )
    return forest


def read_trees(model: ModelLike, data: DataLike | None = None) -> list[Tree]:
    """Read the trees of a fitted model; see `forest_of`."""
    return list(forest_of(model, data).trees)
