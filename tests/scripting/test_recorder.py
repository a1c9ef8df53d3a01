"""What is recorded replays to the same test set."""

from __future__ import annotations

import numpy as np

import datamorphic as dm
from datamorphic.scripting.grammar import parse_script


def assert_same(first, second):
    assert np.array_equal(first.inputs.codes, second.inputs.codes)
    assert np.array_equal(first.origins, second.origins)
    assert first.made_by_names.tolist() == second.made_by_names.tolist()
    if first.outputs is not None:
        ok = first.outputs.ok
        assert first.outputs.values[ok].tolist() == second.outputs.values[ok].tolist()


def test_a_python_session_replays_to_the_same_test_set(tmp_path):
    with dm.record(tmp_path / "session.scr") as recorder:
        pool = dm.TestPool("Box 1", seed=7, folder=tmp_path)
        pool.make_seed(["RandomValue50"])
        pool.make_seed(["Select30RandomTestCases"])
        pool.random_target_explore(40, midpoint="mid")
        pool.random_walk_explore(["upward", "leftward", "mid"], walk_distance=10, walks=20)
        pool.save_message("figures.csv", "one, two; three (four")
        pool.make_mutant(["downward"])
    pool.clean  # noqa: B018  # not recorded any more
    text = (tmp_path / "session.scr").read_text()
    assert text.splitlines()[1:4] == ["loadTestSpec(Box 1)", "setSeed(7)", "makeSeed([RandomValue50])"]
    assert recorder.path == tmp_path / "session.scr"
    result = dm.play(tmp_path / "session.scr", seed=99)  # the script sets its own seed
    assert_same(pool.tests, result.tests)
    assert result.pool.runs == pool.runs
    assert (tmp_path / "figures.csv").read_text() == "one, two; three (four\n" * 2


def test_recording_may_begin_in_the_middle_and_change_pools(tmp_path):
    first, second = dm.TestPool("Box 1", seed=1, folder=tmp_path), dm.TestPool("Sin 2", seed=2, folder=tmp_path)
    first.make_seed(["RandomValue30"])
    first.random_target_explore(10)
    with dm.record(tmp_path / "a.scr"):
        second.make_seed(["RandomValue20"])
        first.random_target_explore(10)
        second.directed_walk_explore(["upward", "mid"])
    assert "loadTestSet(a-pool-1.parquet)" in (tmp_path / "a.scr").read_text()
    assert_same(second.tests, dm.play(tmp_path / "a.scr").tests)
    with dm.record(tmp_path / "b.scr"):
        first.random_target_explore(10)
    assert_same(first.tests, dm.play(tmp_path / "b.scr").tests)


def test_combinations_and_optimisations_replay(tmp_path):
    with dm.record(tmp_path / "a.scr"):
        pool = dm.TestPool("Box 2", seed=3, folder=tmp_path)
        pool.permutation_complete(["RandomValue5"], ["upward", "leftward"], budget=8)
        pool.ga_optimize_strongest_mutant(["upward", "mid"], steps=3, change_rate=0.01)
    lines = (tmp_path / "a.scr").read_text().splitlines()
    assert lines[3] == 'permutationComplete([RandomValue5];[upward, leftward];"";"";8)'
    assert lines[4] == 'GAOptimizeStrongestMutant([upward, mid];"";3;"";"";0.01)'
    assert_same(pool.tests, dm.play(tmp_path / "a.scr").tests)


def test_a_played_script_is_recorded_command_by_command(tmp_path):
    (tmp_path / "in.scr").write_text("makeSeed([RandomValue20])\n")
    (tmp_path / "a.scr").write_text("repeat(2)\nclean()\nplayTestScript(in.scr)\nendRepeat()\n")
    with dm.record(tmp_path / "out.scr"):
        result = dm.play(tmp_path / "a.scr", "Box 1", seed=4)
    names = [call.name for call in parse_script((tmp_path / "out.scr").read_text()).calls]
    assert names == ["loadTestSpec", "setSeed", "clean", "makeSeed", "clean", "makeSeed"]
    assert_same(result.tests, dm.play(tmp_path / "out.scr").tests)


def test_scripts_record_themselves(tmp_path):
    (tmp_path / "a.scr").write_text(
        "makeSeed([RandomValue20])\nstartRecording()\nmakeMutant([upward])\nclean()\nstopRecording(part.scr)\n"
        "makeSeed([RandomValue20])\nsaveTestScript(same.scr)\n"
    )
    dm.play(tmp_path / "a.scr", "Box 1")
    assert (tmp_path / "part.scr").read_text() == "//Recorded by datamorphic\nmakeMutant([upward])\nclean()\n"
    assert (tmp_path / "same.scr").read_text() == (tmp_path / "part.scr").read_text()


def test_a_session_without_commands_is_an_empty_script(tmp_path):
    with dm.record(tmp_path / "empty.scr"):
        pass
    assert list(parse_script((tmp_path / "empty.scr").read_text()).calls) == []
