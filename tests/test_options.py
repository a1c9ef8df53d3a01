"""Public functions and their option sets agree: every parameter is an option, with the same default."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields

import datamorphic as dm
from datamorphic.exploration.options import PlanOptions
from support.cases import in_one_test

#: What is tested, and with what.
SUBJECTS = {
    "model",
    "learner",
    "program",
    "test_system",
    "relation",
    "relations",
    "data",
    "target",
    "space",
    "seeds",
    "tests",
}
#: How the subject is wrapped, where the run is stored, and what is shown.
RUN_SETTINGS = {"classes", "name", "scalar", "trust", "seed", "engine", "store", "resume", "progress"}
#: Hints for columns, which option sets hold as one `SpaceOptions`.
HINTS = {"kinds", "steps", "column_steps", "bounds", "orders"}

OPTION_SETS = {"plan": PlanOptions}


@in_one_test("name", OPTION_SETS)
def test_parameters_are_options(name):
    parameters = set(inspect.signature(getattr(dm, name)).parameters)
    options = {field.name for field in fields(OPTION_SETS[name])}
    assert parameters - options <= SUBJECTS | RUN_SETTINGS | HINTS


@in_one_test("name", OPTION_SETS)
def test_defaults_are_equal(name):
    parameters = inspect.signature(getattr(dm, name)).parameters
    for field in fields(OPTION_SETS[name]):
        if field.name in parameters and field.default is not MISSING:
            assert parameters[field.name].default == field.default, field.name
