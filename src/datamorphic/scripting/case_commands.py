"""`CaseCommands`: make, load, save, measure, filter, execute and judge the cases of a pool."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .._estimates import WorkPace
from .._text import format_short, pluralise
from .._validation import check_types
from ..errors import DataError, TestSystemError
from ..morphisms.case_columns import Correctness, make_missing_outputs
from ..morphisms.cases import TestSet, Verdict
from ..morphisms.code_coverage import measure_code_coverage
from ..morphisms.stock import label_balance, mean_nearest_distance, std_nearest_distance, thin_out, too_close
from ..morphisms.system import TestSystem, judge_verdicts
from ..morphisms.text_values import decode_texts, encode_texts, to_text
from ..runs.driver import CallCounter
from ..runs.flow import ask
from ..space.hashing import count_different_rows
from ..space.outputs import Outputs
from ..space.points import Points
from ..systems.code_recorder import CODE_METRICS
from . import names
from .commands import ALL
from .names import ScriptName
from .pool_state import PoolState, command, to_list

SPARSE_DISTANCE = 0.05  # of the provided set filter `sparse`, as published
TOO_CLOSE_DISTANCE = 0.02  # of the provided case filter `TooClose`, as published
MAX_EXAMPLES_PER_JUDGEMENT = 5


class CaseCommands(PoolState):
    """The commands that make, measure, filter, execute and judge cases."""

    # -- test systems and test sets ------------------------------------------------------------------------------------

    @command("loadTestSpec")
    @check_types
    def load_test_spec(self, spec: str) -> None:
        """Load another test system, and empty the pool."""
        self._use(self.specs.find(spec))

    @command("clean")
    def clean(self) -> None:
        """Empty the pool and count runs from zero."""
        self._empty()

    @command("loadTestSet")
    @check_types
    def load_test_set(self, file: str) -> None:
        """Add the test cases of a file: ``.tcs`` of Morphy, ``.csv`` or ``.parquet``."""
        self._add(TestSet.load(self.folder.find_file(file, self.file_folder), space=self.space))

    @command("saveTestResult")
    @check_types
    def save_test_result(self, file: str) -> None:
        """Write the test cases to a file: ``.tcs`` of Morphy, ``.csv`` or ``.parquet``."""
        path = self.folder.find_target(file, self.file_folder)
        self.tests.save(path)
        self._note_file(path)

    @command("makeSeed")
    def make_seed(self, makers: Sequence[str]) -> None:
        """Add the cases of seed makers.

        ``RandomValue<N>`` draws N cases from the first seed maker with a parameter ``n``, or else from the space.
        ``Select<N>RandomTestCases`` keeps N cases of the pool, and ``ResetTestSuite`` empties it.
        """
        rng = self._next_generator()
        for maker in self.source.names.expand("seed_maker", to_list(makers)):
            self._apply_seed_maker(maker, rng)

    def _apply_seed_maker(self, maker: ScriptName, rng: np.random.Generator) -> None:
        if maker.name == names.RESET and maker.provided:
            self._empty()
        elif maker.provided and maker.name.startswith("Select"):
            tests = self.tests
            if maker.number < len(tests):
                self._tests = tests.take(rng.permutation(len(tests))[: maker.number])
        else:
            self._add(self._make_seeds(maker, rng))

    def _make_seeds(self, maker: ScriptName, rng: np.random.Generator) -> TestSet:
        if not maker.provided:
            tests = self.system.make_seeds(maker.name, seed=rng)
        elif (counting_maker := _find_counting_maker(self.system)) is not None:
            tests = self.system.make_seeds(counting_maker, n=maker.number, seed=rng).take(slice(0, maker.number))
        else:
            tests = TestSet.of_seeds(self.space.sample(maker.number, seed=rng, points=True), maker.name)
        if self._tests is not None and len(self._tests) and tests.space is not self._tests.space:
            tests = replace(tests, inputs=self._tests.space.points(tests.input))
        return tests

    @command("makeMutant")
    def make_mutant(self, datamorphisms: Sequence[str]) -> None:
        """Add the cases that datamorphisms make from every case in the pool.

        The other origins of a datamorphism of several cases are drawn from the pool.
        """
        rng, tests = self._next_generator(), self._require_tests()
        chosen = [entry.name for entry in self.source.names.expand("datamorphism", to_list(datamorphisms))]
        system = self._get_moving_system(chosen)
        for name in chosen:
            arity = system.find("datamorphism", name).arity
            others = [tests.take(rng.integers(len(tests), size=len(tests))) for _ in range(arity - 1)]
            self._add(system.mutate(name, tests, *others, seed=rng))

    @command("editTestCase")
    @check_types
    def edit_test_case(self, case_id: int, feature: str, value: object) -> None:
        """Change the value of a feature in one case.

        The case keeps its id, and becomes an original case without an output: execute it again. The value may be given as
        text.
        """
        tests = self._require_tests()
        case_row = np.flatnonzero(tests.ids == case_id)
        if feature not in tests.space.names or not case_row.size:
            self._tests = tests.edit(case_id, {feature: value})  # raises, and says what is unknown
            return
        texts = decode_texts(tests.space, tests.inputs.take(case_row).codes)
        texts[tests.space.position(feature)] = [value if isinstance(value, str) else to_text(value)]
        codes = encode_texts(tests.space, texts, lambda _: f"Case {case_id}")
        parsed_value = Points(tests.space, codes).frame[feature].iloc[0]
        self._tests = tests.edit(case_id, {feature: parsed_value})

    # -- measuring, filtering, executing, judging ----------------------------------------------------------------------

    @command("measureTestSet")
    def measure_test_set(self, metrics: Sequence[str]) -> dict[str, float]:
        """Measure the pool, and return the value of each metric."""
        values: dict[str, float] = {}
        for metric in self.source.names.expand("set_metric", to_list(metrics)):
            if not metric.provided:
                value = self.system.find("set_metric", metric.name).evaluate_set(self.tests)
            elif metric.name == "LabelBalance":
                value = label_balance(self.tests)
            elif metric.name in CODE_METRICS:
                tally = CallCounter()
                value = measure_code_coverage(
                    metric.name, self._executor, self.tests, owner=self.system.name, drive=self.drive, tally=tally
                )
                self._count(tally, tally.runs)
            else:
                measure = mean_nearest_distance if metric.name == "AvgDistance" else std_nearest_distance
                value = measure(self.tests, scaled=False)
            values[metric.name] = float(value)
            self.measures.append({"metric": metric.name, "value": float(value), "cases": len(self.tests)})
            self._say(f"{metric.name}: {format_short(float(value))}")
        return values

    @command("testSetFilter")
    def test_set_filter(self, filters: Sequence[str]) -> None:
        """Replace the pool by what set filters return, one after the other."""
        for entry in self.source.names.expand("set_filter", to_list(filters)):
            self._apply_set_filter(entry)

    def _apply_set_filter(self, entry: ScriptName) -> None:
        tests = self._require_tests()
        if not entry.provided:
            self._tests = self.system.find("set_filter", entry.name).evaluate_set(tests)
        elif entry.name == "sparse":
            self._tests = thin_out(tests, SPARSE_DISTANCE, scaled=False)
        else:
            self._tests = tests.drop_duplicates()

    @command("testCaseFilter")
    def test_case_filter(self, filters: Sequence[str]) -> None:
        """Keep the cases that pass every case filter.

        ``TooClose`` drops the cases with another case nearby.
        """
        for entry in self.source.names.expand("case_filter", to_list(filters)):
            tests = self._require_tests()
            if entry.provided:
                keep = ~too_close(tests, TOO_CLOSE_DISTANCE, scaled=False)
            else:
                keep = self.system.find("case_filter", entry.name).evaluate_cases(tests)
            self._tests = tests.filter(keep)

    @command("executeTestCases")
    @check_types
    def execute_test_cases(self, case_id: int | None = None) -> None:
        """Query the system for the cases without an output, or for one case, even if it has one."""
        tests, executor, tally = self._require_tests(), self._require_executor(), CallCounter()
        is_missing = np.ones(len(tests), dtype=bool) if tests.outputs is None else ~tests.outputs.ok
        if case_id is not None:
            is_missing = tests.ids == case_id
            if not is_missing.any():
                raise DataError(f"There is no test case with id {case_id} in the pool.")
        rows = np.flatnonzero(is_missing)
        if not rows.size:
            return
        inputs = tests.inputs.take(rows)
        pace = WorkPace(
            "executeTestCases",
            {"cases": len(rows)},
            remedy="remove cases by testCaseFilter",
            count_all_rows=lambda: count_different_rows(inputs.codes),
        )
        outputs = self.drive(ask(inputs), executor, tally=tally, pace=pace, on_piece=pace.add_answers)
        self._count(tally, len(rows))
        if len(rows) < len(tests):
            earlier_outputs = make_missing_outputs(len(tests)) if tests.outputs is None else tests.outputs
            places = np.arange(len(tests))
            places[rows] = len(tests) + np.arange(len(rows))
            outputs = Outputs.concat([earlier_outputs, outputs]).take(places)
        correctness = np.where(is_missing, Correctness.NOT_JUDGED, tests.correctness)
        self._tests = tests.with_outputs(outputs).with_correctness(correctness)
        failure_count = int((~outputs.ok[rows]).sum())
        if failure_count:
            self._say(f"{pluralise(failure_count, 'case')} of {len(tests):,} got no answer.")

    @command("checkMetamorphisms")
    def check_metamorphisms(self, metamorphisms: Sequence[str] | None = None) -> dict[str, dict[str, int]]:
        """Judge the executed cases by metamorphisms, by default by all.

        Returns, for each metamorphism, the number of cases by verdict: holds, violated, inapplicable or undefined.
        """
        tests = self._require_tests()
        entries = self.source.names.expand("metamorphism", [ALL] if metamorphisms is None else to_list(metamorphisms))
        if not entries:
            raise TestSystemError(
                f"{self.system.name} has no metamorphism to check. Mark a function with @metamorphism."
            )
        all_verdicts = self.system.check(tests)
        verdicts = {entry.name: all_verdicts[entry.name] for entry in entries}
        self._tests = tests.with_correctness(judge_verdicts(verdicts, len(tests)))
        return self._report_verdicts(verdicts, tests)

    def _report_verdicts(
        self, verdicts: dict[str, npt.NDArray[np.object_]], tests: TestSet
    ) -> dict[str, dict[str, int]]:
        """Show and return how often each metamorphism holds."""
        table: dict[str, dict[str, int]] = {}
        for name, column in verdicts.items():
            counts = table[name] = {verdict.value: int((column == verdict).sum()) for verdict in Verdict}
            examples = tests.ids[column == Verdict.VIOLATED][:MAX_EXAMPLES_PER_JUDGEMENT].tolist()
            message = self.system.find("metamorphism", name).mark.message
            self.judgements.append({"metamorphism": name, **counts, "message": message, "examples": examples})
            applied = counts["holds"] + counts["violated"]
            self._say(f"{name}: {pluralise(counts['violated'], 'violation')} in {pluralise(applied, 'case')}")
        return table


def _find_counting_maker(system: TestSystem) -> str | None:
    """Return the first seed maker with a parameter ``n``, the number of cases."""
    for name, maker in system.seed_makers.items():
        if "n" in inspect.signature(maker.function).parameters:
            return name
    return None
