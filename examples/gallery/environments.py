"""Environments of old releases: a virtual environment each, with the Python that the release needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(os.environ.get("DATAMORPHIC_GALLERY", ".venv-gallery"))


class MissingPython(Exception):
    """The Python that a release needs is not installed."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """A release of a library, with the Python and the other packages that it needs."""

    library: str
    release: str
    python: str = "3.11"
    requirements: tuple[str, ...] = ()


def install(release: Release) -> Path:
    """Return the environment of a release, which is made if there is none."""
    folder = (FOLDER / f"{release.library}-{release.release}").absolute()
    if (folder / "complete").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([find_python(release.python), "-m", "venv", str(folder)], check=True)
    packages = [f"{release.library}=={release.release}", *release.requirements]
    command = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *packages,
    ]
    subprocess.run(command, check=True)
    (folder / "complete").touch()
    return folder


def find_python(version: str) -> str:
    """Return the interpreter of a version, on the path or where pyenv keeps it."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [shutil.which(f"python{version}"), *sorted(map(str, root.glob(f"versions/{version}.*/bin/python")))]
    for candidate in filter(None, candidates):
        if subprocess.run([candidate, "--version"], capture_output=True, check=False).returncode == 0:
            return candidate
    raise MissingPython(f"Python {version} is not installed")
