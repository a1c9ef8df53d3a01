"""Read the trees of a model of any supported library, and load models with trees from files without code."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .._files import to_local_path
from .._typing import DataLike, ModelLike
from .._validation import check_types
from ..errors import ModelError
from ..space.table_forms import accept_tables
from ..systems.boosters import LIBRARY_BY_SUFFIX, load_booster
from ..systems.file_trial import try_file
from ..systems.files import load_model
from .forest import Forest
from .pipeline import get_column_names, split_pipeline
from .tree import Tree

# the reader of each library; scikit-learn is the default
READER_MODULES = {"xgboost": "readers.xgboost", "lightgbm": "readers.lightgbm", "catboost": "readers.catboost"}


@accept_tables
@check_types
def read_forest(model: ModelLike, data: DataLike | None = None) -> Forest:
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
    if isinstance(model, Forest):
        return _validate_forest(model)
    last, preprocessing = split_pipeline(model)
    columns, reader = get_column_names(model), READER_MODULES.get(_find_library(last))
    if reader is None:
        from .readers.scikit_learn import read_forest as read_scikit_learn

        return _validate_forest(read_scikit_learn(last, columns, preprocessing))
    read_trees_of_library = import_module(f".{reader}", __package__).read_forest
    return _validate_forest(read_trees_of_library(last, columns, preprocessing, data))


def _find_library(model: object) -> str:
    """Return the name of the library that made a model."""
    return str(getattr(model, "library", type(model).__module__.partition(".")[0]))


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
    """Read the trees of a fitted model; see `read_forest`."""
    return list(read_forest(model, data).trees)


def is_tree_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path has the suffix of a file with trees."""
    return Path(path).suffix.lower() in (".pmml", ".xml", *LIBRARY_BY_SUFFIX)


def load_tree_model(model: ModelLike, *, trust: bool = False) -> Any:
    """Return a model, or the trees or the model of a file."""
    if not isinstance(model, str | os.PathLike):
        return model
    return load_trees(model) if is_tree_file(model) else load_model(model, trust=trust)


def load_trees(path: str | os.PathLike[str]) -> Any:
    """Load the trees of a file, or the model of a library that holds them.

    ``.pmml`` and ``.xml`` are PMML, ``.json`` and ``.ubj`` XGBoost, ``.txt`` LightGBM, ``.cbm`` CatBoost.
    """
    file = to_local_path(path, "model file")
    kind = file.suffix.lower()
    if not file.is_file():
        raise ModelError(f"The file {str(path)!r} does not exist.")
    if kind in (".pmml", ".xml"):
        from .pmml.files import read_pmml

        return read_pmml(file)
    try_file(file)
    return load_booster(file)
