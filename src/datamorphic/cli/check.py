"""The command ``datamorphic check``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.capability import get_capability
from ..relations.check.result import CheckReport
from ..relations.check.run import check as check_relations
from ..relations.learners.sampling import MIXED_DATA
from ..systems.files import complete_name
from . import options as opt
from .command import CapabilityCommand, make_command
from .exit_codes import ExitCode, choose_exit_code
from .load import load_learner, load_named


@dataclass(frozen=True, kw_only=True)
class CheckCommand(CapabilityCommand):
    """Checking, which also takes classes of learners with their parameters, and relations of modules."""

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return what names the learner, its parameters, and the data."""
        return [*super().list_inputs(), ("param", opt.LearnerParameters, None)]

    def load_model(self, words: Mapping[str, Any], trust: bool) -> tuple[Any, dict[str, Any]]:
        """Return the learner with its parameters, or the model."""
        return load_learner(words.get("model"), words.get("param"), trust)

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return what is checked, and the relations and the estimator that are named."""
        values = super().load_inputs(words, trust)
        if values["data"] is None and values["space"] is None:
            values["data"] = MIXED_DATA
        if words.get("against") is not None:
            name = complete_name(words["against"], words["model"])
            values["against"] = load_learner(name, words.get("param"), trust)[0]
        if words.get("like") is not None:
            values["like"] = load_learner(words["like"], None, False)[0]
        names = words.get("relations")
        if names:
            values["relations"] = "necessary" if names == ["necessary"] else [load_named(name) for name in names]
        return values

    def write_files(
        self, result: CheckReport, files: Mapping[str, Path | None], *, allow_incomplete: bool = False, **face: Any
    ) -> None:
        """Write the report; relations that were not tried are errors of JUnit unless that is allowed."""
        super().write_files(replace(result, incomplete_allowed=allow_incomplete), files)

    def choose_code(self, result: CheckReport, *, allow_incomplete: bool = False, **face: Any) -> ExitCode:
        """Return the exit code: findings are violations of relations that every correct implementation satisfies."""
        is_unanswered = any(entry.undefined for entry in result.entries) and not any(
            entry.judged for entry in result.entries
        )
        if is_unanswered and not result.interrupted and not result.faults:
            return ExitCode.SYSTEM_FAILED
        return choose_exit_code(
            interrupted=result.interrupted,
            failed=bool(result.faults),
            incomplete=not result.complete and not allow_incomplete,
        )


COMMAND = CheckCommand(
    capability=get_capability(check_relations),
    model_help='A learner (module:object), a model file, a service (.toml), "weka:IBk -K 3", or "python:PYTHON module:object".',
    needs_data=False,
)

check = make_command(
    """Check metamorphic relations of a learner or a model on many inputs.

    MODEL is a learner or a class of learners (module:object), a model file, the description of a service (.toml),
    "weka:IBk -K 3", or "python:PYTHON module:object", with the path of another Python. Without DATA a learner is trained on
    random data. The exit code is 1 if it violates a relation that every correct implementation satisfies, and 4 if it does
    not, but the budget did not suffice. With --against, another model gets the same inputs, and the report begins with what
    differs; the exit code is about MODEL.

    Examples: datamorphic check sklearn.neighbors:KNeighborsClassifier --param n_neighbors=3;
    datamorphic check "weka:NaiveBayes" --inputs 300 --html relations.html;
    datamorphic check model.skops customers.csv --target churned --relation necessary;
    datamorphic check "python:/env/new sklearn.tree:DecisionTreeClassifier" --against python:/env/old
    """,
    COMMAND,
)
