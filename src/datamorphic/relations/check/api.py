"""``dm.check``: does a learner, or a model, keep its promises?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ..._text import pluralize, suggest_name
from ..._validation import reject, validate_choice, validate_integer, validate_positive
from ...errors import ArgumentError, ModelError
from ...morphisms.subject import build_subject
from ...runs.engines import PersistentEngine, make_engine
from ...runs.flow import Budget
from ...runs.interrupts import Interrupts
from ...runs.keep import KeepOptions, resolve_seed
from ...systems.base import Executor
from ...systems.files import load_model
from ...systems.learner import Learner, format_learner, is_regressor
from ..base import Relation
from ..learner.base import LearnerRelation
from ..learner.necessity import STRICTNESS, Stance, find_stance, is_known_learner, override_stance
from ..learner.sampling import (
    MAX_TRAINING_ROWS,
    RANDOM_LABELS,
    RANDOM_VALUE_HIGH,
    RANDOM_VALUE_LOW,
    draw_random_training,
    make_data_sampler,
)
from ..learner.sklearn import LEARNER_RELATIONS
from ..learner.waves import TrainingSource
from ..predictor import PREDICTOR_RELATIONS
from .learner_session import LearnerSession, prepare_outcomes
from .model_session import ModelSession
from .persistence import keep_check
from .result import CheckReport

CASES_PER_TRAINING_SET = 20  # test cases of one training set, where parts of real data are learnt
MAX_SHRUNK_RELATIONS = (
    6  # relations whose smallest violation is looked for at once, hypotheses half as many; others when asked for
)
RANDOM_DATA = "random"


def check(
    learner: Any,
    data: Any = RANDOM_DATA,
    relations: Any = "auto",
    target: str | None = None,
    inputs: int = 300,
    seed: int = 0,
    engine: Any = None,
    *,
    like: Any = None,
    strictness: Mapping[str, str] | None = None,
    expected_failures: Mapping[str, str] | None = None,
    rows: int = MAX_TRAINING_ROWS,
    ties: str = "aside",
    budget: Budget | str | float | None = None,
    timeout: float | None = None,
    batch: int | None = None,
    shrink: bool = True,
    store: Any = None,
    space: Any = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
    progress: bool | None = None,
) -> CheckReport:
    """Check whether a learner, or a model, keeps its promises: metamorphic relations on many inputs.

    A learner (anything with ``fit`` and ``predict``) is trained on source data and on follow-up data, and its labels are
    compared. A model that cannot be trained anew is asked as it is. Relations that every right implementation of the
    learner's algorithm keeps verify it: a violation is a fault. All others validate it: a violation tells how it behaves.

    Parameters
    ----------
    learner : object
        A learner, a fitted model, ``"weka:IBk -K 3"``, the path of a model file.
    data : "random", or DataFrame
        The random data of the study (up to 50 rows of 4 numbers from 1 to 20, labels L0, L1, L2 by chance), or rows of
        your own.
    relations : "auto", "necessary", str, relation, or a sequence of these
        All that apply; those that must hold; or some, by name ("MR-1.1") or as objects of your own.
    target : str, optional
        The column of `data` with the labels.
    inputs : int
        How many test cases each relation is tried on.
    seed : int
        Where randomness starts. The same seed gives the same report.
    engine : optional
        Who computes: None, "processes:2", "dask://host:port".
    like : estimator, optional
        An estimator of scikit-learn whose algorithm the learner implements: it must keep what that one must.
    strictness : mapping, optional
        How relations are judged, by their names: "class_exact", "score_exact", "class_stat", "score_stat".
    expected_failures : mapping, optional
        Names of relations whose violations are no faults, each with the reason.
    rows : int
        How many rows a random training set has at most; with `data`, how many it has at least.
    ties : {"aside", "count"}
        Whether violations that hang on a tie, so that numbers moved by a hair do not show them, are set aside.
    budget : str or int, optional
        ``"1m"``, ``"10000 runs"``.
    timeout : float, optional
        Seconds a batch of trainings may take; the learner then runs in a process that can be stopped.
    batch : int, optional
        How many cases are asked at once.
    shrink : bool
        Whether to look for the smallest violation of each relation that is violated.
    store : str, path or Store, optional
        Keep the run here; violations are kept, too, and tried first the next time.
    space, trust, scalar, name, progress
        As for `dm.explore`.

    Returns
    -------
    Report
        ``.table``, ``.violations``, ``.shrunk(0)``, ``.passed``, ``.describe()``, ``.to_html("report.html")``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> report = dm.check(KNeighborsClassifier(3), "random", ["MR-0", "MR-1.1"], inputs=40)
    >>> report.table[["relation", "purpose", "violated"]].values.tolist()
    [['MR-0', 'verification', 0], ['MR-1.1', 'validation', 8]]
    """
    began, limit = time.monotonic(), Budget.parse(budget)
    validate_integer("inputs", "check", inputs, 1)
    validate_integer("rows", "check", rows, 1)
    validate_choice("ties", "check", ties, ("aside", "count"))
    if timeout is not None:
        validate_positive("timeout", "check", timeout)
    if seed is not None:
        validate_integer("seed", "check", seed)
    keep = store if isinstance(store, KeepOptions) or store is None else KeepOptions(store)
    seed = resolve_seed(seed, keep or KeepOptions("none"))
    model, model_name = _load_model(learner, trust, name)
    if data is None and target is None and space is None and hasattr(model, "fit"):
        data = RANDOM_DATA
    if like is not None:
        validate_like("check", like)
    learner_relations, model_relations, necessary_only = _select_relations(relations, model, data, target)
    stances = _build_stances(
        learner_relations, model if like is None else like, relations, strictness, expected_failures
    )
    if necessary_only:
        learner_relations = [relation for relation in learner_relations if stances[relation.name].necessary]
    drive_options = {"engine": engine, "timeout": timeout, "batch": batch, "progress": progress}
    is_random = isinstance(data, str) and data == RANDOM_DATA
    sampler: Any = (
        make_data_sampler(data, target, rows) if learner_relations and not is_random else draw_random_training
    )
    source = TrainingSource(sampler, inputs, 1 if is_random else CASES_PER_TRAINING_SET, seed)
    learner_session = LearnerSession(
        learner=model,
        outcomes=prepare_outcomes(learner_relations, stances, seed, ties),
        inputs=source,
        drive_options=drive_options,
        like=like,
    )
    model_session = None
    if model_relations:
        subject = build_subject(
            model,
            None if is_random else data,
            target=target,
            space=space,
            seeds=inputs,
            rng=np.random.default_rng(seed),
            scalar=scalar,
            name=model_name,
        )
        model_session = ModelSession(
            subject=subject, relations=model_relations, seed=seed, drive_options=drive_options
        )
    subject_name = model_name or (
        format_learner(model) if learner_relations or model_session is None else model_session.subject.name
    )
    notes: list[str] = []

    def remaining_budget() -> Budget:
        spent_runs = learner_session.counter.runs + (0 if model_session is None else model_session.counter.runs)
        return limit.subtract(spent_runs, time.monotonic() - began)

    with (
        Interrupts(),
        _keep_engine_up(drive_options),
        keep_check(keep, subject_name, seed, learner, data, name) as stored_check,
    ):
        if learner_relations and is_random:
            learner_session.use_random_data(rows)
        if learner_relations and not learner_session.is_repeatable(remaining_budget()):
            notes.append(_judge_by_distribution(learner_session))
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
            data=_format_data(data, is_random, rows, learner_relations, target),
            seed=seed,
            known=bool(not learner_relations or like is not None or is_known_learner(model)),
        )
        if shrink:
            report = replace(
                report, examples=report.find_smallest_violations(MAX_SHRUNK_RELATIONS, remaining_budget)
            )
        report = _add_costs(report, learner_session, model_session, notes, time.monotonic() - began)
        if stored_check is not None:
            stored_check.finish(report, learner_session)
    return report


def validate_like(verb: str, like: Any) -> None:
    """Raise ArgumentError unless it is known what an estimator must keep."""
    if not is_known_learner(like):
        reject("like", verb, "an estimator of scikit-learn that the table has, e.g. KNeighborsClassifier(3)", like)


def _load_model(model: Any, trust: bool, name: str | None) -> tuple[Any, str | None]:
    """Return the model itself and what to call it."""
    if isinstance(model, str) and model.startswith("weka:"):
        from ...systems.weka import make_weka_learner

        return make_weka_learner(model).check(), name or model
    if isinstance(model, str | os.PathLike):
        return load_model(model, trust=trust), name or os.path.basename(os.fspath(model))
    return (model.learner, name or model.name) if isinstance(model, Learner) else (model, name)


def _select_relations(
    relations: Any, model: Any, data: Any, target: str | None
) -> tuple[list[LearnerRelation], list[Relation], bool]:
    """Return the relations of learners and of models to put to it, and whether only those that must hold."""
    if isinstance(model, type):
        raise ModelError(f"{model.__name__} is a class. Make a learner of it first: {model.__name__}().")
    learns = hasattr(model, "fit") and hasattr(model, "predict") and not isinstance(model, Executor)
    is_random = isinstance(data, str) and data == RANDOM_DATA
    if isinstance(data, str) and not is_random:
        raise ArgumentError(
            f"The data are a frame, or 'random'. Got {data!r}: load it first, with dm.data.load or pandas."
        )
    if learns and is_random and is_regressor(model):
        raise ArgumentError(
            f"Random data have labels, and {type(model).__name__} learns numbers. Give data, and target= to name the column."
        )
    trains = learns and (is_random or target is not None)
    answers = not is_random and (not learns or _is_fitted(model))
    if isinstance(relations, str) and relations in ("auto", "necessary"):
        if not trains and not answers:
            raise ArgumentError(
                "Labels are needed to train it anew: give target= to name their column, or data='random'."
                if learns
                else "Random data are for learners, which are trained on them. Give inputs of the model: a frame."
            )
        return (
            list(LEARNER_RELATIONS.values()) if trains else [],
            list(PREDICTOR_RELATIONS.values()) if answers else [],
            relations == "necessary",
        )
    candidates = relations if isinstance(relations, list | tuple | set | frozenset) else [relations]
    known_relations: dict[str, LearnerRelation | Relation] = {**PREDICTOR_RELATIONS, **LEARNER_RELATIONS}
    relations_by_name: dict[str, LearnerRelation | Relation] = {}
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
            reject(
                "relations",
                "check",
                "'auto', 'necessary', a relation, the name of one, or several of these",
                relation,
            )
        if not relation.name:
            raise ArgumentError(f"The relation {type(relation).__name__} has no name. Give it one: name = '...'.")
        if relations_by_name.get(relation.name, relation) is not relation:
            raise ArgumentError(f"Two relations are called {relation.name!r}. Give each a name of its own.")
        relations_by_name[relation.name] = relation
    if not relations_by_name:
        reject("relations", "check", "at least one relation", relations)
    learner_relations = [
        relation for relation in relations_by_name.values() if isinstance(relation, LearnerRelation)
    ]
    model_relations = [relation for relation in relations_by_name.values() if isinstance(relation, Relation)]
    if learner_relations and not learns:
        raise ModelError(
            f"The relation {learner_relations[0].name!r} is about learners, and {type(model).__name__} has no fit and predict."
        )
    if model_relations and is_random:
        raise ArgumentError(
            f"The relation {model_relations[0].name!r} is about models that predict: give inputs, a frame."
        )
    return learner_relations, model_relations, False


def _is_fitted(model: Any) -> bool:
    """Tell whether a model of scikit-learn's kin can predict as it is."""
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator):
        return False
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError, AttributeError):  # the last where a step is not of its kin
        return False
    return True


