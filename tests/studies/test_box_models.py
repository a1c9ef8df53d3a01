"""Figure 19 of Zhu & Bayley (2022): models that learned Box 2, and the picture of their borders."""

from __future__ import annotations

import numpy as np
import pytest

from datamorphic.reporting.document import Shape
from datamorphic.studies import box_models
from datamorphic.studies.box_models import BoxModel, draw_fronts, explore_model, find_middles


@pytest.fixture(autouse=True)
def few_walks(monkeypatch):
    """Fewer walks and models, for time; what is cached with them is forgotten afterwards."""
    monkeypatch.setattr(box_models, "WALKS", 200)
    monkeypatch.setattr(box_models, "REFERENCE_WALKS", 1_500)
    monkeypatch.setattr(box_models, "MODELS", ("DT", "NB"))
    yield
    explore_model.cache_clear()


def test_the_front_of_box_2_lies_on_its_border():
    x, y = find_middles(explore_model("Box 2", 0)).T
    on_box = (np.minimum(abs(x - 1), abs(x - 2)) < 0.01) | (np.minimum(abs(y + 0.5), abs(y - 0.4)) < 0.01)
    on_curve = abs(y - np.log10(x)) < 0.01
    assert len(x) > 500
    assert (on_box | on_curve).all()


def test_a_tree_is_nearer_to_the_border_than_naive_bayes():
    tree, bayes = (BoxModel(model).measure(0, 0, False) for model in ("DT", "NB"))
    accuracy, to_border, from_border = box_models.MEASURES
    assert tree[accuracy] > 98 > bayes[accuracy]
    assert tree[to_border] < 0.02 < 0.06 < bayes[to_border]
    assert tree[from_border] < 0.06 < 0.1 < bayes[from_border]


def test_the_figure_has_a_panel_per_model():
    chart = draw_fronts(0)
    assert [panel.caption for panel in chart.panels] == [
        "Box 2",
        "DT, fitted on 5,000 points",
        "NB, fitted on 5,000 points",
    ]
    assert {label for _, label in chart.legend} == {"black | blue", "black | red", "blue | red", "the border of Box 2"}
    paths = [shape for shape in chart.panels[1].shapes if isinstance(shape, Shape) and shape.kind.startswith("ours")]
    squares = sum(shape.path.count("z") for shape in paths)
    middles = find_middles(explore_model("DT", 0))
    inside = (middles >= (0, -1)) & (middles <= (2 * np.pi, 1))
    assert squares == inside.all(axis=1).sum() > 80
    assert all(panel.alt for panel in chart.panels)
