"""The three faulty test systems behind the published case studies, rebuilt: the law check must find each.

1. Red wine's midpoint took total sulfur dioxide from one wine and free sulfur dioxide from the other.
2. Bank churners' moves reset every feature of the other two kinds to zero.
3. Bank churners' moves never reached the last category.
"""

from __future__ import annotations

import numpy as np

import datamorphic as dm

WINE = {
    "fixed acidity": (4.6, 15.9, 0.6),
    "volatile acidity": (0.12, 1.58, 0.1),
    "citric acid": (0.0, 1.0, 0.1),
    "residual sugar": (0.9, 15.5, 0.8),
    "chlorides": (0.012, 0.611, 0.05),
    "free sulfur dioxide": (1.0, 72.0, 5.0),
    "total sulfur dioxide": (6.0, 289.0, 15.0),
    "density": (0.99007, 1.00369, 0.1),
    "pH": (2.74, 4.01, 0.15),
    "sulphates": (0.33, 2.0, 0.15),
    "alcohol": (8.4, 14.9, 0.5),
}
BANK_ORDERS = {
    "Gender": ["F", "M"],
    "Education_Level": ["Graduate", "High School", "Uneducated", "College", "Unknown", "Post-Graduate", "Doctorate"],
    "Marital_Status": ["Married", "Single", "Divorced", "Unknown"],
    "Income_Category": [
        "Less than $40K", "$40K - $60K", "$60K - $80K", "$80K - $120K", "$120K +", "Unknown",
    ],
    "Card_Category": ["Blue", "Silver", "Gold", "Platinum"],
}  # fmt: skip
BANK_INTEGERS = {
    "Customer_Age": (20, 80, 3),
    "Dependent_count": (0, 10, 1),
    "Months_on_book": (0, 100, 5),
    "Total_Relationship_Count": (0, 10, 1),
    "Months_Inactive_12_mon": (0, 10, 1),
    "Contacts_Count_12_mon": (0, 10, 1),
    "Credit_Limit": (1000, 40000, 2000),
    "Total_Revolving_Bal": (0, 3000, 150),
    "Avg_Open_To_Buy": (0, 40000, 2000),
    "Total_Trans_Amt": (0, 20000, 1000),
    "Total_Trans_Ct": (0, 200, 10),
}
BANK_CONTINUOUS = {
    "Total_Amt_Chng_Q4_Q1": (0, 10, 0.5),
    "Total_Ct_Chng_Q4_Q1": (0, 10, 0.5),
    "Avg_Utilization_Ratio": (0, 1, 0.05),
}
BANK_HINTS = {
    "kinds": dict.fromkeys(BANK_INTEGERS, "integer") | dict.fromkeys(BANK_CONTINUOUS, "continuous"),
    "orders": BANK_ORDERS,
    "bounds": {name: (low, high) for name, (low, high, _) in (BANK_INTEGERS | BANK_CONTINUOUS).items()},
    "steps": {name: step for name, (_, _, step) in (BANK_INTEGERS | BANK_CONTINUOUS).items()},
}


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
class WineMidpoint:
    """Moves as they should be; a midpoint that mixes two features."""

    space = dm.Space(
        [dm.Continuous(name, low, high, step=step) for name, (low, high, step) in WINE.items()], moves="open"
    )

    def moved(self, p, name, direction):
        return p.assign(**{name: p[name] + direction * self.space[name].step})

    @dm.datamorphism
    def mid(self, a, b):
        middle = (a + b) / 2
        middle["total sulfur dioxide"] = (a["total sulfur dioxide"] + b["free sulfur dioxide"]) / 2
        return middle


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
