"""`dm.trees.write_pmml`: write the trees of a model of any supported library to a PMML file."""

from __future__ import annotations

import os

from .._typing import ModelLike
from .._validation import check_types
from .forest import Forest
from .pmml.writing import write_forest
from .read import read_forest


@check_types
def write_pmml(model: ModelLike | Forest, path: str | os.PathLike[str]) -> None:
    """Write the trees of a model to a PMML 4.4 file.

    One tree becomes a TreeModel, several become a MiningModel. Boosted trees with labels become a chain of sums and a
    regression. Missing values go to the default child. `read_pmml` gets the same answers back.

    Parameters
    ----------
    model : estimator or Forest
        A fitted tree, forest or boosting model of a supported library, or what `read_forest` returns.
    path : str or path
        The file.

    Raises
    ------
    ModelError
        If PMML cannot express the model: several outputs, or steps of a pipeline before the trees.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1], [2], [3]], ["low", "low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pmml(tree, f"{folder}/tree.pmml")
    """
    write_forest(read_forest(model), path)
