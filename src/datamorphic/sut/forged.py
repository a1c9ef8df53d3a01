"""Trees from a file that nobody vouches for: looked over before any of them is asked.

A tree of scikit-learn is arrays of numbers, and harmless but for one thing: its compiled code follows them without a
look, so forged ones make it read memory that is not its own, or go round in circles. So trees are taken from such a file
only where it is known who asks them and how: decision trees, and ensembles that ask their members one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import UntrustedError

TREE = "sklearn.tree._tree.Tree"
MEMBERS = "estimators_"


def check_trees(model: Any, name: str) -> None:
    """Raise `UntrustedError` if a tree in a model, or what it takes for its columns, could lead anywhere else.

    A tree may be held by a decision tree alone, which must have the columns it looks at; a decision tree may be a member
    only of forests, bagging and AdaBoost, and of forests only with the forest's own columns. Gradient boosting has compiled
    code that goes by more than its trees: it needs trust.
    """
    from sklearn.ensemble import (
        AdaBoostClassifier,
        AdaBoostRegressor,
        BaggingClassifier,
        BaggingRegressor,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.pipeline import Pipeline
    from sklearn.tree import BaseDecisionTree
    from sklearn.tree._tree import Tree

    forests = ExtraTreesClassifier | ExtraTreesRegressor | RandomForestClassifier | RandomForestRegressor
    others = AdaBoostClassifier | AdaBoostRegressor | BaggingClassifier | BaggingRegressor
    for each in _within(model):
        held = _held(each)
        if any(
            isinstance(value, Tree)
            for key, value in held
            if key != "tree_" or not isinstance(each, BaseDecisionTree)
        ):
            raise _forged(name, "a tree belongs to no decision tree")
        if isinstance(each, BaseDecisionTree):
            tree = getattr(each, "tree_", None)
            if tree is not None and not (
                isinstance(tree, Tree) and _sound(tree, getattr(each, "n_features_in_", -1))
            ):
                raise _forged(name, f"a tree of {type(each).__name__} is no tree")
        elif isinstance(each, forests | others):
            members = getattr(each, MEMBERS, None)
            if members is not None and not _fitting(each, members, isinstance(each, forests)):
                raise _forged(name, f"the members of {type(each).__name__} take other columns than it has")
        elif not isinstance(each, Pipeline | list | tuple | dict | np.ndarray) and any(
            isinstance(value, BaseDecisionTree) and hasattr(value, "tree_") for value in _reached(held)
        ):
            raise UntrustedError(
                f"{name} holds trees in a {type(each).__name__}, which is not known to ask them safely. If you know where "
                "it comes from, say trust=True (--trust on the command line)."
            )


def _forged(name: str, what: str) -> UntrustedError:
    return UntrustedError(
        f"{name} is damaged or forged: {what}. If you know where it comes from, say trust=True (--trust on the command "
        "line)."
    )


def _held(each: Any) -> list[tuple[Any, Any]]:
    """Return what an object holds, with the names it has there."""
    if isinstance(each, dict):
        return [*each.items(), *((None, key) for key in each)]
    if isinstance(each, list | tuple | set | frozenset):
        return [(None, value) for value in each]
    if isinstance(each, np.ndarray):
        return [(None, value) for value in each.ravel().tolist()] if each.dtype == object else []
    return list(getattr(each, "__dict__", {}).items())


def _reached(held: list[tuple[Any, Any]]) -> Iterator[Any]:
    """Return what is held, and what lists, tuples, dicts and arrays among that hold."""
    waiting, seen = [value for _, value in held], set()
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            if isinstance(each, dict | list | tuple | set | frozenset | np.ndarray):
                waiting += [value for _, value in _held(each)]


def _within(model: Any) -> Iterator[Any]:
    """Return a model and all objects it holds, each once."""
    waiting, seen, kept = [model], set(), []
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, str | bytes | int | float | None.__class__):
            continue
        seen.add(id(each))
        kept.append(each)  # an object that went away would lend its id to the next
        yield each
        waiting += [value for _, value in _held(each)]


def _sound(tree: Any, width: Any) -> bool:
    """Tell whether following a tree from the root always ends at one of its leaves, and asks for existing columns."""
    try:
        left, right, feature = tree.children_left, tree.children_right, tree.feature
        whole = len(tree.value) == len(left) == tree.node_count > 0
    except (ValueError, MemoryError):
        return False
    own = np.arange(len(left))
    leaf = left == -1
    inner = ~leaf
    return bool(
        whole
        and isinstance(width, int)
        and (right[leaf] == -1).all()
        and all((own < child)[inner].all() and (child < len(left)).all() for child in (left, right))
        and ((feature >= 0) & (feature < width))[inner].all()
    )


def _fitting(ensemble: Any, members: Any, forest: bool) -> bool:
    """Tell whether an ensemble has members, and hands on to them the columns they take."""
    from sklearn.tree import BaseDecisionTree

    width = getattr(ensemble, "n_features_in_", -1)
    if not isinstance(members, list) or not members:
        return False
    if not forest:
        return True  # these let each member look at what it is given
    return all(
        isinstance(each, BaseDecisionTree) and getattr(each, "n_features_in_", None) == width for each in members
    )
