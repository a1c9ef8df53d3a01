"""Options: what a capability can be told, declared once.

The options of a capability are a frozen dataclass. Each field carries an `Option` that says what its value means::

    @dataclass(frozen=True, eq=False)
    class DrawOptions(Options):
        model: Annotated[ModelLike, Option("The model.")]
        rows: Annotated[int, Option("The number of rows.", "N", low=0)] = 1000

Everything else is made from these fields: the signature and the documentation of the public function, the validation, the
options of the command, the forms of the studio, and what a run store keeps to compare when the run is resumed.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass
from typing import Any, ClassVar

from .._text import to_jsonable
from .._typing import describe_type, is_accepted, list_alternatives
from .._validation import is_integer, is_number, reject
from ..space.table_forms import read_table_argument, takes_tables

#: groups of options in the help of a command
COLUMNS_PANEL = "Columns of the data"
COMPUTING_PANEL = "Computing and keeping runs"
FILES_PANEL = "Files to write"


@dataclass(frozen=True)
class Option:
    """What the value of a field means, and what it may be.

    `text` is for people: the first sentence is the help of the command, the rest is for the documentation of Python only.
    Numbers are within [`low`, `high`], or strictly between `above` and `below`; `expected` says the limits in other words.

    On the command line the option is called `flag` (by default like the field), its value is shown as `metavar`, and `parse`
    makes the value of the field from the text, or from the texts if it is `repeatable`. An option without a metavar is a
    flag if its value is a bool, or if it says which value the flag stands for, and is not offered there otherwise.
    """

    text: str
    metavar: str = ""
    _: KW_ONLY
    choices: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()  # values that a shell offers, if others are accepted, too
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    expected: str = ""
    flag: str = ""  # "published/--fair" are two flags, for True and False
    help: str = ""  # the help of the command, if the first sentence of the text does not suit
    parse: Callable[[Any], Any] | None = None
    repeatable: bool = False
    flag_value: Any = None  # what the flag stands for, if not True: ``--no-shrink`` stands for False
    value_type: type | None = None  # of the value on the command line, if the field takes other types, too
    on_command_line: bool = True
    stored: bool = True  # kept with a run, and compared when it is resumed
    stored_as: str = ""  # the key of the stored request, if the field was called differently in earlier versions
    former_names: tuple[str, ...] = ()  # still accepted, with a warning
    former_flag: str = ""
    collects_keywords: bool = False  # a mapping that also takes the keywords of a call that are no options
    panel: str | None = None
    label: str = ""  # in forms, if the name does not suit

    @property
    def command_help(self) -> str:
        """What the help of the command says."""
        return self.help or self.text

    def validate(self, name: str, owner: str, hint: Any, value: object) -> None:
        """Raise `ArgumentError` if the value is of another type than `hint`, or outside of the limits."""
        if not is_accepted(hint, value):
            reject(name, owner, self.describe(hint), value)
        if value is None:
            return
        if self.choices and value not in self.choices:
            reject(name, owner, self.describe(hint), value)
        if is_number(value) or is_integer(value):  # some integers are too large for a float
            is_low = (self.low is not None and value < self.low) or (self.above is not None and value <= self.above)
            is_high = (self.high is not None and value > self.high) or (self.below is not None and value >= self.below)
            if is_low or is_high:
                reject(name, owner, self.describe(hint), value)

    def describe(self, hint: Any) -> str:
        """Return what a value must be, in words."""
        if self.expected:
            return self.expected
        if self.choices:
            return "one of " + ", ".join(map(repr, self.choices))
        if int in list_alternatives(hint) and (self.low, self.high) != (None, None):
            end = "inf)" if self.high is None else f"{self.high:,.0f}]"
            return f"an int in the range [{self.low:g}, {end}"
        if self.above is not None and self.below is self.high is None:
            return f"a finite number above {self.above:g}"
        return describe_type(hint)


@dataclass(frozen=True, eq=False, kw_only=True)
class Options:
    """The options of one capability, validated; see the module."""

    OWNER: ClassVar[str] = ""  # the public function, for messages
    #: all options that can be given by position, if shared ones are among them: type checkers want keywords for those
    POSITIONAL: ClassVar[tuple[str, ...]] = ()

    #: the command line that does the same, and what it was called with; empty for a call in Python
    command: str = dataclasses.field(init=False, default="")
    words: Mapping[str, Any] = dataclasses.field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        fields = list_fields(type(self))
        for field in fields:  # before the others are looked at: what is wrong with the data is said first
            value = getattr(self, field.name)
            if field.takes_tables and value is not field.default:
                self.set(**{field.name: field.read_table(value)})
        for field in fields:
            field.option.validate(field.name, self.OWNER, field.hint, getattr(self, field.name))
        self.validate()

    def validate(self) -> None:
        """Raise `ArgumentError` if options contradict each other; subclasses say when."""

    def set(self, **values: Any) -> None:
        """Replace values by their normal form, while the options are validated."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options, to compare with when the run is resumed."""
        return {
            field.option.stored_as or field.name: to_jsonable(getattr(self, field.name))
            for field in list_fields(type(self))
            if field.option.stored
        }


