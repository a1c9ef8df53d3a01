"""The house: a floor imports only from floors below it, modules stay short, light and lazy."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import datamorphic

ROOT = Path(datamorphic.__file__).parent

#: from the ground up; modules of one row may not import each other's, except within one package
FLOORS = [
    ["errors"],
    ["_checks", "_intervals"],
    ["space", "mutants"],
    ["outputs"],
    ["cases"],
    ["sut", "strategies", "trees"],
    ["morphisms", "relations"],
    ["groups"],
    ["data", "runs", "testing"],
    ["reports"],
    ["fronts", "verdicts", "adequacy", "hunts"],
    ["checkup", "drafts"],
    ["verbs"],
    ["asserts"],
    ["studies"],
    ["faces"],
    ["__main__"],
]
LEVEL = {name: level for level, row in enumerate(FLOORS) for name in row}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def home(path):
    part = path.relative_to(ROOT).parts[0]
    return part.removesuffix(".py")


def imported(path):
    """The rooms of the package that a module imports from, wherever in the file."""
    package = path.relative_to(ROOT.parent).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module or "").split(".")) if node.module else base
            if module and module[0] == "datamorphic":
                if len(module) > 1:
                    yield module[1]
                else:
                    yield from (alias.name for alias in node.names if not alias.name.startswith("__"))
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("datamorphic."))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downwards(path):
    here = home(path)
    assert here in LEVEL, f"{here} has no floor: give it one in FLOORS and in ARCHITECTURE.md"
    for room in set(imported(path)):
        assert room == here or LEVEL[room] < LEVEL[here], f"{here} may not import {room}: it is not below"


def test_the_reader_of_imports_reads_them():
    assert set(imported(ROOT / "cases.py")) == {"_checks", "errors", "outputs", "space"}
    assert "reports" in set(imported(ROOT / "faces" / "cli.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_stay_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
