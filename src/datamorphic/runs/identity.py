"""Whether a run goes on with the same model and the same data: hashes of both."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..space.describe import space_to_dict
from ..space.points import Points


def model_hash(model: Any) -> str | None:
    """Return a hash of a model: of its file, of the file that its code is in, or of what it holds.

    None where there is no telling.
    """
    if isinstance(model, str | os.PathLike):
        return _of_file(model)
    with suppress(Exception):  # whatever pickling somebody's object raises: then nobody can tell
        import joblib

        if not _is_code(model):
            return f"joblib:{joblib.hash(model)}"
    code = model if _is_code(model) else type(model)
    with suppress(OSError, TypeError):
        return _of_file(str(inspect.getsourcefile(code)))
    with suppress(OSError, TypeError):
        return f"sha256:{hashlib.sha256(inspect.getsource(code).encode()).hexdigest()}"
    return None


def _is_code(model: Any) -> bool:
    return inspect.ismodule(model) or inspect.isclass(model) or inspect.isroutine(model)


def _of_file(path: str | os.PathLike[str]) -> str | None:
    try:
        with Path(path).open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError:
        return None


def data_hash(points: Points) -> str:
    """Return a hash of the cases a run starts from, and of their space."""
    digest = hashlib.sha256(points.codes.tobytes(order="F"))
    with suppress(Exception):  # constraints that are functions have no description
        digest.update(json.dumps(space_to_dict(points.space), sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"
