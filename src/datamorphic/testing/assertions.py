"""``dm.assert_holds`` and its companions: what a test says of a model, in one line. They work with and without pytest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .._text import suggest_name
from .._validation import is_number, reject, validate_integer
from ..errors import ArgumentError, DatamorphicError
from ..morphisms.subject import build_subject, find_system_name
from ..relations.base import Relation
from ..relations.learner.base import LearnerRelation
from ..relations.learner.necessity import find_stance
from ..relations.learner.sklearn import LEARNER_RELATIONS
from ..relations.predictor import PREDICTOR_RELATIONS
from .assert_learner import check_learner_relation
from .assert_relation import AssertionOutcome, check_model_relation, stop_on_interrupt
from .profiles import Settings, get_settings
from .replay import Memory


def assert_holds(
    model: Any,
    data: Any = None,
    relation: Any = None,
    *,
    target: str | None = None,
    cases: int | None = None,
    seed: int | None = None,
    space: Any = None,
    tolerated: float = 0.0,
    budget: Any = None,
    timeout: float | None = None,
    store: Any = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
) -> None:
    """Raise AssertionError unless a model keeps a promise on every case that is tried.

    The error says how often the promise is broken, shows the smallest case that breaks it, and how to see it again.
    Under pytest, cases that break it are kept in pytest's cache and tried first the next time.

    Parameters
    ----------
    model : object
        A fitted model, a function, a path of a model file: whatever `dm.wrap` takes.
    data : DataFrame, array or Space, optional
        The inputs to try it on. A test system makes its own.
    relation : Relation, str, or a sequence of these
        The promise: one of your own, ``dm.monotone("income", "up")``, or by name. Of models that predict: "repeats", "row
        order", "batches", "column order", "row labels", "number types". Of learners, which are fitted anew on changed
        data: "MR-1.2" and the like. A sequence means all of them.
    target : str, optional
        The column of `data` that is the label and no input. Relations of learners need it, if they are given data.
    cases : int, optional
        How many cases to try at most; 300 by default, or what the profile of pytest says.
    seed : int, optional
        Where randomness starts; by default what pytest says (``--datamorphic-seed``), 0 without it.
    space : Space, optional
        The space of the inputs, instead of one read from `data`.
    tolerated : float
        The share of the cases that may break the promise.
    budget : str or int, optional
        What each relation may cost: ``"30s"`` or ``"10000 runs"``.
    timeout : float, optional
        Seconds an answer may take; the model then runs in a process that can be stopped.
    store : str, path or Store, optional
        Where cases that break the promise are kept, instead of pytest's cache.
    trust, scalar, name
        As for `dm.wrap`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.assert_holds(dm.subjects["Box 1"], None, "row order", cases=50)

    >>> class Mirrored(dm.Relation):
    ...     name = "mirrored"
    ...     says = "the sign of x makes no difference"
    ...
    ...     def follow_up(self, frame, rng):
    ...         return frame.assign(x=-frame.x)
    >>> space = dm.Space([dm.Integer("x", -9, 9)])
    >>> dm.assert_holds(lambda x: x > 3, space, Mirrored(), scalar=True, name="large")
    Traceback (most recent call last):
    ...
    AssertionError: large does not keep 'mirrored': the sign of x makes no difference.
    ...
    """
    __tracebackhide__ = True
    outcomes: list[AssertionOutcome] = []
    try:
        settings, relations = get_settings(), _select_relations(relation)
        if not is_number(tolerated) or not 0 <= tolerated < 1:
            reject("tolerated", "assert_holds", "a share from 0 to below 1", tolerated)
        start_seed = settings.seed if seed is None else validate_integer("seed", "assert_holds", seed)
        case_count = settings.cases if cases is None else validate_integer("cases", "assert_holds", cases, 1)
        memory = Memory(settings, store, find_system_name(model, name))
        limit = budget or settings.budget
        subject = None
        with stop_on_interrupt():
            for single_relation in relations:
                if isinstance(single_relation, LearnerRelation):
                    stance = find_stance(single_relation.name, model)
                    outcomes.append(
                        check_learner_relation(
                            single_relation,
                            model,
                            stance,
                            memory,
                            data=data,
                            target=target,
                            cases=case_count,
                            seed=start_seed,
                            budget=limit,
                        )
                    )
                else:
                    subject = subject or build_subject(
                        model, data, target=target, space=space, seeds=case_count, rng=np.random.default_rng(start_seed),
                        trust=trust, scalar=scalar, name=name,
                    )  # fmt: skip
                    outcomes.append(
                        check_model_relation(
                            single_relation, subject, memory, seed=start_seed, budget=limit, timeout=timeout
                        )
                    )
                record_outcome(settings, outcomes[-1], start_seed)
    except DatamorphicError as error:
        reraise(error)
    raise_if_violated(outcomes, settings, start_seed if seed is None else None, tolerated, f"seed={start_seed}")


def assert_covers(
    tree: Any,
    data: Any,
    criterion: str = "DTC",
    at_least: float = 0.9,
    *,
    target: str | None = None,
    space: Any = None,
    **options: Any,
) -> None:
    """Raise AssertionError if test data exercise too little of a tree, or of the trees of a forest.

    Parameters
    ----------
    tree : estimator
        What `dm.cover` takes: a fitted tree, forest or boosted trees, or a pipeline that ends in one.
    data : DataFrame or array
        The rows to test with.
    criterion : {"DTC", "BVA", "DTMT"}
        What has to be covered: every leaf; every leaf by a row at its limits; every mutant of a decision by a row that
        kills it.
    at_least : float
        The share of these that the data must cover. Of mutants about four in five can be killed: see `dm.cover`.
    target : str, optional
        The column of `data` that is the label and no input.
    space : Space, optional
        The values that columns may have.
    options
        What else `dm.cover` takes.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> iris = dm.data.load("iris")
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(iris.drop(columns="target"), iris.target)
    >>> dm.assert_covers(tree, iris, target="target")
    >>> dm.assert_covers(tree, iris[:70], target="target")
    Traceback (most recent call last):
    ...
    AssertionError: The data reach 66.7 % of the leaves, and at least 90 % were asked for.
    ...
    """
    __tracebackhide__ = True
    from ..trees.coverage.api import cover

    settings, began = get_settings(), time.monotonic()
    try:
        if not is_number(at_least) or not 0 < at_least <= 1:
            reject("at_least", "assert_covers", "a share above 0, 1 at most", at_least)
        coverage = cover(tree, data, target=target, space=space, criterion=criterion, **options)
    except DatamorphicError as error:
        reraise(error)
    verb, noun = ("kill", "mutants") if criterion == "DTMT" else ("reach", "leaves")
    settings.record(
        relation=f"covers {criterion}", cases=len(coverage.covered), violated=int((~coverage.covered).sum()),
        calls=coverage.rows, seconds=round(time.monotonic() - began, 3), note=f"{coverage.share:.1%} of the {noun}",
    )  # fmt: skip
    if coverage.share < at_least:
        criterion_text = "" if criterion == "DTC" else f", criterion={criterion!r}"
        raise AssertionError(
            f"The data {verb} {100 * coverage.share:.1f} % of the {noun}, and at least {100 * at_least:g} % were asked "
            f"for.\n{coverage.describe()}\nAdd rows that do: dm.cover(model, data{criterion_text}).fix() makes them."
        )


def record_outcome(settings: Settings, outcome: AssertionOutcome, seed: int | None, remark: str = "") -> None:
    """Leave the figures of a check for the summary of pytest."""
    settings.record(
        relation=outcome.relation,
        cases=outcome.cases + outcome.undefined_count + outcome.tried_count,
        violated=outcome.violated_count + outcome.replayed_count,
        calls=outcome.calls,
        seconds=round(outcome.seconds, 3),
        seed=seed,
        note=", ".join(filter(None, (remark, outcome.note))),
    )


def raise_if_violated(
    outcomes: Sequence[AssertionOutcome], settings: Settings, seed: int | None, tolerated: float, rerun_hint: str
) -> None:
    """Raise AssertionError if a relation is broken, or if nothing could be judged at all."""
    __tracebackhide__ = True
    rerun_command = settings.format_rerun_command(seed) or f"give {rerun_hint}"
    failures = [outcome.describe(rerun_command) for outcome in outcomes if outcome.is_failing(tolerated)]
    if failures:
        raise AssertionError("\n\n".join(failures))
    if not any(outcome.judged for outcome in outcomes):
        why = "; ".join(
            f"{outcome.relation!r}: {outcome.unjudged_reason or 'no case it applies to was tried'}"
            for outcome in outcomes
        )
        raise AssertionError(
            f"Nothing was tested: {why}. An assert that says nothing would hold whatever the model does: leave it out, "
            "or give data to which it applies."
        )


def reraise(error: DatamorphicError) -> NoReturn:
    """Raise an error of ours again, without the way it came: its message says all there is to know."""
    __tracebackhide__ = True
    raise error.with_traceback(None) from None


def _select_relations(request: Any) -> list[Relation | LearnerRelation]:
    """Return the relations that were asked for."""
    candidates = request if isinstance(request, list | tuple | set | frozenset) else [request]
    known_relations: dict[str, Relation | LearnerRelation] = {**PREDICTOR_RELATIONS, **LEARNER_RELATIONS}
    relations = []
    for relation in candidates:
        if isinstance(relation, str):
            if relation not in known_relations:
                raise ArgumentError(
                    f"There is no relation {relation!r}. {suggest_name(relation, known_relations)}"
                )
            relation = known_relations[relation]
        elif isinstance(relation, type) and issubclass(relation, Relation | LearnerRelation):
            relation = relation()
        if not isinstance(relation, Relation | LearnerRelation):
            reject("relation", "assert_holds", "a Relation, the name of one, or several of these", relation)
        relations.append(relation)
    if not relations:
        reject("relation", "assert_holds", "at least one relation", request)
    return relations
