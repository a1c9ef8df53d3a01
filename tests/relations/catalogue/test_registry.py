"""Relations that users name or pass."""

import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.relations.catalogue.credit import CREDIT_RELATIONS
from datamorphic.relations.catalogue.predictor import PREDICTOR_RELATIONS, RowOrder
from datamorphic.relations.catalogue.registry import RELATIONS, find_relation, resolve_relations
from datamorphic.relations.learners.clusterers import CLUSTER_RELATIONS
from datamorphic.relations.learners.sklearn import LEARNER_RELATIONS


def test_all_relations_are_registered_by_name():
    assert list(RELATIONS) == [*PREDICTOR_RELATIONS, *LEARNER_RELATIONS, *CLUSTER_RELATIONS, *CREDIT_RELATIONS]
    assert all(relation.name == name for name, relation in RELATIONS.items())


def test_names_classes_and_objects_are_resolved():
    own = dm.invariant("gender")
    first, second, third = resolve_relations(["MR-1.1", RowOrder, own], "relations", "check")
    assert first is LEARNER_RELATIONS["MR-1.1"]
    assert isinstance(second, RowOrder)
    assert third is own


def test_dicts_of_relations_are_resolved_alone_and_among_others():
    search = dm.relations.search_relations()
    assert resolve_relations(search, "relations", "check") == list(search.values())
    assert resolve_relations([search, "MR-0"], "relations", "check") == [*search.values(), LEARNER_RELATIONS["MR-0"]]
    with pytest.raises(ArgumentError, match="at least one relation"):
        resolve_relations({}, "relations", "check")


@pytest.mark.parametrize(
    ("request_", "message"),
    [("MR-9.9", "There is no relation 'MR-9.9'"), ([], "at least one relation"), (3, "'auto', a relation")],
)
def test_invalid_requests_are_rejected(request_, message):
    with pytest.raises(ArgumentError, match=message):
        resolve_relations(request_, "relations", "check", "'auto', ")


def test_relations_of_the_system_under_test_come_first():
    own = {"row order": RowOrder()}
    (relation,) = resolve_relations("row order", "relations", "mutate", own_relations=own)
    assert relation is own["row order"]
    with pytest.raises(ArgumentError, match="Did you mean 'tripling'"):
        resolve_relations("triplin", "relations", "check", own_relations=dm.programs["tanh"].relations)


def test_relations_of_texts_and_images_are_found_by_name_and_column():
    (relation,) = resolve_relations("text.typo of review", "relations", "check")
    assert (relation.name, relation.input.column) == ("text.typo of review", "review")
    assert find_relation("text.typo").input.column == "text"
    assert find_relation("image.flip left-right").necessary  # whoever chooses it declares that it does not matter
    assert find_relation("sequence.warp of pulse").input.column == "pulse"
    assert find_relation("text.colour") is None
    with pytest.raises(ArgumentError, match=r"Did you mean 'text\.typo'"):
        resolve_relations("text.typos", "relations", "check")
