"""Commands made from capabilities: what names the tested system, and flags that stand for other values."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import pytest

from datamorphic.cli import options as opt
from datamorphic.cli.command import CapabilityCommand
from datamorphic.core.capability import capability, get_capability
from datamorphic.core.execute import Execution
from datamorphic.core.options import Option
from datamorphic.core.result import Result
from datamorphic.morphisms.model_options import ModelDataOptions


@dataclass(frozen=True, eq=False)
class JudgeOptions(ModelDataOptions):
    _: KW_ONLY
    ties: Annotated[str, Option("How ties are judged.", choices=("aside", "count"), flag_value="count")] = "aside"
    shrink: Annotated[bool, Option("Whether to shrink.", flag="no-shrink", flag_value=False)] = True
    names: Annotated[list[str] | None, Option("The names.", "NAME", flag="name-of", repeatable=True)] = None


@capability(JudgeOptions)
def judge(options: JudgeOptions, execution: Execution) -> Result:
    """Judge."""
    raise NotImplementedError


class JudgeCommand(CapabilityCommand):
    def list_inputs(self):
        return [*super().list_inputs(), ("param", opt.LearnerParameters, None)]


COMMAND = JudgeCommand(capability=get_capability(judge))


def call(**values):
    """Return the words of a command that is called with some values."""
    defaults = {parameter.name: parameter.default for parameter in COMMAND.build_parameters()}
    face = ("store", "engine", "workers", "trust", "as_json", "html", "junit", "allow_incomplete")
    return COMMAND.collect_words({name: value for name, value in (defaults | values).items() if name not in face})


def test_a_flag_stands_for_the_value_that_its_option_names(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_text("x\n1\n2\n")
    monkeypatch.chdir(tmp_path)
    place = {"model": "math:floor", "data_argument": "people.csv"}
    plain = COMMAND.load_values(call(**place), trust=False)
    assert "ties" not in plain
    assert "shrink" not in plain
    words = call(**place, ties=True, shrink=True)
    assert {name: words[name] for name in ("ties", "shrink")} == {"ties": True, "shrink": True}
    values = COMMAND.load_values(words, trust=False)
    assert (values["ties"], values["shrink"]) == ("count", False)


def test_what_names_the_tested_system_is_part_of_the_request_and_of_the_command_line():
    words = call(model="math:floor", param=["k=1", "p=2"], names=["a"], shrink=True)
    assert words["param"] == ["k=1", "p=2"]
    assert "param" in COMMAND.request_keys
    expected = "datamorphic judge math:floor --param k=1 --param p=2 --no-shrink --name-of a --seed 3"
    assert COMMAND.format_command(words, 3) == expected


@pytest.mark.parametrize("name", ["ties", "shrink"])
def test_flags_are_off_by_default(name):
    parameter = next(parameter for parameter in COMMAND.build_parameters() if parameter.name == name)
    assert parameter.default is False
