"""Versions of packages that may change an answer."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

#: packages whose version may change an answer, or what can be sent to a worker
PACKAGES = (
    "datamorphic",
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "joblib",
    "cloudpickle",
    "dask",
    "distributed",
    "skops",
    "onnxruntime",
    "xgboost",
    "lightgbm",
    "catboost",
    "torch",
    "tensorflow",
)


def read_versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages."""
    return dict(_read_versions_once())


@cache
def _read_versions_once() -> dict[str, str]:
    """Search for the packages once per process: it takes longer than a small run."""
    package_versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            package_versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return package_versions
