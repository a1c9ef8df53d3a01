"""Models from files. skops and ONNX files are data; a pickle is a program, and runs only if trusted."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from .._checks import optional_import
from ..errors import ModelError, UntrustedError

PICKLES = (".pkl", ".pickle", ".joblib")


def load_model(path: str | os.PathLike[str], *, trust: bool = False) -> Any:
    """Return the model in a file: an estimator, or an executor for formats that have no Python object."""
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in (".skops", ".onnx", *PICKLES):
        raise ModelError(
            f"{str(path)!r} is not understood as a model. Known files: .skops, .onnx, and with trust .joblib and .pkl."
        )
    if not file.exists():
        raise ModelError(f"There is no file {str(path)!r}.")
    if not file.is_file():
        raise ModelError(f"{str(path)!r} is not a file.")
    if kind in PICKLES and not trust:
        raise UntrustedError(
            f"{file.name} is a pickle: loading it runs whatever code its author put into it. If you know where it "
            "comes from, say trust=True (--trust on the command line); skops and ONNX files need no trust."
        )
    load = {".skops": _load_skops, ".onnx": _load_onnx}.get(kind, _load_pickle)
    try:
        return load(file)
    except (ModelError, ImportError):
        raise
    except Exception as error:
        # Whatever a damaged file makes a reader raise, the caller wants to know which file it was.
        raise ModelError(f"{file.name} cannot be read as a model: {type(error).__name__}: {error}") from error


def _load_pickle(file: Path) -> Any:
    import joblib

    return joblib.load(file)


def _load_skops(file: Path) -> Any:
    io = optional_import("skops.io", "skops", "Reading a .skops model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        unknown = io.get_untrusted_types(file=file)
        if unknown:
            raise UntrustedError(
                f"{file.name} holds objects of types skops does not know to be safe: {', '.join(unknown[:5])}. Load it "
                "yourself with skops.io.load(file, trusted=[...]) and wrap the model it gives."
            )
        return io.load(file)


def _load_onnx(file: Path) -> Any:
    from .onnx import OnnxModel

    return OnnxModel(file)
