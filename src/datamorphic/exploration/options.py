"""The options of `explore` and `plan`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar

import numpy.typing as npt

from .._estimates import LIMIT_TIME, refuse_too_large
from .._typing import DataLike
from ..core.execute import Execution
from ..core.groups import Running
from ..core.options import Option, list_fields
from ..core.parsing import parse_names
from ..errors import ArgumentError
from ..morphisms.model_options import ModelDataOptions
from ..morphisms.subject import SubjectUnderTest
from ..space.frames import join_target
from .borders import Border, Hierarchy, Jump, MultiLabel, Threshold
from .explorers import EXPLORERS
from .refinement import REFINEMENT_METHODS, UNLIMITED_HALVINGS

STRATEGIES = (*EXPLORERS, "auto")
POOLS = ("fixed", "growing")
VIEWS = ("auto", "pca", "parallel", "tsne", "umap")  # of a front
LABEL_BORDERS = {"plain": Border, "hierarchy": Hierarchy, "multi": MultiLabel}
DEFAULT_HALVINGS = 20
MAX_SEED_CASES = 20_000  # drawn from larger data, unless `seeds` or the number of walks asks for more
#: options that a front tells in other words: its strategy, and which kind of border it has at which value
SETTINGS_BESIDE_OPTIONS = {"strategy", "threshold", "jump", "labels"}
BYTES_PER_WALK = 48  # a front has the number of its runs and its two starts, and is joined from waves
SECONDS_PER_STEP = 1e-4  # of a single walk; 4e-4 were measured with the fastest of systems, which answers a constant
BYTES_PER_TRIAL_STEP = 32  # a plan has four numbers per distance and strategy
MIN_TRIAL_WALKS, MAX_TRIAL_WALKS, TRIAL_DIVISOR = (40, 1000, 10)  # default: a tenth of the planned walks, 40 to 1,000


def parse_moves(text: str) -> list[str]:
    """Return the names of moves from ``upward,downward``."""
    return parse_names(text, "--moves")


@dataclass(frozen=True, eq=False)
class WalkOptions(Running):
    """How the space is walked, and what a border is: what scripts, audits and plans need of an exploration."""

    OWNER: ClassVar[str] = "explore"

    strategy: Annotated[
        str,
        Option(
            '``"random_walk"`` draws a move at each step. ``"random_target"`` draws two inputs and searches between them. '
            '``"directed_walk"`` repeats the same move, each of `moves` in turn. ``"auto"`` uses all three, with more walks for '
            'those that find more new border (Zhu & Bayley 2022), but not ``"random_target"`` if `moves` are named.',
            "NAME",
            choices=STRATEGIES,
            help="auto, random_walk, random_target or directed_walk.",
        ),
    ] = "auto"
    walks: Annotated[int, Option("The number of walks.", "N", low=0)] = 1000
    max_halvings: Annotated[
        int | None,
        Option(
            "How often a pair is halved at most: 20 times by default, or as often as `delta` takes.",
            "N",
            low=0,
            help="How often to halve a pair. The default is 20, or as often as --delta needs.",
            stored_as="steps",
            label="Halvings of a pair",
            former_names=("steps",),
            former_flag="steps",
        ),
    ] = None
    walk_distance: Annotated[
        int, Option("The largest number of steps per walk.", "N", low=1, label="Steps per walk, at most")
    ] = 20
    delta: Annotated[
        float | None,
        Option(
            "The distance at which a pair is near enough and is not halved again.",
            "DISTANCE",
            above=0,
            label="Stop halving at distance",
        ),
    ] = None
    moves: Annotated[
        Iterable[str] | None,
        Option(
            'The names of the moves to use (``"up_age"``, or ``"age"`` for both directions); all by default.',
            "MOVES",
            help="The moves to use, separated by commas, e.g. upward,downward.",
            parse=parse_moves,
        ),
    ] = None
    refine: Annotated[
        str,
        Option(
            'How pairs are narrowed: by halving (``"bisect"``), guided by the scores of the system, by 15 points at once (for few '
            'pairs and slow calls), or, with ``"auto"``, by scores where they help.',
            "METHOD",
            choices=REFINEMENT_METHODS,
            label="Narrowing",
            help="How to narrow a pair: auto, bisect, score or multisection.",
        ),
    ] = "auto"
    pool: Annotated[
        str,
        Option(
            "Whether later walks may also start from border pairs that earlier ones found.",
            "KIND",
            choices=POOLS,
            help="fixed, or growing: later walks may also start from border pairs.",
        ),
    ] = "fixed"
    _: KW_ONLY
    threshold: Annotated[
        float | None,
        Option(
            "For answers that are numbers: the value whose crossing is a border. The default is the median of the first "
            "answers; set it if fronts are to be compared.",
            "VALUE",
        ),
    ] = None
    jump: Annotated[
        float | None,
        Option("For answers that are numbers: the difference between neighbours that is a border.", "VALUE"),
    ] = None
    labels: Annotated[
        str,
        Option(
            'How labels are compared: as plain labels, as paths such as "a/b/c", or as several labels at once.',
            "KIND",
            choices=("auto", *LABEL_BORDERS),
            help="How to read labels: auto, plain, hierarchy or multi.",
        ),
    ] = "auto"

    def validate(self) -> None:
        """Raise `ArgumentError` for options that contradict each other, and for walks that no machine could make."""
        super().validate()
        if self.strategy == "auto" and self.pool == "growing":
            raise ArgumentError(
                "strategy='auto' runs several strategies on one pool, which cannot grow. Name one strategy, or use "
                "pool='fixed'."
            )
        self._refuse_too_large()
        self.set(moves=None if self.moves is None else list(self.moves))
        self.make_border()

    @property
    def walk_parameter(self) -> dict[str, int]:
        """The parameter that says how many walks are made, and how many these are."""
        return {"walks": self.walks}

    def _refuse_too_large(self) -> None:
        if self.limits.seconds is not None:
            return
        (walks,), distance, runs = self.walk_parameter.values(), self.walk_distance, self.limits.runs or sys.maxsize
        refuse_too_large(self.OWNER, self.walk_parameter, memory=BYTES_PER_WALK * min(walks, runs), remedy=LIMIT_TIME)
        refuse_too_large(
            self.OWNER,
            {"walk_distance": distance},
            seconds=SECONDS_PER_STEP * min(distance, runs),
            memory=BYTES_PER_TRIAL_STEP * distance if self.OWNER == "plan" else 0,
            remedy=LIMIT_TIME,
        )

    @property
    def halvings(self) -> int:
        """The maximum number of halvings per pair."""
        if self.max_halvings is not None:
            return min(self.max_halvings, UNLIMITED_HALVINGS)
        return UNLIMITED_HALVINGS if self.delta else DEFAULT_HALVINGS

    @property
    def max_seed_cases(self) -> int:
        """The most rows of the data that are seed cases by default: enough for two per walk."""
        return max(MAX_SEED_CASES, 2 * self.walks)

    @property
    def move_names(self) -> list[str] | None:
        """The moves to use; None for all."""
        return None if self.moves is None else list(self.moves)

    def make_border(self) -> Border | None:
        """Return a new border of the requested kind; None if the answers decide on it."""
        if (self.threshold is not None) + (self.jump is not None) + (self.labels != "auto") > 1:
            raise ArgumentError("threshold=, jump= and labels= each define the border. Give only one of them.")
        if self.threshold is not None:
            return Threshold(self.threshold)
        if self.jump is not None:
            return Jump(self.jump)
        return LABEL_BORDERS[self.labels]() if self.labels in LABEL_BORDERS else None

    def to_settings(self) -> dict[str, Any]:
        """Return the options that a front lists in its settings."""
        names = WalkOptions.__annotations__.keys() - SETTINGS_BESIDE_OPTIONS
        keys = (field.option.stored_as or field.name for field in list_fields(WalkOptions) if field.name in names)
        request = self.to_request()
        return {key: request[key] for key in keys}

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options."""
        return super().to_request() | {"steps": self.halvings}


