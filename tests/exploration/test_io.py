"""Files of fronts, and damaged files."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import DataError
from datamorphic.exploration import io as files
from support.cases import in_one_test
from support.fronts import explore


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    import json

    import pyarrow.parquet as pq

    space = dm.Space([dm.Categorical("c", ["r", "g", "b"]), dm.Continuous("x", 0, 1)])
    front = explore(lambda f: np.where((f["c"] == "r") ^ (f["x"] > 0.5), "A", "B"), space, walks=100)
    path = tmp_path_factory.mktemp("fronts") / "front.parquet"
    front.save(path)
    table = pq.read_table(path)
    return path, table, json.loads(table.schema.metadata[b"datamorphic.front"]), len(front)


def packed(values):
    import zlib
    from base64 import b64encode

    return b64encode(zlib.compress(values if isinstance(values, bytes) else np.asarray(values).tobytes(), 9)).decode()


DAMAGE = {
    "settings are null": {"settings": None},
    "settings are empty": {"settings": {}},
    "an unknown border": {"settings": {"border_kind": "evil"}},
    "a threshold without a value": {"settings": {"border_kind": "threshold", "border_value": None}},
    "walks are text": {"settings": {"border_kind": "labels", "walks": "many"}},
    "no version": {"version": None},
    "the subject is a number": {"subject": 5},
    "no strategy": {"strategy": None},
    "seconds are text": {"seconds": "x"},
    "negative calls": {"calls": -5},
    "too many seeds used": {"seeds_used": 10**9},
    "choices are numbers": {"choices": [1, 2]},
    "notes are text": {"notes": "abc"},
    "too few walks": {"walk_runs": packed(np.zeros(3, np.int64))},
    "walks below zero": {"walk_runs": packed(-np.ones(100, np.int64))},
    "starts of too few walks": {"walk_starts": packed(np.zeros((3, 2), np.int64))},
    "starts that do not exist": {"walk_starts": packed(np.full((100, 2), 10**6))},
    "half a seed": {"seeds": packed(np.zeros(3))},
    "seeds that are none": {"seeds": packed(np.full((4, 2), np.inf))},
    "more answers than seeds": {"seed_answers": {"values": ["A"] * 999, "status": [0] * 999}},
    "answers of no status": {"seed_answers": {"values": ["A"], "status": [77]}},
    "outputs of no kind": {"outputs": {"a": "V16", "b": "object"}},
    "no space": {"space": []},
    "walk too large": ("walk", [10**6]),
    "walk below zero": ("walk", [-1]),
    "part without labels": ("part", [1]),
    "infinite code": ("a.1", [float("inf")]),
    "category 7 of 3": ("a.0", [7.0]),
    "half a category": ("b.0", [0.5]),
    "missing category": ("a.0", [float("nan")]),
    "codes are text": ("a.0", ["x"]),
    "no border": ("b_output", None),
    "answers that are no JSON": ("a_output", ["{bad"]),
    "no answer": ("a_output", ["null"]),
    "distance is no number": ("distance", [float("nan")]),
}


def saved_with(about, table, path):
    import json

    import pyarrow.parquet as pq

    pq.write_table(table.replace_schema_metadata({b"datamorphic.front": json.dumps(about).encode()}), path)
    return path


@pytest.mark.slow
@in_one_test("damage", DAMAGE.values())
def test_damaged_files_are_rejected_by_name(damage, written, tmp_path):
    import pyarrow as pa

    _, table, about, count = written
    if isinstance(damage, dict):
        about = about | damage
    else:
        name, values = damage
        column = table["a_output"] if values is None else pa.array(values * count)
        table = table.set_column(table.column_names.index(name), name, column)
    path = saved_with(about, table, tmp_path / "damaged.parquet")
    with pytest.raises(DataError, match=r"damaged\.parquet"):
        dm.Front.load(path)


def test_a_compression_bomb_is_not_unpacked(written, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MIN_UNPACK_LIMIT_BYTES", 1 << 16)
    _, table, about, _ = written
    bomb = {"seeds": packed(b"\0" * (1 << 20))}
    path = saved_with(about | bomb, table, tmp_path / "damaged.parquet")
    with pytest.raises(DataError, match=r"damaged\.parquet.*unpack to more than "):
        dm.Front.load(path)


def test_saving_a_loaded_front_keeps_its_answers(written, tmp_path):
    front = dm.Front.load(written[0])
    assert front.seed_answers is not None
    front.save(tmp_path / "again.parquet")
    again = dm.Front.load(tmp_path / "again.parquet")
    np.testing.assert_array_equal(again.seed_answers.values, front.seed_answers.values)
    assert again.describe() == front.describe()
