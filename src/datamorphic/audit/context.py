"""`CheckContext`: the model, the data and what the checks know so far, and the budget."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .._clock import measure_slowdown, read_clock
from .._lazy import pd
from .._text import format_short
from .._typing import ModelLike
from ..core.execute import Execution
from ..core.result import Finding
from ..errors import BudgetSpent, OutOfBudget
from ..morphisms.subject import SubjectUnderTest
from ..runs.deadline import TimeLimit
from ..runs.driver import CallCounter, drive
from ..runs.engine_base import Engine
from ..runs.engines import PersistentEngine
from ..runs.flow import Budget, ask
from ..space.constraints import Constraint
from ..space.dates import DateColumn
from ..space.outputs import MAX_CLASSES_AS_FLOATS, Outputs
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from ..systems.cache import CachingSystem
from .columns import ColumnRole, find_identifiers
from .expectations import Expectations
from .influence import Influence
from .labels import align_labels, find_missing_labels, match_labels, to_label_texts
from .reference_model import MAX_REFERENCE_ROWS, ReferenceModel, fit_reference_model

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ..exploration.front import Front
    from ..runs.journal import RecordedLimit

Measured = TypeVar("Measured")
Limit: TypeAlias = "TimeLimit | RecordedLimit"
REPORT_BUDGET_SHARE = 0.06  # reserved for building the page
MIN_REPORT_SECONDS = 0.5  # of computing: the page does not get smaller with the budget
MAX_REPORT_BUDGET_SHARE = 0.25  # of a budget of a few seconds
MAX_EXTRA_PART = 0.2  # of what is left of the budget, for a check whose share by weight is too small
MIN_SECONDS_TO_START = 0.01  # with less left, no check starts
SLOW_CALL_SECONDS = 0.3  # a slower call is timed again and, if it stays slow, ends the measurement of the pace
REFERENCE_SECONDS = 1.0  # of computing; with less left, no reference model is fitted
PACE_ROWS = (1, 1, 3, 24, 192, 512)  # of the calls before the first check
FINE_PACE_ROWS = (1, 1, 3, 8, 24, 64, 192, 512)  # the same for a budget in seconds, to measure the pace
MIN_PACE_GROWTH = 3.0  # of the time of a call, from which the time per row is clear
MAX_PACE_BUDGET_SHARE = 0.1  # of the whole budget, for the next of these calls
SCORE_COST = 2.0  # of a row with scores, in rows without: most systems compute both separately
MAX_ROWS_TO_JUDGE = 1_000  # whose answers tell whether they are numbers or classes
MAX_BATCH_SECONDS = 0.5  # for a batch, since the clock is looked at between batches
SLOW_ROWS = 1_000  # a system that answers fewer within the whole budget is slow: then every row counts
MAX_COUNT_DIGITS = 2  # of the numbers of cases for a slow system; for others they are 1, 2 or 5 times a power of ten


class BudgetClock:
    """The time and the runs that are left of the budget of an audit.

    It stands still until the model is queried: loading the model and the data, and imports of libraries, do not count.
    Whatever is measured for a decision is stored with the run of an `execution`, so that a resumed audit decides as before.
    """

    def __init__(self, budget: Budget, execution: Execution[Any] | None = None) -> None:
        self.budget, self.runs = budget, 0
        self._execution = execution
        self.slowdown = 1.0  # how much longer computing takes than on a machine that does nothing else
        self._counted_seconds = 0.0  # before it was last started
        self._start_time: float | None = None  # None while it stands still

    @classmethod
    def start_new(cls) -> Self:
        """Return a clock without a limit that counts the time from now on."""
        clock = cls(Budget())
        clock.start()
        return clock

    @property
    def seconds(self) -> float:
        """The seconds that count: the duration of the audit."""
        self._counted_seconds = self.recall(self._measure)
        self._start_time = None if self._start_time is None else self._read()
        return self._counted_seconds

    def _measure(self) -> float:
        return self._counted_seconds + (0.0 if self._start_time is None else self._read() - self._start_time)

    def _read(self) -> float:
        """Return the time; in a stored run that of its journal, which includes the time of answers that are read from it."""
        journal = None if self._execution is None else self._execution.journal
        return read_clock() if journal is None else journal.seconds

    def recall(self, measure: Callable[[], Measured]) -> Measured:
        """Return what is measured, or what was measured at this place before the run was resumed."""
        return measure() if self._execution is None else self._execution.recall(measure)

    def limit(self, seconds: float | None) -> Limit:
        """Return a limit that ends its block after some seconds."""
        return TimeLimit(seconds) if self._execution is None else self._execution.limit(seconds)

    def start(self) -> None:
        """Start or continue to count the time."""
        if self._start_time is None:
            self._start_time = self._read()

    def stop(self) -> None:
        """Stop counting the time, until the next start."""
        self._counted_seconds, self._start_time = self._measure(), None

    @contextmanager
    def limit_trial(self, part: float) -> Iterator[None]:
        """Count the time of a first query of the model, and end it after a part of the budget."""
        self.start()
        try:
            with self.limit(self.share(part).seconds):
                yield
        finally:
            self.stop()

    def import_libraries(self, names: Sequence[str]) -> None:
        """Import modules, without counting the time."""
        missing_names = [name for name in names if name not in sys.modules]
        if missing_names:
            self.stop()
            begin_time = read_clock()
            for name in missing_names:
                with suppress(ImportError):  # the check that needs it reports it
                    import_module(name)
            if self._execution is not None and self._execution.journal is not None:
                self._execution.journal.exclude(read_clock() - begin_time)
            self.start()

    def share(self, part: float, max_share: float = 1.0, own_seconds: float = 0.0) -> Budget:
        """Return a part of what is left of the budget, at most `max_share` of the whole.

        Work that computes for `own_seconds` on a machine that does nothing else gets enough time for that, if it is not too
        much of what is left.
        """
        seconds = runs = None
        if self.budget.seconds is not None:
            seconds_left = self._subtract(self.seconds)
            seconds = max(seconds_left * part, min(own_seconds * self.slowdown, seconds_left * MAX_EXTRA_PART))
            seconds = min(seconds, max_share * self.budget.seconds)
        if self.budget.runs is not None:
            runs = int(min(max(0, self.budget.runs - self.runs) * part, max_share * self.budget.runs))
        return Budget(runs, seconds)

    def estimate_seconds_left(self) -> float | None:
        """Return the seconds that are left for people who wait; nothing may depend on it."""
        return None if self.budget.seconds is None else self._subtract(self._measure())

    def _subtract(self, seconds: float) -> float:
        """Return the seconds that are left after some were spent, without those of the report."""
        return max(0.0, (self.budget.seconds or 0.0) - self._report_seconds - seconds)

    @property
    def _report_seconds(self) -> float:
        """The seconds of the budget that are reserved for the report: more on a busy machine."""
        total = self.budget.seconds or 0.0
        wanted = max(REPORT_BUDGET_SHARE * total, MIN_REPORT_SECONDS * self.slowdown)
        return min(wanted, MAX_REPORT_BUDGET_SHARE * total)

    def has_left(self, part: float) -> bool:
        """Return whether a part of the whole budget is left."""
        return self.budget.seconds is None or (self.share(1.0).seconds or 0.0) >= part * self.budget.seconds

    @property
    def spent(self) -> bool:
        """Whether the budget is used up."""
        remaining = self.share(1.0)
        return (remaining.seconds is not None and remaining.seconds < MIN_SECONDS_TO_START) or (
            remaining.runs is not None and remaining.runs < 1
        )


@dataclass
class Pace:
    """The speed of a system."""

    seconds_per_call: float = 0.0  # without its rows
    seconds_per_row: float = 0.0


@dataclass
class CaseNeed:
    """The numbers of cases that the budget allowed a check, one for each time that it counted them."""

    earlier_counts: Sequence[int] = ()  # of an earlier attempt, whose answers a slow system need not give again
    counts: list[int] = field(default_factory=list)
    is_limited: bool = False  # whether more time would give more cases
    min_seconds: float = 0.0  # of querying, at least, for what the budget did not allow

    def add(self, count: int, limit: int) -> int:
        """Note a number of cases, and return it."""
        self.counts.append(count)
        self.is_limited |= count < limit
        return count

    @property
    def known_cases(self) -> int:
        """The number of cases that the earlier attempt got at this point."""
        place = len(self.counts)
        return self.earlier_counts[place] if place < len(self.earlier_counts) else 0


@dataclass(frozen=True, kw_only=True)
class TestedModel:
    """A model ready to be tested."""

    __test__ = False  # pytest must not collect it because of its name

    original: ModelLike  # as given, loaded if it was a path
    fitted: ModelLike  # the model to query
    name: str | None  # None for the default
    learner: BaseEstimator | None = None  # to train again

    @property
    def fitted_on_given_data(self) -> bool:
        """Whether the model was fitted here."""
        return self.fitted is not self.original


@dataclass(kw_only=True)
class CheckContext:
    """The model under test, the data, and what is known so far."""

    subject: SubjectUnderTest
    model: TestedModel | None = None  # as it was given
    notes: list[str] = field(default_factory=list)  # assumptions about the model and the data, for readers
    looks_for_relations: bool = False  # whether to look for relations between columns
    expectations: Expectations
    clock: BudgetClock
    learner: BaseEstimator | None = None  # can be cloned and fitted
    truth: npt.NDArray[Any] | None = None  # the labels of the inputs, if the data have them
    label_note: str = ""  # how labels that are not classes of the model were matched with them, or that they were not
    has_unmatched_labels: bool = False  # whether labels and answers cannot be compared
    baseline: Front | None = None  # the border of an earlier version
    frame: pd.DataFrame | None = None  # the columns as they were given, without labels; the index numbers the rows
    label_name: str = ""  # the column of the labels
    data_only: bool = False  # whether there is no model to query
    reference: pd.DataFrame | None = None  # the inputs of the training data, if given
    reference_truth: npt.NDArray[Any] | None = None  # their labels, if given
    declared_bounds: frozenset[str] = frozenset()  # features whose bounds the user declared
    column_relations: Sequence[Constraint] = ()  # between columns, that all given rows keep
    seed: int = 0
    drive_options: dict[str, Any] = field(default_factory=dict)  # engine, timeout, batch
    pace: Pace = field(default_factory=Pace)
    is_slow: bool = False  # whether the budget allows few rows; set by the measurement of the pace
    need: CaseNeed = field(default_factory=CaseNeed)  # of the running check
    case_counts: dict[str, Sequence[int]] = field(default_factory=dict)  # that each check got last
    improved_checks: set[str] = field(default_factory=set)  # that were repeated with other numbers of cases
    first_answers: Outputs | None = None  # from the measurement of the pace
    queries: Points | None = None  # of the check "answers"
    query_rows: npt.NDArray[np.intp] | None = None  # the positions of these queries among the inputs
    answers: Outputs | None = None  # to these queries
    probabilities: npt.NDArray[np.float64] | None = None  # of the check "scores", one column per class
    score_rows: npt.NDArray[np.intp] | None = None  # the positions of their rows among the inputs
    has_data: bool = True  # whether the inputs were given by the user
    unstable: bool = False  # whether the same case got different answers
    query_dependent: bool = False  # whether answers depend on the rest of the query, or on chance
    label_counts: dict[Any, int] = field(default_factory=dict)  # how often each label was predicted
    front: Front | None = None  # the border, once it is explored
    influence: Influence | None = None  # of the features, once it is measured
    remarks: list[str] = field(default_factory=list)  # irregularities of batches
    known_failures: dict[str, Points] = field(default_factory=dict)  # of earlier runs by check, tried first
    suspected_columns: set[str] = field(default_factory=set)  # which a concern or fault so far is about
    shared: dict[str, Any] = field(default_factory=dict)  # measurements that several checks use, by their name
    tolerance: float | None = None  # by which scores and answers that are numbers may differ; None for the default
    _reference_models: list[ReferenceModel | None] = field(default_factory=list)  # one, once it is fitted

    @property
    def sut(self) -> Executor:
        """The system under test."""
        return self.subject.sut

    @property
    def inputs(self) -> Points:
        """The inputs, given or generated."""
        return self.subject.seeds

    @property
    def space(self) -> Space:
        """The space of the inputs."""
        return self.inputs.space

    @property
    def date_columns(self) -> Sequence[DateColumn]:
        """The columns of dates, which are days since a date in the space."""
        return getattr(self.sut, "date_columns", ())

    @property
    def columns(self) -> tuple[int, ...]:
        """The positions of the features that are columns: not those of images and sequences."""
        return self.space.scalars

    @cached_property
    def plausible_space(self) -> Space:
        """The space with the relations between columns that the given rows keep as constraints.

        Made rows keep them, except for deliberate changes of single features.
        """
        return self.space.with_constraints(self.column_relations) if self.column_relations else self.space

    @cached_property
    def identifiers(self) -> dict[str, ColumnRole]:
        """The columns that look like identifiers of rows. Dates are not, even if no two rows have the same one."""
        dates = {column.name for column in self.date_columns}
        return {name: role for name, role in find_identifiers(self.inputs).items() if name not in dates}

    def suspect_columns(self, findings: Iterable[Finding]) -> None:
        """Note which columns some findings are about, for checks that must not build on them."""
        names = {name for finding in findings for name in (finding.about, *finding.columns)}
        self.suspected_columns |= names.intersection(self.space.names)

    def match_labels(self) -> None:
        """Replace labels that are not classes of the model by the classes that they stand for, if the answers show these."""
        if self.truth is None or self.answers is None or self.query_rows is None or self.has_numeric_answers:
            return
        ok = self.answers.ok & ~find_missing_labels(self.truth[self.query_rows])
        labels, answers = self.truth[self.query_rows][ok], self.answers.values[ok]
        declared = tuple(self.sut.labels or ())
        if not ok.any() or align_labels(labels, answers, declared) is not None:
            return
        pairs = match_labels(labels, answers, declared)
        self.has_unmatched_labels = pairs is None
        remedy = "Give the labels in the order of the classes with classes= (--classes on the command line)"
        if pairs is None:
            self.label_note = f"The labels of the data are not classes of the model, so the answers were not compared with them. {remedy}."
            return
        translated = [pairs.get(text) for text in to_label_texts(self.truth).tolist()]
        self.truth = np.array([*translated, None], dtype=object)[:-1]
        pairs_text = ", ".join(f"{format_short(label)} is {format_short(value)}" for label, value in pairs.items())
        self.label_note = (
            f"The labels of the data are not classes of the model. The answers allow only one matching: {pairs_text}. "
            f"{remedy} if it is wrong."
        )

    def prefer_plausible(self, points: Points, feature: str, values: Sequence[float]) -> int:
        """Return the position of the first row that keeps the relations between columns with each value of a feature.

        It is 0 if there is none.
        """
        space = self.plausible_space
        if not self.column_relations or not len(points):
            return 0
        is_plausible = np.ones(len(points), dtype=bool)
        for value in values:
            codes = points.codes.copy()
            codes[:, space.position(feature)] = value
            is_plausible &= space.satisfied(codes)
        return int(is_plausible.argmax())

    @property
    def has_numeric_answers(self) -> bool:
        """Whether the answers are numbers rather than classes, as far as it is known.

        A system that does not say so is judged by its answers: floats are numbers, unless they are a few whole ones. A
        function may well return the classes 0 and 1 as floats.
        """
        if self.subject.has_numeric_answers:
            return True
        outputs = self.first_answers if self.answers is None else self.answers
        if self.sut.labels is not None or outputs is None:
            return False
        outputs = outputs.take(slice(0, MAX_ROWS_TO_JUDGE))
        if outputs.are_numbers(if_constant=True):
            return True
        return outputs.values.dtype.kind == "f" and self._has_many_numeric_labels

    @cached_property
    def _has_many_numeric_labels(self) -> bool:
        """Whether the labels are too many different numbers to be classes, so that floats as answers are rounded numbers."""
        if self.truth is None or self.truth.dtype.kind not in "fiu":
            return False
        return len(np.unique(self.truth)) > MAX_CLASSES_AS_FLOATS

    def sample_rows(self, limit: int) -> npt.NDArray[np.intp]:
        """Return the positions of the inputs that `sample_inputs` returns."""
        if len(self.inputs) <= limit:
            return np.arange(len(self.inputs))
        return np.random.default_rng(self.seed).permutation(len(self.inputs))[:limit]

    def sample_inputs(self, limit: int) -> Points:
        """Return at most `limit` inputs. They depend on the seed only, and a larger sample starts with a smaller one."""
        return self.inputs if len(self.inputs) <= limit else self.inputs.take(self.sample_rows(limit))

    def fit_reference_model(self, budget: Budget) -> ReferenceModel | None:
        """Return the cross-validated predictions of a quick model of the labelled data, fitted at the first call.

        None is returned if the data have no labels, or too few. Call it after the check "answers".
        """
        if not self._reference_models:
            if budget.seconds is not None and budget.seconds < REFERENCE_SECONDS * self.clock.slowdown:
                raise BudgetSpent("The budget does not allow a reference model to be fitted.")
            if not self.clock.recall(lambda: self._try_to_fit_reference_model(budget.seconds)):
                raise BudgetSpent("There was no time to fit a reference model.")
            if not self._reference_models:  # it was fitted in time before the run was resumed
                self._try_to_fit_reference_model(None)
        return self._reference_models[0]

    @property
    def fitted_reference_model(self) -> ReferenceModel | None:
        """The quick model, if a check has fitted it."""
        return self._reference_models[0] if self._reference_models else None

    def _try_to_fit_reference_model(self, seconds: float | None) -> bool:
        """Fit the reference model, if there are labels, and return whether the time sufficed."""
        model = None
        if self.truth is not None and len(self.truth) == len(self.inputs):
            rows, numeric = self.sample_rows(MAX_REFERENCE_ROWS), self.has_numeric_answers
            try:
                model = fit_reference_model(
                    self.inputs,
                    self.truth,
                    rows,
                    numeric=numeric,
                    seed=self.seed,
                    seconds=seconds,
                    dates=self.date_columns,
                )
            except OutOfBudget:
                return False
        self._reference_models.append(model)
        return True

    def count_labels(self, outputs: Outputs) -> None:
        """Add the labels of some answers to the counts."""
        if self.has_numeric_answers:
            return  # numbers are not classes
        ok = outputs.ok
        try:
            values, counts = np.unique(outputs.values[ok], return_counts=True)
            pairs = zip(values.tolist(), counts.tolist(), strict=True)
        except TypeError:  # labels of several types
            pairs = ((value, 1) for value in outputs.values[ok].tolist())  # type: ignore[assignment]
        for value, count in pairs:
            self.label_counts[value] = self.label_counts.get(value, 0) + count

    def measure_pace(self) -> None:
        """Time calls with more and more rows, until one is slow; and see how busy the machine is."""
        if self.clock.budget.seconds is not None:
            self.clock.slowdown = self.clock.recall(measure_slowdown)
        self.pace = self._time_calls(self.sut)
        seconds_per_row = self.pace.seconds_per_row
        if self.sut.score_kind is not None and self.computes_here and not self.clock.spent:
            twin = copy.copy(self.sut)  # what it learns about its scores is for the check of scores
            # of some models, scores take much longer than answers
            seconds_per_row = max(seconds_per_row, self._time_calls(twin, scores=True).seconds_per_row / SCORE_COST)
        slow_rows = self.count_rows_within(MAX_BATCH_SECONDS + self.pace.seconds_per_call, seconds_per_row)
        if self.drive_options.get("batch") is None and slow_rows < self.sut.batch_rows:
            self.drive_options["batch"] = round_down(max(1.0, slow_rows))
        self.is_slow = self.count_rows_within(self.clock.budget.seconds or 0.0) < SLOW_ROWS
        if self.is_slow:  # no check asks again what another one has asked
            self.drive_options["cache"] = CachingSystem(self.sut)

    def learn_pace(self, counter: CallCounter) -> None:
        """Learn from a query that rows are faster than they seemed: a row takes at most its part of the query."""
        if counter.calls and self.clock.budget.seconds is not None:
            seconds = self.clock.recall(lambda: counter.seconds)
            self.pace.seconds_per_row = min(self.pace.seconds_per_row, seconds / counter.calls)

    def count_rows_within(self, seconds: float, seconds_per_row: float | None = None) -> float:
        """Return how many rows the model answers in a number of seconds; infinite without a budget of time."""
        if self.clock.budget.seconds is None:
            return math.inf
        return seconds / max(self.pace.seconds_per_row if seconds_per_row is None else seconds_per_row, 1e-9)

    @property
    def computes_here(self) -> bool:
        """Whether calls cannot be ended when the time is up, since they run in this process."""
        engine = self.drive_options.get("engine")
        runs_here = engine is None or engine.name == Engine.name
        return runs_here and self.drive_options.get("timeout") is None and self.clock.budget.seconds is not None

    def _time_calls(self, system: Executor, *, scores: bool = False) -> Pace:
        """Return the speed of a system, for answers or for answers with scores.

        The first call is not counted, since many systems initialise themselves in it.
        """
        measurements: list[tuple[int, float]] = []  # rows and seconds of each call

        def time_call(points: Points) -> float:
            start_seconds, counter = self.clock.seconds, CallCounter()
            query = ask(points, fresh=True, scores=scores)
            outputs = drive(query, system, tally=counter, **self.build_quiet_options())
            if not scores and (self.first_answers is None or len(outputs) > len(self.first_answers)):
                self.first_answers = outputs
            self.clock.runs += counter.runs
            return self.clock.seconds - start_seconds

        budget_seconds = self.clock.budget.seconds
        max_call_seconds = (
            math.inf if budget_seconds is None else max(MAX_PACE_BUDGET_SHARE * budget_seconds, SLOW_CALL_SECONDS)
        )
        row_order = np.random.default_rng(self.seed).permutation(len(self.inputs))
        row_counts = PACE_ROWS if budget_seconds is None else FINE_PACE_ROWS
        seconds_per_row = 0.0
        for round_, rows in enumerate(row_counts):
            points = self.sample_inputs(rows)
            seconds = time_call(points)
            is_slow = round_ > 0 and seconds > SLOW_CALL_SECONDS
            is_unexpected = round_ == 1 or seconds > 2 * rows * seconds_per_row
            if is_slow and is_unexpected and budget_seconds is not None and seconds < max_call_seconds:
                # The computer may have paused, so time the call again, with other rows, since the system may remember answers.
                other_rows = row_order[rows : 2 * rows]
                if len(other_rows) == rows and not self.clock.spent:
                    seconds = min(seconds, time_call(self.inputs.take(other_rows)))
            if round_:
                measurements.append((len(points), seconds))
            seconds_per_row = seconds / len(points)
            if self.clock.spent or (round_ and len(points) < rows):
                break
            if round_ and round_ + 1 < len(row_counts) and budget_seconds is not None:
                # on a busy machine a call may be slow although its rows are not
                grows = seconds > MIN_PACE_GROWTH * measurements[0][1]
                next_seconds = seconds_per_row * row_counts[round_ + 1]
                if (grows and seconds > SLOW_CALL_SECONDS) or next_seconds > max_call_seconds:
                    break
        rows_per_call, call_seconds = np.array(measurements or [(len(points), seconds)]).T
        seconds_per_row = (
            max(0.0, call_seconds[-1] - call_seconds[0]) / (rows_per_call[-1] - 1)
            if rows_per_call[-1] > 1
            else call_seconds[0]
        )
        return Pace(max(0.0, float(np.median(call_seconds - rows_per_call * seconds_per_row))), float(seconds_per_row))

    def reset_engine(self) -> None:
        """End the processes of the engine, which may still work on a query that nobody waits for."""
        engine = self.drive_options.get("engine")
        if isinstance(engine, PersistentEngine):
            engine.shut_down()

    def count_affordable(
        self,
        budget: Budget,
        limit: int,
        runs_per_case: float = 1.0,
        calls: float = 1.0,  # for all cases together
        calls_per_case: float = 0.0,  # for each case alone
        minimum: int = 1,
    ) -> int:
        """Return how many cases the budget allows, at most `limit`; raise `BudgetSpent` if they are fewer than `minimum`.

        A number below the limit is rounded down to 1, 2 or 5 times a power of ten, so that small differences in speed do
        not change the cases; that of a slow system is hardly rounded. A budget in runs depends on no clock.
        """
        limits, min_seconds = [float(limit)], 0.0
        if budget.seconds is not None:
            seconds_per_case = runs_per_case * self.pace.seconds_per_row + calls_per_case * self.pace.seconds_per_call
            call_seconds = calls * self.pace.seconds_per_call
            cases = (budget.seconds - call_seconds) / max(seconds_per_case, 1e-9)
            limits.append(cases + self.need.known_cases if self.is_slow else cases)
            min_seconds = minimum * seconds_per_case + call_seconds
        if budget.runs is not None:
            limits.append(budget.runs / runs_per_case)
        count = limit
        if min(limits) < limit:
            count = _round_little(min(limits)) if self.is_slow else round_down(min(limits)) if min(limits) >= 1 else 0
        if count < minimum:
            self.need.min_seconds = min(min_seconds, self.need.min_seconds or min_seconds)
            raise BudgetSpent(f"The budget allows {count} cases, and at least {minimum} are needed.")
        return self.need.add(count, limit)

    def build_quiet_options(self) -> dict[str, Any]:
        """Return the options of `drive` for a short query without progress display."""
        return {"progress": False, "recheck": 0, "alive": True, **self.drive_options}


def _round_little(number: float) -> int:
    """Return the largest number of two digits, and zeros, that is at most `number`."""
    power = 10 ** max(0, len(str(int(number))) - MAX_COUNT_DIGITS) if number >= 1 else 1
    return int(max(0.0, number) // power) * power


def round_down(number: float) -> int:
    """Return the largest of 1, 2, 5, 10, 20, 50, ... that is at most `number`."""
    power = 10 ** int(np.floor(np.log10(number)))
    return int(power * max(digit for digit in (1, 2, 5) if digit * power <= number))
