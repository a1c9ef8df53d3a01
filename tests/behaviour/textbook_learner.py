"""A learner of a few lines whose mutants the record of behaviour counts."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier


class NearestNeighbour:
    """Answers with the label of the nearest sample, the first of several."""

    @property
    def like(self):
        return KNeighborsClassifier(1, algorithm="brute")

    def fit(self, X, y):
        self.samples = np.asarray(X, float)
        self.labels = np.asarray(y)
        self.classes_ = np.unique(self.labels)
        return self

    def predict(self, X):
        answers = []
        for case in np.asarray(X, float):
            best = 0
            nearest = np.inf
            for number in range(0, len(self.samples)):
                distance = 0.0
                for value, other in zip(case, self.samples[number], strict=True):
                    distance += (value - other) ** 2
                if distance < nearest:
                    best = number
                    nearest = distance
            answers.append(self.labels[best])
        return np.array(answers)
