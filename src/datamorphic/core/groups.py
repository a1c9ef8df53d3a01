"""Groups of options that capabilities share: how inputs are read, how work is done, and where runs are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from .._text import to_jsonable
from .._typing import EngineLike, SeedLike, StoreLike
from .._validation import validate_timeout
from ..runs.flow import Budget
from ..space.options import SpaceOptions
from ..space.space import Space
from ..systems.wrap import to_classes
from .options import COLUMNS_PANEL, COMPUTING_PANEL, Option, Options
from .parsing import parse_bounds, parse_budget, parse_classes, parse_kinds, parse_orders, parse_steps

SpaceOption = Annotated[
    Space | None,
    Option(
        "The space of the inputs, instead of one inferred from `data`.",
        "FILE",
        help="A TOML, YAML or JSON file that describes the inputs: kinds, bounds, steps, categories and constraints. What it "
        "does not say is inferred from the data.",
        panel=COLUMNS_PANEL,
        stored=False,
    ),
]

TRUST = Option(
    "Whether to load pickles, and skops files with unknown types. Loading them can run any code.",
    help="Load pickles, and skops files with unknown types. Loading them can run any code.",
    stored=False,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnHints(Options):
    """How the columns of data are read."""

    space: SpaceOption = None
    kinds: Annotated[
        Mapping[str, str] | None,
        Option(
            'Columns to read as another kind, such as ``{"age": "integer"}``: continuous, integer, categorical or text.',
            "COL=KIND",
            flag="kind",
            help="Read a column as continuous, integer, categorical or text, e.g. age=integer. Repeatable.",
            parse=parse_kinds,
            repeatable=True,
            panel=COLUMNS_PANEL,
        ),
    ] = None
    column_steps: Annotated[
        Mapping[str, float] | None,
        Option(
            'The smallest changes of columns, such as ``{"age": 3}``.',
            "COL=STEP",
            flag="column-step",
            help="The smallest change of a column, e.g. age=3. Repeatable.",
            parse=parse_steps,
            repeatable=True,
            panel=COLUMNS_PANEL,
            former_names=("steps", "feature_steps"),
            former_flag="feature-step",
        ),
    ] = None
    bounds: Annotated[
        Mapping[str, tuple[float | None, float | None]] | None,
        Option(
            'The ranges of columns, such as ``{"age": (20, 80)}``; None for an open end.',
            "COL=LOW:HIGH",
            help="The range of a column, e.g. age=20:80; age=20: has no upper limit. Repeatable.",
            parse=parse_bounds,
            repeatable=True,
            panel=COLUMNS_PANEL,
        ),
    ] = None
    orders: Annotated[
        Mapping[str, Sequence[Any]] | None,
        Option(
            'The categories of columns in their order, such as ``{"card": ["Blue", "Gold"]}``.',
            "COL=A,B,...",
            flag="order",
            help="The categories of a column in their order, e.g. card=Blue,Gold. Repeatable.",
            parse=parse_orders,
            repeatable=True,
            panel=COLUMNS_PANEL,
        ),
    ] = None

    @property
    def hints(self) -> SpaceOptions:
        """The hints for inferring the space from data."""
        return SpaceOptions(kinds=self.kinds, steps=self.column_steps, bounds=self.bounds, orders=self.orders)

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options; hints for columns are one entry."""
        request = super().to_request()
        for name in ("kinds", "column_steps", "bounds", "orders"):
            request.pop(name)
        return request | {"space_hints": to_jsonable(self.hints.to_dict()) or None}

    def validate(self) -> None:
        """Raise `ArgumentError` if there are hints although the space is given."""
        super().validate()
        self.hints.validate_alone(self.OWNER, self.space)


