"""What is recorded replays to the same test set."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ScriptError
from datamorphic.scripting.grammar import parse_script
from datamorphic.scripting.recorder import HEADER


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
    pool.display_message("after the session")
    text = (tmp_path / "session.scr").read_text()
    assert "after the session" not in text
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
        pool.ga_optimize_strongest_mutant(["upward", "mid"], max_cycles=3, change_rate=0.01)
    lines = (tmp_path / "a.scr").read_text().splitlines()
    assert lines[3] == 'permutationComplete([RandomValue5];[upward, leftward];"";"";8)'
    assert lines[4] == 'GAOptimizeStrongestMutant([upward, mid];"";3;"";"";0.01)'
    assert_same(pool.tests, dm.play(tmp_path / "a.scr").tests)


def test_calls_of_public_functions_replay_to_their_test_sets(tmp_path):
    box = dm.subjects["Box 2"]
    moves = ["upward", "leftward"]
    calls = {
        "explore": lambda: dm.explore(box, strategy="random_walk", walks=40, seeds=30, moves=moves, seed=4),
        "combine": lambda: dm.combine(box, "permutationComplete", seeds=4, datamorphisms=moves, seed=2),
        "optimise": lambda: dm.optimise(
            box, "GAOptimizeWeakestRemoval", seeds=20, max_cycles=3, metric=["diversity"], seed=5
        ),
    }
    for name, call in calls.items():
        with dm.record(tmp_path / f"{name}.scr"):
            result = call()
        replay = dm.play(tmp_path / f"{name}.scr", seed=77).tests
        if name == "explore":
            assert np.array_equal(replay.inputs.codes[:30], result.seeds.codes)
            assert np.array_equal(replay.inputs.codes[30::2], result.a.codes)
            assert len(replay) == 30 + 2 * len(result) > 40
        else:
            assert_same(result.tests, replay)
    text = (tmp_path / "explore.scr").read_text()
    assert 'explore(strategy=random_walk;walks=40;"moves=upward, leftward";seeds=30;seed=4)' in text


def test_calls_with_their_own_cases_replay_and_others_are_mentioned(tmp_path):
    box = dm.subjects["Box 1"]
    cases = box.space.sample(25, seed=8)
    with dm.record(tmp_path / "a.scr"):
        dm.explore(lambda x, y: x > y, cases, strategy="random_walk", walks=2, scalar=True)
        front = dm.explore(box, strategy="random_target", walks=30, seeds=cases, refine="bisect")
    text = (tmp_path / "a.scr").read_text()
    assert "//dm.explore was called here; it cannot be replayed" in text
    assert "loadTestSet(a-pool-1.parquet)\nexplore(strategy=random_target;walks=30;refine=bisect;seeds=pool)" in text
    assert np.array_equal(dm.play(tmp_path / "a.scr").tests.inputs.codes[25::2], front.a.codes)


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


def test_a_script_plays_what_it_recorded(tmp_path):
    (tmp_path / "a.scr").write_text(
        "makeSeed([RandomValue20])\nstartRecording()\nmakeMutant([upward])\nanalyse([saveStatistics])\nstopRecording(part.scr)\n"
        "repeat(2)\nplayTestScript(part.scr)\nendRepeat()\ndisplayMessage(ready)\n"
    )
    (tmp_path / "b.scr").write_text(
        "makeSeed([RandomValue20])\n"
        + 3 * "makeMutant([upward])\nanalyse([saveStatistics])\n"
        + "displayMessage(ready)\n"
    )
    for _ in range(2):  # the second time, the recording is there before
        result = dm.play(tmp_path / "a.scr", "Box 1")
        plain = dm.play(tmp_path / "b.scr", "Box 1")
        assert_same(result.tests, plain.tests)
        assert result.pool.statistics == plain.pool.statistics
        assert result.commands == result.total_commands == plain.commands + 2  # the recording is started and stopped
    with pytest.raises(ScriptError, match="No test system is loaded"):
        dm.play(tmp_path / "part.scr")


def test_a_recording_leaves_the_state_of_its_commands(tmp_path):
    (tmp_path / "a.scr").write_text(
        "startRecording()\nloadTestSpec(Sin 2)\nmakeSeed([RandomValue5])\nstopRecording(part.scr)\n"
        "loadTestSpec(Box 1)\nplayTestScript(part.scr)\nrandomWalkExplore([ALL];5;5)\nsaveTestScript(whole.scr)\n"
    )
    result = dm.play(tmp_path / "a.scr", "Box 2")
    assert result.pool.spec == "Sin 2"
    assert "playTestScript" not in (tmp_path / "whole.scr").read_text()


def test_a_script_plays_only_recordings_that_it_wrote_before(tmp_path, monkeypatch):
    monkeypatch.setattr("datamorphic.scripting.player.MAX_COMMANDS", 500)
    (tmp_path / "early.scr").write_text("playTestScript(part.scr)\nstartRecording()\nstopRecording(part.scr)\n")
    with pytest.raises(ScriptError, match=r"There is no file 'part\.scr'"):
        dm.play(tmp_path / "early.scr", "Box 1")
    (tmp_path / "mixed.scr").write_text(
        "startRecording()\nclean()\nstopRecording(part.scr)\nsaveMessage(part.scr;playTestScript(part.scr))\n"
        "playTestScript(part.scr)\n"
    )
    with pytest.raises(ScriptError, match=r"There is no file 'part\.scr'"):
        dm.play(tmp_path / "mixed.scr", "Box 1")
    (tmp_path / "growing.scr").write_text(
        "startRecording()\nclean()\nstopRecording(part.scr)\nrepeat(30)\nstartRecording()\nplayTestScript(part.scr)\n"
        "playTestScript(part.scr)\nstopRecording(part.scr)\nendRepeat()\n"
    )
    with pytest.raises(ScriptError, match="More than 500 commands were run"):
        dm.play(tmp_path / "growing.scr", "Box 1")


def test_a_model_that_was_started_before_is_started_again(tmp_path):
    class Line:
        space = dm.Space([dm.Continuous("x", 0, 1, step=0.1)])
        models: ClassVar = {"low": lambda: lambda x: x > 0.2, "high": lambda: lambda x: x > 0.8}

        @dm.seed_maker
        def tenths(self):
            return pd.DataFrame({"x": np.arange(11) / 10})

    pool = dm.TestPool(Line, folder=tmp_path)
    pool.make_seed(["tenths"])
    pool.analyse(["start_high_Invoker"])
    with dm.record(tmp_path / "a.scr"):
        pool.execute_test_cases()
    assert (tmp_path / "a.scr").read_text().splitlines()[2] == "analyse([start_high_Invoker])"
    assert_same(pool.tests, dm.play(tmp_path / "a.scr", Line).tests)


def test_the_folder_of_files_is_that_of_each_pool(tmp_path):
    first, second = dm.TestPool("Box 1", folder=tmp_path), dm.TestPool("Sin 2", folder=tmp_path)
    first.set_file_path("figures")
    second.make_seed(["RandomValue5"])
    with dm.record(tmp_path / "a.scr"):
        first.save_message("a.csv", "one")
        second.make_mutant(["upward"])
        second.save_message("b.csv", "two")
    result = dm.play(tmp_path / "a.scr")
    assert result.files == ["figures/a.csv", "b.csv"]
    assert_same(second.tests, result.tests)


def test_a_text_of_several_lines_is_recorded_on_one(tmp_path):
    with dm.record(tmp_path / "a.scr"):
        dm.TestPool("Box 1", folder=tmp_path).display_message("one\ntwo")
    assert dm.play(tmp_path / "a.scr").pool.messages == ["one two"]


def test_a_session_without_commands_is_an_empty_script(tmp_path):
    with dm.record(tmp_path / "empty.scr"):
        pass
    assert list(parse_script((tmp_path / "empty.scr").read_text()).calls) == []


def test_functions_that_are_no_commands_are_not_recorded(tmp_path):
    with dm.record(tmp_path / "session.scr"):
        dm.generate([(0, 1), (0, 1)], n=5)
    assert (tmp_path / "session.scr").read_text() == HEADER


def test_former_names_are_recorded_as_those_of_today(tmp_path):
    with dm.record(tmp_path / "session.scr"), pytest.warns(DeprecationWarning, match="max_cycles"):
        dm.optimise(dm.subjects["Box 1"], seeds=5, steps=1)
    assert "optimise(seeds=5;max_cycles=1)" in (tmp_path / "session.scr").read_text()
