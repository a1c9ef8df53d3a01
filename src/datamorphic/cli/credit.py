"""The command ``datamorphic credit``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from ..core.capability import get_capability
from ..errors import UsageError
from ..risk.credit.run import credit as judge_models
from . import options as opt
from .command import DATA_ARGUMENT, CapabilityCommand, make_command
from .exit_codes import ExitCode, choose_exit_code
from .load import load_data, load_named, load_system, to_absolute_path

TABLE_ENDINGS = (".csv", ".parquet", ".pq", ".txt")
FREDDIE_MAC_ENDING = ".txt"


@dataclass(frozen=True, kw_only=True)
class CreditCommand(CapabilityCommand):
    """Judging models of credit risk, which may be several, or none to train some, on loans of several formats."""

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the arguments, and the options for further models and for files of loans."""
        return [
            *super().list_inputs(),
            (
                "also",
                Annotated[
                    list[str] | None, opt.option("NAME=MODEL", "Another model to compare with MODEL. Repeatable.")
                ],
                None,
            ),
            (
                "performance",
                Annotated[
                    Path | None,
                    opt.option("FILE", "Freddie Mac's file of monthly payments, which says who of DATA defaulted."),
                ],
                None,
            ),
            (
                "invalid",
                Annotated[
                    str, opt.option("raise|drop", "What to do with a loan that has a missing or impossible value.")
                ],
                "raise",
            ),
        ]

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take models and data out of the values; a table as the only argument is the data."""
        if values[DATA_ARGUMENT] is None and values["data"] is None and _is_table(values["model"] or ""):
            values |= {"model": None, DATA_ARGUMENT: values["model"]}
        if values["also"] is not None:
            pairs = [text.partition("=") for text in values["also"]]
            values["also"] = [f"{name}{sign}{to_absolute_path(path)}" for name, sign, path in pairs]
        values["later"] = to_absolute_path(values["later"])
        target = values.pop("target")  # the default data have one, too
        words = super().collect_inputs(values)
        return words if target is None else words | {"target": target}

    def list_models(self, words: Mapping[str, Any]) -> list[str]:
        """Return the names of the models, and of the relations that are imported."""
        others = [str(text).partition("=")[2] for text in words.get("also") or ()]
        relations = [str(text) for text in words.get("relations") or () if ":" in str(text)]
        return [*super().list_models(words), *others, *relations]

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the models by name, or None to train some, with the loans and the relations."""
        model, data, later = words.get("model"), words.get("data"), words.get("later")
        if model is not None and data is None:
            raise UsageError(
                "DATA is missing: loans that the model was not trained on. Name a CSV or Parquet file, or data:NAME."
            )
        invalid = words.get("invalid", "raise")
        return {
            "model": _load_models(model, words.get("also"), trust),
            "data": None if data is None else _load_loans(data, words.get("performance"), invalid),
            "later": None if later is None else _load_loans(later, None, invalid),
            "relations": [load_named(text) for text in words.get("relations") or ()] or None,
            "columns": _parse_columns(words.get("columns")),
            "name": words.get("name") or (None if data is None else Path(data.removeprefix("data:")).name),
            "trust": trust,
        }

    def choose_code(self, result: Any, *, allow_incomplete: bool = False, **face: Any) -> ExitCode:
        """Return the exit code: a finding is a model that cannot be used; too few loans for a verdict are incomplete."""
        incomplete = not (result.complete and result.decided) and not allow_incomplete
        return choose_exit_code(interrupted=result.interrupted, failed=not result.usable, incomplete=incomplete)


def _is_table(text: str) -> bool:
    return text.startswith("data:") or text.lower().endswith(TABLE_ENDINGS)


def _load_loans(name: str, performance: str | None, invalid: str) -> Any:
    """Return loans; those with the attributes of a loan book are checked value by value."""
    from ..data.loans.attributes import ATTRIBUTE_NAMES
    from ..data.loans.book_file import read_loan_book
    from ..data.loans.freddie_mac import read_freddie_mac

    if name.lower().endswith(FREDDIE_MAC_ENDING):
        return read_freddie_mac(name, performance, invalid=invalid)
    if performance is not None:
        raise UsageError(
            f"--performance belongs to a file of Freddie Mac ({FREDDIE_MAC_ENDING}). Got the loans {name!r}."
        )
    loans = load_data(name)
    if name.lower().endswith(".csv") and set(ATTRIBUTE_NAMES) <= set(loans.columns):
        return read_loan_book(name, invalid=invalid)
    return loans


def _load_models(model: str | None, also: list[str] | None, trust: bool) -> dict[str, Any] | None:
    """Return the models by name; None to train a ladder."""
    if model is None:
        if also:
            raise UsageError("--also adds a model to compare MODEL with, but there is no MODEL. Name it first.")
        return None
    models = {Path(model).name: load_system(model, None, trust)[0]}
    for text in also or ():
        name, path = opt.parse_pair(text, "--also", "a name and a model, as in challenger=new.skops")
        if name in models:
            raise UsageError(f"--also: there is already a model {name!r}. Choose another name.")
        models[name] = load_system(path, None, trust)[0]
    return models


def _parse_columns(texts: list[str] | None) -> dict[str, str] | None:
    if not texts:
        return None
    return dict(opt.parse_pair(text, "--column", "ROLE=COL, as in credit_score=fico") for text in texts)


COMMAND = CreditCommand(
    capability=get_capability(judge_models),
    model_help="A fitted model: a file, or module:object. Leave it out to train a ladder of models.",
    data_help="Loans: a CSV or Parquet file, a file of Freddie Mac (.txt), or data:NAME. The default is a synthetic book.",
    files={"verdict": "Write the verdict as an HTML page that prints on one sheet."},
)

credit = make_command(
    """Judge credit risk models: how well they rank borrowers, and whether better applicants ever get a higher risk.

    Without MODEL, logistic regression, trees, forests, networks and boosting of growing size are trained and compared, and the
    one to use is named. The exit code is 1 if MODEL is rejected, or if no trained model can be used, and 4 if
    neither, but the budget did not suffice, or the loans are too few for a verdict on MODEL.

    Examples: datamorphic credit --verdict verdict.html;
    datamorphic credit model.skops loans.csv --target default --html credit.html;
    datamorphic credit loans.csv --target status --outcome bad --promises promises.txt
    """,
    COMMAND,
)
