"""Relations of known functions: silent on SciPy's functions, violated if their answers are noisy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.special

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.relations.catalogue.functions import (
    FORMULAS,
    KnownFunction,
    build_function_relations,
    find_function_name,
    read_functions,
)

#: functions with errors of their own, in the SciPy of today
KNOWN_ERRORS = {"nctdtr"}


def find_function(name):
    return getattr(scipy.special, name, None) or getattr(np, name)


def test_every_formula_belongs_to_a_function():
    assert {row.relation for rows in read_functions().values() for row in rows} == set(FORMULAS)


@pytest.mark.parametrize("name", sorted(set(read_functions()) - KNOWN_ERRORS))
def test_functions_satisfy_their_relations(name):
    if not hasattr(scipy.special, name) and not hasattr(np, name):
        pytest.skip("not in this SciPy")
    report = dm.check(find_function(name), relations="necessary", inputs=100, progress=False)
    assert report.passed, report.describe()


@pytest.mark.parametrize("name", sorted(read_functions()))
def test_noise_violates_every_relation(name):
    function = find_function(name)

    def noisy(*arguments):
        phase = sum(np.abs(argument) for argument in arguments)
        return function(*arguments) * (1 + 0.2 * np.sin(1e4 * phase + np.angle(arguments[-1])))

    relations = build_function_relations(name)
    report = dm.check(
        KnownFunction(noisy, name), relations=list(relations.values()), inputs=100, shrink=False, progress=False
    )
    violated = {entry.relation for entry in report.faults}
    # a symmetry that leaves the noise as it is cannot show it
    exempt = {
        row.name
        for row in read_functions()[name]
        if row.relation in {"odd", "even", "swapped", "conjugate", "even in v", "hyp2f1 symmetry"}
    }
    assert set(relations) - exempt <= violated


@pytest.mark.parametrize(
    ("name", "relation", "spoil"),
    [
        ("erf", "odd", lambda x: np.abs(scipy.special.erf(x))),
        ("cos", "even", lambda x: np.cos(x + 0.1)),
        ("beta", "swapped", lambda a, b: scipy.special.beta(a, b + 0.1)),
        ("kv", "conjugate", lambda v, z: scipy.special.kv(v, z).real),
        ("kv", "even in v", lambda v, z: scipy.special.kv(v + 0.1, z)),
        ("hyp2f1", "symmetry", lambda a, b, c, z: scipy.special.hyp2f1(a, b + 0.1, c, z)),
    ],
)
def test_a_broken_symmetry_is_found(name, relation, spoil):
    relations = [build_function_relations(name)[f"{name}.{relation}"]]
    model = KnownFunction((lambda v, z: spoil(v, z) + 1j) if relation == "conjugate" else spoil, name)
    assert dm.check(model, relations=relations, inputs=60, shrink=False, progress=False).faults


def test_a_function_of_another_python_has_the_same_relations():
    text = f"python:{sys.executable} scipy.special:jv"
    assert list(dm.relations_for(text)) == list(dm.relations_for(scipy.special.jv)) == ["jv.bessel recurrence"]
    assert dm.check(text, relations="necessary", inputs=40, progress=False).passed


def test_a_function_of_the_user_is_not_mistaken_for_a_known_one():
    def gamma(x):
        return x

    assert find_function_name(gamma) == ""
    with pytest.raises(ArgumentError, match="known functions"):
        dm.relations_for(gamma)
