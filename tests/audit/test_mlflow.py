"""Results in MLflow, by a stand-in that keeps what is logged."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest

import datamorphic as dm
from datamorphic.errors import MissingExtra


@pytest.fixture(scope="module")
def result():
    return dm.test(dm.subjects["Box 1"], seed=1, only=["repeats", "answers"])


@pytest.fixture
def logged(monkeypatch):
    """What is logged to MLflow: metrics, tags and texts."""
    logged = {"metrics": {}, "tags": {}, "texts": {}}
    mlflow = ModuleType("mlflow")
    mlflow.log_metrics = logged["metrics"].update
    mlflow.set_tags = logged["tags"].update
    mlflow.log_text = lambda text, path: logged["texts"].update({path: text})
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    return logged


def test_a_result_is_logged(result, logged):
    result.log_to_mlflow()
    assert logged["metrics"]["datamorphic.fault_count"] == 0
    assert logged["metrics"]["datamorphic.passed_checks"] == 2
    assert logged["tags"]["datamorphic.verdict"] == result.headline
    assert json.loads(logged["texts"]["datamorphic/result.json"])["seed"] == 1
    assert "<html" in logged["texts"]["datamorphic/report.html"]


def test_a_missing_mlflow_is_named(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'datamorphic\[mlflow\]'"):
        result.log_to_mlflow()
