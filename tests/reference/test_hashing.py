"""The vectorised hash table equals a dict."""

from __future__ import annotations

import numpy as np
import pytest

from datamorphic.space import hashing
from datamorphic.space.hashing import RowTable


@pytest.mark.slow
@pytest.mark.parametrize("hashes", ["real", "equal"])
@pytest.mark.parametrize("width", [1, 3, 20])
def test_numbers_equal_those_of_a_dict(monkeypatch, width, hashes):
    if hashes == "equal":  # every row collides
        monkeypatch.setattr(hashing, "_hash_rows", lambda bits: np.ones(len(bits), dtype=np.uint64))
    rng = np.random.default_rng(width)
    table, known = RowTable(width), {}
    for size in (0, 1, 5, 60) if hashes == "equal" else (0, 1, 100, 900, 7, 1500):
        codes = rng.integers(0, 6 if width > 1 else 900, (size, width)).astype(float)
        codes[rng.random(codes.shape) < 0.05] = np.nan
        keys = [tuple("nan" if np.isnan(v) else v for v in row) for row in codes.tolist()]
        assert table.find(codes).tolist() == [known.get(key, -1) for key in keys]
        places = {key: i for i, key in reversed(list(enumerate(keys)))}
        new = sorted(i for key, i in places.items() if key not in known)
        for key in keys:
            known.setdefault(key, len(known))
        numbers, fresh = table.add(codes)
        assert numbers.tolist() == [known[key] for key in keys]
        assert fresh.tolist() == new
        assert len(table) == len(known)


def test_zero_equals_minus_zero():
    table = RowTable(1)
    assert table.add(np.array([[0.0], [-0.0], [1.0]]))[0].tolist() == [0, 0, 1]