@dataclass(frozen=True, eq=False)
class OptionField:
    """A field of an option class: its name, type and default, and its `Option`."""

    name: str
    hint: Any  # the type, without `Annotated`
    default: Any  # `MISSING` if it is required
    keyword_only: bool
    option: Option

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return f"--{self.option.flag or self.name.replace('_', '-')}"

    @property
    def is_flag(self) -> bool:
        """Whether the option has no value on the command line."""
        return self.hint is bool or self.option.flag_value is not None or "/" in self.option.flag

    @functools.cached_property
    def takes_tables(self) -> bool:
        """Whether the value may be a table, in any form."""
        return takes_tables(self.hint)

    def read_table(self, value: Any) -> Any:
        """Return a table as NumPy and pandas have it; other texts and paths that the field takes stay as they are."""
        return read_table_argument(self.hint, value, takes_texts=str in list_alternatives(self.hint))


def list_fields(options: type[Options]) -> tuple[OptionField, ...]:
    """Return the fields of an option class that users set: positional ones first, then its own before those it shares."""
    return _read_fields(typing.cast(Any, options))


@functools.cache
def _read_fields(options: Any) -> tuple[OptionField, ...]:
    hints = typing.get_type_hints(options, include_extras=True)
    places = {
        name: place for place, base in enumerate(options.__mro__) for name in getattr(base, "__annotations__", ())
    }
    listed_fields = []
    for field in dataclasses.fields(options):
        if not field.init:
            continue
        hint = hints[field.name]
        option = next((item for item in getattr(hint, "__metadata__", ()) if isinstance(item, Option)), None)
        if option is None:
            raise TypeError(f"{options.__name__}.{field.name} has no Option.")
        default = field.default if field.default_factory is MISSING else field.default_factory()
        keyword_only = field.name not in options.POSITIONAL if options.POSITIONAL else bool(field.kw_only)
        listed_fields.append(OptionField(field.name, _drop_option(hint), default, keyword_only, option))
    positions = {name: place for place, name in enumerate(options.POSITIONAL)}
    return tuple(
        sorted(
            listed_fields,
            key=lambda field: (
                (True, places[field.name]) if field.keyword_only else (False, positions.get(field.name, 0))
            ),
        )
    )


def _drop_option(hint: Any) -> Any:
    """Return the type that an `Option` annotates; what else annotates it stays."""
    others = tuple(item for item in hint.__metadata__ if not isinstance(item, Option))
    return typing.Annotated[(hint.__origin__, *others)] if others else hint.__origin__


def find_former_names(options: type[Options]) -> dict[str, str]:
    """Return the names that options had in earlier versions, with those of today; own options come before shared ones."""
    names: dict[str, str] = {}
    for field in list_fields(options):
        for former_name in field.option.former_names:
            names.setdefault(former_name, field.name)
    return {former_name: name for former_name, name in names.items() if former_name not in _list_names(options)}


def _list_names(options: type[Options]) -> set[str]:
    return {field.name for field in list_fields(options)}
