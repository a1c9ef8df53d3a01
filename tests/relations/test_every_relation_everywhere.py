"""Every class of relations through every function that takes relations: check, hunt, assert_holds, test, mutate, parametrize."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin

import datamorphic as dm
from datamorphic.errors import ArgumentError, ModelError
from datamorphic.morphisms.image_moves import ImageBrightness
from datamorphic.relations.algebra.change import Change, ChangeRelation
from datamorphic.relations.algebra.one_way import OneWay
from datamorphic.relations.catalogue.image import BlockRelation
from datamorphic.relations.catalogue.registry import find_relation
from datamorphic.relations.learners.base import SameLabel

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"a": RNG.random(60).round(3), "n": RNG.permutation(60)})
NUMBERS = pd.DataFrame({"x": RNG.uniform(-3, 3, 60)})
IMAGES = RNG.random((40, 3, 3))
LABELLED = ROWS.assign(n=ROWS.n.astype(float), label=np.where(ROWS.a > 0.5, "yes", "no"))


def accept(frame):
    """The right answer: a alone decides, row by row."""
    return np.where(frame["a"] > 0.5, "yes", "no")


class Shifted(dm.Relation):
    name = "shifted"
    statement = "n grows: the same answer"

    def follow_up(self, frame, rng):
        return frame.assign(n=(frame.n + 1) % 60)


class Backwards(dm.LearnerRelation):
    name = "backwards"
    statement = "training rows in reverse order: the same labels"

    def follow_up(self, data, labels, rng):
        return data.rows(slice(None, None, -1))


class ClustersBackwards(dm.ClusterRelation):
    name = "clusters backwards"
    statement = "the rows in reverse order: the same clusters"

    def follow_up(self, data, partition, rng):
        return data.rows(slice(None, None, -1))

    def expected(self, partition, data, made):
        return partition.labels[::-1]


class Nearest(ClassifierMixin, BaseEstimator):
    """Learns well: the label of the nearest row, the lowest label of several."""

    def fit(self, X, y):
        self.rows, self.labels = np.asarray(X, dtype=float), np.asarray(y)
        self.classes_ = np.unique(self.labels)
        return self

    def predict(self, X):
        distances = ((np.asarray(X, dtype=float)[:, None] - self.rows[None]) ** 2).sum(axis=2)
        return np.array([min(self.labels[row == row.min()]) for row in distances])


class FirstLabels(Nearest):
    """Learns badly: the label of case i is that of training row i."""

    def predict(self, X):
        return self.labels[np.arange(len(X)) % len(self.labels)]


class Halves(ClusterMixin, BaseEstimator):
    """Clusters well: rows below and above the middle of the first column."""

    def fit(self, X, y=None):
        first = np.asarray(X, dtype=float)[:, 0]
        self.labels_ = (first > (first.min() + first.max()) / 2).astype(int)
        return self

    def fit_predict(self, X, y=None):
        return self.fit(X).labels_


class FirstRows(Halves):
    """Clusters badly: the first five rows and the others."""

    def fit(self, X, y=None):
        self.labels_ = (np.arange(len(X)) < 5).astype(int)
        return self


class Restless:
    """Answers differently every time."""

    def __init__(self):
        self.rng = np.random.default_rng(1)

    def __call__(self, frame):
        return np.where(self.rng.random(len(frame)) > 0.5, "yes", "no")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A relation, a system that satisfies it, one that does not, and their inputs."""

    relation: Any
    good: Any = accept
    bad: Any
    data: Any = None
    target: str | None = None
    program: str = "def answer(frame):\n    return ['yes' if a > 0.5 else 'no' for a in frame['a']]\n"
    check: str = "invariant"  # of dm.test

    @property
    def keywords(self):
        return {"target": self.target} if self.target else {}


def number_system(frame):
    return frame["x"] ** 3


def wrong_number_system(frame):
    return frame["x"] ** 3 + 1


