"""`NumericProgram`: a function with its relations and its stored mutants."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, ClassVar, TypeVar

import numpy.typing as npt

from ..._lazy import pd
from ..._registry import CaseInsensitiveMapping
from ...errors import ArgumentError, DataError
from ...mutation.forge import load_module, read_program
from ...relations.algebra.box import Box
from ...relations.algebra.function import FunctionRelation

T = TypeVar("T")


@cache
def read_rows(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a CSV file in this folder."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


@dataclass(frozen=True)
class RelationErratum:
    """A relation that does not hold as printed, and how it is corrected here."""

    relation: str
    printed_text: str
    corrected_text: str
    reason: str


class SharedRelations(dict[str, FunctionRelation]):
    """Relations with one source domain; `left_out` maps other names to the reason."""

    left_out: dict[str, str]


@dataclass(frozen=True, eq=False, kw_only=True)
class NumericProgram:
    """A program of Ying (2024). Call it with one array per input.

    Examples
    --------
    >>> from datamorphic.data.programs import programs
    >>> tanh = programs["tanh"]
    >>> tanh, tanh.domain, list(tanh.relations)
    (Program('tanh'), Box((0, 1000)), ['tripling'])
    >>> tanh.mutants["emu10"]
    Mutant('tanh', 'emu10', CRP line 23: 1.0 -> 10.0)
    """

    is_vectorized: ClassVar[bool] = True  # takes whole arrays, so that many inputs cost little

    name: str  # in the thesis
    function: Callable[..., Any] = field(repr=False)  # of one array per input; returns an array of outputs
    domain: Box = field(repr=False)  # the limits of its inputs (Table 2 of the thesis)
    relations: Mapping[str, FunctionRelation] = field(repr=False)  # that must hold, with misprints corrected
    misprints: Mapping[str, FunctionRelation] = field(repr=False)  # that do not hold, as printed
    errata: tuple[RelationErratum, ...] = field(default=(), repr=False)  # the corrections

    @property
    def dimension(self) -> int:
        """The number of inputs."""
        return self.domain.dimension

    def __call__(self, *inputs: npt.ArrayLike) -> Any:
        """Return the outputs for arrays, one per input."""
        return self.function(*inputs)

    @cached_property
    def source(self) -> str:
        """The source text of its module."""
        return read_program(importlib.import_module(self.function.__module__)).text

    @cached_property
    def mutants(self) -> Mapping[str, NumericMutant]:
        """The mutants by id."""
        keys = ("id", "operator", "old", "new", "before", "after")
        rows = [row for row in read_rows("mutants.csv") if row["program"] == self.name]
        mutants = {row["id"]: NumericMutant.from_row(self, **{key: row[key] for key in keys}) for row in rows}
        return CaseInsensitiveMapping(f"mutant of {self.name}", mutants)

    @property
    def regions(self) -> pd.DataFrame:
        """The violation rate and the kind of region per mutant and relation, from `studies.program_regions`."""
        return self._region_table.copy()

    @cached_property
    def _region_table(self) -> pd.DataFrame:
        rows = [row for row in read_rows("regions.csv") if row["program"] == self.name]
        frame = pd.DataFrame(rows).drop(columns="program")
        return frame.astype(dict.fromkeys(["rate", "low", "high", "undefined"], float))

    def shared(self) -> SharedRelations:
        """Return the relations with the domain of the program as their source domain."""
        relations, left_out = SharedRelations(), {}
        for name, relation in self.relations.items():
            try:
                shared_relation = relation.over(self.domain)
                shared_relation.follow_domains()
                relations[name] = shared_relation
            except ArgumentError as error:
                left_out[name] = str(error)
        relations.left_out = left_out
        return relations

    def __repr__(self) -> str:
        return f"Program({self.name!r})"


@dataclass(frozen=True, eq=False, kw_only=True)
class NumericMutant:
    """A program with one line changed. Call it like the program.

    Its module is made from the source text of the program when it is first called.
    """

    is_vectorized: ClassVar[bool] = True

    program: str  # the name of the program
    id: str
    operator: str  # the mutation operator
    line: int  # the changed line, from 1
    before: str  # the changed expression
    after: str
    source: str = field(repr=False)  # the source text of the mutated module
    entry: str = field(repr=False)  # the name of the function in it
    owner: NumericProgram = field(repr=False)

    @property
    def name(self) -> str:
        """The names of program and mutant, for reports."""
        return f"{self.program}/{self.id}"

    @property
    def relations(self) -> Mapping[str, FunctionRelation]:
        """The relations of the program."""
        return self.owner.relations

    def shared(self) -> SharedRelations:
        """Return the relations of the program with one source domain."""
        return self.owner.shared()

    @classmethod
    def from_row(
        cls, program: NumericProgram, *, id: str, operator: str, old: str, new: str, before: str, after: str
    ) -> NumericMutant:
        """Return the mutant in which the line `old` is replaced by `new`."""
        lines = program.source.split("\n")
        places = [number for number, line in enumerate(lines) if line.strip() == old]
        if len(places) != 1:
            raise DataError(
                f"The mutant {id!r} changes the line {old!r} of {program.name}, which occurs {len(places)} times, not "
                "once. The source text of the program has changed: choose its mutants again."
            )
        place = places[0]
        lines[place] = lines[place].replace(old, new)
        return cls(
            program=program.name,
            id=id,
            operator=operator,
            line=place + 1,
            before=before,
            after=after,
            source="\n".join(lines),
            entry=program.function.__name__,
            owner=program,
        )

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The mutated function."""
        with load_module(self.source, self.entry) as module:
            function: Callable[..., Any] = getattr(module, self.entry)
        return function

    def __call__(self, *inputs: npt.ArrayLike) -> Any:
        """Return the outputs for arrays, one per input."""
        return self.function(*inputs)

    def __repr__(self) -> str:
        change = f"{self.operator} line {self.line}: {self.before} -> {self.after}"
        return f"Mutant({self.program!r}, {self.id!r}, {change})"
