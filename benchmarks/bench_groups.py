"""Metamorphic groups: generators against plain loops and the published seconds, simulated trials, groups judged a second."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import datamorphic as dm
from benchmarks.timing import line
from datamorphic.hunting.generators import GENERATORS
from datamorphic.hunting.generators import make_generator as make_generator

GROUPS, FEW, K = 10_000, 2_000, 10  # a plain loop takes minutes for more
PUBLISHED = {"MT-ART-Min": "218.8 s", "SFIDMT-ART": "28.2 s", "MT-BART": "0.078 s", "MT-IPART": "2.86 s"}  # Table 12
TRIALS, RATE = 2_000, 0.005


FIRST_HUNT = """
import time, numpy as np, numba, datamorphic as dm
import datamorphic.hunting.run
imported = time.process_time()
sine = dm.FunctionRelation(name="sine", domain=(0, 1000), follow_up=lambda x: np.pi - x)
dm.hunt(np.sin, sine, budget=5_000, progress=False)
print(time.process_time() - imported, imported)
"""


def _bench_first_hunts():
    """Time the hunt of the README in new processes: before and after its kernels are compiled."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        for what, before in (("first", "21 s"), ("next", "16 s")):
            command = [sys.executable, "-c", FIRST_HUNT]
            output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
            work, imports = map(float, output.split())
            line(
                f"hunt of the README, {what} process", f"{work:.2f} s CPU", f"imports {imports:.2f} s; before {before}"
            )


def main():
    _bench_first_hunts()
    tripled = dm.FunctionRelation(name="tripled", domain=[(0, 100)] * 2, follow_up=dm.relations.Affine.scaled(3.0, 2))
    plain = {"SFIDMT-ART": _apart, "MT-ART-Min": _pooled, "MT-BART": _cells, "MT-IPART": _grid}
    for name, loop in plain.items():
        took = _generated(name, tripled, GROUPS)
        slow, quick = _clock(lambda loop=loop: loop(FEW)), _generated(name, tripled, FEW)
        line(
            f"{name}, {GROUPS:,} groups, k = {K}, 2-D",
            f"{took:.3f} s",
            f"published {PUBLISHED[name]} (1-2 relation); {FEW:,} groups: {slow / quick:.0f} x a plain loop ({slow:.1f} s)",
        )
    many = _generated("SFIDMT-ART", tripled, 10 * GROUPS)
    few = _generated("SFIDMT-ART", tripled, GROUPS)
    line(f"SFIDMT-ART, {10 * GROUPS:,} groups", f"{many:.2f} s", f"grows as n^{math.log10(many / few):.2f}")
    functions = {"a function of Python": lambda x: 3.0 * x, "a curved function": lambda x: 3.0 * x + 1e-6 * x * x}
    for name in ("SFIDMT-ART", "MT-ART-Min"):
        for kind, function in functions.items():
            ratio, calls = _compare_function(name, tripled, function)
            note = f"six times before; {calls:,} calls for {GROUPS:,} groups"
            line(f"{name}, follow-ups by {kind}, affine = 1", f"{ratio:.2f}", note)
    sine = dm.FunctionRelation(name="sine", domain=(0, 1000), follow_up=dm.relations.Affine.of([[-1.0]], math.pi))
    took = _generated("MT-IPART", sine, GROUPS)
    line(f"MT-IPART, {GROUPS:,} groups, 1-D", f"{took:.3f} s", "8 s before; published 1.38 s")
    for name in GENERATORS:
        if name in ("MT-ART-Avg", "MT-ART-Max"):
            continue
        simulation = dm.simulate(name, "block", RATE, trials=TRIALS, progress=False)
        line(
            f"{name}: {TRIALS:,} simulated trials, rate {RATE}",
            f"{simulation.seconds:.1f} s",
            f"{10_000 / TRIALS * simulation.seconds:.0f} s for 10,000; F-ratio {simulation.f_ratio:.2f}",
        )
    dm.hunt(np.sin, sine, "MT-RT", budget=1000)
    hunt = dm.hunt(np.sin, sine, "MT-RT", budget=3_000_000, progress=False)
    line("sin(x) = sin(pi - x), hunted with MT-RT", f"{hunt.groups / hunt.seconds / 1e6:.1f} M groups/s", "")


def _generated(name, relation, groups):
    make_generator(name, relation, k=K).propose(100)  # compiles
    return min(_clock(lambda: make_generator(name, relation, k=K).propose(groups)) for _ in range(3))


