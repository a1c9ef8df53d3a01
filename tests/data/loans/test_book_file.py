"""Loan books in CSV files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.data.loans.book_file import read_loan_book
from datamorphic.data.loans.fields import convert_attributes
from datamorphic.errors import DataError, IncompleteData
from support.cases import in_one_test

GOOD = ["credit_score,dti,ltv,state,branch,default", "700,30,80,CA,7,paid", "650,40,95,TX,8,default"]


def write(folder: Path, lines: list[str]) -> Path:
    path = folder / "loans.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_book_is_the_same_after_a_round_trip(tmp_path: Path) -> None:
    loans = dm.data.make_loan_book(1000, seed=4)
    path = tmp_path / "loans.csv"
    for separator in (",", ";", "\t"):
        loans.to_csv(path, index=False, sep=separator)
        pd.testing.assert_frame_equal(read_loan_book(path), loans)


def test_other_columns_are_read_as_they_are(tmp_path: Path) -> None:
    loans = read_loan_book(write(tmp_path, GOOD))
    assert loans.branch.tolist() == [7, 8]
    assert loans["default"].tolist() == ["paid", "default"]
    assert convert_attributes.__doc__


@in_one_test(
    ("line", "message"),
    [
        (",40,95,TX,8,default", r"loans.csv:3: credit_score is missing; a value that is unavailable is written 9999\."),
        ("85,40,95,TX,8,default", r"loans.csv:3: credit_score is 85, outside 300 to 850"),
        ("650,forty,95,TX,8,default", r"loans.csv:3: dti is 'forty', which is not a number\."),
        ("650,40,95,Texas,8,default", r"loans.csv:3: state is 'Texas', which is none of the codes"),
        ("650,40,95,TX,8,", r"loans.csv:3: default is missing\."),
        ("650,40,95", r"loans.csv:3: the line has 3 fields, but the header has 6\."),
    ],
)
def test_a_fault_is_one_line_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_loan_book(write(tmp_path, [*GOOD[:2], line]))
    assert "\n" not in str(caught.value)


def test_faulty_loans_can_be_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, [*GOOD, "100,30,80,CA,9,paid"])
    with pytest.warns(IncompleteData, match=r"loans.csv: 1 line left out. line 4: credit_score is 100"):
        assert read_loan_book(path, invalid="drop").branch.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([""], "loans.csv is empty"),
        (GOOD[:1], "has a header but no loans"),
        (
            ["credit_scor,dti,ltv", "1,2,3"],
            r"loans.csv:1: the header lacks 'credit_score', .* Did you mean 'credit_scor'\?",
        ),
        (["credit_score,dti,ltv,dti", "1,2,3,4"], "loans.csv:1: the header has 'dti' more than once"),
        (["<html>", "<body>"], r"loans.csv:1: the header lacks 'credit_score'"),
    ],
)
def test_files_that_are_no_loan_books(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_loan_book(write(tmp_path, lines))
