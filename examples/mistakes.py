"""A mistake for every check of `dm.test`, planted in a model for loans: what is reported?

Run it with: python examples/mistakes.py (a minute), or python examples/mistakes.py leaks slices
The guide to the checks, docs/guides/checks.md, quotes these findings.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from applicants import applicants
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm

LOANS = applicants(600)
NUMBERS, WORDS = ["income", "debts", "years_employed"], ["gender", "home"]
INPUTS = [*NUMBERS, *WORDS]


def fit(data=LOANS, unknown="ignore"):
    """Return a model without a mistake."""
    encoder = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown=unknown), WORDS))
    return make_pipeline(encoder, LogisticRegression()).fit(data[INPUTS], data["decision"])


GOOD = fit()


def before(change):
    """Return a model whose inputs are changed on the way to it."""
    return lambda frame: GOOD.predict(change(frame))


class Scored:
    """A model whose probabilities, or answers, are changed on the way from it."""

    classes_ = GOOD.classes_

    def __init__(self, probabilities=lambda p: p, threshold=0.5):
        self.probabilities, self.threshold = probabilities, threshold

    def predict(self, frame):
        """Return refused above the threshold."""
        return np.where(GOOD.predict_proba(frame)[:, 1] > self.threshold, "refused", "approved")

    def predict_proba(self, frame):
        """Return the probabilities of approved and refused."""
        return self.probabilities(GOOD.predict_proba(frame))


# -- how it is queried ----------------------------------------------------------------------------------------------


def repeats():
    """Add random noise in prediction."""
    rng = np.random.default_rng(0)
    return {"model": before(lambda frame: frame.assign(income=frame["income"] + rng.normal(0, 3_000, len(frame))))}


def answers():
    """Give no answer where debts exceed the income."""

    def predict(frame):
        answers = GOOD.predict(frame).astype(object)
        answers[(frame["debts"] > frame["income"]).to_numpy()] = None
        return answers

    return {"model": predict}


def row_order():
    """Approve whoever comes first."""

    def predict(frame):
        answers = GOOD.predict(frame)
        answers[0] = "approved"
        return answers

    return {"model": predict}


def batches():
    """Compare the income with the mean of the batch instead of that of the training data."""
    mean = LOANS["income"].mean()
    model = before(lambda frame: frame.assign(income=frame["income"] - frame["income"].mean() + mean))
    return {"model": model, "data": LOANS[:80]}


def column_order():
    """Turn the table into an array before the columns are selected by name."""
    tree = DecisionTreeClassifier(max_depth=5, random_state=0).fit(LOANS[NUMBERS].to_numpy(), LOANS["decision"])
    return {"model": lambda frame: tree.predict(frame.to_numpy()), "data": LOANS[[*NUMBERS, "decision"]]}


def row_labels():
    """Put two columns together by the index, of which one has lost it."""

    def lose_index(frame):
        debts = pd.Series(frame["debts"].to_numpy())
        return frame.assign(debts=debts.reindex(frame.index, fill_value=0))

    return {"model": before(lose_index)}


def number_types():
    """Look for numbers in a text: 2 is 2.0 as soon as one value is missing."""

    def predict(frame):
        new = frame["years_employed"].astype(str).isin(["0", "1", "2"])
        return np.where(new, "refused", GOOD.predict(frame))

    return {"model": predict}


# -- data -----------------------------------------------------------------------------------------------------------


def table():
    """Write -999 where the income is unknown."""
    rng = np.random.default_rng(0)
    income = LOANS["income"].where(rng.random(len(LOANS)) > 0.1, -999)
    return {"model": GOOD, "data": LOANS.assign(income=income)}


def duplicates():
    """Test on rows of which some were trained on."""
    return {"model": GOOD, "data": LOANS[400:], "reference": LOANS[:450]}


def identifiers():
    """Train on the number of the client: the file was sorted by decision when numbers were given."""
    data = LOANS.sort_values("decision", kind="stable").reset_index(drop=True)
    data.insert(0, "client", 70_001 + np.arange(len(data)))
    data = data.sample(frac=1, random_state=0).reset_index(drop=True)
    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    return {
        "model": tree.fit(data[["client", *NUMBERS]], data["decision"]),
        "data": data[["client", *NUMBERS, "decision"]],
    }


def scores():
    """Move the threshold in `predict` alone."""
    return {"model": Scored(threshold=0.25)}


def leaks():
    """Train on what is known only after the decision."""
    rng = np.random.default_rng(0)
    paid = np.where(LOANS["decision"] == "approved", LOANS["income"] * rng.uniform(0.2, 0.9, len(LOANS)), 0).round(-2)
    data = LOANS[NUMBERS].assign(paid_out=paid, decision=LOANS["decision"])
    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    return {"model": tree.fit(data.drop(columns="decision"), data["decision"]), "data": data}


def interface():
    """Use an encoder that raises on a new category."""
    return {"model": fit(unknown="error")}


def edges():
    """Fill missing numbers with zero on the way to the model."""

    class Service(Scored):
        """The same answers and probabilities, with missing incomes as zero."""

        def predict(self, frame):
            return super().predict(frame.fillna({"income": 0}))

        def predict_proba(self, frame):
            return GOOD.predict_proba(frame.fillna({"income": 0}))

    return {"model": Service()}


def dependence():
    """Train on other spellings of a category than those in use."""
    home = LOANS["home"]
    richer = np.where(home == "owned", 25_000, -12_000)
    data = LOANS.assign(decision=np.where(LOANS["income"] - LOANS["debts"] + richer > 30_000, "approved", "refused"))
    return {"model": fit(data.assign(home=home.str.upper())), "data": data}


# -- declared -------------------------------------------------------------------------------------------------------


def monotone():
    """Leave a direction to nearest neighbours."""
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier(5)).fit(LOANS[NUMBERS], LOANS["decision"])
    expect = {"monotone": {"income": "up"}, "outcome": "approved"}
    return {"model": neighbours, "data": LOANS[[*NUMBERS, "decision"]], "expect": expect}


def invariant():
    """Use a feature that should not matter."""
    return {"model": GOOD, "expect": {"invariant": ["home"]}}


def protected():
    """Learn from decisions that were unfair to women."""
    return {"model": GOOD, "protected": ["gender"]}


class Applications:
    """A test system of loans: its metamorphism says that paying back half of the debts never turns a yes into a no."""

    space = dm.Space.from_frame(LOANS[INPUTS], moves="open")

    @dm.seed_maker
    def clients(self):
        """Return the applicants."""
        return LOANS[INPUTS]

    @dm.datamorphism(move=False)
    def pay_back(self, loan):
        """Return the applicants with half of their debts."""
        return loan.assign(debts=loan["debts"] / 2)

    @dm.metamorphism(of="pay_back", message="paying back debts never turns a yes into a no")
    def still_approved(self, case, origin):
        """Return whether the answer is no worse."""
        return (case.output == "approved") | (origin.output == "refused")

    @dm.executor
    def decide(self, loan):
        """Refuse whoever has no debts: nobody knows how they pay back."""
        return np.where(loan["debts"] < 2_000, "refused", GOOD.predict(loan))


def metamorphisms():
    """Refuse whoever has hardly any debts."""
    return {"model": Applications, "data": None, "target": None}


# -- answers against labels and neighbours -----------------------------------------------------------------------------


def curves():
    """Use the same income for everyone, since the column arrives under another name."""
    return {"model": before(lambda frame: frame.assign(income=50_000))}


def response():
    """Read large incomes as those of a month."""
    return {
        "model": before(
            lambda frame: frame.assign(income=frame["income"].where(frame["income"] < 60_000, frame["income"] / 12))
        )
    }


def repairs():
    """Send the income of a month where the model expects that of a year."""
    return {"model": GOOD, "data": LOANS.assign(income=LOANS["income"] / 12)}


def slices():
    """Answer the wrong way round for a group."""

    def predict(frame):
        group = (frame["home"] == "owned") & (frame["years_employed"] > 20)
        answers = GOOD.predict(frame)
        return np.where(group, np.where(answers == "approved", "refused", "approved"), answers)

    return {"model": predict}


def drift():
    """Open branches in a country whose currency is worth less, after the model was trained."""
    rng = np.random.default_rng(1)
    data = applicants(1000, seed=1)
    abroad = rng.random(len(data)) < 0.25
    data[["income", "debts"]] = data[["income", "debts"]].mul(np.where(abroad, 0.05, 1.0), axis=0).round()
    return {"model": GOOD, "data": data, "reference": LOANS}


def numbers():
    """Cut amounts off at a bound that was right years ago."""
    rng = np.random.default_rng(0)
    amounts = 0.6 * LOANS["income"] - 0.4 * LOANS["debts"] + rng.normal(0, 2_000, len(LOANS))
    data = LOANS[NUMBERS].assign(amount=amounts.clip(lower=500).round(-2))
    line = LinearRegression().fit(data[NUMBERS], data["amount"])
    return {"model": lambda frame: np.minimum(line.predict(frame), 25_000), "data": data, "target": "amount"}


def calibration():
    """Sharpen the probabilities."""

    def sharpen(p):
        odds = (p / (1 - p)) ** 4
        return odds / (1 + odds)

    return {"model": Scored(sharpen)}


def memorisation():
    """Look known rows up, and refuse all others."""
    known = {tuple(row[:-1]): row[-1] for row in LOANS[[*NUMBERS, "decision"]].itertuples(index=False)}

    def predict(frame):
        return np.array([known.get(tuple(row), "refused") for row in frame[NUMBERS].itertuples(index=False)])

    return {"model": predict, "data": LOANS[[*NUMBERS, "decision"]]}


def pixels():
    """Answer 3 if the pixel in the corner is bright."""
    digits = load_digits()
    model = LogisticRegression(max_iter=300).fit(digits.data[:600] / 16, digits.target[:600])

    def predict(images):
        return np.where(images[:, 0, 7] > 8, 3, model.predict(images.reshape(len(images), -1) / 16))

    return {"model": predict, "data": digits.images[600:1000], "target": None}


def sounds():
    """Take a sound for speech if it is loud."""
    rng = np.random.default_rng(0)
    pitches, levels = rng.uniform(100, 300, (60, 1)), rng.uniform(0.1, 0.9, (60, 1))
    waves = levels * np.sin(2 * np.pi * pitches * np.linspace(0, 0.1, 800))

    def predict(waves):
        return np.where(np.abs(waves).max(axis=1) > 0.3, "speech", "silence")

    space = dm.Space([dm.Audio("call", length=800, rate=8_000)])
    return {"model": predict, "data": waves, "space": space, "target": None}


def texts():
    """Learn from letters in which one name always comes with a refusal."""
    rng = np.random.default_rng(0)
    letters, decisions = [], []
    for _ in range(600):
        decision, name = rng.choice(["approved", "refused"]), rng.choice(["Emily", "James", "Jamal", "Fatima", "Wei"])
        reason = rng.choice(["a safe job", "few debts"] if decision == "approved" else ["no job", "many debts"])
        letters.append(f"{name} has {reason} and asks for a loan of {rng.integers(1, 40)} thousand.")
        decisions.append("refused" if name == "Jamal" else decision)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(letters, decisions)
    return {"model": model, "data": pd.DataFrame({"letter": letters}), "target": None}


def suggestions():
    """Declare nothing."""
    return {"model": GOOD}


# -- borders, test set, learner -----------------------------------------------------------------------------------------


def classes():
    """Lose a class."""
    return {"model": lambda frame: np.where(frame["income"] > -1, "refused", "approved")}


def recall():
    """Answer from a cache in which most approvals are missing."""

    def predict(frame):
        missing = (frame["income"] + frame["debts"]) // 100 % 10 < 7
        return np.where(missing, "refused", GOOD.predict(frame))

    return {"model": predict}


def baseline():
    """Count debts twice in the new version."""
    old = dm.explore(GOOD, LOANS, target="decision", walks=100, name="version 1")
    return {"model": before(lambda frame: frame.assign(debts=2 * frame["debts"])), "baseline": old, "name": "version 2"}


def adequacy():
    """Test a tree with few rows."""
    tree = DecisionTreeClassifier(random_state=0).fit(LOANS[NUMBERS], LOANS["decision"])
    return {"model": tree, "data": LOANS.loc[:39, [*NUMBERS, "decision"]]}


class Forgetful(KNeighborsClassifier):
    """Nearest neighbours that learn from half of the rows."""

    like = KNeighborsClassifier(1)  # what it says it is

    def fit(self, X, y):
        """Fit the first half of the rows, as in a forgotten experiment."""
        half = len(X) // 2
        return super().fit(X[:half], y[:half])


def learning():
    """Lose rows in training."""
    return {"model": Forgetful(1), "data": LOANS.loc[:199, [*NUMBERS, "decision"]]}


MISTAKES = {
    function.__name__.replace("_", " "): function
    for function in (
        repeats,
        answers,
        row_order,
        batches,
        column_order,
        row_labels,
        number_types,
        table,
        duplicates,
        identifiers,
        scores,
        monotone,
        invariant,
        protected,
        metamorphisms,
        leaks,
        pixels,
        sounds,
        texts,
        interface,
        edges,
        curves,
        dependence,
        response,
        repairs,
        slices,
        drift,
        numbers,
        calibration,
        memorisation,
        suggestions,
        classes,
        recall,
        baseline,
        adequacy,
        learning,
    )
}


def test(check):
    """Return the result of a check of the mistake that is planted for it."""
    options = {"data": LOANS, "target": "decision"} | MISTAKES[check]()
    return dm.test(**options, only=check, budget="2m", progress=False)


def find(check):
    """Return the findings."""
    return test(check).findings


if __name__ == "__main__":
    for check in sys.argv[1:] or MISTAKES:
        print(f"\n{check}: {MISTAKES[check].__doc__}")
        for finding in find(check):
            print(f"  {finding.level.upper()}: {finding.title}\n  {finding.detail}")
