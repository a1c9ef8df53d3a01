"""The types of parameters at run time."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import pytest

import datamorphic as dm
from datamorphic._typing import (
    DataLike,
    FilePath,
    describe_type,
    find_rule,
    is_accepted,
    is_checkable,
    list_alternatives,
    list_plain_types,
    read_parameter_types,
)
from datamorphic._validation import check_types
from datamorphic.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

    from datamorphic.space.space import Space as Room

Way = Literal["up", "down"]
Table = TypeVar("Table", bound=DataLike)


@check_types
def draw(frame: pd.DataFrame | None, room: Room | None = None, way: Way = "up", *, table: Table = None) -> Nothing:  # noqa: F821
    return frame, room, way


def test_names_that_only_type_checkers_import_are_imported():
    import pandas as pd

    hints = read_parameter_types(draw)
    assert hints["frame"] == pd.DataFrame | None
    assert hints["room"] == dm.Space | None
    assert list(hints) == ["frame", "room", "way", "table"]
    with pytest.raises(ArgumentError, match=r"'room' parameter of draw must be a Space or None\. Got 'x' instead"):
        draw(pd.DataFrame(), "x")


def test_what_a_name_of_a_room_stands_for_is_not_checked_here():
    assert read_parameter_types(draw)["way"] is Any
    assert draw(None, way="sideways") == (None, None, "sideways")


def test_the_type_of_a_variable_is_its_bound():
    assert find_rule(list_alternatives(read_parameter_types(draw)["table"])[0]).table


def test_a_text_or_path_is_a_path():
    for hint in (str | os.PathLike[str] | None, FilePath | None):
        assert describe_type(hint) == "a path or None"
        assert not is_accepted(hint, "")
        assert list_plain_types(hint) == {type(None)}


def test_a_generator_is_one_of_numpy():
    assert describe_type(int | np.random.Generator | None) == "an int, a NumPy generator or None"


def test_protocols_and_tuples_are_not_checked():
    assert not is_checkable(tuple[str, ...])
    assert not is_checkable(Literal["x"] | None)
    assert is_checkable(dm.Space | str | None)


def list_checked_functions():
    for module in pkgutil.walk_packages(dm.__path__, "datamorphic."):
        if not module.name.startswith(("datamorphic.web", "datamorphic.__main__")):
            for thing in vars(importlib.import_module(module.name)).values():
                members = [thing, *vars(thing).values()] if inspect.isclass(thing) else [thing]
                for member in members:
                    function = getattr(member, "__func__", member)
                    if inspect.isfunction(function) and function.__code__.co_name == "check_and_call":
                        yield function


@pytest.mark.slow
def test_all_annotations_of_checked_functions_can_be_read():
    functions = set(list_checked_functions())
    assert len(functions) > 50
    for function in functions:
        assert read_parameter_types(function).keys() == function.__annotations__.keys() - {"return"}
