"""Training data with border points added."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError
from support.cases import LONG
from support.fronts import PLANE, credit, explore, without


@pytest.fixture(scope="module")
def labelled(people):
    return people.drop(columns=["card"]).assign(age=people["age"].fillna(40), rating=credit(people))


class Tree(DecisionTreeClassifier):
    """A tree that says how often it was fitted."""

    fits: list[int] = []  # noqa: RUF012

    def fit(self, x, y):
        self.fits.append(len(x))
        return super().fit(x, y)


@pytest.fixture(scope="module")
def tree_front(labelled):
    inputs = labelled.drop(columns="rating")
    return dm.explore(
        Tree(max_depth=5, random_state=0).fit(inputs, labelled["rating"]),
        inputs,
        walks=300,
        progress=False,
        strategy="random_walk",
    )


@pytest.mark.slow
def test_rare_classes_get_border_points_and_the_effect_is_measured(tree_front, labelled):
    Tree.fits.clear()
    more = tree_front.augment(labelled, "rating", folds=3)
    assert len(Tree.fits) == 6
    assert max(Tree.fits[::2]) <= 200  # no fold is fitted on what it is scored on
    counts, after = labelled["rating"].value_counts(), more.frame["rating"].value_counts()
    assert after.max() == counts.max()
    assert ((after - counts) == more.added.reindex(counts.index, fill_value=0)).all()
    assert more.added.sum() > 0
    pd.testing.assert_frame_equal(more.frame.head(len(labelled)), labelled)
    assert more.frame.dtypes.equals(labelled.dtypes)
    new = more.frame.iloc[len(labelled) :]
    assert (tree_front.sut.model.predict(new.drop(columns="rating")) == new["rating"]).all()
    assert not new.duplicated().any()
    effect = more.effect
    assert {"accuracy", "balanced accuracy", "recall of poor"} <= set(effect.index)
    np.testing.assert_allclose(effect["after"] - effect["before"], effect["difference"], atol=1e-12)
    assert (effect["standard_error"] >= 0).all()
    assert "held-out" in more.note
    pd.testing.assert_frame_equal(effect, tree_front.augment(labelled, "rating", folds=3).effect)


@pytest.mark.slow
def test_the_most_plausible_points_come_first(tree_front, labelled):
    few = tree_front.augment(labelled, "rating", classes=["poor"], per_class=5, folds=0)
    many = tree_front.augment(labelled, "rating", classes="poor", per_class=50, folds=0)
    assert few.added.to_dict() == {"poor": 5}
    assert few.effect is None
    assert "folds=0" in few.note
    start = len(labelled)
    pd.testing.assert_frame_equal(few.frame.iloc[start:], many.frame.iloc[start : start + 5])


@pytest.mark.slow
def test_augmenting_mixed_data_keeps_columns_and_types(mixed_front, people):
    data = people.assign(label=pd.Categorical(credit(people)), note="real")[["label", *people.columns, "note"]]
    more = mixed_front.augment(data, "label")
    assert list(more.frame.columns) == list(data.columns)
    columns = [name for name in data.columns if name != "note"]
    assert more.frame[columns].dtypes.equals(data[columns].dtypes)
    assert more.frame["note"].isna().sum() == more.added.sum() > 0
    assert mixed_front.space.valid(more.frame).all()
    assert more.effect is None
    assert "not a scikit-learn estimator" in more.note


@pytest.mark.slow
def test_the_note_explains_why_the_effect_was_not_measured(tree_front, labelled):
    assert "no system attached" in without(tree_front).augment(labelled, "rating").note

    class Moody(ClassifierMixin, BaseEstimator):
        def fit(self, x, y):
            self.fits_ = getattr(self, "fits_", 0) + 1
            if len(x) < 250:
                raise ValueError("too few rows")
            self.classes_ = np.unique(y)
            return self

        def predict(self, x):
            return np.where(x["income"] > 50, self.classes_[0], self.classes_[1])

    inputs = labelled.drop(columns="rating")
    front = dm.explore(Moody().fit(inputs, labelled["rating"]), inputs, walks=50, progress=False)
    more = front.augment(labelled, "rating")
    assert more.effect is None
    assert "too few rows" in more.note


def test_wrong_arguments_of_augment_are_rejected(tree_front, labelled, empty_front):
    with pytest.raises(DataError, match="Did you mean 'rating'"):
        tree_front.augment(labelled, "ratings")
    with pytest.raises(ArgumentError, match="no class 'awful'"):
        tree_front.augment(labelled, "rating", classes=["awful"])
    with pytest.raises(ArgumentError, match="folds"):
        tree_front.augment(labelled, "rating", folds=1)
    with pytest.raises(ArgumentError, match="DataFrame"):
        tree_front.augment(labelled.to_numpy(), "rating")
    numbers = explore(lambda f: f["x"] * 1.0, threshold=5.0)
    with pytest.raises(ArgumentError, match="no plain classes"):
        numbers.augment(PLANE.sample(20).assign(target=1.0), "target")
    none = empty_front.augment(PLANE.sample(20).assign(target=["a", "b"] * 10), "target", folds=0)
    assert none.added.sum() == 0
    assert "is empty: there are no border points" in none.note
    assert len(none.frame) == 20


@pytest.fixture(scope="module")
def poor_front(labelled):
    inputs, is_poor = labelled.drop(columns="rating"), (labelled["rating"] == "poor").astype(int)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(inputs, is_poor)
    return dm.explore(model, inputs, walks=100, progress=False, strategy="random_walk")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["Int64", "category", *(["boolean", "float"] if LONG else [])])
def test_nullable_and_other_labels_get_points(dtype, labelled, poor_front):
    data = labelled.assign(
        rating=(labelled["rating"] == "poor").astype(int).astype(dtype if dtype != "category" else int)
    )
    if dtype == "category":
        data["rating"] = data["rating"].astype("category")
    more = poor_front.augment(data, "rating", folds=2)
    assert more.added.sum() > 0
    assert more.effect is not None
    assert more.frame["rating"].dtype == data["rating"].dtype


@pytest.mark.slow
def test_rows_without_a_label_are_left_out_and_reported(tree_front, labelled):
    data = labelled.copy()
    data.loc[[3, 7], "rating"] = None
    more = tree_front.augment(data, "rating", folds=3)
    assert more.note.startswith("2 rows without a label in 'rating' were left out.")
    assert more.effect is not None
    assert more.frame["rating"].notna().all()
    assert len(more.frame) == len(data) - 2 + more.added.sum()
