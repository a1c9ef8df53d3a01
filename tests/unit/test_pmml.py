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

from datamorphic.errors import DataError, ModelError
from datamorphic.trees.pmml.files import read_pmml, write_pmml
from datamorphic.trees.reading import forest_of
from datamorphic.trees.rules import rule
from tree_rows import asked, seen

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
    told = "" if value is None else f'value="{value}"'
    return f'<SimplePredicate field="{field}" operator="{operator}" {told}/>'


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


@pytest.mark.parametrize(
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
            leaf("b", simple("x", "lessThan", 1.2)) + leaf("c", simple("x", "lessThan", 1.8)) + leaf("d", simple("x", "greaterOrEqual", 1.8)),
            "",
            ON_X,
            "bcd",
        ),
        (
            leaf("b", among("town", "isIn", "Oslo")) + leaf("c", among("town", "isIn", "Bonn")) + leaf("d", among("town", "isIn", '"Le Havre"')),
            "",
            [(0, "Bonn", 0), (0, "Le Havre", 0), (0, "Oslo", 0)],
            "cdb",
        ),
        (
            leaf("b", among("town", "isNotIn", 'Oslo "Le Havre"')) + leaf("c", among("town", "isIn", '"Oslo" "Le Havre"')),
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
            leaf("b", f'<CompoundPredicate booleanOperator="surrogate">{simple("x", "lessThan", 1.5)}{simple("n", "lessThan", 0)}</CompoundPredicate>')
            + leaf("c", f'<CompoundPredicate booleanOperator="surrogate">{simple("x", "greaterOrEqual", 1.5)}<False/></CompoundPredicate>'),
            "",
            ON_X,
            "bcc",
        ),
        # missing values
        (BY_X, 'missingValueStrategy="lastPrediction"', [*ON_X, (NAN, "Oslo", 0)], "bbca"),
        (BY_X, LAST, [*ON_X, (NAN, "Oslo", 0)], "bbca"),
        (leaf("b", simple("x", "lessThan", 1.5)), LAST, [*ON_X, (NAN, "Oslo", 0)], "baaa"),
        (leaf("b", simple("x", "isMissing")) + BY_X.replace('"b"', '"d"'), "", [*ON_X, (NAN, "Oslo", 0)], "ddcb"),
        (leaf("b", simple("x", "isNotMissing")) + leaf("c", simple("x", "isMissing")), "", [*ON_X, (NAN, "Oslo", 0)], "bbbc"),
        (leaf("b", simple("x", "lessThan", 1.5)) + leaf("c", "<True/>"), "", [*ON_X, (NAN, "Oslo", 0)], "bccc"),
        (
            leaf("b", among("town", "isIn", "Oslo")) + leaf("c", among("town", "isNotIn", "Oslo")),
            'missingValueStrategy="lastPrediction"',
            [(0, "Bonn", 0), (0, "Paris", 0), (0, None, 0), (0, "Oslo", 0)],
            "caab",
        ),
    ],
)  # fmt: skip
def test_what_other_tools_write(tmp_path, nodes, attributes, rows, expected):
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
    told = SCHEMA.replace(f'name="{field}"', f'name="{field}" missingValueReplacement="{replacement}"')
    forest = read(tmp_path, document(tree(nodes, schema=told)))
    assert answers(forest, [(NAN, None, 0)]) == [expected]


def test_where_there_is_no_answer_for_missing_values_none_are_taken(tmp_path):
    forest = read(tmp_path, document(tree(BY_X)))
    assert not forest.takes_missing
    with pytest.raises(DataError, match="takes no missing values"):
        answers(forest, [(NAN, "Oslo", 0)])
    kept = read(tmp_path, document(tree(BY_X, 'missingValueStrategy="aggregateNodes"')))
    assert not kept.takes_missing


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
    told = answers(read(tmp_path, text), [(-1, "Oslo", 0), (1, "Oslo", 0)])
    assert told == expected
    assert [type(each) for each in told] == [type(each) for each in expected]


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
    assert rule(one, 2, categories={"town": forest.categories[1]}) == "town is Le Havre"
    assert forest.columns == ("x", "town", "n")


def segments(method, *models, weights=None, function="classification", after=""):
    weights = weights or [1] * len(models)
    listed = "".join(
        f'<Segment weight="{weight}"><True/>{model}</Segment>'
        for model, weight in zip(models, weights, strict=True)
    )
    return f'<MiningModel functionName="{function}">{SCHEMA}{after}<Segmentation multipleModelMethod="{method}">{listed}</Segmentation></MiningModel>'


