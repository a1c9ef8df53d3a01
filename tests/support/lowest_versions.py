"""Print pip constraints that pin every dependency of pyproject.toml to the lowest version it allows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[.*\])?>=(?P<version>[\d.]+)")


def find_lowest_versions() -> dict[str, str]:
    """Map the names of packages to the lowest versions allowed."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *(line for name in extras if name != "docs" for line in extras[name])]
    matches = (REQUIREMENT.match(requirement) for requirement in requirements)
    return {match["name"]: match["version"] for match in matches if match}


if __name__ == "__main__":
    for name, version in find_lowest_versions().items():
        print(f"{name}~={version}.0" if version.count(".") < 1 else f"{name}=={version}.*")
