"""The reader of Freddie Mac's loan-level files, on small files written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import datamorphic as dm
from datamorphic.data.loans.freddie_mac import list_origination_fields, read_freddie_mac
from datamorphic.errors import DataError, IncompleteData
from support.cases import in_one_test

ORIGINATION_FIELDS = list(list_origination_fields())
FILES = Path(__file__).parent / "files"
ORIGINATION, PERFORMANCE = FILES / "sample_orig_2018.txt", FILES / "sample_svcg_2018.txt"


def write(folder: Path, lines: list[str], name: str = "loans.txt") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def replace_field(line: str, name: str, text: str) -> str:
    fields = line.split("|")
    fields[ORIGINATION_FIELDS.index(name)] = text
    return "|".join(fields)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return ORIGINATION.read_text(encoding="utf-8").splitlines()


def test_the_attributes_are_read() -> None:
    loans = read_freddie_mac(ORIGINATION)
    assert list(loans.columns) == list(dm.data.make_loan_book(5).columns[:-1])
    assert len(loans) == 7
    second = loans.loc["F18Q10000002"].to_dict()
    assert second == {
        "credit_score": 661,
        "ltv": 67,
        "dti": 32,
        "loan_term": 360,
        "borrowers": 1,
        "interest_rate": 5.875,
        "upb": 227000,
        "mortgage_insurance": 0,
        "units": 1,
        "first_time_buyer": "N",
        "occupancy": "P",
        "channel": "B",
        "state": "FL",
        "property_type": "PU",
        "purpose": "C",
    }
    assert loans.loc["F18Q10000004", ["credit_score", "dti"]].tolist() == [9999, 999]  # unavailable
    assert dm.data.replace_sentinels(loans).isna().sum().sum() == 5
    assert (loans.dtypes == dm.data.make_loan_book(5).drop(columns="default").dtypes).all()


def test_defaults_are_ninety_days_late_or_taken_over_within_three_years() -> None:
    loans = read_freddie_mac(ORIGINATION, PERFORMANCE)
    assert loans["default"].tolist() == ["paid", "default", "default", "paid", "paid", "paid", "default"]
    #                                     closed  90 days    RA         closed  too late  XX   code 09


def test_releases_of_other_widths_are_read(tmp_path: Path, lines: list[str]) -> None:
    for width in (26, 27, 31):
        path = write(tmp_path, ["|".join(line.split("|")[:width]) for line in lines])
        assert read_freddie_mac(path).equals(read_freddie_mac(ORIGINATION))


def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*lines, "", ""]).encode())
    assert read_freddie_mac(path).equals(read_freddie_mac(ORIGINATION))


def test_a_header_is_read_by_name(tmp_path: Path, lines: list[str]) -> None:
    titles = ["Credit Score", *(name.replace("_", " ").title() for name in ORIGINATION_FIELDS[1:])]
    titles[ORIGINATION_FIELDS.index("dti")] = "Original Debt-to-Income (DTI) Ratio"
    rows = [line.split("|") for line in ["|".join(titles), *lines]]
    path = write(tmp_path, ["|".join(reversed(row)) for row in rows])  # the order does not matter
    assert read_freddie_mac(path).equals(read_freddie_mac(ORIGINATION))
    titles[ORIGINATION_FIELDS.index("dti")] = "DTIs"
    with pytest.raises(DataError, match=r"loans.txt:1: the header lacks 'dti'. Did you mean 'dtis'\?"):
        read_freddie_mac(write(tmp_path, ["|".join(titles), *lines]))
    with pytest.raises(DataError, match=r"loans.txt has a header but no loans"):
        read_freddie_mac(write(tmp_path, ["|".join(ORIGINATION_FIELDS)]))
    with pytest.raises(DataError, match=r"loans.txt:1: the header has 'ltv' more than once"):
        read_freddie_mac(write(tmp_path, ["|".join([*ORIGINATION_FIELDS, "ltv"]), *lines]))


@pytest.mark.slow
@in_one_test(
    ("field", "text", "problem"),
    [
        ("credit_score", "", "credit_score is missing; a value that is unavailable is written 9999."),
        (
            "credit_score",
            "1200",
            "credit_score is 1200, outside 300 to 850; a value that is unavailable is written 9999.",
        ),
        ("credit_score", "good", "credit_score is 'good', which is not a number."),
        ("credit_score", "inf", "credit_score is 'inf', which is not a number."),
        ("dti", "-3", "dti is -3, outside 0 to 65"),
        ("dti", "35.5", "dti is 35.5, which is not a whole number."),
        ("ltv", "0", "ltv is 0, outside 1 to 998"),
        ("interest_rate", "", "interest_rate is missing."),
        ("interest_rate", "425", "interest_rate is 425, outside 0.1 to 25."),
        ("units", "5", "units is 5, outside 1 to 4"),
        ("state", "XX", "state is 'XX', which is none of the codes (two letters, such as CA)."),
        ("channel", "Q", "channel is 'Q', which is none of the codes (R, B, C, T, 9)."),
        ("occupancy", " ", "occupancy is missing; a value that is unavailable is written 9."),
        ("loan_sequence_number", "17", "the loan number '17' is not like F18Q10000001."),
        ("loan_sequence_number", "F18Q10000001", "the loan 'F18Q10000001' was on an earlier line, too."),
    ],
)
def test_a_missing_or_impossible_value_is_one_line_with_its_number(
    tmp_path: Path, lines: list[str], field: str, text: str, problem: str
) -> None:
    path = write(tmp_path, [*lines[:2], replace_field(lines[2], field, text), *lines[3:]])
    with pytest.raises(DataError) as caught:
        read_freddie_mac(path)
    message = str(caught.value)
    assert message.startswith(f"loans.txt:3: {problem}")
    assert "\n" not in message


def test_loans_with_such_values_can_be_left_out(tmp_path: Path, lines: list[str]) -> None:
    faulty = [replace_field(lines[0], "dti", "70"), *lines[1:6], replace_field(lines[6], "state", "")]
    path = write(tmp_path, faulty)
    with pytest.raises(
        DataError, match=r"There is 1 other problem. Correct the file, or leave such lines out: invalid='drop'"
    ):
        read_freddie_mac(path)
    with pytest.warns(IncompleteData, match=r"2 lines left out. line 1: dti is 70, .*; line 7: state is missing\."):
        loans = read_freddie_mac(path, invalid="drop")
    assert loans.equals(read_freddie_mac(ORIGINATION).iloc[1:6])


def test_files_that_are_none_of_freddie_mac(tmp_path: Path, lines: list[str]) -> None:
    cases = {
        "": r"empty.txt is empty\.",
        "  \n\n": r"empty.txt is empty\.",
        "sepal,petal\n1,2\n": r"empty.txt:1: 1 field separated by '\|', but an origination file of Freddie Mac has 26 to 32\.",
        "\n".join(
            [*lines[:3], "1|2|3", *lines[3:]]
        ): r"empty.txt:4: the line has 3 fields, but the lines before it have 32\.",
        "\n".join([*lines[:3], "", *lines[3:]]): r"empty.txt:4: the line is empty",
    }
    for content, message in cases.items():
        path = tmp_path / "empty.txt"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            read_freddie_mac(path)
    for content, message in (
        (b"PK\x03\x04", "is a ZIP archive"),
        (b"\x89PNG\xff", "not a text file"),
        (b"a\0b", "not a text"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=message):
            read_freddie_mac(path)
    with pytest.raises(DataError, match="There is no file"):
        read_freddie_mac(tmp_path / "nowhere.txt")
    with pytest.raises(DataError, match="cannot be read"):
        read_freddie_mac(tmp_path)


def test_the_two_files_are_not_confused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"svcg_2018.txt:1: this is a performance file"):
        read_freddie_mac(PERFORMANCE, ORIGINATION)
    with pytest.raises(DataError, match=r"orig_2018.txt:1: a performance file of Freddie Mac has"):
        read_freddie_mac(ORIGINATION, ORIGINATION)


@pytest.mark.parametrize(
    ("position", "text", "problem"),
    [
        (4, "old", r"svcg.txt:5: the loan age is 'old', which is not a number of months\."),
        (3, "late", r"svcg.txt:5: the delinquency status is 'late', expected months late or RA\."),
    ],
)
def test_faults_of_the_performance_file_name_its_line(tmp_path: Path, position: int, text: str, problem: str) -> None:
    months = PERFORMANCE.read_text(encoding="utf-8").splitlines()
    fields = months[4].split("|")
    fields[position] = text
    months[4] = "|".join(fields)
    with pytest.raises(DataError, match=problem):
        read_freddie_mac(ORIGINATION, write(tmp_path, months, "svcg.txt"))


def test_faulty_months_can_be_left_out(tmp_path: Path) -> None:
    months = PERFORMANCE.read_text(encoding="utf-8").splitlines()
    fields = months[5].split("|")
    fields[3] = "late"
    months[5] = "|".join(fields)
    with pytest.warns(IncompleteData, match=r"svcg.txt: 1 line left out. line 6: the delinquency"):
        loans = read_freddie_mac(ORIGINATION, write(tmp_path, months, "svcg.txt"), invalid="drop")
    assert loans["default"].iloc[1] == "paid"  # the month in which it was 90 days late is unknown


def test_loans_without_months_and_loans_observed_too_briefly(tmp_path: Path) -> None:
    months = PERFORMANCE.read_text(encoding="utf-8").splitlines()
    with pytest.raises(DataError, match=r"orig_2018.txt:7: the loan 'F18Q10000007' has no line in svcg.txt\."):
        read_freddie_mac(ORIGINATION, write(tmp_path, months[:-2], "svcg.txt"))
    with pytest.warns(IncompleteData, match="1 loan not closed and observed for less than 36 months"):
        loans = read_freddie_mac(ORIGINATION, write(tmp_path, months[:-1], "svcg.txt"))
    assert loans["default"].iloc[-1] == "paid"


def test_a_book_that_is_read_can_be_checked() -> None:
    loans = read_freddie_mac(ORIGINATION, PERFORMANCE)
    kinds = {column: "integer" for column in loans.select_dtypes("number") if column != "interest_rate"}
    report = dm.check(dm.data.default_probability, loans.drop(columns="default"), "credit.HMR5", kinds=kinds)
    assert report.table[["violated", "inapplicable", "holds"]].iloc[0].tolist() == [0, 1, 6]
