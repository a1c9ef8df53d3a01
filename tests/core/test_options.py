"""Options: fields carry what they mean, and everything is made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
import pandas as pd
import pytest

from datamorphic._typing import DataLike, EngineLike, FilePath, describe_type, is_accepted
from datamorphic.core.options import Option, Options, list_fields
from datamorphic.errors import ArgumentError
from support.cases import in_one_test


@dataclass(frozen=True, eq=False, kw_only=True)
class Shared(Options):
    seed: Annotated[int, Option("The seed.", low=0, stored=False)] = 0


@dataclass(frozen=True, eq=False)
class Own(Shared):
    OWNER: ClassVar[str] = "own"

    data: Annotated[DataLike, Option("The data.", stored=False)]
    walks: Annotated[int, Option("The number of walks.", "N", low=1, high=9)] = 5
    _: KW_ONLY
    way: Annotated[str, Option("The way.", "WAY", choices=("up", "down"))] = "up"
    share: Annotated[float | None, Option("The share.", "P", above=0, below=1, expected="a share")] = None
    names: Annotated[Sequence[str], Option("Names.")] = ()

    def validate(self) -> None:
        super().validate()
        if self.way == "down" and self.walks > 7:
            raise ArgumentError("Too far down.")
        self.set(names=tuple(self.names))


def test_limits_hold_for_integers_that_no_float_can_hold():
    with pytest.raises(ArgumentError, match="range"):
        Own(pd.DataFrame({"a": [1]}), walks=10**400)


def test_own_fields_come_before_shared_ones_and_positional_ones_first():
    assert [field.name for field in list_fields(Own)] == ["data", "walks", "way", "share", "names", "seed"]
    assert [field.keyword_only for field in list_fields(Own)] == [False, False, True, True, True, True]
    assert list_fields(Own)[0].default is MISSING


def test_a_field_without_an_option_is_a_mistake():
    @dataclass(frozen=True, eq=False)
    class Bare(Options):
        walks: int = 1

    with pytest.raises(TypeError, match=r"Bare\.walks has no Option"):
        list_fields(Bare)


@in_one_test(
    "values, message",
    [
        ({"walks": 0}, r"The 'walks' parameter of own must be an int in the range \[1, 9\]. Got 0 instead."),
        ({"walks": 2.5}, r"an int in the range \[1, 9\]. Got 2.5"),
        ({"walks": True}, r"an int in the range \[1, 9\]. Got True"),
        ({"way": "left"}, "one of 'up', 'down'. Got 'left'"),
        ({"share": 1.0}, "must be a share. Got 1.0"),
        ({"share": float("nan")}, "must be a share. Got nan"),
        ({"names": "a"}, "must be a list. Got 'a'"),
        ({"seed": -1}, r"an int in the range \[0, inf\)"),
        ({"way": "down", "walks": 8}, "Too far down."),
    ],
)
def test_wrong_values_are_refused_with_what_was_expected(values, message):
    with pytest.raises(ArgumentError, match=message):
        Own(data=[[1]], **values)


def test_values_are_replaced_by_their_normal_form():
    options = Own(data=[[1]], names=["a"], walks=np.int64(3))
    assert options.names == ("a",)
    assert options.to_request() == {"walks": 3, "way": "up", "share": None, "names": ["a"]}


def test_tables_are_read_in_any_form(tmp_path):
    frame = pd.DataFrame({"x": [1, 2]})
    frame.to_csv(tmp_path / "x.csv", index=False)
    pd.testing.assert_frame_equal(Own(data=tmp_path / "x.csv").data, frame)


@in_one_test(
    "hint, accepted, refused, words",
    [
        (int, [1, np.int8(1)], [1.0, True, "1"], "an int"),
        (float, [1, 1.5, np.float32(1)], [float("inf"), True, "1"], "a finite number"),
        (bool, [True, np.True_], [1, None], "True or False"),
        (int | None, [None, 3], ["3"], "an int or None"),
        (Sequence[str] | str, [["a"], ("a",), "a", np.array(["a"])], [3, {"a": 1}], "a list or a str"),
        (Mapping[str, int] | None, [{"a": 1}, None], [["a"]], "a dict or None"),
        (Literal["a", "b"], ["a"], ["c"], "one of 'a', 'b'"),
        (FilePath, ["x", MISSING and "y"], ["", 3, "a\0b"], "a path"),
        (EngineLike, [None, "serial"], [3], "the name of an engine, an engine or None"),
    ],
)
def test_types_are_those_of_users(hint, accepted, refused, words):
    assert all(is_accepted(hint, value) for value in accepted)
    assert not any(is_accepted(hint, value) for value in refused)
    assert describe_type(hint) == words


def test_shared_options_can_be_positional_in_an_order_of_their_own():
    @dataclass(frozen=True, eq=False)
    class Placed(Own):
        POSITIONAL: ClassVar[tuple[str, ...]] = ("data", "seed", "walks")

    fields = list_fields(Placed)
    assert [field.name for field in fields if not field.keyword_only] == ["data", "seed", "walks"]
    assert [field.name for field in fields if field.keyword_only] == ["way", "share", "names"]
