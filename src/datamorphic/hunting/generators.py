"""The generators by name."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from .._text import suggest_name
from ..errors import ArgumentError
from ..relations.algebra.function import FunctionRelation
from .candidate_generators import SearchBased, TestProfile
from .distance_generators import FSCS, RRT, SFIDMT, EdgeCentre, MetamorphicDistance, MTARTAvg, MTARTMax, MTARTMin
from .generator_base import DomainLike, Generator, GeneratorLike
from .partition_generators import BART, IPART, MTBART, MTIPART, MTRPART, RPART, SFIDMTBART
from .random_generators import MTRT, Halton, Sobol

OF_GROUPS = (MTRT, MTARTMin, MTARTAvg, MTARTMax, SFIDMT, MTBART, MTIPART, MTRPART, SFIDMTBART, TestProfile, SearchBased)
OF_INPUTS = (FSCS, EdgeCentre, MetamorphicDistance, RRT, RPART, BART, IPART, Sobol, Halton)
GENERATORS: dict[str, type[Generator]] = {
    generator_class.name: generator_class for generator_class in (*OF_GROUPS, *OF_INPUTS)
}
#: other names, and variants as a name with options
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "RT": ("MT-RT", {}),
    "FSCS": ("FSCS-ART", {}),
    "SFIDMT-ART-joint": ("SFIDMT-ART", {"joint": True}),
    **{f"MT-ART-{criterion}-2": (f"MT-ART-{criterion}", {"strategy": 2}) for criterion in ("Min", "Avg", "Max")},
}


def find_generator(name: GeneratorLike) -> tuple[type[Generator], dict[str, Any]]:
    """Return the class of a generator and the options that its name implies.

    Case, hyphens and spaces in the name do not matter.
    """
    if isinstance(name, type) and issubclass(name, Generator):
        return name, {}
    names = [*GENERATORS, *VARIANTS]
    known = {_normalise_name(known): known for known in names}.get(_normalise_name(str(name)))
    if known is None:
        raise ArgumentError(f"There is no generator {name!r}. {suggest_name(str(name), names)}")
    base_name, options = VARIANTS.get(known, (known, {}))
    return GENERATORS[base_name], dict(options)


def make_generator(name: GeneratorLike, relation: FunctionRelation | DomainLike, **options: Any) -> Generator:
    """Return a generator by its name."""
    generator_class, implied_options = find_generator(name)
    validate_options(generator_class, options)
    return generator_class(relation, **{**implied_options, **options})


def validate_options(kind: type, options: Iterable[str]) -> None:
    """Raise `ArgumentError` for an option that the class does not have."""
    known = {
        name
        for base_class in kind.__mro__
        for name, parameter in inspect.signature(base_class.__init__).parameters.items()  # type: ignore[misc]
        if parameter.kind == parameter.KEYWORD_ONLY
    }
    for name in options:
        if name not in known:
            raise ArgumentError(
                f"{kind.name} has no option {name!r}. {suggest_name(name, sorted(known))}"  # type: ignore[attr-defined]
            )


def _normalise_name(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum() or character == "+")
