"""The example systems answer as documented, and each of their faults matters."""

from __future__ import annotations

import pickle

import pytest

import datamorphic as dm
from datamorphic.data.pattern_examples import PRODUCTS, example_systems
from datamorphic.space.answers import to_hashable
from support.cases import in_one_test

HAND_WRITTEN = ["product search", "translator", "route finder", "temperature converter"]


@in_one_test("name", example_systems)
def test_a_system_answers_all_its_cases(name):
    system = pickle.loads(pickle.dumps(example_systems[name]))
    outputs = system.sut.execute(system.cases)
    assert outputs.ok.all()
    first = system.cases.iloc[0].to_dict()
    assert dm.wrap(system).execute(system.cases.iloc[:1]).values[0] == to_hashable(system(**first))


@in_one_test(("system", "fault"), [(name, fault) for name in HAND_WRITTEN for fault in example_systems[name].faults])
def test_a_fault_changes_an_answer(system, fault):
    correct, faulty = example_systems[system], example_systems[system].with_fault(fault)
    cases = correct.cases.to_dict("records")
    if system == "product search":
        extra = {"brand": "Bolt", "department": "men", "sort": "price down", "device": "phone"}
        cases += [case | {name: value} for case in cases for name, value in extra.items()]
        cases += [cases[0] | {"query": query} for query in ("shoes OR hats", "Shoes")]
        cases += [cases[0] | {"max_price": "6000 cent"}]
    elif system == "translator":
        texts = ("Mary likes water.John eats bread.", "mary likes water.", "Mary likes water .", "The UN helps.")
        cases += [{"text": text, "languages": "en-es"} for text in (*texts, "Mary helps.. John helps.")] * 2
        cases += [{"text": "Juan bebe agua.", "languages": "es-en"}]
    elif system == "route finder":
        cases += [cases[0] | {"time": "night"}, cases[0] | {"client": "app"}, cases[0] | {"start": "9;1"}]
    assert any(correct(**case) != faulty(**case) for case in cases)


def test_faults_of_programs_are_their_mutants():
    assert set(example_systems["tanh"].faults) == set(dm.programs["tanh"].mutants)
    assert example_systems["tanh"].faults["emu10"].startswith("CRP")
    assert "emu10" in repr(example_systems["tanh"].with_fault("emu10"))


def test_most_faults_are_found_by_an_example_of_the_catalogue():
    detected_faults = {
        (example.system, example.fault) for pattern in dm.patterns.values() for example in pattern.examples
    }
    written = {(name, fault) for name in HAND_WRITTEN for fault in example_systems[name].faults}
    missing = {fault for _, fault in written - detected_faults}
    assert missing <= {"jumps", "ignores the query", "first word decides"}


def test_the_search_understands_what_its_documentation_says():
    search = example_systems["product search"]
    assert len(search(query="")) == len(PRODUCTS) == len(search(query="shoe OR hat OR sweater"))
    assert search(query="men's shoes") == search(query="shoe for men") == search(query="shoes", department="men")
    assert search(query="hat", sort="price up") == search(query="hat", sort="price down")[::-1]


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: example_systems["serch"], "There is no example system 'serch'"),
        (lambda: example_systems["translator"].with_fault("needs space"), "Did you mean 'needs spaces'"),
    ],
)
def test_a_mistake_gets_one_clear_line(mistake, message):
    with pytest.raises(dm.errors.DatamorphicError, match=message):
        mistake()
