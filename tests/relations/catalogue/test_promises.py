"""Promises files: what each line means, and one clear message with its line for whatever is wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import DataError, PromiseError
from datamorphic.relations.catalogue.promises import describe_promises, parse_promises, read_promises
from support.cases import in_one_test

BANK = """\
# what the bank expects
outcome: default
credit_score: lowers default, 300 to 850, 9999 means unavailable
ltv: raises the probability of default
"loan: purpose": does not matter
gender: protected                      # by law
mean income: lowers
better_score: credit_score x 1.10
cheaper: ltv - 10
safer: better_score, ltv x 90%
owner: housing := own lowers default
all: owner, safer, mean income + 5%
"""
SPACE = dm.Space(
    [
        dm.Integer("credit_score", 300, 9999),
        dm.Continuous("ltv", 1, 98),
        dm.Categorical("loan: purpose", ["car", "house"]),
        dm.Continuous("mean income", -10, 100),
        dm.Categorical("housing", ["rent", "own"]),
    ]
)


def test_each_line_becomes_an_expectation():
    promises = parse_promises(BANK, "bank.promises")
    assert promises.outcome == "default"
    assert promises.monotone == {"credit_score": "down", "ltv": "up", "mean income": "down"}
    assert promises.invariant == ("loan: purpose",)
    assert promises.protected == ("gender",)
    score = promises.columns["credit_score"]
    assert (score.low, score.high, score.unavailable, score.line) == (300, 850, (9999,), 3)
    assert promises.find_line("safer") == 10
    assert promises.find_line("nothing") is None
    assert len(promises) == 10
    assert describe_promises(promises) == "3 directions, 1 column that does not matter, 1 protected column, 5 changes"


def test_changes_expect_what_the_promises_about_their_columns_imply():
    changes = parse_promises(BANK).changes
    assert {name: change.direction for name, change in changes.items()} == dict.fromkeys(changes, "down")
    (better,) = changes["better_score"].changes
    assert (better.column, better.factor, better.low, better.high) == ("credit_score", 1.1, 300, 850)
    assert tuple(better.sentinels) == (9999,)
    assert changes["cheaper"].changes[0].amount == -10
    assert changes["owner"].changes[0].value == "own"
    assert changes["all"].columns == ("housing", "credit_score", "ltv", "mean income")
    assert [change.factor for change in changes["all"].changes] == [None, 1.1, 0.9, 1.05]
    raised = parse_promises("score: lowers default\nworse: score x 0.9").changes["worse"]
    assert raised.direction == "up"
    unmoved = parse_promises("colour: does not matter\nred: colour := red").changes["red"]
    assert unmoved.direction == "same"


def test_changes_become_relations_that_run():
    promises = parse_promises("outcome: yes\nscore: raises yes\ndebt: lowers yes\nbetter: score + 1, debt x 0.5")
    (relation,) = promises.build_relations().values()
    frame = pd.DataFrame({"score": np.arange(20.0), "debt": np.arange(20.0)[::-1]})
    space = dm.Space([dm.Continuous("score", 0, 40), dm.Continuous("debt", 0, 40)])

    def good(rows):
        return np.where(rows.score > rows.debt, "yes", "no")

    def bad(rows):
        return np.where(rows.score > rows.debt, "no", "yes")

    table = [dm.check(dm.wrap(model, space=space), frame, relations=[relation]).table for model in (good, bad)]
    assert table[0].violated.tolist() == [0]
    assert table[1].violated.iloc[0] > 0


@in_one_test(
    ("text", "line", "words"),
    [
        ("", 1, "no promises"),
        ("\n# nothing\n", 1, "no promises"),
        ("outcome: x", 1, "declares an outcome but no promises"),
        ("score lowers x", 1, "has no colon"),
        (": lowers x", 1, "no name before the colon"),
        ("\nscore:", 2, "nothing is promised about 'score'"),
        ("score: ,", 1, "nothing is promised about 'score'"),
        ("a: raises x\n\na: lowers x", 3, "'a' lowers x here, but raises x in line 1"),
        ("a: raises x\na: protected", 2, "'a' is protected here, but raises x in line 1"),
        ("a: raises x\na: raises x", 2, "already has this promise in line 1"),
        ("a: raises x\nb: a x 2\nb: a x 3", 3, "'b' is already defined in line 2"),
        ("a: raises x\na: a x 2", 2, "the name of the column in line 1"),
        ("c: a x 2 raises x\nc: lowers x", 2, "the name of the change in line 1"),
        ("outcome: x\noutcome: x", 2, "declared twice"),
        ("a: raises x\nb: lowers y", 2, "about 'y', but that in line 1 is about 'x'"),
        ("a: increases x", 1, "Did you mean 'raises x'?"),
        ("a: irrelevant", 1, "Did you mean 'does not matter'?"),
        ("a: frobnicates", 1, "is not understood. Write 'raises OUTCOME'"),
        ("a: protectd", 1, "Did you mean 'protected'?"),
        ("a: raises x\np: q\nq: r, a x 2\nr: p", 2, "'p' contains itself: p > q > r > p"),
        ("p: p", 1, "contains itself"),
        ("a: raises x\nbetter: a x 2\nsafer: beter, a x 3", 3, "Did you mean 'better'?"),
        ("a: raises x\nc: lowers x\nb: a x 2, c x 2", 3, "'a x 2' raises x, but 'c x 2' lowers it"),
        ("a: raises x\nb: a x 2 lowers x", 2, "the line says that it lowers x, but 'a x 2' raises it"),
        ("b: a x 2", 1, "nothing is promised about 'a'"),
        ("a: raises x\nb: a := 3", 2, "raises some values and lowers others"),
        ("a: raises x\nb: a x 1", 2, "changes nothing"),
        ("a: raises x\nb: a + 0", 2, "changes nothing"),
        ("a: raises x\nb: a x -2", 2, "A factor must be a number above 0"),
        ("a: raises x\nb: a x 1e999", 2, "A factor must be a number above 0"),
        ("a: raises x\nb: a + 1e999", 2, "too large"),
        ("a: raises x, 3 to 8\nb: a := 9 raises x", 2, "not within its range from 3 to 8"),
        ("a: raises x, 8 to 3", 1, "ends before it starts"),
        ("a: raises x, sometimes", 1, "'sometimes' is not understood"),
        ("\n".join(f"c{i}: c{i + 1}" for i in range(60)) + "\nc60: a x 2 raises x", 51, "nested deeper"),
        ("a: raises x\n" + "\n".join(f"c{i}: c{i + 1}, c{i + 1}" for i in range(9)) + "\nc9: a x 2", 4, "At most 100"),
    ],
)
def test_wrong_lines_are_named(text, line, words):
    with pytest.raises(PromiseError) as caught:
        parse_promises(text, "bank.promises")
    assert str(caught.value).startswith(f"bank.promises:{line}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (caught.value.file, caught.value.line) == ("bank.promises", line)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", ":1: this is not a text file"),
        (b"a: raises x\n\x00", ":2: this is not a text file"),
        ("a: raises x".encode("utf-16"), ":1: this is not a text file"),
        (b"", ":1: the file has no promises"),
        (b"#" * 1_000_001, "more than 1,000,000 bytes"),
    ],
)
def test_unreadable_files_are_named(tmp_path, content, words):
    path = tmp_path / "bank.promises"
    path.write_bytes(content)
    with pytest.raises(DataError if "bytes" in words else PromiseError, match=r"bank\.promises") as caught:
        read_promises(path)
    assert words in str(caught.value)


def test_missing_files_and_folders_are_named(tmp_path):
    for path in (tmp_path / "missing.promises", tmp_path):
        with pytest.raises(DataError, match="cannot be read from"):
            read_promises(path)


def test_a_file_with_a_mark_and_windows_lines_is_read(tmp_path):
    path = tmp_path / "bank.promises"
    path.write_bytes("\ufeffa: raises x\r\nb: lowers x\r\n".encode())
    assert read_promises(path).monotone == {"a": "up", "b": "down"}


@in_one_test(
    ("text", "line", "words"),
    [
        ("credit_scor: lowers default", 1, "Did you mean 'credit_score'?"),
        ("colour: does not matter", 1, "'colour' is not an input of the model"),
        ("gender: raises default", 1, "'gender' is not an input of the model"),
        ("a: ltvv x 2 raises default", 1, "Did you mean 'ltv'?"),
        ("outcome: defalt\nltv: raises", 1, "the model has no class 'defalt'. Did you mean 'default'?"),
        ("ltv: raises defalt", 1, "no class 'defalt'"),
        ("a: housing x 2 raises default", 1, "is not a number, so it cannot be multiplied"),
        ("a: housing := onw raises default", 1, "housing has no value 'onw'. Did you mean 'own'?"),
        ("a: ltv := high raises default", 1, "ltv is a number, but 'high' is not"),
        ("a: mean income x 2 raises default", 1, "can be negative"),
        ("housing: raises default, 1 to 2", 1, "it has no range"),
    ],
)
def test_promises_are_validated_against_a_model(text, line, words):
    promises = parse_promises(text, "bank.promises")
    with pytest.raises(PromiseError) as caught:
        promises.validate(SPACE, ["default", "paid"], ["gender"])
    assert str(caught.value).startswith(f"bank.promises:{line}: ")
    assert words in str(caught.value)


def test_promises_that_fit_a_model_pass():
    promises = parse_promises(BANK.replace(", mean income + 5%", ""))
    promises.validate(SPACE, ["default", "paid"], ["gender"])
    assert parse_promises("outcome: 1\nx: raises 1").find_label([0, 1]) == 1
