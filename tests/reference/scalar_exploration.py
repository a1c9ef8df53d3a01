"""Algorithms 1 to 3 of the exploration papers for one walk at a time, in plain Python, straight from the page.

A case is a list of codes; `answer` gives its label; `geometry` is the plain geometry of one case. The random
numbers are drawn in the order in which the strategies document them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import scalar_space as plain


@dataclass
class Log:
    """Pairs (walk, a, b) and what they cost."""

    pairs: list = field(default_factory=list)
    runs_of_walk: list = field(default_factory=list)
    seeds_used: set = field(default_factory=set)


def equal(x, y):
    return all(a == b or (plain.missing(a) and plain.missing(b)) for a, b in zip(x, y, strict=True))


def near(space, x, y, delta):
    """Within delta, where a last category or unit that must differ does not count among real numbers."""
    if plain.distance(space, x, y) <= delta:
        return True
    real = [j for j, feature in enumerate(space.features) if feature.kind == "continuous"]
    both = [j for j in real if not (plain.missing(x[j]) or plain.missing(y[j]))]
    rest = math.dist([x[j] for j in both], [y[j] for j in both])
    whole = round(plain.distance(space, x, y) - rest)
    return bool(real) and delta < whole <= 1 and rest <= delta


def refine(space, answer, x, y, steps, delta=None):
    """Halve until there have been `steps`, or the two are near, or nothing lies between them."""
    runs = 0
    for _ in range(steps):
        if delta is not None and near(space, x, y, delta):
            break
        z = plain.midpoint(space, x, y)
        if equal(z, x) or equal(z, y):
            break
        runs += 1
        if answer(x) != answer(z):
            y = z
        else:
            x = z
    return x, y, runs


def random_target(space, answer, seeds, rng, walks, steps, delta=None):
    log = Log()
    xs = rng.integers(len(seeds), size=walks)
    ys = rng.integers(len(seeds) - 1, size=walks)
    for walk in range(walks):
        first = xs[walk]
        second = ys[walk] + 1 if ys[walk] >= first else ys[walk]
        log.seeds_used |= {int(first), int(second)}
        x, y = seeds[first], seeds[second]
        runs = 0
        if answer(x) != answer(y):
            a, b, runs = refine(space, answer, x, y, steps, delta)
            log.pairs.append((walk, a, b))
        log.runs_of_walk.append(runs)
    return log


def walk_until(space, answer, x, next_case, distance, steps, delta, waits):
    """Walk from x until the answer changes; return the refined pair or None, and the runs."""
    runs = 0
    for step in range(distance):
        y = next_case(x, step)
        if not waits and equal(x, y):
            return None, runs
        runs += 1
        if answer(x) != answer(y):
            a, b, more = refine(space, answer, x, y, steps, delta)
            return (a, b), runs + more
        x = y
    return None, runs


def directed_walk(space, answer, seeds, rng, walks, distance, steps, delta=None):
    log = Log()
    moves = space.move_names
    order = rng.permutation(len(seeds))
    for walk in range(walks):
        start = int(order[(walk // len(moves)) % len(seeds)])
        kind, name = moves[walk % len(moves)]
        j = space.names.index(name)
        log.seeds_used.add(start)
        pair, runs = walk_until(
            space,
            answer,
            seeds[start],
            lambda x, _, j=j, kind=kind: plain.move(space, x, j, kind),
            distance,
            steps,
            delta,
            waits=False,
        )
        log.runs_of_walk.append(runs)
        if pair is not None:
            log.pairs.append((walk, *pair))
    return log


def random_walk(space, answer, seeds, rng, walks, distance, steps, delta=None):
    log = Log()
    moves = [(kind, space.names.index(name)) for kind, name in space.move_names]
    starts = rng.integers(len(seeds), size=walks)
    chosen = [rng.integers(len(moves), size=walks) for _ in range(distance)]
    for walk in range(walks):
        log.seeds_used.add(int(starts[walk]))

        def step(x, number, walk=walk):
            kind, j = moves[chosen[number][walk]]
            return plain.move(space, x, j, kind)

        pair, runs = walk_until(space, answer, seeds[starts[walk]], step, distance, steps, delta, waits=True)
        log.runs_of_walk.append(runs)
        if pair is not None:
            log.pairs.append((walk, *pair))
    return log
