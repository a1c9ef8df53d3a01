"""`execute`: the one door through which capabilities run.

It makes what a run needs (the subject, the random numbers, the engine, the session of a run store, the limits) and decides
how the run ended. A capability only measures: it queries its subject through `Execution.drive`, and returns its result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .._clock import read_clock
from .._validation import to_generator
from ..errors import ArgumentError, BudgetSpent, Interrupted, OutOfBudget
from ..runs.deadline import TimeLimit
from ..runs.driver import CallCounter, drive
from ..runs.engines import PersistentEngine, make_engine, needs_processes
from ..runs.flow import UNLIMITED, Budget, Flow, ask
from ..runs.interrupts import Interrupts
from ..runs.keep import StoreOptions, keep_run, open_store, resolve_seed
from ..space.outputs import Outputs
from ..space.points import Batch
from ..systems.base import Executor
from .groups import Keeping, Running
from .result import Result

if TYPE_CHECKING:
    from ..runs.journal import RecordedLimit, RunJournal
    from ..runs.run import Run
    from ..runs.session import Session

Subject = TypeVar("Subject")
RunOptions = TypeVar("RunOptions", bound="KeptOptions")
ResultType = TypeVar("ResultType", bound=Result)
Answer = TypeVar("Answer")
SomeOptions = TypeVar("SomeOptions", bound="KeptOptions", contravariant=True)
SomeResult = TypeVar("SomeResult", bound=Result, covariant=True)


class Runnable(Protocol[SomeOptions, SomeResult]):
    """What can be executed: a verb and a function."""

    @property
    def verb(self) -> str:
        """The command, and what a run store calls its runs."""

    @property
    def run(self) -> Callable[[SomeOptions, Execution[Any]], SomeResult]:
        """The function that does the work."""


@dataclass(frozen=True, eq=False, kw_only=True)
class KeptOptions(Keeping, ABC):
    """The options of a capability, with what the door must know about its subject."""

    @abstractmethod
    def make_subject(self, execution: Execution[Any]) -> Any:
        """Return what is tested, ready to be queried: it becomes ``execution.subject``."""

    @abstractmethod
    def describe_run(self, execution: Execution[Any]) -> dict[str, Any]:
        """Return what a run store keeps when the run begins; all of it must be the same when it is resumed.

        These are the name of the ``system`` and the ``parameters`` (see `to_request`), with the ``model`` and the ``seeds``, of which a
        store keeps hashes to compare.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class CapabilityOptions(KeptOptions, Running):
    """The options of a capability that queries a system."""


