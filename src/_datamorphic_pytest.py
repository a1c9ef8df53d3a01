"""The pytest plugin of datamorphic: options, the file of violations, statistics.

It imports nothing of datamorphic before a test does, so that it costs nothing if it is not used. The assertions read its
options in `datamorphic.testing.profiles`, which looks up the current run with `get_current_run`.
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
MAX_STATISTICS_LINES = 40  # without -v
MAX_TEST_ID_CHARACTERS = 60  # the end of a longer id is shown
COLUMNS = ("cases", "violated", "calls", "seconds")


class PytestRun:
    """A run of pytest as assertions see it: options, current test, figures."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.profile: str | None = _get_option(config, "profile", os.environ.get(PROFILE_VARIABLE))
        self.budget: str | None = _get_option(config, "budget")
        seed = _get_option(config, "seed")
        try:
            self.seed = None if seed is None else _parse_seed(seed)
        except ValueError:
            raise pytest.UsageError(f"datamorphic_seed must be a whole number, at least 0. Got {seed!r}.") from None
        self.profiles: list[str] = config.getini("datamorphic_profiles")  # the user's own, one line each
        self.update: bool = config.getoption("datamorphic_update")  # whether to write baselines
        #: for profiles without a seed: new for each run of pytest, the same in all its processes
        worker = getattr(config, "workerinput", {})
        self.drawn_seed: int = worker.get("datamorphic_seed") or random.SystemRandom().randrange(1, 2**31)
        self.item: pytest.Item | None = None  # the running test: one at a time per process
        self.figures: dict[str, list[dict[str, Any]]] = {}

    @property
    def configured(self) -> bool:
        """Whether any option is set."""
        return bool(self.profile or self.budget or self.profiles) or self.seed is not None

    @property
    def failures(self) -> Path | None:
        """The file of violations in pytest's cache; None if it cannot be written."""
        cache = getattr(self.config, "cache", None)
        try:
            return None if cache is None else Path(cache.mkdir(NAME)) / "failures.sqlite"
        except OSError:
            return None

    @property
    def test(self) -> str:
        """The id of the running test; empty between tests."""
        return self.item.nodeid if self.item is not None else ""

    def format_rerun_command(self, seed: int | None) -> str:
        """Return the command that runs this test again."""
        if self.item is None:
            return ""
        path, colons, test = self.item.nodeid.partition("::")
        whole = os.path.join(self.config.rootpath, path)
        parts = ["pytest", os.path.relpath(whole, self.config.invocation_params.dir) + colons + test]
        parts += ["--datamorphic-seed", str(seed)] if seed is not None else []
        for option in ("profile", "budget"):  # the configuration applies again by itself
            value = self.config.getoption(f"datamorphic_{option}")
            value = value or (os.environ.get(PROFILE_VARIABLE) if option == "profile" else None)
            parts += [f"--datamorphic-{option}", value] if value else []
        return shlex.join(parts)

    def record(self, **figures: Any) -> None:
        """Record the figures of an assertion in the report of the test."""
        if self.item is not None:
            self.item.user_properties.append((NAME, json.dumps(figures)))


_runs: list[PytestRun] = []  # several if tests run pytest themselves; the last one is active
_KEY = pytest.StashKey[PytestRun]()


def get_current_run() -> PytestRun | None:
    """Return the active run of pytest in this process, if there is one."""
    return _runs[-1] if _runs else None


