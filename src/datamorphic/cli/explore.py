"""The command ``datamorphic explore``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .._validation import validate_choice
from ..core.capability import get_capability
from ..core.options import list_fields
from ..errors import UsageError
from ..exploration.front import Front
from ..exploration.options import VIEWS, PlanOptions
from ..exploration.run import explore as find_front
from . import options as opt
from .command import CapabilityCommand, declare_option, make_command
from .console import format_result
from .exit_codes import ExitCode, choose_exit_code

if TYPE_CHECKING:
    from ..exploration.diff.diff import Difference


@dataclass(frozen=True, kw_only=True)
class ExploreCommand(CapabilityCommand):
    """Exploring, which can also be planned, compared with an earlier front, and recorded."""

    def list_face_options(self) -> list[tuple[str, Any, Any]]:
        """Return the options of a plan, the front to compare with, and the file of a script."""
        return [
            (
                "plan",
                Annotated[bool, opt.flag("--plan", "Only estimate what each strategy would find and cost.")],
                False,
            ),
            *(declare_option(field) for field in list_fields(PlanOptions) if field.name == "trial"),
            (
                "compare",
                Annotated[
                    Path | None,
                    opt.option("FILE", "A front saved earlier: report where the border moved. Exit with 1 if it did."),
                ],
                None,
            ),
            (
                "view",
                Annotated[
                    str, opt.option("NAME", f"The picture of the report: {', '.join(VIEWS[:-1])} or {VIEWS[-1]}.")
                ],
                VIEWS[0],
            ),
        ]

    def run(self, values: dict[str, Any]) -> None:
        """Explore, or plan an exploration."""
        plan, trial, compare = (values[name] for name in ("plan", "trial", "compare"))
        if plan and (values["save"] or compare):
            raise UsageError("--plan finds no front. Leave out --save and --compare.")
        if trial is not None and not plan:
            raise UsageError("--trial is for the estimate of --plan. Add --plan, or leave it out.")
        if plan:
            from .plan import COMMAND as PLAN_COMMAND

            names = [parameter.name for parameter in PLAN_COMMAND.build_parameters()]
            PLAN_COMMAND.run({name: values[name] for name in names})
            return
        validate_choice("--view", "explore", values["view"], VIEWS)
        if values["view"] != VIEWS[0] and values["html"] is None:
            raise UsageError("--view chooses the picture of the report. Add --html FILE, or leave it out.")
        baseline = None if compare is None else Front.load(compare)
        if baseline is not None and (values["threshold"], values["jump"], values["labels"]) == (None, None, "auto"):
            kind, value = baseline.settings.get("border_kind"), baseline.settings.get("border_value")
            values |= {str(kind): value} if kind in ("threshold", "jump") else {}
        super().run(values | {"compare": baseline})

    def interpret(self, result: Front, face: dict[str, Any]) -> dict[str, Any]:
        """Compare the front with the earlier one, if there is one."""
        baseline: Front | None = face.get("compare")
        difference = None if baseline is None else baseline.diff(result)
        return {"difference": difference, "view": face.get("view", VIEWS[0])}

    def build_document(self, result: Front, *, difference: Difference | None = None, **face: Any) -> dict[str, Any]:
        """Return the front, and where it differs from an earlier one."""
        document = dict(result.document())
        if difference is not None:
            statuses = difference.table["status"].value_counts()
            document["difference"] = {
                "unchanged": bool(difference.unchanged),
                "findings": list(difference.findings),
                "statuses": {str(status): int(count) for status, count in statuses.items()},
            }
        return document

    def format_text(self, result: Front, *, difference: Difference | None = None, **face: Any) -> str:
        """Return the front in words, and where it differs from an earlier one."""
        results = [result] if difference is None else [result, difference]
        return "\n\n".join(map(format_result, results))

    def write_files(
        self,
        result: Front,
        files: Mapping[str, Path | None],
        *,
        difference: Difference | None = None,
        view: str = VIEWS[0],
        **face: Any,
    ) -> None:
        """Write the front and its report; the report begins with the changes, if there is an earlier front."""
        save, html = files["save"], files["html"]
        if save is not None:
            result.save(save)
        super().write_files(result, {"junit": files["junit"]})
        if html is not None:
            from ..exploration.page import build_front_page
            from ..reporting.export import write_export
            from ..reporting.html import render_page

            page = build_front_page(result, view=view)
            changes = [] if difference is None else difference.page().sections
            write_export(render_page(replace(page, sections=[*changes, *page.sections])), html, "report")

    def choose_code(self, result: Front, *, difference: Difference | None = None, **face: Any) -> ExitCode:
        """Return the exit code: findings are changes since an earlier front."""
        is_changed = difference is not None and not difference.unchanged
        return choose_exit_code(interrupted=result.interrupted, failed=is_changed, incomplete=False)


COMMAND = ExploreCommand(
    capability=get_capability(find_front),
    model_help="A model file, a service (.toml), or module:object. Leave it out with --subject.",
    files={"save": "Write the front to this Parquet file."},
    needs_data=False,
    has_subjects=True,
    is_recordable=True,
)

explore = make_command(
    """Find the borders of a model: pairs of nearly equal inputs with different answers.

    Walks start from real inputs and change them step by step. Where the answer changes, the pair is narrowed. Prints how
    many border pairs were found and how many model calls that took.

    Examples: datamorphic explore --subject "Box 1" --strategy random_target --walks 1200 --seeds 200;
    datamorphic explore model.skops customers.csv --target churned --html borders.html
    """,
    COMMAND,
)
