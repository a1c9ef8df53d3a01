"""``dm.parametrize_with_relations``: one test a learner and relation, as pytest knows it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._text import suggest_name
from .._validation import reject
from ..errors import ArgumentError, DatamorphicError, MissingExtra
from ..morphisms.subject import find_system_name
from ..relations.learner.base import LearnerRelation
from ..relations.learner.necessity import Stance, find_stance
from ..relations.learner.sklearn import LEARNER_RELATIONS
from ..systems.learner import format_learner
from .assert_learner import check_learner_relation
from .assertions import raise_if_violated, record_outcome, reraise
from .profiles import get_settings
from .replay import Memory

Reasons = Mapping[str, str] | Callable[[Any], Mapping[str, str]]
TEST_ARGUMENTS = ("learner", "relation")


class RelationAssertion:
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

        settings = get_settings()
        start_seed = settings.seed if seed is None else seed
        try:
            outcome = check_learner_relation(
                self.relation,
                learner,
                self.stance,
                Memory(settings, None, find_system_name(learner)),
                data=self._data,
                target=self._target,
                cases=cases or settings.cases,
                seed=start_seed,
                budget=settings.budget,
                shrink=self.strict,
            )
        except DatamorphicError as error:
            reraise(error)
        hypothesis = "" if self.strict or not outcome.is_failing() else f"a hypothesis only: {self.stance.reason}"
        record_outcome(settings, outcome, start_seed, hypothesis)
        if not outcome.judged:
            pytest.skip(
                f"{self.name} says nothing here: {outcome.unjudged_reason or 'no case it applies to was tried'}"
            )
        if self.strict or outcome.undefined_count:
            raise_if_violated([outcome], settings, start_seed if seed is None else None, 0.0, f"seed={start_seed}")


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
    learner_list = _list_learners(learners)
    if data is None and target is not None:
        raise ArgumentError(f"The target {target!r} names a column of the data, and no data are given.")
    if data is not None and (target is None or target not in getattr(data, "columns", ())):
        raise ArgumentError("Data to learn from are a frame with labels: name their column with target=.")
    chosen_relations, strict = _select_relations(relations)
    tests = []
    for learner in learner_list:
        reasons = _read_reasons(expected_failures, learner, chosen_relations)
        for relation in chosen_relations:
            stance = find_stance(relation.name, learner)
            reason = reasons.get(relation.name)
            if reason is None and stance.strictness == "expected_failure":
                reason = stance.reason
            marks = [] if reason is None else [pytest.mark.xfail(reason=reason, raises=AssertionError)]
            assertion = RelationAssertion(
                relation, stance, strict or stance.necessary or reason is not None, data, target
            )
            tests.append(
                pytest.param(
                    _copy_learner(learner), assertion, id=f"{format_learner(learner)}-{relation.name}", marks=marks
                )
            )

    def decorate(function: Callable[..., Any]) -> Any:
        return pytest.mark.parametrize(TEST_ARGUMENTS, tests)(_add_arguments(function))

    return decorate


def _list_learners(request: Any) -> list[Any]:
    learners = [request] if hasattr(request, "fit") or not isinstance(request, Iterable) else list(request)
    if not learners:
        reject("learners", "parametrize_with_relations", "at least one learner", request)
    for learner in learners:
        if isinstance(learner, type):
            raise ArgumentError(f"{learner.__name__} is a class, not a learner. Make one: {learner.__name__}().")
        if not (hasattr(learner, "fit") and hasattr(learner, "predict")):
            reject("learners", "parametrize_with_relations", "objects with fit and predict", learner)
    return learners


def _select_relations(request: Any) -> tuple[list[LearnerRelation], bool]:
    """Return the relations to test, and whether each of them must hold."""
    if isinstance(request, str) and request == "auto":
        return list(LEARNER_RELATIONS.values()), False
    return [
        resolve_learner_relation(relation)
        for relation in ([request] if isinstance(request, str | LearnerRelation) else request)
    ], True


def resolve_learner_relation(relation: Any) -> LearnerRelation:
    """Return a relation about learning: itself, of its class, or by its name."""
    if isinstance(relation, str):
        if relation not in LEARNER_RELATIONS:
            raise ArgumentError(f"There is no relation {relation!r}. {suggest_name(relation, LEARNER_RELATIONS)}")
        return LEARNER_RELATIONS[relation]
    if isinstance(relation, type) and issubclass(relation, LearnerRelation):
        relation = relation()
    if not isinstance(relation, LearnerRelation):
        reject("relations", "parametrize_with_relations", '"auto", names, or LearnerRelations', relation)
    return relation


def _read_reasons(
    expected_failures: Reasons | None, learner: Any, relations: list[LearnerRelation]
) -> Mapping[str, str]:
    """Return which relations the user expects this learner to violate, and why."""
    reasons: Any = expected_failures(learner) if callable(expected_failures) else expected_failures or {}
    if not isinstance(reasons, Mapping):
        reject("expected_failures", "parametrize_with_relations", "a mapping of names to reasons", reasons)
    known_names = {*LEARNER_RELATIONS, *(relation.name for relation in relations)}
    for name in reasons:
        if name not in known_names:
            raise ArgumentError(
                f"There is no relation {name!r} that could be expected to fail. {suggest_name(name, known_names)}"
            )
    return {name: str(reason) for name, reason in reasons.items()}


def _copy_learner(learner: Any) -> Any:
    """Return a copy of a learner that no other test can change."""
    from sklearn.base import clone

    return clone(learner) if hasattr(learner, "get_params") else learner


def _add_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a test function that takes the two arguments; one that takes none of them has the check made for it."""
    signature = inspect.signature(function)
    accepted_names = [name for name in TEST_ARGUMENTS if name in signature.parameters]
    if len(accepted_names) == len(TEST_ARGUMENTS):
        return function
    if accepted_names:
        raise ArgumentError(
            f"{getattr(function, '__name__', 'The test')} takes {accepted_names[0]!r} alone. Let it take both 'learner' and "
            "'relation', or neither: then the check is made for it."
        )

    @functools.wraps(function)
    def run_test(*args: Any, learner: Any, relation: RelationAssertion, **keywords: Any) -> Any:
        relation(learner)
        return function(*args, **keywords)

    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in TEST_ARGUMENTS]
    all_parameters = sorted([*signature.parameters.values(), *parameters], key=lambda parameter: parameter.kind)
    run_test.__signature__ = signature.replace(parameters=all_parameters)  # type: ignore[attr-defined]
    return run_test
