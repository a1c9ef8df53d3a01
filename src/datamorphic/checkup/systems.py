"""Does it keep the metamorphisms of its test system?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._checks import plural
from ..cases import TestSet, Verdict
from ..morphisms.system import TestSystem
from ..runs.drive import Tally, drive
from ..strategies.flow import ask
from .checks import Check, Found, Turn
from .finding import Example, Finding
from .given import Given
from .words import answered, case_of, said, share, told_case

MOST_SEEDS = 1_000


@dataclass
class _Count:
    violated: int = 0
    judged: int = 0
    example: Example | None = None


def metamorphisms(given: Given, turn: Turn) -> Found:
    """Make mutants of the seeds with every datamorphism, and put the metamorphisms to them."""
    system = given.subject.system
    counts = {name: _Count() for name in system.metamorphisms}
    wanted = {morphism.mark.of for morphism in system.metamorphisms.values()}
    names = [
        name for name in system.datamorphisms if None in wanted or any(_is(system, name, of) for of in wanted)
    ]
    most = given.afford(turn.left(0.5), MOST_SEEDS, each=2 * max(len(names), 1))
    seeds = TestSet.of_seeds(given.some(most))
    for name in names or [""]:
        tests = seeds if not name else TestSet.concat([seeds, _mutants(system, name, seeds, given.seed)])
        tally = Tally()
        outputs = drive(ask(tests.inputs, note=name), given.sut, tally=tally, budget=turn.left(), **given.quiet())
        turn.add(tally)
        _count(system, tests.with_outputs(outputs), counts, name)
    findings = [
        Finding(
            "metamorphisms", name, f"The metamorphism {name} is violated", "fault", 1.0,
            f"{share(count.violated, count.judged)} violate it.",
            "If the promise is right, mend the system; if not, mend the metamorphism.",
            count.violated, count.judged, (count.example,) if count.example is not None else (),
        )
        for name, count in counts.items()
        if count.violated
    ]  # fmt: skip
    judged = sum(count.judged for count in counts.values())
    return Found(f"{plural(len(counts), 'metamorphism')}, {plural(judged, 'verdict')}", findings)


def _is(system: TestSystem, name: str, of: str | None) -> bool:
    return of is not None and system.find("datamorphism", of).name == name


def _mutants(system: TestSystem, name: str, seeds: TestSet, seed: int) -> TestSet:
    arity = system.datamorphisms[name].arity
    rng = np.random.default_rng(seed)
    others = [seeds.take(rng.permutation(len(seeds))) for _ in range(arity - 1)]
    return system.mutate(name, seeds, *others, seed=seed)


def _count(system: TestSystem, tests: TestSet, counts: dict[str, _Count], made_by: str) -> None:
    for name, verdicts in system.check(tests).items():
        of = system.metamorphisms[name].mark.of
        if of is not None and not _is(system, made_by, of):
            continue
        count = counts[name]
        bad = np.flatnonzero(verdicts == Verdict.VIOLATED)
        count.violated += len(bad)
        count.judged += len(bad) + int((verdicts == Verdict.HOLDS).sum())
        if bad.size and count.example is None:
            count.example = _example(tests, int(bad[0]), made_by)


def _example(tests: TestSet, row: int, made_by: str) -> Example:
    """Return a violation with the case it was made of."""
    outputs = tests.outputs
    assert outputs is not None
    case = case_of(tests.inputs, row)
    origin = int(tests.rows_of(tests.origins[row, :1])[0]) if tests.origins.shape[1] else -1
    if origin < 0:
        return Example(f"{told_case(case)}: {said(outputs, row)}", case, answered(outputs, row))
    source = case_of(tests.inputs, origin)
    changed = {name: value for name, value in case.items() if source[name] != value}
    words = f"{told_case(source)}: {said(outputs, origin)}; after {made_by}, {told_case(changed)}: {said(outputs, row)}"
    return Example(words, source, answered(outputs, origin), changed, answered(outputs, row))


METAMORPHISMS = Check(
    "metamorphisms", "Are the metamorphisms of the test system kept?", 2,
    lambda given: "" if given.subject.system.metamorphisms else "no test system with metamorphisms is given",
    metamorphisms,
)  # fmt: skip
