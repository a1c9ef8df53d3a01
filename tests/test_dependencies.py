"""Dependencies: numba is required where it has wheels, and nothing fails without it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
#: where numba 0.68.1 has wheels, or an earlier version (Intel Macs: 0.62.1)
WHEELS = {
    ("linux", "x86_64", "3.11"): "0.68.1",
    ("linux", "x86_64", "3.15"): "0.68.1",
    ("linux", "aarch64", "3.15"): "0.68.1",
    ("darwin", "arm64", "3.15"): "0.68.1",
    ("darwin", "x86_64", "3.13"): "0.62.1",
    ("win32", "AMD64", "3.15"): "0.68.1",
}
NO_WHEELS = [
    ("linux", "x86_64", "3.16"),
    ("linux", "ppc64le", "3.13"),
    ("linux", "armv7l", "3.13"),
    ("darwin", "x86_64", "3.14"),
    ("win32", "x86", "3.13"),
    ("win32", "ARM64", "3.11"),
    ("cygwin", "x86_64", "3.13"),
    ("emscripten", "wasm32", "3.13"),
]


def find_numba(system, machine, python, implementation="CPython"):
    """Return the versions of numba that an installation on a platform requires."""
    lines = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    environment = {
        "sys_platform": system,
        "platform_machine": machine,
        "python_version": python,
        "platform_python_implementation": implementation,
    }
    requirements = [Requirement(line) for line in lines if line.startswith("numba")]
    return [requirement.specifier for requirement in requirements if requirement.marker.evaluate(environment)]


def test_numba_is_required_where_it_has_wheels():
    for platform, newest in WHEELS.items():
        (versions,) = find_numba(*platform)
        assert newest in versions, platform
    assert "0.63.0" not in find_numba("darwin", "x86_64", "3.13")[0], "pip would build the newest sources"


def test_numba_is_not_required_where_pip_would_have_to_build_it():
    assert not [platform for platform in NO_WHEELS if find_numba(*platform)]
    assert not find_numba("linux", "x86_64", "3.11", "PyPy")


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None  # as if it was not installed
import numpy as np, datamorphic as dm
from sklearn.tree import DecisionTreeClassifier
print(len(dm.generate([(0, 1)], "SFIDMT-ART", n=5).sources), end=" ")
hunt = dm.hunt(dm.programs["tanh"].mutants["branch3.1"], "tripling", "SFIDMT-ART", budget=20, progress=False)
print(int(hunt.groups), end=" ")
x = np.arange(20.0)[:, None]
tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(x, x[:, 0] % 7 > 3)
print(dm.cover(tree, x, criterion="DTMT").score > 0)
"""


@pytest.mark.slow
def test_nothing_needs_numba():
    run = subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], capture_output=True, text=True, check=False)
    assert (run.stderr, run.stdout) == ("", "5 20 True\n")
