"""The options of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from .._typing import DataLike
from ..core.execute import Execution, KeptOptions
from ..core.groups import SEED, Computing
from ..core.options import Option
from ..core.parsing import parse_budget
from ..errors import ArgumentError
from ..runs.flow import Budget

if TYPE_CHECKING:
    from .plan import StudyPlan
    from .tree_experiment import ExperimentPlan

OWN_DATA_STUDY = "trees"  # the one that can be made with data of the user


#: the known causes of differences: the switches of `causes`, which takes a second to import
CAUSES = (
    *("first_step", "random_target", "growing_pool", "swapped_rows", "kept_direction", "swapped_and_kept"),
    *("published_system", "wide_points"),
)


@dataclass(frozen=True, eq=False)
class StudyOptions(KeptOptions, Computing):
    """The options of `study`, validated."""

    OWNER: ClassVar[str] = "study"
    POSITIONAL: ClassVar[tuple[str, ...]] = ("name", "scale", "seed", "progress")

    name: Annotated[
        str,
        Option(
            'A table such as ``"000-12"``, one of the groups (see `list_studies`), or ``"all"`` for all studies, each table once. '
            "What several studies need is measured once, and a study that fails does not stop the others."
        ),
    ]
    scale: Annotated[
        str,
        Option(
            'How much is measured: ``"small"`` takes a minute or two (all studies: less than half an hour on two cores), '
            '``"medium"`` repeats until most intervals are narrower than a tenth of the figure and takes hours, ``"full"`` is as '
            'published and may take days, ``"tiny"`` only shows that it works. A medium or full study first prints an estimate of '
            "its duration, unless `progress` is False.",
            "SCALE",
            choices=("tiny", "small", "medium", "full"),
            help="small takes minutes; medium has narrow intervals and takes hours; full is as published; tiny only shows that it works.",
        ),
    ] = "small"
    _: KW_ONLY
    cause: Annotated[
        str,
        Option(
            "A known cause of differences, with which figures are measured once more beside the study as it is described. "
            "``datamorphic study --list`` says what each cause changes.",
            "CAUSE",
            choices=("all", "none", *CAUSES),
            help="A known cause of differences to switch on beside the study as described; all by default.",
        ),
    ] = "all"
    data: Annotated[
        DataLike | Mapping[str, Any] | None,
        Option(
            'Rows of your own, or several data sets by their names: the study ``"trees"`` then makes the experiment of Silveira et '
            "al. (2025) with them. Inputs are numbers, without missing values.",
            stored=False,
        ),
    ] = None
    target: Annotated[
        str | None, Option("With `data`: the column of the label.", "COL", help="With DATA: the column of the label.")
    ] = None
    budget: Annotated[
        Budget | str | float | None,
        Option(
            'The time or the measurements to spend: ``"1h"``, ``"100 runs"``. When it is spent, figures that were not measured '
            "until then are missing.",
            "BUDGET",
            help='Time or measurements to spend: "1h", "30s", "100 runs".',
            parse=parse_budget,
        ),
    ] = None
    timeout: Annotated[
        float | None,
        Option(
            "Seconds that a measurement may take. The figures of one that takes longer are missing.",
            "SECONDS",
            help="Seconds per measurement.",
        ),
    ] = None
    seed: Annotated[int, SEED] = 0

    def validate(self) -> None:
        """Raise `ArgumentError` if data and target are not given together, for the study that takes them."""
        super().validate()
        if self.data is None and self.target is not None:
            raise ArgumentError(
                f"target={self.target!r} names a column, but there is no data. Give data, or leave target out."
            )
        if self.data is not None and self.name != OWN_DATA_STUDY:
            raise ArgumentError(
                f"The study {self.name!r} has data of its own. Data of yours are for the study {OWN_DATA_STUDY!r}; for any other, "
                "leave them out."
            )
        if self.data is not None and self.target is None:
            raise ArgumentError("The data need a label. Name its column: target=... (--target COL).")

    def make_subject(self, execution: Execution[Any]) -> StudyPlan | ExperimentPlan:
        """Return what has to be measured."""
        if self.data is not None:
            from .tree_data_sets import read_data_sets
            from .tree_experiment import ExperimentPlan

            return ExperimentPlan(read_data_sets(self.data, str(self.target)), str(self.target), self.scale, self.seed)
        from .plan import StudyPlan  # importing all studies takes a second, which a help text does not need

        return StudyPlan(self.name, self.scale, self.seed, self.cause)

    def describe_run(self, execution: Execution[Any]) -> dict[str, Any]:
        """Return the settings, and the data if they are the user's."""
        seeds = None if self.data is None else execution.subject.fingerprints
        return {"system": self.name, "parameters": self.to_request(), "model": None, "seeds": seeds}
