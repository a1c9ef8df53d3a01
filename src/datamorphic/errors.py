"""Everything datamorphic raises or warns about.

::

    DatamorphicError
    ├── UsageError             wrong use; the message says what was given, what is expected, the remedy
    │   ├── ArgumentError      an argument out of range or of the wrong type
    │   ├── SpaceError         a feature, a space or a constraint that cannot be
    │   ├── DataError          values that do not fit the space, files that do not hold data
    │   ├── TestSystemError    a marked function with the wrong shape or the wrong answer
    │   ├── ModelError         a model that cannot be asked: not fitted, other columns, unreadable
    │   │   └── UntrustedError a pickle, and nobody said to trust it
    │   ├── StoreError         a run store that cannot be opened, read or written
    │   └── MissingExtra       an optional package is not installed
    ├── SystemFailed           the system under test answers nothing at all
    ├── BadAnswer              the system under test gave an answer that is none (wrong length, unhashable)
    ├── SystemRaised           it raised, in a process of its own
    ├── SystemHung             it gave no answer in time
    ├── SystemDied             its process ended
    └── OutOfBudget            thrown into a flow whose budget is spent, so that it can return what it has
        └── Interrupted        the same when the user ended it

    DatamorphicWarning
    └── AmbiguousData          a column could be read in two ways; names the hint that settles it

The command line turns `UsageError` into exit code 2 and `SystemFailed` into 3.
"""

from __future__ import annotations


class DatamorphicError(Exception):
    """Base of every error of this package."""


class UsageError(DatamorphicError, ValueError):
    """Wrong use: something the caller can mend."""


class ArgumentError(UsageError):
    """An argument is out of range or of the wrong type."""


class SpaceError(UsageError):
    """A feature, space or constraint that cannot be."""


class DataError(UsageError):
    """Values that do not fit the space, or a file that does not hold data."""


class TestSystemError(UsageError):
    """A function of a test system has the wrong shape or gives the wrong kind of answer."""

    __test__ = False  # pytest: the name begins with "Test", the class is no test


class ModelError(UsageError):
    """A model that cannot be asked."""


class UntrustedError(ModelError):
    """Loading would run code from the file, and the caller did not say to trust it."""


class StoreError(UsageError):
    """A run store that cannot be opened, read or written."""


class MissingExtra(UsageError, ImportError):
    """An optional package is missing; the message names the extra that brings it."""


class SystemFailed(DatamorphicError):
    """The system under test answered nothing at all."""


class BadAnswer(DatamorphicError):
    """The system under test gave something that is no answer: wrong length, unhashable labels."""


class SystemRaised(DatamorphicError):
    """The system under test raised, in a process of its own; the message says what."""


class SystemHung(DatamorphicError):
    """The system under test gave no answer in time."""


class SystemDied(DatamorphicError):
    """The process of the system under test ended."""


def format_error_line(error: BaseException) -> str:
    """Return an error of a system in one line: its type and the first line of its message."""
    if isinstance(error, DatamorphicError):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


class OutOfBudget(DatamorphicError):
    """The budget is spent. A flow may catch this at its ``yield`` and return what it has."""


class Interrupted(OutOfBudget):
    """The user ended the run."""


class DatamorphicWarning(UserWarning):
    """Base of every warning of this package."""


class AmbiguousData(DatamorphicWarning):
    """A column could be read in two ways; the message names the hint that settles it."""
