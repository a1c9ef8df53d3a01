"""Trees from a file that nobody vouches for: looked over before any of them is asked.

A tree of scikit-learn is arrays of numbers, and harmless but for one thing: its compiled code follows them without a
look, so forged ones make it read memory that is not its own, or go round in circles.
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

    Every tree must belong to an estimator that knows how many columns it has, and members of an ensemble must have the
    columns that the ensemble hands on to them.
    """
    from sklearn.tree._tree import Tree

    owned: set[int] = set()
    found: list[Any] = []
    for each in _within(model):
        if isinstance(each, Tree):
            found.append(each)
            continue
        tree = getattr(each, "tree_", None)
        if isinstance(tree, Tree):
            owned.add(id(tree))
            if not _sound(tree, getattr(each, "n_features_in_", -1)):
                raise _forged(name, f"a tree of {type(each).__name__} is no tree")
        if hasattr(each, MEMBERS) and not _fitting(each):
            raise _forged(name, f"the members of {type(each).__name__} take other columns than it has")
    if any(id(tree) not in owned for tree in found):
        raise _forged(name, "a tree belongs to no model")


def _forged(name: str, what: str) -> UntrustedError:
    return UntrustedError(
        f"{name} is damaged or forged: {what}. If you know where it comes from, say trust=True (--trust on the command "
        "line)."
    )


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
        if isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple | set | frozenset):
            waiting += each
        elif isinstance(each, np.ndarray):
            waiting += each.ravel().tolist() if each.dtype == object else []
        else:
            waiting += list(getattr(each, "__dict__", {}).values())


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
        and (right[leaf] == -1).all()
        and all((own < child)[inner].all() and (child < len(left)).all() for child in (left, right))
        and ((feature >= 0) & (feature < width))[inner].all()
    )


def _fitting(ensemble: Any) -> bool:
    """Tell whether the members of an ensemble take the columns that it hands on to them."""
    members = np.ravel(np.array(getattr(ensemble, MEMBERS), dtype=object)).tolist()
    subsets = getattr(ensemble, "estimators_features_", None)
    width = getattr(ensemble, "n_features_in_", -1)
    expected = [width] * len(members) if subsets is None else [len(subset) for subset in subsets]
    if len(expected) != len(members) or (
        subsets is not None and any((np.asarray(each) >= width).any() for each in subsets)
    ):
        return False
    trees = [(each, many) for each, many in zip(members, expected, strict=True) if hasattr(each, "tree_")]
    return all(getattr(each, "n_features_in_", -1) == many for each, many in trees)
