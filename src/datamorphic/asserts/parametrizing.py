"""``dm.parametrize_with_relations``: one test a learner and relation, as pytest knows it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._checks import did_you_mean, reject
from ..errors import ArgumentError, DatamorphicError, MissingExtra
from ..relations.further import LEARNER_RELATIONS
from ..relations.learners import LearnerRelation
from ..relations.necessity import Stance, stance
from ..sut.learner import learner_text
from ..verbs.keeping import Keep, named
from .asserting import note, told_again, verdict
from .learning import held_by_learner
from .profiles import settings
from .replaying import Memory

Reasons = Mapping[str, str] | Callable[[Any], Mapping[str, str]]
ARGUMENTS = ("learner", "relation")


class Promise:
    """A relation as a test gets it: call it with a learner, and it raises AssertionError unless the learner keeps it.

    A relation that the learner need not keep is a hypothesis: where it is violated the statistics say so, and no test
    fails.

    Attributes
    ----------
    relation : LearnerRelation
        The relation.
    stance : Stance
        What it is for the learner of this test: necessary or not, and how strictly it is judged.
    strict : bool
        Whether a violation fails the test.
    """

    def __init__(
        self, relation: LearnerRelation, stance: Stance, strict: bool, data: Any = None, target: str | None = None
    ) -> None:
        self.relation, self.stance, self.strict = relation, stance, strict
        self._data, self._target = data, target

    @property
    def name(self) -> str:
        """The name of the relation."""
        return self.relation.name

    def __repr__(self) -> str:
        return f"{self.name}: {self.relation.says}"

    def __call__(self, learner: Any, *, cases: int | None = None, seed: int | None = None) -> None:
        """Raise AssertionError if the learner violates the relation, or skip the test where it says nothing."""
        __tracebackhide__ = True
        import pytest

        now = settings()
        start = now.seed if seed is None else seed
        try:
            found = held_by_learner(
                self.relation,
                learner,
                self.stance,
                Memory(now, None, named(learner, None, Keep(""))),
                data=self._data,
                target=self._target,
                cases=cases or now.cases,
                seed=start,
                budget=now.budget,
                shrink=self.strict,
            )
        except DatamorphicError as error:
            told_again(error)
        hypothesis = "" if self.strict or not found.fails() else f"a hypothesis only: {self.stance.reason}"
        note(now, found, start, hypothesis)
        if not found.judged:
            pytest.skip(f"{self.name} says nothing here: {found.silent or 'no case it applies to was tried'}")
        if self.strict or found.undefined:
            verdict([found], now, start if seed is None else None, 0.0, f"seed={start}")


def parametrize_with_relations(
    learners: Any,
    relations: Any = "auto",
    *,
    data: Any = None,
    target: str | None = None,
    expected_failures: Reasons | None = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Make one test a learner and relation of a test function, which gets both as `learner` and `relation`.

    In the function, ``relation(learner)`` asserts that the learner keeps the relation. A function that takes neither
    has the assert made for it. A relation that every right implementation of the learner keeps must hold; one that is
    known to be violated is expected to fail, with the reason; any other is a hypothesis, and where it is violated the
    statistics tell it. The smallest violation is shown, kept in pytest's cache, and tried first the next time.

    Parameters
    ----------
    learners : sequence of estimators
        Whatever has ``fit`` and ``predict``; copies of them are fitted.
    relations : "auto", or a sequence of str or LearnerRelation
        All that are known, or those that are named. What is named must hold, necessary or not.
    data : DataFrame, optional
        Labelled data from which training rows and cases are drawn. By default random ones: 4 numbers from 1 to 20 a row,
        labels L0, L1 and L2, up to 50 rows.
    target : str, optional
        The column of `data` with the labels.
    expected_failures : mapping, or function of a learner that returns one, optional
        Names of relations that are expected to be violated, each with the reason.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> @dm.parametrize_with_relations([KNeighborsClassifier(3), GaussianNB()])
    ... def test_relations(learner, relation):
    ...     relation(learner)
    """
    try:
        import pytest
    except ImportError as error:
        raise MissingExtra("Tests of relations need pytest. Install it with: pip install pytest") from error
    given = _learners(learners)
    if data is None and target is not None:
        raise ArgumentError(f"The target {target!r} names a column of the data, and no data are given.")
    if data is not None and (target is None or target not in getattr(data, "columns", ())):
        raise ArgumentError("Data to learn from are a frame with labels: name their column with target=.")
    chosen, strict = _chosen(relations)
    tests = []
    for learner in given:
        reasons = _reasons(expected_failures, learner, chosen)
        for relation in chosen:
            about = stance(relation.name, learner)
            reason = reasons.get(relation.name)
            if reason is None and about.strictness == "expected_failure":
                reason = about.reason
            marks = [] if reason is None else [pytest.mark.xfail(reason=reason, raises=AssertionError)]
            promise = Promise(relation, about, strict or about.necessary or reason is not None, data, target)
            tests.append(
                pytest.param(_copy(learner), promise, id=f"{learner_text(learner)}-{relation.name}", marks=marks)
            )

    def decorate(function: Callable[..., Any]) -> Any:
        return pytest.mark.parametrize(ARGUMENTS, tests)(_with_arguments(function))

    return decorate


