"""What makes hunts fast: few calls of follow-up functions, few kernels, and an end without a budget."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import datamorphic as dm
from datamorphic import _estimates
from datamorphic.hunting.generators import make_generator
from datamorphic.hunting.kernels.cache_directory import prepare_cache_directory
from datamorphic.hunting.kernels.cells import grow_lines
from datamorphic.hunting.random_generators import MTRT
from datamorphic.hunting.random_numbers import NumberStream


@pytest.mark.parametrize("name", ["SFIDMT-ART", "MT-ART-Min"])
def test_a_follow_up_function_is_called_once_for_many_groups(name):
    calls = []

    def triple(x):
        calls.append(len(x))
        return 3.0 * x

    domain, follow_domain = [(0, 100)] * 2, [(0, 300)] * 2
    called = dm.FunctionRelation(name="tripled", domain=domain, follow_up=triple, follow_domain=follow_domain)
    affine = dm.FunctionRelation(name="tripled", domain=domain, follow_up=dm.relations.Affine.scaled(3.0, 2))
    calls.clear()
    groups = make_generator(name, called, seed=2).propose(400)
    assert len(calls) < 10  # to see that it is affine, and whenever memory grows; before, 200 at least
    expected = make_generator(name, affine, seed=2).propose(400)
    np.testing.assert_array_equal(groups.sources, expected.sources)
    np.testing.assert_array_equal(groups.follow_ups, expected.follow_ups)


@pytest.mark.parametrize("name", ["SFIDMT-ART", "MT-ART-Min"])
def test_a_curved_follow_up_function_is_called_once_for_some_groups(name):
    calls = []

    def square(x):
        calls.append(len(x))
        return x**2

    relation = dm.FunctionRelation(
        name="squared", domain=[(0, 100)] * 2, follow_up=square, follow_domain=[(0, 1e4)] * 2
    )
    calls.clear()
    make_generator(name, relation, seed=2).propose(400)
    assert len(calls) < 200


def test_groups_made_before_a_follow_up_function_fails_count_as_executed():
    calls = itertools.count()

    def square(x):
        if next(calls) == 30:
            raise ZeroDivisionError
        return x**2

    relation = dm.FunctionRelation(name="squared", domain=(0, 100), follow_up=square, follow_domain=(0, 1e4))
    generator = make_generator("SFIDMT-ART", relation, seed=2)
    with pytest.raises(ZeroDivisionError):
        generator.propose(400)
    count = generator.count
    assert 20 < count < 400
    groups = generator.propose(400)  # grows the memory, in which all groups have a place
    assert generator.count == count + 400
    np.testing.assert_array_equal(groups.follow_ups, groups.sources**2)


def test_lines_of_cells_know_the_next_number_of_parts_without_a_look_at_all_inputs():
    relation = dm.FunctionRelation(name="tripled", domain=(0, 100), follow_up=dm.relations.Affine.scaled(3.0, 1))
    generator = make_generator("MT-IPART", relation, seed=2)
    generator.propose(300)
    grid, lines = generator._memory
    capacity = lines.place.shape[1]
    for slot in range(2):
        order = lines.order[slot, :300]
        assert (np.diff(lines.place[slot, order]) >= 0).all()
        np.testing.assert_array_equal(lines.following[slot, order], np.roll(order, -1))
        tree = lines.next_parts[slot]
        np.testing.assert_array_equal(tree[1:capacity], np.minimum(tree[2::2], tree[3::2]))
    larger = grow_lines(lines, 2 * capacity)
    np.testing.assert_array_equal(larger.next_parts[:, 1], lines.next_parts[:, 1])
    assert grow_lines(lines, capacity) is lines  # more cells need no longer lines
    assert (grid.parts > 300).all()


def test_numbers_that_are_left_over_are_given_back():
    rng, plain = np.random.default_rng(3), np.random.default_rng(3)
    with NumberStream(rng, 10) as stream:
        assert stream.numbers.values.tolist() == plain.random(10).tolist()
        stream.numbers.position[0] = 4
    rest = np.random.default_rng(3).random(10)[4:]
    assert rng.random(6).tolist() == rest.tolist()


def test_a_hunt_without_a_budget_ends_after_ten_seconds(clock):
    clock.step = 1.0
    mirrored = dm.FunctionRelation(name="mirrored", domain=(0, 10), follow_up=dm.relations.Affine.scaled(-1.0, 1))
    hunt = dm.hunt(np.cos, mirrored, "MT-RT", trials=3)
    assert hunt.timed_out
    assert len(hunt.trials) == 1
    assert 0 < hunt.groups < 1000
    assert "ended after 10 s, the limit without a budget, in trial 1" in hunt.describe()
    assert not dm.hunt(np.cos, mirrored, "MT-RT", budget=500, trials=3).timed_out


def test_a_hunt_ended_by_time_says_what_it_tried(clock):
    clock.step = 1.0
    mirrored = dm.FunctionRelation(name="mirrored", domain=(0, 10), follow_up=dm.relations.Affine.scaled(-1.0, 1))
    hunt = dm.hunt(np.cos, mirrored, "MT-RT")
    assert not hunt.found
    assert f"{hunt.groups:,} groups" in hunt.describe()
    assert "mirrored" in hunt.describe()


def test_compiling_does_not_count_as_the_pace_of_a_hunt(monkeypatch):
    seconds = [0.0]
    monkeypatch.setattr(_estimates, "read_clock", lambda: seconds[0])

    class SlowAtFirst(MTRT):
        """Compiles for ten seconds when it proposes its first groups."""

        def propose(self, count=1):
            seconds[0] += 10.0 if self.count == 0 else 0.01
            return super().propose(count)

    mirrored = dm.FunctionRelation(name="mirrored", domain=(0, 10), follow_up=dm.relations.Affine.scaled(-1.0, 1))
    hunt = dm.hunt(lambda x: x > 9.9, mirrored, SlowAtFirst, budget=10**7)
    assert hunt.found
    assert hunt.groups > 16  # more than a batch


README_HUNT = """
import numpy as np, numba, datamorphic as dm
from datamorphic.hunting import plain_kernels
plain_kernels.MAX_PLAIN_SECONDS = plain_kernels.MAX_PLAIN_SECONDS_IF_CACHED = -1.0

