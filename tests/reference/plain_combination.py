"""Combination as its definition has it: chains listed by recursion, and each applied on its own."""

from __future__ import annotations


def list_chains(strategy, count, order=None, start=()):
    """Yield every chain of a strategy that continues `start`."""
    for step in range(count):
        if strategy == "firstOrderMutantComplete":
            allowed = not start
        elif strategy == "combinatorialComplete":
            allowed = not start or step > start[-1]
        elif strategy == "permutationComplete":
            allowed = step not in start
        else:
            allowed = len(start) < order
        if allowed:
            chain = (*start, step)
            yield chain
            yield from list_chains(strategy, count, order, chain)


def list_results(chain, seed, seeds, functions, allows):
    """Return the value of a chain for every choice of second arguments; a value is not changed where it is not allowed."""
    values = [seed]
    for step in chain:
        function, arity = functions[step]
        values = [value for value in values if allows(step, value)]
        if arity == 1:
            values = [function(value) for value in values]
        else:
            values = [function(value, other) for value in values for other in seeds if other != seed]
    return values


def combine_plainly(strategy, seeds, functions, order=None, allows=lambda step, value: True):
    """Return the value of every chain on every seed case, with repetitions."""
    return [
        value
        for seed in seeds
        for chain in list_chains(strategy, len(functions), order)
        for value in list_results(chain, seed, seeds, functions, allows)
    ]