def _learners(given: Any) -> list[Any]:
    learners = [given] if hasattr(given, "fit") or not isinstance(given, Iterable) else list(given)
    if not learners:
        reject("learners", "parametrize_with_relations", "at least one learner", given)
    for each in learners:
        if isinstance(each, type):
            raise ArgumentError(f"{each.__name__} is a class, not a learner. Make one: {each.__name__}().")
        if not (hasattr(each, "fit") and hasattr(each, "predict")):
            reject("learners", "parametrize_with_relations", "objects with fit and predict", each)
    return learners


def _chosen(given: Any) -> tuple[list[LearnerRelation], bool]:
    """Return the relations to test, and whether each of them must hold."""
    if isinstance(given, str) and given == "auto":
        return list(LEARNER_RELATIONS.values()), False
    return [
        learner_relation(each) for each in ([given] if isinstance(given, str | LearnerRelation) else given)
    ], True


def learner_relation(given: Any) -> LearnerRelation:
    """Return a relation about learning: itself, of its class, or by its name."""
    if isinstance(given, str):
        if given not in LEARNER_RELATIONS:
            raise ArgumentError(f"There is no relation {given!r}. {did_you_mean(given, LEARNER_RELATIONS)}")
        return LEARNER_RELATIONS[given]
    if isinstance(given, type) and issubclass(given, LearnerRelation):
        given = given()
    if not isinstance(given, LearnerRelation):
        reject("relations", "parametrize_with_relations", '"auto", names, or LearnerRelations', given)
    return given


def _reasons(given: Reasons | None, learner: Any, relations: list[LearnerRelation]) -> Mapping[str, str]:
    """Return which relations the user expects this learner to violate, and why."""
    reasons: Any = given(learner) if callable(given) else given or {}
    if not isinstance(reasons, Mapping):
        reject("expected_failures", "parametrize_with_relations", "a mapping of names to reasons", reasons)
    known = {*LEARNER_RELATIONS, *(each.name for each in relations)}
    for name in reasons:
        if name not in known:
            raise ArgumentError(
                f"There is no relation {name!r} that could be expected to fail. {did_you_mean(name, known)}"
            )
    return {name: str(reason) for name, reason in reasons.items()}


def _copy(learner: Any) -> Any:
    """Return a copy of a learner that no other test can change."""
    from sklearn.base import clone

    return clone(learner) if hasattr(learner, "get_params") else learner


def _with_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a test function that takes the two arguments; one that takes none of them has the check made for it."""
    signature = inspect.signature(function)
    taken = [name for name in ARGUMENTS if name in signature.parameters]
    if len(taken) == len(ARGUMENTS):
        return function
    if taken:
        raise ArgumentError(
            f"{getattr(function, '__name__', 'The test')} takes {taken[0]!r} alone. Let it take both 'learner' and "
            "'relation', or neither: then the check is made for it."
        )

    @functools.wraps(function)
    def checked(*args: Any, learner: Any, relation: Promise, **others: Any) -> Any:
        relation(learner)
        return function(*args, **others)

    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ARGUMENTS]
    both = sorted([*signature.parameters.values(), *more], key=lambda parameter: parameter.kind)
    checked.__signature__ = signature.replace(parameters=both)  # type: ignore[attr-defined]
    return checked
