"""The options of `hunt`, `generate` and `simulate`, and what is hunted."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy.typing as npt

from .._estimates import refuse_many_rows, refuse_too_large
from .._typing import DataLike, ModelLike
from .._validation import is_integer, reject, validate_choice, validate_integer
from ..core.execute import CapabilityOptions, Execution, KeptOptions
from ..core.groups import Running
from ..core.options import COMPUTING_PANEL, Option, Options, list_fields
from ..errors import ArgumentError, UsageError
from ..morphisms.model_options import ModelOptions
from ..morphisms.subject import SubjectUnderTest
from ..relations.algebra.base import MetamorphicRelation
from ..relations.algebra.function import FunctionRelation
from ..relations.algebra.source_distribution import format_distribution
from ..relations.catalogue.registry import find_relation
from ..relations.learners.base import LearnerRelation
from ..runs.engine_base import Engine
from ..runs.engines import make_engine
from ..runs.flow import Budget
from ..space.space import Space
from ..space.table_files import read_table
from ..systems.base import Executor
from .generator_base import DomainLike, GeneratorLike
from .regions import KINDS, Region
from .result import Hunt
from .scenarios import SCENARIOS
from .selector_base import SelectorLike

MAX_DEFAULT_WORKERS = 8
DEFAULT_MAX_GROUPS = 100_000  # per trial of a hunt
DEFAULT_MAX_SECONDS = 10.0  # of a hunt without a budget
BYTES_PER_TRIAL = 500  # of a hunt, measured with tracemalloc
PROPOSER_PANEL = "Generator and selector"
ProposerOption = partial(Option, panel=PROPOSER_PANEL)
TABLE_ENDINGS = (".csv", ".parquet", ".pq")
BUDGET_EXPECTED = "an int in the range [1, inf), which are groups per trial, or a time such as '30s'"
A_GENERATOR = "the name of a generator, or a class of generators"
A_SELECTOR = "the name of a selector, or a class of selectors"

#: a relation, its class, or the name of a relation of the system under test
RelationLike: TypeAlias = MetamorphicRelation | type[MetamorphicRelation] | str
#: one relation or several; None for all relations of the system under test
RelationsLike: TypeAlias = RelationLike | Collection[RelationLike] | Mapping[str, RelationLike] | None


@dataclass(frozen=True, eq=False)
class HuntSubject:
    """What is hunted: a system with a space, a function, or a learner."""

    model: ModelLike
    relations: Sequence[RelationLike]
    system: SubjectUnderTest | None = None  # None for functions and learners
    is_learner: bool = False

    @property
    def name(self) -> str:
        """What reports call it."""
        if self.system is not None:
            return self.system.name
        names = [getattr(self.model, name, None) for name in ("name", "__name__")]
        return next((str(name) for name in names if name), type(self.model).__name__)

    @property
    def space(self) -> Space | None:
        """The space of the inputs, if it has one."""
        return None if self.system is None else self.system.seeds.space


def list_relations(model: ModelLike, relations: RelationsLike) -> list[RelationLike]:
    """Return the requested relations one by one, classes as objects, and names of registered relations of models resolved."""
    own_relations: Mapping[str, FunctionRelation] = getattr(model, "relations", None) or {}
    items: list[RelationLike]
    if relations is None:
        if not own_relations:
            raise ArgumentError(
                "hunt() got no relations. Give those that must hold: hunt(function, relation). Make one with "
                "dm.FunctionRelation, or use those of a program in dm.programs."
            )
        items = list(own_relations)
    elif isinstance(relations, Mapping):
        items = list(relations.values())
    elif isinstance(relations, list | tuple | set | frozenset):
        items = list(relations)
    else:
        items = [relations]  # type: ignore[list-item]
    if not items:
        reject("relations", "hunt", "at least one relation", relations)
    return [
        item() if isinstance(item, type) and issubclass(item, MetamorphicRelation) else item
        for item in (
            find_relation(item) or item if isinstance(item, str) and item not in own_relations else item
            for item in items
        )
    ]


def parse_candidates(text: str) -> Any:
    """Return the candidates of a selector: the rows of a CSV or Parquet file, or the name of a generator."""
    if os.path.exists(text) or text.lower().endswith(TABLE_ENDINGS):
        return read_table(text).to_numpy()
    return text


def parse_group_budget(text: str) -> int | str:
    """Return a budget of the command line: a number of groups, or a time as it is written."""
    return int(text) if text.strip().lstrip("-").isdecimal() else text


def parse_stop_after(text: str) -> int | None:
    """Return the number of violations that end a trial; None to collect all."""
    try:
        return None if text == "all" else int(text) or None
    except ValueError:
        raise UsageError(f"--stop-after is a number of violations, or all. Got {text!r}.") from None


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneratorOptions(Options):
    """The options of generators."""

    k: Annotated[
        int | None, ProposerOption("The number of candidates per group.", "N", low=1, label="Candidates per group")
    ] = None
    ratio: Annotated[
        float | None,
        ProposerOption(
            "For RRT: the share of the domain that zones around executed inputs cover together, e.g. 1.5.", "VALUE"
        ),
    ] = None
    tries: Annotated[
        int | None, ProposerOption("For RRT: the number of draws after which the farthest input is used.", "N", low=1)
    ] = None
    scaled: Annotated[
        bool, ProposerOption("Whether distances are compared as shares of the domains of the inputs.")
    ] = False
    joint: Annotated[bool, ProposerOption("For SFIDMT-ART: whether the nearest executed group counts as a whole.")] = (
        False
    )
    criterion: Annotated[
        str | None, ProposerOption("For MT-ART: the distance to the pool that counts: Min, Avg or Max.", "NAME")
    ] = None
    strategy: Annotated[
        int | None,
        ProposerOption("For MT-ART: whether distances to the pool (1) or within the group (2) come first.", "1|2"),
    ] = None
    generations: Annotated[
        int | None, ProposerOption("For SB-ART: the number of generations of candidates per group.", "N", low=1)
    ] = None
    options: Annotated[
        Mapping[str, Any] | None, Option("Options of a generator or selector class of yours.", collects_keywords=True)
    ] = None

    @property
    def proposer_options(self) -> dict[str, Any]:
        """The options of the generator or the selector that were given."""
        names = [
            field.name
            for field in list_fields(type(self))
            if field.option.panel == PROPOSER_PANEL and getattr(self, field.name) is not field.default
        ]
        return {name: getattr(self, name) for name in names} | dict(self.options or {})

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options: generators and selectors by name, and the names of further options."""
        request = super().to_request() | {"options": sorted(self.options or {})}
        choices = {name: getattr(self, name) for name in ("generator", "selector") if name in request}
        return request | {name: _name_choice(choice) for name, choice in choices.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectorOptions(GeneratorOptions):
    """The options of generators and selectors."""

    candidates: Annotated[
        str | npt.ArrayLike | None,
        ProposerOption(
            "For selectors: the generator that makes the candidates, or candidates, one per row.",
            "NAME|FILE",
            help="For selectors: the generator that makes the candidates, or a CSV or Parquet file with candidates, one per row.",
            parse=parse_candidates,
        ),
    ] = None
    published: Annotated[
        bool | None,
        ProposerOption(
            "For selectors: whether to choose as published, or so that no relation starves. The name of the selector says the "
            "default.",
            flag="published/--fair",
            help="For selectors: choose as published, or so that no relation starves. The name of the selector says the default.",
        ),
    ] = None
    domains: Annotated[
        str | None,
        ProposerOption(
            "For selectors: whether relations with different domains are refused, or meet in what they share.",
            "refuse|meet",
        ),
    ] = None
    metric: Annotated[
        str | None,
        ProposerOption(
            "For selectors: the distance of inputs: euclidean, or jaccard for inputs that are sets of values.", "NAME"
        ),
    ] = None


def parse_distributions(texts: Sequence[str]) -> dict[str, str]:
    """Return the distributions of inputs by name from ``x=normal(0, 1)``."""
    pairs = [text.partition("=") for text in texts]
    for name, sign, distribution in pairs:
        if not (name.strip() and sign and distribution.strip()):
            text = name + sign + distribution
            raise UsageError(
                f"--source-distribution takes an input and a distribution, as in 'x=normal(0, 1)'. Got {text!r}."
            )
    return {name.strip(): distribution.strip() for name, _, distribution in pairs}


@dataclass(frozen=True, eq=False, kw_only=True)
class SourceOptions(Options):
    """What sources are drawn from."""

    source_distribution: Annotated[
        Mapping[str, Any] | None,
        Option(
            'What inputs are drawn from, by name, within the domain: ``{"x": "normal(0, 1)"}``, or a distribution of SciPy. Inputs '
            "without names are x, y, z and so on. Generators that spread inputs spread them evenly over the shares of the distribution. By "
            "default all inputs of the domain are equally likely, unless a `NumberRange` says otherwise.",
            "NAME=DISTRIBUTION",
            help="What an input is drawn from, within the domain: 'x=normal(0, 1)', uniform, exponential, lognormal, triangular, beta, "
            "gamma, student or poisson. Repeatable.",
            parse=parse_distributions,
            repeatable=True,
            label="Distributions of inputs",
        ),
    ] = None

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options; of distributions, their texts."""
        texts = {name: format_distribution(value) for name, value in (self.source_distribution or {}).items()}
        return super().to_request() | {"source_distribution": texts or None}


@dataclass(frozen=True, eq=False, kw_only=True)
class TrialOptions(Running):
    """The options of what is done in trials: a budget is a number of groups per trial, or a time for all of them."""

    @property
    def groups(self) -> int | None:
        """The maximal number of groups per trial; None if it is not given."""
        return Budget.parse(self.budget).runs

    @property
    def limits(self) -> Budget:
        """The time to spend."""
        return Budget(seconds=Budget.parse(self.budget).seconds)

    def validate(self) -> None:
        """Raise `ArgumentError` for budgets that are neither a number of groups nor a time."""
        budget = self.budget
        is_time = isinstance(budget, Budget | str) and Budget.parse(budget).seconds is not None
        is_count = (is_integer(budget) and budget >= 1) or (isinstance(budget, Budget) and budget.seconds is None)
        if budget is not None and not is_time and not is_count:
            reject("budget", self.OWNER, BUDGET_EXPECTED, budget)
        super().validate()

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options; of a budget, the groups or the seconds."""
        request = super().to_request()
        return request if self.groups is None else request | {"budget": self.groups}


@dataclass(frozen=True, eq=False)
class HuntOptions(SelectorOptions, SourceOptions, TrialOptions, ModelOptions):
    """The options of `dm.hunt`."""

    OWNER: ClassVar[str] = "hunt"
    POSITIONAL: ClassVar[tuple[str, ...]] = (
        *("model", "relations", "generator", "selector", "budget", "trials", "seed"),
    )

    model: Annotated[
        ModelLike,
        Option(
            "The system under test: a function, called with one array per input; a program of `dm.programs` or one of its "
            "mutants; a model with ``predict``, the path of a model file, or a system that `dm.wrap` returns. The inputs of "
            "models and systems are those of a space.",
            stored=False,
            former_names=("sut",),
        ),
    ]
    relations: Annotated[
        RelationsLike,
        Option(
            "The relations that must hold. For a program, the names of its relations; by default all of them. With a "
            "selector, relations of a program draw their sources from the whole domain of the program. For a credit risk "
            'model also "credit.HMR1" to "credit.HMR5": relations about changes compare probabilities, and changed columns '
            "are drawn from their ranges.",
            expected="relations, or names of relations of a program",
        ),
    ] = None
    generator: Annotated[
        GeneratorLike | None,
        Option(
            'The generator that chooses the next group; see `dm.generate`. By default ``"SFIDMT-ART"``; for relations about '
            'rows of a frame ``"MD-ART"``, which compares sources only, because making the follow-ups of all candidates '
            'would take long. ``"rows"`` takes the rows of `data` as sources, in a random order and none twice per relation; it '
            "is the default for texts and for relations made of patterns, such as `dm.relations.translation_relations()`, "
            "whose cases cannot be drawn.",
            "NAME",
            help="What chooses the groups: SFIDMT-ART, MT-RT (random), MT-BART ... The default is SFIDMT-ART, for models "
            "MD-ART, for texts, images, patterns and promises about columns the rows of --data.",
            expected=A_GENERATOR,
            label="Generator of groups",
        ),
    ] = None
    selector: Annotated[
        SelectorLike | None,
        Option(
            'The selector that chooses among several relations, e.g. ``"MRGS-ART"``. By default relations take turns, each '
            "with its own generator.",
            "NAME",
            help="What chooses among several relations, e.g. MRGS-ART. By default they take turns.",
            expected=A_SELECTOR,
            label="Selector of relations",
        ),
    ] = None
    trials: Annotated[
        int,
        Option(
            "The number of trials, each with its own random numbers.",
            "N",
            low=1,
            help="Number of trials, each with its own random numbers.",
        ),
    ] = 1
    _: KW_ONLY
    budget: Annotated[
        Budget | str | float | None,
        Option(
            'The maximal number of groups per trial, or the time for the hunt: ``1000``, ``"30s"``. Without it, a trial has at '
            "most 100,000 groups, and the hunt ends after 10 seconds, whatever is left to try; compiling does not count.",
            "BUDGET",
            help="Largest number of groups per trial, or time: 1000, 30s. By default 100,000, and 10 seconds for the hunt.",
            parse=parse_group_budget,
            label="Largest number of groups per trial",
        ),
    ] = None
    stop_after: Annotated[
        int | None,
        Option(
            "The number of violations that end a trial; None to collect all within the budget.",
            "N",
            low=1,
            help="End a trial after this many violations; 0 or all to collect them all.",
            parse=parse_stop_after,
            label="Violations that end a trial",
        ),
    ] = 1
    data: Annotated[
        DataLike | None,
        Option(
            "For models: rows or a space that define the inputs.",
            "DATA",
            help="For a model, its real inputs: a CSV or Parquet file, or data:NAME (data:iris).",
            stored=False,
        ),
    ] = None
    target: Annotated[
        str | None,
        Option(
            "For models: the column of the label, which is not an input.",
            "COL",
            help="The column of DATA that holds the label.",
        ),
    ] = None
    batch: Annotated[
        int | None,
        Option(
            "The maximal number of groups executed at once. Groups after the one that ends a trial do not count. Selectors "
            "that learn from verdicts learn batch by batch, so their choices depend on this size.",
            "N",
            low=1,
            help="Largest number of groups executed at once.",
            panel=COMPUTING_PANEL,
        ),
    ] = None
    regions: Annotated[
        int | None,
        Option(
            "For functions: the number of random groups by which the violation region of each violated relation is measured "
            "after the hunt, as by `dm.hunting.classify_region`. By default none.",
            "N",
            low=1,
            help="For functions: after the hunt, find the kind of violation region of each violated relation by this many random groups, "
            "e.g. 100000.",
        ),
    ] = None

    def validate(self) -> None:
        """Raise `ArgumentError` for trials whose records do not fit into memory."""
        super().validate()
        if self.groups is not None:
            refuse_too_large("hunt", {"trials": self.trials}, memory=BYTES_PER_TRIAL * self.trials)

    @property
    def max_groups(self) -> int:
        """The maximal number of groups per trial."""
        return self.groups or DEFAULT_MAX_GROUPS

    @property
    def max_seconds(self) -> float | None:
        """The time after which a hunt ends; None if its budget is a number of groups."""
        return DEFAULT_MAX_SECONDS if self.budget is None or self.budget == Budget() else self.limits.seconds

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options; of relations, their names."""
        request = super().to_request()
        names = [getattr(item, "name", item) for item in list_relations(self.model, self.relations)]
        return request | {"relations": names}

    def make_subject(self, execution: Execution[Any]) -> HuntSubject:
        """Return the relations with what is tested: a system with a space, a function, or a learner."""
        relations = list_relations(self.model, self.relations)
        learner_relations = [relation for relation in relations if isinstance(relation, LearnerRelation)]
        if learner_relations and len(learner_relations) < len(relations):
            raise ArgumentError(
                f"The relation {learner_relations[0].name!r} is about training, other relations are about a model as it is. Hunt "
                "with each kind of relation alone."
            )
        is_system = bool(learner_relations) or isinstance(self.model, Executor | str) or hasattr(self.model, "predict")
        is_function = not is_system and self.space is None and self.data is None
        if self.regions is not None and not is_function:
            raise ArgumentError(
                "The option regions is for plain functions, whose relations draw their sources. Leave it out for models, learners and "
                "systems with a space."
            )
        if learner_relations:
            return HuntSubject(self.model, relations, is_learner=True)
        if is_function:
            if not callable(self.model):
                reject("model", self.OWNER, "a function, a program, a model or a system", self.model)
            self._reject_system_options()
            return HuntSubject(self.model, relations)
        # without data, only the space matters; otherwise all rows may be sources
        subject = self.build_subject(execution, self.data, self.target, seeds=1 if self.data is None else None)
        return HuntSubject(self.model, relations, subject)

    def _reject_system_options(self) -> None:
        """Raise `ArgumentError` if an option of systems is given for a function, which is called in this process."""
        has_engine = type(make_engine(self.engine)) is not Engine
        for option, is_given in (
            ("engine", has_engine),
            ("timeout", self.timeout is not None),
            ("target", self.target is not None),
        ):
            if is_given:
                name = self.name or getattr(self.model, "name", None) or getattr(self.model, "__name__", None)
                raise ArgumentError(
                    f"The option {option} is for systems with a space, but {name or type(self.model).__name__} is a plain "
                    "function, which is called in this process. Give it a space (space=...), or wrap it: "
                    "dm.wrap(function, space=..., timeout=...)."
                )

    def describe_run(self, execution: Execution[Any]) -> dict[str, Any]:
        """Return the name of the system and the request, with the model and the rows to compare."""
        subject: HuntSubject = execution.subject
        rows = self.data if subject.system is None else subject.system.seeds
        # the content of a program changes while it is used; its code does not
        has_stable_content = subject.system is not None or subject.is_learner or inspect.isroutine(self.model)
        return {
            "system": self.name or subject.name,
            "parameters": self.to_request(),
            "model": self.model if has_stable_content else type(self.model),
            "seeds": rows,
        }


def _name_choice(choice: GeneratorLike | SelectorLike | Sequence[Any] | None) -> Any:
    """Return generators or selectors by name, as a store keeps them."""
    if choice is None or isinstance(choice, str):
        return choice
    return choice.__qualname__ if isinstance(choice, type) else [_name_choice(item) for item in choice]


def _name_region(region: Region | Hunt | Callable[..., Any]) -> str:
    """Return a region by its kind, a hunt, program or function by its name, as a store keeps it."""
    name = getattr(region, "name", None) or getattr(region, "__name__", None)
    return str(name or getattr(region, "kind", type(region).__name__))


def to_list(choice: Any) -> list[Any]:
    """Return one generator or selector, or several, as a list."""
    return list(choice) if isinstance(choice, list | tuple) else [choice]


@dataclass(frozen=True, eq=False)
class GenerateOptions(GeneratorOptions, SourceOptions, KeptOptions):
    """The options of `dm.generate`."""

    OWNER: ClassVar[str] = "generate"
    POSITIONAL: ClassVar[tuple[str, ...]] = ("relation", "generator", "n", "seed")

    relation: Annotated[
        FunctionRelation | DomainLike,
        Option(
            "The relation whose groups are generated; or a domain, to generate single inputs: a `Box`, a `Space`, or pairs of limits.",
            stored=False,
            expected="a FunctionRelation, or a domain: a Box, a Space, or pairs of limits",
        ),
    ]
    generator: Annotated[
        GeneratorLike,
        Option(
            'For groups: ``"MT-RT"`` (random), ``"SFIDMT-ART"``, ``"MT-ART-Min"``, ``"MT-BART"``, ``"MT-IPART"``, '
            '``"MT-RPART"``, ``"SFIDMT-BART"``. These compare sources only: ``"FSCS-ART"``, ``"RRT"``, ``"RPART"``, '
            '``"BART"``, ``"IPART"``, ``"Sobol"``, ``"Halton"``.',
            "NAME",
            help="What chooses the groups: MT-RT (random), SFIDMT-ART, MT-BART, MT-IPART ...",
            expected=A_GENERATOR,
        ),
    ] = "SFIDMT-ART"
    n: Annotated[int, Option("The number of groups.", "N", low=1, help="Number of groups.")] = 1000
    measure: Annotated[
        bool,
        Option(
            "Whether the report says how evenly the groups lie: dispersion and discrepancy of sources and of follow-ups.",
            help="Report how evenly the groups lie: dispersion and discrepancy of sources and of follow-ups.",
        ),
    ] = False

    def make_subject(self, execution: Execution[Any]) -> None:
        """Return nothing: no system is executed."""

    def describe_run(self, execution: Execution[None]) -> dict[str, Any]:
        """Return the name of the relation and the request."""
        name = getattr(self.relation, "name", "inputs")
        return {"system": name, "parameters": self.to_request(), "model": name, "seeds": None}


@dataclass(frozen=True, eq=False)
class SimulateOptions(SelectorOptions, TrialOptions, CapabilityOptions):
    """The options of `dm.simulate`."""

    OWNER: ClassVar[str] = "simulate"
    POSITIONAL: ClassVar[tuple[str, ...]] = (
        *("generator", "region", "rate", "dimension", "relation", "scenario", "trials", "seed"),
    )

    generator: Annotated[
        GeneratorLike | Sequence[GeneratorLike],
        Option(
            'The generator: ``"MT-RT"``, ``"SFIDMT-ART"``, ``"MT-BART"``, ``"FSCS-ART"``, ``"Sobol"`` ...; several are compared.',
            "NAME",
            help="A generator: MT-RT, SFIDMT-ART, IPART, Sobol ... Repeat it to compare several.",
            repeatable=True,
            expected=f"{A_GENERATOR}, or several",
        ),
    ] = "SFIDMT-ART"
    region: Annotated[
        str | Region | Hunt | Callable[..., Any],
        Option(
            'One box (``"block"``), a band between adjacent sides (``"strip"``), many small boxes (``"point"``), or a region. Or the '
            "region of a real program, which is executed: a mutant of `dm.programs`, what `dm.hunting.classify_region` returns, or a "
            "`Hunt` that found a violation, or a function that violates `relation`. Or a function that returns True where sources "
            "violate.",
            "SHAPE",
            help="The shape of the violating region: block, strip or point; or the region of a real program: program:NAME/MUTANT with "
            "--relation, or module:object.",
        ),
    ] = "block"
    rate: Annotated[
        float,
        Option(
            "The share of the source domain that violates.",
            "SHARE",
            above=0,
            below=1,
            expected="a number between 0 and 1",
        ),
    ] = 0.005
    dimension: Annotated[
        int, Option("The number of inputs, if no relation is given.", "N", low=1, help="Number of inputs.")
    ] = 2
    relation: Annotated[
        FunctionRelation | Sequence[FunctionRelation] | None,
        Option(
            "What makes follow-ups; several with a `selector`. By default sources lie in the unit cube, and follow-ups are "
            "mirrored at its centre.",
            stored=False,
        ),
    ] = None
    scenario: Annotated[
        str | None,
        Option(
            "One of A1 to C5: where the region lies, and whether the follow-up domain is wider than the source domain (A), "
            "the same (B), or narrower (C).",
            "NAME",
            help="A1 to C5: where the region lies relative to the domains of source and follow-up.",
        ),
    ] = None
    trials: Annotated[int, Option("The number of regions drawn.", "N", low=1, help="Number of regions to draw.")] = (
        10_000
    )
    _: KW_ONLY
    selector: Annotated[
        SelectorLike | Sequence[SelectorLike] | None,
        Option(
            'The selector among several relations, e.g. ``"MRGS-ART"``; only the relation with the number `violating` is '
            "violated; several are compared.",
            "NAME",
            help="A selector among relations, e.g. MRGS-ART. Repeat it to compare several.",
            repeatable=True,
            expected=f"{A_SELECTOR}, or several",
        ),
    ] = None
    violating: Annotated[
        int,
        Option(
            "The number of the violated relation, from 0.",
            "INDEX",
            low=0,
            help="With --selector: index of the violated relation, from 0.",
        ),
    ] = 0
    budget: Annotated[
        Budget | str | float | None,
        Option(
            'The maximal number of groups per trial, or the time for all trials: ``1000``, ``"30s"``.',
            "BUDGET",
            help="Largest number of groups per trial, or time: 1000, 30s.",
            parse=parse_group_budget,
        ),
    ] = None
    boxes: Annotated[
        int, Option("The number of boxes of a point region.", "N", low=0, help="Number of boxes of a point region.")
    ] = 50
    workers: Annotated[
        int | None,
        Option("The number of trials that run side by side; it does not change the result.", low=1, stored=False),
    ] = None

    def validate(self) -> None:
        """Raise `ArgumentError` for what contradicts or does not fit into memory, and choose what runs the trials."""
        super().validate()
        for name, expected in (("generator", A_GENERATOR), ("selector", A_SELECTOR)):
            if isinstance(choice := getattr(self, name), list | tuple) and not choice:
                reject(name, self.OWNER, f"{expected}, or several", choice)
        refuse_many_rows("simulate", "trials", self.trials, 3)  # counts, censored trials and a sorted copy
        refuse_many_rows("simulate", "dimension", self.dimension, 10)  # limits, as Python objects and as arrays
        is_drawn = not isinstance(self.region, Region | Hunt) and not callable(self.region)
        if is_drawn:
            validate_choice("region", "simulate", self.region, KINDS)
        if self.region == "point":
            validate_integer("boxes", "simulate", self.boxes, 1)
            refuse_many_rows("simulate", "boxes", self.boxes, 8 * self.dimension)  # with those drawn again, and a tree
        if self.scenario is not None:
            self.set(scenario=validate_choice("scenario", "simulate", self.scenario.upper(), SCENARIOS))
            if not is_drawn:
                raise ArgumentError(
                    "simulate() got both a scenario and a region, but a scenario draws its own regions. Give one of them."
                )
        if self.engine is None and self.timeout is None:  # kernels run outside the interpreter lock
            workers = self.workers or min(os.cpu_count() or 1, MAX_DEFAULT_WORKERS)
            self.set(engine=f"threads:{workers}")

    @property
    def has_selector(self) -> bool:
        """Whether a selector chooses among relations."""
        return self.selector is not None or isinstance(self.relation, list | tuple)

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options."""
        region = self.region
        return super().to_request() | {"region": region if isinstance(region, str) else _name_region(region)}

    def make_subject(self, execution: Execution[Any]) -> None:
        """Return nothing: trials are made when they run."""

    def describe_run(self, execution: Execution[None]) -> dict[str, Any]:
        """Return what is simulated, and the request."""
        relations = self.relation if isinstance(self.relation, list | tuple) else [self.relation]
        names = [relation.name for relation in relations if isinstance(relation, FunctionRelation)]
        system = ", ".join(to_list(_name_choice(self.selector or self.generator)))
        parameters = self.to_request() | {"relation": names or None}
        return {"system": system, "parameters": parameters, "model": system, "seeds": None}
