"""What Ying (2024) leaves to future work: further measures, kinds of regions, failures beside violations, larger k."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data.programs import programs
from ..hunting.generators import make_generator
from ..hunting.measures import e_measure, f_measures, p_measure
from ..hunting.region_kinds import MAX_BITMAP_DIMENSIONS
from ..hunting.simulation import make_trial_rng
from ..hunting.violation_regions import GroupSample
from ..relations.algebra.base import VIOLATED
from .group_simulations import MUTANTS, PROGRAM_RELATIONS, choose_moderate_mutant
from .group_spreads import Pairing
from .group_trials import (
    MAX_PAIRS_PER_TRIAL,
    GroupJob,
    Selecting,
    compute_ratio,
    describe_censored,
    find_relation,
    find_violations,
    limit_budget,
    limit_trials,
)
from .groups import MIN_REAL_TRIALS, choose_programs
from .intervals import estimate_mean, estimate_share, from_bounds, label_figure
from .rows import Row
from .stand_in_mutants import KINDS, RELATIONS, compute_rate, parse_relations
from .workload import Workbench

MEASURED_GENERATORS = ("MT-RT", "SFIDMT-ART", "MT-ART-Min", "MT-BART", "MT-IPART")
GROUPS_PER_EXPECTED = 8  # groups per trial, in expected F-measures of random testing: two violations are nearly certain
K_VALUES = tuple(range(1, 11))
F2_NOTE = "F2: further groups until the second violation."
AT_NOTE = "P and E are after {:,} groups, where random testing has about 63% and 1."
KIND_NOTE = "Pairs of mutant and relation that are violated at all, by the stored regions; kinds are by our rule."
FAILURE_NOTE = (
    "A source or follow-up fails if the mutant does not answer as the program does. Regions of violations (MRVR-S of sources, MRVR-F of"
    " follow-ups) and of failures need not be the same (section 3.2.3)."
)
K_NOTE = "Ying (2024) goes up to k = 5 and leaves larger k to future work. The F-ratio is to a random choice of relation and group."
SECONDS_NOTE = "Seconds to choose {:,} pairs on this machine."


# -- F, F2, P and E ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measuring(GroupJob):
    """F-, F2-, P- and E-measure of a generator on a mutant: every trial executes all its groups."""

    program: str
    mutant: str
    relation: str
    generator: str
    trials: int
    groups: int  # per trial
    compared: int  # groups after which P and E are taken

    def _compute_figures(self, seed: int) -> dict[str, float]:
        relation = find_relation(self.program, self.relation)
        function, generator = programs[self.program].mutants[self.mutant], make_generator(self.generator, relation)
        numbers = np.zeros(self.groups, dtype=np.int64)
        verdicts = np.stack(
            [
                find_violations(
                    function,
                    [relation],
                    numbers,
                    generator.clone(make_trial_rng(seed, trial)).propose(self.groups).sources,
                )
                for trial in range(self.trials)
            ]
        )
        order = np.cumsum(verdicts, axis=1)
        second = [float(np.argmax(row == 2) - np.argmax(row == 1)) for row in order if row[-1] > 1]
        measures = f_measures(verdicts)
        figures = {
            "F": estimate_mean(measures.counts.tolist()),
            "F2": estimate_mean(second),
            "P, %": from_bounds(p_measure(measures, self.compared), self.trials).times(100),
            "E": from_bounds(e_measure(verdicts, self.compared), self.trials),
        }
        return {key: number for name, figure in figures.items() for key, number in label_figure(name, figure).items()}


def build_measure_table(bench: Workbench) -> list[Row]:
    """Build the table of four measures of generators on the two known mutants of tanh."""
    rows = []
    for mutant, _ in MUTANTS if bench.scale.trials >= MIN_REAL_TRIALS else MUTANTS[:1]:
        rate = compute_rate("tanh", mutant, ("tripling",))
        compared = round(1 / rate)
        note = f"{F2_NOTE} {AT_NOTE.format(compared)}"
        for generator in MEASURED_GENERATORS:
            trials = max(1, limit_trials(bench.scale, rate) // GROUPS_PER_EXPECTED)
            job = Measuring(
                "tanh", mutant, "tripling", generator, max(2, trials), GROUPS_PER_EXPECTED * compared, compared
            )
            for measure in ("F", "F2", "P, %", "E"):
                rows.append(bench.estimate(job, measure).to_row(f"tanh {mutant}, {generator}", measure, note))
    return rows


# -- kinds of regions ----------------------------------------------------------------------------------------------


def build_region_share_table(bench: Workbench) -> list[Row]:
    """Build the table of shares of region kinds, per program; nothing is run."""
    rows = []
    for name, program in programs.items():
        kinds = program.regions.loc[program.regions["rate"] > 0, "kind"]
        for kind in (*KINDS, "not classified"):
            share = estimate_share(int((kinds == kind).sum()), len(kinds))
            rows.append(share.to_row(name, f"{kind}, %", KIND_NOTE))
    return rows


@dataclass(frozen=True)
class FailureRegions(GroupJob):
    """Where mutants fail and where they violate a relation, on random groups."""

    program: str
    relation: str
    inputs: int

    def _compute_figures(self, seed: int) -> dict[str, float]:
        subject, sample = (
            programs[self.program],
            GroupSample.draw(find_relation(self.program, self.relation), self.inputs, seed),
        )
        right_answers, source_count = sample.query(subject), len(sample.relation.domain)
        figures: dict[str, float] = {}
        for id, mutant in subject.mutants.items():
            violated = sample.judge(mutant) == VIOLATED
            with np.errstate(all="ignore"):
                failing = [
                    ~np.isclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True).reshape(self.inputs, -1).all(axis=1)
                    for a, b in zip(sample.query(mutant), right_answers, strict=True)
                ]
            sources, follow_ups = np.any(failing[:source_count], axis=0), np.any(failing[source_count:], axis=0)
            shares = {
                "failures of sources, %": (sources, np.ones_like(sources)),
                "violations, %": (violated, np.ones_like(violated)),
                "violations where sources fail, %": (violated, sources),
                "violations where follow-ups fail, %": (violated, follow_ups),
            }
            for name, (flags, among) in shares.items():
                share = estimate_share(int((flags & among).sum()), int(among.sum()))
                figures |= label_figure(f"{id} {name}", share)
            if sample.draws.shape[1] <= MAX_BITMAP_DIMENSIONS:
                regions = {
                    "MRVR-S": sample.classify(violated).kind,
                    "MRVR-F": sample.classify_follow_ups(violated)[0].kind,
                    "failures": sample.classify(sources).kind,
                }
                figures |= {f"{id} {region} {kind}": 1.0 for region, kind in regions.items()}
        return figures


SHARES = (
    "failures of sources, %",
    "violations, %",
    "violations where sources fail, %",
    "violations where follow-ups fail, %",
)


def build_failure_table(bench: Workbench) -> list[Row]:
    """Build the table of violation rates and regions beside failure rates and regions, per mutant."""
    rows, inputs = [], min(100_000, 100 * bench.scale.trials)
    for program, relation in dict.fromkeys(RELATIONS.values()):
        if program not in choose_programs(bench.scale):
            continue
        job = FailureRegions(program, relation, inputs)
        for mutant in programs[program].mutants:
            kinds = [
                f"{region} {kind}"
                for region in ("failures", "MRVR-S", "MRVR-F")
                for kind in KINDS
                if bench.has_figure(job, f"{mutant} {region} {kind}")
            ]
            label = f"{program}, {relation}, {mutant}" + (f" ({', '.join(kinds)})" if kinds else "")
            rows += [bench.estimate(job, f"{mutant} {share}").to_row(label, share, FAILURE_NOTE) for share in SHARES]
    return rows


# -- k from 1 to 10 ------------------------------------------------------------------------------------------------------


def build_k_table(bench: Workbench) -> list[Row]:
    """Build the table of MRGS-ART with k from 1 to 10: F-ratios to a random choice, and seconds."""
    scale, rows = bench.scale, []
    pairs = 10_000 if scale.trials >= MIN_REAL_TRIALS else 500
    for program, names in PROGRAM_RELATIONS if scale.trials >= MIN_REAL_TRIALS else PROGRAM_RELATIONS[:1]:
        relations = parse_relations(names)
        mutant = choose_moderate_mutant(program, relations)
        limits = (scale.trials, limit_budget(scale, "", max_groups=MAX_PAIRS_PER_TRIAL), scale.groups)
        base = Selecting(program, mutant, relations, "random", 1, *limits)
        for k in K_VALUES:
            job = Selecting(program, mutant, relations, "MRGS-ART", k, *limits)
            note = " ".join((K_NOTE, *describe_censored(bench, job, base)))
            place = f"{program} {mutant}, {names}"
            rows.append(compute_ratio(bench, job, base).to_row(f"{place}, F-ratio %", f"k={k}", note))
            seconds = bench.figure(Pairing(program, relations, "MRGS-ART", k, pairs), "generation")
            rows.append(Row(f"{place}, s", f"k={k}", math.nan, seconds, SECONDS_NOTE.format(pairs)))
    return rows
