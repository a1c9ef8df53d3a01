"""The pytest plugin of datamorphic: options, where failures are kept, statistics.

It imports nothing of datamorphic before a test does, so that it costs nothing where it is not used. What asserts do
with its options is told in `datamorphic.testing.profiles`, which looks for the run they are in with `current`.
"""

from __future__ import annotations

import json
import os
import random
import shlex
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

NAME = "datamorphic"
PROFILE_VARIABLE = "DATAMORPHIC_PROFILE"
MAX_STATISTICS_LINES = 40  # of statistics, unless more are asked for with -v
COLUMNS = ("cases", "violated", "calls", "seconds")


class PytestRun:
    """A run of pytest as asserts see it: what was asked for, which test this is, and where to leave figures.

    Attributes
    ----------
    profile, seed, budget
        As given, by an option, a variable or in the configuration; None where nobody said anything.
    profiles : list of str
        The profiles of the user's own, a line each.
    update : bool
        Whether baselines are to be written.
    drawn : int
        The seed for profiles that have none: new for each run of pytest, the same in all its processes.
    item : pytest.Item or None
        The test that is under way. A plain attribute: pytest makes one test at a time, and threads that a test
        starts belong to it.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.profile: str | None = _get_option(config, "profile", os.environ.get(PROFILE_VARIABLE))
        self.budget: str | None = _get_option(config, "budget")
        seed = _get_option(config, "seed")
        try:
            self.seed = None if seed is None else _parse_seed(seed)
        except ValueError:
            raise pytest.UsageError(
                f"datamorphic_seed is a whole number, not below 0. Got {seed!r} instead."
            ) from None
        self.profiles: list[str] = config.getini("datamorphic_profiles")
        self.update: bool = config.getoption("datamorphic_update")
        worker = getattr(config, "workerinput", {})
        self.drawn: int = worker.get("datamorphic_seed") or random.SystemRandom().randrange(1, 2**31)
        self.item: pytest.Item | None = None
        self.figures: dict[str, list[dict[str, Any]]] = {}

    @property
    def configured(self) -> bool:
        """Whether anybody asked for anything."""
        return bool(self.profile or self.budget or self.profiles) or self.seed is not None

    def validate(self) -> None:
        """Raise where what was asked for cannot be."""
        if not self.configured:
            return
        from datamorphic.errors import UsageError
        from datamorphic.testing.profiles import validate_profile

        try:
            validate_profile(self.profile, self.profiles, self.budget)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None

    @property
    def failures(self) -> Path | None:
        """The file where failures are kept, in pytest's cache; None where that is off or cannot be written."""
        cache = getattr(self.config, "cache", None)
        try:
            return None if cache is None else Path(cache.mkdir(NAME)) / "failures.sqlite"
        except OSError:
            return None

    @property
    def test(self) -> str:
        """The id of the test that is under way; empty between tests."""
        return self.item.nodeid if self.item is not None else ""

    def again(self, seed: int | None) -> str:
        """Return the command that makes this test again; without a seed where the test itself says which."""
        if self.item is None:
            return ""
        path, colons, test = self.item.nodeid.partition("::")
        whole = os.path.join(self.config.rootpath, path)
        parts = ["pytest", os.path.relpath(whole, self.config.invocation_params.dir) + colons + test]
        parts += ["--datamorphic-seed", str(seed)] if seed is not None else []
        for option in ("profile", "budget"):  # what the configuration says is said again by itself
            value = self.config.getoption(f"datamorphic_{option}")
            value = value or (os.environ.get(PROFILE_VARIABLE) if option == "profile" else None)
            parts += [f"--datamorphic-{option}", value] if value else []
        return shlex.join(parts)

    def note(self, **figures: Any) -> None:
        """Keep what an assert did, with the report of the test: so it also comes back from another process."""
        if self.item is not None:
            self.item.user_properties.append((NAME, json.dumps(figures)))


_runs: list[PytestRun] = []  # one, or more where tests run pytest themselves: the last is the one that is at work
_KEY = pytest.StashKey[PytestRun]()


def current() -> PytestRun | None:
    """Return the run of pytest that is going on in this process, if there is one."""
    return _runs[-1] if _runs else None