def _build_stances(
    learner_relations: list[LearnerRelation],
    model: Any,
    relations: Any,
    strictness: Mapping[str, str] | None,
    expected_failures: Mapping[str, str] | None,
) -> dict[str, Stance]:
    """Return what each relation is for the learner: by the table, unless the user says otherwise."""
    stances = {relation.name: find_stance(relation.name, model) for relation in learner_relations}
    for relation in learner_relations:
        if relation.about_scores and stances[relation.name].strictness == "class_exact":
            stances[relation.name] = replace(stances[relation.name], strictness="score_exact")
    for overrides, argument in ((strictness, "strictness"), (expected_failures, "expected_failures")):
        if not isinstance(overrides, Mapping | None):
            reject(argument, "check", "a mapping from names of relations", overrides)
        for name in overrides or {}:
            if name not in stances:
                raise ArgumentError(
                    f"{argument} names the relation {name!r}, which is not checked. {suggest_name(name, stances)}"
                )
    for name, relation_strictness in (strictness or {}).items():
        validate_choice("strictness", "check", relation_strictness, STRICTNESS)
        stances[name] = override_stance(stances[name], relation_strictness)
    for name, reason in (expected_failures or {}).items():
        stances[name] = override_stance(stances[name], expected_failure=reason)
    own_relations = {relation.name for relation in learner_relations if relation.name not in LEARNER_RELATIONS}
    for name in own_relations - set(expected_failures or {}):
        stances[name] = replace(stances[name], reason="a relation of your own")
    return stances


