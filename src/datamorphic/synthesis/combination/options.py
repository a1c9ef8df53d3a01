"""The options of `combine`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar

from ..._estimates import refuse_too_large
from ..._text import pluralise
from ..._typing import DataLike
from ..._validation import is_integer, reject
from ...core.execute import Execution
from ...core.groups import SEED, Running
from ...core.options import Option
from ...core.parsing import parse_budget
from ...errors import ArgumentError
from ...morphisms.cases import TestSet
from ...morphisms.model_options import SystemOptions
from ...morphisms.stock import to_test_system
from ...morphisms.system import TestSystem
from ...runs.flow import Budget
from ..options import NAMES, parse_datamorphisms, parse_filters, to_name_list
from .chains import MAX_ORDER, PLAIN_NAMES, format_size, parse_strategy
from .plan import ARGUMENTS, CombinationPlan, collect_seeds

MAX_LIMIT = 1_000_000_000  # cases; far above what fits into memory
BYTES_PER_CASE = 60  # besides its values: its chain, its origins, and the table of known cases
PERMUTATION_RATIO = 50  # NumPy permutes all numbers if it draws more than one of so many
SUGGESTED_BUDGET = 10_000  # cases, in the message that there are too many


def parse_case_budget(text: str) -> int | str:
    """Return a number of cases from ``1000``, and any other budget as it is written."""
    return int(text) if text.strip().isdecimal() else parse_budget(text)


def suggest_budget(max_cases: int) -> str:
    """Return the option that draws some of the cases, for a message."""
    budget = min(max_cases, SUGGESTED_BUDGET)
    return f"budget={budget} (--budget {budget} on the command line)"


@dataclass(frozen=True, eq=False)
class ChainOptions(Running):
    """Which chains of datamorphisms are applied: what scripts need of a combination."""

    OWNER: ClassVar[str] = "combine"

    strategy: Annotated[
        str,
        Option(
            'Which chains are tried. ``"first_order"``: every datamorphism once on every seed case. ``"combinations"``: every '
            'subset of the datamorphisms, in declared order. ``"permutations"``: every ordering of every subset. '
            '``"sequences"``: all sequences up to the length `order`, repetition allowed. The names that Morphy gave them are '
            'accepted too, in any style: ``"firstOrderMutantComplete"``, ``"combinatorialComplete"``, '
            '``"permutationComplete"``, ``"kOrderComplete"``.',
            "NAME",
            help="Which chains to apply: first_order, combinations, permutations or sequences.",
            suggestions=tuple(PLAIN_NAMES),
        ),
    ] = "first_order"
    _: KW_ONLY
    datamorphisms: Annotated[
        Sequence[str] | str | None,
        Option(
            "The names of the datamorphisms to combine; by default all. One of several inputs takes the case of the chain and "
            "`arguments`.",
            "NAMES",
            help="The datamorphisms to combine, separated by commas. The default is all.",
            parse=parse_datamorphisms,
            expected=NAMES,
        ),
    ] = None
    order: Annotated[
        int | None,
        Option(
            'The length of the longest chains of ``"sequences"``, at most 100.',
            "K",
            low=1,
            high=MAX_ORDER,
            help="Length of the longest chains of sequences.",
        ),
    ] = None
    arguments: Annotated[
        str,
        Option(
            'What a datamorphism of several inputs takes besides the case of the chain. ``"seeds"``: different other seed cases, '
            'in every order. ``"cases"``: also the new cases that the strategy makes, so that any argument may be a new case.',
            "NAME",
            help="What datamorphisms of several inputs take besides the case of the chain: other seeds, or all other cases.",
            choices=ARGUMENTS,
        ),
    ] = "seeds"
    filters: Annotated[
        Sequence[str] | str | None,
        Option(
            "The names of set filters, which select among the cases before they are executed. The origins of a selected case "
            "stay in the test set, marked as ancestors, because they are needed to check it.",
            "NAMES",
            help="Set filters that select among the cases, separated by commas.",
            parse=parse_filters,
            expected=NAMES,
        ),
    ] = None
    limit: Annotated[
        int,
        Option(
            "The largest number of new cases that may be made without a `budget`.",
            "N",
            low=1,
            high=MAX_LIMIT,
            help="Without a budget, refuse to make more than N cases.",
        ),
    ] = 100_000
    budget: Annotated[
        Budget | str | int | None,
        Option(
            "The number of cases to draw if there are more: each chain of each seed case is equally likely, and the cases on "
            'the way to them are made too, marked as ancestors. Or, as text, the time or the executions to spend: ``"1m"``, '
            '``"10000 runs"``. The cases that are left then are not executed.',
            "BUDGET",
            low=1,
            high=MAX_LIMIT,
            expected=f"an int in the range [1, {MAX_LIMIT:,}], or a text such as '1m' or '10000 runs'",
            help='Draw so many cases at random if there are more; or the time or model calls to spend: "1m", "10000 runs".',
            parse=parse_case_budget,
        ),
    ] = None
    seed: Annotated[int, SEED] = 0

    def validate(self) -> None:
        """Raise `ArgumentError` for a strategy that does not exist, and for an order that it does not have."""
        case_budget = self.budget
        super().validate()
        if is_integer(case_budget):
            self.set(budget=int(case_budget))  # not a number of runs, as for other capabilities
        strategy, order = parse_strategy(self.strategy, self.order)
        self.set(strategy=strategy, order=order)
        for name in ("datamorphisms", "filters"):
            names = to_name_list(name, self.OWNER, getattr(self, name))
            if names is not None and not names:
                reject(name, self.OWNER, NAMES, names)
            self.set(**{name: names})

    @property
    def limits(self) -> Budget:
        """The budget of time or runs; a number of cases is none."""
        return Budget() if self.sample_size is not None else Budget.parse(self.budget)

    @property
    def sample_size(self) -> int | None:
        """The number of cases to draw; None for all."""
        return self.budget if isinstance(self.budget, int) else None

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options."""
        request = super().to_request()
        return request if self.sample_size is None else request | {"budget": self.sample_size}

    def make_plan(
        self, system: TestSystem, seeds: DataLike | TestSet | int | None, data: DataLike | None = None
    ) -> CombinationPlan:
        """Collect the seed cases and the datamorphisms, and count the chains."""
        names: Any = self.datamorphisms  # a list, since validation
        seed_cases = collect_seeds(system, seeds, data, self.seed, self.OWNER)
        plan = CombinationPlan.build(system, seed_cases, self.strategy, self.order, names, self.arguments)
        for name in self.filters or ():
            system.find("set_filter", name)
        return plan

    def validate_size(self, plan: CombinationPlan) -> None:
        """Raise `ArgumentError` if there are more cases than the limit, and none are drawn."""
        sample_size = self.sample_size
        if sample_size is not None and sample_size < plan.size and self.arguments != "seeds":
            raise ArgumentError(
                f"Cases are drawn among chains whose other arguments are seed cases, and {format_size(plan.size)} cases are more "
                f'than the budget of {sample_size:,}. Give arguments="seeds", or fewer seed cases or datamorphisms.'
            )
        if sample_size is None and plan.size > self.limit:
            raise ArgumentError(
                f"{self.strategy} of {pluralise(len(plan.datamorphisms), 'datamorphism')} on "
                f"{pluralise(len(plan.seeds), 'seed case')} makes up to {format_size(plan.size)} cases, more than the limit "
                f"of {self.limit:,}. To draw some at random, add {suggest_budget(self.limit)}. Or "
                "give fewer seed cases or datamorphisms, or a higher limit."
            )
        case_count = plan.size if sample_size is None else min(plan.size, sample_size)
        permuted_count = min(plan.size, PERMUTATION_RATIO * case_count) if case_count < plan.size else 0
        numbers = {"limit": self.limit} if sample_size is None else {"budget": sample_size}
        memory = case_count * (BYTES_PER_CASE + 8.0 * len(plan.seeds.space)) + 8.0 * permuted_count
        refuse_too_large(self.OWNER, numbers, memory=memory)


@dataclass(frozen=True, eq=False)
class CombineOptions(ChainOptions, SystemOptions):
    """The options of `dm.combine`, validated."""

    _: KW_ONLY
    seeds: Annotated[
        DataLike | TestSet | int | None,
        Option(
            "The seed cases, or how many to make. By default those of the first seed maker.",
            "N",
            low=1,
            help="Number of seed cases.",
            value_type=int,
            stored=False,  # their number is
        ),
    ] = None

    def make_subject(self, execution: Execution[Any] | None = None) -> CombinationPlan:
        """Return what is combined."""
        data: DataLike | None = self.model if hasattr(self.model, "iloc") else None
        return self.make_plan(to_test_system(self.model), self.seeds, data)

    def describe_run(self, execution: Execution[CombinationPlan]) -> dict[str, Any]:
        """Return what a run store keeps; of the seed cases, their number."""
        plan = execution.subject
        self.validate_size(plan)  # before a run is stored
        return {
            "system": plan.system.name,
            "parameters": self.to_request() | {"seeds": len(plan.seeds)},
            "model": self.model,
            "seeds": plan.seeds.inputs,
        }