def _compare_function(name, affine, function):
    """How many times as long the groups of a relation take if a function of Python makes the follow-ups, and its calls."""
    calls = []

    def follow(x):
        calls.append(len(x))
        return function(x)

    domains = {"domain": affine.domain, "follow_domain": affine.follow_domains()}
    called = dm.FunctionRelation(name="tripled", follow_up=follow, **domains)
    seconds = {affine: [], called: []}
    for relation in seconds:
        make_generator(name, relation, k=K).propose(100)  # compiles
    for _ in range(7):  # in turn, so that both meet the same machine
        for relation, times in seconds.items():
            calls.clear()
            generator = make_generator(name, relation, k=K)
            began = time.process_time()
            generator.propose(GROUPS)
            times.append(time.process_time() - began)
    return min(seconds[called]) / min(seconds[affine]), len(calls)


def _clock(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


# -- the same, as one would write it first ------------------------------------------------------------------


def _candidates(rng, executed):
    """Candidates from empty shells: all shares of executed sources looked at."""
    shells = len(executed) + 1
    share = np.abs(executed / 50 - 1).max(axis=1) ** 2 if len(executed) else np.zeros(0)
    empty = np.setdiff1d(np.arange(shells), (share * shells).astype(int))
    radius = np.sqrt((rng.choice(empty, K) + rng.random(K)) / shells)[:, None]
    points = radius * rng.uniform(-1, 1, (K, 2))
    side = rng.integers(0, 2, K)
    points[np.arange(K), side] = radius[:, 0] * rng.choice([-1, 1], K)
    return 50 + 50 * points


def _nearest(points, executed):
    return np.sqrt(((points[:, None] - executed[None]) ** 2).sum(axis=2).min(axis=1)) if len(executed) else np.zeros(K)


def _apart(groups):
    rng, sources, follow = np.random.default_rng(0), np.zeros((groups, 2)), np.zeros((groups, 2))
    for n in range(groups):
        candidates = _candidates(rng, sources[:n])
        best = np.argmax(_nearest(candidates, sources[:n]) + _nearest(3 * candidates, follow[:n]))
        sources[n], follow[n] = candidates[best], 3 * candidates[best]


def _pooled(groups):
    rng, pool = np.random.default_rng(0), np.zeros((2 * groups, 2))
    for n in range(groups):
        inside = pool[: 2 * n]
        candidates = _candidates(rng, inside[(inside <= 100).all(axis=1)])
        best = np.argmax(np.minimum(_nearest(candidates, inside), _nearest(3 * candidates, inside)))
        pool[2 * n], pool[2 * n + 1] = candidates[best], 3 * candidates[best]


def _placed(points, parts, high):
    return np.ravel_multi_index(tuple(np.minimum((points / high * parts).astype(int), np.array(parts) - 1).T), parts)


def _cells(groups):
    rng, sources = np.random.default_rng(0), np.zeros((groups, 2))
    parts = [[1, 1], [1, 1]]
    for n in range(groups):
        open_cells = []
        for slot, (factor, high) in enumerate(((1, 100), (3, 300))):
            if n >= math.prod(parts[slot]):
                parts[slot][0 if parts[slot][0] == parts[slot][1] else 1] *= 2
            taken = _placed(factor * sources[:n], parts[slot], high)
            open_cells.append(np.setdiff1d(np.arange(math.prod(parts[slot])), taken))
        corner = np.array(np.unravel_index(rng.choice(open_cells[0]), parts[0]))
        candidates = (corner + rng.random((K, 2))) / parts[0] * 100
        good = np.flatnonzero(np.isin(_placed(3 * candidates, parts[1], 300), open_cells[1]))
        sources[n] = candidates[rng.choice(good) if len(good) else rng.integers(K)]


def _grid(groups):
    rng, sources = np.random.default_rng(0), np.zeros((groups, 2))
    p = [1, 1]
    for n in range(groups):
        free = []
        for slot, (factor, high) in enumerate(((1, 100), (3, 300))):
            while True:
                taken = np.zeros((p[slot], p[slot]), dtype=bool)
                at = np.minimum((factor * sources[:n] / high * p[slot]).astype(int), p[slot] - 1)
                for a in (-1, 0, 1):
                    for b in (-1, 0, 1):
                        taken[(at[:, 0] + a) % p[slot], (at[:, 1] + b) % p[slot]] = True
                if not taken.all():
                    break
                p[slot] += 1
            free.append(~taken)
        corner = rng.choice(np.argwhere(free[0]))
        candidates = (corner + rng.random((K, 2))) / p[0] * 100
        at = np.minimum((3 * candidates / 300 * p[1]).astype(int), p[1] - 1)
        good = np.flatnonzero(free[1][at[:, 0], at[:, 1]])
        sources[n] = candidates[rng.choice(good) if len(good) else rng.integers(K)]
