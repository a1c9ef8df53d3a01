"""The newest runs for the first page."""

import pytest

import datamorphic as dm
from datamorphic.data.subjects import subjects
from datamorphic.web.newest_runs import NEWEST_RUNS, list_newest_runs


@pytest.mark.slow
def test_the_newest_runs_come_first(tmp_path):
    store = str(tmp_path / "runs.sqlite")
    for seed in range(NEWEST_RUNS + 1):
        dm.laws(subjects["Box 1"], examples=1, seed=seed, store=store)
    lines = list_newest_runs(store)
    assert [line.id for line in lines] == [6, 5, 4, 3, 2]
    assert lines[0].title == "laws of Box 1"
    assert lines[0].state == "finished"


def test_a_store_that_cannot_be_opened_is_no_store(tmp_path):
    (tmp_path / "text.sqlite").write_text("this is not a database, and long enough to be read as one" * 20)
    assert list_newest_runs(str(tmp_path / "text.sqlite")) == []
    assert list_newest_runs("none") == []
