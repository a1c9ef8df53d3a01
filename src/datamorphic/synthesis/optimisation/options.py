"""The options of `optimise`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, ClassVar

from ..._typing import CodeLike, DataLike, ModelLike
from ..._validation import reject
from ...core.execute import Execution
from ...core.groups import Running
from ...core.options import Option
from ...errors import ArgumentError
from ...morphisms.cases import TestSet
from ...morphisms.model_options import ModelOptions
from ...morphisms.system import TestSystem, has_morphisms
from ..options import NAMES, parse_datamorphisms, parse_filters, to_name_list
from .metrics import MetricLike
from .registry import build_metrics
from .search import MIN_CASES
from .strategies import PLAIN_NAMES, FilterStrategy, find_strategy
from .subject import OptimisationSubject

METRICS = "the name of a metric, a function of a test set, or a list of them"
MAX_MUTANT_RATIO = 10


@dataclass(frozen=True, eq=False)
class SearchOptions(Running):
    """How a better test set is searched: what scripts need of an optimisation."""

    OWNER: ClassVar[str] = "optimise"

    strategy: Annotated[
        str,
        Option(
            'How the cases of the next set are chosen. ``"filter"``: the set filters of the test system, or if it declares none, '
            "of the two nearest cases one goes, again and again, except cases that a coverage would miss. "
            '``"weakest_removal"``: the cases that contribute least to the metric go. ``"strongest_mutant"``: the new cases that '
            'contribute most replace the old cases that contribute least. ``"random_removal"``: cases go at random. The names '
            'that Morphy gave them are accepted too: ``"GAOptimizeFilter"``, ``"GAOptimizeWeakestRemoval"``, ...',
            "NAME",
            help="filter, weakest_removal, strongest_mutant or random_removal.",
            suggestions=tuple(PLAIN_NAMES),
        ),
    ] = "filter"
    _: KW_ONLY
    metric: Annotated[
        MetricLike | Sequence[MetricLike],
        Option(
            'What is to grow. ``"mean_nearest_distance"`` (diversity), ``"border_coverage"``, ``"leaf_coverage"``, '
            '``"mutation_score"``, ``"label_balance"``, ``"line_coverage"``, ``"branch_coverage"``, a ``@set_metric`` of the test '
            "system by name, or a function of a test set. With several, sets are kept of which none is as good as another in every metric.",
            "NAME",
            repeatable=True,
            expected=METRICS,
            help="What is to grow: mean_nearest_distance (the default), border_coverage, leaf_coverage, mutation_score, "
            "label_balance, line_coverage, branch_coverage, or a set metric of SYSTEM. Repeatable.",
            stored=False,  # the names of the metrics are
        ),
    ] = "mean_nearest_distance"
    max_cycles: Annotated[
        int,
        Option(
            "The maximum number of cycles.",
            "N",
            low=1,
            help="Largest number of cycles.",
            stored_as="steps",
            former_names=("steps",),
            former_flag="steps",
        ),
    ] = 50
    mutant_ratio: Annotated[
        float,
        Option(
            "The number of new cases per cycle, as a share of the test set. New cases stay in the ranges of the space, or, "
            "where it has no bounds, of the first test set.",
            "SHARE",
            above=0,
            high=MAX_MUTANT_RATIO,
            expected=f"a number above 0, at most {MAX_MUTANT_RATIO}",
            help="New cases per cycle, as a share of the set.",
        ),
    ] = 0.5
    remove_ratio: Annotated[
        float | None,
        Option(
            'The share of cases that a cycle removes by the rule of the strategy, for ``"weakest_removal"`` (by default as many '
            'as it takes; with a smaller share the rest is removed at random) and ``"strongest_mutant"`` (the share of the set '
            "that is replaced, 0.2 by default).",
            "SHARE",
            above=0,
            high=1,
            expected="a share above 0, at most 1",
            help="Share of cases that a cycle removes by the rule of the strategy.",
        ),
    ] = None
    change_rate: Annotated[
        float,
        Option(
            "The search ends early if no metric grows by this share of its value within `patience` cycles. A metric that is "
            "still 0 does not end the search, and with ``change_rate=0`` all cycles are used.",
            "SHARE",
            low=0,
            below=1,
            expected="a share from 0 to below 1",
            help="End if no metric grows by this share within --patience cycles; 0 to use all cycles.",
        ),
    ] = 0.001
    patience: Annotated[
        int,
        Option(
            "The number of cycles without growth after which the search ends. One such cycle is common.",
            "N",
            low=1,
            help="Cycles without growth after which to end.",
        ),
    ] = 10
    datamorphisms: Annotated[
        Sequence[str] | str | None,
        Option(
            "The names of the datamorphisms to use; all by default.",
            "NAMES",
            help="The datamorphisms to use, separated by commas. The default is all.",
            parse=parse_datamorphisms,
            expected=NAMES,
        ),
    ] = None
    filters: Annotated[
        Sequence[str] | str | None,
        Option(
            'The names of the set filters of ``"filter"``; all by default.',
            "NAMES",
            help="The set filters of the strategy filter, separated by commas. The default is all.",
            parse=parse_filters,
            expected=NAMES,
        ),
    ] = None
    tree: Annotated[
        ModelLike | None,
        Option(
            'The tree or forest that ``"leaf_coverage"`` and ``"mutation_score"`` are about, if not the system under test.',
            stored=False,
        ),
    ] = None
    code: Annotated[
        CodeLike | None,
        Option(
            'What ``"line_coverage"`` and ``"branch_coverage"`` count: a Python file, a module, ``"module:function"``, a function, '
            "class or module itself, or a list of these. By default the attribute ``code`` of the test system, or else the "
            "file of the function that is queried.",
            stored=False,
        ),
    ] = None
    tolerance: Annotated[
        float | None,
        Option(
            'For ``"mutation_score"`` of trees that answer numbers: as in `dm.cover`.',
            "VALUE",
            help="For mutation_score of trees that answer numbers: the difference that counts.",
        ),
    ] = None

    def validate(self) -> None:
        """Raise `ArgumentError` for a strategy that does not exist, and for filters that it does not use."""
        super().validate()
        strategy = find_strategy(self.strategy)
        self.set(strategy=strategy.name, metric=self._list_metrics())
        for name in ("datamorphisms", "filters"):
            self.set(**{name: to_name_list(name, self.OWNER, getattr(self, name))})
        if self.filters and strategy is not FilterStrategy:
            raise ArgumentError(
                f"Filters are applied by {FilterStrategy.name}, not by {strategy.name}. Leave filters out, or use that "
                "strategy."
            )

    def _list_metrics(self) -> list[MetricLike]:
        metric: Any = self.metric
        metrics = [metric] if isinstance(metric, str) or callable(metric) else metric
        if not isinstance(metrics, Sequence) or not metrics:
            reject("metric", self.OWNER, METRICS, metric)
        for item in metrics:
            if not isinstance(item, str) and not callable(item):
                reject("metric", self.OWNER, METRICS, item)
        return list(metrics)

    def add_metrics(self, subject: OptimisationSubject) -> OptimisationSubject:
        """Return a subject with the metrics that the options name."""
        metrics: Any = self.metric  # a list, since validation
        return replace(
            subject, metrics=build_metrics(metrics, subject, tree=self.tree, tolerance=self.tolerance, code=self.code)
        )

    def to_settings(self) -> dict[str, Any]:
        """Return the options that a result lists in its settings."""
        names = ("steps", "mutant_ratio", "remove_ratio", "change_rate", "patience", "datamorphisms", "filters")
        request = self.to_request()
        return {name: request[name] for name in names}


@dataclass(frozen=True, eq=False)
class OptimiseOptions(SearchOptions, ModelOptions):
    """The options of `dm.optimise`, validated."""

    model: Annotated[
        ModelLike,
        Option(
            'What declares the datamorphisms: a test system, such as ``dm.subjects["Box 2"]``; or a model with `tests`, whose '
            "moves are derived from the values of its features.",
            former_names=("test_system",),
            stored=False,
        ),
    ]
    _: KW_ONLY
    tests: Annotated[
        TestSet | DataLike | None,
        Option("The test set to start from. By default the first seed maker makes one.", stored=False),
    ] = None
    seeds: Annotated[
        int | None,
        Option(
            "The number of cases that the seed maker is to make, instead of `tests`.",
            "N",
            low=MIN_CASES,
            help="Number of cases that SYSTEM makes to start from.",
            stored=False,  # the number of cases is
        ),
    ] = None
    target: Annotated[
        str | None,
        Option(
            "The column of `tests` that holds the label, which is not an input.",
            "COL",
            help="The column of --tests that holds the label.",
            stored=False,  # the cases to start from are compared
        ),
    ] = None

    def make_subject(self, execution: Execution[Any]) -> OptimisationSubject:
        """Return the test system, or the model with the moves of its space, with the test set to start from."""
        tests, space = self.tests, self.space
        if tests is not None and self.seeds is not None:
            raise ArgumentError(
                "tests are the cases to start from, and seeds the number of cases to make. Give only one."
            )
        if hasattr(self.model, "fit") or not has_morphisms(self.model):
            data = tests.inputs if isinstance(tests, TestSet) else tests
            model_subject = self.build_subject(execution, data, self.target, seeds=self.seeds)
            return self.add_metrics(OptimisationSubject.of_model(model_subject, tests))
        system = TestSystem.collect(self.model)
        self.hints.validate_alone(self.OWNER, space or system.known_space() if self.hints else None)
        subject = OptimisationSubject.of_system(
            system, tests, self.seeds, execution.rng, space=space, target=self.target
        )
        return self.add_metrics(subject)

    def describe_run(self, execution: Execution[Any]) -> dict[str, Any]:
        """Return what a run store keeps; of the metrics, their names, and of the first test set, its size."""
        subject: OptimisationSubject = execution.subject
        facts = {"metrics": [metric.name for metric in subject.metrics], "cases": len(subject.tests)}
        return {
            "system": subject.name,
            "parameters": self.to_request() | facts,
            "model": self.model,
            "seeds": subject.tests.inputs,
        }
