"""Labels of the data that are not the classes of the model: matched if the answers allow only one matching."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import datamorphic as dm
from datamorphic.audit.labels import match_labels

TEXTS = np.array(["gone", "new", "loyal"])  # not in the order of the classes


def make_data(classes=2, rows=600):
    x, codes = make_classification(
        rows, 6, n_informative=5, n_redundant=0, n_classes=classes, class_sep=1.5, random_state=0
    )
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(6)])
    return LogisticRegression().fit(frame, codes), frame.assign(y=TEXTS[codes])


def run(model, frame, **options):
    return dm.test(
        model, frame, "y", only=["answers", "scores", "calibration", "slices"], budget="5000 runs", **options
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_text_labels_are_matched_with_the_codes_of_the_model(classes):
    model, frame = make_data(classes)
    result, named = run(model, frame), run(model, frame, classes=list(TEXTS[:classes]))
    states = {outcome.check: outcome.state for outcome in result.outcomes}
    assert states["slices"] != "not run"
    assert states["calibration"] != "not run"
    matching = ", ".join(f"{text} is {TEXTS.tolist().index(text)}" for text in sorted(TEXTS[:classes]))
    assert f"The answers allow only one matching: {matching}." in result.notes[-2]
    agreement, named_agreement = (notes[-1].partition(" For a quick model")[0] for notes in (result.notes, named.notes))
    assert agreement == named_agreement  # the answer agrees with the label for so many; classes have other names
    assert not result.has_unmatched_labels
    assert "classes=" not in result.headline


def test_labels_that_cannot_be_matched_are_in_the_headline():
    model, frame = make_data()
    result = run(model, frame.assign(y=np.where(np.arange(len(frame)) % 2, "left", "right")))
    whys = {outcome.why for outcome in result.outcomes if outcome.check in ("slices", "calibration")}
    assert whys == {"the labels of the data are not classes of the model: classes="}
    assert "the labels of the data are not classes of the model and were not used: give classes=" in result.headline
    assert "--classes on the command line" in result.notes[-1]
    assert dm.results.AuditResult.from_json(result.to_json()).headline == result.headline


@pytest.mark.parametrize(
    ("labels", "answers", "expected"),
    [
        (["a", "b"] * 50, [1, 0] * 50, {"a": 1, "b": 0}),
        (["a", "b"] * 50, [0] * 100, None),  # one class is never answered
        (["a", "b", "c"] * 50, [0, 1, 1] * 50, None),  # more labels than classes
        (["a", "b"] * 4, [1, 0] * 4, None),  # may be chance
        (["a", "b"] * 50, [1, 0, 0, 1] * 25, None),  # independent
        (["a"] * 95 + ["b"] * 5, [0] * 99 + [1], {"a": 0, "b": 1}),  # a rare class that is rarely answered
    ],
)
def test_only_a_clear_matching_counts(labels, answers, expected):
    assert match_labels(np.array(labels), np.array(answers)) == expected
