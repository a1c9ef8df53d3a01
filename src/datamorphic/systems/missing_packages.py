"""Modules that a model needs and that cannot be imported: packages to install, and modules of the user to find."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .._tables import read_document
from ..errors import ModelError


@dataclass(frozen=True)
class KnownPackages:
    """Packages that models are made with: packages.toml. Only these are suggested for pip."""

    same_name: tuple[str, ...]  # at PyPI and in imports
    other_name: Mapping[str, str]  # at PyPI, by module


def read_known_packages() -> KnownPackages:
    """Return the packages that are suggested for pip."""
    return read_document(__package__, "packages.toml", KnownPackages)


class MissingPackage(ModelError, ImportError):
    """A model needs a package that is not installed; the message names it."""


def build_missing_package_error(error: ImportError, subject: str) -> ModelError:
    """Return the error for the user: the package to install, or the version that does not fit.

    `subject` begins the sentence: "model.pkl needs".
    """
    module = error.name or ""
    top = module.partition(".")[0]
    if not top:
        return MissingPackage(f"{subject} a package that cannot be imported: {error}. Install what it was made with.")
    known = read_known_packages()
    package = known.other_name.get(top, top)
    if _is_installed(top):
        version = _find_version(package)
        what = f"the module {module!r}" if module != top else "something"
        return MissingPackage(
            f"{subject} {what} of the package {package!r}, which the installed version{version} does not have ({error}). "
            "Install the version it was made with."
        )
    if top in known.other_name or top in known.same_name:
        return MissingPackage(
            f"{subject} the package {package!r}, which is not installed. Install it: pip install {package}"
        )
    return MissingPackage(
        f"{subject} the module {top!r}, which was not found. If it is your own, put it beside the file, run the command in its "
        "folder, or write PYTHONPATH=FOLDER before the command. If it is part of a package, install that package."
    )


def make_importable(module: str | None, folders: tuple[Path, ...]) -> bool:
    """Let Python find a module that is in one of some folders, after all other places; return whether it is there."""
    top = (module or "").partition(".")[0]
    for folder in folders:
        place = str(folder.resolve())
        is_there = (folder / f"{top}.py").is_file() or (folder / top / "__init__.py").is_file()
        if top and is_there and place not in sys.path:
            sys.path.append(place)  # for good: a model may import modules when it is called
            importlib.invalidate_caches()
            return True
    return False


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _find_version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f" {version(package)}"
    except PackageNotFoundError:
        return ""