# -- hooks -----------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup(NAME, "datamorphic: testing models without an oracle")
    group.addoption("--datamorphic-seed", type=_parse_seed, metavar="N", help="Seed of the assertions of datamorphic.")
    group.addoption("--datamorphic-budget", metavar="TIME", help="Budget of each assertion: '30s', '2m', '10000 runs'.")
    group.addoption(
        "--datamorphic-profile",
        metavar="NAME",
        help=f"How much to try: ci, default, thorough, or your own profile; also set by ${PROFILE_VARIABLE}.",
    )
    group.addoption(
        "--datamorphic-update", action="store_true", help="Write or replace the baselines of assert_front_unchanged."
    )
    for name in ("seed", "budget", "profile"):
        parser.addini(f"datamorphic_{name}", f"As --datamorphic-{name}.", default=None)
    parser.addini(
        "datamorphic_profiles",
        "Your own profiles, one line each: 'nightly: cases=5000, budget=10m, seed=0'.",
        type="linelist",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read and validate the options."""
    run = PytestRun(config)
    if run.configured:
        from datamorphic.errors import UsageError
        from datamorphic.testing.profiles import validate_profile

        try:
            validate_profile(run.profile, run.profiles, run.budget)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
    config.stash[_KEY] = run
    _runs.append(run)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove this run."""
    run = config.stash.get(_KEY, None)
    if run in _runs:
        _runs.remove(run)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the seed of this run to a process of pytest-xdist."""
    node.workerinput["datamorphic_seed"] = node.config.stash[_KEY].drawn_seed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Set the running test."""
    run = item.config.stash[_KEY]
    run.item = item
    try:
        return (yield)
    finally:
        run.item = None


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the options as a line of the header."""
    run = config.stash[_KEY]
    if not run.configured:
        return None
    parts = [f"profile {run.profile or 'default'}"]
    parts += [f"seed {run.seed}"] if run.seed is not None else []
    parts += [f"budget {run.budget}"] if run.budget else []
    return f"datamorphic: {', '.join(parts)}"


@pytest.hookimpl
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect figures from the report of the teardown, which has all of them."""
    run = get_current_run()
    if run is None or report.when != "teardown":
        return
    figures = [json.loads(str(text)) for name, text in report.user_properties if name == NAME]
    if figures:
        run.figures[report.nodeid] = figures


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the figures: one line per assertion, or one for all with -q."""
    run = config.stash[_KEY]
    verbosity = config.get_verbosity()
    if not run.figures or verbosity < -1:
        return
    rows = [(test, entry) for test, figures in run.figures.items() for entry in figures]
    total = _format_total([entry for _, entry in rows])
    if verbosity < 0:
        terminalreporter.write_line(f"datamorphic: {total}")
        return
    rows.sort(key=lambda row: not row[1]["violated"])  # violations first
    visible_rows = rows if verbosity > 0 else rows[:MAX_STATISTICS_LINES]
    terminalreporter.section("datamorphic")
    for line in _format_table(visible_rows):
        terminalreporter.write_line(line)
    if len(visible_rows) < len(rows):
        terminalreporter.write_line(f"... and {len(rows) - len(visible_rows)} more: -v shows all")
    terminalreporter.write_line(total)


# -- options and text ------------------------------------------------------------------------------------------


def _get_option(config: pytest.Config, name: str, variable: str | None = None) -> Any:
    """Return an option from the command line, a variable or the configuration."""
    values = (config.getoption(f"datamorphic_{name}"), variable, config.getini(f"datamorphic_{name}"))
    return next((value for value in values if value is not None and value != ""), None)


def _parse_seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


_parse_seed.__name__ = "whole number"  # for the message of argparse: "invalid whole number value"


def _format_total(figures: list[dict[str, Any]]) -> str:
    cases, violated_count, calls = (sum(entry[name] for entry in figures) for name in COLUMNS[:3])
    checks_text = f"{len(figures):,} {'check' if len(figures) == 1 else 'checks'}"
    cases_text = f"{cases:,} {'case' if cases == 1 else 'cases'}"
    seeds = {entry["seed"] for entry in figures if entry.get("seed") is not None}
    seed = f"; seed {seeds.pop()}" if len(seeds) == 1 else ""
    return f"{checks_text}, {cases_text}, {violated_count:,} violated, {calls:,} calls{seed}"


def _format_table(rows: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """Return lines with aligned columns."""
    cells = [["test", "relation", *COLUMNS, ""]]
    for test, entry in rows:
        numbers = [f"{entry[name]:,}" for name in COLUMNS[:3]] + [f"{entry['seconds']:.2f}"]
        test_text = test if len(test) <= MAX_TEST_ID_CHARACTERS else "..." + test[3 - MAX_TEST_ID_CHARACTERS :]
        cells.append([test_text, entry["relation"], *numbers, entry.get("note", "")])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        texts = [text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True)]
        texts += [text.rjust(width) for text, width in zip(row[2:6], widths[2:6], strict=True)]
        lines.append("  ".join([*texts, row[6]]).rstrip())
    return lines
