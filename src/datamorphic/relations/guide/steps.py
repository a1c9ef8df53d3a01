"""Questions as plain data, and the reading of their answers.

An answer is one line of text. `Question.accept` returns its value, or raises `WrongAnswer` with what was wrong and what was
expected. Nothing in an answer is evaluated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..._text import format_short, suggest_name
from ...errors import DatamorphicError, OutOfBudget, WrongAnswer
from ...reporting.text import clean

MAX_ANSWER_CHARACTERS = 2_000
MAX_LIST_ITEMS = 50
NONE = "none"  # the answer for nothing


@dataclass(frozen=True)
class Choice:
    """One of the answers to a question."""

    value: str  # what to answer
    text: str = ""  # what it means
    depth: int = 0  # in a tree of choices


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with everything that a face needs to ask it.

    Attributes
    ----------
    id : str
        Its name in a file of answers. A question may be asked several times.
    text : str
        The question.
    choices : tuple of Choice
        The answers to choose from, by their number, value or an unambiguous beginning of it.
    open : bool
        Whether other answers than the choices are accepted.
    default : str, optional
        The answer that an empty line stands for.
    help : str
        What to know before answering.
    read : callable
        Turns the text of an answer into its value, or raises an error of this package.

    Examples
    --------
    >>> question = Question(id="colour", text="Which colour?", choices=(Choice("red"), Choice("green")), default="red")
    >>> question.accept("2"), question.accept("GREEN"), question.accept("")
    ('green', 'green', 'red')
    """

    id: str
    text: str
    choices: tuple[Choice, ...] = ()
    open: bool = False
    default: str | None = None
    help: str = ""
    read: Callable[[str], Any] = str

    def accept(self, text: str) -> Any:
        """Return the value of an answer, or raise `WrongAnswer`."""
        return self.read_value(self.normalise(text))

    def normalise(self, text: str) -> str:
        """Return an answer as the text that is kept: the default for an empty one, the value of a choice for its number."""
        if len(text) > MAX_ANSWER_CHARACTERS:
            raise WrongAnswer(f"The answer has {len(text):,} characters. Expected at most {MAX_ANSWER_CHARACTERS:,}.")
        if clean(text) != text or "\n" in text:
            raise WrongAnswer("The answer has control characters. Expected one line of plain text.")
        if not text.strip():
            if self.default is None:
                raise WrongAnswer(f"The answer is empty. Expected {self.describe_expectation()}.")
            return self.default
        return self._find_choice(text) if self.choices else text

    def read_value(self, text: str) -> Any:
        """Return the value of a normalised answer, or raise `WrongAnswer`."""
        try:
            return self.read(text)
        except (WrongAnswer, OutOfBudget):
            raise
        except DatamorphicError as error:
            raise WrongAnswer(str(error)) from error

    def describe_expectation(self) -> str:
        """Return what is expected, for messages."""
        if not self.choices:
            return "an answer"
        values = ", ".join(choice.value for choice in self.choices[:12])
        return f"one of: {values}{' and others' if len(self.choices) > 12 else ''}"

    def _find_choice(self, text: str) -> str:
        values = [choice.value for choice in self.choices]
        wanted = text.strip().casefold()
        same = [value for value in values if value.casefold() == wanted]
        if same:
            return same[0]
        if re.fullmatch(r"[0-9]{1,4}", wanted) and not self.open_for_numbers:
            number = int(wanted)
            if 1 <= number <= len(values):
                return values[number - 1]
            if not self.open:
                raise WrongAnswer(f"There is no choice {number}. Expected a number from 1 to {len(values)}, or a name.")
        if self.open:
            return text
        beginnings = [value for value in values if value.casefold().startswith(wanted)]
        if len(beginnings) == 1:
            return beginnings[0]
        if beginnings:
            raise WrongAnswer(
                f"{format_short(text)!r} may be {' or '.join(map(repr, beginnings[:5]))}. Expected one of them."
            )
        raise WrongAnswer(f"{format_short(text)!r} is not among the choices. {suggest_name(text, values)}")

    @property
    def open_for_numbers(self) -> bool:
        """Whether a number is an answer of its own, and not the number of a choice."""
        return self.open and any(is_number_text(choice.value) for choice in self.choices)

    def document(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict, for a page that asks the question."""
        return {
            "id": self.id,
            "text": self.text,
            "help": self.help,
            "choices": [{"value": item.value, "text": item.text, "depth": item.depth} for item in self.choices],
            "open": self.open,
            "default": self.default,
        }


# -- reading -----------------------------------------------------------------------------------------------------------


def is_number_text(text: str) -> bool:
    """Return whether a text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def read_number(text: str) -> float:
    """Return a finite number; 10% is 0.1.

    Examples
    --------
    >>> read_number("1.10"), read_number("-5"), read_number("10%")
    (1.1, -5, 0.1)
    """
    shortened = text.strip().replace("−", "-")
    percent = shortened.endswith("%")
    try:
        number = float(shortened.removesuffix("%"))
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in shortened:
        raise WrongAnswer(f"{format_short(text)!r} is not a number. Expected a number, such as 10 or 0.5.")
    if percent:
        return number / 100
    return int(number) if re.fullmatch(r"[+-]?\d{1,15}", shortened) else number


def read_whole_number(text: str, low: int = 1, high: int = 1_000) -> int:
    """Return a whole number within limits."""
    number = read_number(text)
    if number != int(number) or not low <= number <= high:
        raise WrongAnswer(f"{format_short(text)!r} is out of range. Expected a whole number from {low} to {high:,}.")
    return int(number)


def read_yes_no(text: str) -> bool:
    """Return whether the answer is yes."""
    if text.strip().casefold() in ("yes", "y", "true"):
        return True
    if text.strip().casefold() in ("no", "n", "false"):
        return False
    raise WrongAnswer(f"{format_short(text)!r} is neither yes nor no.")


YES_NO = (Choice("yes"), Choice("no"))


def read_list(text: str, separators: str = ",") -> list[str]:
    """Split a list at commas; an item in quotes keeps its commas and spaces.

    Examples
    --------
    >>> read_list("red, green"), read_list("' .', ','")
    (['red', 'green'], [' .', ','])
    """
    items, quoted, start, quote = [""], [False], True, ""
    for character in text:
        if quote:
            if character == quote:
                quote = ""
            else:
                items[-1] += character
        elif character in separators:
            items.append("")
            quoted.append(False)
            start = True
        elif start and character in "'\"":
            quote, quoted[-1], items[-1], start = character, True, "", False
        else:
            start = start and character.isspace()
            items[-1] += "" if quoted[-1] and character.isspace() else character
    if quote:
        raise WrongAnswer(f"A quotation mark ({quote}) is not closed. Expected items with commas between them.")
    values = [item if in_quotes else item.strip() for item, in_quotes in zip(items, quoted, strict=True)]
    if len(values) > 1 and not values[-1] and not quoted[-1]:
        values, quoted = values[:-1], quoted[:-1]  # a comma at the end
    if any(not value and not in_quotes for value, in_quotes in zip(values, quoted, strict=True)):
        raise WrongAnswer("An item of the list is empty. Expected items with commas between them, such as: red, green.")
    if len(values) > MAX_LIST_ITEMS:
        raise WrongAnswer(f"The list has {len(values):,} items. Expected at most {MAX_LIST_ITEMS}.")
    return values


def read_pairs(text: str) -> dict[str, str]:
    """Return pairs, each with an arrow.

    Examples
    --------
    >>> read_pairs("up -> down, newest -> oldest"), read_pairs("'.' -> ','")
    ({'up': 'down', 'newest': 'oldest'}, {'.': ','})
    """
    pairs = {}
    for items in map(_split_arrow, _split_outside_quotes(text, ",;")):
        if len(items) != 2:
            raise WrongAnswer("Expected pairs with an arrow, such as: up -> down, newest -> oldest.")
        first, second = (read_list(item, separators="")[0] for item in items)
        pairs[first] = second
    if len(pairs) > MAX_LIST_ITEMS:
        raise WrongAnswer(f"There are {len(pairs):,} pairs. Expected at most {MAX_LIST_ITEMS}.")
    return pairs


def _split_arrow(text: str) -> list[str]:
    return _split_outside_quotes(text, "->", whole=True)


def _split_outside_quotes(text: str, separators: str, whole: bool = False) -> list[str]:
    """Split at any of the separators, or at their sequence as a whole, except between quotation marks."""
    parts, quote, place = [""], "", 0
    while place < len(text):
        character = text[place]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and (not parts[-1].strip() or parts[-1].rstrip().endswith("->")):
            quote = character
        elif (whole and text.startswith(separators, place)) or (not whole and character in separators):
            parts.append("")
            place += len(separators) if whole else 1
            continue
        parts[-1] += character
        place += 1
    return parts


def split_settings(text: str) -> list[tuple[str, str]]:
    """Split settings ``name = value; name = value``.

    Examples
    --------
    >>> split_settings("age = 18 to 70; sort = up, down")
    [('age', '18 to 70'), ('sort', 'up, down')]
    """
    settings = []
    for part in _split_outside_quotes(text, ";"):
        if not part.strip():
            continue
        name, sign, value = part.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise WrongAnswer(
                f"{format_short(part.strip())!r} is not understood. Expected name = range, such as: age = 18 to 70; sort = up, down."
            )
        settings.append((name.strip(), value.strip()))
    return settings


def read_range(text: str) -> tuple[float, float] | None:
    """Return the ends of a range ``low to high``; None if the text is something else.

    Examples
    --------
    >>> read_range("-1 to 2.5"), read_range("up, down")
    ((-1, 2.5), None)
    """
    low_text, word, high_text = text.partition(" to ")
    if not word or not is_number_text(low_text) or not is_number_text(high_text):
        return None
    low, high = read_number(low_text), read_number(high_text)
    if low >= high:
        raise WrongAnswer(f"The range {low:g} to {high:g} is empty. Expected the smaller number first.")
    return low, high


def format_list(items: Iterable[object]) -> str:
    """Return a list as the answer that `read_list` reads."""
    return ", ".join(format_item(item) for item in items)


def format_item(item: object) -> str:
    """Return an item of a list, in quotes if it needs them."""
    text = str(item)
    if text and text == text.strip() and not any(mark in text for mark in ",;'\"") and "->" not in text:
        return text
    return f'"{text}"' if '"' not in text else f"'{text}'"


def pick_names(names: Sequence[str], known: Sequence[str], noun: str = "column") -> list[str]:
    """Return names that are known, whatever the case of their letters."""
    lower_names = {name.casefold(): name for name in reversed(known)}
    picked = []
    for name in names:
        full_name = name if name in known else lower_names.get(name.casefold())
        if full_name is None:
            raise WrongAnswer(f"There is no {noun} {format_short(name)!r}. {suggest_name(name, known)}")
        if full_name in picked:
            raise WrongAnswer(f"{full_name!r} is named twice. Expected different {noun}s.")
        picked.append(full_name)
    return picked
