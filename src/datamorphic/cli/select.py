"""The command ``datamorphic select``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.capability import get_capability
from ..trees.coverage.run import select as select_rows
from .command import make_command
from .console import format_result, write_rows
from .tree_command import TREE_MODEL_HELP, TreeCommand

if TYPE_CHECKING:
    from ..trees.coverage.selection import Selection

MAX_PRINTED_ROWS = 20


@dataclass(frozen=True, kw_only=True)
class SelectCommand(TreeCommand):
    """Selecting rows, which are written or printed."""

    def write_files(self, result: Selection, files: Mapping[str, Path | None], **face: Any) -> None:
        """Write the result, and its rows."""
        super().write_files(result, {name: file for name, file in files.items() if name != "out"})
        if files["out"] is not None:
            write_rows(result.rows, files["out"])

    def format_text(self, result: Selection, **face: Any) -> str:
        """Return the result in words, and the rows unless they are written."""
        text = format_result(result)
        return text if face["out"] is not None else f"{text}\n{result.rows.to_string(max_rows=MAX_PRINTED_ROWS)}"


COMMAND = SelectCommand(
    capability=get_capability(select_rows),
    model_help=TREE_MODEL_HELP,
    files={"out": "Write the rows to this CSV file."},
)

select = make_command(
    """Choose test rows that exercise a tree: reach its leaves, lie at their limits, or kill its mutants.

    Examples: datamorphic select tree.skops all.csv --target label --criterion DTMT --minimal --out tests.csv; datamorphic
    select tree.skops all.csv --target label --criterion BVA --offset 0.5 --out limits.csv
    """,
    COMMAND,
)
