"""A trial of a model file in a child process, before it is loaded here.

Files of XGBoost, LightGBM, CatBoost and ONNX hold no code, but compiled libraries read them, and a damaged or forged file
can end the process. So a child process loads the file first, validates its structure, and queries it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from concurrent.futures import TimeoutError as NoAnswer
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from ..errors import UntrustedError
from .booster_structure import StructureError, validate_booster
from .boosters import LIBRARY_BY_SUFFIX, import_booster_library, load_booster
from .child_process import STARTUP_TIMEOUT_SECONDS, ChildProcess
from .onnx import OnnxModel, import_onnx_runtime
from .untrusted import TRUST_HINT, build_forgery_error

TRIAL_ROWS = 500
TRIAL_SECONDS = 60.0  # for loading and querying
TRIAL_SECONDS_PER_BYTE = 2e-6  # more for large files
TRIAL_MEMORY_BYTES = 8 << 30  # of address space, which libraries reserve generously
TRIAL_MEMORY_PER_BYTE = 100  # more for large files


def try_file(file: Path) -> None:
    """Raise `UntrustedError` if loading and querying a file ends a child process, or if its structure is invalid.

    The outcome is remembered for the content of the file.
    """
    with file.open("rb") as stream:
        _try_content(file.resolve(), hashlib.file_digest(stream, "sha256").digest())


@lru_cache(maxsize=64)
def _try_content(file: Path, _digest: bytes) -> None:
    from joblib.externals.loky.process_executor import BrokenProcessPool

    size = file.stat().st_size
    seconds = TRIAL_SECONDS + TRIAL_SECONDS_PER_BYTE * size
    child = ChildProcess()
    try:
        starting = child.start(_import_library_alone, file)
        _import_library(file)  # at the same time as the child
        starting.result(timeout=STARTUP_TIMEOUT_SECONDS)
        child.submit(_load_and_query, file, TRIAL_MEMORY_BYTES + TRIAL_MEMORY_PER_BYTE * size).result(timeout=seconds)
    except StructureError as error:
        raise build_forgery_error(file.name, str(error)) from None
    except BrokenProcessPool:
        raise build_forgery_error(file.name, "a child process that loaded and queried it ended") from None
    except MemoryError:
        raise build_forgery_error(file.name, "it takes too much memory") from None
    except NoAnswer:
        raise UntrustedError(f"{file.name} took more than {seconds:.0f} s in a child process. {TRUST_HINT}") from None
    finally:
        child.close()


def _import_library(file: Path) -> None:
    if file.suffix.lower() in LIBRARY_BY_SUFFIX:
        import_booster_library(file)
    else:
        import_onnx_runtime()


def _import_library_alone(file: Path) -> None:
    """Import a library without scikit-learn, which boosters import only for their estimators, and which takes longest."""
    sys.modules["sklearn"] = None  # type: ignore[assignment]
    _import_library(file)


def _load_and_query(file: Path, memory_bytes: int) -> None:
    """Load, validate and query a file, in the child process."""
    _silence()
    _limit_memory(memory_bytes)
    library = LIBRARY_BY_SUFFIX.get(file.suffix.lower())
    model = OnnxModel(file) if library is None else load_booster(file)
    validate_booster(library, model)
    with suppress(Exception):  # an exception does no harm; it is reported where it occurs in use
        QUERIES[library](model)


def _silence() -> None:
    """Drop what a library or a crash writes to the terminal."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _limit_memory(max_bytes: int) -> None:
    """Limit the address space, where the platform can, so that a forged size is an error and not the end of the machine."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        hard_limit = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, hard_limit))


# -- rows --------------------------------------------------------------------------------------------------------------


def _sample_rows(width: int) -> npt.NDArray[np.float64]:
    """Return rows of ordinary, large and missing values."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(TRIAL_ROWS, width)) * 10.0 ** rng.integers(-2, 7, (TRIAL_ROWS, 1))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    rows[0] = 0
    return rows


def _query_xgboost(booster: Any) -> None:
    import xgboost

    kinds = booster.feature_types
    rows = _sample_rows(booster.num_features())
    for column, kind in enumerate(kinds or ()):
        if kind == "c":
            rows[:, column] = np.arange(len(rows)) % 50  # codes of categories
    matrix = xgboost.DMatrix(rows, feature_names=booster.feature_names, feature_types=kinds, enable_categorical=True)
    booster.predict(matrix)


def _query_lightgbm(booster: Any) -> None:
    booster.predict(_sample_rows(booster.num_feature()))


def _query_catboost(booster: Any) -> None:
    rows = _sample_rows(len(booster.feature_names_))
    rng = np.random.default_rng(1)
    for column, borders in booster.get_borders().items():  # values on both sides of all borders reach most leaves
        ends = [-np.inf, *borders, np.inf]
        rows[:, column] = rng.choice(np.nextafter(np.array(ends, dtype=np.float32), np.inf), len(rows))
    frame = pd.DataFrame(rows, columns=booster.feature_names_)
    for column in booster.get_cat_feature_indices():
        frame.isetitem(column, pd.Series(np.arange(len(frame)) % 50).astype(str))
    booster.predict(frame)


def _query_onnx(model: OnnxModel) -> None:
    columns = model.list_columns()
    frame = pd.DataFrame(_sample_rows(len(columns)), columns=list(columns))
    model.execute(frame.astype({name: str for name, is_text in columns.items() if is_text}), scores=True)


QUERIES: dict[str | None, Callable[[Any], None]] = {
    "xgboost": _query_xgboost,
    "lightgbm": _query_lightgbm,
    "catboost": _query_catboost,
    None: _query_onnx,
}
