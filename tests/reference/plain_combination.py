"""Combination as its definition has it: chains listed by recursion, and each applied on its own."""

from __future__ import annotations

from itertools import permutations, product


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
    """Return the value of a chain for every choice of other arguments; a value is not changed where it is not allowed."""
    values = [seed]
    for step in chain:
        function, arity = functions[step]
        values = [value for value in values if allows(step, value)]
        choices = list(permutations([other for other in seeds if other != seed], arity - 1))
        values = [function(value, *others) for value in values for others in choices]
    return values


def compose_plainly(strategy, seeds, functions, order=None, allows=lambda step, value: True):
    """Return the values of all compositions: trees whose paths from a seed case to the top are chains of the strategy."""
    chains = set(list_chains(strategy, len(functions), order))
    trees = {(seed, frozenset([()])) for seed in seeds}  # each with its paths
    while True:
        new_trees = set(trees)
        for step, (function, arity) in enumerate(functions):
            for arguments in product(trees, repeat=arity):
                values = [value for value, _ in arguments]
                paths = frozenset((*path, step) for _, tree_paths in arguments for path in tree_paths)
                if paths <= chains and len(set(values)) == arity and allows(step, values[0]):
                    new_trees.add((function(*values), paths))
        if new_trees == trees:
            return {value for value, _ in trees}
        trees = new_trees


def count_compositions(strategy, seed_count, arities, order=None):
    """Return the number of trees, counted by listing them; the arguments of a datamorphism are different trees."""
    functions = [(lambda *trees, step=step: (step, *trees), arity) for step, arity in enumerate(arities)]
    seeds = [("seed", number) for number in range(seed_count)]
    return len(compose_plainly(strategy, seeds, functions, order)) - seed_count


def combine_plainly(strategy, seeds, functions, order=None, allows=lambda step, value: True):
    """Return the value of every chain on every seed case, with repetitions."""
    return [
        value
        for seed in seeds
        for chain in list_chains(strategy, len(functions), order)
        for value in list_results(chain, seed, seeds, functions, allows)
    ]
