"""The plan of an exploration, ``datamorphic explore --plan``: what is stored, resumed and printed of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.capability import get_capability
from ..exploration.plan import ExplorationPlan
from ..exploration.plan import plan as plan_exploration
from .command import CapabilityCommand
from .console import format_result


@dataclass(frozen=True, kw_only=True)
class PlanCommand(CapabilityCommand):
    """Planning, which is an option of the command that explores."""

    def list_face_options(self) -> list[tuple[str, Any, Any]]:
        """Return nothing: the command that explores has the options."""
        return []

    def format_command(self, words: Mapping[str, Any], seed: object) -> str:
        """Return the command line that does the same."""
        return shlex.join(["datamorphic", "explore", *self.build_arguments(words, seed), "--plan"])

    def format_text(self, result: ExplorationPlan, **face: Any) -> str:
        """Return the plan in words, and what it recommends as options."""
        options = _format_options(result.options)
        return "\n".join([format_result(result), *([f"as options: {options}"] if options else [])])


def _format_options(options: Mapping[str, Any]) -> str:
    """Return the options that a plan recommends, as those of the command."""
    words: list[str] = []
    for name, value in options.items():
        if name == "column_steps":
            words += [word for column, step in value.items() for word in ("--column-step", f"{column}={step:.12g}")]
        else:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


COMMAND = PlanCommand(capability=get_capability(plan_exploration), needs_data=False, has_subjects=True)
