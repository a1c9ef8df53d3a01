"""Test-profile and search-based generators: what a profile makes likely, and what evolution gains."""

import numpy as np
import pytest
from typer.testing import CliRunner

from datamorphic.cli.main import app
from datamorphic.errors import ArgumentError
from datamorphic.hunting.generators import make_generator


def find_distances(name, executed, trials, **options):
    """How far the next of a few inputs is from the executed one, in a domain of width 1."""
    distances = []
    for seed in range(trials):
        generator = make_generator(name, (0, 1), seed=seed, **options)
        generator.know([[executed]])
        distances.append(abs(generator.propose().sources[0, 0] - executed))
    return np.array(distances)


def test_a_profile_draws_in_proportion_to_the_distance():
    """With many candidates the density at distance d from an input at the edge is 2 d, so the mean distance is 2/3."""
    distances = find_distances("TP-ART", 0.0, 600, k=200)
    assert distances.mean() == pytest.approx(2 / 3, abs=0.03)
    assert (distances < 0.5).mean() == pytest.approx(1 / 4, abs=0.06)


def test_evolution_finds_more_distant_inputs_than_random_candidates():
    near, far = (find_distances("SB-ART", 0.0, 60, generations=n).mean() for n in (1, 20))
    assert find_distances("FSCS-ART", 0.0, 60, k=10).mean() < far
    assert near < far
    assert far > 0.97


def test_generations_are_a_positive_number_and_an_option_of_the_command():
    with pytest.raises(ArgumentError, match="generations"):
        make_generator("SB-ART", (0, 1), generations=0)
    words = [
        "generate",
        "--domain",
        "0,1",
        "--generator",
        "SB-ART",
        "--generations",
        "3",
        "--n",
        "5",
        "--store",
        "none",
    ]
    assert CliRunner().invoke(app, words).exit_code == 0