def constant(label):
    return tree("").replace('score="a"', f'score="{label}"')


def number(value):
    return tree("", function="regression").replace('score="a"', f'score="{value}"')


UNSURE = tree("").replace(
    "<True/>",
    '<True/><ScoreDistribution value="a" recordCount="6"/><ScoreDistribution value="c" recordCount="4"/>',
)
PLUS = '<Targets><Target field="y" rescaleConstant="10"/></Targets>'


@pytest.mark.parametrize(
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
def test_many_trees(tmp_path, model, expected):
    assert answers(read(tmp_path, document(model)), [(0, "Oslo", 0)]) == [expected]


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


@pytest.mark.parametrize(
    "model",
    [
        chain("probit", table("b", "s0"), table("c")),
        chain("logit", table("b"), table("c", "s0")),
        chain("logit", table("b", "s9"), table("c")),
        chain("logit", table("b", "s0"), table("c").replace('intercept="0"', 'intercept="1"')),
        chain("softmax", table("b", "s0"), table("c", "s0"), scores=2),
        chain("softmax", table("b", "s0", "s1"), table("c", "s1"), scores=2),
    ],
    ids=range(6),
)
def test_a_regression_that_does_more_is_not_read(tmp_path, model):
    with pytest.raises(ModelError, match=r"A RegressionModel in the PMML file .* not read"):
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


@pytest.mark.parametrize(("model", "X", "y"), FORESTS, ids=[type(model).__name__ for model, _, _ in FORESTS])
def test_written_and_read_back_they_answer_the_same(model, X, y, tmp_path):
    forest = forest_of(model.fit(X, y))
    rows = asked(forest, pd.DataFrame(X))
    path = tmp_path / "model.pmml"
    write_pmml(forest, path)
    again = read_pmml(path)
    told = again.predict(seen(again, rows.set_axis(again.columns, axis=1)))
    expected = forest.predict(seen(forest, rows))
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(told, expected, rtol=1e-13)
    else:
        assert told.tolist() == expected.tolist()
    assert again.single == forest.single
    assert again.takes_missing == forest.takes_missing
    assert dict(again.categories) == dict(forest.categories)
    space = "{http://www.dmg.org/PMML-4_4}"
    root = ET.parse(path).getroot()
    assert [each.tag.removeprefix(space) for each in root][:2] == ["Header", "DataDictionary"]
    for node in root.iter(f"{space}Node"):
        assert node.get("score") is not None
        assert node.get("recordCount") is not None
        assert (node.find(f"{space}Node") is not None) * forest.takes_missing == (
            node.get("defaultChild") is not None
        )


def test_a_number_that_stands_for_a_missing_value_is_kept(tmp_path):
    forest = replace(forest_of(DecisionTreeRegressor(random_state=0).fit(HOLED, AMOUNT)), gone={2: -1.5})
    write_pmml(forest, tmp_path / "model.pmml")
    assert read_pmml(tmp_path / "model.pmml").gone == {2: -1.5}


def test_what_cannot_be_written_is_told_and_leaves_no_file(tmp_path):
    path = tmp_path / "model.pmml"
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)).fit(DATA, TWO)
    cases = [
        (forest_of(pipeline), "steps before its trees"),
        (forest_of(DecisionTreeRegressor().fit(DATA, DATA)), "several answers at once"),
        (
            forest_of(GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(DATA, AMOUNT)),
            "another model",
        ),
        (
            forest_of(DecisionTreeClassifier().fit(DATA.set_axis(["a", "b", "c\x00"], axis=1), TWO)),
            "XML cannot hold the sign",
        ),
        (replace(forest_of(DecisionTreeClassifier().fit(DATA, TWO)), labels=("a", 1)), "of several types"),
    ]
    for forest, message in cases:
        with pytest.raises(ModelError, match=message):
            write_pmml(forest, path)
        assert not path.exists()
    with pytest.raises(DataError, match="cannot be written"):
        write_pmml(forest_of(DecisionTreeClassifier().fit(DATA, TWO)), tmp_path / "nowhere" / "model.pmml")


# -- files that are none ------------------------------------------------------------------------------

