"""The reference models are those of the case studies: they are as accurate as published."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from datamorphic.data import learners
from datamorphic.data.learners import reference_model, reference_space
from datamorphic.errors import UsageError
from datamorphic.studies.published import published
from support.cases import rotate


def score(model, rows):
    return 100 * np.mean(model.predict(rows.drop(columns="target")) == rows["target"].to_numpy())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "model"), rotate(list(learners.REFERENCE_SETS), ["DT", "NB", "NB2"]))
def test_models_are_as_accurate_as_published(real_data, name, model):
    frame = real_data(name)
    whole, part = learners.training_rows(name, frame)
    table = published("000-13").query("data == @name and subject == @model and measure == 'accuracy'")
    rows = part if learners.learns_from_part(model) else whole
    assert score(reference_model(name, model, frame), rows) == pytest.approx(table["published"].item(), abs=0.5)


def test_models_answer_for_user_values_in_any_order_of_columns(real_data):
    frame = real_data("bank_churners")
    model = pickle.loads(pickle.dumps(reference_model("bank_churners", "DT", frame)))
    inputs = frame.drop(columns="target")[:50]
    answers = model.predict(inputs)
    assert set(answers) <= set(frame["target"])
    assert model.predict(inputs[inputs.columns[::-1]]).tolist() == answers.tolist()
    assert model.predict(inputs.astype({"Gender": "category"})).tolist() == answers.tolist()
    with pytest.raises(UsageError, match=r"'Gender' holds 'X', which the model does not know"):
        model.predict(inputs.assign(Gender="X"))


def test_mushrooms_without_a_known_root_are_answered_for(real_data):
    frame = real_data("mushroom")
    unknown = frame[frame["stalk-root"] == "?"]
    assert len(unknown) == 2480
    whole, part = learners.training_rows("mushroom", frame)
    assert (len(whole), len(part)) == (5644, 5079)
    answers = reference_model("mushroom", "DT", frame).predict(unknown.drop(columns="target"))
    assert set(answers) <= {"e", "p"}


@pytest.mark.slow
def test_spaces_of_the_studies(real_data):
    wine = reference_space("red_wine", real_data("red_wine"))
    assert wine.kinds == {"continuous": 11, "integer": 0, "categorical": 0, "text": 0}
    assert (wine["alcohol"].low, wine["alcohol"].high, wine["alcohol"].step) == (8.4, 14.9, 0.5)
    assert wine.moves == "open"
    mushroom = reference_space("mushroom", real_data("mushroom"))
    assert mushroom.kinds["categorical"] == 22
    assert mushroom["gill-attachment"].values == ("a", "f")
    bank = reference_space("bank_churners", real_data("bank_churners"))
    assert bank.kinds == {"continuous": 3, "integer": 11, "categorical": 5, "text": 0}
    assert (bank["Credit_Limit"].low, bank["Credit_Limit"].step) == (1000, 2000)
    assert bank["Marital_Status"].values == ("Married", "Single", "Divorced", "Unknown")


def test_every_model_can_be_built():
    assert len(learners.REFERENCE_MODELS) == 16
    assert set(learners.REFERENCE_MODELS) == set(published("000-13")["subject"])
    for model in learners.REFERENCE_MODELS:
        assert hasattr(learners.make_reference_estimator(model), "fit")


def test_unknown_names_are_reported():
    frame = pd.DataFrame({"target": [1]})
    with pytest.raises(UsageError, match=r"no case study 'red_vine'. Did you mean 'red_wine'\?"):
        reference_model("red_vine", "DT", frame)
    with pytest.raises(UsageError, match=r"no reference model 'KNN3'. Did you mean 'KNN2?'\?"):
        reference_model("red_wine", "KNN3", frame)
    with pytest.raises(UsageError, match=r"The column 'fixed acidity' of 'red_wine' is missing"):
        reference_space("red_wine", frame)
