"""A bug of a released library, and what the relations that must hold say about it."""

from __future__ import annotations

import time
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import datamorphic as dm
from datamorphic.errors import DatamorphicError

from .environments import Release, install

FOLDER = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Bug:
    """A bug with the release that has it and the release in which it is fixed."""

    name: str
    library: str
    faulty: str
    fixed: str
    subject: str  # module:object, and parameters
    what: str
    issue: str
    python: str = ""
    timeout: float | None = None
    correction: str = ""  # of the list, after something was run


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What was found in one release."""

    release: str
    headline: str
    relation: str = ""  # the violated one whose smallest case is shown; empty if nothing was found
    violated: int = 0
    judged: int = 0
    case: str = ""
    relations: tuple[str, ...] = field(default=())  # all that are violated
    seconds: float = 0.0

    @property
    def found(self) -> bool:
        """Whether something was found."""
        return bool(self.relation)


@cache
def read_bugs() -> list[Bug]:
    """Return the bugs in the order of the list."""
    return [Bug(**row) for row in tomllib.loads((FOLDER / "bugs.toml").read_text(encoding="utf-8"))["bug"]]


@cache
def read_releases() -> dict[tuple[str, str], Release]:
    """Return the environments by library and release."""
    rows = tomllib.loads((FOLDER / "releases.toml").read_text(encoding="utf-8"))["release"]
    releases = [Release(**{**row, "requirements": tuple(row["requirements"])}) for row in rows]
    return {(release.library, release.release): release for release in releases}


def check_release(bug: Bug, version: str, **options: Any) -> Verdict:
    """Check the subject of a bug in one release with the relations that must hold."""
    environment = install(read_releases()[bug.library, version])
    start = time.perf_counter()
    try:
        report = dm.check(
            f"python:{environment} {bug.subject}", relations="necessary", timeout=bug.timeout, progress=False, **options
        )
    except DatamorphicError as error:
        return Verdict(
            release=version,
            headline=str(error),
            relation="answers",
            relations=("answers",),
            case=str(error),
            seconds=time.perf_counter() - start,
        )
    faults = report.faults
    if faults:
        first = report.entries.index(faults[0])
        example = report.shrunk(0)
        case = "" if example is None else example.describe()
        del first
    else:
        case = ""
    return Verdict(
        release=version,
        headline=report.headline,
        relation=faults[0].relation if faults else "",
        violated=faults[0].violated if faults else 0,
        judged=faults[0].judged if faults else 0,
        case=case,
        relations=tuple(entry.relation for entry in faults),
        seconds=time.perf_counter() - start,
    )
