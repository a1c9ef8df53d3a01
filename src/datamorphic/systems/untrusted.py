"""Validation of skops files that are not trusted: which types may be in them, and what their state must be like.

skops trusts the estimators of scikit-learn, NumPy's arrays and ufuncs. safe_types.toml adds types that fitted estimators hold. Most
are Python classes that keep attributes and call only each other, or functions without side effects. The others consist of
arrays of numbers that compiled code follows without checks, so forged arrays would make it read foreign memory or loop for
ever: `validate_parts` examines or rebuilds these. Trees are accepted only in models that are known to use them safely.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._tables import read_document
from ..errors import UntrustedError

if TYPE_CHECKING:
    from sklearn.tree._tree import Tree

TRUST_HINT = "If you trust its origin, pass trust=True (--trust on the command line)."


@dataclass(frozen=True)
class SafeTypes:
    """The types of safe_types.toml."""

    loaders: Mapping[str, tuple[str, ...]]  # types by the loader of skops that may make them
    meta_estimators: tuple[str, ...]  # which pass rows to their parts through methods that validate them


@cache
def read_safe_types() -> SafeTypes:
    """Return the types that files of unknown origin may hold, beside those that skops trusts."""
    return read_document(__package__, "safe_types.toml", SafeTypes)


def list_unsafe_types(file: Path, unknown_types: list[str]) -> list[str]:
    """Return those types unknown to skops that are not safe as the file would make them."""
    if not unknown_types:
        return []
    with zipfile.ZipFile(file) as archive:
        loaders = _list_loaders(json.loads(archive.read("schema.json")))
    safe_types = read_safe_types().loaders
    return [
        name
        for name in unknown_types
        if not all(name in safe_types.get(loader, ()) for loader in loaders.get(name, {""}))
    ]


def _list_loaders(schema: Any) -> dict[str, set[str]]:
    """Return the loaders that a file names for each type."""
    loaders: dict[str, set[str]] = {}
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                name = f"{node.get('__module__')}.{node.get('__class__')}"
                loaders.setdefault(name, set()).add(str(node["__loader__"]))
            pending += node.values()
        elif isinstance(node, list):
            pending += node
    return loaders


def validate_parts(model: object, name: str) -> None:
    """Raise `UntrustedError` if a part of a model could lead compiled code outside its own arrays.

    A tree may belong only to a decision tree that has the columns it refers to. A decision tree may be a member only of
    estimators that validate the rows they pass on, and of forests and gradient boosting with the same columns. Indices of
    neighbours and splines are rebuilt from their data.
    """
    from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.tree import BaseDecisionTree
    from sklearn.tree._tree import Tree

    for part in list(_iterate_parts([model])):
        contents, kind = _list_contents(part), type(part).__name__
        if any(
            isinstance(value, Tree)
            for key, value in contents
            if key != "tree_" or not isinstance(part, BaseDecisionTree)
        ):
            raise build_forgery_error(name, "a tree does not belong to a decision tree")
        problem = _rebuild(part) or _find_problem(part)
        if problem:
            raise build_forgery_error(name, problem)
        if isinstance(part, dict | list | tuple | set | frozenset | np.ndarray):
            continue  # what it holds is judged with its owner
        members = list(_iterate_parts([value for _, value in contents], only_containers=True))
        if any(isinstance(member, TreePredictor) for member in members):
            is_safe = isinstance(part, BaseHistGradientBoosting)
        else:
            has_trees = any(isinstance(member, BaseDecisionTree) and hasattr(member, "tree_") for member in members)
            is_safe = not has_trees or kind in read_safe_types().meta_estimators or _is_ensemble_of_trees(part)
        if not is_safe:
            problem = f"holds trees in a {kind}, which is not known to use them safely"
            raise UntrustedError(f"{name} {problem}. {TRUST_HINT}")


def _is_ensemble_of_trees(part: object) -> bool:
    from sklearn.ensemble import IsolationForest
    from sklearn.ensemble._forest import BaseForest
    from sklearn.ensemble._gb import BaseGradientBoosting

    return isinstance(part, BaseForest | BaseGradientBoosting | IsolationForest)


def _rebuild(part: Any) -> str:
    """Replace what an object derives from its data by what its own constructor makes of them; return a problem or ''."""
    from scipy.interpolate import BSpline
    from sklearn.neighbors import BallTree, KDTree

    try:
        if isinstance(part, KDTree | BallTree):
            data, *_, metric, weights = state = part.__getstate__()
            part.__setstate__(type(part)(data, leaf_size=state[4], metric=metric, sample_weight=weights).__getstate__())
        elif isinstance(part, BSpline):
            part.__dict__ = vars(BSpline(part.t, part.c, part.k, extrapolate=part.extrapolate, axis=part.axis))
    except Exception as error:  # whatever the constructor objects to
        return f"a {type(part).__name__} cannot be rebuilt ({type(error).__name__})"
    return ""


def _find_problem(part: Any) -> str:
    """Return what is wrong with the arrays of an object that compiled code follows; otherwise ''."""
    from scipy.sparse import issparse
    from sklearn.ensemble import IsolationForest
    from sklearn.ensemble._forest import BaseForest
    from sklearn.ensemble._gb import BaseGradientBoosting
    from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
    from sklearn.tree import BaseDecisionTree
    from sklearn.tree._tree import Tree

    kind, width = type(part).__name__, getattr(part, "n_features_in_", -1)
    try:
        if issparse(part):
            part.check_format(full_check=True)
        elif isinstance(part, BaseDecisionTree):
            tree = getattr(part, "tree_", None)
            if tree is not None and not (isinstance(tree, Tree) and _is_sound(tree, width)):
                return f"a tree of {kind} is not valid"
        elif isinstance(part, BaseHistGradientBoosting) and hasattr(part, "_predictors"):
            if getattr(part, "_preprocessor", None) is not None or not all(
                _is_sound_predictor(predictor, width) for trees in part._predictors for predictor in trees
            ):
                return f"a tree of {kind} is not valid, or compares categories"
        elif isinstance(part, BaseForest | BaseGradientBoosting | IsolationForest):
            members = getattr(part, "estimators_", None)
            if members is not None and not _has_matching_members(part, members, width):
                return f"the members of {kind} have other columns than the ensemble"
            if isinstance(part, BaseGradientBoosting) and members is not None and not _starts_soundly(part, width):
                return f"the start of {kind} does not fit its trees"
    except Exception as error:  # a part is missing or of the wrong type
        return f"a {kind} is not complete ({type(error).__name__})"
    return ""


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


def _is_sound_predictor(predictor: Any, width: int) -> bool:
    """Return whether all paths of a tree of a histogram model end at leaves, and compare numbers of existing columns."""
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    if not isinstance(predictor, TreePredictor):
        return False
    nodes = predictor.nodes
    index, inner = np.arange(len(nodes)), nodes["is_leaf"] == 0
    return bool(
        len(nodes)
        and all(((index < nodes[side]) & (nodes[side] < len(nodes)))[inner].all() for side in ("left", "right"))
        and (nodes["feature_idx"][inner] < width).all()
        and not nodes["is_categorical"].any()
    )


def _has_matching_members(ensemble: Any, members: Any, width: int) -> bool:
    """Return whether an ensemble has members that take the columns it passes on unchecked."""
    from sklearn.ensemble import IsolationForest
    from sklearn.ensemble._gb import BaseGradientBoosting
    from sklearn.tree import BaseDecisionTree

    if isinstance(ensemble, BaseGradientBoosting):
        if not isinstance(members, np.ndarray) or members.shape[1:] != (ensemble.n_trees_per_iteration_,):
            return False
        members = members.ravel().tolist()
    if isinstance(ensemble, IsolationForest) and any(
        len(set(map(int, columns))) != width for columns in ensemble.estimators_features_
    ):
        return False
    return (
        isinstance(members, list)
        and bool(members)
        and all(isinstance(member, BaseDecisionTree) and member.n_features_in_ == width for member in members)
    )


def _starts_soundly(ensemble: Any, width: int) -> bool:
    """Return whether gradient boosting starts from one number per tree of an iteration, to which compiled code adds."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if not (isinstance(ensemble.init_, DummyClassifier | DummyRegressor) or ensemble.init_ == "zero"):
        return False
    start = ensemble._raw_predict_init(np.zeros((3, width), dtype=np.float32))
    return bool(start.shape == (3, ensemble.n_trees_per_iteration_) and start.dtype == np.float64)
