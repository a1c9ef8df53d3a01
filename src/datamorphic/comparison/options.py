"""`CompareOptions`: the options of `dm.compare`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import suggest_name
from .._typing import DataLike, FilePath, ModelLike
from .._validation import reject
from ..core.execute import CapabilityOptions, Execution
from ..core.groups import SEED, Inputs
from ..core.options import Option
from ..core.parsing import parse_budget
from ..errors import AmbiguousData, ArgumentError, DataError
from ..morphisms.subject import SubjectUnderTest, build_subject
from ..relations.catalogue.promises import Promises, read_promises
from ..runs.flow import Budget
from ..space.frames import join_target
from ..space.space import Space
from ..space.table_forms import to_plain_data
from .context import ComparisonContext, join_subjects, make_neutral_system, select_columns

DEFAULT_BUDGET = "1m"
MAX_ROWS = 20_000  # of the data; of more, a sample of this size is used


@dataclass(frozen=True, eq=False)
class CompareOptions(Inputs, CapabilityOptions):
    """The options of one comparison, validated."""

    OWNER: ClassVar[str] = "compare"
    POSITIONAL: ClassVar[tuple[str, ...]] = ("old", "new", "data", "target")

    old: Annotated[
        ModelLike,
        Option(
            "The model as it was: a fitted model, a function, the path of a model file, or anything else that `dm.wrap` takes.",
            stored=False,
        ),
    ]
    new: Annotated[ModelLike, Option("The model as it is now, in any of these forms.", stored=False)]
    data: Annotated[
        DataLike, Option("Real inputs that neither model was fitted to, with labels if there are any.", stored=False)
    ]
    target: Annotated[
        str | npt.ArrayLike | None,
        Option(
            "The column of `data` that holds the label, or one label per case. With labels, it is said whether a change is for "
            "the better.",
            "COL",
            help="The column of DATA that holds the label: it is then said whether a change is for the better.",
        ),
    ] = None
    _: KW_ONLY
    same: Annotated[
        bool,
        Option(
            "Whether the two must answer alike, such as a model and its export: every difference is a fault, and it is searched "
            "for beyond the rows of the data.",
            help="The two must answer alike, such as a model and its export: every difference is a fault.",
        ),
    ] = False
    reference: Annotated[
        DataLike | FilePath | None,
        Option(
            "The data that the models were trained on, as a frame or a CSV or Parquet file. The learner is then fitted to "
            "them again with other seeds, to measure how many answers change by chance.",
            "DATA",
            help="The training data, a CSV or Parquet file or data:NAME: the learner is fitted again to measure chance.",
            stored=False,
        ),
    ] = None
    promises: Annotated[
        Promises | FilePath | None,
        Option(
            "A promises file: promises that the old model keeps and the new one breaks are reported.",
            "FILE",
            stored=False,
        ),
    ] = None
    tolerance: Annotated[
        float | None,
        Option(
            "Answers that are numbers, and scores of systems that must be the same, may differ by this. By default, answers "
            "that are numbers count as changed beyond a quarter of their standard deviation, and with `same` beyond rounding.",
            "SIZE",
            above=0,
            help="Answers that are numbers may differ by this.",
            label="Ignore differences up to",
        ),
    ] = None
    budget: Annotated[
        Budget | str | float | None,
        Option(
            'The largest cost: ``"1m"``, ``"10000 runs"``; None for no limit.',
            "BUDGET",
            help='Time or model calls to spend: "1m", "30s", "10000 runs".',
            parse=parse_budget,
        ),
    ] = DEFAULT_BUDGET
    seed: Annotated[int, SEED] = 0

    def validate(self) -> None:
        """Join labels that were given apart from the data, and read the promises and the training data."""
        super().validate()
        data, target = join_target(self.data, self.target, getattr(self.space, "blocks", ()))
        promises = self.promises
        if promises is not None and not isinstance(promises, Promises):
            promises = read_promises(promises)
        self.set(data=_validate_rows(data, target), target=target, promises=promises)
        reference = None if self.reference is None else to_plain_data(self.reference)
        if reference is not None and not isinstance(reference, pd.DataFrame):
            reject("reference", self.OWNER, "a frame, or the path of a CSV or Parquet file", self.reference)
        self.set(reference=reference)

    # -- what is compared ----------------------------------------------------------------------------------------------

    def make_subject(self, execution: Execution[Any]) -> ComparisonContext:
        """Return both models with one space and the same rows."""
        notes: list[str] = []
        data: Any = self.data
        if len(data) > MAX_ROWS:
            rows = np.sort(execution.rng.permutation(len(data))[:MAX_ROWS])
            notes.append(f"A random sample of {MAX_ROWS:,} of the {len(data):,} rows was used; it depends on the seed.")
            data = data.iloc[rows].reset_index(drop=True) if isinstance(data, pd.DataFrame) else np.asarray(data)[rows]
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always", AmbiguousData)
            old = self._build_version(execution, self.old, data)
            new = self._build_version(execution, self.new, data)
            old, new = join_subjects(old, new, partial(self._build_neutral, execution, data))
        for warning in caught_warnings:
            if issubclass(warning.category, AmbiguousData):
                notes.append(str(warning.message))
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        target: Any = self.target  # the name of a column: validation has joined labels with the data
        truth = None if target is None else np.asarray(data[target].to_numpy())
        return ComparisonContext(
            old=old,
            new=new,
            inputs=old.seeds,
            frame=data if isinstance(data, pd.DataFrame) else old.seeds.frame,
            truth=truth,
            execution=execution,
            seed=self.seed,
            tolerance=self.tolerance,
            training=self.reference,  # validation has read it
            target=target,
            notes=list(dict.fromkeys([*notes, *old.notes, *new.notes])),
        )

    def _build_version(self, execution: Execution[Any], model: ModelLike, data: DataLike) -> SubjectUnderTest:
        target: Any = self.target
        return build_subject(
            model,
            data,
            target=target,
            space=self.space,
            space_options=self.hints,
            rng=execution.rng,
            owner=self.OWNER,
            timeout=execution.timeout,
            isolated=execution.is_isolated,
            trust=self.trust,
            scalar=self.scalar,
            classes=self.classes,
            name=self.name,
        )

    def _build_neutral(self, execution: Execution[Any], data: DataLike, names: list[str]) -> SubjectUnderTest:
        return build_subject(
            make_neutral_system(),
            select_columns(data, names),
            space_options=self.hints,
            rng=execution.rng,
            owner=self.OWNER,
        )

    def describe_run(self, execution: Execution[ComparisonContext]) -> dict[str, Any]:
        """Return the names of the systems and the request, with both models and the inputs to compare."""
        context = execution.subject
        return {
            "system": f"{context.old.name} -> {context.new.name}",
            "parameters": self.to_request(),
            "model": {"old": self.old, "new": self.new},
            "seeds": context.inputs,
        }


def _validate_rows(data: Any, target: str | None) -> Any:
    if isinstance(data, pd.DataFrame):
        names: Sequence[str] = [str(name) for name in data.columns]
        if target is not None and target not in names:
            raise DataError(f"The target column {target!r} is not in the data. {suggest_name(target, names)}")
        data = data.reset_index(drop=True)
    elif target is not None:
        raise ArgumentError(f"The target {target!r} names a column, but the data are not a frame. Leave it out.")
    if data is None or isinstance(data, Space) or not hasattr(data, "__len__"):
        reject("data", "compare", "real inputs: a frame, a file or an array", data)
    if not len(data):
        raise DataError("The data have no rows. Give real inputs to compare the answers to.")
    return data
