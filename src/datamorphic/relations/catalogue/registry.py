"""All relations by name, and the relations that users name or pass."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from ..._text import suggest_name
from ..._validation import reject
from ...errors import ArgumentError
from ..algebra.base import MetamorphicRelation, Relation
from ..learners.clusterers import CLUSTER_RELATIONS
from ..learners.sklearn import LEARNER_RELATIONS
from .audio import audio_relations
from .credit import CREDIT_RELATIONS
from .image import FLIPS, image_relations, sequence_relations
from .predictor import PREDICTOR_RELATIONS
from .text import text_relations

RelationLike: TypeAlias = str | MetamorphicRelation | type[MetamorphicRelation]
RelationsLike: TypeAlias = RelationLike | Collection[RelationLike] | Mapping[str, RelationLike]

RELATIONS: dict[str, MetamorphicRelation] = {
    **PREDICTOR_RELATIONS,
    **LEARNER_RELATIONS,
    **CLUSTER_RELATIONS,
    **CREDIT_RELATIONS,
}

#: what builds the relations of texts, images, sequences and sounds, by the beginning of their names, which is the name of all of them
FAMILIES: dict[str, Callable[..., Mapping[str, Relation]]] = {
    "text": text_relations,
    "image": image_relations,
    "sequence": sequence_relations,
    "audio": audio_relations,
}
#: the same with relations that must be chosen by their own names
CHOSEN_BY_NAME = FAMILIES | {"image": lambda **options: image_relations(flips=FLIPS, **options)}
COLUMN_MARK = " of "  # before the column in a name: "text.letter case of review"


def find_relation(name: str) -> MetamorphicRelation | None:
    """Return the relation with a name; None if there is none.

    Relations of texts, images, sequences and sounds may name their column. By default texts are in the column "text", and all images,
    sequences and sounds are changed.

    Examples
    --------
    >>> find_relation("text.letter case of review").name, find_relation("image.noise").name
    ('text.letter case of review', 'image.noise')
    """
    if name in RELATIONS:
        return RELATIONS[name]
    short_name, _, column = name.partition(COLUMN_MARK)
    build = CHOSEN_BY_NAME.get(short_name.partition(".")[0])
    relation = None if build is None else build(**({"column": column} if column else {})).get(short_name)
    if relation is not None and column:
        relation = copy.copy(relation)
        relation.name = name
    return relation


def resolve_relations(
    request: RelationsLike | None, argument: str, owner: str, words: str = "", own_relations: object = None
) -> list[MetamorphicRelation]:
    """Return the relations that a user named, as objects or classes or by name.

    `argument` and `owner` are the argument and the public function that messages name, `words` the other values that the
    argument accepts, such as ``"'auto', "``. `own_relations` are those of the system under test by name, if it has any.
    """
    groups = list(request) if isinstance(request, list | tuple | set | frozenset) else [request]
    known = own_relations if isinstance(own_relations, Mapping) else {}
    items: list[Any] = []
    for group in groups:
        if isinstance(group, str) and group in FAMILIES and group not in known:
            group = FAMILIES[group]()
        if isinstance(group, Mapping):  # such as dm.relations.search_relations()
            group = list(group.values())
        items += group if isinstance(group, list | tuple) else [group]  # a name may stand for a list of a module
    if not items:
        reject(argument, owner, "at least one relation", request)
    relations = []
    for item in items:
        relation = item
        if isinstance(item, str):
            relation = known[item] if item in known else find_relation(item)
            if relation is None:
                names = [*known, *RELATIONS, *(name for build in CHOSEN_BY_NAME.values() for name in build())]
                raise ArgumentError(f"There is no relation {item!r}. {suggest_name(item, names)}")
        elif isinstance(item, type) and issubclass(item, MetamorphicRelation):
            relation = item()
        if not isinstance(relation, MetamorphicRelation):
            reject(argument, owner, f"{words}a relation, the name of one, or several of these", relation)
        relations.append(relation)
    return relations
