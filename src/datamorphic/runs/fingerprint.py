"""Hashes of models and data, to check that a resumed run uses the same ones."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .._lazy import pd
from .._validation import is_frame
from ..space.points import Points
from ..space.serialisation import space_to_dict


def compute_model_hash(model: object) -> str | None:
    """Return a hash of a model's file, source code or content, or of models by name; None if it has no stable hash."""
    if isinstance(model, Mapping):
        return ", ".join(f"{name} {compute_model_hash(item)}" for name, item in model.items())
    model = getattr(model, "hashed_code", None) or model  # a built-in test system
    if isinstance(model, str | os.PathLike):
        return _hash_file(model)
    if inspect.ismodule(model) or inspect.isclass(model) or inspect.isroutine(model):
        return _hash_code(model)
    with suppress(Exception):  # pickling may raise anything
        content_hash = _hash_object(model)
        if "site-packages" in str(inspect.getsourcefile(type(model))):  # the stored versions identify its code
            return content_hash
        return f"{content_hash} {_hash_code(type(model))}"
    return _hash_code(type(model))


def _hash_code(code: ModuleType | type[Any] | Callable[..., Any]) -> str | None:
    with suppress(OSError, TypeError):
        return _hash_file(str(inspect.getsourcefile(code)))
    with suppress(OSError, TypeError):
        return f"sha256:{hashlib.sha256(inspect.getsource(code).encode()).hexdigest()}"
    return None


def _hash_object(model: object) -> str:
    from joblib.hashing import NumpyHasher

    class ModelHasher(NumpyHasher):  # type: ignore[misc]
        """Hashes the points of search trees, not the trees, which count their queries and so change with use."""

        def save(self, obj: object) -> None:
            super().save(np.asarray(obj.data) if hasattr(obj, "get_tree_stats") and hasattr(obj, "data") else obj)

    return f"md5:{ModelHasher('md5').hash(model)}"


def _hash_file(path: str | os.PathLike[str]) -> str | None:
    try:
        with Path(path).open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError:
        return None


def compute_data_hash(points: object) -> str:
    """Return a hash of the data of a run: points and space, a frame, or a text; empty if they cannot be hashed."""
    digest = hashlib.sha256()
    with suppress(Exception):  # cells may hold lists
        if isinstance(points, Points):
            digest.update(points.codes.tobytes(order="F"))
            with suppress(Exception):  # constraints that are functions cannot be described
                digest.update(json.dumps(space_to_dict(points.space), sort_keys=True).encode())
        elif is_frame(points):
            digest.update(repr(list(points.columns)).encode())
            digest.update(pd.util.hash_pandas_object(points, index=False).to_numpy().tobytes())
        else:
            digest.update(repr(points).encode())
        return f"sha256:{digest.hexdigest()}"
    return ""
