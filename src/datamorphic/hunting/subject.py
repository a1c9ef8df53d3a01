"""`HuntSubject`: what is hunted, and the relations that were requested."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .._typing import ModelLike
from .._validation import reject
from ..errors import ArgumentError
from ..morphisms.subject import SubjectUnderTest
from ..relations.base import MetamorphicRelation
from ..relations.function import FunctionRelation
from ..relations.registry import find_relation
from ..space.space import Space

#: a relation, its class, or the name of a relation of the system under test
RelationLike: TypeAlias = MetamorphicRelation | type[MetamorphicRelation] | str
#: one relation or several; None for all relations of the system under test
RelationsLike: TypeAlias = RelationLike | Collection[RelationLike] | Mapping[str, RelationLike] | None


@dataclass(frozen=True, eq=False)
class HuntSubject:
    """What is hunted: a system with a space, a function, or a learner."""

    model: ModelLike
    relations: Sequence[RelationLike]
    system: SubjectUnderTest | None = None  # None for functions and learners
    is_learner: bool = False

    @property
    def name(self) -> str:
        """What reports call it."""
        if self.system is not None:
            return self.system.name
        names = [getattr(self.model, name, None) for name in ("name", "__name__")]
        return next((str(name) for name in names if name), type(self.model).__name__)

    @property
    def space(self) -> Space | None:
        """The space of the inputs, if it has one."""
        return None if self.system is None else self.system.seeds.space


def list_relations(model: ModelLike, relations: RelationsLike) -> list[RelationLike]:
    """Return the requested relations one by one, classes as objects, and names of registered relations of models resolved."""
    own_relations: Mapping[str, FunctionRelation] = getattr(model, "relations", None) or {}
    items: list[RelationLike]
    if relations is None:
        if not own_relations:
            raise ArgumentError(
                "hunt() got no relations. Give those that must hold: hunt(function, relation). Make one with "
                "dm.FunctionRelation, or use those of a program in dm.programs."
            )
        items = list(own_relations)
    elif isinstance(relations, Mapping):
        items = list(relations.values())
    elif isinstance(relations, list | tuple | set | frozenset):
        items = list(relations)
    else:
        items = [relations]  # type: ignore[list-item]
    if not items:
        reject("relations", "hunt", "at least one relation", relations)
    return [
        item() if isinstance(item, type) and issubclass(item, MetamorphicRelation) else item
        for item in (
            find_relation(item) or item if isinstance(item, str) and item not in own_relations else item
            for item in items
        )
    ]