# -- hooks -----------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup(NAME, "datamorphic: testing models without an oracle")
    group.addoption(
        "--datamorphic-seed",
        type=_parse_seed,
        metavar="N",
        help="Where randomness starts in the asserts of datamorphic.",
    )
    group.addoption(
        "--datamorphic-budget", metavar="TIME", help="What each assert may cost: '30s', '2m', '10000 runs'."
    )
    group.addoption(
        "--datamorphic-profile",
        metavar="NAME",
        help=f"How much to try: ci, default, thorough, or one of your own; ${PROFILE_VARIABLE} says it too.",
    )
    group.addoption(
        "--datamorphic-update", action="store_true", help="Write the baselines of assert_front_unchanged anew."
    )
    for name in ("seed", "budget", "profile"):
        parser.addini(f"datamorphic_{name}", f"As --datamorphic-{name}.", default=None)
    parser.addini(
        "datamorphic_profiles",
        "Profiles of your own, a line each: 'nightly: cases=5000, budget=10m, seed=0'.",
        type="linelist",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the options."""
    run = PytestRun(config)
    run.validate()
    config.stash[_KEY] = run
    _runs.append(run)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Forget this run."""
    run = config.stash.get(_KEY, None)
    if run in _runs:
        _runs.remove(run)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of pytest-xdist the seed of this run."""
    node.workerinput["datamorphic_seed"] = node.config.stash[_KEY].drawn


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Know which test is under way."""
    run = item.config.stash[_KEY]
    run.item = item
    try:
        return (yield)
    finally:
        run.item = None


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say at the beginning what was asked for."""
    run = config.stash[_KEY]
    if not run.configured:
        return None
    parts = [f"profile {run.profile or 'default'}"]
    parts += [f"seed {run.seed}"] if run.seed is not None else []
    parts += [f"budget {run.budget}"] if run.budget else []
    return f"datamorphic: {', '.join(parts)}"


@pytest.hookimpl
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Gather figures; what is told last, when a test is taken down, has all of them."""
    run = current()
    if run is None or report.when != "teardown":
        return
    figures = [json.loads(str(text)) for name, text in report.user_properties if name == NAME]
    if figures:
        run.figures[report.nodeid] = figures


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the figures: a line an assert, or one for all of them with -q."""
    run = config.stash[_KEY]
    verbosity = config.get_verbosity()
    if not run.figures or verbosity < -1:
        return
    rows = [(test, entry) for test, figures in run.figures.items() for entry in figures]
    total = _format_total([entry for _, entry in rows])
    if verbosity < 0:
        terminalreporter.write_line(f"datamorphic: {total}")
        return
    rows.sort(key=lambda row: not row[1]["violated"])  # what is violated first
    visible_rows = rows if verbosity > 0 else rows[:MAX_STATISTICS_LINES]
    terminalreporter.section("datamorphic")
    for line in _format_table(visible_rows):
        terminalreporter.write_line(line)
    if len(visible_rows) < len(rows):
        terminalreporter.write_line(f"... and {len(rows) - len(visible_rows)} more: -v shows all")
    terminalreporter.write_line(total)


# -- words -----------------------------------------------------------------------------------------------------


def _get_option(config: pytest.Config, name: str, variable: str | None = None) -> Any:
    """Return what was asked for: on the command line, else by a variable, else in the configuration."""
    for value in (config.getoption(f"datamorphic_{name}"), variable, config.getini(f"datamorphic_{name}")):
        if value is not None and value != "":
            return value
    return None


def _parse_seed(text: Any) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


_parse_seed.__name__ = "whole number"  # argparse says: invalid whole number value


def _format_total(figures: list[dict[str, Any]]) -> str:
    cases, violated_count, calls = (sum(entry[name] for entry in figures) for name in COLUMNS[:3])
    summary = f"{len(figures):,} check{'s' * (len(figures) != 1)}, {cases:,} case{'s' * (cases != 1)}"
    seeds = sorted({entry["seed"] for entry in figures if entry.get("seed") is not None})
    seed = f"; seed {seeds[0]}" if len(seeds) == 1 else ""
    return f"{summary}, {violated_count:,} violated, {calls:,} calls{seed}"


def _format_table(rows: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """Return lines with columns one below the other."""
    cells = [["test", "relation", *COLUMNS, ""]]
    for test, entry in rows:
        numbers = [f"{entry[name]:,}" for name in COLUMNS[:3]] + [f"{entry['seconds']:.2f}"]
        cells.append([_shorten(test), entry["relation"], *numbers, entry.get("note", "")])
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = []
    for row in cells:
        texts = [text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True)]
        texts += [text.rjust(width) for text, width in zip(row[2:6], widths[2:6], strict=True)]
        lines.append("  ".join([*texts, row[6]]).rstrip())
    return lines


def _shorten(test: str, max_length: int = 60) -> str:
    """Return an id without what all tests have, and no longer than a line allows."""
    return test if len(test) <= max_length else "..." + test[3 - max_length :]
