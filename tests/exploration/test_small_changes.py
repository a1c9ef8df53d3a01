"""Small changes of real rows that change the answer, and what pages say about them."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.exploration.changes import format_changes
from datamorphic.exploration.page import build_deciding_features, build_front_page, build_small_changes
from datamorphic.exploration.small_changes import find_small_changes
from datamorphic.space.points import Points


def lend(frame):
    approved = (frame["income"] > 50) & (frame["job"] != "none")
    return np.where(approved, "approved", "declined")


def applicants(rows=200):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "income": rng.integers(10, 100, rows),
            "debt": rng.uniform(0, 9, rows),
            "job": rng.choice(["none", "part", "full"], rows),
        }
    )


def explore(model=lend, data=None, **options):
    return dm.explore(model, applicants() if data is None else data, walks=100, seed=0, progress=False, **options)


@pytest.mark.slow
def test_one_feature_changes_if_one_suffices():
    front = explore()
    changes = find_small_changes(front, np.arange(min(8, len(front))))
    assert len(changes) > 2
    before, after = changes.before.frame, changes.after.frame
    assert (lend(before) == changes.answer).all()
    assert (lend(after) == changes.becomes).all()
    assert (changes.answer != changes.becomes).all()
    assert ((before != after).sum(axis=1) == 1).all()
    assert before.equals(applicants().iloc[changes.seed_rows].reset_index(drop=True))
    assert after["income"].dtype.kind == "i"


@pytest.mark.slow
def test_the_page_shows_changes_of_real_inputs():
    front = explore()
    section = build_small_changes(front)
    assert section.table.columns == ["input", "answer", "becomes", "when"]
    assert any("job" in row[3] or "income" in row[3] for row in section.table.rows)
    assert section.heading in [part.heading for part in build_front_page(front).sections]


@pytest.mark.slow
def test_without_a_system_there_are_no_changes():
    front = explore()
    assert build_small_changes(replace(front, sut=None)) is None
    assert find_small_changes(front, np.arange(0)) is None


@pytest.mark.slow
def test_numbers_are_rounded():
    data = pd.DataFrame(np.random.default_rng(1).uniform(0, 1, (200, 4)), columns=list("abcd"))
    front = explore(lambda frame: frame.sum(axis=1).to_numpy() > 2.0, data)
    changes = find_small_changes(front, np.arange(min(12, len(front))))
    assert len(changes)
    assert (changes.before.frame.sum(axis=1).gt(2.0) != changes.after.frame.sum(axis=1).gt(2.0)).all()


def test_differences_in_distant_digits_are_counted_not_listed():
    space = dm.Space([dm.Continuous(f"x{i}", 0, 1) for i in range(30)])
    codes = np.full((1, 30), 0.123456789)
    near, far = Points(space, codes), Points(space, codes + 1e-8)
    assert format_changes(near, far, 6) == ["tiny changes of 30 features, each under 0.1% of its range"]
    moved = codes + 1e-8
    moved[0, 3] = 0.5
    assert format_changes(near, Points(space, moved), 6) == ["x3 0.1235 -> 0.5 and 29 more"]
    assert format_changes(near, far)[0].count("->") == 30  # all of them on request
    one = dm.Space([dm.Continuous("x", 0, 1)])
    assert format_changes(Points(one, codes[:, :1]), Points(one, codes[:, :1] + 1e-8), 6) == [
        "x 0.12345679 -> 0.1234568"
    ]


@pytest.mark.slow
def test_a_feature_that_never_decides_is_not_called_deciding(monkeypatch):
    front = explore()
    table = front.deciding()
    assert build_deciding_features(front).heading.startswith("Which features decide: ")
    monkeypatch.setattr(dm.Front, "deciding", lambda self: table.assign(decides=0.0))
    section = build_deciding_features(front)
    assert section.heading.startswith("No feature decides alone")
    shares = [float(row[-1].strip("<%")) for row in section.table.rows]
    assert shares == sorted(shares, reverse=True)
    monkeypatch.setattr(dm.Front, "deciding", lambda self: table.assign(decides=[0.1, 0.0, 0.0]))
    assert "several features decide together" in build_deciding_features(front).heading


@pytest.mark.slow
def test_with_a_time_out_the_system_never_runs_in_this_process(tmp_path):
    """Neither while it is explored nor when the page asks for small changes: a crash would end the run."""
    log = tmp_path / "processes"

    def lend_and_note(frame):
        with log.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return lend(frame)

    front = explore(lend_and_note, timeout=600)
    front.to_html(tmp_path / "front.html")
    front.save(tmp_path / "front.parquet")
    front.quality()
    assert str(os.getpid()) not in log.read_text().split()
