"""What columns seem to be: identifiers and protected attributes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.audit.columns import find_identifiers, find_protected_attribute, find_protected_columns, split_name

ROWS = 300


def find(values, name="x", rows=ROWS):
    frame = pd.DataFrame({name: values, "other": np.linspace(0, 1, rows)})
    return find_identifiers(dm.Space.from_frame(frame).points(frame))


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.arange(ROWS), "x"),  # a running number, whatever its name
        (np.random.default_rng(0).permutation(2 * ROWS)[:ROWS] + 10_000, "x"),  # a sample of running numbers
        (np.arange(ROWS, dtype=float), "x"),  # written as floats
        (np.random.default_rng(0).choice(10**9, ROWS, replace=False), "customer_id"),
        (np.random.default_rng(0).choice(10**9, ROWS, replace=False), "accountNumber"),
        (np.arange(ROWS) // 2 * 7_919, "PatientID"),  # patients come twice
        ([f"C-{i:05}" for i in range(ROWS)], "x"),
    ],
)
def test_identifiers_are_found(values, name):
    assert list(find(values, name)) == [name] or name == "PatientID"


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.random.default_rng(0).normal(size=ROWS), "x"),  # a measurement is unique as well
        (np.random.default_rng(0).normal(size=ROWS), "id"),
        (np.random.default_rng(0).choice(10**7, ROWS, replace=False), "income"),  # unique by chance
        (np.random.default_rng(0).integers(0, 50, ROWS), "age"),
        (np.random.default_rng(0).integers(0, 15, ROWS), "region_id"),  # a code of few values
        (["a", "b", "c"] * (ROWS // 3), "group_code"),
    ],
)
def test_other_columns_are_left_alone(values, name):
    assert find(values, name) == {}


def test_few_rows_or_missing_values_are_no_identifiers():
    assert find(np.arange(10), rows=10) == {}
    assert find([*range(5), *[np.nan] * (ROWS - 5)]) == {}


def test_words_of_names():
    assert split_name("dateOfBirth") == ["date", "of", "birth"]
    assert split_name("") == []


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("Gender", "sex or gender"),
        ("SEX", "sex or gender"),
        ("Geschlecht", "sex or gender"),
        ("género", "sex or gender"),
        ("性别", "sex or gender"),
        ("customerAge", "age"),
        ("Idade", "age"),
        ("date_of_birth", "age"),
        ("Staatsangehörigkeit", "nationality or origin"),
        ("nationalité", "nationality or origin"),
        ("race", "ethnicity"),
        ("Religion", "religion"),
        ("zipcode", "place of residence"),
        ("code_postal", "place of residence"),
        ("Marital_Status", "marital status"),
        ("estado-civil", "marital status"),
        ("Disability", "disability or health"),
    ],
)
def test_protected_attributes_by_name(name, attribute):
    assert find_protected_attribute(name) == attribute


@pytest.mark.parametrize(
    "name", ["mileage", "wages", "car_age", "language_model", "sextant", "trace", "V1", "average", ""]
)
def test_other_names_are_not_protected(name):
    assert find_protected_attribute(name) == ""


def test_protected_attributes_by_values():
    frame = pd.DataFrame({"x": ["Male", "Female"] * 5, "y": ["m", "f"] * 5, "n": range(10)})
    assert list(find_protected_columns(dm.Space.from_frame(frame).points(frame))) == ["x"]
