"""A program whose lines and branches are counted, and a test system for it."""

from __future__ import annotations

import datamorphic as dm

LIMIT = 0.9


def decide(income, debt):
    """Return the decision about a loan."""
    if debt > 0.95:
        raise ValueError("too much debt")
    if income > LIMIT:
        return "yes"
    if debt < 0.05:
        for _ in range(2):
            if income < 0.02:
                return "odd"
        return "maybe"
    return "no"


class Unused:
    def method(self):
        return list(range(3))


class Loans:
    space = dm.Space([dm.Continuous("income", 0, 1, step=0.05), dm.Continuous("debt", 0, 1, step=0.05)])

    @dm.seed_maker
    def middle(self, rng, n=20):
        return self.space.sample(n, seed=rng) * 0.5 + 0.2

    @dm.datamorphism
    def richer(self, p):
        return p.assign(income=(p.income + 0.05).clip(upper=1))

    @dm.datamorphism
    def repaid(self, p):
        return p.assign(debt=(p.debt - 0.05).clip(lower=0))

    @dm.executor(scalar=True)
    def answer(self, income, debt):
        return decide(income, debt)
