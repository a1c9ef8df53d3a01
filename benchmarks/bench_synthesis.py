"""New cases from old ones.

Combination: a million new cases of a space of 20 features, made, executed and checked, with the memory they take.
Optimisation: seconds per cycle for sets of growing size.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time

import numpy as np

import datamorphic as dm
from benchmarks.timing import line
from datamorphic.morphisms.decorators import MorphismMark
from datamorphic.morphisms.morphism import Morphism
from datamorphic.morphisms.system import TestSystem
from datamorphic.systems.wrap import wrap

FEATURES, DATAMORPHISMS = 20, 6  # 1,956 orderings of subsets of six
SEEDS = (128, 256, 512)
SET_SIZES, CYCLES = (200, 2_000, 20_000), 3
GOAL_SECONDS, GOAL_GIGABYTES = 20, 2
SPACE = dm.Space([dm.Continuous(f"x{j}", 0, 1) for j in range(FEATURES)], moves="open")


def main():
    for kind, words in (("points", "datamorphisms of Points"), ("frames", "datamorphisms of frames")):
        figures = {seeds: _measure(kind, seeds) for seeds in SEEDS}
        first, last = figures[SEEDS[0]], figures[SEEDS[-1]]
        slope = math.log(last["seconds"] / first["seconds"]) / math.log(last["cases"] / first["cases"])
        line(
            f"{last['cases']:,} cases, {words}",
            f"{last['seconds']:.1f} s",
            f"goal {GOAL_SECONDS} s; {last['gigabytes']:.2f} GB, goal {GOAL_GIGABYTES}; grows as n^{slope:.2f}",
        )
    _time_cycle("border_coverage", SET_SIZES[0])  # imports
    for metric in ("mean_nearest_distance", "border_coverage"):
        seconds = {size: _time_cycle(metric, size) for size in SET_SIZES}
        figures = ", ".join(f"{size:,} cases {value:.2f} s" for size, value in seconds.items())
        line(f"a cycle of optimise, {metric}", f"{seconds[SET_SIZES[0]]:.3f} s", figures)


def _time_cycle(metric, size):
    began = time.perf_counter()
    strategy, box = "weakest_removal", dm.subjects["Box 2"]
    dm.optimise(box, strategy, metric=metric, seeds=size, max_cycles=CYCLES, change_rate=0, progress=False)
    return (time.perf_counter() - began) / CYCLES


def _measure(kind, seeds):
    """Combine in a process of its own, whose memory is known."""
    command = [sys.executable, "-m", "benchmarks.bench_synthesis", kind, str(seeds)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _combine(kind, seeds):
    system = _make_system(kind)
    began = time.perf_counter()
    combination = dm.combine(system, "permutations", seeds=seeds, limit=2_000_000, progress=False)
    return {
        "seconds": time.perf_counter() - began,
        "cases": combination.case_count,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        "holds": combination.holds,
    }


def _make_system(kind):
    """Datamorphisms that do not commute, so that all chains give different cases."""
    morphisms = []
    for number in range(DATAMORPHISMS):
        mark = MorphismMark(kind="datamorphism", points=kind == "points")
        function = _turn_points(number) if kind == "points" else _turn_frame(number)
        morphisms.append(Morphism(name=f"turn{number}", mark=mark, function=function, arity=1, location="here"))
    mark = MorphismMark(kind="metamorphism", of="turn0")
    same = Morphism(
        name="same", mark=mark, function=lambda case, origin: case.output == origin.output, arity=2, location=""
    )
    sut = wrap(lambda frame: np.where(frame["x7"].to_numpy() > 0.5, 1, 0), space=SPACE)
    return TestSystem("turned", [*morphisms, same], space=SPACE, sut=sut)


def _turn_points(number):
    def turn(points):
        codes = points.codes.copy(order="F")
        codes[:, number] = 0.9 * codes[:, number] + 0.1 * codes[:, :DATAMORPHISMS].mean(axis=1)
        return dm.Points(points.space, codes)

    return turn


def _turn_frame(number):
    name = f"x{number}"
    return lambda frame: frame.assign(**{name: 0.9 * frame[name] + 0.1 * frame.iloc[:, :DATAMORPHISMS].mean(axis=1)})


if __name__ == "__main__":
    print(json.dumps(_combine(sys.argv[1], int(sys.argv[2]))))
