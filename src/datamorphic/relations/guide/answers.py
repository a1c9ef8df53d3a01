"""Files of answers: ``id = answer`` per line, in the order of the questions.

Lines that start with # are comments. An answer in double quotes is a JSON string, which keeps spaces at its ends. An empty
answer stands for the default of its question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from ..._text import format_short, suggest_name
from ...errors import UsageError, WrongAnswer
from .steps import MAX_ANSWER_CHARACTERS
from .tables import list_question_ids

MAX_FILE_CHARACTERS = 1_000_000
_ID = re.compile(r"[a-z_]+(\.[a-z_]+)?")


@dataclass(frozen=True)
class Answer:
    """An answer with its place."""

    id: str
    text: str
    line: int = 0  # of its file, counted from 1; 0 for an answer from elsewhere


class AnswerFile:
    """The answers of a file, which are taken one after the other.

    Examples
    --------
    >>> answers = AnswerFile.parse("side = input\\npattern = Noise")
    >>> answers.take("pattern"), answers.take("pattern"), [answer.id for answer in answers.unused]
    (Answer(id='pattern', text='Noise', line=2), None, ['side'])
    """

    def __init__(self, answers: Iterable[Answer], name: str = "") -> None:
        self.unused, self.name = list(answers), name

    @classmethod
    def parse(cls, text: str, name: str = "answers") -> AnswerFile:
        """Return the answers of a text, or raise `UsageError` with the number of the line that is wrong."""
        if len(text) > MAX_FILE_CHARACTERS:
            raise UsageError(f"{name} has {len(text):,} characters. Expected at most {MAX_FILE_CHARACTERS:,}.")
        answers = []
        for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
            stripped = line.strip()
            if stripped and not stripped.startswith("#"):
                answers.append(_parse_line(stripped, number, name))
        return cls(answers, name)

    def take(self, question_id: str) -> Answer | None:
        """Return the next answer to a question and remove it; None if there is none."""
        for place, answer in enumerate(self.unused):
            if answer.id == question_id:
                return self.unused.pop(place)
        return None

    def locate(self, answer: Answer) -> str:
        """Return the place of an answer, for messages."""
        return f"{self.name}:{answer.line}: {answer.id} = {format_short(answer.text)}"


def _parse_line(line: str, number: int, name: str) -> Answer:
    question_id, sign, text = (part.strip() for part in line.partition("="))
    if not sign:
        raise UsageError(f"{name}:{number}: {format_short(line)!r} has no equals sign. Expected: id = answer.")
    if not _is_question_id(question_id):
        raise UsageError(
            f"{name}:{number}: There is no question {format_short(question_id)!r}. {_suggest(question_id)}"
        )
    if len(text) > MAX_ANSWER_CHARACTERS:
        raise UsageError(f"{name}:{number}: The answer to {question_id} has {len(text):,} characters. Expected fewer.")
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        with suppress(ValueError):  # otherwise it is an answer with quotation marks of its own
            text = json.loads(text)
    return Answer(question_id, str(text), number)


def _is_question_id(text: str) -> bool:
    if not _ID.fullmatch(text):
        return False
    ids = list_question_ids()
    return text in ids or any(pattern.endswith("*") and text.startswith(pattern[:-1]) for pattern in ids)


def _suggest(question_id: str) -> str:
    return suggest_name(question_id, [name for name in list_question_ids() if not name.endswith("*")])


def format_answers(answers: Iterable[Answer], remark: str = "") -> str:
    """Return answers as the text of a file.

    Examples
    --------
    >>> print(format_answers([Answer("side", "input"), Answer("input.element", " ")], "Stopped here."), end="")
    # Stopped here.
    side = input
    input.element = " "
    """
    lines = [f"# {' '.join(remark.split())}"] if remark else []
    for answer in answers:
        plain = answer.text == answer.text.strip() and answer.text.isprintable() and not answer.text.startswith('"')
        lines.append(f"{answer.id} = {answer.text if plain else json.dumps(answer.text)}".rstrip())
    return "\n".join(lines) + "\n"


def build_error(answers: AnswerFile, answer: Answer, error: WrongAnswer) -> UsageError:
    """Return the error for a wrong answer in a file."""
    return UsageError(f"{answers.locate(answer)}: {error}")
