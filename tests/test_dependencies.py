"""Dependencies: required where they have wheels, left out elsewhere with a reason, and nothing fails without them."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from datamorphic._validation import import_optional
from datamorphic.errors import MissingExtra
from support.needs import EXTRAS, explain_missing
from support.platforms import GROUPS, Resolution, find_faults, find_holes, find_requirements, format_table, read_pins

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


# -- every platform ------------------------------------------------------------------------------------------------------


def read_project():
    return tomllib.loads(PROJECT.read_text(encoding="utf-8"))


def test_no_version_is_pinned():
    project = read_project()["project"]
    lines = [*project["dependencies"], *(line for lines in project["optional-dependencies"].values() for line in lines)]
    pins = [line for line in lines for pin in Requirement(line).specifier if pin.operator.startswith("==")]
    assert pins == [], "a pinned version may vanish, and has no wheels for later platforms"


@pytest.mark.parametrize(
    ("system", "machine", "python", "expected"),
    [
        ("linux", "aarch64", "3.11", False),
        ("linux", "x86_64", "3.11", False),
        ("linux", "aarch64", "3.12", True),
        ("darwin", "arm64", "3.13", True),
        ("darwin", "x86_64", "3.13", False),
        ("win32", "AMD64", "3.14", True),
    ],
)
def test_routes_are_installed_where_valhalla_has_wheels(system, machine, python, expected):
    environment = {"sys_platform": system, "platform_machine": machine, "python_version": python}
    requirements = map(Requirement, read_project()["project"]["optional-dependencies"]["routes"])
    (valhalla,) = (requirement for requirement in requirements if requirement.name == "pyvalhalla")
    assert valhalla.marker.evaluate(environment) == expected


def test_every_hole_is_a_requirement_with_markers_and_a_reason():
    document = read_project()
    requirements = set().union(*(find_requirements(document["project"], group) for group in GROUPS))
    assert document["tool"]["datamorphic"]["holes"].keys() <= requirements
    assert all(reason.endswith(".") for reason in document["tool"]["datamorphic"]["holes"].values())


SMALL_PROJECT = {
    "name": "house",
    "dependencies": ["Brick.Red>=2", "glass; sys_platform == 'linux'"],
    "optional-dependencies": {
        "roof": ["tiles[flat]>=1"],
        "all": ["house[roof, garden]"],
        "garden": ["tree-house"],
        "dev": ["house[garden]", "hammer"],
        "docs": [],
    },
}


def make_resolution(group, packages="", error="", built=()):
    names = frozenset(packages.split())
    return Resolution(platform="Linux x86-64", python="3.11", group=group, packages=names, built=built, error=error)


def test_requirements_of_extras_of_the_project_itself_count():
    assert find_requirements(SMALL_PROJECT, "core") == {"brick-red", "glass"}
    assert find_requirements(SMALL_PROJECT, "all") == {"brick-red", "glass", "tiles", "tree-house"}
    assert find_requirements(SMALL_PROJECT, "dev") == {"brick-red", "glass", "tree-house", "hammer"}


def test_packages_are_read_from_pins():
    lines = "Brick_Red==2.1\n# a comment\ncolour==1 ; sys_platform == 'win32'\n"
    assert read_pins(lines) == {"brick-red": "2.1", "colour": "1"}


def test_a_requirement_that_an_installation_does_not_get_is_a_hole():
    assert find_holes(SMALL_PROJECT, make_resolution("core", "brick-red lime")) == ["glass"]
    assert find_holes(SMALL_PROJECT, make_resolution("core", "brick-red glass")) == []


def test_holes_without_a_name_names_without_a_hole_and_no_solution_are_faults():
    whole, without_glass = make_resolution("core", "brick-red glass"), make_resolution("core", "brick-red")
    assert find_faults(SMALL_PROJECT, {}, [whole]) == []
    assert find_faults(SMALL_PROJECT, {"glass": "It breaks."}, [whole, without_glass]) == []
    (fault,) = find_faults(SMALL_PROJECT, {}, [without_glass])
    assert fault.startswith("glass is left out (Linux x86-64, Python 3.11, core)")
    (fault,) = find_faults(SMALL_PROJECT, {"glass": "It breaks."}, [whole])
    assert "no installation leaves it out" in fault
    (fault,) = find_faults(SMALL_PROJECT, {}, [make_resolution("docs", error="no wheels of glass")])
    assert fault == "Linux x86-64, Python 3.11, docs: no solution.\nno wheels of glass"
    (fault,) = find_faults(SMALL_PROJECT, {}, [make_resolution("core", "brick-red glass", built=("glass",))])
    assert fault == "Linux x86-64, Python 3.11, core: pip would build glass. Limit the version by a marker."


def test_the_table_has_a_line_per_platform_and_python():
    cells = [make_resolution("core", "brick-red"), make_resolution("all", error="no wheels")]
    assert format_table(SMALL_PROJECT, cells).splitlines()[1].split() == [
        "Linux",
        "x86-64",
        "3.11",
        "1",
        "none",
        "glass",
    ]


# -- without extras ----------------------------------------------------------------------------------------------------


def test_a_test_is_skipped_only_for_a_package_of_an_extra_that_is_missing(monkeypatch):
    monkeypatch.setattr("support.needs.find_spec", lambda name: None)
    monkeypatch.setitem(EXTRAS, "ponies", "stable")
    with pytest.raises(MissingExtra) as caught:
        import_optional("ponies", "stable", "Riding")
    assert explain_missing(caught.value) == "needs ponies: pip install 'datamorphic[stable]'"
    monkeypatch.delitem(EXTRAS, "ponies")
    assert explain_missing(caught.value) == "", "a package that no extra installs is a mistake"
    monkeypatch.setitem(EXTRAS, "json", "stable")
    assert explain_missing(ImportError("hidden by a test", name="json")) == "", "it is installed"


def test_a_test_is_skipped_for_a_name_of_posix_only_if_it_uses_the_name_itself():
    with pytest.raises(AttributeError) as caught:
        os.no_such_name  # noqa: B018
    assert explain_missing(caught.value) == "needs no_such_name, which is POSIX only"
    with pytest.raises(AttributeError) as caught:
        sys.no_such_name  # noqa: B018
    assert explain_missing(caught.value) == ""


# -- numba -------------------------------------------------------------------------------------------------------------

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
