"""The errors and warnings of the package, all of them kinds of `DatamorphicError` or `DatamorphicWarning`.

The command line converts `UsageError` to exit code 2 and `SystemFailed` to exit code 3.
"""

from __future__ import annotations

import re

from ._text import to_text

MAX_MESSAGE_CHARACTERS = 1000


class DatamorphicError(Exception):
    """Base class of all errors of this package; a message is one line, also if it quotes a frame or a matrix."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(_to_line(argument) if isinstance(argument, str) else argument for argument in arguments))


def _to_line(message: str) -> str:
    line = re.sub(r"\s*\n\s*", " ", message)
    if len(line) <= MAX_MESSAGE_CHARACTERS:
        return line
    return line[: MAX_MESSAGE_CHARACTERS // 2] + " ... " + line[-MAX_MESSAGE_CHARACTERS // 2 :]


class UsageError(DatamorphicError, ValueError):
    """Wrong use, which the caller can fix; the message says what happened, what was expected and what to do."""


class ArgumentError(UsageError):
    """An argument is out of range or of the wrong type."""


class SpaceError(UsageError):
    """A feature, a space or a constraint is invalid."""


class DataError(UsageError):
    """Values do not fit the space, or a file does not hold valid data."""


class TestSystemError(UsageError):
    """A function of a test system has a wrong signature or returned a wrong value."""

    __test__ = False  # pytest would take the class for a test because of its name


class ModelError(UsageError):
    """A model cannot be queried: not fitted, other columns, unreadable."""


class UntrustedError(ModelError):
    """Loading a file would run code from it, and the caller did not declare trust."""


class StoreError(UsageError):
    """A run store cannot be opened, read or written."""


class ScriptError(UsageError):
    """A script is wrong; `file`, `line` and `column` say where, counted from 1.

    `problems` are all that were found, of which the message is the first.
    """

    def __init__(self, message: str, *, file: str = "", line: int = 1, column: int = 1) -> None:
        self.problem, self.file, self.line, self.column = message, file, line, column
        self.problems: list[ScriptError] = [self]
        super().__init__(f"{file or 'script'}:{line}:{column}: {message}")


class PromiseError(UsageError):
    """A promises file is wrong; `file` and `line`, counted from 1, say where."""

    def __init__(self, message: str, *, file: str, line: int) -> None:
        self.problem, self.file, self.line = message, file, line
        super().__init__(f"{file}:{line}: {message}")


class WrongAnswer(UsageError):
    """An answer to a question of the guide is invalid; the question stays open."""


class FileWriteError(UsageError, OSError):
    """A file cannot be written; `errno` is the number of the operating system's error."""

    def __init__(self, message: str, number: int | None = None) -> None:
        super().__init__(message)
        self.errno = number


class MissingExtra(UsageError, ImportError):
    """An optional package is missing; the message names the extra that installs it."""


class SystemFailed(DatamorphicError):
    """The system under test answered no query at all."""


class BadAnswer(DatamorphicError):
    """The system returned an invalid answer: wrong length, unhashable labels."""


class SystemRaised(DatamorphicError):
    """The system under test raised an exception in its own process."""


class SystemHung(DatamorphicError):
    """The system under test did not answer in time."""


class SystemDied(DatamorphicError):
    """The process of the system under test ended."""


MAX_ERROR_CHARACTERS = 500  # of the message of a foreign error, which may end with the remedy


def format_error_line(error: BaseException) -> str:
    """Return an error in one line: its type and the first line of its message."""
    if isinstance(error, DatamorphicError):
        return str(error)
    lines = to_text(error).strip().splitlines()
    if not lines:
        return type(error).__name__
    text = lines[0]
    if len(text) > MAX_ERROR_CHARACTERS:
        start = text[:MAX_ERROR_CHARACTERS]
        text = f"{start.rpartition(' ')[0] or start} ..."
    return f"{type(error).__name__}: {text}"


class OutOfBudget(DatamorphicError):
    """The budget is spent; a flow may catch this and return its result so far."""


class BudgetSpent(OutOfBudget):
    """No time or no runs are left, unlike in a run that the user interrupted."""


class Interrupted(OutOfBudget):
    """The user interrupted the run."""


class DatamorphicWarning(UserWarning):
    """Base class of all warnings of this package."""


class UnstoredRun(DatamorphicWarning):
    """The result is returned but not stored. Not issued any more: a run whose store failed is resumed."""


class AmbiguousData(DatamorphicWarning):
    """A column can be read in two ways; the message names the hint that decides."""


class IncompleteData(DatamorphicWarning):
    """Rows of a file were left out, or say less than they should; the message says which and why."""
