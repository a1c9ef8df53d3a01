"""Answers that are lists, sets and dicts."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from datamorphic.space.answers import Record, is_collection, to_hashable
from datamorphic.space.outputs import Outputs
from datamorphic.space.serialisation import value_from_json, value_to_json
from datamorphic.systems.coerce import to_outputs
from support.cases import in_one_test

ANSWERS = [["a", "b"], {"a", "b"}, {"items": ["a"], "total": 1}, [], np.array([1, 2]), ("a", ["b"])]


@in_one_test("answer", ANSWERS)
def test_collections_are_hashable_and_survive_a_file(answer):
    hashable = to_hashable(answer)
    assert hash(hashable) == hash(to_hashable(answer))
    assert is_collection(answer)
    assert value_from_json(json.loads(json.dumps(value_to_json(hashable)))) == hashable
    assert pickle.loads(pickle.dumps(hashable)) == hashable


def test_a_text_has_no_parts():
    assert not is_collection("ab")
    assert to_hashable(np.float64(0.5)) == 0.5


@pytest.mark.parametrize("scalar", [False, True])
def test_systems_may_answer_collections(scalar):
    answers = [["a", "b"], {"x"}, {"total": 1}, []]
    for answer in (answers, pd.Series(answers)):
        outputs = to_outputs(answer, 4, scalar=scalar)
        assert outputs.ok.all()
        assert outputs.values.tolist() == [("a", "b"), frozenset({"x"}), Record(total=1), ()]
        assert outputs.same(Outputs.of(outputs.values)).all()


def test_a_list_of_one_item_stays_a_list_if_a_function_of_one_case_answers_it():
    assert to_outputs([["a"], ["b"]], 2, scalar=True).values.tolist() == [("a",), ("b",)]
    assert to_outputs([["a"], ["b"]], 2).values.tolist() == ["a", "b"]  # a column of labels
