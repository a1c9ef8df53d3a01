"""Models, test systems and relations for the record of behaviour: sound ones, and some with planted defects.

Commands import them as ``planted_models:NAME``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm

PROMISES = {"monotone": {"income": "up", "debt": "down"}, "outcome": "approve"}


def make_applicants(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """Return loan applications; the decision rises with income and falls with debt, with some noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(10, 200, rows).round(1),
            "debt": rng.uniform(0, 100, rows).round(1),
            "age": rng.integers(18, 80, rows),
            "gender": rng.choice(["f", "m"], rows),
        }
    )
    score = frame.income - 0.8 * frame.debt + rng.normal(0, 8, rows)
    frame["decision"] = np.where(score > 90, "approve", np.where(score > 30, "review", "reject"))
    return frame


def make_exact_regression() -> LogisticRegression:
    """Return a logistic regression that is solved down to rounding noise.

    Where a solver stops within its tolerance depends on the processor; the minimum itself does not.
    """
    return LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=500)


class Lender:
    """A linear model that does not look at gender."""

    def __init__(self) -> None:
        frame = make_applicants()
        inputs = frame[["income", "debt", "age"]].to_numpy(float)
        self.mean, self.scale = inputs.mean(axis=0), inputs.std(axis=0)
        model = make_exact_regression().fit((inputs - self.mean) / self.scale, frame.decision)
        self.classes_, self.weights, self.bias = model.classes_, model.coef_.T, model.intercept_

    def visible_inputs(self, frame):
        return frame[["income", "debt", "age"]]

    def predict(self, frame):
        return self.classes_[self.predict_proba(frame).argmax(axis=1)].astype(object)

    def predict_proba(self, frame):
        inputs = (self.visible_inputs(frame).to_numpy(float) - self.mean) / self.scale
        scores = np.exp(inputs @ self.weights + self.bias)
        return scores / scores.sum(axis=1, keepdims=True)


class OrderDependentLender(Lender):
    def predict(self, frame):
        answers = super().predict(frame)
        answers[0] = "reject" if answers[0] == "review" else "review"
        return answers


class BatchDependentLender(Lender):
    def visible_inputs(self, frame):
        frame = super().visible_inputs(frame)
        return frame.assign(income=frame.income - frame.income.mean() + 105)


class SilentLender(Lender):
    def predict(self, frame):
        answers = super().predict(frame)
        answers[(frame.income > 180).to_numpy() & (frame.debt > 90).to_numpy()] = np.nan
        return answers


class FailingLender(Lender):
    def predict(self, frame):
        if ((frame.income > 180) & (frame.debt > 90)).any():
            raise ValueError("no such applicant")
        return super().predict(frame)


class NonMonotoneLender(Lender):
    def visible_inputs(self, frame):
        frame = super().visible_inputs(frame)
        return frame.assign(income=np.where(frame.income.between(120, 140), frame.income - 90, frame.income))


class TwoClassLender(Lender):
    """Never answers "review"."""

    def predict(self, frame):
        answers = super().predict(frame)
        answers[answers == "review"] = "reject"
        return answers


class GenderDependentLender(Lender):
    def visible_inputs(self, frame):
        return super().visible_inputs(frame).assign(income=frame.income - 15 * (frame.gender == "f"))


class BrokenModel:
    """Raises for every input."""

    classes_ = np.array(["a", "b"])

    def predict(self, frame):
        raise RuntimeError("this model always fails")


def make_iris_tree(leaves: int = 6) -> DecisionTreeClassifier:
    iris = dm.data.load("iris")
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
    return tree.fit(iris.drop(columns="target"), iris["target"])


def area(a, b, c):
    """Return Heron's area of a triangle, wrong where the first side is long."""
    half = (a + b + c) / 2
    square = half * (half - a) * (half - b) * (half - c)
    return np.sqrt(np.maximum(square, 0)) * np.where(a > 18, 1.5, 1.0)


doubled_sides = dm.FunctionRelation(
    name="doubled sides",
    domain=[(0, 20)] * 3,
    follow_up=dm.relations.Affine.scaled(2.0, 3),
    equal=lambda x, y: (4 * y[0], y[1]),
)
swapped_sides = dm.FunctionRelation(
    name="swapped sides",
    domain=[(0, 20)] * 3,
    follow_up=dm.relations.Affine.permuted([1, 2, 0]),
    equal=lambda x, y: (y[0], y[1]),
)
increasing = dm.FunctionRelation(
    name="increasing", domain=[(0, 20)] * 3, follow_up=lambda x: x + 0.5, at_most=lambda x, y: (y[0], y[1])
)


class SoundSystem:
    """A test system on two numbers and a category whose moves keep every law."""

    space = dm.Space(
        [dm.Continuous("x", 0, 10, step=0.5), dm.Integer("n", 0, 20), dm.Categorical("c", ["a", "b", "d"])]
    )

    @dm.seed_maker
    def grid(self):
        return self.space.sample(40, seed=5)

    @dm.datamorphism(feature="x")
    def longer(self, case):
        return self.space.up(case, "x")

    @dm.datamorphism(feature="x")
    def shorter(self, case):
        return self.space.down(case, "x")

    @dm.datamorphism(feature="n")
    def more(self, case):
        return self.space.up(case, "n")

    @dm.datamorphism(feature="n")
    def fewer(self, case):
        return self.space.down(case, "n")

    @dm.datamorphism
    def between(self, one, other):
        return self.space.midpoint(one, other)

    @dm.metamorphism(of="longer", message="longer is never smaller")
    def not_smaller(self, case, origin):
        return case.output >= origin.output

    @dm.executor
    def size(self, cases):
        return (cases.x + cases.n > 14).astype(int) + (cases.c == "b")


class FaultySystem(SoundSystem):
    """A test system whose midpoint ignores one feature."""

    @dm.datamorphism
    def between(self, one, other):
        return self.space.midpoint(one, other).assign(n=0)


def __getattr__(name: str):
    """Fit models for the command line when they are first named."""
    makers = {
        "iris_tree": make_iris_tree,
        "lender": Lender,
        "silent_lender": SilentLender,
        "failing_lender": FailingLender,
        "gender_lender": GenderDependentLender,
        "broken_model": BrokenModel,
    }
    if name not in makers:
        raise AttributeError(name)
    return makers[name]()
