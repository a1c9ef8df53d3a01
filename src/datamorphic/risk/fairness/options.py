"""`FairnessOptions`: the options of `dm.fairness`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, ClassVar, cast

from ..._lazy import pd
from ..._text import suggest_name
from ..._typing import DataLike, FilePath
from ..._validation import reject
from ...core.execute import Execution
from ...core.groups import SEED
from ...core.options import Option
from ...errors import AmbiguousData, ArgumentError, DataError
from ...morphisms.model_options import ModelOptions
from ...morphisms.subject import SubjectUnderTest
from ...relations.catalogue.promises import Promises, read_promises
from ...space.labels import to_label_key

NAMES, SHARE = "the names of columns", "a share from 0 to below 1"


@dataclass(frozen=True, eq=False)
class FairnessOptions(ModelOptions):
    """The options of one examination of fairness, validated."""

    OWNER: ClassVar[str] = "fairness"

    data: Annotated[
        DataLike,
        Option(
            "People, one row each, with the inputs of the model. Protected columns need not be inputs.", stored=False
        ),
    ]
    protected: Annotated[
        Sequence[str] | str,
        Option("A protected column, such as gender. It need not be an input.", "COL", repeatable=True, expected=NAMES),
    ] = ()
    target: Annotated[
        str | None,
        Option("The column of the data that holds the true label: wrong decisions are then counted by group.", "COL"),
    ] = None
    _: KW_ONLY
    outcome: Annotated[
        object, Option("The decision that is counted. The default is the second of two classes.", "CLASS")
    ] = None
    promises: Annotated[
        Promises | FilePath | None,
        Option("A promises file. Its protected columns and its outcome are used.", "FILE", stored=False),
    ] = None
    cutoff: Annotated[
        float | None,
        Option(
            "The smallest probability of the outcome (or number) that leads to the decision, instead of the model's own "
            "answer, e.g. 0.1.",
            "P",
        ),
    ] = None
    combinations: Annotated[
        int, Option("The largest number of protected columns to look at together.", "N", low=1, high=3)
    ] = 2
    threshold: Annotated[
        float,
        Option(
            "The share of people whose decision may depend on a protected column. Above it, a dependence is a fault.",
            "SHARE",
            low=0,
            below=1,
            expected=SHARE,
        ),
    ] = 0.01
    min_effect: Annotated[
        float,
        Option(
            "The smallest effect of a combination or a stand-in that is reported, as a share of people (for answers that "
            "are numbers, of their standard deviation).",
            "SHARE",
            low=0,
            below=1,
            expected=SHARE,
        ),
    ] = 0.02
    seed: Annotated[int, SEED] = 0
    rows: Annotated[int, Option("The largest number of people to look at. More are sampled.", "N", low=50)] = 2_000

    def validate(self) -> None:
        """Read the promises, and raise if no column is protected or the options contradict each other."""
        super().validate()
        names = (self.protected,) if isinstance(self.protected, str) else tuple(self.protected)
        if not all(isinstance(name, str) for name in names):
            reject("protected", self.OWNER, NAMES, self.protected)
        promises = self.promises
        if promises is not None and not isinstance(promises, Promises):
            promises = read_promises(promises)
        protected = tuple(dict.fromkeys([*names, *(promises.protected if promises is not None else ())]))
        self.set(promises=promises, protected=protected)
        if not protected:
            raise ArgumentError('No protected column is named. Give at least one: protected=["gender"].')
        if self.target in protected:
            raise DataError(f"{self.target!r} is the target, so it cannot be a protected column. Name another column.")
        if promises is not None and promises.outcome is not None:
            if self.outcome is not None and to_label_key(self.outcome) != to_label_key(promises.outcome):
                raise ArgumentError(
                    f"The outcome is {self.outcome!r}, but the promises are about {promises.outcome!r}. Name one class."
                )
            self.set(outcome=promises.outcome)
        self.set(data=_validate_people(self.data, protected))

    @property
    def people(self) -> pd.DataFrame:
        """The data, which are a frame."""
        return cast("pd.DataFrame", self.data)

    def make_subject(self, execution: Execution[Any]) -> SubjectUnderTest:
        """Return the model with the people; remarks on ambiguous columns become notes."""
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always", AmbiguousData)
            subject = self.build_subject(execution, self.data, self.target)
        notes = []
        for warning in caught_warnings:
            if issubclass(warning.category, AmbiguousData):
                notes.append(str(warning.message))
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        return replace(subject, notes=[*notes, *subject.notes])


def _validate_people(data: Any, protected: Sequence[str]) -> Any:
    if not isinstance(data, pd.DataFrame):
        raise DataError("The data must be a DataFrame with one person per row, so that protected columns have names.")
    names = [str(name) for name in data.columns]
    for name in protected:
        if name not in names:
            raise DataError(f"The protected column {name!r} is not in the data. {suggest_name(name, names)}")
    if not len(data):
        raise DataError("The data have no rows. Give the people that the model decides about.")
    return data.reset_index(drop=True)