def _judge_by_distribution(learner_session: LearnerSession) -> str:
    """Judge labels by their distribution: this learner cannot be repeated."""
    for outcome in learner_session.outcomes:
        if outcome.relation.name != "refit" and not outcome.statistical:
            outcome.judging = replace(outcome.judging, strictness="class_stat")
    return (
        "Fitted again on the same data, this learner gives other labels, and it has no random_state to fix: labels are "
        "judged by their distribution."
    )


@contextmanager
def _keep_engine_up(drive_options: dict[str, Any]) -> Iterator[None]:
    """Keep the processes of an engine up from question to question; those of later ones are their own."""
    engine = drive_options["engine"]
    drive_options["engine"] = staying_engine = PersistentEngine(make_engine(engine))
    try:
        yield
    finally:
        staying_engine.shut_down()
        drive_options["engine"] = engine


def _format_data(data: Any, is_random: bool, rows: int, learner_relations: Any, target: str | None) -> str:
    if is_random:
        return (
            f"random data: up to {pluralize(rows, 'training row')} of 4 numbers from {RANDOM_VALUE_LOW:g} to {RANDOM_VALUE_HIGH:g}, "
            f"labels {', '.join(RANDOM_LABELS)} by chance, one case each"
        )
    size = pluralize(len(data), "row") if hasattr(data, "__len__") else "inputs drawn from a space"
    sampling_text = f", training sets and cases drawn from them, labels in {target}" if learner_relations else ""
    return size + sampling_text


def _add_costs(
    report: CheckReport,
    learner_session: LearnerSession,
    model_session: ModelSession | None,
    notes: list[str],
    seconds: float,
) -> CheckReport:
    """Return the report with what it cost."""
    counters = [learner_session.counter, *([] if model_session is None else [model_session.counter])]
    exhausted = any(counter.exhausted for counter in counters)
    if exhausted:
        stopped = any(counter.interrupted for counter in counters)
        notes.append(f"{'It was stopped' if stopped else 'The budget was spent'} before everything was tried.")
    if replayed_count := sum(entry.replayed for entry in report.entries):
        notes.append(
            f"{pluralize(replayed_count, 'violation')} of earlier checks went first, and can still be seen."
        )
    return replace(
        report, notes=tuple(notes), seconds=seconds, complete=not exhausted,
        runs=sum(counter.runs for counter in counters), calls=sum(counter.calls for counter in counters),
    )  # fmt: skip
