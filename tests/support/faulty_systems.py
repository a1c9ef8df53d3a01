"""The three faulty test systems behind the published case studies, rebuilt: the law check must find each.

1. Red wine's midpoint took total sulfur dioxide from one wine and free sulfur dioxide from the other.
2. Bank churners' moves reset every feature of the other two kinds to zero.
3. Bank churners' moves never reached the last category.
"""

from __future__ import annotations

import numpy as np

import datamorphic as dm
from datamorphic.data.learners import BANK_CONTINUOUS, BANK_INTEGERS, BANK_ORDERS, HINTS
from datamorphic.studies.faults import WineMidpoint

BANK_HINTS = HINTS["bank_churners"]


def bank_space():
    return dm.Space(
        [dm.Categorical(name, order) for name, order in BANK_ORDERS.items()]
        + [dm.Integer(name, low, high, step=step) for name, (low, high, step) in BANK_INTEGERS.items()]
        + [dm.Continuous(name, low, high, step=step) for name, (low, high, step) in BANK_CONTINUOUS.items()]
    )


class _Bank:
    """Moves and midpoint of the bank's customers, written on frames, as they should be."""

    space = bank_space()

    def moved(self, p, name, direction):
        return self.space.move(p, "up" if direction > 0 else "down", name)

    @dm.datamorphism
    def mid(self, a, b):
        return self.space.midpoint(a, b)


def _add_moves(system):
    """Give a class one marked move up and down for each feature, as a programmer would write them out."""
    for name in system.space.names:
        for word, direction in (("up", 1), ("down", -1)):

            def move(self, p, name=name, direction=direction):
                return self.moved(p, name, direction)

            setattr(system, f"{word}_{name}", dm.datamorphism(feature=name)(move))
    return system


@_add_moves
class BankSound(_Bank):
    """Nothing wrong here."""


@_add_moves
class BankReset(_Bank):
    """Moves that start from an empty record and fill in only the features of their own kind."""

    def moved(self, p, name, direction):
        moved = super().moved(p, name, direction)
        for feature in self.space:
            if feature.kind != self.space[name].kind:
                moved[feature.name] = feature.values[0] if feature.kind == "categorical" else 0
        return moved


@_add_moves
class BankLastCategory(_Bank):
    """Moves that stop one category early."""

    def moved(self, p, name, direction):
        moved = super().moved(p, name, direction)
        feature = self.space[name]
        if feature.kind == "categorical" and direction > 0:
            last, before = feature.values[-1], feature.values[-2]
            moved[name] = np.where((moved[name] == last) & (p[name] != last), before, moved[name])
        return moved


FAULTY = {"midpoint": WineMidpoint, "locality": BankReset, "completeness": BankLastCategory}
