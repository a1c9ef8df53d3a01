"""`CallCommands`: `dm.explore`, `dm.combine` and `dm.optimise` as commands."""

from __future__ import annotations

from typing import Any

from .._validation import to_generator
from ..errors import Interrupted
from ..exploration.front import Front
from ..exploration.options import WalkOptions
from ..exploration.run import run_exploration
from ..morphisms.cases import TestSet
from ..morphisms.subject import SubjectUnderTest, build_subject
from ..synthesis.combination.options import ChainOptions
from ..synthesis.combination.result import CombinationResult
from ..synthesis.optimisation.options import SearchOptions
from ..synthesis.optimisation.result import Optimisation
from ..synthesis.optimisation.subject import OptimisationSubject
from .call_options import POOL_SEEDS, parse_options
from .names import OPTION_MORPHISMS
from .pool_state import command
from .synthesis_commands import SynthesisCommands


class CallCommands(SynthesisCommands):
    """The commands that call public functions, with options such as ``"walks=100"``.

    They draw the same random numbers as the functions: their seed is an option, not that of the pool.
    """

    @command("explore")
    def explore_with(self, *options: str) -> Front:
        """Explore as `dm.explore`, and make its seed cases and border pairs the pool.

        ``"seeds=pool"`` starts from the cases of the pool.
        """
        arguments, seed, seeds = self._read_options("explore", options)
        rng = to_generator("seed", "explore", seed)
        explore_options = WalkOptions(**arguments)
        system, executor = self._bind_system(), self._require_executor()
        if isinstance(seeds, TestSet):
            tests = seeds
            subject = SubjectUnderTest(name=system.name, sut=executor, system=system, seeds=seeds.inputs)
        else:
            subject = build_subject(system, None, seeds=seeds, rng=rng)
            tests = TestSet.of_seeds(subject.seeds)
        self._tests = tests
        front = run_exploration(subject, rng, explore_options, self.drive, seed=seed)
        self._note_front(front, tests, "midpoint" if subject.system.midpoint is None else subject.system.midpoint.name)
        return front

    @command("combine")
    def combine_with(self, *options: str) -> CombinationResult:
        """Combine as `dm.combine`, and make its cases the pool.

        ``"seeds=pool"`` starts from the cases of the pool.
        """
        arguments, seed, seeds = self._read_options("combine", options)
        combine_options = ChainOptions(**arguments, seed=seed, progress=self.progress)
        combination = self._run_combination(combine_options, (), seeds)
        self._tests = combination.tests
        self._report_verdicts(dict(combination.verdicts), combination.tests)
        if combination.interrupted:
            raise Interrupted("interrupted")
        return combination

    @command("optimise")
    def optimise_with(self, *options: str) -> Optimisation:
        """Optimise as `dm.optimise`, and make the best set the pool.

        ``"seeds=pool"`` starts from the cases of the pool.
        """
        arguments, seed, seeds = self._read_options("optimise", options)
        optimise_options = SearchOptions(**arguments)
        rng = to_generator("seed", "optimise", seed)
        tests, count = (seeds, None) if isinstance(seeds, TestSet) else (None, seeds)
        subject = OptimisationSubject.of_system(self._bind_system(), tests, count, rng)
        return self._run_optimisation(optimise_options, subject, rng, seed)

    def _read_options(self, function: str, texts: tuple[str, ...]) -> tuple[dict[str, Any], int, TestSet | int | None]:
        """Return the arguments of a function, its seed and its seed cases."""
        arguments = parse_options(function, texts)
        for option in OPTION_MORPHISMS.keys() & arguments.keys():
            arguments[option] = self.source.names.expand_option(option, arguments[option])
        seed, seeds = arguments.pop("seed", 0), arguments.pop("seeds", None)
        return arguments, seed, self._require_tests() if seeds == POOL_SEEDS else seeds
