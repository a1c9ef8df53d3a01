"""Versions of packages that may change an answer."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache

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
#: name and version, and the version of Python in the folders of older tools
_METADATA_FOLDER = re.compile(r"(.+?)-([^-]+)(?:-py[0-9.]+)?\.(?:dist|egg)-info")


def read_versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages."""
    return dict(_read_versions_once())


@cache
def _read_versions_once() -> dict[str, str]:
    return {"python": platform.python_version()} | _find_versions(PACKAGES, sys.path)


def _find_versions(packages: Sequence[str], folders: Sequence[str]) -> dict[str, str]:
    """Return the versions of packages from the names of their metadata folders, as in ``numpy-2.3.0.dist-info``.

    `importlib.metadata` reads the files in them, which takes longer than a small run.
    """
    names = {package.replace("-", "_"): package for package in packages}
    versions: dict[str, str] = {}
    for folder in folders:
        with suppress(OSError):  # not a folder, for example a ZIP file
            for entry in os.listdir(folder or "."):
                match = _METADATA_FOLDER.fullmatch(entry)
                if match and (package := names.get(re.sub(r"[-.]", "_", match[1]).lower())):
                    versions.setdefault(package, match[2])
    return {package: versions[package] for package in packages if package in versions}