sine = dm.FunctionRelation(name="sine", domain=(0, 1000), follow_up=lambda x: np.pi - x)
compiled = set()

class Listener(numba.core.event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("datamorphic."):
            compiled.add(function.__name__)
    def on_end(self, event):
        pass

numba.core.event.register("numba:compile", Listener())
dm.hunt(np.sin, sine, budget=20)
print(*sorted(compiled))
"""


@pytest.mark.slow
def test_the_first_hunt_of_the_readme_compiles_only_what_it_needs(tmp_path):
    # each function takes 0.1 to 1 s, so whoever adds one should know
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    expected = """
        _add_group _draw_sources _is_occupied add_point add_to_shells advance_spread draw_in_shell
        draw_number find_nearest_distance find_part lacks_numbers pick_greatest round_to_kind write_follow_ups
    """
    for names in (expected.split(), []):
        command = [sys.executable, "-c", README_HUNT]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert run.stdout.split() == names
    assert len(list(tmp_path.rglob("*.nbc"))) == 1


def test_a_short_hunt_does_not_load_numba(tmp_path):
    code = """
import sys, datamorphic as dm
hunt = dm.hunt(dm.programs["tanh"].mutants["m1"], "tripling", budget=90, progress=False)
assert hunt.found
assert "numba" not in sys.modules
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("failing_module", ["numba", "llvmlite"])
def test_kernels_run_as_plain_python_if_numba_cannot_be_loaded(tmp_path, failing_module):
    (tmp_path / f"{failing_module}.py").write_text("raise ImportError('needs an older NumPy')", encoding="utf-8")
    code = f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
from datamorphic.hunting.generators import make_generator
import datamorphic as dm
tripled = dm.FunctionRelation(name="tripled", domain=(0, 100), follow_up=dm.relations.Affine.scaled(3.0, 1))
print(make_generator("SFIDMT-ART", tripled, seed=3).propose(100).sources.tobytes().hex())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    tripled = dm.FunctionRelation(name="tripled", domain=(0, 100), follow_up=dm.relations.Affine.scaled(3.0, 1))
    assert run.stdout.strip() == make_generator("SFIDMT-ART", tripled, seed=3).propose(100).sources.tobytes().hex()


def test_compiled_kernels_survive_an_upgrade_and_leave_after_a_month(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    directory = prepare_cache_directory.__wrapped__()
    monkeypatch.setattr("datamorphic._version.__version__", "99.0")
    assert prepare_cache_directory.__wrapped__() == directory
    for name, days in (("recent", 20), ("old", 40)):
        marker = directory.parent / name / ".writable"
        marker.parent.mkdir()
        marker.touch()
        os.utime(marker, (time.time() - days * 86400,) * 2)
    assert prepare_cache_directory.__wrapped__() == directory
    assert sorted(path.name for path in directory.parent.iterdir()) == sorted([directory.name, "recent"])
