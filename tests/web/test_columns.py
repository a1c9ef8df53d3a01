"""Forms offer the columns of the data and the classes of the label."""

import pandas as pd

from datamorphic.web.columns import read_columns
from datamorphic.web.subject import ChosenSubject


def _choose(path, target="label"):
    return ChosenSubject(kind="files", name="m", model="m.skops", data=str(path), target=target)


def test_columns_and_classes_of_a_file(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"age": [1, 2], "town": ["a", "b"], "label": ["yes", "no"]}).to_csv(path, index=False)
    columns = read_columns(_choose(path))
    assert (columns.features, columns.numeric, columns.classes) == (("age", "town"), ("age",), ("no", "yes"))


def test_a_target_of_many_values_has_no_classes(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"age": range(99), "label": range(99)}).to_csv(path, index=False)
    assert read_columns(_choose(path)).classes == ()


def test_a_file_that_cannot_be_read_is_explained(tmp_path):
    path = tmp_path / "rows.csv"
    assert "No such file" in read_columns(_choose(path)).message
    path.write_bytes(b"\x00\x01")
    assert "rows.csv" in read_columns(_choose(path)).message


def test_coded_classifiers_and_modules():
    assert read_columns(ChosenSubject.of_demo("Box 2")).features == ("x", "y")
    assert "data file" in read_columns(ChosenSubject(kind="module", model="m:C")).message


def test_texts_and_images_are_told_apart_from_numbers(tmp_path):
    path = tmp_path / "rows.parquet"
    images = [[[float(i), 1.0], [2.0, 3.0]] for i in range(60)]
    texts = [f"the text with number {i} is here" for i in range(60)]
    pd.DataFrame({"picture": images, "review": texts, "age": range(60), "label": list("ab" * 30)}).to_parquet(path)
    columns = read_columns(_choose(path))
    assert (columns.images, columns.texts, columns.sequences) == (("picture",), ("review",), ())
    assert columns.classes == ("a", "b")