@dataclass(frozen=True, eq=False)
class ExploreOptions(WalkOptions, ModelDataOptions):
    """The options of `dm.explore`, validated."""

    seeds: Annotated[
        DataLike | int | None,
        Option(
            "The seed cases, or how many to draw. By default all rows of `data`, or 200 of a test system. Of more than 20,000 "
            "rows, 20,000 are drawn, or two per walk if that is more: memory does not depend on the number of rows.",
            "N",
            help="Number of inputs to start from. The default is all of DATA.",
            value_type=int,
            stored=False,  # their number is
            label="Inputs to start from",
        ),
    ] = None
    _: KW_ONLY
    target: Annotated[
        str | npt.ArrayLike | None,
        Option(
            "The column of `data` that holds the label, which is not an input, or one label per case.",
            "COL",
            help="The column of DATA that holds the label.",
        ),
    ] = None

    def validate(self) -> None:
        """Join labels that were given apart from the data, and validate the other options."""
        super().validate()
        data, target = join_target(self.data, self.target, getattr(self.space, "blocks", ()))
        self.set(data=data, target=target)

    def make_subject(self, execution: Execution[Any]) -> SubjectUnderTest:
        """Return the system with its moves and seed cases."""
        target: Any = self.target  # the name of a column: validation has joined labels with the data
        return self.build_subject(execution, self.data, target, seeds=self.seeds, max_rows=self.max_seed_cases)

    def describe_run(self, execution: Execution[SubjectUnderTest]) -> dict[str, Any]:
        """Return what a run store keeps; of the seed cases, their number."""
        facts = super().describe_run(execution)
        return facts | {"parameters": facts["parameters"] | {"seeds": len(execution.subject.seeds)}}


@dataclass(frozen=True, eq=False)
class PlanOptions(ExploreOptions):
    """The options of `dm.plan`, validated."""

    OWNER: ClassVar[str] = "plan"
    POSITIONAL: ClassVar[tuple[str, ...]] = ("model", "data", "walks")

    _: KW_ONLY
    strategy: Annotated[
        str,
        Option(
            'The strategy to plan. With ``"auto"`` all are tried, and one is recommended.', "NAME", choices=STRATEGIES
        ),
    ] = "auto"
    trial: Annotated[
        int | None,
        Option(
            "The number of walks per strategy in the trial; by default a tenth of `walks`, 40 to 1,000. Strategies that are clearly "
            "worse make fewer, and those between which the choice is close make up to four times as many.",
            "N",
            low=10,
            help="With --plan: number of walks of the trial.",
        ),
    ] = None

    @property
    def walk_parameter(self) -> dict[str, int]:
        """The parameter that says how many walks are made, and how many these are."""
        return {"trial": self.trial_walks}

    @property
    def planned_walks(self) -> int:
        """`walks`, or as many as a floating-point number can still be multiplied by."""
        return min(self.walks, sys.maxsize)

    @property
    def trial_walks(self) -> int:
        """The number of walks per strategy in the trial."""
        if self.trial is not None:
            return self.trial
        return min(MAX_TRIAL_WALKS, max(MIN_TRIAL_WALKS, self.walks // TRIAL_DIVISOR))
