"""``dm.assert_holds`` and its companions: what a test says of a model, in one line. They work with and without pytest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .._checks import did_you_mean, is_number, reject, whole_number
from ..errors import ArgumentError, DatamorphicError
from ..morphisms.subject import subject_of
from ..relations.base import Relation
from ..relations.further import LEARNER_RELATIONS
from ..relations.learners import LearnerRelation
from ..relations.necessity import stance
from ..relations.predicting import PREDICTING
from ..verbs.keeping import Keep, named
from .holding import Held, held, stoppable
from .learning import held_by_learner
from .profiles import Settings, settings
from .replaying import Memory


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
    found: list[Held] = []
    try:
        now, chosen = settings(), _relations(relation)
        if not is_number(tolerated) or not 0 <= tolerated < 1:
            reject("tolerated", "assert_holds", "a share from 0 to below 1", tolerated)
        start = now.seed if seed is None else whole_number("seed", "assert_holds", seed)
        many = now.cases if cases is None else whole_number("cases", "assert_holds", cases, 1)
        memory = Memory(now, store, named(model, name, Keep("")))
        limit = budget or now.budget
        subject = None
        with stoppable():
            for each in chosen:
                if isinstance(each, LearnerRelation):
                    about = stance(each.name, model)
                    found.append(
                        held_by_learner(
                            each,
                            model,
                            about,
                            memory,
                            data=data,
                            target=target,
                            cases=many,
                            seed=start,
                            budget=limit,
                        )
                    )
                else:
                    subject = subject or subject_of(
                        model, data, target=target, space=space, seeds=many, rng=np.random.default_rng(start),
                        trust=trust, scalar=scalar, name=name,
                    )  # fmt: skip
                    found.append(held(each, subject, memory, seed=start, budget=limit, timeout=timeout))
                note(now, found[-1], start)
    except DatamorphicError as error:
        told_again(error)
    verdict(found, now, start if seed is None else None, tolerated, f"seed={start}")


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
    from ..verbs.cover import cover

    now, began = settings(), time.monotonic()
    try:
        if not is_number(at_least) or not 0 < at_least <= 1:
            reject("at_least", "assert_covers", "a share above 0, 1 at most", at_least)
        coverage = cover(tree, data, target=target, space=space, criterion=criterion, **options)
    except DatamorphicError as error:
        told_again(error)
    does, what = ("kill", "mutants") if criterion == "DTMT" else ("reach", "leaves")
    now.note(
        relation=f"covers {criterion}", cases=len(coverage.covered), violated=int((~coverage.covered).sum()),
        calls=coverage.rows, seconds=round(time.monotonic() - began, 3), note=f"{coverage.share:.1%} of the {what}",
    )  # fmt: skip
    if coverage.share < at_least:
        more = "" if criterion == "DTC" else f", criterion={criterion!r}"
        raise AssertionError(
            f"The data {does} {100 * coverage.share:.1f} % of the {what}, and at least {100 * at_least:g} % were asked "
            f"for.\n{coverage.describe()}\nAdd rows that do: dm.cover(model, data{more}).fix() makes them."
        )


def note(now: Settings, found: Held, seed: int | None, more: str = "") -> None:
    """Leave the figures of a check for the summary of pytest."""
    now.note(
        relation=found.relation,
        cases=found.cases + found.undefined + found.tried,
        violated=found.violated + found.replayed,
        calls=found.calls,
        seconds=round(found.seconds, 3),
        seed=seed,
        note=", ".join(filter(None, (more, found.note))),
    )


def verdict(found: Sequence[Held], now: Settings, seed: int | None, tolerated: float, words: str) -> None:
    """Raise AssertionError if a relation is broken, or if nothing could be judged at all."""
    __tracebackhide__ = True
    again = now.again(seed) or f"give {words}"
    broken = [each.describe(again) for each in found if each.fails(tolerated)]
    if broken:
        raise AssertionError("\n\n".join(broken))
    if not any(each.judged for each in found):
        why = "; ".join(f"{each.relation!r}: {each.silent or 'no case it applies to was tried'}" for each in found)
        raise AssertionError(
            f"Nothing was tested: {why}. An assert that says nothing would hold whatever the model does: leave it out, "
            "or give data to which it applies."
        )


def told_again(error: DatamorphicError) -> NoReturn:
    """Raise an error of ours again, without the way it came: its message says all there is to know."""
    __tracebackhide__ = True
    raise error.with_traceback(None) from None


def _relations(given: Any) -> list[Relation | LearnerRelation]:
    """Return the relations that were asked for."""
    several = given if isinstance(given, list | tuple | set | frozenset) else [given]
    known: dict[str, Relation | LearnerRelation] = {**PREDICTING, **LEARNER_RELATIONS}
    found = []
    for each in several:
        if isinstance(each, str):
            if each not in known:
                raise ArgumentError(f"There is no relation {each!r}. {did_you_mean(each, known)}")
            each = known[each]
        elif isinstance(each, type) and issubclass(each, Relation | LearnerRelation):
            each = each()
        if not isinstance(each, Relation | LearnerRelation):
            reject("relation", "assert_holds", "a Relation, the name of one, or several of these", each)
        found.append(each)
    if not found:
        reject("relation", "assert_holds", "at least one relation", given)
    return found
