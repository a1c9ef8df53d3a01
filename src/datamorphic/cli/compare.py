"""The command ``datamorphic compare``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from ..comparison.run import compare as run_compare
from ..core.capability import get_capability
from ..errors import UsageError
from ..runs.progress import TimedProgress
from . import options as opt
from .command import DATA_ARGUMENT, CapabilityCommand, make_command
from .load import load_data, load_space, load_system, to_absolute_path


@dataclass(frozen=True, kw_only=True)
class CompareCommand(CapabilityCommand):
    """Comparing, which has two models."""

    argument_names: tuple[str, ...] = ("old", "new", "data")

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return both models and the data."""
        return [
            ("old", Annotated[str | None, opt.argument("OLD", "The model as it was: a file, or module:object.")], None),
            (
                "new",
                Annotated[str | None, opt.argument("NEW", "The model as it is now: a file, or module:object.")],
                None,
            ),
            (DATA_ARGUMENT, Annotated[str | None, opt.argument("DATA", self.data_help)], None),
            ("data", opt.Data, None),
        ]

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return what is compared, and the training data, so that they mean the same in another folder."""
        given_data, other_data = values.pop(DATA_ARGUMENT), values.pop("data")
        if given_data is not None and other_data is not None:
            raise UsageError("The data are given twice, as an argument and with --data. Leave one out.")
        return {
            "old": to_absolute_path(values.pop("old")),
            "new": to_absolute_path(values.pop("new")),
            "data": to_absolute_path(given_data or other_data),
            "reference": to_absolute_path(values.pop("reference")),
        }

    def list_models(self, words: Mapping[str, Any]) -> list[str]:
        """Return the names of both models."""
        return [str(words[name]) for name in ("old", "new") if words.get(name) is not None]

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return both models, the data and the training data."""
        if any(words.get(name) is None for name in ("old", "new", "data")):
            raise UsageError(f"OLD, NEW and DATA are needed: two models, and real inputs. {self.data_help}")
        with TimedProgress("loading the models and the data"):
            old, options = load_system(words["old"], None, trust)
            new, other_options = load_system(words["new"], None, trust)
            frame = load_data(words["data"])
            space = load_space(words.get("space"), frame, words.get("target"), old, options)
            reference = words.get("reference")
            return {
                "old": old,
                "new": new,
                "data": frame,
                "space": space,
                "reference": None if reference is None else load_data(reference),
                **options,
                **other_options,
            }


COMMAND = CompareCommand(
    capability=get_capability(run_compare),
    data_help="Real inputs that neither model was fitted to: a CSV or Parquet file, or data:NAME.",
    files={"markdown": "Write Markdown for a pull request."},
)

compare = make_command(
    """Compare two models: what changed, for whom, and is it more than chance?

    Which rows get another answer, in which group are they, and is it for the better or the worse? Training the same model again
    with another seed is advice. The exit code is 1 if a group changed more than that explains, and is not better for it, or
    if the new model is worse. With --same, the two must answer alike, and every difference is a fault.

    Examples: datamorphic compare old.skops new.skops customers.csv --target churned --html comparison.html;
    datamorphic compare old.skops new.skops customers.csv --target churned --reference training.csv;
    datamorphic compare model.skops model.onnx customers.csv --same
    """,
    COMMAND,
)
