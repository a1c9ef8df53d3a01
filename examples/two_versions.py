"""Two versions of a model: the score hardly differs, so what does?

Run it with: python examples/two_versions.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from applicants import applicants
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import datamorphic as dm

rows = applicants(300).drop(columns=["gender", "home"])
inputs, decision = rows.drop(columns="decision"), rows["decision"]
folder = Path(tempfile.mkdtemp())

old = make_pipeline(StandardScaler(), SVC(C=1.0)).fit(inputs, decision)
new = make_pipeline(StandardScaler(), SVC(C=100.0, gamma=0.5)).fit(inputs, decision)
for name, model in (("old", old), ("new", new)):
    print(f"{name}: right about {cross_val_score(model, inputs, decision).mean():.1%}")

print("\nWhen the old version was released, its border was kept.")
front = dm.explore(old, inputs, walks=80, name="old")
front.save(folder / "front.parquet")
print(front.describe())

print("\nBefore the new one is released, the two are compared.")
difference = dm.Front.load(folder / "front.parquet", model=old).diff(dm.explore(new, inputs, walks=80, name="new"))
print(difference.describe())
print("\nThe cases to look at first:")
print(difference.first(3).to_string(index=False))

print("\nThe same as one of the checks of a test:")
result = dm.test(
    new, rows, target="decision", baseline=folder / "front.parquet", only=["borders", "baseline"], name="new"
)
for finding in result.findings:
    print(f"{finding.level}: {finding.title}. {finding.detail}")
assert result.findings
