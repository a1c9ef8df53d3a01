"""`cover`: do the rows you test with reach every leaf of a tree, or of a forest?"""

from __future__ import annotations

from typing import Any

from .._checks import one_of, reject
from ..errors import ArgumentError
from ..space.space import Space
from ..sut.estimator import Estimator
from ..trees.coverage import Coverage, measure
from ..trees.inputs import read
from ..trees.model import trees_of
from ..trees.surrogate import Surrogate

CRITERIA = ("DTC",)


def cover(
    model: Any,
    data: Any,
    *,
    target: str | None = None,
    space: Space | None = None,
    criterion: str = "DTC",
) -> Coverage:
    """Tell which leaves of a tree, or of the trees of a forest, are reached by some rows.

    Each leaf stands for the inputs that a tree treats alike. A leaf that no row reaches is a kind of input that was
    never tried.

    Parameters
    ----------
    model : estimator or Surrogate
        A fitted decision tree of scikit-learn, a random forest, extra trees, gradient boosting, AdaBoost or bagging of
        trees; or a pipeline that ends in one of these after scalers and imputers.
    data : DataFrame, array or Points
        The rows, e.g. those of a test set. Columns that are no inputs are left aside, where the model knows its own.
    target : str, optional
        The column that holds the label and is no input.
    space : Space, optional
        The values that columns may have; `Coverage.example` keeps to them.
    criterion : {"DTC"}
        What has to be covered: decision-tree coverage asks for every leaf.

    Returns
    -------
    Coverage
        With `share`, `uncovered()`, `example(leaf)` and `describe()`.

    Examples
    --------
    >>> from datamorphic.verbs.cover import cover
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> iris = load_iris(as_frame=True)
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(iris.data, iris.target_names[iris.target])
    >>> coverage = cover(tree, iris.data[:70])
    >>> print(coverage.describe())
    2 of 3 leaves reached, 66.7 %, by 70 rows (DTC).
    Not reached, first where most training rows were:
      leaf 2: petal width (cm) > 1.75 -> virginica
    >>> coverage.example(2)["petal width (cm)"].item()
    1.76
    """
    one_of("criterion", "cover", criterion, CRITERIA)
    if space is not None and not isinstance(space, Space):
        reject("space", "cover", "a Space", space)
    if isinstance(model, Estimator):
        model = model.model
    if isinstance(model, Surrogate):
        if space is not None:
            raise ArgumentError("A surrogate has its own space. Leave space out.")
        return model.cover(data, target=target)
    trees = trees_of(model)
    inputs, frame, notes = read(model, data, target=target, space=space)
    return measure([tree.named(inputs.names) for tree in trees], frame, inputs, notes, criterion)
