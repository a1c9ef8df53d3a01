"""Profiles: how much an assertion tries, and the options of the pytest plugin.

Nothing here imports NumPy, since pytest may read the profiles before any test runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._text import suggest_name
from ..errors import ArgumentError

if TYPE_CHECKING:
    from _datamorphic_pytest import PytestRun

PROFILE_VARIABLE = "DATAMORPHIC_PROFILE"
PLUGIN_MODULE = "_datamorphic_pytest"  # looked up in sys.modules, never imported: pytest may not be installed


@dataclass(frozen=True)
class Profile:
    """How much an assertion tries."""

    name: str
    cases: int  # the maximum number of cases per relation
    seed: int | None = None  # None for a new seed per run of pytest
    budget: str | None = None  # of an assertion


#: quick and with a fixed seed for CI; ten times the default cases for nightly runs
PROFILES = {
    profile.name: profile
    for profile in (Profile("ci", 100, seed=0), Profile("default", 300), Profile("thorough", 3_000))
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of an assertion: those of a `Profile`, but always with a seed, and those of the run of pytest."""

    cases: int
    seed: int
    budget: str | None = None
    failures: Path | None = None  # the file where violations are kept
    update: bool = False  # whether to write baselines
    test: str = ""  # the id of the running test; empty outside pytest
    run: PytestRun | None = None

    def format_rerun_command(self, seed: int | None) -> str:
        """Return the command that runs the test again; empty outside pytest."""
        return self.run.format_rerun_command(seed) if self.run is not None else ""

    def record(self, **figures: Any) -> None:
        """Record figures for the summary of pytest."""
        if self.run is not None:
            self.run.record(**figures)


def get_settings() -> Settings:
    """Return the settings from pytest, the environment or the defaults."""
    plugin = sys.modules.get(PLUGIN_MODULE)
    run: PytestRun | None = plugin.get_current_run() if plugin is not None else None
    if run is None:
        profile = get_profile(os.environ.get(PROFILE_VARIABLE), PROFILES)
        return Settings(cases=profile.cases, seed=profile.seed or 0, budget=profile.budget)
    profile = get_profile(run.profile, PROFILES | parse_profiles(run.profiles))
    seed = next(candidate for candidate in (run.seed, profile.seed, run.drawn_seed) if candidate is not None)
    return Settings(
        cases=profile.cases,
        seed=seed,
        budget=run.budget or profile.budget,
        failures=run.failures,
        update=run.update,
        test=run.test,
        run=run,
    )


def get_profile(name: str | None, profiles: Mapping[str, Profile]) -> Profile:
    """Return a profile by name; the default one for None."""
    if (name or "default") not in profiles:
        raise ArgumentError(f"There is no profile {name!r}. {suggest_name(name, profiles)}")
    return profiles[name or "default"]


def parse_profiles(lines: Iterable[str]) -> dict[str, Profile]:
    """Return the profiles of lines like ``nightly: cases=5000, budget=10m, seed=0``.

    Values that a line does not give are those of the default profile.
    """
    profiles, example = {}, "'nightly: cases=5000, budget=10m, seed=0'"
    for line in lines:
        name, colon, rest = (part.strip() for part in line.partition(":"))
        options: dict[str, Any] = {}
        for part in filter(None, (item.strip() for item in rest.split(","))):
            key, _, value = (item.strip() for item in part.partition("="))
            number = key != "budget" and value.isdecimal() and int(value) >= (key == "cases")
            if key not in ("cases", "seed", "budget") or not (number or (key == "budget" and value)):
                expected = f"Give a number of cases, a seed or a budget, as in {example}."
                raise ArgumentError(f"{part!r} in the profile {name!r} is invalid. {expected}")
            options[key] = value if key == "budget" else int(value)
        if not name or not colon:
            expected = f"Write its name, a colon and its values, as in {example}."
            raise ArgumentError(f"The profile {line!r} is invalid. {expected}")
        profiles[name] = replace(PROFILES["default"], name=name, **options)
    return profiles


def validate_profile(profile: str | None, lines: Iterable[str], budget: str | None) -> None:
    """Raise an error if the profile does not exist or is invalid."""
    profiles = PROFILES | parse_profiles(lines)
    get_profile(profile, profiles)
    for budget_text in filter(None, [budget, *(candidate.budget for candidate in profiles.values())]):
        from ..runs.flow import Budget  # it imports NumPy

        Budget.parse(budget_text)
