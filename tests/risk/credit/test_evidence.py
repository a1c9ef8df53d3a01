"""Whether there are enough loans for a verdict on a model."""

from __future__ import annotations

import json
import math
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic._stats import compute_wilson_interval, count_cases_to_decide
from datamorphic.cli.main import app
from datamorphic.risk.credit.evidence import LoanShortage
from datamorphic.risk.credit.terms import describe_shortage


def law(frame):
    return dm.data.default_probability(frame)


def rarely_wrong(frame):
    """Takes a better score for a higher risk, for few applicants: fewer than one of a hundred."""
    return law(frame) + np.where(frame.credit_score.between(701, 705), 0.05, 0.0)


def upside_down(frame):
    return 1 - law(frame)


@pytest.mark.parametrize("share", [0.0, 0.004, 0.02, 0.5, 1.0])
def test_the_least_number_is_where_the_interval_leaves_the_limit(share):
    number = count_cases_to_decide(share, 0.01)

    def is_decided(total):
        low, high = compute_wilson_interval(share * total, total)
        return high <= 0.01 or low > 0.01

    assert is_decided(number)
    assert not is_decided(number - 1)


def test_one_unlabelled_loan_gets_no_verdict(loans):
    report = dm.credit({"law": law}, loans.drop(columns="default").head(1))
    assert report.describe().startswith("No verdict on law: 1 loan is too few")
    assert "380 more loans are needed, if none of them is treated wrongly" in report.describe()
    assert (report.passed, report.decided, report.selected, report.rejected) == (False, False, None, [])
    assert report.headline == "too few loans for a verdict on law"
    assert json.loads(report.to_json())["undecided"]["law"]["needed"] == 381
    assert ElementTree.fromstring(report.to_junit()).get("skipped") == "5"
    assert report.page().state == "warn"
    assert all(tile.state == "warn" for tile in report.page().tiles)


def test_the_number_that_was_asked_for_suffices(loans):
    shortage = dm.credit({"law": law}, loans.head(380)).undecided["law"]
    usable = loans[(loans[["credit_score", "dti", "ltv"]] < [9999, 999, 999]).all(axis=1)]
    assert shortage.missing > 0
    assert not dm.credit({"law": law}, usable.head(shortage.needed - 1)).decided
    accepted = dm.credit({"law": law}, usable.head(shortage.needed))
    assert accepted.passed
    assert accepted.describe().startswith("Accept law: it keeps 5 of 5 expectations.")


def test_a_few_loans_suffice_to_reject(loans):
    report = dm.credit({"upside down": upside_down, "law": law}, loans.drop(columns="default").head(10))
    assert report.rejected == ["upside down"]
    assert list(report.undecided) == ["law"]
    assert report.describe().partition("\n")[0].endswith("Rejected: upside down.")
    assert not report.usable


def test_a_decided_model_is_used_beside_an_undecided_one(loans):
    report = dm.credit({"law": law, "rare": rarely_wrong}, loans.head(400))
    assert report.selected == "law"
    assert list(report.undecided) == ["rare"]
    verdict = report.describe().partition("\n")[0]
    assert verdict.startswith("Use law.")
    assert "No verdict on rare" in verdict
    assert not report.passed


def test_models_that_nothing_applies_to_get_no_verdict(loans):
    report = dm.credit({"law": law}, loans.assign(credit_score=9999, dti=999, ltv=999))
    shortage = report.undecided["law"]
    assert (shortage.cases, shortage.needed) == (0, 381)


def test_a_threshold_of_0_is_about_the_given_loans(loans):
    assert dm.credit({"law": law}, loans.drop(columns="default").head(1), threshold=0).passed


def test_words_of_shortages():
    shortage = LoanShortage(model="m", relation="r", cases=1000, violated=5, needed=1522)
    assert describe_shortage(shortage, 0.01).endswith(
        "1,000 loans are too few to tell whether more than 1% of applicants are treated wrongly. "
        "522 more loans are needed, if still 0.5% of them are treated wrongly."
    )
    at_the_limit = LoanShortage(model="m", relation="r", cases=100, violated=1, needed=None)
    assert at_the_limit.missing is None
    assert "no number of loans can settle it" in describe_shortage(at_the_limit, 0.01)
    assert count_cases_to_decide(0.01, 0.01) is None
    assert math.isclose(count_cases_to_decide(0, 0.5), 4)


def test_the_command_has_the_exit_code_of_no_verdict(loans, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "live_model.py").write_text(
        "import datamorphic as dm\n\ndef law(frame):\n    return dm.data.default_probability(frame)\n"
    )
    loans.drop(columns="default").head(1).to_csv("today.csv", index=False)
    words = ["credit", "live_model:law", "today.csv"]
    result = CliRunner().invoke(app, words, prog_name="datamorphic")
    assert result.exit_code == 4, result.output
    assert result.stdout.startswith("No verdict on live_model:law: 1 loan is too few")
    assert CliRunner().invoke(app, [*words, "--allow-incomplete"], prog_name="datamorphic").exit_code == 0
