"""Table 18 of Ying (2024) beside Apertium."""

from __future__ import annotations

import pytest

from datamorphic.studies import translations
from datamorphic.studies.published import published
from datamorphic.studies.run import study
from datamorphic.systems.translator import explain_missing_apertium

WHY = explain_missing_apertium()


def test_types_add_up_to_the_violations() -> None:
    figures = published("002-18")
    figures = figures[figures["measure"] != "groups"]
    table = figures.pivot(index=["strategy", "subject"], columns="measure", values="published")
    assert (table[["type A", "type B", "type C"]].sum(axis=1) == table["violations"]).all()
    assert table["violations"].groupby("strategy").sum().to_dict() == {
        "Google Translator": 60,
        "Baidu Translator": 128,
        "Microsoft Bing Translator": 45,
    }


@pytest.mark.skipif(bool(WHY), reason=WHY)
@pytest.mark.slow
def test_apertium_is_measured_beside_them() -> None:
    result = study("translations", scale="tiny")
    rows = result.rows
    assert rows["ours"].notna().all()
    counts = rows[rows["column"] == "violations"]
    small_letter = counts[counts["row"].str.endswith("MRR7, Google Translator")].iloc[0]
    assert small_letter["published"] == 4
    assert small_letter["ours"] > 0
    assert "cannot translate Chinese" in small_letter["note"]
    assert counts[counts["row"].str.endswith("translation.MR3")]["ours"].tolist() == [0]
    assert "texts of one or two sentences" in result.describe()


def test_without_apertium_the_study_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APERTIUM_DATADIR", "/nowhere")
    monkeypatch.setattr(translations, "PAIR", "eng-xyz")  # its measurements are not those of the test above
    result = study("002-18", scale="tiny")
    assert result.rows["ours"].isna().all()
    assert result.rows["note"].str.contains("apt install apertium").all()
