"""All relations by name, and the relations that users name or pass."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from .._text import suggest_name
from .._validation import reject
from ..errors import ArgumentError
from .base import Relation
from .learner.base import LearnerRelation
from .learner.sklearn import LEARNER_RELATIONS
from .predictor import PREDICTOR_RELATIONS

AnyRelation: TypeAlias = Relation | LearnerRelation
RelationLike: TypeAlias = str | AnyRelation | type[Relation] | type[LearnerRelation]
RelationsLike: TypeAlias = RelationLike | Collection[RelationLike]
LearnerRelationLike: TypeAlias = str | LearnerRelation | type[LearnerRelation]
LearnerRelationsLike: TypeAlias = LearnerRelationLike | Collection[LearnerRelationLike]

RELATIONS: dict[str, AnyRelation] = {**PREDICTOR_RELATIONS, **LEARNER_RELATIONS}


def resolve_relations(request: RelationsLike | None, argument: str, owner: str, words: str = "") -> list[AnyRelation]:
    """Return the relations that a user named or passed.

    `argument` and `owner` are the argument and the public function that messages name, `words` the other values that the
    argument accepts, such as ``"'auto', "``.
    """
    relations = [_resolve(item, RELATIONS) for item in _list_items(request, argument, owner)]
    for relation in relations:
        if not isinstance(relation, AnyRelation):
            reject(argument, owner, f"{words}a relation, the name of one, or several of these", relation)
    return [relation for relation in relations if isinstance(relation, AnyRelation)]


def resolve_learner_relations(
    request: LearnerRelationsLike, argument: str, owner: str, words: str = ""
) -> list[LearnerRelation]:
    """Return the relations of learners that a user named or passed."""
    relations = [_resolve(item, LEARNER_RELATIONS) for item in _list_items(request, argument, owner)]
    for relation in relations:
        if not isinstance(relation, LearnerRelation):
            reject(argument, owner, f"{words}a relation of learners, the name of one, or several of these", relation)
    return [relation for relation in relations if isinstance(relation, LearnerRelation)]


def _list_items(request: object, argument: str, owner: str) -> list[object]:
    items = list(request) if isinstance(request, list | tuple | set | frozenset) else [request]
    if not items:
        reject(argument, owner, "at least one relation", request)
    return items


def _resolve(item: object, known: dict[str, AnyRelation] | dict[str, LearnerRelation]) -> object:
    """Return a relation by its name or from its class; anything else as it is."""
    if isinstance(item, str):
        if item not in known:
            raise ArgumentError(f"There is no relation {item!r}. {suggest_name(item, known)}")
        return known[item]
    return item() if isinstance(item, type) and issubclass(item, AnyRelation) else item
