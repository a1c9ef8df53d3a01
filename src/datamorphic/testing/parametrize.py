"""``dm.parametrize_with_relations``: one pytest test per learner and relation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .._lazy import pd
from .._text import suggest_name
from .._typing import DataLike, ModelLike, SupportsFit
from .._validation import check_types, is_list, reject
from ..errors import ArgumentError, DatamorphicError, MissingExtra
from ..morphisms.subject import find_system_name
from ..relations.algebra.base import MetamorphicRelation, SystemRelation
from ..relations.catalogue.registry import RelationLike, resolve_relations
from ..relations.check.model_session import build_fitted_subject
from ..relations.learners.base import LearnerRelation
from ..relations.learners.clusterers import CLUSTER_RELATIONS
from ..relations.learners.necessity import Requirement, find_requirement
from ..relations.learners.requirement import must_hold
from ..relations.learners.sklearn import LEARNER_RELATIONS
from ..space.table_forms import accept_tables
from ..systems.clusterer import is_clusterer
from ..systems.learner import format_learner
from .assert_learner import check_learner_relation
from .assert_relation import AssertionOutcome, check_model_relation
from .assertions import raise_if_violated, record_outcome, reraise
from .profiles import Settings, get_settings
from .replay import Memory

RelationChoice = RelationLike | Iterable[RelationLike]
Reasons = Mapping[str, str] | Callable[[Any], Mapping[str, str]]
TEST_ARGUMENTS = ("learner", "relation")
DECLARED = must_hold("you declared it")


class RelationAssertion:
    """The relation that a test gets, to be called with a learner.

    A relation that the learner need not satisfy is a hypothesis. If it is violated, the summary says so, and no test fails:
    only if `strict`, a violation fails the test.
    """

    def __init__(
        self,
        relation: MetamorphicRelation,
        requirement: Requirement,
        strict: bool,
        data: pd.DataFrame | None,
        target: str | None,
    ) -> None:
        self.relation, self.requirement, self.strict = relation, requirement, strict
        self._data, self._target = data, target

    @property
    def name(self) -> str:
        """The name of the relation."""
        return self.relation.name

    def __repr__(self) -> str:
        return f"{self.name}: {self.relation.statement}"

    def __call__(self, learner: SupportsFit, *, cases: int | None = None, seed: int | None = None) -> None:
        """Raise AssertionError if the learner violates the relation."""
        __tracebackhide__ = True
        import pytest

        settings = get_settings()
        start_seed = settings.seed if seed is None else seed
        try:
            outcome = self._check(learner, settings, cases or settings.cases, start_seed)
        except DatamorphicError as error:
            reraise(error)
        hypothesis = "" if self.strict or not outcome.is_failing() else f"a hypothesis only: {self.requirement.reason}"
        record_outcome(settings, outcome, start_seed, hypothesis)
        if not outcome.judged:
            pytest.skip(f"{self.name} is not applicable: {outcome.unjudged_reason or 'it applies to no case'}")
        if self.strict or outcome.undefined_count:
            raise_if_violated([outcome], settings, start_seed if seed is None else None, 0.0, f"seed={start_seed}")

    def _check(self, learner: Any, settings: Settings, cases: int, seed: int) -> AssertionOutcome:
        relation, memory = self.relation, Memory(settings, None, find_system_name(learner))
        if isinstance(relation, LearnerRelation):
            return check_learner_relation(
                relation,
                learner,
                self.requirement,
                memory,
                data=self._data,
                target=self._target,
                cases=cases,
                seed=seed,
                budget=settings.budget,
                shrink=self.strict,
            )
        assert isinstance(relation, SystemRelation)
        subject = build_fitted_subject(
            learner, [relation], self._data, self._target, count=cases, seed=seed, owner="parametrize_with_relations"
        )
        return check_model_relation(relation, subject, memory, seed=seed, budget=settings.budget)


@accept_tables
@check_types
def parametrize_with_relations(
    learners: SupportsFit | ModelLike | Iterable[SupportsFit | ModelLike],
    relations: RelationChoice = "auto",
    *,
    data: DataLike | None = None,
    target: str | None = None,
    expected_failures: Reasons | None = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Turn a test function into one test per learner and relation.

    The function gets both as `learner` and `relation`, and ``relation(learner)`` asserts that the learner satisfies the relation.
    A function that takes neither argument has this assertion made for it. A relation that every correct implementation
    satisfies must hold. One with known violations is expected to fail, with the reason. Any other is a hypothesis, whose
    violations appear in the summary. The smallest violation is shown, kept in pytest's cache, and replayed first the next
    time.

    Parameters
    ----------
    learners : sequence of estimators
        Anything with ``fit`` and ``predict``; copies of them are fitted. Models and functions, too, if no relation is about
        training.
    relations : "auto", or a sequence of str or relations
        All known relations of learners, or the named ones. Named relations must hold, necessary or not. For a relation that is
        not about training, a learner is fitted to the data first.
    data : DataFrame, optional
        Labelled data from which training rows and cases are drawn. By default random data: up to 50 rows of 4 numbers
        from 1 to 20, with labels L0, L1 and L2.
    target : str, optional
        The column of `data` with the labels.
    expected_failures : mapping, or function of a learner that returns one, optional
        Names of relations whose violations are expected, each with the reason.

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
        raise MissingExtra("parametrize_with_relations needs pytest. Install it: pip install pytest") from error
    from sklearn.base import clone

    chosen_relations = None if _is_auto(relations) else _resolve(relations)
    trains = chosen_relations is None or any(isinstance(relation, LearnerRelation) for relation in chosen_relations)
    learner_list = _list_learners(learners, trains)
    if data is None and target is not None:
        raise ArgumentError(
            f"target={target!r} names a column of the data, but there are no data. Give data=, or leave out target=."
        )
    needs_labels = trains and not all(map(is_clusterer, learner_list))
    if data is not None and needs_labels and (target is None or target not in getattr(data, "columns", ())):
        raise ArgumentError("data must be a frame with labels. Give the column of the labels as target=.")
    tests = []
    for learner in learner_list:
        known_relations = CLUSTER_RELATIONS if is_clusterer(learner) else LEARNER_RELATIONS
        tested_relations = list(known_relations.values()) if chosen_relations is None else chosen_relations
        reasons = _read_reasons(expected_failures, learner, tested_relations)
        for relation in tested_relations:
            requirement = (
                find_requirement(relation.name, learner) if isinstance(relation, LearnerRelation) else DECLARED
            )
            reason = reasons.get(relation.name)
            if reason is None and requirement.strictness == "expected_failure":
                reason = requirement.reason
            marks = [] if reason is None else [pytest.mark.xfail(reason=reason, raises=AssertionError)]
            strict = chosen_relations is not None or requirement.necessary or reason is not None
            assertion = RelationAssertion(relation, requirement, strict, data, target)
            test_id = f"{_name_subject(learner)}-{relation.name}"
            own_learner = clone(learner) if hasattr(learner, "get_params") else learner  # no other test can change it
            tests.append(pytest.param(own_learner, assertion, id=test_id, marks=marks))

    def decorate(function: Callable[..., Any]) -> Any:
        return pytest.mark.parametrize(TEST_ARGUMENTS, tests)(_add_arguments(function))

    return decorate


def _list_learners(request: Any, trains: bool) -> list[Any]:
    is_single = hasattr(request, "fit") or hasattr(request, "predict") or not isinstance(request, Iterable)
    learners = [request] if is_single else list(request)
    if not learners:
        reject("learners", "parametrize_with_relations", "at least one learner", request)
    for learner in learners:
        if isinstance(learner, type):
            raise ArgumentError(f"{learner.__name__} is a class, not a learner. Create one: {learner.__name__}().")
        if not trains and (callable(learner) or hasattr(learner, "predict")):
            continue
        if not is_clusterer(learner) and not (hasattr(learner, "fit") and hasattr(learner, "predict")):
            reject("learners", "parametrize_with_relations", "objects with fit and predict", learner)
    return learners


def _is_auto(request: RelationChoice) -> bool:
    return isinstance(request, str) and request == "auto"


def _resolve(request: RelationChoice) -> list[MetamorphicRelation]:
    items: Any = list(request) if is_list(request) else request
    return resolve_relations(items, "relations", "parametrize_with_relations", "'auto', ")


def _name_subject(subject: Any) -> str:
    return format_learner(subject) if hasattr(subject, "fit") else find_system_name(subject)


def _read_reasons(
    expected_failures: Reasons | None, learner: SupportsFit, relations: Sequence[MetamorphicRelation]
) -> Mapping[str, str]:
    """Return which relations the user expects this learner to violate, and why."""
    reasons: Any = expected_failures(learner) if inspect.isroutine(expected_failures) else expected_failures
    reasons = {} if reasons is None else reasons
    if not isinstance(reasons, Mapping):
        reject("expected_failures", "parametrize_with_relations", "a mapping of names to reasons", reasons)
    known_names = {*LEARNER_RELATIONS, *CLUSTER_RELATIONS, *(relation.name for relation in relations)}
    for name in reasons:
        if name not in known_names:
            hint = suggest_name(name, known_names)
            raise ArgumentError(f"There is no relation {name!r} that could be expected to fail. {hint}")
    return {name: str(reason) for name, reason in reasons.items()}


def _add_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a test function that takes `learner` and `relation`."""
    signature = inspect.signature(function)
    accepted_names = [name for name in TEST_ARGUMENTS if name in signature.parameters]
    if len(accepted_names) == len(TEST_ARGUMENTS):
        return function
    if accepted_names:
        raise ArgumentError(
            f"{getattr(function, '__name__', 'The test')} takes only {accepted_names[0]!r}. It must take both 'learner' and "
            "'relation', or neither of them."
        )

    @functools.wraps(function)
    def run_test(*args: Any, learner: SupportsFit, relation: RelationAssertion, **keywords: Any) -> Any:
        relation(learner)
        return function(*args, **keywords)

    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in TEST_ARGUMENTS]
    all_parameters = sorted([*signature.parameters.values(), *parameters], key=lambda parameter: parameter.kind)
    run_test.__signature__ = signature.replace(parameters=all_parameters)  # type: ignore[attr-defined]
    return run_test
