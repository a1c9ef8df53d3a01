"""Compiles the kernels of groups, in a process of its own: or every process of a test run would, at the same time."""

from __future__ import annotations

import numpy as np

import datamorphic as dm
from datamorphic.hunting.generators import GENERATORS, make_generator
from datamorphic.hunting.plain_kernels import MAX_PLAIN_GROUPS
from datamorphic.hunting.selectors import SELECTORS, make_selector


def main() -> None:
    matrix = dm.FunctionRelation(name="matrix", domain=[(0, 1)] * 2, follow_up=dm.relations.Affine.scaled(2.0, 2))
    function = dm.FunctionRelation(name="function", domain=[(0, 1)] * 2, follow_up=lambda x: 2 * x)
    curved = dm.FunctionRelation(name="curved", domain=[(0, 1)] * 2, follow_up=lambda x: x * x)
    for name in GENERATORS:
        for relation in (matrix, function, curved):
            make_generator(name, relation).propose(MAX_PLAIN_GROUPS + 1)
    for name in SELECTORS:
        for relations in ([matrix, matrix], [matrix, function]):
            selector = make_selector(name, relations)
            selector.propose(5)
            selector.choose_relation(np.zeros(2))
            selector.choose_group(0, np.zeros((2, 2)))


if __name__ == "__main__":
    main()
