"""Compiled generators make the groups of plain ones, bit by bit, and so does the same code interpreted."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from plain_groups import PLAIN, plain_groups

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.hunting import plain_kernels
from datamorphic.hunting.generators import GENERATORS, VARIANTS, make_generator
from datamorphic.hunting.kernels.compiling import NUMBA_ENABLED
from datamorphic.relations.algebra.box import Affine, Box
from datamorphic.relations.algebra.function import FunctionRelation
from support.cases import LONG, thin

NAMES = [*GENERATORS, *VARIANTS]
#: other names for the same, which need no groups of their own; MD-ART is FSCS-EC on the sources of groups
SAME = {"RT": "MT-RT", "FSCS": "FSCS-ART", "MD-ART": "FSCS-EC"}
#: the plain ones look at all pairs of groups, or at the whole pool: fewer groups
SLOW = {"SFIDMT-ART-joint", *(name for name in NAMES if name.startswith("MT-ART")), *VARIANTS} - {"MT-ART-Min"}
CUTTING = ["MT-BART", "MT-IPART", "SFIDMT-BART", "BART", "IPART", "MT-RPART", "RPART"]
RELATIONS = ["tripled", "reflected", "shifted", "mixed"]
DIMENSIONS = [1, 2, 3, 6]


@pytest.fixture(autouse=True)
def compiled_kernels(monkeypatch):
    """Compile for few groups, too: what is compared here are the compiled kernels."""
    for limit in ("MAX_PLAIN_SECONDS", "MAX_PLAIN_SECONDS_IF_CACHED"):
        monkeypatch.setattr(plain_kernels, limit, -1.0)


@cache
def relation(name, d):
    one = np.eye(d)
    if name == "tripled":
        return FunctionRelation(name=name, domain=[(0, 1000 / 3)] * d, follow_up=Affine.scaled(3.0, d))
    if name == "reflected":
        return FunctionRelation(name=name, domain=[(-20, 180)] * d, follow_up=Affine.scaled(-1.0, d, 100.0))
    if name == "shifted":  # as BesselJ1
        both = [Affine.scaled(1.0, d, -1.0), Affine.scaled(1.0, d, 1.0)]
        return FunctionRelation(name=name, domain=[(1, 99)] * d, follow_up=both)
    both = [Affine.of(np.hstack([one, one])), Affine.of(np.hstack([2 * one, -one]), 0.5)]
    return FunctionRelation(name=name, domain=[(-2, 3)] * d, sources=2, follow_up=both)


def by_hand(relation):
    """The same relation, its follow-ups made by functions of Python."""

    def as_function(change):
        return lambda *sources: change(np.column_stack(sources))

    changes = [as_function(change) for change in relation.follow_up]
    return replace(relation, follow_up=changes, follow_domain=relation.follow_domains())


def plain(name, relation, count, **options):
    return _plain(SAME.get(name, name), relation, count, **options)


@cache
def _plain(name, relation, count, **options):
    return plain_groups(name, relation, count, seed=5, **options)


def fast(name, relation, count, **options):
    groups = make_generator(name, relation, seed=5, **options).propose(count)
    return np.concatenate([groups.sources, groups.follow_ups], axis=1)


def test_every_generator_has_a_plain_reference():
    assert sorted(PLAIN) == sorted(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "d"), thin(NAMES, DIMENSIONS))
def test_many_groups_are_those_of_plain_code(name, d):
    """With two candidates, and fewer tries, which is quicker; the usual number of them is tried below."""
    count = 2000 if LONG else 100 if name in SLOW else 400
    options = {"tries": 10} if name == "RRT" else {"k": 2}
    tripled = relation("tripled", d)
    np.testing.assert_array_equal(fast(name, tripled, count, **options), plain(name, tripled, count, **options))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "place"), thin(NAMES, range(4)))
def test_every_relation_with_and_without_kernels(name, place, monkeypatch):
    """Every relation, each in another dimension; which is which differs from generator to generator."""
    chosen_relation = relation(RELATIONS[place], DIMENSIONS[(place + NAMES.index(name) // 4) % 4])
    expected = plain(name, chosen_relation, 80)
    np.testing.assert_array_equal(fast(name, chosen_relation, 80), expected)
    np.testing.assert_array_equal(fast(name, by_hand(chosen_relation), 80), expected)
    monkeypatch.setattr("datamorphic.hunting.generator_base.find_affine_form", lambda relation: None)
    np.testing.assert_array_equal(fast(name, by_hand(chosen_relation), 80), expected)


def holed(x):
    with np.errstate(all="ignore"):
        return np.log(x)


ODD = {
    "leaves its domain": FunctionRelation(
        name="far", domain=[(0, 1)] * 2, follow_up=Affine.scaled(5.0, 2, -2.0), follow_domain=[(0, 1)] * 2
    ),
    "constant": FunctionRelation(name="constant", domain=[(0, 1)] * 2, follow_up=Affine.scaled(0.0, 2, 3.0)),
    "flat": FunctionRelation(name="flat", domain=[(0, 1), (2, 2), (0, 3)], follow_up=Affine.scaled(3.0, 3)),
    "no number": FunctionRelation(name="holed", domain=[(-1, 3)] * 2, follow_up=holed),
    "curved": FunctionRelation(
        name="curved", domain=[(-3, 3)] * 2, follow_up=[lambda x: np.sin(3 * x), lambda x: x**2]
    ),
    "single inputs": Box.of([(0, 1), (5, 9)]),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), thin([*GENERATORS], [*ODD]))
def test_odd_relations(name, case):
    expected = plain(name, ODD[case], 130, k=3, **({} if name in ("Sobol", "Halton") else {"scaled": True}))
    np.testing.assert_array_equal(fast(name, ODD[case], 130, k=3, scaled=True), expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_groups_known_from_earlier_runs_count(name):
    reflected = relation("reflected", 2)
    known = make_generator("MT-RT", reflected, seed=1).propose(80).sources
    generator = make_generator(name, reflected, seed=5)
    generator.know(known)
    assert generator.count == 80
    groups = generator.propose(60)
    expected = plain_groups(name, reflected, 60, 5, known=known)
    np.testing.assert_array_equal(np.concatenate([groups.sources, groups.follow_ups], axis=1), expected)


WHOLE = dm.Space([dm.Integer(name, 0, 8) for name in "abc"])
MIXED = dm.Space([dm.Continuous("x", 0, 10), dm.Integer("n", 0, 9), dm.Categorical("c", ["a", "b", "c"])])
KINDS = {
    "whole": FunctionRelation(name="turned", domain=WHOLE, follow_up=Affine.permuted([1, 0, 2])),
    "categories": FunctionRelation(
        name="swapped",
        domain=dm.Space([dm.Categorical(name, ["a", "b", "c", "d"]) for name in "ab"]),
        follow_up=Affine.permuted([1, 0]),
    ),
    "mixed": FunctionRelation(
        name="mirrored", domain=MIXED, follow_up=Affine.of(np.diag([-1.0, 1.0, 1.0]), [10, 0, 0])
    ),
    "mixed by hand": FunctionRelation(
        name="turned round",
        domain=MIXED,
        follow_up=lambda x: np.column_stack([x[:, 0] / 2, 9 - x[:, 1], 2 - x[:, 2]]),
        follow_domain=[Box.of(MIXED)],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), thin([name for name in NAMES if name not in CUTTING], [*KINDS]))
def test_whole_numbers_and_categories(name, case):
    groups = fast(name, KINDS[case], 130)
    np.testing.assert_array_equal(groups, plain(name, KINDS[case], 130))
    whole = {"whole": [0, 1, 2], "categories": [0, 1]}.get(case, [1, 2])
    np.testing.assert_array_equal(groups[:, whole], np.round(groups[:, whole]))


@pytest.mark.parametrize("name", ["MT-BART", "MT-IPART", "SFIDMT-BART", "BART", "IPART"])
def test_whole_numbers_in_cells(name):
    """RPART is left out: its boxes about whole numbers are of equal size, and which is the largest is a matter of taste."""
    np.testing.assert_array_equal(fast(name, KINDS["whole"], 130), plain(name, KINDS["whole"], 130))


@pytest.mark.parametrize("case", ["categories", "mixed", "mixed by hand"])
@pytest.mark.parametrize("name", CUTTING)
def test_partition_generators_refuse_categories(name, case):
    with pytest.raises(ArgumentError, match=rf"{name} .*categories.*SFIDMT-ART or FSCS-ART"):
        make_generator(name, KINDS[case])


def digests():
    """What every generator makes, as hashes; this is run in a process of its own, too."""
    requests = {f"{name} tripled": (name, relation("tripled", 2), 20 if name in SLOW else 80) for name in NAMES}
    requests |= {f"{name} mixed 1-D": (name, relation("mixed", 1), 20) for name in GENERATORS}
    few = Box.of(dm.Space([dm.Integer(name, 0, 2) for name in "abc"]))  # these lie on the borders of shells
    requests |= {f"{name} whole": (name, few, 80) for name in ("FSCS-EC", "SFIDMT-ART", "MT-BART", "RPART")}
    return {key: hashlib.sha256(fast(*wanted).tobytes()).hexdigest() for key, wanted in requests.items()}


@pytest.mark.slow
def test_interpreted_code_makes_the_same_groups():
    assert NUMBA_ENABLED, "the extra dev installs numba: without it, two interpreted runs would be compared"
    process = subprocess.run(
        [sys.executable, "-c", "import json, test_groups; print(json.dumps(test_groups.digests()))"],
        env=os.environ
        | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout) == digests()
