"""Credit decisions: does gender decide, and does more income ever make a loan less likely?

Run it with: python examples/credit.py
"""

from __future__ import annotations

import numpy as np
from applicants import applicants
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm

rows = applicants(300)
inputs, decision = rows.drop(columns="decision"), rows["decision"]
PROMISES = {"monotone": {"income": "up", "debts": "down"}, "outcome": "approved"}


def as_numbers(frame, columns):
    """Return some columns as numbers: the words for gender and home are either of two."""
    return np.column_stack(
        [frame[name].isin(["female", "owned"]) if name in ("gender", "home") else frame[name] for name in columns]
    )


def tree(columns, **options):
    """Return a tree that sees some of the columns."""
    numbers = FunctionTransformer(as_numbers, kw_args={"columns": columns})
    return make_pipeline(numbers, DecisionTreeClassifier(min_samples_leaf=5, random_state=0, **options))


print("The first model learns from everything the bank knows.\n")
first = tree(list(inputs)).fit(inputs, decision)
result = dm.test(first, rows, target="decision", protected=["gender"], expect=PROMISES, name="first model")
print(result.describe())
assert {finding.check for finding in result.at_least("concern")} >= {"protected", "monotone"}

print("\nThe second one does not get the gender, and is monotone in income and debts.\n")
fair = ["home", "income", "debts", "years_employed"]
second = tree(fair, monotonic_cst=[0, -1, 1, 0]).fit(inputs, decision)  # towards "refused", the second class
again = ["monotone", "protected"]
result = dm.test(
    second, rows, target="decision", protected=["gender"], expect=PROMISES, only=again, name="second model"
)
print(result.describe())
assert result.passed

# What a page of findings cannot say: the bank's past decisions were unfair, and a model that does not see the gender
# may still find it elsewhere. `protected` asks what changes when the gender alone changes, and no more.
