"""`Program`: a function that is tested, with what is promised of it and with its mutants."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError, DataError
from ...mutation.forge import load_module, read_program
from ...relations.box import Box
from ...relations.function import FunctionRelation
from ..names import CaseInsensitiveMapping
from . import stored

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RelationErratum:
    """A relation that does not hold as the document prints it, and how it is mended here."""

    relation: str
    printed_text: str
    corrected_text: str
    reason: str


class SharedRelations(dict[str, FunctionRelation]):
    """Relations that draw from one source domain; `left_out` tells which cannot, and why."""

    left_out: dict[str, str]


@dataclass(frozen=True, eq=False)
class NumericProgram:
    """A program of document 002: call it with one array for each input.

    Attributes
    ----------
    name : str
        As in the document.
    function : callable
        From arrays, one for each input, to an array of answers.
    domain : Box
        Between which limits its inputs lie (Table 2 of the document).
    relations : Mapping of str to FunctionRelation
        What is promised of it (the appendix), mended where the document is wrong.
    misprints : Mapping of str to FunctionRelation
        The relations that do not hold, as they are printed.
    errata : tuple of Erratum
        What is wrong with these.

    Examples
    --------
    >>> from datamorphic.data.programs import programs
    >>> tanh = programs["tanh"]
    >>> tanh, tanh.domain, list(tanh.relations)
    (Program('tanh'), Box((0, 1000)), ['tripling'])
    >>> tanh.mutants["emu10"]
    Mutant('tanh', 'emu10', CRP line 23: 1.0 -> 10.0)
    """

    name: str
    function: Callable[..., Any] = field(repr=False)
    domain: Box = field(repr=False)
    relations: Mapping[str, FunctionRelation] = field(repr=False)
    misprints: Mapping[str, FunctionRelation] = field(repr=False)
    errata: tuple[RelationErratum, ...] = field(default=(), repr=False)

    @property
    def dimension(self) -> int:
        """How many inputs it has."""
        return self.domain.dimension

    def __call__(self, *inputs: Any) -> Any:
        """Return what it answers to arrays, one for each input."""
        return self.function(*inputs)

    @cached_property
    def source(self) -> str:
        """The text of its module."""
        return read_program(importlib.import_module(self.function.__module__)).text

    @cached_property
    def mutants(self) -> Mapping[str, NumericMutant]:
        """Its mutants by id."""
        mutants = {
            row["id"]: NumericMutant.from_row(
                self, **{key: row[key] for key in ("id", "operator", "old", "new", "before", "after")}
            )
            for row in stored.read_rows("mutants.csv")
            if row["program"] == self.name
        }
        return CaseInsensitiveMapping(f"mutant of {self.name}", mutants)

    @property
    def regions(self) -> pd.DataFrame:
        """How often each mutant breaks each relation, and where: see `measure_regions`, which makes this table."""
        return stored.read_regions(self.name)

    def shared(self) -> SharedRelations:
        """Return the relations with the domain of the program as their one source domain ("image")."""
        relations, left_out = SharedRelations(), {}
        for name, relation in self.relations.items():
            try:
                relations[name] = relation.over(self.domain)
                relations[name].follow_domains()
            except ArgumentError as error:
                relations.pop(name, None)
                left_out[name] = str(error)
        relations.left_out = left_out
        return relations

    def __repr__(self) -> str:
        return f"Program({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_program, (self.name,)


@dataclass(frozen=True, eq=False)
class NumericMutant:
    """A program with one place changed: call it like the program.

    It is made of the text of the program, in which one line becomes another, when it is first called.
    """

    program: str
    id: str
    operator: str
    line: int
    before: str
    after: str
    source: str = field(repr=False)
    entry: str = field(repr=False)  # the name of the function in the text

    @property
    def name(self) -> str:
        """What it is called in reports: program and mutant."""
        return f"{self.program}/{self.id}"

    @property
    def relations(self) -> Mapping[str, FunctionRelation]:
        """The relations of its program."""
        return _load_program(self.program).relations

    def shared(self) -> SharedRelations:
        """Return the relations of its program on one source domain."""
        return _load_program(self.program).shared()

    @classmethod
    def from_row(
        cls, program: NumericProgram, *, id: str, operator: str, old: str, new: str, before: str, after: str
    ) -> NumericMutant:
        """Return the mutant whose line `old` is `new`."""
        lines = program.source.split("\n")
        places = [number for number, line in enumerate(lines) if line.strip() == old]
        if len(places) != 1:
            raise DataError(
                f"The mutant {id!r} changes the line {old!r} of {program.name}, which is there {len(places)} times. "
                "The text of the program has changed: choose its mutants again."
            )
        place = places[0]
        lines[place] = lines[place].replace(old, new)
        entry = program.function.__name__
        return cls(program.name, id, operator, place + 1, before, after, "\n".join(lines), entry)

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The mutated function."""
        with load_module(self.source, self.entry) as module:
            function: Callable[..., Any] = getattr(module, self.entry)
        return function

    def __call__(self, *inputs: Any) -> Any:
        """Return what it answers to arrays, one for each input."""
        return self.function(*inputs)

    def __repr__(self) -> str:
        change = f"{self.operator} line {self.line}: {self.before} -> {self.after}"
        return f"Mutant({self.program!r}, {self.id!r}, {change})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_program, (self.program, self.id)


def _load_program(program: str, mutant: str = "") -> Any:
    """Return a program or a mutant by name: that is how they go to other processes."""
    from . import programs

    loaded = programs[program]
    return loaded.mutants[mutant] if mutant else loaded
