"""Exploration: pairs a second in lock-step and one predict a case, cases a pair with scores, time and memory by walks."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from benchmarks.timing import line

SECONDS = 2  # that one predict a case is timed for
PAIRS = 1000


def data():
    """Red wine where it is at hand, else data of its size."""
    try:
        frame = dm.data.load("red_wine")
        return frame.drop(columns="target").to_numpy(dtype=float), frame["target"].to_numpy()
    except dm.errors.DatamorphicError:
        from sklearn.datasets import make_classification

        return make_classification(1599, 11, n_informative=8, n_classes=6, random_state=0)


def models(inputs, labels):
    logistic, knn, tree = (
        LogisticRegression(max_iter=300),
        KNeighborsClassifier(5),
        DecisionTreeClassifier(random_state=0),
    )
    three = [("lr", logistic), ("knn", knn), ("dt", tree)]
    learners = {
        "decision tree": tree,
        "logistic regression": clone(logistic),
        "naive Bayes": GaussianNB(),
        "5 neighbours": knn,
        "SVC": SVC(),
        "random forest 100": RandomForestClassifier(100, random_state=0),
        "soft vote": VotingClassifier(three, voting="soft"),
        "stacking": StackingClassifier(three, cv=2),
    }
    return {name: learner.fit(inputs, labels) for name, learner in learners.items()}


def one_by_one(model, inputs):
    """Algorithm 1, one predict a case; returns pairs a second."""
    rng = np.random.default_rng(0)
    began, pairs = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        x, y = inputs[rng.integers(len(inputs), size=2)]
        first = model.predict(x[None])[0]
        if first == model.predict(y[None])[0]:
            continue
        for _ in range(20):
            z = (x + y) / 2
            if model.predict(z[None])[0] != first:
                y = z
            else:
                x = z
        pairs += 1
    return pairs / (time.perf_counter() - began)


def lock_step(model, inputs, rounds, refine):
    """The same by `explore`, a thousand pairs at once, all of its bookkeeping included; the best round."""
    space = dm.Space.from_arrays(inputs)
    walks = 2 * PAIRS
    best = 0.0
    for seed in range(rounds):
        began = time.perf_counter()
        front = dm.explore(model, inputs, "random_target", walks, refine=refine, space=space, seed=seed)
        best = max(best, len(front) / (time.perf_counter() - began))
        walks = max(1, round(PAIRS / front.capability))
    return best


def speed(inputs, labels):
    print(
        f"  {'pairs a second, 20 halvings':<30}{'one a case':>12}{'lock-step':>12}{'ratio':>8}{'default':>12}{'ratio':>8}"
    )
    for name, model in models(inputs, labels).items():
        slow = one_by_one(model, inputs)
        rounds = 12 if slow > 100 else 3
        fast, default = (lock_step(model, inputs, rounds, refine) for refine in ("bisect", "auto"))
        print(f"  {name:<30}{slow:>12,.1f}{fast:>12,.0f}{fast / slow:>8,.0f}{default:>12,.0f}{default / slow:>8,.0f}")
        if name == "SVC":
            line("SVC, border pairs per second, one predict per case = 1", f"{default / slow:.0f}", "5 before, goal 20")


def scores(inputs, labels):
    good = (labels >= np.median(labels)).astype(int)
    learners = {
        "logistic regression": (make_pipeline(StandardScaler(), LogisticRegression()), labels),
        "SVC, two classes": (SVC(), good),
        "SVC, all classes": (SVC(), labels),
        "naive Bayes": (GaussianNB(), labels),
        "neural network": (make_pipeline(StandardScaler(), MLPClassifier(random_state=0, max_iter=2000)), labels),
        "random forest 30": (RandomForestClassifier(30, random_state=0), labels),
        "decision tree": (DecisionTreeClassifier(random_state=0), labels),
        "5 neighbours": (KNeighborsClassifier(5), labels),
    }
    print(f"\n  {'cases to narrow a pair 2^20':<30}{'halving':>12}{'scores':>12}{'most':>8}  auto")
    for name, (learner, target) in learners.items():
        model = learner.fit(inputs, target)
        plain, guided, auto = (
            dm.explore(model, inputs, "random_target", 600, refine=refine) for refine in ("bisect", "score", "auto")
        )
        median = np.median(guided.pair_runs)
        method = auto.notes[-1].rpartition(": ")[2]
        print(f"  {name:<30}{np.median(plain.pair_runs):>12g}{median:>12g}{guided.pair_runs.max():>8}  {method}")


def mixed_space():
    real = [dm.Continuous(f"r{j}", 0, 10, step=0.5) for j in range(8)]
    whole = [dm.Integer(f"n{j}", 0, 100, step=5) for j in range(6)]
    named = [dm.Categorical(f"c{j}", list("abcde")) for j in range(6)]
    return dm.Space([*real, *whole, *named])


def board(frame: pd.DataFrame):
    numbers = sum(frame[f"r{j}"] * (j + 1) for j in range(8)) / 40 + sum(frame[f"n{j}"] for j in range(6)) / 200
    return (numbers + (frame["c0"] == "a") + (frame["c1"] == "b")).astype(int) % 4


def scale():
    space = mixed_space()
    print(f"\n  {'random walks, 20 mixed features':<36}{'seconds':>10}{'us a run':>10}{'peak MB':>10}")
    for walks in (1_000, 10_000, 100_000):
        tracemalloc.start()
        began = time.perf_counter()
        front = dm.explore(board, space, walks=walks, seeds=2000)
        seconds = time.perf_counter() - began
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        size = f"{walks:,} walks, {len(front):,} pairs"
        print(f"  {size:<36}{seconds:>10.2f}{seconds / front.runs * 1e6:>10.2f}{peak:>10,.0f}")


def main() -> None:
    """Print everything."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    warnings.simplefilter("ignore", ConvergenceWarning)
    inputs, labels = data()
    speed(inputs, labels)
    scores(inputs, labels)
    scale()


if __name__ == "__main__":
    main()