class Execution(Generic[Subject]):
    """What one run of a capability works with: its subject, its random numbers, and the way to query a system."""

    subject: Subject

    def __init__(self, verb: str, options: KeptOptions, keep: StoreOptions | None) -> None:
        self.verb, self.options, self._keep = verb, options, keep
        self.seed = options.seed if keep is None else resolve_seed(options.seed, keep)
        self.rng = to_generator("seed", verb, self.seed)
        self.session: Session | None = None
        self.counter = CallCounter(timeout=options.timeout)
        self.unfinished: list[str] = []  # what could not be measured
        self.message = ""  # what the store says about the run beside its result
        self.is_spent = False  # whether the budget has ended something
        self.part = (0.0, 1.0)  # the share of the work that is done, and that of the part that is being done
        self.cleanups: list[Callable[[], None]] = []  # called when the run is stored as finished
        chosen_engine = make_engine(options.engine)
        self.is_isolated = needs_processes(chosen_engine)  # models are tried in another process, too
        self.engine = PersistentEngine(chosen_engine)
        self._interrupts = Interrupts()
        self._started_at = read_clock()

    @property
    def request(self) -> Mapping[str, Any]:
        """What the command line was called with; empty for a call in Python."""
        return {} if self._keep is None else self._keep.request

    def read_stored_run(self) -> Run | None:
        """Return the stored run that is to be resumed; None for a new run."""
        if self._keep is None or self._keep.resume is None:
            return None
        with open_store(self._keep) as store:
            return store.run(self._keep.resume)

    @property
    def timeout(self) -> float | None:
        """The seconds that a row may take."""
        return self.options.timeout

    @property
    def journal(self) -> RunJournal | None:
        """Where answers are stored, and read from if the run is resumed."""
        return None if self.session is None else self.session.journal

    @property
    def seconds(self) -> float:
        """The duration so far, without what was replayed from a store."""
        return read_clock() - self._started_at if self.journal is None else self.journal.seconds

    @property
    def remaining_budget(self) -> Budget:
        """The part of the budget that is left."""
        return self.options.limits.subtract(self.counter.runs, self.seconds)

    def recall(self, measure: Callable[[], Answer]) -> Answer:
        """Return what is measured, or what was measured at this place before the run was resumed.

        For what depends on time and decides about later queries: a resumed run must decide in the same way.
        """
        return measure() if self.journal is None else self.journal.recall(measure)

    def limit(self, seconds: float | None) -> TimeLimit | RecordedLimit:
        """Return a limit that ends its block after some seconds, and at the same place if the run is resumed."""
        return TimeLimit(seconds) if self.journal is None else self.journal.limit(seconds)

    def is_going_on(self) -> bool:
        """Return True, or raise `OutOfBudget` if the time is spent or the user ends the run: for work that queries nothing."""
        limit = self.options.limits.seconds
        if self._interrupts.is_stopped():
            self.counter.exhausted = self.counter.interrupted = True
            raise Interrupted("interrupted")
        if limit is not None and read_clock() - self._started_at > limit:
            self.counter.exhausted = True
            raise BudgetSpent(f"the budget is spent after {limit:g} s")
        return True

    def drive(
        self,
        flow: Flow[Answer],
        system: Executor,
        /,
        *,
        tally: CallCounter | None = None,
        limits: Budget = UNLIMITED,
        **details: Any,
    ) -> Answer:
        """Answer the queries of a flow: on the engine, within the budget, with stored answers if the run is resumed.

        `tally` gets the cost of this flow, which `limits` may limit further; `details` are further options of `drive`. If the budget is
        spent or the user ends the run, the flow may return what it has; otherwise `OutOfBudget` is raised.
        """
        counter = CallCounter() if tally is None else tally
        if self.journal is not None:
            self.journal.begin_part(*self.part, self.counter.runs, self.counter.calls)
        remaining_budget = self.remaining_budget
        settings: dict[str, Any] = {
            "budget": remaining_budget.narrow(limits),
            "engine": self.engine,
            "journal": self.journal,
            "timeout": self.timeout,
            "batch": self.options.batch,
            "progress": self.options.progress,
            **details,
        }
        try:
            return drive(flow, system, tally=counter, **settings)
        finally:
            self.counter.add(counter)
            self.is_spent |= counter.exhausted and settings["budget"] == remaining_budget

    def query(self, batch: Batch, system: Executor, *, scores: bool = False, **details: Any) -> Outputs:
        """Return the answers to one batch."""
        return self.drive(ask(batch, scores=scores), system, **details)

    def attempt(self, question: str, measure: Callable[[], Answer], otherwise: Answer) -> Answer:
        """Return what is measured; `otherwise`, and the question as unfinished, if the budget is spent or the user ends the run."""
        try:
            return measure()
        except OutOfBudget:
            self.unfinished.append(question)
            return otherwise

    def attempt_all(self, questions: Iterable[tuple[str, Callable[[], Answer]]]) -> list[Answer]:
        """Return the answers to questions until the budget is spent."""
        answers = (self.attempt(question, measure, None) for question, measure in questions)
        return [answer for answer in answers if answer is not None]

    @contextmanager
    def open(self) -> Iterator[None]:
        """Make the subject and begin the stored run; end both when the block ends."""
        with Interrupts() as self._interrupts:
            try:
                self.subject = self.options.make_subject(self)
                if self._keep is None:
                    yield
                    return
                facts = self.options.describe_run(self)
                with keep_run(
                    self._keep,
                    self.verb,
                    seed=resolve_seed(self.seed, self._keep),
                    rng=self.rng,
                    engine=self.engine.name,
                    **facts,
                ) as session:
                    self.session = session
                    yield
            finally:
                self.engine.shut_down()

    def store_result(self, result: Result) -> None:
        """Store the result, and with it whether the run is finished or interrupted."""
        if self.session is not None:
            self.session.finish(result, self.message)
            if not result.interrupted:
                for clean_up in self.cleanups:
                    clean_up()


def execute(capability: Runnable[RunOptions, ResultType], options: RunOptions) -> ResultType:
    """Run a capability with options, and return its result; a stored run ends as the result says."""
    execution: Execution[Any] = Execution(capability.verb, options, _read_store_options(options))
    with execution.open():
        result = capability.run(options, execution)
        execution.store_result(result)
    return result


def _read_store_options(options: Keeping) -> StoreOptions | None:
    if isinstance(options.store, StoreOptions):
        return options.store
    if options.store is not None:
        return StoreOptions(options.store, options.resume)
    if options.resume is not None:
        raise ArgumentError(f"Run {options.resume} can only be resumed from its run store. Add store=...")
    return None
