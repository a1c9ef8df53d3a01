"""Parameters of tests: all combinations where there is time, else every value at least once."""

from __future__ import annotations

import os
from itertools import product

LONG = "DATAMORPHIC_LONG" in os.environ


def rotate(*parameters):
    """Return combinations in which every value of each parameter occurs; all of them with $DATAMORPHIC_LONG.

    The values of each parameter are taken in turn, so there are as many combinations as the longest one has values.
    """
    if LONG:
        return list(product(*parameters))
    longest = max(map(len, parameters))
    return [tuple(values[i % len(values)] for values in parameters) for i in range(longest)]
