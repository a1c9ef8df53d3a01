"""Questions about parameters follow the patterns of the catalogue."""

from __future__ import annotations

import dataclasses

import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.relations.guide.parameters import (
    build_parameter_question,
    is_usable,
    list_asked_parameters,
    read_parameters,
)
from datamorphic.relations.guide.session import list_tree
from datamorphic.relations.guide.systems import open_system, read_space
from datamorphic.relations.guide.tables import read_guide
from datamorphic.relations.patterns import inputs, outputs
from support.cases import in_one_test

MAKERS = {
    maker.__name__: maker
    for pattern in dm.patterns.values()
    for maker in (pattern.inputs, pattern.outputs)
    if maker is not None
}


def make_system():
    space = read_space("x = -4 to 4; n = 0 to 9 whole; text = red shoes, blue hats for men; sort = up, down")
    return open_system(
        model_name="m", model=lambda frame: frame.x, data_name="none", data=space, target=None, trust=False, seed=0
    )


def test_tables_name_classes_and_parameters_that_exist():
    for name, parameters in read_guide().parameters.hidden.items():
        assert set(parameters) <= {item.name for item in dataclasses.fields(MAKERS[name])}
    known = {name for name in dir(outputs) if isinstance(getattr(outputs, name), type)}
    table = read_guide().proposals
    assert {*table.strength, *table.implied, *set().union(*table.implied.values())} <= known
    assert {*table.about_sets, *table.about_numbers, *table.about_several} <= set(table.strength)


@in_one_test(
    ("maker", "parameter", "words"),
    [(maker, name, words) for maker, row in read_guide().parameters.words.items() for name, words in row.items()],
)
def test_the_words_of_a_parameter_are_all_that_it_accepts(maker, parameter, words):
    required = {"SameMeaning": {"column": "a"}, "AddElement": {"column": "a", "element": "x"}}
    required["ChangeSet"] = {"column": "a", "elements": ("x",)}
    make = MAKERS[maker]
    for word in words:
        make(**required.get(maker, {}), **{parameter: word})
    with pytest.raises(ArgumentError) as caught:
        make(**required.get(maker, {}), **{parameter: "nonsense"})
    assert ", ".join(map(repr, words)) in str(caught.value)


def test_saved_code_finds_every_pattern_by_the_name_that_its_class_has():
    for pattern in dm.patterns.values():
        if pattern.inputs is not None:
            assert dm.patterns[pattern.inputs.pattern].inputs is not None
            assert issubclass(pattern.inputs, dm.patterns[pattern.inputs.pattern].inputs)
        if pattern.outputs is not None:
            assert issubclass(pattern.outputs, dm.patterns[pattern.outputs.pattern].outputs)


@pytest.mark.parametrize("side", ["input", "output"])
def test_every_parameter_of_every_pattern_can_be_asked(side):
    system = make_system()
    names = [name for name, _ in list_tree(dm.patterns, side, system)]
    assert len(names) > 20
    for name in names:
        pattern = dm.patterns[name]
        for parameter in list_asked_parameters(pattern, side):
            question = build_parameter_question(pattern, parameter, side, system, {"column": "sort"}, None)
            assert question.text.endswith(".")
            if question.default is not None and parameter.name not in ("columns", "column"):
                question.accept("")


def test_patterns_are_offered_only_if_the_system_has_inputs_for_them():
    space = read_space("sort = up, down")
    system = open_system(
        model_name="m", model=lambda frame: frame.sort, data_name="none", data=space, target=None, trust=False, seed=0
    )
    assert not is_usable(dm.patterns["Monotone"], "input", system)
    assert not is_usable(dm.patterns["Symmetry"], "input", system)
    assert is_usable(dm.patterns["Change Direction"], "input", system)
    assert not is_usable(dm.patterns["Query-Meaning"], "output")


def test_parameters_are_read_from_a_pattern_without_its_defaults():
    assert read_parameters(inputs.Negate(columns=("x",))) == {"columns": ("x",)}
    assert read_parameters(outputs.EvenOrOdd(odd=True)) == {"odd": True}
    assert read_parameters(outputs.Ordered()) == {}
