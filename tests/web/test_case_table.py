"""The test set as a table: pages, order, filters, verdicts and ancestors."""

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import DataError
from datamorphic.web.case_table import MAX_CELL_CHARACTERS, CaseTable
from support.cases import in_one_test


class Line:
    """A line with a label of its own, and a column name with markup."""

    space = dm.Space(
        [dm.Continuous("x", 0, 1, step=0.1), dm.Categorical("<b>job</b>", ["cook", "judge", "pilot"])], moves="open"
    )

    @dm.seed_maker
    def grid(self):
        return pd.DataFrame({"x": [0.1, 0.4, 0.7], "<b>job</b>": ["pilot", "cook", "judge"]})

    @dm.datamorphism(feature="x")
    def right(self, p):
        return p.assign(x=p.x + 0.2)

    @dm.metamorphism(of="right", applies_to="mutant")
    def same(self, cases, origins):
        return cases.output == origins.output

    @dm.executor
    def classify(self, p):
        return np.where(p.x > 0.5, "high", "low")


@pytest.fixture
def pool(tmp_path):
    pool = dm.TestPool(Line, folder=tmp_path)
    pool.make_seed(["grid"])
    pool.make_mutant(["right"])
    return pool


def make_table(pool):
    return CaseTable(pool.tests, pool.system, ["same"] if pool.judgements else [])


def test_rows_have_text_for_every_column(pool):
    pool.execute_test_cases()
    pool.check_metamorphisms()
    table = make_table(pool)
    reply = table.list_rows({"limit": 2, "offset": 3})
    assert [column["label"] for column in reply["columns"]] == [
        *("id", "x", "<b>job</b>", "output", "kind", "made by", "origins", "same")
    ]
    assert reply["total"] == reply["matching"] == 6
    first, second = reply["rows"]
    assert first == {
        **{"id": 3, "f0": "0.3", "f1": "pilot", "output": "low", "kind": "mutant", "morphism": "right"},
        **{"origins": "0", "v0": "holds"},
    }
    assert second["v0"] == "violated"


def test_verdicts_follow_an_edit_and_its_execution(pool):
    pool.execute_test_cases()
    pool.check_metamorphisms()
    pool.edit_test_case(1, "x", 0.55)
    assert make_table(pool).list_rows({})["rows"][4]["v0"] == "inapplicable"  # its origin is another case now


@in_one_test(
    ("request_", "ids"),
    [
        ({"sort": "f0"}, [0, 3, 1, 4, 2, 5]),
        ({"sort": "f0", "descending": True}, [5, 2, 4, 1, 3, 0]),
        ({"sort": "f1"}, [1, 4, 2, 5, 0, 3]),
        ({"sort": "origins"}, [3, 4, 5, 0, 1, 2]),  # missing ones last
        ({"conditions": [["kind", "is", "mutant"]]}, [3, 4, 5]),
        ({"conditions": [["f0", "at least", "0.4"], ["f0", "at most", "0.61"]]}, [1, 4]),
        ({"conditions": [["f1", "contains", "DGE"]]}, [2, 5]),
        ({"conditions": [["id", "is", "4.0"]]}, [4]),
        (
            {"conditions": [["f1", "is not", "cook"], ["kind", "is", "original"]], "sort": "id", "descending": True},
            [2, 0],
        ),
        ({"conditions": [["f1", "contains", "nobody"]]}, []),
        ({"offset": 99}, []),
    ],
)
def test_order_and_filters(pool, request_, ids):
    assert [row["id"] for row in make_table(pool).list_rows(request_)["rows"]] == ids


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"sort": "f99"}, "no column"),
        ({"sort": "__class__"}, "no column"),
        ({"conditions": [["f0", "like", "1"]]}, "no comparison"),
        ({"conditions": [["f0", "at least", "tall"]]}, "compares numbers"),
        ({"conditions": [["v7", "is", "holds"]]}, "no column"),
    ],
)
def test_what_a_page_should_not_send(pool, request_, message):
    with pytest.raises(DataError, match=message):
        make_table(pool).list_rows(request_)


def test_a_case_is_traced_back_to_its_seeds(pool):
    pool.make_mutant(["right"])
    case_id = int(pool.tests.ids[-1])
    case = make_table(pool).describe_case(case_id)
    assert [ancestor["kind"] for ancestor in case["ancestors"]] == ["mutant", "original"]
    assert case["ancestors"][-1]["origins"] == ""
    assert [item["name"] for item in case["inputs"]] == ["x", "<b>job</b>"]
    assert case["inputs"][1]["choices"] == ["cook", "judge", "pilot"]
    with pytest.raises(DataError, match="no test case with id 999"):
        make_table(pool).describe_case(999)


def test_metamorphisms_that_raise_do_not_hide_the_table(pool, monkeypatch):
    pool.execute_test_cases()
    pool.check_metamorphisms()
    table = make_table(pool)
    monkeypatch.setattr(pool.system, "check", lambda tests: 1 / 0)
    assert "ZeroDivisionError" in table.list_rows({})["rows"][0]["v0"]


def test_long_texts_are_cut():
    system = dm.TestPool(Line).system
    space = dm.Space([dm.Categorical("text", ["a" * 500])])
    tests = dm.TestSet.of_seeds(space.points(pd.DataFrame({"text": ["a" * 500]})))
    assert len(CaseTable(tests, system).list_rows({})["rows"][0]["f0"]) == MAX_CELL_CHARACTERS