CUBE = "def cube(x):\n    return x * x * x\n"
NUMERIC = {"good": number_system, "bad": wrong_number_system, "data": NUMBERS, "program": CUBE}
STUMP = """
class Middle:
    def fit(self, X, y):
        self.label = sorted(list(y))[len(y) // 2]
        return self

    def predict(self, X):
        return [self.label] * len(X)
"""
HALVES = """
import numpy as np

class Halves:
    def fit(self, X, y=None):
        first = np.asarray(X, dtype=float)[:, 0]
        self.labels_ = (first > (first.min() + first.max()) / 2).astype(int)
        return self

    def fit_predict(self, X, y=None):
        return self.fit(X).labels_
"""
FRAMES = {"data": ROWS}
TABLE = {
    "Relation": Row(relation=Shifted(), bad=lambda f: np.where(f["n"] % 2 == 0, "yes", "no"), **FRAMES),
    "Invariant": Row(relation=dm.invariant("n"), bad=lambda f: np.where(f["n"] > 30, "yes", "no"), **FRAMES),
    "Monotone": Row(
        relation=dm.monotone("a", outcome="yes"), bad=lambda f: np.where(f["a"] < 0.5, "yes", "no"), **FRAMES
    ),
    "Repeats": Row(relation="repeats", bad=Restless(), **FRAMES),
    "RowOrder": Row(relation="row order", bad=lambda f: np.where(np.arange(len(f)) % 2, "yes", "no"), **FRAMES),
    "Batches": Row(relation="batches", bad=lambda f: np.full(len(f), "yes" if len(f) > 6 else "no"), **FRAMES),
    "ColumnOrder": Row(
        relation="column order", bad=lambda f: np.where(f.iloc[:, 0].to_numpy() > 0.5, "yes", "no"), **FRAMES
    ),
    "RowLabels": Row(relation="row labels", bad=lambda f: np.where(f.index % 2 == 0, "yes", "no"), **FRAMES),
    "NumberTypes": Row(relation="number types", bad=lambda f: np.full(len(f), str(f["n"].dtype)), **FRAMES),
    "ChangeRelation": Row(
        relation=ChangeRelation("more a", Change(column="a", amount=0.2), outcome="yes", direction="up"),
        bad=lambda f: np.where(f["a"] < 0.5, "yes", "no"),
        **FRAMES,
    ),
    "PatternRelation": Row(
        relation=(dm.patterns["Additive"].input(columns=("n",), amount=1) >> dm.patterns["Equality"].output()).named(
            "n + 1"
        ),
        bad=lambda f: np.where(f["n"] % 2 == 0, "yes", "no"),
        **FRAMES,
    ),
    "PatternRelation that moves one way": Row(
        relation=(dm.patterns["Additive"].input(columns=("a",), amount=0.2) >> OneWay(outcome="yes")).named("a + 0.2"),
        bad=lambda f: np.where(f["a"] < 0.5, "yes", "no"),
        **FRAMES,
    ),
    "BlockRelation": Row(
        relation=BlockRelation("brighter", ImageBrightness(amount=0.1)),
        good=lambda images: np.full(len(images), "same"),
        bad=lambda images: (images[:, 0, 0] * 10).astype(int),
        data=IMAGES,
        program="def answer(images):\n    return [1 + 1] * len(images)\n",
    ),
    "FunctionRelation": Row(
        relation=dm.FunctionRelation(
            name="odd", domain=(-3, 3), follow_up=lambda x: -x, equal=lambda x, y: (y[0], -y[1])
        ),
        **NUMERIC,
    ),
    "FunctionRelation of two sources": Row(
        relation=dm.FunctionRelation(
            name="product",
            domain=(-1, 1),
            sources=2,
            follow_up=lambda a, b: a * b,
            equal=lambda x, y: (y[0] * y[1], y[2]),
        ),
        **NUMERIC,
    ),
    "FunctionRelation with computed inputs": Row(
        relation=dm.FunctionRelation(
            name="zero",
            domain=(1, 2),
            make_inputs=lambda k: 0 * k,
            follow_up=lambda k: 0 * k,
            equal=lambda x, y: (y[0] + y[1], 0 * y[0]),
        ),
        **NUMERIC,
    ),
    "FunctionRelation from outputs": Row(
        relation=dm.FunctionRelation(
            name="ninth power",
            domain=(-1, 1),
            follow_up=lambda x, outputs: outputs[0],
            uses_outputs=True,
            follow_domain=(-3, 3),
            equal=lambda x, y: (x[0] ** 9, y[1]),
        ),
        **NUMERIC,
    ),
    "LearnerRelation": Row(
        relation=Backwards(),
        good=Nearest(),
        bad=FirstLabels(),
        data=LABELLED,
        target="label",
        program=STUMP,
        check="learning",
    ),
    "LearnerRelation that is composed": Row(
        relation=(Backwards() >> SameLabel()).named("composed"),
        good=Nearest(),
        bad=FirstLabels(),
        data=LABELLED,
        target="label",
        program=STUMP,
        check="learning",
    ),
    "ClusterRelation": Row(
        relation=ClustersBackwards(),
        good=Halves(),
        bad=FirstRows(),
        data=LABELLED[["a", "n"]],
        program=HALVES,
        check="learning",
    ),
}
over_the_table = pytest.mark.parametrize("name", TABLE)


@over_the_table
def test_check(name):
    row = TABLE[name]
    for system, is_good in ((row.good, True), (row.bad, False)):
        report = dm.check(system, row.data, row.relation, inputs=40, **row.keywords)
        (entry,) = report.entries
        assert entry.judged
        assert (entry.violated == 0) is is_good
        assert is_good or report.examples


