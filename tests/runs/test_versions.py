"""The versions of packages that are stored with a run."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from datamorphic.runs import versions


def test_versions_are_those_of_the_installed_packages():
    expected = {}
    for package in versions.PACKAGES:
        try:
            expected[package] = version(package)
        except PackageNotFoundError:
            continue
    recorded = versions.read_versions()
    assert recorded.pop("python")
    assert recorded == expected
    assert "scikit-learn" in recorded


def test_the_first_folder_of_the_path_counts(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (
        first / "scikit_learn-1.9.1.dist-info",
        first / "Torch-2.1.0+cpu.dist-info",
        second / "torch-1.0.dist-info",
        second / "numpy-2.0.0rc1-py3.11.egg-info",
        second / "numpy_extra-9.9.dist-info",
    ):
        folder.mkdir(parents=True)
    package_versions = versions._find_versions(
        ["numpy", "scikit-learn", "torch", "pandas"], [str(tmp_path / "none"), str(first), str(second)]
    )
    assert package_versions == {"numpy": "2.0.0rc1", "scikit-learn": "1.9.1", "torch": "2.1.0+cpu"}
