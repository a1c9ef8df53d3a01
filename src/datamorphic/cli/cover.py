"""The command ``datamorphic cover``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .._text import format_percent, pluralise
from ..core.capability import get_capability
from ..errors import UsageError
from ..trees.coverage.run import cover as measure_coverage
from . import options as opt
from .command import make_command
from .console import format_result, write_rows
from .tree_command import TREE_MODEL_HELP, TreeCommand

if TYPE_CHECKING:
    from ..trees.coverage.coverage import Coverage
    from ..trees.coverage.mutation import MutationScore

DEFAULT_LISTED_ITEMS = 5  # leaves and mutants


@dataclass(frozen=True, kw_only=True)
class CoverCommand(TreeCommand):
    """Measuring coverage, which can be required, and raised by more rows."""

    def list_face_options(self) -> list[tuple[str, Any, Any]]:
        """Return the share that is required, and how much to list."""
        at_least_help = "Exit with 1 if a smaller share than this is covered, e.g. 0.8."
        show_help = "Number of leaves and mutants to list."
        mutant_help = (
            "With --criterion DTMT and --svg: draw this mutant beside its tree. They are numbered from 0, node by node."
        )
        return [
            ("at_least", Annotated[float | None, opt.option("SHARE", at_least_help, min=0, max=1)], None),
            ("show", Annotated[int, opt.option("N", show_help, min=0)], DEFAULT_LISTED_ITEMS),
            ("mutant", Annotated[int | None, opt.option("N", mutant_help, min=0)], None),
            *super().list_face_options(),
        ]

    def run(self, values: dict[str, Any]) -> None:
        """Run the command, unless it is asked to draw a mutant and has none, or no file to draw it in."""
        if values["mutant"] is not None and (values["criterion"].upper() != "DTMT" or values["svg"] is None):
            raise UsageError(
                "--mutant draws a mutant of a tree. Add --criterion DTMT and the file to draw it in: --svg FILE."
            )
        super().run(values)

    def interpret(self, result: Coverage | MutationScore, face: dict[str, Any]) -> dict[str, Any]:
        """Return whether enough is covered, and rows that cover more if there is a file for them."""
        share = face.get("at_least")
        extra_rows = None if face["fix"] is None else result.fix()
        return face | {"passed": None if share is None else result.share >= share, "extra_rows": extra_rows}

    def build_document(self, result: Coverage | MutationScore, **face: Any) -> dict[str, Any]:
        """Return the result, whether it is enough, and the number of rows that cover more."""
        document = result.document() | {"at_least": face.get("at_least"), "enough": face["passed"] is not False}
        return document if face["extra_rows"] is None else document | {"extra": len(face["extra_rows"])}

    def format_text(self, result: Coverage | MutationScore, **face: Any) -> str:
        """Return the result in words, whether it is enough, and what more rows would do."""
        lines = [format_result(result, n=face.get("show", DEFAULT_LISTED_ITEMS))]
        if face["passed"] is False:
            lines.append(f"Too little: --at-least asks for {format_percent(face['at_least'])}.")
        if face["extra_rows"] is not None:
            lines.append(_format_gain(result, face["extra_rows"], face["fix"]))
        return "\n".join(lines)

    def write_files(self, result: Coverage | MutationScore, files: Mapping[str, Path | None], **face: Any) -> None:
        """Write the result, and rows that cover more."""
        super().write_files(result, {"html": files["html"]})
        if files["svg"] is not None:
            result.to_svg(files["svg"], **({} if face.get("mutant") is None else {"mutant": face["mutant"]}))
        if files["junit"] is not None:
            result.to_junit(files["junit"], face.get("at_least"))
        if face["extra_rows"] is not None:
            write_rows(face["extra_rows"], face["fix"])


def _format_gain(result: Coverage | MutationScore, extra_rows: Any, file: Path) -> str:
    if result.share == 1:
        return f"Nothing is missing: {file} has no rows."
    if not len(extra_rows):
        return f"No rows were found that cover more: {file} is empty."
    before, after = format_percent(result.share), format_percent(result.with_rows(extra_rows).share)
    return f"{pluralise(len(extra_rows), 'row')} in {file} would raise the score from {before} to {after}."


COMMAND = CoverCommand(
    capability=get_capability(measure_coverage),
    model_help=TREE_MODEL_HELP,
    files={
        "svg": "Write a drawing of the tree to this file.",
        "fix": "Write rows that cover what is missing to this CSV file.",
    },
)

cover = make_command(
    """Measure a test set: which leaves of a tree it reaches, and which mutants of the tree it kills.

    The model is a tree, a forest or boosted trees of scikit-learn, XGBoost (.json, .ubj), LightGBM (.txt) or CatBoost
    (.cbm), or a PMML file. The rows that --fix writes were tried on the tree. They have no label: a person has to add it.

    Examples: datamorphic cover tree.skops tests.csv --criterion DTMT --at-least 0.8 --fix extra.csv; datamorphic cover
    my_models:forest data:wine --target target --html coverage.html; datamorphic cover tree.pmml tests.csv --svg tree.svg;
    datamorphic cover tree.pmml tests.csv --criterion DTMT --mutant 7 --svg mutant.svg
    """,
    COMMAND,
)