@over_the_table
def test_assert_holds(name):
    row = TABLE[name]
    dm.assert_holds(row.good, row.data, row.relation, cases=40, **row.keywords)
    with pytest.raises(AssertionError, match="violates"):
        dm.assert_holds(row.bad, row.data, row.relation, cases=40, **row.keywords)


@over_the_table
def test_hunt(name):
    row = TABLE[name]
    assert not dm.hunt(row.good, row.relation, data=row.data, budget=40, seed=1, **row.keywords).found
    hunt = dm.hunt(row.bad, row.relation, data=row.data, budget=300, seed=1, **row.keywords)
    assert hunt.found
    assert hunt.describe()


@over_the_table
def test_expectation_of_a_check_up(name):
    row = TABLE[name]
    relation = find_relation(row.relation) if isinstance(row.relation, str) else row.relation
    for system, is_good in ((row.good, True), (row.bad, False)):
        system = system.fit(row.data) if isinstance(system, Halves) else system
        result = dm.test(system, row.data, row.target, expect=relation, only=(row.check,), budget="20s", progress=False)
        findings = [finding for finding in result.findings if finding.about in (relation.name, "n")]
        assert bool(findings) is not is_good


@pytest.mark.slow
@over_the_table
def test_mutate(name, tmp_path):
    row = TABLE[name]
    path = tmp_path / "program.py"
    path.write_text(row.program)
    has_inputs = not name.startswith("FunctionRelation")
    options = {"data": row.data, "target": row.target} if has_inputs else {}
    mutation = dm.mutate(path, row.relation, inputs=20, compared=10, limit=2, **options)
    relation, *others = mutation.relations["relation"]
    # where the domain is not that of the inputs, it is unknown which answers are required
    assert others == ([] if has_inputs or "computed inputs" in name else ["answers"])
    assert relation == (row.relation if isinstance(row.relation, str) else row.relation.name)
    assert len(mutation.mutants) == 2


def run_nothing():
    pass


@over_the_table
def test_parametrize(name):
    row = TABLE[name]
    for system, is_good in ((row.good, True), (row.bad, False)):
        relation = [row.relation]
        decorated = dm.parametrize_with_relations([system], relation, data=row.data, target=row.target)(run_nothing)
        (case,) = decorated.pytestmark[0].args[1]
        learner, assertion = case.values
        if is_good:
            assertion(learner, cases=40)
        else:
            with pytest.raises(AssertionError, match="violates"):
                assertion(learner, cases=40)


def test_a_plain_function_gets_the_inputs_of_its_relation():
    relation = TABLE["FunctionRelation"].relation
    assert dm.check(lambda x: x**3, relations=relation, inputs=30).passed
    dm.assert_holds(lambda x: x**3, None, relation)
    with pytest.raises(AssertionError, match=r"x=.*\n.*answer"):
        dm.assert_holds(lambda x: x**2, None, relation)
    assert dm.check(dm.programs["tanh"], relations="tripling", inputs=30).passed


def test_a_violation_of_several_sources_lists_all_inputs():
    relation = TABLE["FunctionRelation of two sources"].relation
    report = dm.check(lambda x: x + 1, relations=relation, inputs=30)
    example = report.examples["product"]
    assert example.describe().count("answer") == 3
    assert len(example.to_json()["sources"]) == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dm.check(accept, ROWS, Backwards()), ModelError, "is about learners, but function has no fit"),
        (lambda: dm.hunt(accept, Backwards(), data=ROWS), ModelError, "is about learners, but"),
        (lambda: dm.hunt(Nearest(), [Backwards(), Shifted()]), ArgumentError, "Hunt with each kind of relation alone"),
        (lambda: dm.hunt(Nearest(), [Backwards(), ClustersBackwards()]), ArgumentError, "Hunt with each kind alone"),
        (
            lambda: dm.hunt(number_system, TABLE["FunctionRelation"].relation, data=NUMBERS, generator="rows"),
            ArgumentError,
            "is not about rows of data",
        ),
        (
            lambda: dm.hunt(Nearest().fit(ROWS, accept(ROWS)), ["column order", Shifted()], data=ROWS),
            ArgumentError,
            "queries Nearest in another way than the other relations do",
        ),
        (
            lambda: dm.test(accept, ROWS, expect=Backwards()),
            ModelError,
            "is about learners, and accept cannot be trained",
        ),
        (
            lambda: dm.test(Nearest(), LABELLED, "label", expect=ClustersBackwards()),
            ModelError,
            "is about clusterers, but Nearest is not one",
        ),
        (lambda: dm.parametrize_with_relations([accept], [Backwards()]), ArgumentError, "objects with fit and predict"),
    ],
)
def test_combinations_without_a_meaning_are_refused_with_a_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()
