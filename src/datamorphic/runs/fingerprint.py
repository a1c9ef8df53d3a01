"""Whether a run goes on with the same model and the same data: hashes of both."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..space.points import Points
from ..space.serialize import space_to_dict


def compute_model_hash(model: Any) -> str | None:
    """Return a hash of a model: of its file, of the file that its code is in, or of what it holds.

    None where there is no telling.
    """
    if isinstance(model, str | os.PathLike):
        return _hash_file(model)
    if inspect.ismodule(model) or inspect.isclass(model) or inspect.isroutine(model):
        return _hash_code(model)
    with suppress(Exception):  # whatever pickling somebody's object raises: then nobody can tell
        content_hash = _hash_object(model)
        is_installed = "site-packages" in str(inspect.getsourcefile(type(model)))  # then versions tell
        return (
            content_hash if is_installed else f"{content_hash} {_hash_code(type(model))}"
        )  # what it holds, and what it does with it
    return _hash_code(type(model))


def _hash_code(code: Any) -> str | None:
    with suppress(OSError, TypeError):
        return _hash_file(str(inspect.getsourcefile(code)))
    with suppress(OSError, TypeError):
        return f"sha256:{hashlib.sha256(inspect.getsource(code).encode()).hexdigest()}"
    return None


def _hash_object(model: Any) -> str:
    from joblib.hashing import NumpyHasher

    class ModelHasher(NumpyHasher):  # type: ignore[misc]
        """Hashes the points of search trees and not the trees, which count how often they were asked."""

        def save(self, obj: Any) -> None:
            super().save(np.asarray(obj.data) if hasattr(obj, "get_tree_stats") else obj)

    return f"md5:{ModelHasher('md5').hash(model)}"


def _hash_file(path: str | os.PathLike[str]) -> str | None:
    try:
        with Path(path).open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError:
        return None


def compute_data_hash(points: Any) -> str:
    """Return a hash of the data a run starts from: cases and their space, a frame, or the name of random ones."""
    if not isinstance(points, Points):
        return _hash_table(points)
    digest = hashlib.sha256(points.codes.tobytes(order="F"))
    with suppress(Exception):  # constraints that are functions have no description
        digest.update(json.dumps(space_to_dict(points.space), sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"


def _hash_table(data: Any) -> str:
    """Return a hash of whatever else data may be; empty where it has none."""
    import pandas as pd

    with suppress(Exception):  # lists in cells, and the like
        if isinstance(data, pd.DataFrame):
            content = pd.util.hash_pandas_object(data, index=False).to_numpy().tobytes()
            return f"sha256:{hashlib.sha256(repr(list(data.columns)).encode() + content).hexdigest()}"
        return f"sha256:{hashlib.sha256(repr(data).encode()).hexdigest()}"
    return ""
