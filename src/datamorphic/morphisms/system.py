"""`TestSystem`: the marked functions of a class, an instance or a module."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._estimates import LIMIT_TIME, WorkPace, refuse_many_rows
from .._lazy import pd
from .._text import suggest_name, to_text
from .._typing import EngineLike, FilePath, SeedLike
from .._validation import check_types, reject, to_generator, validate_choice, validate_integer
from ..errors import DatamorphicError, ModelError, OutOfBudget, TestSystemError
from ..runs.driver import CallCounter, drive
from ..runs.flow import Budget, Flow, Query
from ..space.hashing import count_different_rows
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.space import Space
from ..systems.base import CallStyle, Executor, Function
from .case_columns import NO_ORIGIN, CaseKind, Correctness, make_missing_outputs
from .cases import TestSet, Verdict
from .decorators import get_mark
from .java_specs import draft_java_spec
from .morphism import ARGUMENT_LIMITS, Morphism, normalise_name
from .open_space import infer_open_points

BATCHES_PER_QUERY = 8  # enough for several workers; progress is shown, and a budget or Ctrl-C ends, between queries
MARKING_HINT = "Mark functions with @seed_maker, @datamorphism, @metamorphism, @executor, ..."


@check_types
class TestSystem:
    """The morphisms of a test, by kind and name.

    `TestSystem.collect` makes one from marked functions.

    Attributes
    ----------
    name : str
        The name of the class or module.
    space : Space or None
        The declared space; see `known_space`.
    sut : Executor or None
        The system under test, if a function is marked as executor.
    distance : callable or None
        The declared ``distance(a, b)`` of frames; if None, that of the space is used.
    seed_makers, datamorphisms, metamorphisms, case_metrics, case_filters, set_metrics, set_filters, analysers : dict
        The morphisms of each kind by name.
    """

    hashed_code: type | None = (
        None  # the class that identifies a built-in system in a run store, instead of its content
    )
    __test__ = False  # pytest would take the class for a test because of its name

    def __init__(
        self,
        name: str,
        morphisms: list[Morphism],
        *,
        space: Space | None = None,
        distance: Callable[..., Any] | None = None,
        sut: Executor | None = None,
    ) -> None:
        self.name, self.space, self.distance = name, space, distance
        self._inferred_points: Points | None = None
        by_kind = self._by_kind = {kind: dict[str, Morphism]() for kind in ARGUMENT_LIMITS}
        self.seed_makers, self.datamorphisms = by_kind["seed_maker"], by_kind["datamorphism"]
        self.metamorphisms, self.analysers = by_kind["metamorphism"], by_kind["analyser"]
        self.case_metrics, self.case_filters = by_kind["case_metric"], by_kind["case_filter"]
        self.set_metrics, self.set_filters = by_kind["set_metric"], by_kind["set_filter"]
        for morphism in morphisms:
            if not hasattr(morphism, "mark"):
                reject("morphisms", "TestSystem", "a list of marked functions; see TestSystem.collect", morphism)
            duplicate = by_kind[morphism.mark.kind].setdefault(morphism.name, morphism)
            if duplicate is not morphism:
                raise TestSystemError(
                    f"{morphism.location} and {duplicate.location} are both {morphism.mark.kind}s named "
                    f"{morphism.name!r}. Rename one."
                )
        self._verify()
        for name, morphism in by_kind["executor"].items():
            style: CallStyle = "points" if morphism.mark.points else "case" if morphism.mark.scalar else "frame"
            sut = sut or Function(morphism.function, space, style=style, name=f"{self.name}.{name}")
        self.sut = sut

    @classmethod
    def collect(cls, source: object) -> TestSystem:
        """Return the test system of a class, an instance or a module.

        A marked function with a wrong signature or invalid options raises `TestSystemError`.

        Examples
        --------
        >>> import datamorphic as dm
        >>> class Line:
        ...     space = dm.Space([dm.Continuous("x", 0, 1, step=0.1)])
        ...     @dm.datamorphism(feature="x")
        ...     def up(self, p):
        ...         return p.assign(x=(p.x + 0.1).clip(upper=1))
        ...     @dm.executor
        ...     def classify(self, p):
        ...         return p.x > 0.5
        >>> dm.TestSystem.collect(Line).datamorphisms.keys()
        dict_keys(['up'])
        """
        if isinstance(source, TestSystem):
            return source
        instance = source
        if inspect.isclass(source):
            try:
                instance = source()
            except (Exception, SystemExit) as error:
                raise TestSystemError(
                    f"{source.__name__}() raised {type(error).__name__}: {to_text(error)}. "
                    "A test system is created without arguments; pass an instance instead."
                ) from error
        name = getattr(instance, "name", None) or getattr(instance, "__name__", type(instance).__name__)
        morphisms = _collect_morphisms(instance)
        if not morphisms:
            raise TestSystemError(f"{name} has no marked functions, so it is not a test system. {MARKING_HINT}")
        space = _read_attribute(instance, "space", str(name))
        if space is not None and not isinstance(space, Space):
            raise TestSystemError(f"{name}.space must be a Space. It is a {type(space).__name__}.")
        distance = _read_attribute(instance, "distance", str(name))
        if get_mark(distance) is not None:
            distance = None  # a metric of test cases with that name
        if distance is not None and not callable(distance):
            raise TestSystemError(f"{name}.distance must be a function of two frames. It is {distance!r}.")
        system = cls(str(name), morphisms, space=space, distance=distance)
        if system.sut is not None:
            system.sut.code = getattr(instance, "code", None)
        return system

    @staticmethod
    def draft_from_java(path: FilePath) -> str:
        """Return a Python draft of a Java test specification of Morphy.

        The draft has the same morphisms with the same names and arities. Their Java code is beside them as comments, to
        translate: until then they raise `NotImplementedError`. Superclasses are read from the same folder. The Java file is
        read as text and never run.
        """
        return draft_java_spec(path).text

    def _verify(self) -> None:
        """Raise `TestSystemError` if an option of a mark is invalid."""
        names = set() if self.space is None else set(self.space.names)
        for morphism in self.datamorphisms.values():
            mark = morphism.mark
            if mark.feature is not None and self.space is not None and mark.feature not in names:
                morphism.fail(f"names the feature {mark.feature!r}. {suggest_name(mark.feature, self.space.names)}")
            if mark.step is not None and not (isinstance(mark.step, int | float) and mark.step > 0):
                morphism.fail(f"declares the step {mark.step!r}, which must be a number above 0.")
            if mark.filter is not None and not self._find_match("case_filter", mark.filter):
                morphism.fail(
                    f"names the filter {mark.filter!r}, but no @case_filter has that name. "
                    f"{suggest_name(mark.filter, self.case_filters) if self.case_filters else ''}"
                )
        for morphism in self.metamorphisms.values():
            mark = morphism.mark
            if mark.applies_to not in (None, "original", "mutant"):
                morphism.fail(f"applies to {mark.applies_to!r}, which must be 'original' or 'mutant'.")
            if mark.of is not None and not self._find_match("datamorphism", mark.of):
                morphism.fail(
                    f"is of {mark.of!r}, but no @datamorphism has that name. {suggest_name(mark.of, self.datamorphisms)}"
                )
        for morphism in self._by_kind["executor"].values():
            if morphism.mark.points and self.space is None:
                morphism.fail("takes points, but there is no space to take them from. Add space = dm.Space([...]).")
        if len(self._by_kind["executor"]) > 1:
            locations = " and ".join(m.location for m in self._by_kind["executor"].values())
            raise TestSystemError(f"{locations} are both marked @executor. A test system has one system under test.")

    # -- the morphisms ------------------------------------------------------------------------------

    @property
    def moves(self) -> dict[str, Morphism]:
        """The unary datamorphisms that are steps of walks."""
        return {name: m for name, m in self.datamorphisms.items() if m.arity == 1 and m.mark.move}

    @property
    def midpoint(self) -> Morphism | None:
        """The binary datamorphism called mid or midpoint, or the only binary one."""
        binary = {name: m for name, m in self.datamorphisms.items() if m.arity == 2}
        for name, morphism in binary.items():
            if normalise_name(name) in ("mid", "midpoint"):
                return morphism
        return next(iter(binary.values())) if len(binary) == 1 else None

    def _find_match(self, kind: str, name: str) -> Morphism | None:
        morphisms = self._by_kind[kind]
        if name in morphisms:
            return morphisms[name]
        matches = [candidate for candidate in morphisms if normalise_name(candidate) == normalise_name(name)]
        if len(matches) > 1:
            raise TestSystemError(
                f"{name!r} is ambiguous: it matches {', '.join(map(repr, matches))}. Write the name as declared."
            )
        return morphisms[matches[0]] if matches else None

    @check_types
    def find(self, kind: str, name: str) -> Morphism:
        """Return a morphism by kind and name; the name may be in any style."""
        validate_choice("kind", "TestSystem.find", kind, self._by_kind)
        if (morphism := self._find_match(kind, name)) is None:
            morphisms = self._by_kind[kind]
            hint = suggest_name(name, morphisms) if morphisms else f"It has no {kind} at all."
            raise TestSystemError(f"{self.name} has no {kind} named {name!r}. {hint}")
        return morphism

    @check_types
    def find_by_name(self, name: str, kind: str | None = None) -> Morphism:
        """Return the morphism of a name, which may be in any style; of several kinds, `kind` selects one."""
        if kind is not None:
            if kind not in self._by_kind:
                raise TestSystemError(f"There is no kind of morphism {kind!r}. {suggest_name(kind, self._by_kind)}")
            return self.find(kind, name)
        matches = {kind: match for kind in self._by_kind if (match := self._find_match(kind, name)) is not None}
        if len(matches) > 1:
            raise TestSystemError(f"{self.name} has a {' and a '.join(matches)} named {name!r}. Give the kind as well.")
        if not matches:
            names = [known for morphisms in self._by_kind.values() for known in morphisms]
            raise TestSystemError(f"{self.name} has no morphism named {name!r}. {suggest_name(name, names)}")
        return next(iter(matches.values()))

    def known_space(self) -> Space:
        """Return the declared space, or the one inferred from the first seed maker."""
        return self.space if self.space is not None else self.inferred_seeds().space

    def inferred_seeds(self) -> Points:
        """Return the seed cases of the first seed maker, in the space inferred from them."""
        if self._inferred_points is None:
            if not self.seed_makers:
                raise TestSystemError(
                    f"{self.name} declares no space and has no seed maker to infer one from. "
                    "Add an attribute space = dm.Space([...])."
                )
            maker = next(iter(self.seed_makers.values()))
            self._inferred_points = self._infer_points(maker, maker.make_seeds(np.random.default_rng(0), None))
        return self._inferred_points

    def _infer_points(self, maker: Morphism, cases: pd.DataFrame | Points) -> Points:
        """Return cases as points of an inferred space without bounds."""
        try:
            return infer_open_points(cases.frame if isinstance(cases, Points) else cases)
        except DatamorphicError as error:
            maker.fail(f"made seed cases from which no space can be inferred: {error}", error)

    def __repr__(self) -> str:
        counts = [f"{len(morphisms)} {kind}" for kind, morphisms in self._by_kind.items() if morphisms]
        return f"TestSystem({self.name}: {', '.join(counts)})"

    # -- applying morphisms ---------------------------------------------------------------------------

    @check_types
    def make_seeds(self, maker: str | None = None, *, n: int | None = None, seed: SeedLike = 0) -> TestSet:
        """Return the test set of a seed maker, by default of the first one."""
        if maker is None:
            if not self.seed_makers:
                raise TestSystemError(f"{self.name} has no seed maker. Mark a function with @seed_maker.")
            maker = next(iter(self.seed_makers))
        morphism = self.find("seed_maker", maker)
        if n is not None:
            validate_integer("n", "make_seeds", n)
        refuse_many_rows("make_seeds", "n", n or 1, 1 if self.space is None else len(self.space))
        cases = morphism.make_seeds(to_generator("seed", "make_seeds", seed), n, self.space)
        if self.space is None:
            self._inferred_points = self._infer_points(morphism, cases)
            return TestSet.of_seeds(self._inferred_points, morphism.name)
        try:
            return TestSet.of_seeds(self.space.points(cases), morphism.name)
        except DatamorphicError as error:
            morphism.fail(f"made seed cases that are not in the space: {error}", error)

    @check_types
    def mutate(self, name: str, *sets: TestSet, seed: SeedLike = 0, lenient: bool = False) -> TestSet:
        """Return the new cases that a datamorphism makes from test sets, row by row.

        If the datamorphism names a case filter, only rows whose case in the first set passes it take part. With
        ``lenient=True`` values outside the space are accepted, so that the caller can drop them.
        """
        morphism = self.find("datamorphism", name)
        if not sets or not all(isinstance(tests, TestSet) for tests in sets):
            reject("sets", "TestSystem.mutate", "test sets, one per argument of the datamorphism", sets)
        rng = to_generator("seed", "TestSystem.mutate", seed)
        newest = max(sets, key=lambda tests: tests.next_id)  # new ids follow those of all sets
        if morphism.mark.filter is not None:
            keep = self.find("case_filter", morphism.mark.filter).evaluate_cases(sets[0])
            sets = tuple(tests.filter(keep) for tests in sets)
        new_inputs = morphism.morph(*(tests.inputs for tests in sets), rng=rng, lenient=lenient)
        return newest.mutants(new_inputs, morphism.name, [tests.ids for tests in sets])

    @check_types
    def execute(
        self,
        tests: TestSet,
        *,
        only_missing: bool = False,
        engine: EngineLike = None,
        budget: Budget | str | float | None = None,
        timeout: float | None = None,
        batch: int | None = None,
        progress: bool | None = None,
        tally: CallCounter | None = None,
    ) -> TestSet:
        """Return the cases with the outputs of the system under test.

        Parameters
        ----------
        tests : TestSet
            The cases to execute. Earlier outputs are replaced, and the correctness of cases that are executed is
            not judged any more.
        only_missing : bool
            Whether to execute only cases without a valid output.
        engine, timeout, batch, progress
            As in `explore`.
        budget : str, int, optional
            How much the execution may cost, such as "1m" or "1000 runs". Cases that it does not reach have no output:
            their status is MISSING.
        tally : CallCounter, optional
            Counts the runs and calls.
        """
        if batch is not None:
            validate_integer("batch", "TestSystem.execute", batch, 1)
        if self.sut is None:
            raise ModelError(f"{self.name} has no system under test. Mark the function that queries it with @executor.")
        rows = np.arange(len(tests))
        if only_missing and tests.outputs is not None:
            rows = np.flatnonzero(~tests.outputs.ok)
        if not len(rows):
            return tests if tests.outputs is not None else tests.with_outputs(Outputs.empty())
        limit = Budget.parse(budget)
        inputs = tests.inputs.take(rows)
        pace = WorkPace(
            "TestSystem.execute",
            {"tests": len(rows)},
            remedy=LIMIT_TIME,
            count_all_rows=lambda: count_different_rows(inputs.codes[: limit.runs]),
        )
        outputs = drive(
            _execute_flow(inputs, limit.runs, BATCHES_PER_QUERY * (batch or self.sut.batch_rows)),
            self.sut,
            budget=Budget(seconds=limit.seconds),
            tally=tally,
            progress=progress,
            engine=engine,
            timeout=timeout,
            batch=batch,
            pace=pace,
            on_piece=pace.add_answers,
        )
        if len(rows) == len(tests) or tests.outputs is None:
            return tests.with_outputs(outputs)
        places = np.arange(len(tests))
        places[rows] = len(tests) + np.arange(len(rows))
        correctness = tests.correctness.copy()
        correctness[rows] = Correctness.NOT_JUDGED
        joined_outputs = Outputs.concat([tests.outputs, outputs]).take(places)
        return tests.with_outputs(joined_outputs).with_correctness(correctness)

    @check_types
    def judge(self, tests: TestSet) -> TestSet:
        """Return executed cases with their correctness, as all metamorphisms judge it.

        A case is INCORRECT if a metamorphism that applies to it is violated. It is CORRECT if at least one applies and
        all that apply hold. Otherwise it is NOT_JUDGED.
        """
        if not self.metamorphisms:
            raise TestSystemError(f"{self.name} has no metamorphism to judge by. Mark a function with @metamorphism.")
        return tests.with_correctness(judge_verdicts(self.check(tests), len(tests)))

    @check_types
    def check(self, tests: TestSet) -> dict[str, npt.NDArray[np.object_]]:
        """Return the verdicts of every metamorphism on the cases of an executed test set.

        A verdict is INAPPLICABLE if the case is of another kind, was made by another datamorphism or lacks origins, and
        UNDEFINED if the case or an origin has no output.
        """
        return {name: self._compute_verdicts(morphism, tests) for name, morphism in self.metamorphisms.items()}

    def _compute_verdicts(self, morphism: Morphism, tests: TestSet) -> npt.NDArray[np.object_]:
        mark, applies = morphism.mark, np.ones(len(tests), dtype=bool)
        if mark.applies_to is not None:
            applies &= tests.kinds == CaseKind[mark.applies_to.upper()]
        if mark.of is not None:
            applies &= tests.made_by_names == self.find("datamorphism", mark.of).name
        origin_count = morphism.arity - 1
        applies &= tests.origins.shape[1] >= origin_count
        rows = [np.arange(len(tests))]
        for column in range(min(origin_count, tests.origins.shape[1])):
            ids = tests.origins[:, column]
            rows.append(tests.rows_of(ids))
            applies &= (ids != NO_ORIGIN) & (rows[-1] >= 0)
        defined = applies.copy()
        ok = tests.outputs.ok if tests.outputs is not None else np.zeros(len(tests), dtype=bool)
        for places in rows:
            defined &= ok[places]
        verdicts = np.where(applies, Verdict.UNDEFINED, Verdict.INAPPLICABLE).astype(object)
        if defined.any():
            holds = morphism.evaluate_cases(*(tests.take(places[defined]) for places in rows))
            verdicts[defined] = np.where(holds, Verdict.HOLDS, Verdict.VIOLATED)
        return verdicts


def judge_verdicts(verdicts: Mapping[str, npt.NDArray[np.object_]], count: int) -> npt.NDArray[np.int8]:
    """Return the correctness of so many cases for the verdicts of metamorphisms, as `TestSystem.judge` defines it."""
    violated, judged, undefined = (np.zeros(count, dtype=bool) for _ in range(3))
    for column in verdicts.values():
        violated |= column == Verdict.VIOLATED
        undefined |= column == Verdict.UNDEFINED
        judged |= column == Verdict.HOLDS
    correctness = np.where(judged & ~undefined, Correctness.CORRECT, Correctness.NOT_JUDGED)
    return np.where(violated, Correctness.INCORRECT, correctness).astype(np.int8)


def _execute_flow(inputs: Points, limit: int | None, rows_per_query: int) -> Flow[Outputs]:
    """Query all inputs, or the first `limit`; those that are not reached have no output."""
    count = len(inputs) if limit is None else min(limit, len(inputs))
    parts: list[Outputs] = []
    done = 0
    try:
        while done < count:
            batch = inputs.take(slice(done, min(done + rows_per_query, count)))
            parts.append((yield Query(batch, progress=done / count, note="executing test cases")))
            done += len(batch)
    except OutOfBudget:
        pass
    return Outputs.concat([*parts, make_missing_outputs(len(inputs) - done)])


def has_morphisms(source: object) -> bool:
    """Return whether an object is a test system or has marked functions."""
    if isinstance(source, TestSystem):
        return True
    if isinstance(source, types.ModuleType):
        members = list(vars(source).values())
    else:
        kind = source if inspect.isclass(source) else type(source)
        members = [member for base in kind.__mro__ for member in vars(base).values()]
    return any(get_mark(member) is not None for member in members)


def _read_attribute(instance: object, name: str, owner: str) -> Any:
    """Return an attribute, or None; exceptions become a `TestSystemError`."""
    if inspect.getattr_static(instance, name, None) is None:
        return None
    try:
        return getattr(instance, name)
    except (Exception, SystemExit) as error:
        raise TestSystemError(f"{owner}.{name} raised {type(error).__name__}: {to_text(error)}.") from error


def _collect_morphisms(instance: object) -> list[Morphism]:
    """Return the marked functions of an object; properties are not evaluated."""
    if isinstance(instance, types.ModuleType):
        owner, names = instance.__name__, list(vars(instance))
    else:
        # functions of base classes come first; a subclass may override them
        owner = type(instance).__name__
        classes = reversed(type(instance).__mro__)
        names = list(dict.fromkeys([n for c in classes for n in vars(c)] + list(getattr(instance, "__dict__", {}))))
    return [
        Morphism.from_function(mark.name or name, mark, getattr(instance, name), f"{owner}.{name}")
        for name in names
        if (mark := get_mark(inspect.getattr_static(instance, name))) is not None
    ]