BOMB = '<?xml version="1.0"?><!DOCTYPE PMML [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><PMML version="4.4">&b;</PMML>'
DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", DataError, "is empty"),
        ("  \n ", DataError, "is empty"),
        ("age,income\n1,2\n", DataError, "not well-formed XML"),
        ("<PMML version='4.4'><Header></PMML>", DataError, "not well-formed XML"),
        ("<html><body/></html>", DataError, "its root is 'html'"),
        (BOMB, DataError, "DOCTYPE"),
        ('<?xml version="1.0" encoding="no-such"?><PMML/>', DataError, "no PMML"),
        ('<PMML version="3.1"/>', ModelError, "version 3.1"),
        ('<PMML version="4.4"/>', ModelError, "no model was found"),
        (document("<RegressionModel/>"), ModelError, "a RegressionModel was found"),
        (document(f"<TreeModel>{SCHEMA}</TreeModel>"), ModelError, "has no Node"),
        (document(tree('<Node id="1"><True/></Node>')), ModelError, "leaf '1' .* has no score"),
        (document(tree('<Node id="1" score="b"/>')), ModelError, "node '1' .* has no predicate"),
        (document(tree(leaf("b", simple("x", "lessThan", "many")))), ModelError, "finite number was expected.*'many'"),
        (document(tree(leaf("b", simple("x", "lessThan", "1e999")))), ModelError, "finite number was expected"),
        (document(tree(leaf("b", simple("z", "lessThan", 1)))), ModelError, "'z', which is no active field"),
        (document(tree(leaf("b", simple("x", "resembles", 1)))), ModelError, "operator 'resembles'"),
        (document(tree(leaf("b", simple("x", "lessThan", 1)))), ModelError, "find no child"),
        (document(tree(leaf("b", simple("town", "lessThan", "Oslo")))), ModelError, "compared by 'lessThan'"),
        (document(tree(leaf("b", '<CompoundPredicate booleanOperator="or"><True/></CompoundPredicate>'))), ModelError, "'or'"),
        (document(tree("").replace("<True/>", simple("x", "lessThan", 1))), ModelError, "must take all"),
        (document(tree(BY_X), fields=FIELDS.replace('"integer"', '"float"')), ModelError, "'float' and others"),
        (document(tree(BY_X), fields=""), ModelError, "not in the DataDictionary"),
        (document(tree(BY_X, schema=SCHEMA.replace('name="x"', 'name="x" outliers="asMissingValues"'))), ModelError, "outliers"),
        (document(segments("selectFirst", constant("a"))), ModelError, "'selectFirst' is not read"),
        (document(segments("median", number(1), number(2), function="regression")), ModelError, "joins 2 trees by 'median'"),
        (document(segments("modelChain", constant("a"))), ModelError, "ends in a RegressionModel"),
        (document(segments("sum", "<RegressionModel/>", function="regression")), ModelError, "holds RegressionModel"),
        (document(segments("sum")), ModelError, "no segments"),
        (document(segments("sum", number(1)).replace('weight="1"><True/>', f'>{simple("x", "lessThan", 1)}')), ModelError, "some rows only"),
        (document(number(1).replace("</MiningSchema>", '</MiningSchema><Targets><Target rescaleFactor="2"/></Targets>')), ModelError, "rescales"),
        # so deep that nothing may call itself
        ('<PMML version="4.4">' + "<a>" * DEEP + "</a>" * DEEP + "</PMML>", ModelError, "no model was found"),
        (document(tree('<Node id="n"><True/>' * 20_000 + "</Node>" * 20_000)), ModelError, "leaf 'n' .* has no score"),
        (
            document(tree(leaf("b", '<CompoundPredicate booleanOperator="surrogate">' * 20_000 + "</CompoundPredicate>" * 20_000))),
            ModelError,
            "CompoundPredicate",
        ),
        (document(segments("modelChain", *['<MiningModel><Segmentation multipleModelMethod="modelChain"><Segment><True/>' * 2000 + "</Segment></Segmentation></MiningModel>" * 2000] * 2)), ModelError, "ends in a RegressionModel"),
    ],
    ids=range(35),
)  # fmt: skip
def test_a_file_that_is_none_is_told(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read(tmp_path, text)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_pmml(tmp_path / "none.pmml")
    with pytest.raises(DataError, match="cannot be read"):
        read_pmml(tmp_path)


def test_a_tree_as_deep_as_its_rows_are_many(tmp_path):
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
