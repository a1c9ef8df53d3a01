"""Every public function with a command is made from its options: they are its parameters, with the same defaults."""

from __future__ import annotations

import inspect
from dataclasses import MISSING

import datamorphic as dm
from datamorphic.core.capability import get_capability
from datamorphic.core.options import list_fields
from support.cases import in_one_test

VERBS = (
    *(
        "test",
        "explore",
        "plan",
        "check",
        "hunt",
        "generate",
        "simulate",
        "mutate",
        "cover",
        "select",
        "combine",
        "optimise",
    ),
    *("laws", "fairness", "credit", "play", "compare"),
)


@in_one_test("verb", VERBS)
def test_parameters_are_options(verb):
    parameters = inspect.signature(getattr(dm, verb)).parameters
    fields = list_fields(get_capability(getattr(dm, verb)).options)
    collectors = [field.name for field in fields if field.option.collects_keywords]  # the keywords of generators
    assert [*(field.name for field in fields if field.name not in collectors), *collectors] == list(parameters)
    for field in fields:
        default = inspect.Parameter.empty if field.default is MISSING or field.name in collectors else field.default
        assert parameters[field.name].default == default, field.name
