"""Forms are made from the options of commands, and nothing else can be set."""

import pytest

from datamorphic.errors import UsageError
from datamorphic.web.commands import build_arguments, has_option, list_fields, read_values


def test_a_form_offers_plain_options_only():
    fields = list_fields("explore")
    assert fields["walks"].kind == "integer"
    assert fields["plan"].kind == "flag"
    assert not {"store", "trust", "engine", "html", "model", "save", "compare"} & set(fields)


def test_values_become_one_word_each():
    assert build_arguments("explore", {"walks": 5, "moves": "--trust", "delta": None}) == [
        "--walks=5",
        "--moves=--trust",
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"trust": True}, "cannot be set"),
        ({"store": "x"}, "cannot be set"),
        ({"walks": "many"}, "is a number"),
        ({"seed": -1}, "at least 0"),
        ({"moves": "a\nb"}, "one line"),
    ],
)
def test_wrong_values_are_refused(values, message):
    with pytest.raises(UsageError, match=message):
        build_arguments("explore", values)


def test_code_is_chosen_from_a_list():
    with pytest.raises(UsageError, match="from a list"):
        build_arguments("check", {"relations": ["os:system"]})
    with pytest.raises(UsageError, match="one from the list"):
        build_arguments("check", {"relations": ["os:system"]}, choices={"relations": ["row order"]})


def test_options_with_names_of_their_own():
    assert build_arguments("check", {"inputs": 60, "ties": True}) == ["--inputs=60", "--count-ties"]
    assert list_fields("cover")["joint"].option == "--joint"


def test_options_of_groups():
    assert has_option("runs resume", "--store")
    assert not has_option("guide", "--store")


def test_a_form_begins_with_the_values_of_an_earlier_job():
    values = {"budget": "30s", "seed": 3, "protected": ["a", "b"], "tolerance": 0.5}
    assert read_values("test", ["model.skops", *build_arguments("test", values), "--html=x", "--trust"]) == values
