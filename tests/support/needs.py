"""What a test needs and this machine does not have: packages of extras, programs, names of POSIX systems."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path

from datamorphic.errors import ModelError
from datamorphic.systems.router import find_sample_extract

TESTS = Path(__file__).parents[1]
#: modules that only an extra of the package installs, with that extra
EXTRAS = {
    **dict.fromkeys(("catboost", "lightgbm", "xgboost"), "boost"),
    **dict.fromkeys(("dask", "distributed"), "dask"),
    **dict.fromkeys(("fsspec", "psycopg"), "postgres"),
    **dict.fromkeys(("axe_playwright_python", "onnx", "playwright", "pyrosm", "skl2onnx"), "dev"),
    **{
        "coverage": "coverage",
        "httpx": "systems",
        "jpype": "weka",
        "mlflow": "mlflow",
        "nicegui": "web",
        "onnxruntime": "onnx",
    },
    **{"skops": "skops", "osmium": "routes", "tantivy": "search", "valhalla": "routes", "yaml": "yaml"},
}


def explain_missing(error: BaseException) -> str:
    """Return what a test lacks, by the error that it raised; empty if the error has another reason."""
    if isinstance(error, AttributeError):
        frames = traceback.extract_tb(error.__traceback__)
        is_of_test = bool(frames) and Path(frames[-1].filename).is_relative_to(TESTS)
        return f"needs {error.name}, which is POSIX only" if is_of_test and error.obj in (os, signal) else ""
    cause: BaseException | None = error
    while cause is not None:
        name = (cause.name or "").partition(".")[0] if isinstance(cause, ImportError) else ""
        if name in EXTRAS and not is_installed(name):
            return f"needs {name}: pip install 'datamorphic[{EXTRAS[name]}]'"
        cause = cause.__cause__
    return ""


def is_installed(name: str) -> bool:
    """Return whether a module can be imported. A test that hides one does not uninstall it."""
    return sys.modules.get(name) is not None or (name not in sys.modules and find_spec(name) is not None)


def explain_missing_router() -> str:
    """Return why no routes can be computed here; empty if they can."""
    if not is_installed("valhalla"):
        return "needs valhalla, which has wheels for Python 3.12 and newer: pip install 'datamorphic[routes]'"
    if not is_installed("osmium"):
        return "needs osmium: pip install 'datamorphic[routes]'"
    try:
        find_sample_extract()
    except ModelError as error:
        return str(error)
    return ""
