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

SKLEARN_TREE_TYPE = "sklearn.tree._tree.Tree"
MEMBERS_ATTRIBUTE = "estimators_"


def validate_trees(model: Any, name: str) -> None:
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
    other_ensembles = AdaBoostClassifier | AdaBoostRegressor | BaggingClassifier | BaggingRegressor
    for part in _iterate_parts(model):
        contents = _list_contents(part)
        if any(
            isinstance(value, Tree)
            for key, value in contents
            if key != "tree_" or not isinstance(part, BaseDecisionTree)
        ):
            raise _build_forgery_error(name, "a tree belongs to no decision tree")
        if isinstance(part, BaseDecisionTree):
            tree = getattr(part, "tree_", None)
            if tree is not None and not (
                isinstance(tree, Tree) and _is_sound(tree, getattr(part, "n_features_in_", -1))
            ):
                raise _build_forgery_error(name, f"a tree of {type(part).__name__} is no tree")
        elif isinstance(part, forests | other_ensembles):
            members = getattr(part, MEMBERS_ATTRIBUTE, None)
            if members is not None and not _has_matching_members(part, members, isinstance(part, forests)):
                raise _build_forgery_error(
                    name, f"the members of {type(part).__name__} take other columns than it has"
                )
        elif not isinstance(part, Pipeline | list | tuple | dict | np.ndarray) and any(
            isinstance(value, BaseDecisionTree) and hasattr(value, "tree_") for value in _iterate_nested(contents)
        ):
            raise UntrustedError(
                f"{name} holds trees in a {type(part).__name__}, which is not known to ask them safely. If you know where "
                "it comes from, say trust=True (--trust on the command line)."
            )


def _build_forgery_error(name: str, problem: str) -> UntrustedError:
    return UntrustedError(
        f"{name} is damaged or forged: {problem}. If you know where it comes from, say trust=True (--trust on the command "
        "line)."
    )


def _list_contents(container: Any) -> list[tuple[Any, Any]]:
    """Return what an object holds, with the names it has there."""
    if isinstance(container, dict):
        return [*container.items(), *((None, key) for key in container)]
    if isinstance(container, list | tuple | set | frozenset):
        return [(None, value) for value in container]
    if isinstance(container, np.ndarray):
        return [(None, value) for value in container.ravel().tolist()] if container.dtype == object else []
    return list(getattr(container, "__dict__", {}).items())


def _iterate_nested(contents: list[tuple[Any, Any]]) -> Iterator[Any]:
    """Return what is held, and what lists, tuples, dicts and arrays among that hold."""
    pending, seen = [value for _, value in contents], set()
    while pending:
        item = pending.pop()
        if id(item) not in seen:
            seen.add(id(item))
            yield item
            if isinstance(item, dict | list | tuple | set | frozenset | np.ndarray):
                pending += [value for _, value in _list_contents(item)]


def _iterate_parts(model: Any) -> Iterator[Any]:
    """Return a model and all objects it holds, each once."""
    pending, seen, references = [model], set(), []
    while pending:
        part = pending.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | None.__class__):
            continue
        seen.add(id(part))
        references.append(part)  # an object that went away would lend its id to the next
        yield part
        pending += [value for _, value in _list_contents(part)]


def _is_sound(tree: Any, width: Any) -> bool:
    """Tell whether following a tree from the root always ends at one of its leaves, and asks for existing columns."""
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


def _has_matching_members(ensemble: Any, members: Any, is_forest: bool) -> bool:
    """Tell whether an ensemble has members, and hands on to them the columns they take."""
    from sklearn.tree import BaseDecisionTree

    width = getattr(ensemble, "n_features_in_", -1)
    if not isinstance(members, list) or not members:
        return False
    if not is_forest:
        return True  # these let each member look at what it is given
    return all(
        isinstance(member, BaseDecisionTree) and getattr(member, "n_features_in_", None) == width
        for member in members
    )
