"""The area of triangles by Heron's formula: a numeric program to mutate."""

import numpy as np


def area(a, b, c):
    """Return the areas of triangles with these sides."""
    s = (a + b + c) / 2
    return np.sqrt(s * (s - a) * (s - b) * (s - c))
