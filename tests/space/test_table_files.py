"""Tables in CSV and Parquet files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.space.table_files import find_csv_options, read_table
from support.cases import in_one_test

TABLE = pd.DataFrame({"a": [1.5, 2.5, 3.25], "größe": ["x", "y", "x"], "n": [7, 8, 9]})


def test_files_that_are_no_tables(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "broken.parquet").write_text("no")
    for name in ("empty.csv", "broken.parquet"):
        with pytest.raises(dm.errors.DataError, match="cannot be read as a table"):
            read_table(tmp_path / name)


@in_one_test(
    ("name", "how"),
    [
        ("plain.csv", {}),
        ("semicolons.csv", {"sep": ";"}),
        ("continental.csv", {"sep": ";", "decimal": ","}),
        ("tabs.csv", {"sep": "\t"}),
        ("tabs.tsv", {"sep": "\t"}),
        ("marked.csv", {"encoding": "utf-8-sig"}),
        ("marked.csv", {"sep": ";", "encoding": "utf-8-sig"}),
        ("wide.csv", {"encoding": "utf-16"}),
        ("excel.txt", {"sep": "\t", "decimal": ",", "encoding": "utf-16"}),
    ],
)
def test_tables_are_read_as_they_are_written(tmp_path, name, how):
    TABLE.to_csv(tmp_path / name, index=False, **how)
    pd.testing.assert_frame_equal(read_table(tmp_path / name), TABLE)
    needed = {option: value for option, value in how.items() if value != "utf-8-sig"}
    assert find_csv_options(tmp_path / name) == needed


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_separator_at_the_end_of_rows_shifts_no_column(tmp_path, mark):
    head, *rows = TABLE.to_csv(index=False, sep=mark).splitlines()
    (tmp_path / "t.csv").write_text("\n".join([head, *(row + mark for row in rows)]), encoding="utf-8")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), TABLE)


@pytest.mark.parametrize("text", ["a,b\nx,1,2\ny,3,4\n", "a,b\n1,2,3,4\n1,2,3,4\n", "a\n1,5\n2,5\n"])
def test_fields_without_a_name_are_refused(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(dm.errors.DataError, match=r"t\.csv has rows with more fields .* Give each column a name"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le"])
def test_other_encodings_are_refused_with_the_remedy(tmp_path, encoding):
    (tmp_path / "t.csv").write_bytes(TABLE.to_csv(index=False).encode(encoding))
    with pytest.raises(dm.errors.DataError, match=r"t\.csv is not UTF-8 text .* Save it as UTF-8"):
        read_table(tmp_path / "t.csv")


@in_one_test("index", [[0, 1, 2], [17, 4, 9], ["Mazda", "Fiat", "Volvo"]])
@in_one_test("times", [1, 2])
def test_a_saved_index_is_no_feature(tmp_path, index, times):
    file = tmp_path / "t.csv"
    TABLE.set_axis(index).to_csv(file)
    if times == 2:
        pd.read_csv(file).to_csv(file)
    with pytest.warns(dm.errors.AmbiguousData, match=r"first column of t\.csv .* saved index"):
        pd.testing.assert_frame_equal(read_table(file), TABLE)


@pytest.mark.parametrize("values", [[0.5, 1.5, 2.5], [0, 1, 1]])
def test_other_columns_without_a_name_stay(tmp_path, values):
    TABLE.set_axis(values).to_csv(tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv")["Unnamed: 0"].tolist() == values


def test_images_in_a_parquet_file_are_arrays(tmp_path):
    images = np.arange(24.0).reshape(2, 3, 4)
    pd.DataFrame({"image": [image.tolist() for image in images], "wave": [[1.0, 2.0], [3.0]]}).to_parquet(
        tmp_path / "images.parquet"
    )
    frame = read_table(tmp_path / "images.parquet")
    assert np.array_equal(np.stack(frame["image"]), images)
    assert frame["wave"][1].tolist() == [3.0]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_name_that_occurs_twice_is_refused(tmp_path, mark):
    (tmp_path / "t.csv").write_text(mark.join(["a", "b", "a"]) + "\n" + mark.join("123") + "\n")
    with pytest.raises(dm.errors.DataError, match=r"'a' occurs more than once in the first line of t\.csv.* 'a\.1'"):
        read_table(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text(mark.join(["a", "a.1", "a.2"]) + "\n" + mark.join("123") + "\n")
    assert list(read_table(tmp_path / "t.csv")) == ["a", "a.1", "a.2"]
