"""The programs by name, built when first used."""

from __future__ import annotations

import copyreg
import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

from ..._registry import CaseInsensitiveMapping
from ...relations.algebra.box import Box
from . import relations
from .program import NumericMutant, NumericProgram

#: per program its module, the limits of its inputs (Ying 2024, Table 2), and their number
_PROGRAMS: dict[str, tuple[str, tuple[float, float], int]] = {
    "Sin": ("sin", (0, 1000), 1),
    "tanh": ("tanh", (0, 1000), 1),
    "Erf": ("erf", (0, 1000), 1),
    "BesselJ": ("besselj", (1, 100), 2),
    "BesselJ-Steed": ("besselj_steed", (1, 100), 2),
    "sncndn": ("sncndn", (0, 100), 2),
    "TriSquare": ("trisquare", (0, 100), 3),
    "TriSquarePlus": ("trisquareplus", (0, 100), 3),
    "rj": ("rj", (0, 100), 4),
    "PntLinePos": ("pntlinepos", (0, 100), 6),
}
_RELATION_ALIASES = {"tanh": {"tanh": "tripling"}}


@cache
def _build_program(name: str) -> NumericProgram:
    module, limits, dimension = _PROGRAMS[name]
    domain = Box.of([limits] * dimension)
    family = module.partition("_")[0]  # programs of the same function have the same relations
    make_misprints: Callable[[Box], Any] = getattr(relations, f"{family}_misprints", lambda domain: [])
    relations_by_name = {relation.name: relation for relation in getattr(relations, f"{family}_relations")(domain)}
    misprints_by_name = {relation.name: relation for relation in make_misprints(domain)}
    return NumericProgram(
        name=name,
        function=getattr(importlib.import_module(f".{module}", __package__), module),
        domain=domain,
        relations=CaseInsensitiveMapping(f"relation of {name}", relations_by_name, _RELATION_ALIASES.get(name)),
        misprints=CaseInsensitiveMapping(f"misprint of {name}", misprints_by_name),
        errata=getattr(relations, f"{family.upper()}_ERRATA", ()),
    )


class Programs(CaseInsensitiveMapping[NumericProgram]):
    """The programs by name, whatever the case of its letters.

    Examples
    --------
    >>> programs["SIN"].relations["Sin13"].statement
    'a third of the angle: S1 = 3 S2 - 4 S2^3'
    """

    def __init__(self) -> None:
        super().__init__("program", _PROGRAMS)

    def __getitem__(self, name: str) -> NumericProgram:
        return _build_program(self.find_name(name))


programs = Programs()


def load_program(name: str) -> NumericProgram:
    """Return a program by its name."""
    return programs[name]


def load_mutant(program: str, mutant: str) -> NumericMutant:
    """Return a mutant by the name of its program and its id."""
    return programs[program].mutants[mutant]


# Programs are pickled by name, because the functions of their relations cannot be pickled.
copyreg.pickle(NumericProgram, lambda program: (load_program, (program.name,)))
copyreg.pickle(NumericMutant, lambda mutant: (load_mutant, (mutant.program, mutant.id)))
