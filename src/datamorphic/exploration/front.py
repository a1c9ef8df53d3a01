"""`Front`: the result of an exploration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from .._lazy import pd
from .._typing import DataLike, FilePath, ModelLike
from .._validation import check_types, validate_choice, validate_option_names, validate_seed
from ..core.result import FileWriter, Result, make_writer
from ..errors import ArgumentError
from ..space.outputs import Status
from ..space.table_forms import accept_tables
from ..systems.wrap import wrap
from .front_data import FrontData, count_borders
from .io import read_front, write_front
from .quality import DecidingFeature, measure_quality, rank_deciding_features

if TYPE_CHECKING:  # imported when they are needed, as most explorations need none of them
    from ..reporting.junit import JUnitCase
    from .augment import Augmentation
    from .diff.diff import Difference

FRONT_FILE = "front.parquet"  # the name of the front among the files of a run
ANSWERS_RELATION = "answers"  # the relation that every system must satisfy: an answer to every case


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Front(FrontData, Result):
    """The border pairs of an exploration: nearly equal inputs with different answers.

    Made by `dm.explore` and `Front.load`.

    Attributes
    ----------
    subject, strategy : str
        The names of the system and of the strategy.
    a, b : Points
        The two cases of each pair. `pairs` has them as a frame.
    a_output, b_output : ndarray
        The answers of the system to the two cases.
    kinds : list of str
        The two classes that meet at each pair, for example ``"blue | red"``.
    distance : ndarray
        The distance between the two cases.
    part : ndarray
        The number of the label that changes, where the system gives several labels; else 0.
    walk, pair_runs, walk_runs : ndarray
        The walk that found each pair, the number of cases used to narrow it, and the number of cases of each walk.
    walked_by : ndarray of str
        The strategy that found each pair.
    seeds : Points
        The seed cases that walks could start from.
    seeds_used, calls : int
        The number of seed cases that were executed, and of rows that the system computed.
    seconds : float
        The time it took; NaN in a front that was read from a file.
    lost, unfinished, slopes : int
        The number of walks that ended because the system gave no answer, or because the budget was spent, and the number
        of steep slopes that looked like a jump at first.
    exhausted : bool
        Whether the budget ended the search.
    choices, notes : list
        The decisions of ``strategy="auto"``, one dict per round and strategy, and remarks on the search.
    settings : dict
        The options of the exploration.
    seed_answers : Outputs, optional
        The answers to some seed cases, evenly chosen, as read from a file.
    walk_starts : ndarray, optional
        The numbers of the seed cases that each walk started from, in two columns; -1 for no second one, and for pairs of
        a growing pool. None in a front that was read from a file of an earlier release.
    """

    _PAGE = "exploration.page:build_front_page"

    # -- analysis ----------------------------------------------------------------------------------------------

    def quality(self) -> pd.DataFrame:
        """Return measures of the front: validity, gap, class pairs, spread and archive, each also per 1,000 calls."""
        return self._quality.copy()

    @cached_property
    def _quality(self) -> pd.DataFrame:
        return measure_quality(self)

    def deciding(self) -> pd.DataFrame:
        """Return the features that decide at the border, with how often they decide and differ.

        The first call queries the attached system at up to 300 pairs. These model calls are not counted.
        """
        return pd.DataFrame([vars(feature) for feature in self.deciding_features])

    @cached_property
    def deciding_features(self) -> list[DecidingFeature]:
        """The rows of `deciding`."""
        return rank_deciding_features(self)

    @check_types
    def plot(self, x: str | None = None, y: str | None = None, *, view: str = "auto", seed: int = 0) -> Any:
        """Return a plotly figure of the pairs.

        Parameters
        ----------
        x, y : str, optional
            The features to show.
        view : str
            ``"auto"``: two features, or the two principal directions of more. ``"pca"``: the principal directions.
            ``"parallel"``: a line per pair over parallel axes, one per feature. ``"tsne"`` and ``"umap"`` keep neighbours
            together in the plane; UMAP needs the package umap-learn.
        seed : int
            The seed of t-SNE and UMAP.
        """
        from .options import VIEWS
        from .plot import build_figure, build_scatter
        from .views import build_parallel_figure, build_view

        validate_choice("view", "Front.plot", view, VIEWS)
        validate_seed("seed", "Front.plot", seed)
        names = [name for name in (x, y) if name is not None]
        if view != "auto":
            if names:
                raise ArgumentError(
                    f"view={view!r} shows all features, but x and y name some of them. Leave out either of the two."
                )
            return build_parallel_figure(self) if view == "parallel" else build_figure(build_view(self, view, seed))
        partners: Sequence[str] = ()
        if len(self.space) > 1 and len(names) == 1:
            self.space.position(names[0])  # raises before the system is queried if there is no such feature
            partners = self.deciding()["feature"].tolist()
        return build_figure(build_scatter(self, x, y, partners))

    @check_types
    def diff(self, other: FrontData, *, tolerance: float | None = None) -> Difference:
        """Return where the border moved, was gained or vanished from this front to another."""
        from .diff.diff import compare_fronts

        return compare_fronts(self, other, tolerance)

    @accept_tables
    def nearest(self, cases: DataLike, k: int = 1) -> pd.DataFrame:
        """Return the nearest border pairs of cases, and the smallest change found that flips their answer."""
        from .explain import explain_cases

        return explain_cases(self, cases, k)

    @accept_tables
    @check_types
    def augment(self, data: DataLike, target: str, **options: Any) -> Augmentation:
        """Return training data with border points of minority classes added, and the effect on the model."""
        from .augment import augment

        validate_option_names("Front.augment", options, augment)
        return augment(self, data, target, **options)

    def attach(self, model: ModelLike, **options: Any) -> Front:
        """Return the front with its system attached; files do not contain the system."""
        validate_option_names("Front.attach", options, wrap)
        return replace(self, sut=wrap(model, space=self.space, **options))

    # -- files -------------------------------------------------------------------------------------------------

    @check_types
    def save(self, path: FilePath) -> None:
        """Write the front to a Parquet file, without the system.

        The attached system is queried for its answers to seed cases, which are written too, for later comparisons:
        at most 2,000, and at most a quarter of the model calls of the exploration.
        """
        write_front(self, path)

    @staticmethod
    @check_types
    def load(path: FilePath, model: ModelLike | None = None) -> Front:
        """Read a front from a Parquet file, and attach its system if `model` is given."""
        front = read_front(path, Front)
        return front if model is None else front.attach(model)

    # -- export ------------------------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """Return the figures of the front as a JSON-serialisable dict, without the pairs."""
        return self._collect(
            *("subject", "seconds", "choices", "settings"),
            **self.stored_summary(),
            capability_interval=self.capability_interval(),
            cost_interval=self.cost_interval(),
            seed=self.settings.get("seed"),
            deciding=self.deciding_features,
            quality=self.quality()[["value", "per_1000_calls"]].to_dict("index"),
        )

    def stored_summary(self) -> dict[str, Any]:
        """Return the yield and the cost of the exploration."""
        names = ("strategy", "walks", "mutants", "runs", "calls", "capability", "lost", "unfinished", "exhausted")
        return {
            **{name: getattr(self, name) for name in names},
            "pairs": len(self),
            "cost": self.cost if len(self) else None,
            "borders": count_borders(self),
            "notes": list(self.notes),
        }

    def stored_verdicts(self) -> list[dict[str, Any]]:
        """Return whether the system answered every case, and gave the same answer when queried again."""
        health = self.tally.health
        failed_rows = sum(count for status, count in health.status_counts.items() if status != Status.NEW_LABEL)
        return [
            {"relation": name, "says": statement, "verdict": "VIOLATED" if count else "HOLDS", "cases": count}
            for name, statement, count in (
                (ANSWERS_RELATION, "the system answers every case", failed_rows),
                ("repeats", "the system gives the same answer when it is queried again", len(health.unstable_cases)),
            )
        ]

    def stored_files(self) -> dict[str, FileWriter]:
        """Return the pairs as a file, without answers to seed cases, for which the system would be queried again."""
        return {FRONT_FILE: make_writer(partial(write_front, self, query_seeds=False), len(self))}

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return whether the system answered every case, and gave the same answer twice, as two test cases."""
        from ..reporting.junit import JUnitCase

        return [
            JUnitCase(
                name=verdict["says"],
                outcome="failed" if verdict["cases"] else "passed",
                kind=verdict["relation"],
                message=f"{verdict['cases']} cases" if verdict["cases"] else "",
            )
            for verdict in self.stored_verdicts()
        ]
