"""All relations by name, and the relations that users name or pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from .._text import suggest_name
from .._validation import reject
from ..errors import ArgumentError
from .base import Relation
from .clusterer.relations import CLUSTER_RELATIONS
from .credit import CREDIT_RELATIONS
from .learner.base import LearnerRelation
from .learner.sklearn import LEARNER_RELATIONS
from .predictor import PREDICTOR_RELATIONS

AnyRelation: TypeAlias = Relation | LearnerRelation
RelationLike: TypeAlias = str | AnyRelation | type[Relation] | type[LearnerRelation]
RelationsLike: TypeAlias = RelationLike | Collection[RelationLike] | Mapping[str, RelationLike]
LearnerRelationLike: TypeAlias = str | LearnerRelation | type[LearnerRelation]
LearnerRelationsLike: TypeAlias = LearnerRelationLike | Collection[LearnerRelationLike]

RELATIONS: dict[str, AnyRelation] = {
    **PREDICTOR_RELATIONS,
    **LEARNER_RELATIONS,
    **CLUSTER_RELATIONS,
    **CREDIT_RELATIONS,
}


def resolve_relations(request: RelationsLike | None, argument: str, owner: str, words: str = "") -> list[AnyRelation]:
    """Return the relations that a user named or passed.

    `argument` and `owner` are the argument and the public function that messages name, `words` the other values that the
    argument accepts, such as ``"'auto', "``.
    """
    return _resolve(request, RELATIONS, AnyRelation, argument, owner, f"{words}a relation")


def resolve_learner_relations(
    request: LearnerRelationsLike, argument: str, owner: str, words: str = ""
) -> list[LearnerRelation]:
    """Return the relations of learners that a user named or passed."""
    return _resolve(
        request,
        LEARNER_RELATIONS | CLUSTER_RELATIONS,
        LearnerRelation,
        argument,
        owner,
        f"{words}a relation of learners",
    )


def _resolve(request: object, known: Mapping[str, Any], kind: Any, argument: str, owner: str, noun: str) -> list[Any]:
    """Return relations by their names, from their classes, or as they are."""
    groups = list(request) if isinstance(request, list | tuple | set | frozenset) else [request]
    items: list[Any] = []
    for group in groups:
        items += group.values() if isinstance(group, Mapping) else [group]  # such as dm.search_relations()
    if not items:
        reject(argument, owner, "at least one relation", request)
    relations = []
    for item in items:
        if isinstance(item, str) and item not in known:
            raise ArgumentError(f"There is no relation {item!r}. {suggest_name(item, known)}")
        relation = known[item] if isinstance(item, str) else item
        if isinstance(item, type) and issubclass(item, AnyRelation):
            relation = item()
        if not isinstance(relation, kind):
            reject(argument, owner, f"{noun}, the name of one, or several of these", relation)
        relations.append(relation)
    return relations