@dataclass(frozen=True, eq=False, kw_only=True)
class Inputs(ColumnHints):
    """How the system under test and its data are read."""

    classes: Annotated[
        Sequence[Any] | None,
        Option(
            "The names of the classes, in the order of the probabilities, scores or codes that the system answers.",
            "A,B,...",
            help="The names of the classes, in the order of the scores that MODEL answers, e.g. no,yes.",
            parse=parse_classes,
        ),
    ] = None
    trust: Annotated[bool, TRUST] = False
    scalar: Annotated[
        bool,
        Option(
            "Whether the model is a function of one case: its features by name, or one dict.",
            help="MODEL is a function of one case: its features by name, or one dict.",
            stored=False,
        ),
    ] = False
    name: Annotated[
        str | None,
        Option(
            "What reports call the system. The default is its own name.",
            "TEXT",
            help="What reports call the system under test. The default is its own name.",
            stored=False,
        ),
    ] = None

    def validate(self) -> None:
        """Read the names of the classes."""
        super().validate()
        self.set(classes=to_classes(self.classes, self.OWNER))


SEED = Option(
    "The seed of the random numbers. The same seed gives the same result.",
    "N",
    low=0,
    value_type=int,
    help="Seed of the random numbers. The same seed gives the same result.",
    stored=False,  # a run has it anyway
    label="Random seed",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Keeping(Options):
    """Where the random numbers come from, and where the run is kept: what every capability has."""

    seed: Annotated[SeedLike, SEED] = 0
    store: Annotated[
        StoreLike,
        Option(
            'The run store that keeps the run, so that it can be resumed: ``"runs.sqlite"``, ``"postgresql://..."``.',
            on_command_line=False,
            stored=False,
        ),
    ] = None
    resume: Annotated[
        int | None,
        Option(
            "The number of the stored run to resume. The other arguments must be the same as when it began.",
            on_command_line=False,
            stored=False,
        ),
    ] = None
    progress: Annotated[
        bool | None,
        Option(
            "Whether to show progress on stderr; by default if stderr is a terminal.",
            on_command_line=False,
            stored=False,
        ),
    ] = None

    # what a capability that queries nothing does not have

    @property
    def timeout(self) -> float | None:
        """The seconds that a row may take."""
        return None

    @property
    def batch(self) -> int | None:
        """The number of rows per model call."""
        return None

    @property
    def engine(self) -> EngineLike:
        """What runs the model."""
        return None

    @property
    def limits(self) -> Budget:
        """The budget, parsed."""
        return Budget()


@dataclass(frozen=True, eq=False, kw_only=True)
class Computing(Keeping):
    """Where the work is done, and how much of it: what every capability has that asks processes or systems for answers."""

    budget: Annotated[
        Budget | str | float | None,
        Option(
            'The time or the model calls to spend: ``"1m"``, ``"10000 runs"``. When it is spent, what was found until then '
            "is returned.",
            "BUDGET",
            help='Time or model calls to spend: "1m", "30s", "10000 runs".',
            parse=parse_budget,
        ),
    ] = None
    timeout: Annotated[
        float | None,
        Option(
            "The number of seconds after which a row without an answer counts as hanging.",
            "SECONDS",
            help="Seconds to wait for an answer before it counts as hanging.",
        ),
    ] = None
    engine: Annotated[
        EngineLike,
        Option(
            'What runs the model: this process by default, ``"processes:2"``, ``"threads:2"`` or ``"dask://host:port"``. The '
            "same seed gives the same result on each of them.",
            on_command_line=False,
            stored=False,
        ),
    ] = None

    def validate(self) -> None:
        """Raise `ArgumentError` for budgets and time-outs that mean nothing."""
        super().validate()
        self.set(budget=Budget.parse(self.budget))
        if self.timeout is not None:
            validate_timeout("timeout", self.OWNER, self.timeout)

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options; of a budget, the limits that it has."""
        limits = {name: limit for name, limit in vars(self.limits).items() if limit is not None}
        return super().to_request() | {"budget": limits or None}

    @property
    def limits(self) -> Budget:
        """The budget, parsed."""
        return Budget.parse(self.budget)


@dataclass(frozen=True, eq=False, kw_only=True)
class Running(Computing):
    """How the work is done, and where its run is kept: what every capability has that queries a system with rows."""

    batch: Annotated[
        int | None,
        Option(
            "The number of rows per model call; 10,000 for most systems by default. Use fewer for slow systems: more workers can "
            "share the rows, and a resumed run repeats fewer of them.",
            "N",
            low=1,
            help="Rows per model call. Use fewer for slow systems with many workers.",
            panel=COMPUTING_PANEL,
        ),
    ] = None
