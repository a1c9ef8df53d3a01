"""`MetamorphicRelation`: what all relations have in common, and names of earlier versions."""

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.relations.algebra.base import MetamorphicRelation


@pytest.mark.parametrize("kind", [dm.Relation, dm.FunctionRelation, dm.LearnerRelation, dm.ClusterRelation])
def test_every_kind_of_relation_is_a_metamorphic_relation(kind):
    assert issubclass(kind, MetamorphicRelation)


def test_a_class_with_names_of_earlier_versions_works_and_warns():
    with pytest.warns(DeprecationWarning, match="deprecated") as caught:

        class Mirrored(dm.Relation):
            name = "mirrored"
            says = "the sign of x: the same answer"

            def why_not(self, sut, inputs):
                return super().why_not(sut, inputs) or "never"

    messages = [str(warning.message) for warning in caught]
    assert messages == [
        "Mirrored.says is deprecated since datamorphic 0.2. Call it statement.",
        "Mirrored.why_not is deprecated since datamorphic 0.2. Call it find_obstacle.",
    ]
    relation = Mirrored()
    assert relation.statement == "the sign of x: the same answer"
    with pytest.warns(DeprecationWarning, match="Use find_obstacle"):
        assert relation.find_obstacle(None, None) == "never"
    with pytest.warns(DeprecationWarning, match="Use find_obstacle"):
        assert relation.why_not(None, None) == "never"
    with pytest.warns(DeprecationWarning, match="Use statement"):
        assert relation.says == relation.statement


def test_a_statement_that_is_set_under_its_old_name():
    class Silent(dm.Relation):
        name = "silent"

        def __init__(self):
            with pytest.warns(DeprecationWarning, match="Set statement"):
                self.says = "nothing: nothing"

    assert Silent().statement == "nothing: nothing"


def test_old_keywords_of_a_function_relation():
    with pytest.warns(DeprecationWarning, match="Use '(statement|make_inputs)'"):
        relation = dm.FunctionRelation(
            name="old", domain=(1, 2), follow_up=lambda x: -x, says="a: b", given=lambda x: 10 * x
        )
    assert relation.statement == "a: b"
    assert relation.source_inputs(np.array([[1.5]]))[0].tolist() == [[15.0]]
    with pytest.warns(DeprecationWarning, match="Use make_inputs"):
        assert relation.given is relation.make_inputs


def test_old_keyword_of_a_pattern_relation():
    relation = dm.patterns["Symmetric"].input(columns=("x",)) >> dm.patterns["Equality"].output()
    with pytest.warns(DeprecationWarning, match="'says' of PatternRelation.named"):
        assert relation.named("even", says="a: b").statement == "a: b"
