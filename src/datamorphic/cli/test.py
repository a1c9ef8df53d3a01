"""The command ``datamorphic test``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from ..audit.expectations import merge_expectations
from ..audit.result import AuditResult
from ..audit.run import test as run_test
from ..core.capability import get_capability
from ..core.result import LEVELS
from ..errors import UsageError
from ..runs.progress import TimedProgress
from . import options as opt
from .command import DATA_ARGUMENT, CapabilityCommand, make_command
from .exit_codes import ExitCode, choose_exit_code
from .load import load_data, to_absolute_path

NEVER = "never"


@dataclass(frozen=True, kw_only=True)
class TestCommand(CapabilityCommand):
    """Testing, with expectations as options, and the level of findings from which the command fails."""

    __test__ = False  # pytest must not collect it because of its name

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return what is tested and what is expected of it: Python has one argument for that."""
        return [
            *super().list_inputs(),
            (
                "monotone",
                Annotated[
                    list[str] | None,
                    opt.option(
                        "COL=up|down",
                        "A feature that may move the answer in one direction only, e.g. income=up. Repeatable.",
                    ),
                ],
                None,
            ),
            (
                "invariant",
                Annotated[
                    list[str] | None,
                    opt.option("COL", "A feature that must not change the answer, e.g. id. Repeatable."),
                ],
                None,
            ),
            (
                "towards",  # as stored runs call it
                Annotated[
                    str | None,
                    opt.option(
                        "CLASS",
                        'The class that "up" leads towards. The default is the second of two classes.',
                        "--outcome",
                    ),
                ],
                None,
            ),
            ("allow_incomplete", opt.AllowIncomplete, False),  # kept with the result: reports say so
        ]

    def list_face_options(self) -> list[tuple[str, Any, Any]]:
        """Return the level of findings from which the command fails."""
        text = "Exit with 1 from this level on: fault, concern, advice or never."
        return [("fail_on", Annotated[str, opt.option("LEVEL", text)], "concern")]

    def run(self, values: dict[str, Any]) -> None:
        """Run the command, unless its options contradict each other."""
        only = values["only"]
        if values["save_front"] is not None and only and not {"borders", "baseline"} & set(only):
            raise UsageError(
                "--save-front saves what the check 'borders' finds. Add --only borders, or leave --only out."
            )
        if values["fail_on"] not in (*LEVELS, NEVER):
            raise UsageError(f"--fail-on is one of {', '.join(LEVELS)} or {NEVER}. Got {values['fail_on']!r}.")
        if values["data_only"] and values.get(DATA_ARGUMENT) is None and values["data"] is None:
            values |= {"model": None, DATA_ARGUMENT: values["model"]}  # the only argument is the data
        super().run(values)

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return what is tested, and the training data, so that they mean the same in another folder."""
        return super().collect_inputs(values) | {"reference": to_absolute_path(values.pop("reference"))}

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return what is tested, what is expected of it, and the training data."""
        with TimedProgress("loading the model and the data"):
            values = super().load_inputs(words, trust)
        reference = words.get("reference")
        return values | {
            "expect": merge_expectations(words, words.get("expect")),
            "reference": None if reference is None else load_data(reference),
        }

    def load_model(self, words: Mapping[str, Any], trust: bool) -> tuple[Any, dict[str, Any]]:
        """Return the system under test and the options to wrap it with; None if only data are tested."""
        if not words.get("data_only"):
            return super().load_model(words, trust)
        if words.get("model") is not None or words.get("subject") is not None:
            raise UsageError("--data-only looks at DATA alone. Leave MODEL out, or leave --data-only out.")
        if words.get("data") is None:
            raise UsageError(f"--data-only needs DATA. {self.data_help}")
        return None, {}

    def write_files(self, result: AuditResult, files: Mapping[str, Path | None], **face: Any) -> None:
        """Write the reports, and the border."""
        super().write_files(result, {name: file for name, file in files.items() if name != "save_front"})
        if (file := files["save_front"]) is not None:
            if result.front is None:
                raise UsageError("There is no border to save: the check 'borders' was not run.")
            result.front.save(file)

    def choose_code(self, result: AuditResult, *, fail_on: str = "concern", **face: Any) -> ExitCode:
        """Return the exit code of a result."""
        failed = fail_on != NEVER and bool(result.at_least(fail_on) or result.broken)  # type: ignore[arg-type]
        incomplete = bool(result.unfinished) and not result.words.get("allow_incomplete")
        return choose_exit_code(interrupted=result.interrupted, failed=failed, incomplete=incomplete)


COMMAND = TestCommand(
    capability=get_capability(run_test),
    files={
        "sarif": "Write a SARIF file for code scanning.",
        "markdown": "Write Markdown for a pull request.",
        "pytest": "Write a pytest file: checks that pass today must keep passing.",
        "save_front": "Write the border to this Parquet file, as a baseline for the next version.",
    },
    needs_data=False,
    has_subjects=True,
)

test = make_command(
    """Run every check that applies to a model, and print the findings, worst first.

    Does the model answer every input, and always in the same way? Where are its borders, and have they moved? Does it meet
    your expectations? Checks that do not apply are listed with the reason. The exit code is 1 if a finding is worse than
    advice, and 4 if there is none but the budget did not suffice for all checks.

    Examples: datamorphic test model.skops customers.csv --target churned --html findings.html;
    datamorphic test model.skops loans.csv --target decision --monotone income=up --outcome approve --protected gender;
    datamorphic test model.skops loans.csv --target default --promises bank.promises;
    datamorphic test model.skops loans.csv --target decision --only "row order";
    datamorphic test loans.csv --data-only --target decision
    """,
    COMMAND,
)
