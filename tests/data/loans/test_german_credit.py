"""The German credit data as a loan book."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import datamorphic as dm
from datamorphic.data.loans.german_credit import (
    BAD_LABEL,
    LEVELS,
    UNKNOWN_CODES,
    german_credit_relations,
    load_german_credit,
    read_expectations,
    to_levels,
)
from datamorphic.errors import DataError
from datamorphic.relations.catalogue.promises import read_promises

pytestmark = pytest.mark.skipif("german_credit" not in dm.data.available(), reason="needs the German credit data")


@pytest.fixture(scope="module")
def loans() -> pd.DataFrame:
    return load_german_credit()


def test_ordered_categories_become_levels(loans: pd.DataFrame) -> None:
    codes = dm.data.load("german_credit")
    assert loans.shape == (1000, 21)
    for name, order in LEVELS.items():
        for code, level in zip(codes[name], loans[name], strict=True):
            assert level == (-1 if code == UNKNOWN_CODES.get(name) else order.index(code))
    others = codes.columns.difference(list(LEVELS))
    pd.testing.assert_frame_equal(loans[others], codes[others])


def test_every_column_has_an_expectation_or_a_reason_for_none(loans: pd.DataFrame) -> None:
    columns = [expectation.column for expectation in read_expectations()]
    assert sorted(columns) == sorted(loans.columns.drop("target"))
    assert all(expectation.reason for expectation in read_expectations())
    for expectation in read_expectations():
        assert (expectation.change is not None) == (expectation.promise in ("raises", "lowers"))


def test_changes_lead_to_a_safer_loan(loans: pd.DataFrame) -> None:
    for expectation in read_expectations():
        if expectation.change is None:
            continue
        changed = expectation.change.apply(loans)
        sign = 1 if expectation.promise == "lowers" else -1
        difference = sign * (changed.frame[expectation.column] - loans[expectation.column])
        assert (difference >= 0).all()
        assert (difference > 0).any()
        assert (changed.inapplicable == (loans[expectation.column] == -1)).all()
        assert changed.clipped[~changed.inapplicable & (difference == 0)].all() or expectation.change.factor is not None


def test_a_linear_model_with_the_expected_signs_satisfies_them(loans: pd.DataFrame) -> None:
    columns = [expectation.column for expectation in read_expectations() if expectation.change is not None]
    known = loans[(loans[columns] >= 0).all(axis=1)]
    model = LogisticRegression(max_iter=2000).fit(known[columns] / known[columns].std(), known.target == "bad")
    signs = dict(zip(columns, model.coef_[0], strict=True))
    assert {name for name, weight in signs.items() if weight > 0} >= {"duration_months", "installment_rate"}
    assert {name for name, weight in signs.items() if weight < 0} >= {"savings", "checking_status", "employment"}
    scale = known[columns].std()

    def rate_bad(frame: pd.DataFrame) -> object:
        return model.predict_proba(frame[columns] / scale)[:, 1]

    kinds = dict.fromkeys(columns, "integer")
    report = dm.check(rate_bad, loans[columns], list(german_credit_relations().values()), kinds=kinds, shrink=False)
    violated = dict(zip(report.table.relation, report.table.violated, strict=True))
    expected = {f"german.{name}" for name, weight in signs.items() if weight * (1 if name in RISING else -1) < 0}
    assert {name for name, count in violated.items() if count and name != "german.safer"} == expected


RISING = ("duration_months", "credit_amount", "installment_rate")


def format_german_credit_promises() -> str:
    """Return the expectations as the text of a promises file."""
    lines = ["# German credit: what a lender expects, all else equal", f"outcome: {BAD_LABEL}"]
    for expectation in read_expectations():
        if expectation.promise:
            statement = (
                expectation.promise if expectation.promise == "protected" else f"{expectation.promise} {BAD_LABEL}"
            )
            change = expectation.change
            if change is not None and change.sentinels:
                statement += f", {change.low:g} to {change.high:g}, {change.sentinels[0]} means unavailable"
            lines.append(f"{expectation.column}: {statement}  # {expectation.reason}")
    return "\n".join(lines) + "\n"


def test_the_expectations_are_a_promises_file(tmp_path: Path) -> None:
    path = tmp_path / "german.txt"
    path.write_text(format_german_credit_promises(), encoding="utf-8")
    promises = read_promises(path)
    assert promises.outcome == "bad"
    assert {name: promise.kind for name, promise in promises.columns.items()} == {
        expectation.column: expectation.promise for expectation in read_expectations() if expectation.promise
    }


def test_other_data_are_refused(loans: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="lack the column 'checking_status'"):
        to_levels(loans.drop(columns="checking_status"))
    with pytest.raises(DataError, match="Row 0 of the German credit data has checking_status=0"):
        to_levels(loans)
