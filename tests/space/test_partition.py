"""Partitions of rows: equal whatever the numbers of their clusters, and storable as answers."""

import json

import numpy as np

from datamorphic.runs.journal import pack_outputs, unpack_outputs
from datamorphic.space.outputs import Outputs
from datamorphic.space.partition import RowPartition
from datamorphic.space.serialisation import value_from_json, value_to_json


def test_partitions_are_the_same_after_json():
    partition = RowPartition([7, 7, 2, -1])
    assert value_from_json(json.loads(json.dumps(value_to_json(partition)))) == partition


def test_partitions_are_stored_as_answers():
    values = np.empty(2, dtype=object)
    values[:] = [RowPartition([0, 0, 1]), RowPartition([0, 1, -1])]
    restored = unpack_outputs(pack_outputs(Outputs.of(values)))
    assert restored.values.tolist() == values.tolist()
