"""A bug of a released library, and what the relations that must hold say about it."""

from __future__ import annotations

import json
import subprocess
import time
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import datamorphic as dm
from datamorphic._text import parse_literal
from datamorphic.errors import SystemFailed

from .environments import FOLDER, Release, install

HERE = Path(__file__).parent
VERDICTS = FOLDER / "verdicts.json"  # of earlier runs, from which the page is written
BUDGET = "55s"  # per release; the shrinking of what is found comes on top
OWN_CHECKS_LIMIT = 300  # seconds
# the checks of scikit-learn for its own estimators: how many pass and how many fail
OWN_CHECKS = """
import json, sys, warnings
warnings.simplefilter("ignore")
module, _, name = sys.argv[1].partition(":")
learner = getattr(__import__(module, fromlist=[name]), name)
if isinstance(learner, type):
    learner = learner(**json.loads(sys.argv[2]))
from sklearn.base import clone
from sklearn.utils import estimator_checks
if hasattr(estimator_checks, "estimator_checks_generator"):
    checks = estimator_checks.estimator_checks_generator(learner)
else:
    checks = estimator_checks.check_estimator(learner, generate_only=True)
passed, failed = 0, []
for estimator, check in checks:
    try:
        check(clone(estimator))
        passed += 1
    except Exception as error:
        if type(error).__name__ != "SkipTest":
            failed.append(getattr(check, "func", check).__name__)
print(json.dumps([passed, failed]))
"""


@dataclass(frozen=True, kw_only=True)
class Bug:
    """A bug with a release that has it and a release in which it is fixed."""

    name: str
    library: str
    faulty: str
    fixed: str  # empty if there is none yet
    subject: str  # module:object, and parameters
    what: str
    issue: str
    timeout: float | None = None
    correction: str = ""  # of the list, after something was run
    miss: str = ""  # why it is not found, or not told apart from what the fixed release violates
    other: str = ""  # what else the fixed release violates

    @property
    def issue_name(self) -> str:
        """The number of the issue or pull request with a hash."""
        return "#" + self.issue.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class ViolatedRelation:
    """A relation that must hold and is violated in a release."""

    name: str
    violated: int = 0
    judged: int = 0
    case: str = ""  # the smallest one that violates it


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What was found in one release."""

    release: str
    headline: str
    relations: tuple[ViolatedRelation, ...] = ()
    judged: int = 0  # cases of all relations that must hold
    seconds: float = 0.0

    @property
    def names(self) -> list[str]:
        """The names of the violated relations."""
        return [relation.name for relation in self.relations]


@dataclass(frozen=True, kw_only=True)
class BugVerdicts:
    """The verdicts on the faulty and the fixed release, and what the library's own checks say about the faulty one."""

    faulty: Verdict
    fixed: Verdict | None = None  # None if no release is fixed
    own_checks: str = ""

    @property
    def fixed_names(self) -> list[str]:
        """The names of the relations that are violated in the fixed release."""
        return [] if self.fixed is None else self.fixed.names

    @property
    def telling_relations(self) -> list[ViolatedRelation]:
        """The relations that are violated in the faulty release and hold in the fixed one.

        First come crashes, then those that are violated most often and have an example.
        """

        def rank(relation: ViolatedRelation) -> tuple[bool, bool, float]:
            return relation.name != "answers", not relation.case, -relation.violated / max(1, relation.judged)

        return sorted(
            (relation for relation in self.faulty.relations if relation.name not in self.fixed_names), key=rank
        )

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> BugVerdicts:
        """Return a row of the file of verdicts."""
        faulty, fixed = (_read_verdict(row[name]) for name in ("faulty", "fixed"))
        assert faulty is not None
        return cls(faulty=faulty, fixed=fixed, own_checks=row["own_checks"])


def _read_verdict(verdict: Mapping[str, Any] | None) -> Verdict | None:
    if verdict is None:
        return None
    relations = tuple(ViolatedRelation(**relation) for relation in verdict["relations"])
    return Verdict(**{**verdict, "relations": relations})


@cache
def read_list() -> dict[str, list[dict[str, Any]]]:
    """Return the list of bugs as it is written: the bugs, and those that were withdrawn."""
    return tomllib.loads((HERE / "bugs.toml").read_text(encoding="utf-8"))


@cache
def read_bugs() -> list[Bug]:
    """Return the bugs in the order of the list."""
    return [Bug(**row) for row in read_list()["bug"]]


@cache
def read_releases() -> dict[tuple[str, str], Release]:
    """Return the environments by library and release."""
    rows = tomllib.loads((HERE / "releases.toml").read_text(encoding="utf-8"))["release"]
    releases = [Release(**{**row, "requirements": tuple(row["requirements"])}) for row in rows]
    return {(release.library, release.release): release for release in releases}


def read_verdicts() -> dict[str, BugVerdicts]:
    """Return the rows of earlier runs by the names of the bugs."""
    if not VERDICTS.exists():
        return {}
    return {name: BugVerdicts.from_json(row) for name, row in json.loads(VERDICTS.read_text(encoding="utf-8")).items()}


def save_verdicts(bug: Bug, verdicts: BugVerdicts) -> None:
    """Add the verdicts on a bug to the file of verdicts."""
    rows = {name: asdict(row) for name, row in (read_verdicts() | {bug.name: verdicts}).items()}
    VERDICTS.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def check_bug(bug: Bug) -> BugVerdicts:
    """Check the subject of a bug in both releases."""
    return BugVerdicts(
        faulty=check_release(bug, bug.faulty),
        fixed=check_release(bug, bug.fixed) if bug.fixed else None,
        own_checks=run_own_checks(bug),
    )


def check_release(bug: Bug, release: str, **options: Any) -> Verdict:
    """Check the subject of a bug in one release with the relations that must hold."""
    environment = install(read_releases()[bug.library, release])
    start = time.perf_counter()
    try:
        report = dm.check(
            f"python:{environment} {bug.subject}",
            relations="necessary",
            timeout=bug.timeout,
            progress=False,
            **{"budget": BUDGET} | options,
        )
    except SystemFailed as error:  # it answers nothing
        text = " ".join(str(error).split())
        failure = ViolatedRelation(name="answers", case=text)
        return Verdict(release=release, headline=text, relations=(failure,), seconds=time.perf_counter() - start)
    return Verdict(
        release=release,
        headline=report.headline,
        relations=tuple(
            ViolatedRelation(
                name=fault.relation,
                violated=fault.violated,
                judged=fault.judged,
                case=report.examples[fault.relation].describe() if fault.relation in report.examples else "",
            )
            for fault in report.faults
        ),
        judged=sum(entry.judged for entry in report.entries),
        seconds=time.perf_counter() - start,
    )


def run_own_checks(bug: Bug) -> str:
    """Return what scikit-learn's checks of estimators say about the faulty release; empty for other libraries."""
    if bug.library != "scikit-learn":
        return ""
    target, *parameters = bug.subject.split()
    values = dict(parameter.split("=", 1) for parameter in parameters)
    environment = install(read_releases()[bug.library, bug.faulty])
    plain_values = {name: parse_literal(value) for name, value in values.items()}
    command = [str(environment / "bin" / "python"), "-c", OWN_CHECKS, target, json.dumps(plain_values)]
    try:
        finished = subprocess.run(
            command, capture_output=True, text=True, timeout=OWN_CHECKS_LIMIT, cwd=HERE, check=False
        )
        passed, failed = json.loads(finished.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return "not run to the end"
    failures = f", {len(failed)} fail ({', '.join(failed)})" if failed else ""
    return f"{passed} pass{failures}"
