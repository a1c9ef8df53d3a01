"""Shared fixtures of this folder."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def _few_cases_for_the_check_of_learning():
    """Train for ten cases instead of fifty: most of the time of an audit of a model that is trained again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("datamorphic.audit.checks.learner.MAX_TEST_CASES", 10)
        yield
