"""Hunts and simulations as JSON, HTML, Markdown, JUnit XML and text."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError

TANH = dm.programs["tanh"]
MIRRORED = dm.FunctionRelation(name="mirrored", domain=(0, 1), follow_up=dm.relations.Affine.scaled(-1, 1))


@pytest.fixture(scope="module")
def hunt():
    return dm.hunt(TANH.mutants["emu10"], "tripling", "MT-RT", trials=2, seed=1)


def test_hunt_is_exported_in_every_form(hunt, tmp_path):
    assert json.loads(hunt.to_json()) == json.loads(json.dumps(hunt.document(), default=float))
    page = tmp_path / "hunt.html"
    assert hunt.to_html(page, system=TANH.mutants["emu10"]) == page.read_text(encoding="utf-8")
    assert "Where relations are violated" in page.read_text(encoding="utf-8")
    assert "Hunting violations in" in hunt.to_markdown()
    assert "Hunting violations in" in hunt._repr_html_()
    assert hunt.describe().startswith("tanh/emu10 violates 'tripling'")


def test_violated_relation_is_a_failed_test_case(hunt):
    case = ElementTree.fromstring(hunt.to_junit()).find(".//testcase")
    assert case.attrib["name"] == "tripling"
    assert case.find("failure").text.startswith("f(")


def test_trial_without_violation_has_no_time_in_json():
    hunt = dm.hunt(TANH, "tripling", budget=20)
    assert json.loads(hunt.to_json())["f_times"] == [None]
    assert [case.outcome for case in hunt.test_cases()] == ["passed"]


def test_groups_that_cannot_be_judged_are_a_skipped_test_case():
    hunt = dm.hunt(lambda x: x * np.nan, MIRRORED, budget=20)
    assert [case.outcome for case in hunt.test_cases()] == ["skipped"]
    assert hunt.judged_groups == 0


def test_most_frequent_error_of_a_function_is_a_field():
    def fail_often(x):
        if np.any(x > 0.5):
            raise ValueError("too big")
        return x

    hunt = dm.hunt(fail_often, MIRRORED, budget=20, stop_after=None)
    assert 0 < hunt.failed < hunt.calls
    assert hunt.failure_message == "ValueError: too big"


def test_simulation_is_exported_in_every_form():
    simulation = dm.simulate("MT-RT", rate=0.01, budget=3, trials=20)
    document = json.loads(simulation.to_json())
    assert document["cohens_d"] is None
    assert document["generator"] == "MT-RT"
    assert "block regions with rate 0.01 in 2 dimensions" in simulation.to_html()
    assert "F-ratios" in simulation.to_markdown()
    assert ElementTree.fromstring(simulation.to_junit()).find(".//testcase").attrib["name"] == "MT-RT"


def test_options_are_validated_once():
    from datamorphic.hunting.options import GenerateOptions, HuntOptions, SimulateOptions

    wrong_options = (
        (HuntOptions, {"budget": 0, "model": abs}),
        (GenerateOptions, {"n": 0, "relation": (0, 1)}),
        (SimulateOptions, {"rate": 1}),
    )
    for options, wrong in wrong_options:
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            options(**wrong)
    assert SimulateOptions(scenario="a1").scenario == "A1"
