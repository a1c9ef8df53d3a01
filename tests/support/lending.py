"""A lending model and its data, well behaved and with planted defects: subjects of the tests of ``dm.test``."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression


def people(n=400, seed=0):
    """Applicants, with what was decided; the decision rises with income and falls with debt, and has some noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(10, 200, n).round(1),
            "debt": rng.uniform(0, 100, n).round(1),
            "age": rng.integers(18, 80, n),
            "gender": rng.choice(["f", "m"], n),
        }
    )
    score = frame.income - 0.8 * frame.debt + rng.normal(0, 8, n)
    frame["decision"] = np.where(score > 90, "approve", np.where(score > 30, "review", "reject"))
    return frame


class Lender:
    """Right in every way that is tested: linear in what is declared, and blind to gender."""

    def __init__(self, frame):
        inputs = frame[["income", "debt", "age"]].to_numpy(float)
        self.mean, self.scale = inputs.mean(axis=0), inputs.std(axis=0)
        model = LogisticRegression().fit((inputs - self.mean) / self.scale, frame.decision)
        self.classes_, self.weights, self.bias = model.classes_, model.coef_.T, model.intercept_

    def seen(self, frame):
        return frame[["income", "debt", "age"]]

    def predict(self, frame):
        return self.classes_[self.predict_proba(frame).argmax(axis=1)].astype(object)

    def predict_proba(self, frame):
        scores = (self.seen(frame).to_numpy(float) - self.mean) / self.scale @ self.weights + self.bias
        return softmax(scores, axis=1)


class DependsOnOrder(Lender):
    def predict(self, frame):
        answers = super().predict(frame)
        answers[0] = "reject" if answers[0] == "review" else "review"
        return answers


class DependsOnBatch(Lender):
    def seen(self, frame):
        frame = super().seen(frame)
        return frame.assign(income=frame.income - frame.income.mean() + 105)


class SilentInACorner(Lender):
    def predict(self, frame):
        answers = super().predict(frame)
        answers[(frame.income > 180).to_numpy() & (frame.debt > 90).to_numpy()] = np.nan
        return answers


class NotMonotone(Lender):
    def seen(self, frame):
        frame = super().seen(frame)
        return frame.assign(income=np.where(frame.income.between(120, 140), frame.income - 90, frame.income))


class NeverReviews(Lender):
    def predict(self, frame):
        answers = super().predict(frame)
        answers[answers == "review"] = "reject"
        return answers


class MovedBorder(Lender):
    def seen(self, frame):
        frame = super().seen(frame)
        return frame.assign(debt=frame.debt + 8)


class LooksAtGender(Lender):
    def seen(self, frame):
        return super().seen(frame).assign(income=frame.income - 15 * (frame.gender == "f"))


class EverythingWrong(NotMonotone, MovedBorder):
    """All five planted defects in one model."""

    def seen(self, frame):
        return NotMonotone.seen(self, frame).assign(debt=frame.debt + 8)

    def predict(self, frame):
        answers = Lender.predict(self, frame)
        answers[answers == "review"] = "reject"
        answers[0] = "reject" if answers[0] == "approve" else "approve"
        answers[(frame.income > 180).to_numpy() & (frame.debt > 90).to_numpy()] = np.nan
        return answers


PROMISES = {"monotone": {"income": "up", "debt": "down"}, "outcome": "approve"}
