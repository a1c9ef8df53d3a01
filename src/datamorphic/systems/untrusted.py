"""Validation of trees in files that are not trusted.

A tree of scikit-learn consists of arrays of numbers. Compiled code follows them without checks, so forged arrays make it
read foreign memory or loop for ever. Therefore trees from such files are accepted only in models that are known to use
them safely: decision trees, and ensembles that query their members one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UntrustedError

if TYPE_CHECKING:
    from sklearn.tree._tree import Tree

SKLEARN_TREE_TYPE = "sklearn.tree._tree.Tree"
TRUST_HINT = "If you trust its origin, pass trust=True (--trust on the command line)."


def validate_trees(model: object, name: str) -> None:
    """Raise `UntrustedError` if a tree in a model could lead outside its own arrays.

    A tree may belong only to a decision tree that has the columns it refers to. A decision tree may be a member only of
    forests, bagging and AdaBoost, and in forests only with the columns of the forest. Gradient boosting needs trust: its
    compiled code depends on more than its trees, and boosting of histograms has trees of another type.
    """
    from sklearn.ensemble import (
        AdaBoostClassifier,
        AdaBoostRegressor,
        BaggingClassifier,
        BaggingRegressor,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.pipeline import Pipeline
    from sklearn.tree import BaseDecisionTree
    from sklearn.tree._tree import Tree

    histogram_boosters = HistGradientBoostingClassifier | HistGradientBoostingRegressor
    forests = ExtraTreesClassifier | ExtraTreesRegressor | RandomForestClassifier | RandomForestRegressor
    other_ensembles = AdaBoostClassifier | AdaBoostRegressor | BaggingClassifier | BaggingRegressor
    for part in _iterate_parts([model]):
        contents = _list_contents(part)
        has_tree = isinstance(part, BaseDecisionTree)
        if any(isinstance(value, Tree) for key, value in contents if key != "tree_" or not has_tree):
            raise build_forgery_error(name, "a tree does not belong to a decision tree")
        if isinstance(part, BaseDecisionTree):
            tree, width = getattr(part, "tree_", None), getattr(part, "n_features_in_", -1)
            if tree is not None and not (isinstance(tree, Tree) and _is_sound(tree, width)):
                raise build_forgery_error(name, f"a tree of {type(part).__name__} is not valid")
        elif isinstance(part, forests | other_ensembles):
            members, kind = getattr(part, "estimators_", None), type(part).__name__
            if members is not None and not _has_matching_members(part, members, isinstance(part, forests)):
                raise build_forgery_error(name, f"the members of {kind} have other columns than the ensemble")
        elif (isinstance(part, histogram_boosters) and hasattr(part, "n_iter_")) or (
            not isinstance(part, Pipeline | list | tuple | dict | np.ndarray)
            and any(
                isinstance(value, BaseDecisionTree) and hasattr(value, "tree_")
                for value in _iterate_parts([value for _, value in contents], only_containers=True)
            )
        ):
            problem = f"holds trees in a {type(part).__name__}, which is not known to use them safely"
            raise UntrustedError(f"{name} {problem}. {TRUST_HINT}")


def build_forgery_error(name: str, problem: str) -> UntrustedError:
    """Return the error for a file whose structure is invalid."""
    return UntrustedError(f"{name} is damaged or forged: {problem}. {TRUST_HINT}")


def _list_contents(container: object) -> list[tuple[Any, Any]]:
    """Return the parts of an object, each with its name there."""
    if isinstance(container, dict):
        return [*container.items(), *((None, key) for key in container)]
    if isinstance(container, list | tuple | set | frozenset):
        return [(None, value) for value in container]
    if isinstance(container, np.ndarray):
        return [(None, value) for value in container.ravel().tolist()] if container.dtype == object else []
    return list(getattr(container, "__dict__", {}).items())


def _iterate_parts(parts: list[Any], *, only_containers: bool = False) -> Iterator[Any]:
    """Yield objects and all they hold, each once; with `only_containers`, only what lists, dicts and the like hold."""
    pending, seen = list(parts), {}
    while pending:
        part = pending.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | None.__class__):
            continue
        seen[id(part)] = part  # keeps objects alive, so that ids stay unique
        yield part
        if not only_containers or isinstance(part, dict | list | tuple | set | frozenset | np.ndarray):
            pending += [value for _, value in _list_contents(part)]


def _is_sound(tree: Tree, width: object) -> bool:
    """Return whether all paths of a tree end at leaves and use existing columns."""
    try:
        left, right, feature = tree.children_left, tree.children_right, tree.feature
        is_complete = len(tree.value) == len(left) == tree.node_count > 0
    except (ValueError, MemoryError):
        return False
    node_index = np.arange(len(left))
    leaf = left == -1
    inner = ~leaf
    return bool(
        is_complete
        and isinstance(width, int)
        and (right[leaf] == -1).all()
        and all((node_index < child)[inner].all() and (child < len(left)).all() for child in (left, right))
        and ((feature >= 0) & (feature < width))[inner].all()
    )


def _has_matching_members(ensemble: object, members: object, is_forest: bool) -> bool:
    """Return whether an ensemble has members that take the columns it passes on."""
    from sklearn.tree import BaseDecisionTree

    width = getattr(ensemble, "n_features_in_", -1)
    if not isinstance(members, list) or not members:
        return False
    return not is_forest or all(  # the others validate the input of each member
        isinstance(member, BaseDecisionTree) and getattr(member, "n_features_in_", None) == width for member in members
    )
