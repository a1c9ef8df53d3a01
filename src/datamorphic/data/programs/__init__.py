"""Ten numeric programs with their relations and mutants, after Ying (2024)."""

from __future__ import annotations

from .program import NumericMutant, NumericProgram, RelationErratum, SharedRelations
from .registry import Programs, programs

__all__ = ["NumericMutant", "NumericProgram", "Programs", "RelationErratum", "SharedRelations", "programs"]
