"""Random walks whose draws sometimes keep the direction, against one walk after the other."""

from __future__ import annotations

import numpy as np
import pytest

from datamorphic.data.subjects import RULES
from datamorphic.studies.causes import SWITCHES
from datamorphic.studies.kept_directions import BISECTIONS_PER_PAIR, MOVES, STEPS_PER_WALK, walk_plane
from datamorphic.studies.options import CAUSES
from datamorphic.studies.published import errata
from datamorphic.studies.worked_examples import EXAMPLES


def walk_plainly(rule, walks, seeds, rng):
    """Return the same figures, a point at a time; draws are made in the same order."""

    def answer(point):
        return str(rule(np.array([point[0]]), np.array([point[1]]))[0])

    pool = [(x * 2 * np.pi, 2 * y - 1) for x, y in rng.random((seeds, 2))]
    starts = rng.integers(0, seeds - 1, walks)
    places, directions = [pool[start] for start in starts], [0] * walks
    walking, runs, pairs = list(range(walks)), len(set(starts)), 0
    for _ in range(STEPS_PER_WALK):
        still_walking = []
        for walk, number in zip(walking, rng.integers(0, 5, len(walking)), strict=True):
            if number < 4:
                directions[walk] = number
            moved = tuple(np.add(places[walk], MOVES[directions[walk]]))
            runs += 1
            if answer(moved) != answer(places[walk]):
                pairs += 1
                runs += BISECTIONS_PER_PAIR
            else:
                places[walk] = moved
                still_walking.append(walk)
        walking = still_walking
    return {"walks": walks, "runs": runs, "mutants": 2 * pairs}


@pytest.mark.parametrize("name", ["Box 1", "Sin 2"])
def test_walks_in_lock_step_are_those_one_after_the_other(name):
    ours = walk_plane(RULES[name], 60, 30, np.random.default_rng(3))
    assert ours == walk_plainly(RULES[name], 60, 30, np.random.default_rng(3))
    assert ours["mutants"] > 0


def test_a_growing_pool_finds_more():
    still, growing = (
        np.mean(
            [
                walk_plane(RULES["Sin 2"], 600, 100, np.random.default_rng(seed), growing=pool)["mutants"]
                for seed in range(5)
            ]
        )
        for pool in (False, True)
    )
    assert growing > 1.2 * still


def test_every_switch_is_an_option_and_the_cause_of_a_difference():
    named = {entry.cause for entry in errata() if entry.cause} | {cause for *_, cause in EXAMPLES if cause}
    assert set(CAUSES) == set(SWITCHES) == named
