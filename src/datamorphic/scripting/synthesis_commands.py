"""`SynthesisCommands`: combine datamorphisms, and optimise the cases of a pool."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from .._deprecation import rename_keywords
from .._text import format_short
from ..errors import Interrupted
from ..morphisms.case_columns import CaseKind
from ..morphisms.cases import TestSet
from ..synthesis.combination.options import ChainOptions
from ..synthesis.combination.result import CombinationResult
from ..synthesis.combination.run import run_combination
from ..synthesis.optimisation.options import SearchOptions
from ..synthesis.optimisation.result import Optimisation
from ..synthesis.optimisation.run import run_optimisation
from ..synthesis.optimisation.subject import OptimisationSubject
from .case_commands import CaseCommands
from .names import FITNESS
from .pool_state import command, to_list

DEFAULT_METRIC = "AvgDistance"
_WORD_START = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # in the name of a strategy

Pool = TypeVar("Pool", bound=CaseCommands)
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def make_strategy_command(
    work: Callable[Concatenate[Pool, str, Parameters], Result], strategy: str, text: str, **former_names: str
) -> Callable[Concatenate[Pool, Parameters], Result]:
    """Return the command of a strategy: `work` with this strategy; `text` is its documentation."""

    def run(pool: Pool, /, *values: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        return work(pool, strategy, *values, **keywords)

    declared = signature(work)
    pool_parameter, _, *others = declared.parameters.values()
    run.__signature__ = declared.replace(parameters=[pool_parameter, *others])  # type: ignore[attr-defined]
    run.__name__, run.__doc__ = _WORD_START.sub("_", strategy).lower(), text
    run.__qualname__ = f"TestPool.{run.__name__}"
    return rename_keywords("0.2", **former_names)(command(strategy)(run))


class SynthesisCommands(CaseCommands):
    """The commands that make new cases from old ones by a strategy."""

    # -- combining -----------------------------------------------------------------------------------------------------

    def _run_combination(
        self, options: ChainOptions, datamorphisms: Sequence[str], seeds: TestSet | int | None
    ) -> CombinationResult:
        plan = options.make_plan(self._bind_system(datamorphisms), seeds)
        combination = run_combination(plan, options, self.drive)
        self._count(combination.tally, combination.tally.runs)
        return combination

    def _combine_up_to(
        self,
        strategy: str,
        order: int | None,
        seed_makers: Sequence[str],
        datamorphisms: Sequence[str],
        filters: Sequence[str] | None = None,
        metamorphisms: Sequence[str] | None = None,
        budget: int | None = None,
    ) -> CombinationResult:
        rng, book = self._next_generator(), self.source.names
        for maker in book.expand("seed_maker", to_list(seed_makers)):
            self._apply_seed_maker(maker, rng)
        pool_tests = self._require_tests()
        chosen_filters = book.expand("set_filter", to_list(filters))
        chosen = [entry.name for entry in book.expand("datamorphism", to_list(datamorphisms))]
        options = ChainOptions(
            strategy=strategy,
            datamorphisms=chosen,
            order=order,
            filters=[entry.name for entry in chosen_filters if not entry.provided] or None,
            budget=budget,
            seed=int(rng.integers(2**31)),
            progress=self.progress,
        )
        is_original = pool_tests.kinds == CaseKind.ORIGINAL
        combination = self._run_combination(options, chosen, pool_tests.filter(is_original))
        mutants = pool_tests.filter(~is_original)
        self._tests = TestSet.concat([combination.tests, mutants]) if len(mutants) else combination.tests
        for entry in chosen_filters:
            if entry.provided:
                self._apply_set_filter(entry)
        verdicts = dict(combination.verdicts)
        if metamorphisms is not None:
            metamorphism_names = {entry.name for entry in book.expand("metamorphism", to_list(metamorphisms))}
            verdicts = {name: column for name, column in verdicts.items() if name in metamorphism_names}
        self._report_verdicts(verdicts, combination.tests)
        if combination.interrupted:
            raise Interrupted("interrupted")
        return combination

    def _combine(
        self,
        strategy: str,
        seed_makers: Sequence[str],
        datamorphisms: Sequence[str],
        filters: Sequence[str] | None = None,
        metamorphisms: Sequence[str] | None = None,
        budget: int | None = None,
    ) -> CombinationResult:
        return self._combine_up_to(strategy, None, seed_makers, datamorphisms, filters, metamorphisms, budget)

    first_order_mutant_complete = make_strategy_command(
        _combine,
        "firstOrderMutantComplete",
        """Make seed cases, and apply every datamorphism once to every original case.

        The new cases join the pool. They are executed if the test system has an executor, and judged by the metamorphisms, by
        default all. `budget` is the number of cases to draw where there are too many.
        """,
    )
    combinatorial_complete = make_strategy_command(
        _combine,
        "combinatorialComplete",
        "Apply every subset of the datamorphisms, in declared order; else like `first_order_mutant_complete`.",
    )
    permutation_complete = make_strategy_command(
        _combine,
        "permutationComplete",
        "Apply every ordering of every subset of the datamorphisms; else like `first_order_mutant_complete`.",
    )
    k_order_complete = make_strategy_command(
        _combine_up_to,
        "kOrderComplete",
        "Apply all sequences of datamorphisms up to the length `order`; else like `first_order_mutant_complete`.",
    )

    @command("makeMutants1stOrderComplete")
    def make_mutants_1st_order_complete(self, datamorphisms: Sequence[str]) -> CombinationResult:
        """Apply every datamorphism once to every original case of the pool.

        Binary datamorphisms are applied to every pair of original cases.
        """
        return self._combine("firstOrderMutantComplete", [], datamorphisms)

    def count_combinations(self, strategy: str, datamorphisms: Sequence[str], order: int | None = None) -> int:
        """Return the largest number of new cases that a combination of the original cases can make, without making them."""
        tests = self._require_tests()
        chosen = [entry.name for entry in self.source.names.expand("datamorphism", to_list(datamorphisms))]
        options = ChainOptions(strategy=strategy, datamorphisms=chosen, order=order)
        originals = tests.filter(tests.kinds == CaseKind.ORIGINAL)
        return options.make_plan(self._bind_system(chosen), originals).size

    # -- optimising ----------------------------------------------------------------------------------------------------

    def _optimise(
        self,
        strategy: str,
        datamorphisms: Sequence[str],
        metrics: Sequence[str] | None = None,
        max_cycles: int | None = None,
        mutant_ratio: float | None = None,
        remove_ratio: float | None = None,
        change_rate: float | None = None,
    ) -> Optimisation:
        rng, book, tests = self._next_generator(), self.source.names, self._require_tests()
        numbers: dict[str, Any] = {
            "max_cycles": max_cycles,
            "mutant_ratio": mutant_ratio,
            "remove_ratio": remove_ratio,
            "change_rate": change_rate,
        }
        chosen = [entry.name for entry in book.expand("datamorphism", to_list(datamorphisms))]
        metric_names = [DEFAULT_METRIC] if metrics is None else to_list(metrics)
        options = SearchOptions(
            strategy=strategy,
            metric=[entry.name for entry in book.expand(FITNESS, metric_names)],
            datamorphisms=chosen,
            **{name: number for name, number in numbers.items() if number is not None},
        )
        subject = OptimisationSubject.of_system(self._bind_system(chosen), tests, None, rng)
        return self._run_optimisation(options, subject, rng, self.seed)

    ga_optimize_filter = make_strategy_command(
        _optimise,
        "GAOptimizeFilter",
        """Improve the pool at equal size: add mutants, then apply set filters.

        This is repeated, and the best set becomes the pool.
        `metrics` are to become larger: ``AvgDistance`` by default, ``border_coverage``, ``label_balance``, ``leaf_coverage``,
        ``mutation_score``, or a set metric of the test system. The other arguments are those of `dm.optimise`.
        """,
        steps="max_cycles",
    )
    ga_optimize_weakest_removal = make_strategy_command(
        _optimise,
        "GAOptimizeWeakestRemoval",
        "Improve the pool at equal size: remove the cases that contribute least; else like `ga_optimize_filter`.",
        steps="max_cycles",
    )
    ga_optimize_strongest_mutant = make_strategy_command(
        _optimise,
        "GAOptimizeStrongestMutant",
        "Improve the pool: the strongest mutants replace the weakest cases; else like `ga_optimize_filter`.",
        steps="max_cycles",
    )
    ga_optimize_random_removal = make_strategy_command(
        _optimise,
        "GAOptimizeRandomRemoval",
        "Improve the pool at equal size: remove random cases; else like `ga_optimize_filter`.",
        steps="max_cycles",
    )

    def _run_optimisation(
        self, options: SearchOptions, subject: OptimisationSubject, rng: np.random.Generator, seed: int
    ) -> Optimisation:
        """Make the best set the pool, and show how much its metrics improved."""
        result = run_optimisation(options.add_metrics(subject), rng, options, self.drive, seed=seed)
        self._count(result.tally, result.tally.runs)
        self._tests = result.tests
        for name, value in result.fitness.items():
            self.measures.append({"metric": name, "value": value, "cases": len(result.tests)})
            self._say(f"{result.strategy}: {name} {format_short(result.start_fitness[name])} -> {format_short(value)}")
        if result.stopped == "interrupted":
            raise Interrupted("interrupted")
        return result
