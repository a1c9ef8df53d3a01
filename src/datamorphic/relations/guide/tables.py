"""The questions of the guide, and what it knows about executable patterns: guide.toml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..._tables import read_document
from .steps import Choice, Question


@dataclass(frozen=True, kw_only=True)
class QuestionRow:
    """A question; words in braces are filled in."""

    id: str
    name: str = ""  # by default the id
    text: str = ""
    choices: tuple[tuple[str, str], ...] = ()  # values with their meanings
    default: str | None = None
    help: str = ""


@dataclass(frozen=True, kw_only=True)
class ProposalTable:
    """Output patterns by the classes that make them."""

    strength: tuple[str, ...]  # from the strongest statement to the weakest
    about_sets: tuple[str, ...]
    about_numbers: tuple[str, ...]
    about_several: tuple[str, ...]  # follow-ups
    implied: Mapping[str, tuple[str, ...]]  # what need not be proposed beside a pattern that all groups keep


@dataclass(frozen=True, kw_only=True)
class ParameterTable:
    """Parameters of executable patterns, by their classes."""

    hidden: Mapping[str, tuple[str, ...]]  # which another pattern is for
    words: Mapping[str, Mapping[str, tuple[str, ...]]]  # the values of parameters that are one of a few words


@dataclass(frozen=True, kw_only=True)
class GuideTable:
    """All of guide.toml."""

    questions: tuple[QuestionRow, ...]
    proposals: ProposalTable
    parameters: ParameterTable


@cache
def read_guide() -> GuideTable:
    """Return the questions and what the guide knows about patterns."""
    return read_document(__package__, "guide.toml", GuideTable)


def build_question(
    name: str, words: Mapping[str, object] | None = None, choices: Iterable[Choice] = (), **options: Any
) -> Question:
    """Return a question of the table.

    Parameters
    ----------
    name : str
        Its name, or its id.
    words : mapping, optional
        What to fill in.
    choices : iterable of Choice
        More choices, after those of the table.
    **options : object
        Other attributes of the question.

    Examples
    --------
    >>> build_question("derive", {"pattern": "Noise"}).text
    'Derive a new pattern from Noise?'
    """
    row = next(row for row in read_guide().questions if name == (row.name or row.id))
    words = words or {}
    fixed = (Choice(value, text.format(**words)) for value, text in row.choices)
    texts = {"text": row.text.format(**words).strip(), "help": row.help.format(**words), "default": row.default}
    return Question(**{"id": row.id, "choices": (*fixed, *choices), **texts, **options})


def list_question_ids() -> list[str]:
    """Return the ids of all questions in the order of the walk; a star stands for a parameter."""
    return list(dict.fromkeys(row.id for row in read_guide().questions))
