"""`Front`: the pairs of nearly equal cases with different answers that an exploration found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._stats import compute_wilson_interval
from .._text import pluralize
from .._validation import is_number, reject, validate_integer
from ..runs.driver import CallCounter
from ..space.features import Codes
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from ..systems.wrap import wrap

if TYPE_CHECKING:
    import pandas as pd

    from .augment import Augmentation
    from .diff.diff import Difference

MAX_PLAUSIBILITY_DISTANCES = (
    1_000_000_000  # computed for the plausibility of mixed data; beyond, some pairs go without
)


@dataclass(frozen=True)
class FrontEstimate:
    """What a number of walks can be expected to find and to cost."""

    walks: int
    pairs: float
    runs: float
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Front:
    """Pairs of cases on either side of a border, and what finding them cost.

    Made by `dm.explore` and `Front.load`.

    Attributes
    ----------
    a, b : Points
        The two cases of each pair; `pairs` shows them as a frame.
    a_output, b_output : ndarray
        What the system answered to them.
    kinds : list of str
        The two classes that meet at each pair, ``"blue | red"``.
    distance : ndarray
        How far the two are apart.
    part : ndarray
        Which of several labels a pair is about; 0 where there is one.
    walk, pair_runs, walk_runs : ndarray
        The walk that found each pair, how many cases narrowing it took, and how many each walk made.
    walks, runs, calls, seconds
        Walks made; test cases executed, each once; rows the system computed; time, which a file does not keep.
    seeds : Points
        The cases the walks could start from.
    lost : int
        Walks that ended because the system gave no answer.
    exhausted : bool
        Whether the budget ended the search.
    choices : list of dict
        What ``strategy="auto"`` decided, round by round.
    notes : list of str
        What else is worth knowing.
    settings : dict
        How the exploration was called.
    seed_answers : Outputs, optional
        What the system answered to some of the seeds, evenly chosen, as a file keeps it.
    """

    subject: str
    strategy: str
    a: Points
    b: Points
    a_output: npt.NDArray[Any]
    b_output: npt.NDArray[Any]
    kinds: Sequence[str]
    distance: Codes
    part: npt.NDArray[np.intp]
    walk: npt.NDArray[np.intp]
    pair_runs: npt.NDArray[np.intp]
    walked_by: npt.NDArray[Any]
    walk_runs: npt.NDArray[np.intp]
    seeds: Points
    seeds_used: int
    calls: int
    seconds: float
    lost: int = 0
    slopes: int = 0
    unfinished: int = 0
    exhausted: bool = False
    choices: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    tally: CallCounter = field(default_factory=CallCounter)
    sut: Executor | None = None
    seed_answers: Outputs | None = None

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        return (
            f"Front({self.subject}, {self.strategy}: {pluralize(len(self), 'pair')} from {pluralize(self.walks, 'walk')}, "
            f"{self.runs:,} runs)"
        )

    @property
    def space(self) -> Space:
        """The space of the cases."""
        return self.a.space

    @property
    def incidents(self) -> pd.DataFrame:
        """The inputs that got no proper answer, with what went wrong."""
        return self.tally.incidents

    # -- what was found -----------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """One row a pair: a.<feature>, b.<feature>, a_output, b_output, distance, and how it was found."""
        import pandas as pd

        a, b = self.a.frame.add_prefix("a."), self.b.frame.add_prefix("b.")
        rest = pd.DataFrame(
            {
                "a_output": self.a_output,
                "b_output": self.b_output,
                "distance": self.distance,
                "plausibility": self.plausibility,
                "border": self.borders,
                "walk": self.walk,
                "strategy": self.walked_by,
            }
        )
        return pd.concat([a, b, rest], axis=1)

    @cached_property
    def plausibility(self) -> Codes:
        """How far each pair is from the nearest real row, numbers divided by their ranges; 0 is a real row.

        NaN for some pairs where that would take more than a thousand million distances.
        """
        from ..space.neighbours import find_nearest

        distances = np.full(len(self), np.nan)
        rows = self.measured
        codes, inverse = np.unique(self.a.codes[rows], axis=0, return_inverse=True)
        distances[rows] = find_nearest(self.space, codes, self.seeds.codes)[0][inverse.ravel(), 0]
        return distances

    @property
    def measured(self) -> npt.NDArray[np.intp]:
        """The numbers of the pairs whose plausibility is known: all, or as many as can be, evenly chosen."""
        from ._utils import thin_rows

        all_pairs = self.space.smooth or len(self) * len(self.seeds) <= MAX_PLAUSIBILITY_DISTANCES
        return thin_rows(len(self), len(self) if all_pairs else MAX_PLAUSIBILITY_DISTANCES // len(self.seeds))

    @property
    def walks(self) -> int:
        """How many walks were made to their end."""
        return len(self.walk_runs) - self.unfinished

    @property
    def mutants(self) -> int:
        """How many new test cases the pairs are: two each."""
        return 2 * len(self)

    @property
    def runs(self) -> int:
        """How many test cases were executed, each once: seeds when first used, and every one that was made."""
        return self.seeds_used + int(self.walk_runs.sum())

    @property
    def capability(self) -> float:
        """The share of walks that found a pair."""
        return len(np.unique(self.walk)) / self.walks if self.walks else 0.0

    @property
    def cost(self) -> float:
        """Runs a mutant; infinite without a pair."""
        return self.runs / self.mutants if len(self) else math.inf

    def capability_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Wilson's interval of the capability."""
        _validate_confidence(confidence, "Front.capability_interval")
        return compute_wilson_interval(len(np.unique(self.walk)), self.walks, confidence)

    def cost_interval(self, confidence: float = 0.95, samples: int = 2000, seed: int = 0) -> tuple[float, float]:
        """Return the bootstrap interval of the cost: the walks drawn anew, the seeds once."""
        _validate_confidence(confidence, "Front.cost_interval")
        validate_integer("samples", "Front.cost_interval", samples, low=1)
        if not len(self):
            return math.inf, math.inf
        walk_count = len(self.walk_runs)
        pairs_per_walk = np.bincount(self.walk, minlength=walk_count)
        # walks with as many runs and pairs are alike: drawing kinds of walks is drawing walks
        walk_types, counts = np.unique(
            np.column_stack([self.walk_runs, pairs_per_walk]), axis=0, return_counts=True
        )
        draws = np.random.default_rng(seed).multinomial(walk_count, counts / walk_count, size=samples)
        runs, mutants = draws @ walk_types[:, 0] + self.seeds_used, 2 * (draws @ walk_types[:, 1])
        with np.errstate(divide="ignore"):
            low, high = np.quantile(runs / mutants, [0.5 - confidence / 2, 0.5 + confidence / 2], method="nearest")
        return float(low), float(high)

    def estimate(self, walks: int) -> FrontEstimate:
        """Return what a number of walks like these can be expected to find and to cost."""
        validate_integer("walks", "Front.estimate", walks)
        share = walks / self.walks if self.walks else 0.0
        pool = len(self.seeds)
        # how many different seeds that many starts meet, from how many these met
        log_unused_share = math.log(1 - min(self.seeds_used / pool, 1 - 0.5 / pool)) if pool else 0.0
        seeds = (
            min(pool, self.seeds_used * share)
            if self._has_distinct_starts
            else pool * -math.expm1(log_unused_share * share)
        )
        runs = seeds + float(self.walk_runs.sum()) * share
        return FrontEstimate(walks, len(self) * share, runs, self.seconds * runs / self.runs if self.runs else 0.0)

    @property
    def _has_distinct_starts(self) -> bool:
        return self.strategy == "directed_walk"

    @cached_property
    def border_counts(self) -> pd.Series:
        """How many pairs lie between each two classes, most first."""
        import pandas as pd

        return pd.Series(self.borders, dtype=object).value_counts()

    @cached_property
    def borders(self) -> list[str]:
        """The names of the two classes that meet at each pair: `kinds`, told apart where 1 and "1" are both answers."""
        from ._utils import SideIndex, name_borders, read_states, restore_border

        border = restore_border(self)
        kinds, _ = SideIndex(border).number_kinds(*read_states(self, border))
        names = name_borders(kinds, self.kinds, list(zip(self.a_output, self.b_output, strict=True)))
        return [names[kind] for kind in kinds.tolist()]

    # -- what can be learned from it ------------------------------------------------------------------

    def quality(self) -> pd.DataFrame:
        """Return how good the front is: validity, gap, class pairs, spread and archive, and each per 1,000 calls."""
        return self._quality.copy()

    @cached_property
    def _quality(self) -> pd.DataFrame:
        from .quality import measure_quality

        return measure_quality(self)

    def deciding(self) -> pd.DataFrame:
        """Return which features decide at the border, in how many pairs they differ, and by how much.

        With a system attached it is asked, the first time, at up to 300 pairs; these calls are not counted.
        """
        return self._deciding.copy()

    @cached_property
    def _deciding(self) -> pd.DataFrame:
        from .quality import rank_deciding_features

        return rank_deciding_features(self)

    def plot(self, x: str | None = None, y: str | None = None) -> Any:
        """Return a plotly figure of the pairs, on two features or on the two directions that tell most."""
        from .plot import build_figure

        return build_figure(self, x, y)

    def diff(self, other: Front, *, tolerance: float | None = None) -> Difference:
        """Return where the border moved, was gained or vanished from this front to another."""
        from .diff.diff import compare_fronts

        return compare_fronts(self, other, tolerance)

    def nearest(self, cases: Any, k: int = 1) -> pd.DataFrame:
        """Return the nearest border points of cases, and the smallest change found that flips their answer."""
        from .explain import explain_cases

        return explain_cases(self, cases, k)

    def augment(self, data: pd.DataFrame, target: str, **options: Any) -> Augmentation:
        """Return training data with border points of minority classes added, and what that does to the model."""
        from .augment import augment

        return augment(self, data, target, **options)

    def attach(self, model: Any, **options: Any) -> Front:
        """Return the front with the system it belongs to, which a file does not keep."""
        return replace(self, sut=wrap(model, space=self.space, **options))

    # -- files ------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the front to a Parquet file, all but the system.

        What that answers to the seeds is asked and written too, for later comparisons: at most 2,000 of them, and a
        quarter as many as the exploration made calls.
        """
        from .io import write_front

        write_front(self, path)

    @staticmethod
    def load(path: str | PathLike[str], model: Any = None) -> Front:
        """Read a front from a Parquet file, and attach its system if that is given."""
        from .io import read_front

        front = read_front(path)
        return front if model is None else front.attach(model)

    # -- telling ----------------------------------------------------------------------------------------

    def describe(self) -> str:
        """Return what was found in a few lines."""
        from .text import format_front

        return "\n".join(format_front(self))


def _validate_confidence(value: float, owner: str) -> None:
    if not is_number(value) or not 0 < value < 1:
        reject("confidence", owner, "a number between 0 and 1, neither included", value)
