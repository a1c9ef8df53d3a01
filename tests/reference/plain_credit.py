"""Measures of credit models as their definitions say, pair by pair, without speed."""

from __future__ import annotations

import numpy as np


def compare(default_score, paid_score):
    """Return how far a defaulter ranks above a payer: 1, 0, or a half for a tie."""
    return 1.0 if default_score > paid_score else 0.5 if default_score == paid_score else 0.0


def compute_components(scores, defaulted):
    """Return DeLong's structural components of defaulters and of payers."""
    bad = [score for score, flag in zip(scores, defaulted, strict=True) if flag]
    good = [score for score, flag in zip(scores, defaulted, strict=True) if not flag]
    of_bad = [sum(compare(x, y) for y in good) / len(good) for x in bad]
    of_good = [sum(compare(x, y) for x in bad) / len(bad) for y in good]
    return np.array(of_bad), np.array(of_good)


def compute_auc_covariance(first, second, defaulted):
    """Return both AUCs and DeLong's 2 x 2 covariance matrix."""
    parts = [compute_components(scores, defaulted) for scores in (first, second)]
    covariance = np.cov([part[0] for part in parts]) / len(parts[0][0])
    covariance += np.cov([part[1] for part in parts]) / len(parts[0][1])
    return [part[0].mean() for part in parts], covariance


def compute_ks(scores, defaulted):
    """Return the largest difference between the shares of both classes at or below a score."""
    best = 0.0
    for limit in scores:
        bad = np.mean([score <= limit for score, flag in zip(scores, defaulted, strict=True) if flag])
        good = np.mean([score <= limit for score, flag in zip(scores, defaulted, strict=True) if not flag])
        best = max(best, abs(bad - good))
    return best


def tally_violations(model, relation, frame, strong):
    """Count violations of a relation one applicant at a time; `model` maps one row as a frame to a probability."""
    counts = {"cases": 0, "strong": 0, "weak": 0, "inapplicable": 0}
    for row in range(len(frame)):
        applicant = frame.iloc[[row]]
        changed = relation.change(applicant)
        if changed.inapplicable[0]:
            counts["inapplicable"] += 1
            continue
        counts["cases"] += 1
        wrongness = model(changed.frame) - model(applicant)
        if wrongness >= strong:
            counts["strong"] += 1
        elif wrongness > 1e-6:
            counts["weak"] += 1
    return counts
