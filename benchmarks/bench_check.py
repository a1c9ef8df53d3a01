"""Relations x inputs per second: learners trained on the random data of the study, one case each, one core."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.timing import line, seconds
from datamorphic.data.knn import KNN
from datamorphic.relations.check.learner_session import LearnerSession, prepare_outcomes
from datamorphic.relations.learners.necessity import find_requirement
from datamorphic.relations.learners.sampling import draw_random_training
from datamorphic.relations.learners.sklearn import LEARNER_RELATIONS
from datamorphic.relations.learners.waves import TrainingSource
from datamorphic.runs.driver import Driver
from datamorphic.systems.learner import Learner
from datamorphic.systems.weka import Weka, explain_missing_weka

INPUTS = 300
NAMES = ("MR-0", "MR-1.1", "MR-1.2", "MR-2.1", "MR-2.2", "MR-3.1", "MR-3.2", "MR-4.1", "MR-4.2", "MR-5.1", "MR-5.2")


def main():
    learners = {"our kNN in plain Python": KNN(3), "scikit-learn KNN(3)": KNeighborsClassifier(3)}
    learners["scikit-learn GaussianNB"] = GaussianNB()
    missing = explain_missing_weka()
    if not missing:
        learners |= {"Weka IBk -K 3": Weka("IBk -K 3"), "Weka NaiveBayes": Weka("NaiveBayes")}
    paces = {}
    for name, learner in learners.items():
        views = {item: find_requirement(item, learner) for item in NAMES}
        call_counts = []

        def run(learner=learner, views=views, call_counts=call_counts):
            tested = prepare_outcomes([LEARNER_RELATIONS[name] for name in NAMES], views, 0, "count")
            driver = Driver({"progress": False})
            inputs = TrainingSource(draw_random_training, INPUTS)
            exam = LearnerSession(learner=learner, outcomes=tested, inputs=inputs, drive=driver.drive)
            exam.run()
            call_counts.append(driver.counter.all_calls)

        Learner(learner).execute(draw_random_training(np.random.default_rng(0)))  # a JVM takes its time
        took = seconds(run)
        paces[name] = call_counts[-1] / took
        groups = len(NAMES) * INPUTS / took
        line(name, f"{groups:,.0f} relations x inputs/s", f"{paces[name]:,.0f} trained and queried/s")
    if missing:
        line("Weka", "not here", missing)
    else:
        ratio = paces["Weka IBk -K 3"] / paces["scikit-learn KNN(3)"]
        line("Weka IBk through the bridge against scikit-learn KNN", f"{ratio:.2f} x", "")
