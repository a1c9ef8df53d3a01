"""Fronts and differences in all formats."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pytest

import datamorphic as dm


def make_step(threshold):
    return lambda frame: np.where(frame["x"] > threshold, "high", "low")


@pytest.fixture(scope="module")
def fronts():
    space = dm.Space([dm.Continuous("x", 0, 10), dm.Continuous("y", 0, 10)])
    return [dm.explore(make_step(value), space, walks=60, progress=False, name="step") for value in (4.0, 5.0)]


@pytest.mark.slow
def test_a_front_has_all_exports(fronts, tmp_path):
    front = fronts[0]
    document = json.loads(front.to_json(tmp_path / "front.json"))
    assert document == front.document()
    assert document["pairs"] == len(front)
    assert document["capability"] == front.capability
    assert json.loads((tmp_path / "front.json").read_text()) == document
    assert "Where the answers of step change" in front.to_html(tmp_path / "front.html")
    assert "Where the answers of step change" in front.to_markdown()
    assert front._repr_html_()
    suite = ElementTree.fromstring(front.to_junit())[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("step", "2", "0")


@pytest.mark.slow
def test_a_front_from_a_file_has_a_document(fronts, tmp_path):
    fronts[0].save(tmp_path / "front.parquet")
    document = dm.Front.load(tmp_path / "front.parquet").document()
    assert document["seconds"] is None
    assert document["pairs"] == len(fronts[0])


def test_a_system_without_answers_fails_a_test_case():
    space = dm.Space([dm.Continuous("x", 0, 10)])

    def answer(frame):
        if (frame["x"] > 9).any():
            raise ValueError("too high")
        return make_step(4.0)(frame)

    suite = ElementTree.fromstring(dm.explore(answer, space, walks=60, progress=False).to_junit())[0]
    assert suite.get("failures") == "1"


def test_a_difference_has_all_exports(fronts):
    same, moved = fronts[0].diff(fronts[0]), fronts[0].diff(fronts[1])
    assert [change.document()["unchanged"] for change in (same, moved)] == [True, False]
    assert json.loads(moved.to_json())["findings"] == moved.findings
    assert "has changed" in moved.to_html()
    assert "Cases to look at first" in moved.to_markdown()
    suites = [ElementTree.fromstring(change.to_junit())[0] for change in (same, moved)]
    assert [suite.get("failures") for suite in suites] == ["0", "1"]
