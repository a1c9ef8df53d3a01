"""Resolve the package and its extras for every platform, from wheels alone, and print what is left out where.

A requirement of pyproject.toml that an installation does not get is a hole: a marker leaves it out. `[tool.datamorphic.holes]`
names such packages with the reason. The exit code is 1 if a hole has no name, a name has no hole, there is no solution, or pip
would build a package, because it prefers a newer version without wheels.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
PLATFORMS = {  # by their names in uv
    "Linux x86-64": "x86_64-unknown-linux-gnu",
    "Linux aarch64": "aarch64-unknown-linux-gnu",
    "macOS arm64": "aarch64-apple-darwin",
    "macOS x86-64": "x86_64-apple-darwin",
    "Windows x86-64": "x86_64-pc-windows-msvc",
}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
GROUPS = ("core", "all", "dev", "docs")
OLDEST_MACOS = "14.0"  # the oldest with wheels of ONNX Runtime for all these versions of Python
RESOLUTIONS_AT_ONCE = 8  # they mostly wait for the network
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*(\[(?P<extras>[\w, -]*)\])?")


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """What one installation gets: the names of its packages, those that pip would build, or why there is no solution."""

    platform: str
    python: str
    group: str
    packages: frozenset[str] = frozenset()
    built: tuple[str, ...] = ()
    error: str = ""

    @property
    def place(self) -> str:
        """The installation in words, for messages."""
        return f"{self.platform}, Python {self.python}, {self.group}"


def find_requirements(project: Mapping[str, Any], group: str) -> set[str]:
    """Return the names of the packages that a group requires somewhere, those of the core included."""
    names, lines = set(), [*project["dependencies"]]
    lines += project["optional-dependencies"][group] if group != "core" else []
    while lines:
        match = REQUIREMENT.match(lines.pop())
        assert match is not None
        if match["name"] == project["name"]:
            lines += [
                line for extra in match["extras"].split(",") for line in project["optional-dependencies"][extra.strip()]
            ]
        else:
            names.add(normalise(match["name"]))
    return names


def normalise(name: str) -> str:
    """Return the name of a package as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(lines: str) -> dict[str, str]:
    """Return the versions of packages by name, from the lines ``name==version`` of uv."""
    pins = (line.partition(";")[0].partition("==") for line in lines.splitlines())
    return {normalise(name): version.strip() for name, equals, version in pins if equals}


def resolve(platform: str, python: str, group: str) -> Resolution:
    """Let uv choose versions for one installation, from wheels alone and as pip does."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    command += ["--python-platform", PLATFORMS[platform], "--python-version", python]
    command += [*(["--extra", group] if group != "core" else []), str(PROJECT)]
    environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS}
    wheels, newest = (
        subprocess.run([*command, *options], capture_output=True, text=True, check=False, env=environment)
        for options in (["--only-binary", ":all:"], [])
    )
    error = next((run.stderr.strip() or "uv gave no reason" for run in (wheels, newest) if run.returncode), "")
    pins = read_pins(wheels.stdout)
    built = tuple(name for name, version in read_pins(newest.stdout).items() if pins.get(name) != version)
    return Resolution(platform=platform, python=python, group=group, packages=frozenset(pins), built=built, error=error)


def find_holes(project: Mapping[str, Any], resolution: Resolution) -> list[str]:
    """Return the packages that an installation requires elsewhere and does not get here."""
    return [] if resolution.error else sorted(find_requirements(project, resolution.group) - resolution.packages)


def find_faults(project: Mapping[str, Any], reasons: Mapping[str, str], resolutions: list[Resolution]) -> list[str]:
    """Return what is wrong: no solution, packages that pip would build, holes without a name, and names without a hole."""
    faults = [f"{resolution.place}: no solution.\n{resolution.error}" for resolution in resolutions if resolution.error]
    faults += [
        f"{resolution.place}: pip would build {', '.join(resolution.built)}. Limit the version by a marker."
        for resolution in resolutions
        if resolution.built and not resolution.error
    ]
    holes = {name: resolution for resolution in resolutions for name in find_holes(project, resolution)}
    faults += [
        f"{name} is left out ({resolution.place}), and [tool.datamorphic.holes] does not say why."
        for name, resolution in holes.items()
        if name not in reasons
    ]
    return faults + [
        f"{name} is in [tool.datamorphic.holes], but no installation leaves it out. Remove it there."
        for name in reasons
        if name not in holes
    ]


def format_table(project: Mapping[str, Any], resolutions: list[Resolution]) -> str:
    """Return a line per platform and Python: the number of packages of each group, and what is left out."""
    lines = [f"{'':24}" + "".join(f"{group:>6}" for group in GROUPS) + "  left out"]
    rows = itertools.groupby(resolutions, key=lambda resolution: (resolution.platform, resolution.python))
    for (platform, python), row in rows:
        cells = list(row)
        counts = "".join(f"{'none' if cell.error else len(cell.packages):>6}" for cell in cells)
        holes = sorted({name for cell in cells for name in find_holes(project, cell)})
        lines.append(f"{platform:16}{python:>8}{counts}  {', '.join(holes)}".rstrip())
    return "\n".join(lines)


def main() -> int:
    """Resolve all, print the table, the reasons and the faults; return the exit code."""
    document = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    project, reasons = document["project"], document["tool"]["datamorphic"]["holes"]
    with ThreadPoolExecutor(RESOLUTIONS_AT_ONCE) as pool:
        resolutions = list(pool.map(lambda cell: resolve(*cell), itertools.product(PLATFORMS, PYTHONS, GROUPS)))
    print(format_table(project, resolutions), end="\n\n")
    for name, reason in reasons.items():
        print(f"Without {name}: {reason}")
    faults = find_faults(project, reasons, resolutions)
    for fault in faults:
        print(f"\n{fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
