"""Table 18 of Ying (2024): violations of robustness by translators, beside those of Apertium."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..data.sentences import load_sentences
from ..relations.catalogue.translation import VIOLATION_TYPES, translation_relations
from ..relations.check.run import check
from ..systems.translator import ApertiumTranslator, explain_missing_apertium
from .intervals import estimate_share, label_figure
from .published import Kind, published
from .rows import Row, iterate_figures, make_row
from .workload import Figures, Job, Scale, Workbench

PAIR = "eng-spa"
PER_HUNDRED_NOTE = "Ours: Apertium, English to Spanish, violations per 100 groups; it cannot translate Chinese, as the published ones did."
GROUPS_NOTE = (
    "Ours: the groups of the relation with the fewest. The sentences are our own; the published ones are not printed."
)
OTHERS = (Kind.SYSTEM, Kind.DATA)
COUNT_NOTE = "Ours only. Section 6.7.3 says that all three translators satisfy MR3 and HMR5; there is no figure."


@dataclass(frozen=True)
class TranslationChecks(Job):
    """The relations of machine translation on Apertium, on every `step`-th of our sentences."""

    pair: str
    step: int = 1

    def _compute_figures(self, seed: int) -> Figures:
        relations = translation_relations()
        if explain_missing_apertium(self.pair):
            return {
                f"{name} {measure}": math.nan
                for name in relations
                for measure in ("groups", "violations", *VIOLATION_TYPES)
            }
        frame = load_sentences().iloc[:: self.step]
        with ApertiumTranslator(self.pair) as translator:
            report = check(translator, frame, list(relations.values()), seed=seed, shrink=False)
        figures: dict[str, float] = {}
        for entry in report.entries:
            figures[f"{entry.relation} groups"] = float(entry.judged)
            counts = {"violations": entry.violated, **{name: entry.types.get(name, 0) for name in VIOLATION_TYPES}}
            for name, count in counts.items():
                share = estimate_share(count, entry.judged, factor=entry.judged)
                figures |= label_figure(f"{entry.relation} {name}", share)
        return figures


def format_amount(scale: Scale) -> str:
    """Describe how much is measured."""
    return f"{len(load_sentences().iloc[:: _choose_step(scale)])} texts of one or two sentences"


def _choose_step(scale: Scale) -> int:
    return 8 if scale.repetitions == 1 else 1


def _explain_missing() -> list[str]:
    reason = explain_missing_apertium(PAIR)
    return [f"Not measured. {reason}"] if reason else []


def build_violation_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 18: violations of MRR1 to MRR8 by three translators, by type, beside those of Apertium."""
    job = TranslationChecks(PAIR, _choose_step(bench.scale))
    missing_notes, rows = _explain_missing(), []
    robustness = [name for name in translation_relations() if ".MRR" in name]
    for figure in iterate_figures(published(table)):
        if figure.measure == "groups":
            fewest = min(bench.figure(job, f"{name} groups") for name in robustness)
            rows.append(
                make_row(
                    figure, table, figure.strategy, ours=fewest, notes=missing_notes or [GROUPS_NOTE], kinds=OTHERS
                )
            )
            continue
        name = f"translation.{figure.subject}"
        count = bench.estimate(job, f"{name} {figure.measure.removeprefix('type ')}")
        ours = count.times(100 / bench.figure(job, f"{name} groups"))
        rows.append(
            make_row(
                figure,
                table,
                figure.subject,
                figure.strategy,
                ours=ours,
                notes=missing_notes or [PER_HUNDRED_NOTE],
                kinds=OTHERS,
            )
        )
    return rows


def build_count_table(bench: Workbench) -> list[Row]:
    """Build the table of all relations on Apertium: groups and violations, as counts."""
    job = TranslationChecks(PAIR, _choose_step(bench.scale))
    notes = _explain_missing() or [COUNT_NOTE]
    return [
        bench.estimate(job, f"{name} {measure}").to_row(name, column, notes[0])
        for name in translation_relations()
        for column, measure in {
            "groups": "groups",
            "violations": "violations",
            **{f"type {name}": name for name in VIOLATION_TYPES},
        }.items()
    ]
