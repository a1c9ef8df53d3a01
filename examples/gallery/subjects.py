"""Learners with parameters that a line of text cannot hold; old releases import this module, so it needs nothing but scikit-learn."""

from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

one_against_rest = OneVsRestClassifier(DecisionTreeClassifier(random_state=0))
infinite_c = SVC(C=float("inf"))
