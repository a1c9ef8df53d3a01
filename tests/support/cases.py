"""Parameters of tests: all combinations where there is time, else every value at least once."""

from __future__ import annotations

import functools
import inspect
import os
from itertools import product

import pytest
from hypothesis import settings

from datamorphic.audit.options import CHECK_NAMES

LONG = "DATAMORPHIC_LONG" in os.environ

#: for tests of Hypothesis whose examples are expensive
FEW_EXAMPLES = settings(max_examples=500 if LONG else 15)

#: checks of an audit without the one that trains the model again, which takes as long as all others together
WITHOUT_TRAINING = [name for name in CHECK_NAMES if name != "learning"]


def rotate(*parameters):
    """Return combinations in which every value of each parameter occurs; all of them with $DATAMORPHIC_LONG.

    The values of each parameter are taken in turn, so there are as many combinations as the longest one has values.
    """
    if LONG:
        return list(product(*parameters))
    longest = max(map(len, parameters))
    return [tuple(values[i % len(values)] for values in parameters) for i in range(longest)]


def thin(first, second, keep=1):
    """Combine every first value with `keep` of the second ones, in rotation; with all of them with $DATAMORPHIC_LONG.

    Every second value occurs if there are at least as many first ones.
    """
    if LONG or keep >= len(second):
        return list(product(first, second))
    return [
        (one, second[(number + turn * len(second) // keep) % len(second)])
        for number, one in enumerate(first)
        for turn in range(keep)
    ]


def in_one_test(names, values):
    """Like pytest.mark.parametrize, for hundreds of cheap cases: they are one test, which lists all that fail."""
    names = names.split(", ") if isinstance(names, str) else list(names)

    def decorate(test):
        parameters = inspect.signature(test).parameters

        def run_all(**fixtures):
            failures = []
            for number, value in enumerate(values):
                if isinstance(value, type(pytest.param())):
                    value = value.values if len(names) > 1 else value.values[0]
                case = dict(zip(names, value, strict=True)) if len(names) > 1 else {names[0]: value}
                if "tmp_path" in fixtures:
                    case["tmp_path"] = fixtures["tmp_path"] / f"case{number}"
                    case["tmp_path"].mkdir()
                try:
                    test(**{**fixtures, **case})
                except (Exception, pytest.fail.Exception) as error:
                    failures.append((case, error))
            if failures:
                lines = (f"{case}: {type(error).__name__}: {error}" for case, error in failures)
                raise AssertionError("\n".join(lines)) from failures[0][1]

        functools.update_wrapper(run_all, test)
        del run_all.__wrapped__
        others = [parameter for name, parameter in parameters.items() if name not in names]
        run_all.__signature__ = inspect.Signature(others)
        return run_all

    return decorate
