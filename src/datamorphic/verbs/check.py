"""``dm.check``: does a learner, or a model, keep its promises?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from .._checks import did_you_mean, one_of, plural, positive, reject, whole_number
from ..errors import ArgumentError, ModelError
from ..morphisms.subject import subject_of
from ..relations.base import Relation
from ..relations.drawing import HIGH, LABELS, LOW, ROWS, parts_of, random_training
from ..relations.examining import Inputs
from ..relations.further import LEARNER_RELATIONS
from ..relations.learners import LearnerRelation
from ..relations.necessity import STRICTNESS, Stance, known, overridden, stance
from ..relations.predicting import PREDICTING
from ..runs.engine import Staying, engine_of
from ..runs.interrupts import Interrupts
from ..strategies.flow import Budget
from ..sut.base import Executor
from ..sut.files import load_model
from ..sut.learner import Learner, is_regressor, learner_text
from ..verdicts.asked import Asked
from ..verdicts.examination import Examination, to_test
from ..verdicts.report import Report
from .checks import kept_check
from .keeping import Keep, lasting_seed

CASES = 20  # test cases of one training set, where parts of real data are learnt
MOST_SHRUNK = (
    6  # relations whose smallest violation is looked for at once, hypotheses half as many; others when asked for
)
RANDOM = "random"


def check(
    learner: Any,
    data: Any = RANDOM,
    relations: Any = "auto",
    target: str | None = None,
    inputs: int = 300,
    seed: int = 0,
    engine: Any = None,
    *,
    like: Any = None,
    strictness: Mapping[str, str] | None = None,
    expected_failures: Mapping[str, str] | None = None,
    rows: int = ROWS,
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
) -> Report:
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
    whole_number("inputs", "check", inputs, 1)
    whole_number("rows", "check", rows, 1)
    one_of("ties", "check", ties, ("aside", "count"))
    if timeout is not None:
        positive("timeout", "check", timeout)
    if seed is not None:
        whole_number("seed", "check", seed)
    keep = store if isinstance(store, Keep) or store is None else Keep(store)
    seed = lasting_seed(seed, keep or Keep("none"))
    model, called = _loaded(learner, trust, name)
    if data is None and target is None and space is None and hasattr(model, "fit"):
        data = RANDOM
    if like is not None:
        known_like("check", like)
    chosen, asked, must = _chosen(relations, model, data, target)
    views = _views(chosen, model if like is None else like, relations, strictness, expected_failures)
    if must:
        chosen = [each for each in chosen if views[each.name].necessary]
    driving = {"engine": engine, "timeout": timeout, "batch": batch, "progress": progress}
    random = isinstance(data, str) and data == RANDOM
    draw: Any = parts_of(data, target, rows) if chosen and not random else random_training
    source = Inputs(draw, inputs, 1 if random else CASES, seed)
    learning = Examination(model, to_test(chosen, views, seed, ties), source, driving, like=like)
    models = None
    if asked:
        subject = subject_of(
            model, None if random else data, target=target, space=space, seeds=inputs, rng=np.random.default_rng(seed),
            scalar=scalar, name=called,
        )  # fmt: skip
        models = Asked(subject, asked, seed, driving)
    about = called or (learner_text(model) if chosen or models is None else models.subject.name)
    notes: list[str] = []

    def left() -> Budget:
        spent = learning.tally.runs + (0 if models is None else models.tally.runs)
        return limit.less(spent, time.monotonic() - began)

    with Interrupts(), _kept_up(driving), kept_check(keep, about, seed, learner, data, name) as kept:
        if chosen and random:
            learning.draw_random(rows)
        if chosen and not learning.repeats(left()):
            notes.append(_by_distribution(learning))
        replayed = {} if kept is None else kept.tried_again(learning)
        if chosen:
            learning.run(left())
        if models is not None:
            models.run(left)
        report = Report.of(
            about, _told_data(data, random, rows, chosen, target), learning, models, replayed, seed,
            bool(not chosen or like is not None or known(model)),
        )  # fmt: skip
        if shrink:
            report = replace(report, examples=report.smallest(MOST_SHRUNK, left))
        report = _priced(report, learning, models, notes, time.monotonic() - began)
        if kept is not None:
            kept.finish(report, learning)
    return report


def known_like(verb: str, like: Any) -> None:
    """Raise ArgumentError unless it is known what an estimator must keep."""
    if not known(like):
        reject("like", verb, "an estimator of scikit-learn that the table has, e.g. KNeighborsClassifier(3)", like)


def _loaded(model: Any, trust: bool, name: str | None) -> tuple[Any, str | None]:
    """Return the model itself and what to call it."""
    if isinstance(model, str) and model.startswith("weka:"):
        from ..sut.weka import weka_learner

        return weka_learner(model).check(), name or model
    if isinstance(model, str | os.PathLike):
        return load_model(model, trust=trust), name or os.path.basename(os.fspath(model))
    return (model.learner, name or model.name) if isinstance(model, Learner) else (model, name)


def _chosen(
    given: Any, model: Any, data: Any, target: str | None
) -> tuple[list[LearnerRelation], list[Relation], bool]:
    """Return the relations of learners and of models to put to it, and whether only those that must hold."""
    if isinstance(model, type):
        raise ModelError(f"{model.__name__} is a class. Make a learner of it first: {model.__name__}().")
    learns = hasattr(model, "fit") and hasattr(model, "predict") and not isinstance(model, Executor)
    random = isinstance(data, str) and data == RANDOM
    if isinstance(data, str) and not random:
        raise ArgumentError(
            f"The data are a frame, or 'random'. Got {data!r}: load it first, with dm.data.load or pandas."
        )
    if learns and random and is_regressor(model):
        raise ArgumentError(
            f"Random data have labels, and {type(model).__name__} learns numbers. Give data, and target= to name the column."
        )
    trains = learns and (random or target is not None)
    answers = not random and (not learns or _fitted(model))
    if isinstance(given, str) and given in ("auto", "necessary"):
        if not trains and not answers:
            raise ArgumentError(
                "Labels are needed to train it anew: give target= to name their column, or data='random'."
                if learns
                else "Random data are for learners, which are trained on them. Give inputs of the model: a frame."
            )
        return (
            list(LEARNER_RELATIONS.values()) if trains else [],
            list(PREDICTING.values()) if answers else [],
            given == "necessary",
        )
    several = given if isinstance(given, list | tuple | set | frozenset) else [given]
    by_name: dict[str, LearnerRelation | Relation] = {**PREDICTING, **LEARNER_RELATIONS}
    chosen: dict[str, LearnerRelation | Relation] = {}
    for each in several:
        if isinstance(each, str):
            if each not in by_name:
                raise ArgumentError(f"There is no relation {each!r}. {did_you_mean(each, by_name)}")
            each = by_name[each]
        elif isinstance(each, type) and issubclass(each, Relation | LearnerRelation):
            each = each()
        if not isinstance(each, Relation | LearnerRelation):
            reject(
                "relations", "check", "'auto', 'necessary', a relation, the name of one, or several of these", each
            )
        if not each.name:
            raise ArgumentError(f"The relation {type(each).__name__} has no name. Give it one: name = '...'.")
        if chosen.get(each.name, each) is not each:
            raise ArgumentError(f"Two relations are called {each.name!r}. Give each a name of its own.")
        chosen[each.name] = each
    if not chosen:
        reject("relations", "check", "at least one relation", given)
    of_learners = [each for each in chosen.values() if isinstance(each, LearnerRelation)]
    of_models = [each for each in chosen.values() if isinstance(each, Relation)]
    if of_learners and not learns:
        raise ModelError(
            f"The relation {of_learners[0].name!r} is about learners, and {type(model).__name__} has no fit and predict."
        )
    if of_models and random:
        raise ArgumentError(
            f"The relation {of_models[0].name!r} is about models that predict: give inputs, a frame."
        )
    return of_learners, of_models, False


def _fitted(model: Any) -> bool:
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


def _views(
    chosen: list[LearnerRelation],
    model: Any,
    relations: Any,
    strictness: Mapping[str, str] | None,
    expected_failures: Mapping[str, str] | None,
) -> dict[str, Stance]:
    """Return what each relation is for the learner: by the table, unless the user says otherwise."""
    views = {each.name: stance(each.name, model) for each in chosen}
    for each in chosen:
        if each.about_scores and views[each.name].strictness == "class_exact":
            views[each.name] = replace(views[each.name], strictness="score_exact")
    for given, what in ((strictness, "strictness"), (expected_failures, "expected_failures")):
        if not isinstance(given, Mapping | None):
            reject(what, "check", "a mapping from names of relations", given)
        for name in given or {}:
            if name not in views:
                raise ArgumentError(
                    f"{what} names the relation {name!r}, which is not checked. {did_you_mean(name, views)}"
                )
    for name, how in (strictness or {}).items():
        one_of("strictness", "check", how, STRICTNESS)
        views[name] = overridden(views[name], how)
    for name, reason in (expected_failures or {}).items():
        views[name] = overridden(views[name], expected_failure=reason)
    own = {each.name for each in chosen if each.name not in LEARNER_RELATIONS}
    for name in own - set(expected_failures or {}):
        views[name] = replace(views[name], reason="a relation of your own")
    return views


def _by_distribution(learning: Examination) -> str:
    """Judge labels by their distribution: this learner cannot be repeated."""
    for each in learning.tested:
        if each.relation.name != "refit" and not each.statistical:
            each.manner = replace(each.manner, strictness="class_stat")
    return (
        "Fitted again on the same data, this learner gives other labels, and it has no random_state to fix: labels are "
        "judged by their distribution."
    )


@contextmanager
def _kept_up(driving: dict[str, Any]) -> Iterator[None]:
    """Keep the processes of an engine up from question to question; those of later ones are their own."""
    engine = driving["engine"]
    driving["engine"] = up = Staying(engine_of(engine))
    try:
        yield
    finally:
        up.end()
        driving["engine"] = engine


def _told_data(data: Any, random: bool, rows: int, chosen: Any, target: str | None) -> str:
    if random:
        return (
            f"random data: up to {plural(rows, 'training row')} of 4 numbers from {LOW:g} to {HIGH:g}, "
            f"labels {', '.join(LABELS)} by chance, one case each"
        )
    size = plural(len(data), "row") if hasattr(data, "__len__") else "inputs drawn from a space"
    drawn = f", training sets and cases drawn from them, labels in {target}" if chosen else ""
    return size + drawn


def _priced(
    report: Report, learning: Examination, models: Asked | None, notes: list[str], seconds: float
) -> Report:
    """Return the report with what it cost."""
    tallies = [learning.tally, *([] if models is None else [models.tally])]
    exhausted = any(each.exhausted for each in tallies)
    if exhausted:
        stopped = any(each.interrupted for each in tallies)
        notes.append(f"{'It was stopped' if stopped else 'The budget was spent'} before everything was tried.")
    if again := sum(entry.replayed for entry in report.entries):
        notes.append(f"{plural(again, 'violation')} of earlier checks went first, and can still be seen.")
    return replace(
        report, notes=tuple(notes), seconds=seconds, complete=not exhausted,
        runs=sum(each.runs for each in tallies), calls=sum(each.calls for each in tallies),
    )  # fmt: skip
