"""``dm.test(promises=...)`` and ``datamorphic test --promises``: a promises file becomes checks and findings."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.errors import PromiseError

PROMISES = """\
outcome: default
credit_score: lowers default, 300 to 850, 9999 means unavailable
ltv: raises default
colour: does not matter
gender: protected
better_score: credit_score x 1.10
safer: better_score, ltv x 0.90
"""


class Bank:
    """Right in every way that is promised: 9999 means that the score is not known."""

    classes_ = np.array(["default", "paid"], dtype=object)

    def fit(self, frame, labels):
        return self

    def rate(self, frame):
        score = np.where(frame.credit_score > 850, 600, frame.credit_score)
        return (640 - score) / 60 + (frame.ltv - 60) / 15

    def predict_proba(self, frame):
        default = 1 / (1 + np.exp(-np.asarray(self.rate(frame), dtype=float)))
        return np.column_stack([default, 1 - default])

    def predict(self, frame):
        return self.classes_[self.predict_proba(frame).argmax(axis=1)]


class PunishesGoodScores(Bank):
    """Scores above 780 count as 600, and a red car costs a bit."""

    def rate(self, frame):
        score = np.where(frame.credit_score > 780, 600, frame.credit_score)
        return super().rate(frame.assign(credit_score=score)) + 0.1 * (frame.colour == "red")


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "credit_score": rng.integers(450, 851, 150),
            "ltv": rng.uniform(20, 98, 150).round(1),
            "colour": rng.choice(["red", "blue"], 150),
        }
    )
    frame.loc[::10, "credit_score"] = 9999
    return frame.assign(gender=rng.choice(["f", "m"], 150))


@pytest.fixture
def promises(tmp_path):
    path = tmp_path / "bank.promises"
    path.write_text(PROMISES)
    return path


def audit(model, loans, **options):
    only = ["monotone", "invariant", "protected"]
    space = dm.Space.from_frame(loans.drop(columns="gender"))
    return dm.test(dm.wrap(model, space=space), loans, only=only, budget="5000 runs", progress=False, **options)


def test_a_model_that_keeps_its_promises_passes(loans, promises):
    result = audit(Bank(), loans, promises=promises)
    assert result.passed, result.describe()
    states = {outcome.check: outcome for outcome in result.outcomes}
    assert states["monotone"].why.startswith("2 declared directions")
    assert "3 relations" in states["invariant"].why
    assert "gender is not an input" in states["protected"].why


def test_a_broken_promise_is_a_finding_with_its_line(loans, promises):
    result = audit(PunishesGoodScores(), loans, promises=promises)
    findings = {finding.about: finding for finding in result.findings}
    assert set(findings) == {"credit_score", "colour", "better_score", "safer"}
    assert f"Promised in {promises}, line 2: credit_score lowers default. " in findings["credit_score"].detail
    assert f"Promised in {promises}, line 4: colour does not matter. " in findings["colour"].detail
    better = findings["better_score"]
    assert better.title == "better_score (credit_score x 1.1) can raise the probability of default"
    assert f"Promised in {promises}, line 6" in better.detail
    assert "percentage point" in better.detail
    assert better.level == "fault"
    assert 0 < better.cases < better.cases_tried == 135
    assert "%" in better.examples[0].text
    assert better.examples[0].changed.keys() == {"credit_score"}
    assert f"promises={str(promises)!r}" in result.command()
    test_file = result.to_pytest(promises.parent / "test_bank.py")
    assert "promises=" in test_file.read_text()
    assert "bank.promises" in test_file.read_text()


def test_promises_are_merged_with_other_expectations(loans, promises):
    with pytest.raises(PromiseError, match=r"bank\.promises:2: 'credit_score' lowers here, but is declared 'up'"):
        audit(Bank(), loans, promises=promises, expect={"monotone": {"credit_score": "up"}})
    with pytest.raises(PromiseError, match=r"bank\.promises:3: 'ltv' raises here, but must not matter"):
        audit(Bank(), loans, promises=promises, protected=["ltv"])
    with pytest.raises(PromiseError, match=r"bank\.promises:1: the promises are about 'default'"):
        audit(Bank(), loans, promises=promises, expect={"outcome": "paid"})
    result = audit(Bank(), loans, promises=promises, expect={"monotone": {"ltv": "+"}, "outcome": "default"})
    assert result.passed


def test_wrong_promises_are_refused(loans, promises):
    with pytest.raises(dm.errors.ArgumentError, match="the path of a promises file"):
        audit(Bank(), loans, promises=3)
    promises.write_text("credit_scor: lowers default")
    with pytest.raises(PromiseError, match=r"bank\.promises:1: 'credit_scor' is not an input.*'credit_score'"):
        audit(Bank(), loans, promises=promises)


@pytest.mark.slow
def test_the_command_reads_promises(loans, promises, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loans.drop(columns="gender").to_csv("loans.csv", index=False)
    command = ["test", f"{__name__}:{PunishesGoodScores.__name__}_model", "loans.csv"]
    options = ["--promises", str(promises), "--only", "invariant", "--budget", "3000 runs", "--store", "none", "--json"]
    promises.write_text(PROMISES.replace("gender: protected\n", ""))
    result = CliRunner().invoke(app, [*command, *options])
    assert result.exit_code == 1, result.output
    document = json.loads(result.stdout)
    findings = [finding for outcome in document["outcomes"] for finding in outcome["findings"]]
    assert {finding["about"] for finding in findings} == {"colour", "better_score", "safer"}
    promises.write_text("ltv: raises default\nltv: lowers default")
    broken = CliRunner().invoke(app, [*command, *options])
    assert broken.exit_code == 2
    assert "bank.promises:2: 'ltv' lowers default here" in " ".join(broken.stderr.split())


PunishesGoodScores_model = PunishesGoodScores()
