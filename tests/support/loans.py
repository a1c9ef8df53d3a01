"""A test system with one morphism of every kind, for tests of commands and invocations."""

from __future__ import annotations

import pandas as pd

import datamorphic as dm

SPACE = dm.Space([dm.Continuous("income", 0, 100, step=5), dm.Categorical("job", ["none", "full"])], moves="open")


class Loans:
    """Who earns more than 40 gets a loan, but by mistake nobody above 95 does."""

    space = SPACE

    @dm.seed_maker
    def applicants(self, n=3):
        print("the test system talks")
        return pd.DataFrame({"income": [30.0, 60.0, 90.0], "job": ["none", "full", "full"]}).head(n)

    @dm.datamorphism
    def raise_income(self, p):
        return p.assign(income=p.income + 10)

    @dm.datamorphism
    def mid(self, a, b):
        return SPACE.midpoint(a, b)

    @dm.metamorphism(of="raise_income", message="more income never leads to a refusal")
    def income_helps(self, case, origin):
        return ~((origin.output == "yes") & (case.output == "no"))

    @dm.case_metric
    def size(self, tests):
        return tests.input["income"]

    @dm.case_filter
    def rich(self, tests):
        return tests.input["income"] > 50

    @dm.set_metric
    def total(self, tests):
        return tests.input["income"].sum()

    @dm.set_filter
    def first_two(self, tests):
        return tests.take(slice(0, 2))

    @dm.analyser
    def report(self, tests):
        return f"{len(tests)} applicants"

    @dm.analyser(name="size")
    def size_report(self, tests):
        return len(tests)

    @dm.executor
    def decide(self, p):
        return ((p.income > 40) & (p.income <= 95)).map({True: "yes", False: "no"})


def approve_all(frame):
    """A model instead of a test system."""
    return ["yes"] * len(frame)
