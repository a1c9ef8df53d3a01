"""How much an assert tries: profiles, and what the pytest plugin was asked for.

This is the one place that knows what a profile is. Nothing here imports NumPy: pytest may ask before any test runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._text import suggest_name
from ..errors import ArgumentError

PROFILE_VARIABLE = "DATAMORPHIC_PROFILE"
PLUGIN_MODULE = "_datamorphic_pytest"  # looked up, never imported: without pytest there is none


@dataclass(frozen=True)
class Profile:
    """How much an assert tries.

    Attributes
    ----------
    name : str
        What it is called.
    cases : int
        How many cases each relation is tried on, at most.
    seed : int, optional
        Where randomness starts; None for a new seed each time pytest runs.
    budget : str, optional
        What an assert may cost.
    """

    name: str
    cases: int
    seed: int | None = None
    budget: str | None = None


#: always the same and quick for continuous integration; ten times the cases for the night; something between for people
PROFILES = {
    profile.name: profile
    for profile in (Profile("ci", 100, seed=0), Profile("default", 300), Profile("thorough", 3_000))
}


@dataclass(frozen=True)
class Settings:
    """What counts for an assert now.

    Attributes
    ----------
    cases, seed, budget
        As in `Profile`; the seed is one.
    failures : Path, optional
        Where cases that failed are kept.
    update : bool
        Whether baselines are to be written.
    test : str
        The test that is under way; empty outside pytest.
    """

    cases: int
    seed: int
    budget: str | None = None
    failures: Path | None = None
    update: bool = False
    test: str = ""
    run: Any = None

    def format_rerun_command(self, seed: int | None) -> str:
        """Return the command that makes the test again; empty outside pytest."""
        return self.run.again(seed) if self.run is not None else ""

    def record(self, **figures: Any) -> None:
        """Leave figures for the summary of pytest."""
        if self.run is not None:
            self.run.note(**figures)


def get_settings() -> Settings:
    """Return what counts now: what pytest was asked for, else what the environment says, else the defaults."""
    plugin = sys.modules.get(PLUGIN_MODULE)
    run = plugin.current() if plugin is not None else None
    if run is None:
        profile = get_profile(os.environ.get(PROFILE_VARIABLE), PROFILES)
        return Settings(profile.cases, profile.seed or 0, profile.budget)
    profile = get_profile(run.profile, PROFILES | parse_profiles(run.profiles))
    seed = next(candidate for candidate in (run.seed, profile.seed, run.drawn) if candidate is not None)
    return Settings(profile.cases, seed, run.budget or profile.budget, run.failures, run.update, run.test, run)


def get_profile(name: str | None, profiles: Mapping[str, Profile]) -> Profile:
    """Return a profile by its name."""
    if (name or "default") not in profiles:
        raise ArgumentError(f"There is no profile {name!r}. {suggest_name(name, profiles)}")
    return profiles[name or "default"]


def parse_profiles(lines: Iterable[str]) -> dict[str, Profile]:
    """Return profiles from lines like ``nightly: cases=5000, budget=10m, seed=0``; what is left out is the default.

    Examples
    --------
    >>> parsed(["nightly: cases=5000, seed=1"])["nightly"]
    Profile(name='nightly', cases=5000, seed=1, budget=None)
    """
    profiles = {}
    for line in lines:
        name, colon, rest = (part.strip() for part in line.partition(":"))
        options: dict[str, Any] = {}
        for part in filter(None, (item.strip() for item in rest.split(","))):
            key, _, value = (item.strip() for item in part.partition("="))
            number = key != "budget" and value.isdecimal() and int(value) >= (key == "cases")
            if key not in ("cases", "seed", "budget") or not (number or (key == "budget" and value)):
                raise ArgumentError(
                    f"{part!r} in the profile {name!r} is not understood. Write a number of cases, a seed or a budget, "
                    "as in 'nightly: cases=5000, budget=10m, seed=0'."
                )
            options[key] = value if key == "budget" else int(value)
        if not name or not colon:
            raise ArgumentError(
                f"The profile {line!r} is not understood. Write its name, a colon and what it says, as in "
                "'nightly: cases=5000, budget=10m, seed=0'."
            )
        profiles[name] = replace(PROFILES["default"], name=name, **options)
    return profiles


def validate_profile(profile: str | None, lines: Iterable[str], budget: str | None) -> None:
    """Raise if a profile or a budget that was asked for cannot be."""
    profiles = PROFILES | parse_profiles(lines)
    get_profile(profile, profiles)
    budgets = [budget, *(candidate.budget for candidate in profiles.values())]
    if any(budgets):
        from ..runs.flow import Budget

        for budget_text in filter(None, budgets):
            Budget.parse(budget_text)
