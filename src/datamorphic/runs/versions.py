"""Versions of packages that may change an answer."""

from __future__ import annotations

import platform
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
    package_versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            package_versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return package_versions
