"""Check the metamorphisms of the test system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._text import pluralise
from ...core.result import Example, Finding, format_share
from ...morphisms.cases import TestSet, Verdict
from ...morphisms.system import TestSystem
from ...runs.flow import ask
from ..case_text import build_example, format_case, read_case
from ..check import CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext

MAX_SEED_CASES = 1_000


@dataclass
class _ViolationCount:
    violated: int = 0
    judged: int = 0
    example: Example | None = None


def check_metamorphisms(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Apply every datamorphism to the seed cases, and check the metamorphisms on the results."""
    system = context.subject.system
    counts = {name: _ViolationCount() for name in system.metamorphisms}
    targets = {morphism.mark.of for morphism in system.metamorphisms.values()}
    names = [
        name
        for name in system.datamorphisms
        if None in targets or any(_is_same_datamorphism(system, name, target) for target in targets)
    ]
    seed_limit = context.count_affordable(budget.remaining(0.5), MAX_SEED_CASES, runs_per_case=2 * max(len(names), 1))
    seeds = TestSet.of_seeds(context.sample_inputs(seed_limit))
    for name in names or [""]:
        tests = seeds
        if name:
            rng = np.random.default_rng(context.seed)
            others = [seeds.take(rng.permutation(len(seeds))) for _ in range(system.datamorphisms[name].arity - 1)]
            tests = TestSet.concat([seeds, system.mutate(name, seeds, *others, seed=context.seed)])
        outputs = run_flow(context, budget, ask(tests.inputs, note=name))
        _count_violations(system, tests.with_outputs(outputs), counts, name)
    findings = [
        Finding(
            **get_facts("metamorphisms"),
            about=name,
            title=f"The metamorphism {name} is violated",
            detail=f"{format_share(count.violated, count.judged)} violate it.",
            cases=count.violated,
            cases_tried=count.judged,
            examples=(count.example,) if count.example is not None else (),
        )
        for name, count in counts.items()
        if count.violated
    ]
    judged = sum(count.judged for count in counts.values())
    basis = f"{pluralise(len(counts), 'metamorphism')}, {pluralise(judged, 'verdict')}"
    return CheckFindings(basis=basis, findings=findings)


def _is_same_datamorphism(system: TestSystem, name: str, target: str | None) -> bool:
    return target is not None and system.find("datamorphism", target).name == name


def _count_violations(
    system: TestSystem, tests: TestSet, counts: dict[str, _ViolationCount], datamorphism: str
) -> None:
    for name, verdicts in system.check(tests).items():
        target = system.metamorphisms[name].mark.of
        if target is not None and not _is_same_datamorphism(system, datamorphism, target):
            continue
        count = counts[name]
        violations = np.flatnonzero(verdicts == Verdict.VIOLATED)
        count.violated += len(violations)
        count.judged += len(violations) + int((verdicts == Verdict.HOLDS).sum())
        if violations.size and count.example is None:
            count.example = _build_example(tests, int(violations[0]), datamorphism)


def _build_example(tests: TestSet, row: int, datamorphism: str) -> Example:
    """Return a violating case together with its origin."""
    assert tests.outputs is not None
    violation = read_case(tests.inputs, row, tests.outputs)
    origin = int(tests.rows_of(tests.origins[row, :1])[0]) if tests.origins.shape[1] else -1
    if origin < 0:
        return build_example(violation)
    source = read_case(tests.inputs, origin, tests.outputs)
    changed = {name: value for name, value in violation.case.items() if source.case[name] != value}
    text = (
        f"{format_case(source.case)}: {source.answer_text}; "
        f"after {datamorphism}, {format_case(changed)}: {violation.answer_text}"
    )
    return build_example(source, violation, text=text)


METAMORPHISMS = make_check(
    "metamorphisms",
    check_metamorphisms,
    lambda context: "" if context.subject.system.metamorphisms else "no test system with metamorphisms is given",
)
