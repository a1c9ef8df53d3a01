"""Plain values of options are converted as Typer converts them, but without pydantic."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from datamorphic.cli import conversion
from datamorphic.cli.help import add_examples

app = typer.Typer()


@app.command()
def show(
    text: str,
    count: Annotated[int, typer.Option(min=0, max=1000)] = 3,
    share: Annotated[float | None, typer.Option(min=0)] = None,
    word: str = "default",
    words: Annotated[list[str] | None, typer.Option()] = None,
    loud: bool = False,
) -> None:
    print([text, count, share, word, words, loud])


def run(*words):
    result = CliRunner().invoke(add_examples(app), words)
    return result.exit_code, result.output


VALUES = [
    "5",
    "007",
    "-3",
    "+4",
    "1_0",
    "1e2",
    " 5",
    "1000",
    "1001",
    "2.5",
    "0.1",
    ".5",
    "5.",
    "",
    "abc",
    "٣",
    "nan",
    "9" * 30,
]


@pytest.mark.parametrize("option", ["--count", "--share", "--word", "--words"])
def test_values_are_those_of_typer(option, monkeypatch):
    ours = [run("x", option, value) for value in VALUES]
    monkeypatch.setattr(conversion, "_convert", lambda value, descriptor: None)
    assert ours == [run("x", option, value) for value in VALUES]


def test_defaults_flags_and_missing_arguments(monkeypatch):
    calls = [["x"], ["x", "--loud"], ["x", "--words", "a", "--words", "b"], [], ["--help"]]
    ours = [run(*call) for call in calls]
    assert ours[0] == (0, "['x', 3, None, 'default', None, False]\n")
    monkeypatch.setattr(conversion, "_convert", lambda value, descriptor: None)
    assert ours == [run(*call) for call in calls]
