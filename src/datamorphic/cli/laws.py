"""The command ``datamorphic laws``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from ..core.capability import get_capability
from ..errors import UsageError
from ..morphisms.run import laws as check_laws
from . import options as opt
from .command import make_command
from .load import load_data, load_space, to_absolute_path
from .system_command import SystemCommand, load_test_system


@dataclass(frozen=True, kw_only=True)
class LawsCommand(SystemCommand):
    """The check of laws, also of the moves that are derived from data or from the description of a space."""

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the test system, or the data whose moves are checked."""
        data_help = "A CSV or Parquet file, or data:NAME: check the moves derived from these data."
        return [*super().list_inputs(), ("data", Annotated[str | None, opt.option("DATA", data_help)], None)]

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take what is checked out of the values of a command; files mean the same in another folder."""
        words = super().collect_inputs(values)
        return words | ({"data": to_absolute_path(words["data"])} if "data" in words else {})

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the test system, or the data or space whose moves are checked."""
        data, target, file = words.get("data"), words.get("target"), words.get("space")
        hint_names = [name for name in ("kinds", "column_steps", "bounds", "orders") if words.get(name)]
        if hint_names and data is None:
            raise UsageError(f"Hints for columns ({', '.join(hint_names)}) need --data FILE.")
        if target is not None and data is None:
            raise UsageError("--target names a column of --data, but no data are given. Add --data FILE.")
        system = load_test_system(words, "check", {"--data": data, "--space": None if data else file})
        frame = None if data is None else load_data(data)
        space = load_space(file, frame, target)
        return (
            {"model": space if system is None else system, "space": None}
            if frame is None
            else {"model": frame, "space": space}
        )


COMMAND = LawsCommand(capability=get_capability(check_laws))

laws = make_command(
    """Check the laws that exploration relies on: moves, midpoint and distance of a test system.

    Prints HOLDS or BROKEN for each law, with a counter-example for a broken one. The exit code is 1 if a law is broken.
    Counter-examples are stored and tried first the next time.

    Examples: datamorphic laws my_tests:RedWine; datamorphic laws --subject "Box 1";
    datamorphic laws --data data:iris --target target
    """,
    COMMAND,
)
