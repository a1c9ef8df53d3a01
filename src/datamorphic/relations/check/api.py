"""``dm.check``: check a learner or a model against metamorphic relations."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._clock import read_clock
from ..._estimates import refuse_many_rows
from ..._text import pluralize, suggest_name
from ..._typing import DataLike, EngineLike, FilePath, LearnerLike, ModelLike, SupportsFit
from ..._validation import check_types
from ...errors import ArgumentError, ModelError
from ...morphisms.subject import build_subject
from ...runs.driver import CallCounter
from ...runs.engines import PersistentEngine, make_engine, needs_processes
from ...runs.flow import Budget
from ...runs.interrupts import Interrupts
from ...runs.keep import StoreOptions, resolve_seed
from ...space.blocks import expand_arrays, has_arrays
from ...space.frames import join_target
from ...space.options import SpaceOptions
from ...space.space import Space
from ...space.table_forms import accept_tables
from ...systems.base import Executor
from ...systems.clusterer import is_clusterer
from ...systems.files import load_model, name_model
from ...systems.learner import Learner, format_learner, is_regressor
from ..base import MetamorphicRelation, SystemRelation
from ..function import prepare_function
from ..learner.base import ClusterRelation, LearnerRelation
from ..learner.cluster_sampling import describe_random_groups
from ..learner.clusterers import CLUSTER_RELATIONS
from ..learner.necessity import Requirement, find_requirement, is_known_learner, override_requirement
from ..learner.sampling import MAX_TRAINING_ROWS, RANDOM_DATA, describe_random_data, is_random
from ..learner.sklearn import LEARNER_RELATIONS
from ..learner.waves import TrainingSource
from ..predictor import PREDICTOR_RELATIONS
from ..registry import RelationsLike, resolve_relations
from .learner_session import LearnerSession, prepare_outcomes
from .model_session import ModelSession
from .options import CheckOptions
from .persistence import keep_check
from .result import CheckReport

if TYPE_CHECKING:
    from ...runs.store import Store

CLUSTER_STRICTNESS = ("class_exact", "expected_failure")  # how relations of clusterers can be judged
MAX_SHRUNK_RELATIONS = 6  # relations with a smallest violation in the report; hypotheses half as many


@accept_tables
@check_types
def check(
    learner: LearnerLike | ModelLike,
    data: DataLike | str | None = RANDOM_DATA,
    relations: RelationsLike = "auto",
    target: str | npt.ArrayLike | None = None,
    inputs: int = 300,
    seed: int | None = 0,
    engine: EngineLike = None,
    *,
    like: SupportsFit | None = None,
    strictness: Mapping[str, str] | None = None,
    expected_failures: Mapping[str, str] | None = None,
    rows: int = MAX_TRAINING_ROWS,
    ties: str = "aside",
    budget: Budget | str | float | None = None,
    timeout: float | None = None,
    batch: int | None = None,
    shrink: bool = True,
    store: FilePath | Store | StoreOptions | None = None,
    space: Space | None = None,
    kinds: Mapping[str, str] | None = None,
    steps: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
    classes: Sequence[Any] | None = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
    progress: bool | None = None,
) -> CheckReport:
    """Check a learner or a model against metamorphic relations on many inputs.

    A learner (anything with ``fit`` and ``predict``, or a clusterer) is trained on source data and on follow-up data, and its labels
    are compared. A model that cannot be trained again is queried as it is. Relations that every correct implementation
    of the learner's algorithm satisfies verify it: a violation is a fault. All others validate it: a violation shows how
    the algorithm behaves.

    Parameters
    ----------
    learner : object
        A learner, a fitted model, ``"weka:IBk -K 3"``, or the path of a model file.
    data : "random", or DataFrame
        The random data of Xie et al. (2011): up to 50 rows of 4 numbers from 1 to 20, with random labels L0, L1, L2;
        for a clusterer, groups of rows that are far from each other. Or rows of your own, or an array of images with the
        shape (n, height, width).
    relations : "auto", "necessary", str, relation, or a sequence of these
        All that apply, those that must hold, or some by name ("MR-1.1", "text.typo of review", "image.noise") or as
        objects of your own.
    target : str or array, optional
        The column of `data` with the labels, or one label per case. A clusterer does not see it.
    inputs, seed : int
        The number of test cases per relation, and the seed. The same seed gives the same report.
    engine : optional
        What computes: None, "processes:2", "dask://host:port".
    like : estimator, optional
        An estimator of scikit-learn whose algorithm the learner implements. The learner must satisfy the relations that
        this estimator must satisfy.
    strictness : mapping, optional
        How to judge relations, by name: "class_exact", "score_exact", "class_stat", "score_stat".
    expected_failures : mapping, optional
        Names of relations whose violations are no faults, each with the reason.
    rows : int
        The maximum number of rows of a random training set; with `data`, the minimum number.
    ties : {"aside", "count"}
        Whether violations that depend on a tie are set aside or counted. They disappear when all numbers change
        slightly.
    budget : str or int, optional
        ``"1m"``, ``"10000 runs"``.
    timeout : float, optional
        Seconds that a batch of trainings may take. The learner then runs in a process that can be stopped.
    batch : int, optional
        The number of cases per query.
    shrink : bool
        Whether to look for the smallest violation of each violated relation.
    store : str, path or Store, optional
        Where to store the run. Violations are stored, too, and replayed first the next time.
    space, kinds, steps, bounds, orders, classes, trust, scalar, name, progress
        As for `dm.explore`; `steps` are the steps of features.

    Returns
    -------
    CheckReport
        ``.table``, ``.violations``, ``.shrunk(0)``, ``.passed``, ``.describe()``, ``.to_html("report.html")``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> report = dm.check(KNeighborsClassifier(3), "random", ["MR-0", "MR-1.1"], inputs=40)
    >>> report.table[["relation", "purpose", "violated"]].values.tolist()
    [['MR-0', 'verification', 0], ['MR-1.1', 'validation', 8]]
    """
    data, target_name = join_target(data, target, getattr(space, "blocks", ()))
    options = CheckOptions(
        relations=relations,
        target=target_name,
        inputs=inputs,
        seed=seed,
        engine=engine,
        like=like,
        strictness=strictness,
        expected_failures=expected_failures,
        rows=rows,
        ties=ties,
        budget=budget,
        timeout=timeout,
        batch=batch,
        shrink=shrink,
        space=space,
        space_options=SpaceOptions(kinds=kinds, steps=steps, bounds=bounds, orders=orders),
        classes=classes,
        trust=trust,
        scalar=scalar,
        name=name,
        progress=progress,
    )
    keep = store if isinstance(store, StoreOptions) or store is None else StoreOptions(store)
    return run_check(learner, data, options, keep)


def run_check(
    learner: LearnerLike | ModelLike, data: DataLike | str | None, options: CheckOptions, keep: StoreOptions | None
) -> CheckReport:
    """Run a check with validated options."""
    began, limit = read_clock(), Budget.parse(options.budget)
    seed = resolve_seed(options.seed, keep or StoreOptions("none"))
    model, model_name = _load_model(learner, options.trust, options.name)
    if data is None and options.target is None and options.space is None and hasattr(model, "fit"):
        data = RANDOM_DATA
    learner_relations, model_relations = _select_relations(options, model, data)
    requirements = _build_requirements(learner_relations, model if options.like is None else options.like, options)
    if isinstance(options.relations, str) and options.relations == "necessary":
        learner_relations = [relation for relation in learner_relations if requirements[relation.name].necessary]
    drive_options = {name: getattr(options, name) for name in ("engine", "timeout", "batch", "progress")}
    training_data = expand_arrays(data) if learner_relations else RANDOM_DATA
    clusters = any(isinstance(relation, ClusterRelation) for relation in learner_relations)
    clusterer = model if clusters else None
    learner_session = LearnerSession(
        learner=model,
        outcomes=prepare_outcomes(learner_relations, requirements, seed, options.ties),
        inputs=TrainingSource.of(training_data, options.target, options.rows, options.inputs, seed, clusterer),
        drive_options=drive_options,
        like=options.like,
    )
    model_session = None
    if model_relations:
        if isinstance(data, Space):  # inputs are drawn, changed, and made into frames
            refuse_many_rows("check", "inputs", options.inputs, 4 * len(data))
        has_inputs = not is_random(data) or options.space is not None
        subject = build_subject(
            prepare_function(model, model_relations, has_inputs),
            None if is_random(data) else data,
            target=options.target,
            space=options.space,
            space_options=options.space_options,
            seeds=options.inputs,
            rng=np.random.default_rng(seed),
            owner="check",
            scalar=options.scalar,
            classes=options.classes,
            name=model_name,
            timeout=options.timeout,
            isolated=needs_processes(options.engine),
        )
        model_session = ModelSession(
            subject=subject, relations=model_relations, seed=seed, drive_options=drive_options, shrinks=options.shrink
        )
    subject_name = model_name or (
        format_learner(model) if learner_relations or model_session is None else model_session.subject.name
    )
    notes: list[str] = []
    counters = [session.counter for session in (learner_session, model_session) if session is not None]

    def remaining_budget() -> Budget:
        return limit.subtract(sum(counter.runs for counter in counters), read_clock() - began)

    with (
        Interrupts(),
        _keep_engine_up(drive_options),
        keep_check(keep, subject_name, seed, learner, data, options.name) as stored_check,
    ):
        if learner_relations and is_random(data):
            learner_session.use_random_data(options.rows)
        if learner_relations and not learner_session.is_repeatable(remaining_budget()):
            notes.append(learner_session.accept_unrepeatable())
        replayed_violations = {} if stored_check is None else stored_check.replay_violations(learner_session)
        if learner_relations:
            learner_session.run(remaining_budget())
        if model_session is not None:
            model_session.run(remaining_budget)
        report = CheckReport.from_sessions(
            learner_session,
            model_session,
            replayed_violations,
            subject=subject_name,
            data=describe_random_groups(model, options.rows)
            if clusters and is_random(data)
            else _format_data(data, options, learner_relations),
            seed=seed,
            known=not learner_relations or options.like is not None or is_known_learner(model),
        )
        if options.shrink:
            report = replace(report, examples=report.find_smallest_violations(MAX_SHRUNK_RELATIONS, remaining_budget))
        report = _add_costs(report, counters, notes, read_clock() - began)
        if stored_check is not None:
            with stored_check.session.tolerate_lost_store():
                stored_check.finish(report, learner_session)
    return report


def _load_model(model: Any, trust: bool, name: str | None) -> tuple[Any, str | None]:
    """Return the model itself and its name; None for the name of its class."""
    if isinstance(model, str | os.PathLike):
        return load_model(model, trust=trust), name or name_model(model)
    return (model.learner, name or model.name) if isinstance(model, Learner) else (model, name)


def _select_relations(
    options: CheckOptions, model: Any, data: object
) -> tuple[list[LearnerRelation], list[SystemRelation]]:
    """Return the relations that need training, and those that need queries."""
    if isinstance(model, type):
        raise ModelError(f"{model.__name__} is a class, not a learner. Create one: {model.__name__}().")
    like = model if options.like is None else options.like
    clusters = not isinstance(model, Executor) and hasattr(model, "fit") and (is_clusterer(model) or is_clusterer(like))
    learns = clusters or (hasattr(model, "fit") and hasattr(model, "predict") and not isinstance(model, Executor))
    random_data = is_random(data)
    if isinstance(data, str) and not random_data:
        raise ArgumentError(f"data must be a frame, the path of a CSV or Parquet file, or 'random'. Got {data!r}.")
    if learns and random_data and is_regressor(model):
        raise ArgumentError(
            f"Random data have labels, but {type(model).__name__} learns numbers. Give data, and the column of the "
            "numbers as target=."
        )
    has_rows = hasattr(data, "columns") if clusters else options.target is not None
    trains = learns and (random_data or (has_rows and not has_arrays(data)))
    answers = not random_data and (not learns or _is_fitted(model))
    if isinstance(options.relations, str) and options.relations in ("auto", "necessary"):
        if not trains and not answers:
            raise ArgumentError(
                "Training the learner needs labels. Give their column as target=, or use data='random'."
                if learns
                else "Random data are for learners, and this model cannot be trained. Give a frame of its inputs."
            )
        known_relations = CLUSTER_RELATIONS if clusters else LEARNER_RELATIONS
        return list(known_relations.values()) if trains else [], list(PREDICTOR_RELATIONS.values()) if answers else []
    relations: dict[str, MetamorphicRelation] = {}
    for relation in resolve_relations(
        options.relations, "relations", "check", "'auto', 'necessary', ", getattr(model, "relations", None)
    ):
        if not relation.name:
            raise ArgumentError(f"The relation {type(relation).__name__} has no name. Give it one: name = '...'.")
        if relations.setdefault(relation.name, relation) is not relation:
            raise ArgumentError(f"Two relations are called {relation.name!r}. Give each a name of its own.")
    learner_relations = [relation for relation in relations.values() if isinstance(relation, LearnerRelation)]
    model_relations = [relation for relation in relations.values() if isinstance(relation, SystemRelation)]
    if learner_relations and not learns:
        raise ModelError(
            f"The relation {learner_relations[0].name!r} is about learners, but {type(model).__name__} has no fit and "
            "predict."
        )
    cluster_relations = [relation for relation in learner_relations if isinstance(relation, ClusterRelation)]
    if cluster_relations and not clusters:
        name = cluster_relations[0].name
        raise ModelError(f"The relation {name!r} is about clusterers, but {type(model).__name__} is not one.")
    if cluster_relations and len(cluster_relations) < len(learner_relations):
        raise ArgumentError(
            "Relations of clusterers compare clusters, and other relations of learners labels. Check them one after the other."
        )
    has_inputs = options.space is not None or all(relation.draws_inputs for relation in model_relations)
    if model_relations and random_data and not has_inputs:
        raise ArgumentError(
            f"The relation {model_relations[0].name!r} is about fitted models. Give a frame of inputs as data."
        )
    return learner_relations, model_relations


def _is_fitted(model: object) -> bool:
    """Return whether a model that follows the conventions of scikit-learn is fitted."""
    if "sklearn" not in sys.modules:  # then the model cannot be one of its estimators
        return False
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator):
        return False
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError, AttributeError):  # AttributeError: a step without the conventions
        return False
    return True


def _build_requirements(
    relations: list[LearnerRelation], learner: SupportsFit, options: CheckOptions
) -> dict[str, Requirement]:
    """Return the requirement of each relation, as the table or the user has it."""
    requirements = {relation.name: find_requirement(relation.name, learner) for relation in relations}
    for relation in relations:
        if relation.about_scores and requirements[relation.name].strictness == "class_exact":
            requirements[relation.name] = replace(requirements[relation.name], strictness="score_exact")
    strictness, expected_failures = options.strictness or {}, options.expected_failures or {}
    for argument, overrides in (("strictness", strictness), ("expected_failures", expected_failures)):
        for name in overrides:
            if name not in requirements:
                raise ArgumentError(
                    f"{argument} names the relation {name!r}, which is not checked. {suggest_name(name, requirements)}"
                )
    for relation in relations:
        if (
            isinstance(relation, ClusterRelation)
            and strictness.get(relation.name, "class_exact") not in CLUSTER_STRICTNESS
        ):
            raise ArgumentError(
                f"strictness of {relation.name!r} must be 'class_exact' or 'expected_failure', since clusters have no scores and "
                f"no distribution. Got {strictness[relation.name]!r}."
            )
    for name, relation_strictness in strictness.items():
        requirements[name] = override_requirement(requirements[name], relation_strictness)
    for name, reason in expected_failures.items():
        requirements[name] = override_requirement(requirements[name], expected_failure=reason)
    for name in requirements:
        if name not in {**LEARNER_RELATIONS, **CLUSTER_RELATIONS} and name not in expected_failures:
            requirements[name] = replace(requirements[name], reason="a relation of your own")
    return requirements


@contextmanager
def _keep_engine_up(drive_options: dict[str, Any]) -> Iterator[None]:
    """Keep the processes of the engine alive between the queries of a check."""
    engine = drive_options["engine"]
    drive_options["engine"] = persistent_engine = PersistentEngine(make_engine(engine))
    try:
        yield
    finally:
        persistent_engine.shut_down()
        drive_options["engine"] = engine


def _format_data(data: object, options: CheckOptions, learner_relations: list[LearnerRelation]) -> str:
    if is_random(data):
        return (
            describe_random_data(options.rows)
            if learner_relations
            else "inputs drawn from the domains of the relations"
        )
    size = pluralize(len(data), "row") if hasattr(data, "__len__") else "inputs drawn from a space"
    if not learner_relations:
        return size
    if isinstance(learner_relations[0], ClusterRelation):
        return f"{size}, parts of them drawn as training sets"
    return f"{size}, training sets and cases drawn from them, labels in {options.target}"


def _add_costs(report: CheckReport, counters: list[CallCounter], notes: list[str], seconds: float) -> CheckReport:
    """Return the report with its costs, and with notes about them."""
    interrupted = any(counter.interrupted for counter in counters)
    exhausted = interrupted or any(counter.exhausted for counter in counters)
    if exhausted:
        cause = "The check was stopped" if interrupted else "The budget was spent"
        notes.append(f"{cause} before everything was tried.")
    if replayed_count := sum(entry.replayed for entry in report.entries):
        verb = "was" if replayed_count == 1 else "were"
        notes.append(f"{pluralize(replayed_count, 'violation')} of earlier checks {verb} replayed and reproduced.")
    return replace(
        report,
        notes=tuple(notes),
        seconds=seconds,
        complete=not exhausted,
        interrupted=interrupted,
        runs=sum(counter.runs for counter in counters),
        calls=sum(counter.calls for counter in counters),
    )
