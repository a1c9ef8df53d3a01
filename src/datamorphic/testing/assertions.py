"""``dm.assert_holds`` and ``dm.assert_covers``: assertions about models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._clock import read_clock
from .._text import format_percent
from .._typing import DataLike, FilePath, ModelLike
from .._validation import check_types, is_number, reject, validate_integer, validate_option_names, validate_seed
from ..errors import DatamorphicError
from ..morphisms.subject import build_subject, find_system_name
from ..relations.algebra.base import SystemRelation
from ..relations.algebra.function import prepare_function
from ..relations.catalogue.registry import RelationsLike, resolve_relations
from ..relations.learners.base import LearnerRelation
from ..relations.learners.necessity import find_requirement
from ..runs.flow import Budget
from ..space.space import Space
from ..space.table_forms import accept_tables
from .assert_learner import check_learner_relation
from .assert_relation import AssertionOutcome, check_model_relation, stop_on_interrupt
from .profiles import Settings, get_settings
from .replay import Memory

if TYPE_CHECKING:
    from ..runs.store import Store


@accept_tables
@check_types
def assert_holds(
    model: ModelLike,
    data: DataLike | None = None,
    relation: RelationsLike | None = None,
    *,
    target: str | None = None,
    cases: int | None = None,
    seed: int | None = None,
    space: Space | None = None,
    tolerated: float = 0.0,
    budget: Budget | str | float | None = None,
    timeout: float | None = None,
    store: FilePath | Store | None = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
) -> None:
    """Raise AssertionError unless a model satisfies a relation on every case.

    The error says how often the relation is violated, shows the smallest violation, and how to reproduce it. Under pytest,
    violations are kept in pytest's cache and replayed first the next time.

    Parameters
    ----------
    model : object
        A fitted model, a function, or the path of a model file: anything that `dm.wrap` accepts.
    data : DataFrame, array or Space, optional
        The inputs to try. A test system makes its own.
    relation : Relation, str, or a sequence of these
        The relation: one of your own, ``dm.monotone("income", "up")``, or a name. Relations of models are "repeats", "row
        order", "batches", "column order", "row labels" and "number types". Relations of learners, which are fitted again
        on changed data, are "MR-1.2" and others. All relations of a sequence must hold.
    target : str, optional
        The column of `data` with the label, which is not an input. Relations of learners need it if there are data.
    cases, seed : int, optional
        The maximum number of cases, by default that of the pytest profile or 300, and the seed, by default that of pytest
        (``--datamorphic-seed``) or 0.
    space : Space, optional
        The space of the inputs; by default read from `data`.
    tolerated : float
        The share of cases that may violate the relation. If it is above 0, a replayed violation alone is no failure.
    budget : str or int, optional
        The budget of each relation: ``"30s"`` or ``"10000 runs"``.
    timeout : float, optional
        Seconds that an answer may take; the model then runs in a process that can be stopped.
    store : str, path or Store, optional
        Where violations are kept, instead of pytest's cache.
    trust, scalar, name
        As for `dm.wrap`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.assert_holds(dm.subjects["Box 1"], None, "row order", cases=50)

    >>> class Mirrored(dm.Relation):
    ...     name = "mirrored"
    ...     statement = "the sign of x makes no difference"
    ...
    ...     def follow_up(self, frame, rng):
    ...         return frame.assign(x=-frame.x)
    >>> space = dm.Space([dm.Integer("x", -9, 9)])
    >>> dm.assert_holds(lambda x: x > 3, space, Mirrored(), scalar=True, name="large")
    Traceback (most recent call last):
    ...
    AssertionError: large violates 'mirrored': the sign of x makes no difference.
    ...
    """
    __tracebackhide__ = True
    outcomes: list[AssertionOutcome] = []
    try:
        settings, relations = (
            get_settings(),
            resolve_relations(relation, "relation", "assert_holds", own_relations=getattr(model, "relations", None)),
        )
        if not is_number(tolerated) or not 0 <= tolerated < 1:
            reject("tolerated", "assert_holds", "a share from 0 to below 1", tolerated)
        start_seed = settings.seed if seed is None else validate_seed("seed", "assert_holds", seed)
        case_count = settings.cases if cases is None else validate_integer("cases", "assert_holds", cases, 1)
        memory = Memory(settings, store, find_system_name(model, name))
        subject_options: dict[str, Any] = {"trust": trust, "scalar": scalar, "name": name, "timeout": timeout}
        limits: dict[str, Any] = {"seed": start_seed, "budget": budget or settings.budget}
        subject = None
        with stop_on_interrupt():
            for single_relation in relations:
                if isinstance(single_relation, LearnerRelation):
                    requirement = find_requirement(single_relation.name, model)
                    outcome = check_learner_relation(
                        single_relation,
                        model,
                        requirement,
                        memory,
                        data=data,
                        target=target,
                        cases=case_count,
                        **limits,
                    )
                elif isinstance(single_relation, SystemRelation):
                    rng = np.random.default_rng(start_seed)
                    subject = subject or build_subject(
                        prepare_function(model, relations, data is not None or space is not None),
                        data,
                        target=target,
                        space=space,
                        seeds=case_count,
                        rng=rng,
                        owner="assert_holds",
                        **subject_options,
                    )
                    outcome = check_model_relation(single_relation, subject, memory, timeout=timeout, **limits)
                outcomes.append(outcome)
                record_outcome(settings, outcome, start_seed)
    except DatamorphicError as error:
        reraise(error)
    raise_if_violated(outcomes, settings, start_seed if seed is None else None, tolerated, f"seed={start_seed}")


@accept_tables
@check_types
def assert_covers(
    tree: ModelLike,
    data: DataLike,
    criterion: str = "DTC",
    at_least: float = 0.9,
    *,
    target: str | None = None,
    space: Space | None = None,
    **options: Any,
) -> None:
    """Raise AssertionError if test data cover too little of a tree or forest.

    Parameters
    ----------
    tree : estimator
        Anything that `dm.cover` accepts: a fitted tree, forest or boosted trees, or a pipeline that ends in one.
    data : DataFrame or array
        The test data.
    criterion : {"DTC", "BVA", "DTMT"}
        What to cover: every leaf; every leaf by a row at its limits; every mutant of a decision by a row that kills it.
    at_least : float
        The share that the data must cover. About four in five mutants can be killed: see `dm.cover`.
    target, space, options
        As for `dm.cover`: the column of `data` with the label, the values that columns may have, and other options.

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
    AssertionError: The data reach 66.7% of the leaves. At least 90% are required.
    ...
    """
    __tracebackhide__ = True
    from ..trees.coverage.run import cover

    settings, began = get_settings(), read_clock()
    try:
        if not is_number(at_least) or not 0 < at_least <= 1:
            reject("at_least", "assert_covers", "a share above 0 and at most 1", at_least)
        validate_option_names("assert_covers", options, cover)
        coverage = cover(tree, data, target=target, space=space, criterion=criterion, **options)
    except DatamorphicError as error:
        reraise(error)
    verb, noun = ("kill", "mutants") if criterion == "DTMT" else ("reach", "leaves")
    settings.record(
        relation=f"covers {criterion}",
        cases=len(coverage.covered),
        violated=int((~coverage.covered).sum()),
        calls=coverage.rows,
        seconds=round(read_clock() - began, 3),
        note=f"{format_percent(coverage.share)} of the {noun}",
    )
    if coverage.share < at_least:
        criterion_text = "" if criterion == "DTC" else f", criterion={criterion!r}"
        raise AssertionError(
            f"The data {verb} {format_percent(coverage.share)} of the {noun}. At least {format_percent(at_least)} are required.\n"
            f"{coverage.describe()}\nAdd the rows that dm.cover(model, data{criterion_text}).fix() makes."
        )


def record_outcome(settings: Settings, outcome: AssertionOutcome, seed: int | None, remark: str = "") -> None:
    """Record the figures of a check for the summary of pytest."""
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
    """Raise AssertionError if a relation is violated, or if nothing could be judged."""
    __tracebackhide__ = True
    rerun_command = settings.format_rerun_command(seed) or f"use {rerun_hint}"
    failures = [outcome.describe(rerun_command) for outcome in outcomes if outcome.is_failing(tolerated)]
    if failures:
        raise AssertionError("\n\n".join(failures))
    if not any(outcome.judged for outcome in outcomes):
        reasons = "; ".join(
            f"{outcome.relation!r}: {outcome.unjudged_reason or 'it applies to no case'}" for outcome in outcomes
        )
        remedy = "Such an assertion would pass for any model. Remove it, or give data to which it applies."
        raise AssertionError(f"Nothing was tested: {reasons}. {remedy}")


def reraise(error: DatamorphicError) -> NoReturn:
    """Raise one of our errors again without its traceback."""
    __tracebackhide__ = True
    raise error.with_traceback(None) from None
