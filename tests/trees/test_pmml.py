"""PMML: trees as other tools write them, trees written and read back, and files that are none."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from datamorphic.errors import DataError, ModelError, UsageError
from datamorphic.trees.coverage.run import cover
from datamorphic.trees.pmml import document as pmml_document
from datamorphic.trees.pmml.files import read_pmml
from datamorphic.trees.read import read_forest
from datamorphic.trees.rules import format_rule
from datamorphic.trees.write import write_pmml
from support.cases import in_one_test
from support.tree_rows import make_rows, seen

FIELDS = """
<DataField name="x" optype="continuous" dataType="double"/>
<DataField name="town" optype="categorical" dataType="string"><Value value="Oslo"/><Value value="Le Havre"/><Value value="Bonn"/></DataField>
<DataField name="n" optype="continuous" dataType="integer"/>
<DataField name="y" optype="categorical" dataType="{label}"/>
"""
SCHEMA = """<MiningSchema><MiningField name="x"/><MiningField name="town"/><MiningField name="n"/>
<MiningField name="y" usageType="target"/></MiningSchema>"""


def document(model, label="string", fields=FIELDS, version="4.4"):
    return f"""<?xml version="1.0"?>
<PMML version="{version}" xmlns="http://www.dmg.org/PMML-{version.replace(".", "_")}"><Header/>
<DataDictionary>{fields.replace("{label}", label)}</DataDictionary>{model}</PMML>"""


def tree(nodes, attributes="", function="classification", schema=SCHEMA):
    return f'<TreeModel functionName="{function}" {attributes}>{schema}<Node id="0" score="a"><True/>{nodes}</Node></TreeModel>'


def leaf(score, predicate, name=""):
    return f'<Node score="{score}" id="{name or score}">{predicate}</Node>'


def simple(field, operator, value=None):
    attribute = "" if value is None else f'value="{value}"'
    return f'<SimplePredicate field="{field}" operator="{operator}" {attribute}/>'


def among(field, operator, values):
    return f'<SimpleSetPredicate field="{field}" booleanOperator="{operator}"><Array type="string">{values}</Array></SimpleSetPredicate>'


def read(tmp_path, text):
    path = tmp_path / "model.pmml"
    path.write_text(text, encoding="utf-8")
    return read_pmml(path)


def answers(forest, rows):
    frame = pd.DataFrame(rows, columns=["x", "town", "n"])
    return forest.predict(seen(forest, frame)).tolist()


NAN = float("nan")
LAST = 'noTrueChildStrategy="returnLastPrediction"'
BY_X = leaf("b", simple("x", "lessOrEqual", 1.5)) + leaf("c", simple("x", "greaterThan", 1.5))
ON_X = [(1.0, "Oslo", 1), (1.5, "Oslo", 1), (2.0, "Oslo", 1)]


@pytest.mark.slow
@in_one_test(
    ("nodes", "attributes", "rows", "expected"),
    [
        (BY_X, "", ON_X, "bbc"),
        (leaf("b", simple("x", "lessThan", 1.5)) + leaf("c", simple("x", "greaterOrEqual", 1.5)), "", ON_X, "bcc"),
        (leaf("b", simple("x", "greaterThan", 1.5)) + leaf("c", "<True/>"), "", ON_X, "ccb"),
        (leaf("b", simple("x", "equal", 1.5)) + leaf("c", simple("x", "notEqual", 1.5)), "", ON_X, "cbc"),
        (leaf("b", simple("x", "notEqual", 1.5)) + leaf("c", simple("x", "equal", 1.5)), "", ON_X, "bcb"),
        (leaf("d", "<False/>") + BY_X, "", ON_X, "bbc"),
        # more than two ways, the first that holds counts
        (
            leaf("b", simple("x", "lessThan", 1.2))
            + leaf("c", simple("x", "lessThan", 1.8))
            + leaf("d", simple("x", "greaterOrEqual", 1.8)),
            "",
            ON_X,
            "bcd",
        ),
        (
            leaf("b", among("town", "isIn", "Oslo"))
            + leaf("c", among("town", "isIn", "Bonn"))
            + leaf("d", among("town", "isIn", '"Le Havre"')),
            "",
            [(0, "Bonn", 0), (0, "Le Havre", 0), (0, "Oslo", 0)],
            "cdb",
        ),
        (
            leaf("b", among("town", "isNotIn", 'Oslo "Le Havre"'))
            + leaf("c", among("town", "isIn", '"Oslo" "Le Havre"')),
            "",
            [(0, "Bonn", 0), (0, "Le Havre", 0), (0, "Oslo", 0)],
            "bcc",
        ),
        (
            leaf("b", simple("town", "equal", "Bonn")) + leaf("c", simple("town", "notEqual", "Bonn")),
            "",
            [(0, "Bonn", 0), (0, "Le Havre", 0)],
            "bc",
        ),
        # none holds: the answer of the node itself
        (leaf("b", simple("x", "lessThan", 1.5)), LAST, ON_X, "baa"),
        (leaf("b", simple("town", "equal", "Bonn")), LAST, [(0, "Bonn", 0), (0, "Oslo", 0)], "ba"),
        # the first of a predicate and its surrogates
        (
            leaf(
                "b",
                f'<CompoundPredicate booleanOperator="surrogate">{simple("x", "lessThan", 1.5)}{simple("n", "lessThan", 0)}</CompoundPredicate>',
            )
            + leaf(
                "c",
                f'<CompoundPredicate booleanOperator="surrogate">{simple("x", "greaterOrEqual", 1.5)}<False/></CompoundPredicate>',
            ),
            "",
            ON_X,
            "bcc",
        ),
        # missing values
        (BY_X, 'missingValueStrategy="lastPrediction"', [*ON_X, (NAN, "Oslo", 0)], "bbca"),
        (BY_X, LAST, [*ON_X, (NAN, "Oslo", 0)], "bbca"),
        (leaf("b", simple("x", "lessThan", 1.5)), LAST, [*ON_X, (NAN, "Oslo", 0)], "baaa"),
        (leaf("b", simple("x", "isMissing")) + BY_X.replace('"b"', '"d"'), "", [*ON_X, (NAN, "Oslo", 0)], "ddcb"),
        (
            leaf("b", simple("x", "isNotMissing")) + leaf("c", simple("x", "isMissing")),
            "",
            [*ON_X, (NAN, "Oslo", 0)],
            "bbbc",
        ),
        (leaf("b", simple("x", "lessThan", 1.5)) + leaf("c", "<True/>"), "", [*ON_X, (NAN, "Oslo", 0)], "bccc"),
        (
            leaf("b", among("town", "isIn", "Oslo")) + leaf("c", among("town", "isNotIn", "Oslo")),
            'missingValueStrategy="lastPrediction"',
            [(0, "Bonn", 0), (0, None, 0), (0, "Oslo", 0)],
            "cab",
        ),
    ],
)
def test_reading_files_of_other_tools(tmp_path, nodes, attributes, rows, expected):
    forest = read(tmp_path, document(tree(nodes, attributes)))
    assert "".join(answers(forest, rows)) == expected
    # and back and forth it says the same
    write_pmml(forest, tmp_path / "again.pmml")
    assert "".join(answers(read_pmml(tmp_path / "again.pmml"), rows)) == expected


@pytest.mark.parametrize(("default", "expected"), [("b", "bbcb"), ("c", "bbcc")])
def test_missing_values_go_to_the_default_child(tmp_path, default, expected):
    model = tree(BY_X, 'missingValueStrategy="defaultChild"').replace('id="0"', f'id="0" defaultChild="{default}"')
    forest = read(tmp_path, document(model))
    assert "".join(answers(forest, [*ON_X, (NAN, "Oslo", 0)])) == expected


@pytest.mark.parametrize(
    ("field", "replacement", "nodes", "expected"),
    [
        ("x", "9", BY_X, "c"),
        ("x", "1.5", BY_X, "b"),
        ("x", "1.5", leaf("b", simple("x", "notEqual", 1.5)) + leaf("c", "<True/>"), "c"),
        ("town", "Bonn", leaf("b", among("town", "isIn", "Oslo Bonn")) + leaf("c", "<True/>"), "b"),
    ],
)
def test_missing_values_may_be_replaced(tmp_path, field, replacement, nodes, expected):
    schema = SCHEMA.replace(f'name="{field}"', f'name="{field}" missingValueReplacement="{replacement}"')
    forest = read(tmp_path, document(tree(nodes, schema=schema)))
    assert answers(forest, [(NAN, None, 0)]) == [expected]


def test_missing_values_without_an_answer_are_refused(tmp_path):
    forest = read(tmp_path, document(tree(BY_X)))
    assert not forest.takes_missing
    with pytest.raises(DataError, match="takes no missing values"):
        answers(forest, [(NAN, "Oslo", 0)])
    forest = read(tmp_path, document(tree(BY_X, 'missingValueStrategy="aggregateNodes"')))
    assert not forest.takes_missing


@pytest.mark.parametrize(
    ("label", "scores", "expected"),
    [
        ("string", ("7", "8"), ["7", "8"]),
        ("integer", ("7", "8"), [7, 8]),
        ("double", ("7", "8.5"), [7.0, 8.5]),
        ("boolean", ("true", "false"), [True, False]),
    ],
)
def test_labels_have_the_type_of_the_target(tmp_path, label, scores, expected):
    nodes = leaf(scores[0], simple("x", "lessThan", 0)) + leaf(scores[1], simple("x", "greaterOrEqual", 0))
    text = document(tree(nodes).replace('score="a"', f'score="{scores[0]}"'), label)
    labels = answers(read(tmp_path, text), [(-1, "Oslo", 0), (1, "Oslo", 0)])
    assert labels == expected
    assert [type(item) for item in labels] == [type(item) for item in expected]


def test_single_precision_is_that_of_fields_of_type_float(tmp_path):
    nodes = leaf("b", simple("x", "lessOrEqual", 0.1)) + leaf("c", simple("x", "greaterThan", 0.1))
    for kind, expected in (("double", "c"), ("float", "b")):
        text = document(
            tree(nodes),
            fields=FIELDS.replace(
                '"x" optype="continuous" dataType="double"', f'"x" optype="continuous" dataType="{kind}"'
            ),
        )
        assert answers(read(tmp_path, text), [(np.nextafter(0.1, 1), "Oslo", 0)]) == [expected]


def test_counts_become_shares_and_rules_name_categories(tmp_path):
    nodes = (
        '<Node id="1" score="b" recordCount="30">' + among("town", "isIn", "Oslo Bonn") + "</Node>"
        '<Node id="2" score="c" recordCount="10">' + among("town", "isNotIn", "Oslo Bonn") + "</Node>"
    )
    forest = read(tmp_path, document(tree(nodes)))
    [one] = forest.trees
    assert one.weight.tolist() == [1.0, 0.75, 0.25]
    assert forest.categories == {1: ("Oslo", "Le Havre", "Bonn")}
    assert format_rule(one, 2, categories={"town": forest.categories[1]}) == "town is Le Havre"
    assert forest.columns == ("x", "town", "n")


def segments(method, *models, weights=None, function="classification", after=""):
    weights = weights or [1] * len(models)
    listed = "".join(
        f'<Segment weight="{weight}"><True/>{model}</Segment>' for model, weight in zip(models, weights, strict=True)
    )
    return f'<MiningModel functionName="{function}">{SCHEMA}{after}<Segmentation multipleModelMethod="{method}">{listed}</Segmentation></MiningModel>'


def constant(label):
    return tree("").replace('score="a"', f'score="{label}"')


def number(value):
    return tree("", function="regression").replace('score="a"', f'score="{value}"')


def chain(method, *tables, scores=1):
    sums = "".join(
        f'<Segment><True/><MiningModel functionName="regression"><MiningSchema><MiningField name="x"/></MiningSchema><Output>'
        f'<OutputField name="s{i}" feature="predictedValue"/></Output><Segmentation multipleModelMethod="sum"><Segment><True/>'
        f"{tree(leaf(-1, simple('x', 'lessThan', i)) + leaf(1, simple('x', 'greaterOrEqual', i)), function='regression').replace(chr(34) + 'a' + chr(34), chr(34) + '0' + chr(34))}"
        "</Segment></Segmentation></MiningModel></Segment>"
        for i in range(scores)
    )
    last = f'<Segment><True/><RegressionModel functionName="classification" normalizationMethod="{method}">{"".join(tables)}</RegressionModel></Segment>'
    return f'<MiningModel functionName="classification">{SCHEMA}<Segmentation multipleModelMethod="modelChain">{sums}{last}</Segmentation></MiningModel>'


def table(label, *scores):
    parts = "".join(f'<NumericPredictor name="{score}" coefficient="1"/>' for score in scores)
    return f'<RegressionTable intercept="0" targetCategory="{label}">{parts}</RegressionTable>'


# -- what changes the answer is read, or told ---------------------------------------------------------------

BY_SET = leaf("b", among("k", "isIn", "{arr}")) + leaf("c", among("k", "isNotIn", "{arr}"))


def asking(kind, nodes, *, values="", field="", attributes='missingValueStrategy="defaultChild"', optype="categorical"):
    """A document with one field, k, whose missing values go to b."""
    fields = (
        f'<DataField name="k" optype="{optype}" dataType="{kind}">{values}</DataField>'
        '<DataField name="y" optype="categorical" dataType="string"/>'
    )
    schema = f'<MiningSchema><MiningField name="k" {field}/><MiningField name="y" usageType="target"/></MiningSchema>'
    return document(tree(nodes, attributes, schema=schema).replace('id="0"', 'id="0" defaultChild="b"'), fields=fields)


def predict_text(forest, values):
    return "".join(forest.predict(seen(forest, pd.DataFrame({"k": values}))).tolist())


def listed(*values, how="valid"):
    return "".join(f'<Value value="{value}" property="{how}"/>' for value in values)


INTERVAL = '<Interval closure="{}" leftMargin="0" rightMargin="5"/>'
ON_K = leaf("c", simple("k", "lessOrEqual", 3)) + leaf("b", simple("k", "greaterThan", 3))


@pytest.mark.slow
@in_one_test(
    ("text", "rows", "expected"),
    [
        # no values are listed: all are valid, and those that no tree asks for are in no set
        (asking("integer", BY_SET.replace("{arr}", "1 2")), [1, 2, 3, None], "bbcb"),
        (asking("double", BY_SET.replace("{arr}", "1 2")), [1.0, 2, 2.5, NAN], "bbcb"),
        (asking("string", BY_SET.replace("{arr}", "p q")), ["p", "q", "r", "another", None], "bbccb"),
        (
            asking("string", leaf("b", simple("k", "equal", "p")) + leaf("c", simple("k", "notEqual", "p"))),
            ["p", "r", None],
            "bcb",
        ),
        (asking("string", BY_SET.replace("{arr}", "p q"), attributes=""), ["p", "r"], "bc"),
        (
            asking("boolean", leaf("b", simple("k", "equal", "true")) + leaf("c", simple("k", "equal", "false"))),
            [True, False],
            "bc",
        ),
        # where they are, others are what the document makes of them
        (
            asking(
                "string", BY_SET.replace("{arr}", "p"), values=listed("p", "q"), field='invalidValueTreatment="asIs"'
            ),
            ["p", "q", "r"],
            "bcc",
        ),
        (
            asking(
                "string",
                BY_SET.replace("{arr}", "p"),
                values=listed("p", "q"),
                field='invalidValueTreatment="asMissing"',
            ),
            ["p", "q", "r"],
            "bcb",
        ),
        (
            asking(
                "string",
                BY_SET.replace("{arr}", "q r"),
                values=listed("p", "q"),
                field='invalidValueTreatment="asMissing"',
            ).replace('defaultChild="b"', 'defaultChild="c"'),
            ["p", "q", "r"],
            "cbc",
        ),
        (
            asking("double", ON_K, values=INTERVAL.format("closedOpen"), field='invalidValueTreatment="asMissing"'),
            [0, 3, 4, 5, -1],
            "ccbbb",
        ),
        (
            asking("double", ON_K, values=INTERVAL.format("openClosed"), field='invalidValueTreatment="asMissing"'),
            [0, -1, 1],
            "bbc",
        ),
        (
            asking("double", ON_K, values=INTERVAL.format("openOpen"), field='invalidValueTreatment="asIs"'),
            [-9, 0, 9],
            "ccb",
        ),
        (
            asking(
                "float",
                ON_K,
                values='<Interval closure="closedClosed" rightMargin="0.1"/>',
                field='invalidValueTreatment="asMissing"',
            ),
            [0.1, 0.2],
            "cb",
        ),
        (asking("integer", ON_K, values=listed(1, 2), field='invalidValueTreatment="asMissing"'), [1, 2, 0], "ccb"),
        # several values stand for a missing one, texts too
        (asking("double", ON_K, values=listed(-999, -1, how="missing")), [-999.0, -1, 0], "bbc"),
        (asking("double", ON_K, values=listed("NA", -1, "?", how="missing")), ["NA", -1, 0, "?", None], "bbcbb"),
        (
            asking("string", BY_SET.replace("{arr}", "p"), values=listed("NA", "?", how="missing")),
            ["NA", "?", "p", "q"],
            "bbbc",
        ),
        (asking("integer", BY_SET.replace("{arr}", "1"), values=listed(-1, -2, how="missing")), [-1, -2, 1, 2], "bbbc"),
        # what can be told of a missing value comes before its default
        (
            asking("double", leaf("b", simple("k", "isNotMissing")) + leaf("c", simple("k", "isMissing"))),
            [1, NAN],
            "bc",
        ),
        (
            asking(
                "double",
                leaf("b", simple("k", "isMissing")) + leaf("c", "<True/>"),
                field='missingValueReplacement="3"',
            ),
            [1, NAN],
            "cc",
        ),
    ],
)
def test_values_are_valid_invalid_or_missing_as_the_document_says(tmp_path, text, rows, expected):
    forest = read(tmp_path, text)
    assert predict_text(forest, rows) == expected
    if "Replacement" not in text:
        write_pmml(forest, tmp_path / "again.pmml")
        again = read_pmml(tmp_path / "again.pmml")
        assert predict_text(again, rows) == expected
        assert again.categories == forest.categories


@in_one_test(
    ("text", "rows", "message"),
    [
        (
            asking("string", BY_SET.replace("{arr}", "p"), values=listed("p", "q")),
            ["p", "r"],
            "row 1: 'r' is a value for which",
        ),
        (asking("double", ON_K, values=INTERVAL.format("openOpen")), [1, 0], "row 1: '0' is outside the values"),
        (asking("string", BY_SET.replace("{arr}", "1 2")), [1, 2], "'1' is not a text"),
        (asking("integer", BY_SET.replace("{arr}", "1 2")), ["1", "2"], "'1' is a text"),
        (asking("boolean", leaf("b", simple("k", "equal", "1")) + leaf("c", "<True/>")), ["yes"], "'yes' is a text"),
        (asking("string", BY_SET.replace("{arr}", "p"), attributes=""), ["p", None], "takes no missing values"),
        # a surrogate asks another question of rows where the first cannot be answered
        (
            asking(
                "double",
                leaf(
                    "b",
                    f'<CompoundPredicate booleanOperator="surrogate">{simple("k", "lessThan", 1)}<True/></CompoundPredicate>',
                )
                + leaf("c", "<True/>"),
            ),
            [NAN],
            "takes no missing values",
        ),
    ],
)
def test_rows_without_an_answer_are_refused(tmp_path, text, rows, message):
    with pytest.raises(DataError, match=message):
        predict_text(read(tmp_path, text), rows)


def test_other_categories_are_named_in_rules_and_used_in_rows(tmp_path):
    for kind, values, other in (("string", "p q", "another"), ("integer", "1 2", 3)):
        forest = read(tmp_path, asking(kind, BY_SET.replace("{arr}", values)))
        rows = pd.DataFrame({"k": [forest.categories[0][0]]})
        leaves = cover(forest, rows)
        assert [leaves.rule(leaf) for leaf in range(2)][1] == "k is another"
        assert leaves.example(1).k.tolist() == [other]
    grouped = pd.DataFrame({"k": pd.Categorical(["p"], categories=["p", "r"])})
    leaves = cover(read(tmp_path, asking("string", BY_SET.replace("{arr}", "p q"))), grouped)
    assert [leaves.rule(leaf) for leaf in range(2)] == ["k is p or q", "k is r or another"]
    assert leaves.example(1).k.tolist() == ["r"]


def targets(**options):
    attributes = " ".join(f'{name}="{value}"' for name, value in options.items())
    return f'<Targets><Target field="y" {attributes}/></Targets>'


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (targets(min=0, max=3), [0.0, 3.0]),
        (targets(min=0, rescaleFactor=2, rescaleConstant=1), [1.0, 16.0]),
        (targets(rescaleFactor="0.25", castInteger="round"), [-1.0, 2.0]),
        (targets(rescaleFactor="0.25", castInteger="floor"), [-2.0, 1.0]),
        (targets(rescaleFactor="0.25", castInteger="ceiling"), [-1.0, 2.0]),
    ],
)
def test_targets_of_a_tree_change_its_answers(tmp_path, target, expected):
    nodes = leaf(-5, simple("x", "lessThan", 0)) + leaf("7.5", simple("x", "greaterOrEqual", 0))
    model = tree(nodes, function="regression").replace('score="a"', 'score="1"')
    forest = read(tmp_path, document(model.replace("</MiningSchema>", "</MiningSchema>" + target)))
    assert answers(forest, [(-1, "Oslo", 0), (1, "Oslo", 0)]) == expected
    assert [forest.trees[0].answer_at(item) for item in forest.trees[0].leaves] == expected


@pytest.mark.parametrize("labels", [(2**53, 2**53 + 1), (2**63, -1), (10**30, 7)])
def test_integers_of_many_digits_are_kept(tmp_path, labels):
    nodes = leaf(labels[0], simple("x", "lessThan", 0)) + leaf(labels[1], simple("x", "greaterOrEqual", 0))
    forest = read(tmp_path, document(tree(nodes).replace('score="a"', f'score="{labels[0]}"'), "integer"))
    assert answers(forest, [(-1, "Oslo", 0), (1, "Oslo", 0)]) == list(labels)
    write_pmml(forest, tmp_path / "again.pmml")
    assert read_pmml(tmp_path / "again.pmml").labels == labels


def test_weights_count_within_a_chain_and_one_score_may_go_through_softmax(tmp_path):
    model = chain("softmax", table("b", "s0"), table("c"))
    assert answers(read(tmp_path, document(model)), [(-5, "Oslo", 0), (5, "Oslo", 0)]) == ["c", "b"]
    weighted = model.replace('"sum"><Segment>', '"weightedSum"><Segment weight="-1">')
    assert answers(read(tmp_path, document(weighted)), [(-5, "Oslo", 0), (5, "Oslo", 0)]) == ["b", "c"]


def test_sums_in_single_precision_as_jpmml_writes_it(tmp_path):
    model = segments("sum", number("0.1"), number("0.2"), function="regression")
    text = document(model.replace("<MiningModel", '<MiningModel x-mathContext="float"'))
    assert answers(read(tmp_path, text), [(0, "Oslo", 0)]) == [float(np.float32(0.1) + np.float32(0.2))]


def with_schema(**options):
    attributes = " ".join(f'{name}="{value}"' for name, value in options.items())
    return document(tree(BY_X, schema=SCHEMA.replace('name="x"', f'name="x" {attributes}')))


def derived(source, kind, more="", name="x2"):
    return f'<DerivedField name="{name}" optype="continuous" dataType="{kind}"><FieldRef field="{source}" {more}/></DerivedField>'


def transformed(*fields, nodes=None):
    model = tree(nodes or BY_X.replace('"x"', '"x2"'))
    return document(
        model.replace(
            "</MiningSchema>", f"</MiningSchema><LocalTransformations>{''.join(fields)}</LocalTransformations>"
        )
    )


TREE_OF_X = tree(BY_X)
IN_A_SEGMENT = segments("majorityVote", constant("b"), constant("c"))


def segment_with(attributes):
    first, _, rest = IN_A_SEGMENT.rpartition('<MiningField name="x"')
    return document(f'{first}<MiningField name="x" {attributes}{rest}')


@in_one_test(
    ("text", "message"),
    [
        (document(tree(BY_X, function="clustering")), "functionName='clustering'.*'classification' or 'regression'"),
        (document(TREE_OF_X.replace('functionName="classification"', "")), "no functionName"),
        (document(segments("majorityVote", number(1))), "for classification .* holds a TreeModel for regression"),
        (document(TREE_OF_X + TREE_OF_X), "2 models"),
        (document(tree(BY_X, 'isScorable="false"')), "isScorable='false'"),
        (document(tree(BY_X, 'missingValueStrategy="guess"')), "missingValueStrategy='guess'"),
        (document(tree(BY_X, 'x-other="1"')), "x-other='1'"),
        (document(tree(BY_X + "<Regression/>")), "A Node .* holds 'Regression'"),
        (
            document(IN_A_SEGMENT.replace("<True/>", "<True/><VariableWeight field='x'/>", 1)),
            "A Segment .* holds 'VariableWeight'",
        ),
        (
            document(
                chain("logit", table("b", "s0"), table("c")).replace('coefficient="1"', 'coefficient="1" exponent="2"')
            ),
            "exponent='2'",
        ),
        (
            document(
                chain("logit", table("b", "s0"), table("c")).replace(
                    'coefficient="1"/>', 'coefficient="1"/><CategoricalPredictor/>'
                )
            ),
            "'CategoricalPredictor'",
        ),
        (
            document(chain("logit", table("b", "s0"), table("c")).replace("predictedValue", "transformedValue")),
            "OutputField for its predictedValue",
        ),
        (
            document(chain("logit", table("b", "s0"), table("c")).replace('"logit">', '"logit">' + targets(max=0))),
            "label",
        ),
        (with_schema(missingValueTreatment="returnInvalid"), "'x' has no answer for missing values"),
        (segment_with('missingValueReplacement="1"'), "inner model .* replaces missing values of 'x'"),
        (segment_with('outliers="asExtremeValues"'), "'x' treats outliers"),
        (document(tree(BY_X, schema=SCHEMA.replace('name="n"', 'name="n" usageType="target"'))), "several targets"),
        (
            asking("string", BY_SET.replace("{arr}", "p"), values=listed("p"), field='invalidValueTreatment="asValue"'),
            "'k' treats invalid values as 'asValue'",
        ),
        (asking("string", BY_SET.replace("{arr}", "p"), values=listed("z", how="invalid")), "'k' lists invalid values"),
        (asking("integer", ON_K, values=listed(3, 1, 2), optype="ordinal"), "'k' is ordinal"),
        (asking("float", BY_SET.replace("{arr}", "0.1")), "'k' of type 'float' with a set of fractions"),
        (
            asking("double", BY_SET.replace("{arr}", "1"), values=INTERVAL.format("openOpen")),
            "'k' has categories and is limited",
        ),
        (asking("date", leaf("b", simple("k", "equal", "2020-01-01")) + leaf("c", "<True/>")), "'k' of type 'date'"),
        (
            asking("boolean", leaf("b", simple("k", "equal", "maybe")) + leaf("c", "<True/>")),
            "'k'.*'true' or 'false'.*'maybe'",
        ),
        (asking("string", leaf("b", simple("k", "equal")) + leaf("c", "<True/>")), "'k' has no value"),
        (asking("string", leaf("b", among("k", "isNear", "p")) + leaf("c", "<True/>")), "operator 'isNear'"),
        # derived fields that do more than to change a type, or not the same everywhere
        (transformed(derived("x", "integer")), "'x2', which is not an active field"),
        (transformed(derived("x", "double", 'mapMissingTo="1"')), "'x2', which is not an active field"),
        (transformed(derived("x", "double"), derived("n", "double")), "'x2', which is not an active field"),
        (transformed(derived("x", "float"), nodes=BY_X + leaf("d", simple("x2", "lessThan", 1))), "'float' and others"),
        (
            document(number(1).replace("</MiningSchema>", "</MiningSchema>" + targets(castInteger="up"))),
            "castInteger='up'",
        ),
        (
            document(number(1).replace("</MiningSchema>", "</MiningSchema><Targets><Target/><Target/></Targets>")),
            "several Targets",
        ),
        (
            document(segments("average", number(1), function="regression", after=targets(rescaleConstant=1))),
            "only a rescaleConstant for a sum",
        ),
        (document(constant("a").replace("</MiningSchema>", "</MiningSchema>" + targets(max=1))), "rounds a label"),
    ],
)
def test_unsupported_content_is_refused(tmp_path, text, message):
    with pytest.raises(ModelError, match=message):
        read(tmp_path, text)


UNSURE = tree("").replace(
    "<True/>", '<True/><ScoreDistribution value="a" recordCount="6"/><ScoreDistribution value="c" recordCount="4"/>'
)
PLUS = '<Targets><Target field="y" rescaleConstant="10"/></Targets>'


@in_one_test(
    ("model", "expected"),
    [
        (segments("majorityVote", constant("b"), constant("c"), constant("c")), "c"),
        (segments("weightedMajorityVote", constant("b"), constant("c"), constant("c"), weights=[3, 1, 1]), "b"),
        (segments("average", UNSURE, UNSURE, constant("c")), "c"),
        (segments("majorityVote", UNSURE, UNSURE, constant("c")), "a"),
        (segments("weightedAverage", UNSURE, constant("c"), weights=[9, 1]), "a"),
        (segments("average", number(1), number(4), function="regression"), 2.5),
        (segments("weightedAverage", number(1), number(4), weights=[1, 2], function="regression"), 3.0),
        (segments("sum", number(1), number(4), function="regression"), 5.0),
        (segments("sum", number(1), number(4), function="regression", after=PLUS), 15.0),
        (segments("weightedSum", number(1), number(4), weights=[1, 2], function="regression"), 9.0),
        (segments("median", number(1), number(7), number(4), function="regression"), 4.0),
        (number(2).replace("</MiningSchema>", "</MiningSchema>" + PLUS), 12.0),
    ],
)
def test_methods_that_combine_trees(tmp_path, model, expected):
    assert answers(read(tmp_path, document(model)), [(0, "Oslo", 0)]) == [expected]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (chain("logit", table("b", "s0"), table("c")), "cb"),
        (chain("logit", table("c", "s0"), table("b")), "bc"),
        (chain("softmax", table("b", "s0"), table("c", "s1"), table("d", "s2"), scores=3), "bb"),
        (chain("softmax", table("d", "s0"), table("c", "s1"), table("b", "s2"), scores=3), "dd"),
    ],
)
def test_a_regression_at_the_end_decides_by_its_own_order(tmp_path, model, expected):
    fields = FIELDS.replace(
        'name="y" optype="categorical" dataType="{label}"/>',
        'name="y" optype="categorical" dataType="string"><Value value="b"/><Value value="c"/></DataField>',
    )
    forest = read(tmp_path, document(model, fields=fields))
    assert "".join(answers(forest, [(-5, "Oslo", 0), (0.5, "Oslo", 0)])) == expected


@in_one_test(
    "model",
    [
        chain("probit", table("b", "s0"), table("c")),
        chain("logit", table("b"), table("c", "s0")),
        chain("logit", table("b", "s9"), table("c")),
        chain("logit", table("b", "s0"), table("c").replace('intercept="0"', 'intercept="1"')),
        chain("softmax", table("b", "s0"), table("c", "s0"), scores=2),
        chain("softmax", table("b", "s0", "s1"), table("c", "s1"), scores=2),
    ],
)
def test_unsupported_regressions_are_refused(tmp_path, model):
    with pytest.raises(ModelError, match=r"A RegressionModel in the PMML file .* not supported"):
        read(tmp_path, document(model))


# -- written and read back ----------------------------------------------------------------------------

RNG = np.random.default_rng(4)
ROWS = 150
DATA = pd.DataFrame(
    {"answer": RNG.normal(size=ROWS), "b & <c>": RNG.normal(size=ROWS).round(1), "k": RNG.random(ROWS) * 9}
)
HOLED = DATA.assign(k=DATA.k.mask(RNG.random(ROWS) < 0.2))
GROUPED = HOLED.assign(
    t=pd.Categorical(RNG.choice(['a "b"', "c\\d", "<é>", "two words"], ROWS)),
    g=pd.Categorical(RNG.choice([1, 4], ROWS)),
)
TWO = np.where((DATA.answer > 0) ^ (DATA.k > 5), "é", "<no>")
THREE = np.where(DATA["b & <c>"] > 0.6, 7, np.where(TWO == "é", 2, 3))
AMOUNT = (DATA.k * DATA.answer + RNG.random(ROWS)).to_numpy()
FORESTS = [
    (DecisionTreeClassifier(random_state=0), HOLED, TWO),
    (DecisionTreeRegressor(max_depth=4, random_state=0), HOLED, AMOUNT),
    (RandomForestClassifier(5, max_depth=4, random_state=0), HOLED, THREE),
    (RandomForestClassifier(4, max_depth=2, random_state=0), DATA, TWO == "é"),
    (RandomForestRegressor(5, max_depth=4, random_state=0), DATA.to_numpy(), AMOUNT),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5, random_state=0), DATA, THREE),
    (AdaBoostRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=6, random_state=0), DATA, AMOUNT),
    (GradientBoostingClassifier(n_estimators=4, random_state=0), DATA, TWO),
    (GradientBoostingClassifier(n_estimators=4, random_state=0), DATA, THREE),
    (GradientBoostingRegressor(n_estimators=4, random_state=0), DATA, AMOUNT),
    (HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype"), GROUPED, THREE),
    (HistGradientBoostingRegressor(max_iter=3, loss="poisson"), HOLED, AMOUNT**2),
]


@pytest.mark.slow
@in_one_test(("model", "X", "y"), FORESTS)
def test_writing_and_reading_keeps_the_answers(model, X, y, tmp_path):
    forest = read_forest(model.fit(X, y))
    rows = make_rows(forest, pd.DataFrame(X))
    path = tmp_path / "model.pmml"
    write_pmml(forest, path)
    again = read_pmml(path)
    predicted = again.predict(seen(again, rows.set_axis(again.columns, axis=1)))
    expected = forest.predict(seen(forest, rows))
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(predicted, expected, rtol=1e-13)
    else:
        assert predicted.tolist() == expected.tolist()
    assert again.single == forest.single
    assert again.takes_missing == forest.takes_missing
    assert dict(again.categories) == dict(forest.categories)
    space = "{http://www.dmg.org/PMML-4_4}"
    root = ET.parse(path).getroot()
    assert [item.tag.removeprefix(space) for item in root][:2] == ["Header", "DataDictionary"]
    for node in root.iter(f"{space}Node"):
        assert node.get("score") is not None
        assert node.get("recordCount") is not None
        assert (node.find(f"{space}Node") is not None) * forest.takes_missing == (node.get("defaultChild") is not None)


def test_a_number_that_stands_for_a_missing_value_is_kept(tmp_path):
    forest = replace(read_forest(DecisionTreeRegressor(random_state=0).fit(HOLED, AMOUNT)), missing_markers={2: -1.5})
    write_pmml(forest, tmp_path / "model.pmml")
    assert read_pmml(tmp_path / "model.pmml").missing_markers == {2: -1.5}


def test_models_that_cannot_be_written_leave_no_file(tmp_path):
    path = tmp_path / "model.pmml"
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)).fit(DATA, TWO)
    cases = [
        (read_forest(pipeline), "steps before its trees"),
        (read_forest(DecisionTreeRegressor().fit(DATA, DATA)), "several outputs"),
        (
            read_forest(GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(DATA, AMOUNT)),
            "another model",
        ),
        (
            read_forest(DecisionTreeClassifier().fit(DATA.set_axis(["a", "b", "c\x00"], axis=1), TWO)),
            "XML cannot hold the character",
        ),
        (replace(read_forest(DecisionTreeClassifier().fit(DATA, TWO)), labels=("a", 1)), "of several types"),
    ]
    for forest, message in cases:
        with pytest.raises(ModelError, match=message):
            write_pmml(forest, path)
        assert not path.exists()
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        write_pmml(DecisionTreeClassifier().fit(DATA, TWO), tmp_path / "file" / "model.pmml")


# -- files that are none ------------------------------------------------------------------------------

BOMB = '<?xml version="1.0"?><!DOCTYPE PMML [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><PMML version="4.4">&b;</PMML>'
DEEP = 100_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", DataError, "is empty"),
        ("  \n ", DataError, "is empty"),
        ("age,income\n1,2\n", DataError, "not well-formed XML"),
        ("<PMML version='4.4'><Header></PMML>", DataError, "not well-formed XML"),
        ("<html><body/></html>", DataError, "its root is 'html'"),
        (BOMB, DataError, "DOCTYPE"),
        ('<?xml version="1.0" encoding="no-such"?><PMML/>', DataError, "not PMML"),
        ('<PMML version="3.1"/>', ModelError, "version 3.1"),
        ('<PMML version="4.4"/>', ModelError, "Found no model"),
        (document("<RegressionModel/>"), ModelError, "Found a RegressionModel"),
        (document(f'<TreeModel functionName="regression">{SCHEMA}</TreeModel>'), ModelError, "has no Node"),
        (document(tree('<Node id="1"><True/></Node>')), ModelError, "leaf '1' .* has no score"),
        (document(tree('<Node id="1" score="b"/>')), ModelError, "node '1' .* has no predicate"),
        (document(tree(leaf("b", simple("x", "lessThan", "many")))), ModelError, "finite number was expected.*'many'"),
        (document(tree(leaf("b", simple("x", "lessThan", "1e999")))), ModelError, "finite number was expected"),
        (document(tree(leaf("b", simple("z", "lessThan", 1)))), ModelError, "'z', which is not an active field"),
        (document(tree(leaf("b", simple("x", "resembles", 1)))), ModelError, "operator 'resembles'"),
        (document(tree(leaf("b", simple("x", "lessThan", 1)))), ModelError, "do not take all rows"),
        (document(tree(leaf("b", simple("town", "lessThan", "Oslo")))), ModelError, "compared by 'lessThan'"),
        (
            document(tree(leaf("b", '<CompoundPredicate booleanOperator="or"><True/></CompoundPredicate>'))),
            ModelError,
            "'or'",
        ),
        (document(tree("").replace("<True/>", simple("x", "lessThan", 1))), ModelError, "must take all"),
        (
            document(tree(BY_X + leaf("d", simple("n", "lessThan", 1))), fields=FIELDS.replace('"integer"', '"float"')),
            ModelError,
            "'float' and others",
        ),
        (document(tree(BY_X), fields=""), ModelError, "not in the DataDictionary"),
        (
            document(tree(BY_X, schema=SCHEMA.replace('name="x"', 'name="x" outliers="asMissingValues"'))),
            ModelError,
            "outliers",
        ),
        (document(segments("selectFirst", constant("a"))), ModelError, "'selectFirst' is not supported"),
        (
            document(segments("median", number(1), number(2), function="regression")),
            ModelError,
            "combines 2 trees by 'median'",
        ),
        (document(segments("modelChain", constant("a"))), ModelError, "end in a RegressionModel"),
        (
            document(segments("sum", '<RegressionModel functionName="regression"/>', function="regression")),
            ModelError,
            "holds RegressionModel",
        ),
        (document(segments("sum")), ModelError, "no segments"),
        (
            document(segments("sum", number(1)).replace('weight="1"><True/>', f">{simple('x', 'lessThan', 1)}")),
            ModelError,
            "only to some rows",
        ),
        (
            document(
                segments(
                    "sum", number(1), function="regression", after=PLUS.replace("rescaleConstant", "rescaleFactor")
                )
            ),
            ModelError,
            "rescales",
        ),
        # so deep that nothing may call itself
        ('<PMML version="4.4">' + "<a>" * DEEP + "</a>" * DEEP + "</PMML>", ModelError, "Found no model"),
        (document(tree('<Node id="n"><True/>' * 20_000 + "</Node>" * 20_000)), ModelError, "leaf 'n' .* has no score"),
        (
            document(
                tree(
                    leaf(
                        "b",
                        '<CompoundPredicate booleanOperator="surrogate">' * 20_000 + "</CompoundPredicate>" * 20_000,
                    )
                )
            ),
            ModelError,
            "CompoundPredicate",
        ),
        (
            document(
                segments(
                    "modelChain",
                    *[
                        '<MiningModel functionName="regression"><Segmentation multipleModelMethod="modelChain"><Segment><True/>'
                        * 2000
                        + "</Segment></Segmentation></MiningModel>" * 2000
                    ]
                    * 2,
                )
            ),
            ModelError,
            "end in a RegressionModel",
        ),
    ],
    ids=range(35),
)
def test_files_that_are_not_pmml_are_refused(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read(tmp_path, text)


def test_a_long_comment_is_not_parsed_again_and_again(tmp_path, monkeypatch):
    sizes = []

    class CountingParser(pmml_document.XMLParser):
        def feed(self, block):
            sizes.append(len(block))
            super().feed(block)

    monkeypatch.setattr(pmml_document, "XMLParser", CountingParser)
    (tmp_path / "long.pmml").write_text(f'<PMML version="4.4"><!--{"x" * (15 << 20)}--></PMML>')
    assert pmml_document.parse_pmml(tmp_path / "long.pmml").tag == "PMML"
    assert len(sizes) <= 6  # 80 bytes, then 1, 2, 4, 8 MB and the rest


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_pmml(tmp_path / "none.pmml")
    with pytest.raises(DataError, match="cannot be read"):
        read_pmml(tmp_path)


@pytest.mark.slow
def test_a_very_deep_tree_is_written_and_read(tmp_path):
    steps = pd.DataFrame({"x": np.arange(9.0)})
    chain = "".join(
        f'<Node score="{i}">{simple("x", "lessThan", i)}</Node><Node score="0">{simple("x", "greaterOrEqual", i)}'
        for i in range(1500)
    )
    text = document(
        tree(
            chain + "</Node>" * 1500,
            function="regression",
            schema='<MiningSchema><MiningField name="x"/></MiningSchema>',
        ).replace('"a"', '"0"')
    )
    forest = read(tmp_path, text)
    assert forest.trees[0].depth.max() == 1500
    write_pmml(forest, tmp_path / "again.pmml")
    assert read_pmml(tmp_path / "again.pmml").predict(steps).tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]
