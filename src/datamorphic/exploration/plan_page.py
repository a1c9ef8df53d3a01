"""Plans as a page."""

from __future__ import annotations

from .._text import pluralise
from ..reporting.document import Page, Section, Table
from .plan import ExplorationPlan

DISTANCES_LISTED = (1, 2, 3, 5, 8, 12, 20, 30, 50, 100)
MAX_ANSWERS = 6


def build_page(plan: ExplorationPlan, brief: bool = False) -> Page:
    """Return a page with the recommendation, and what each strategy would find; the short form has no explanations."""
    shares = sorted(plan.shares.items(), key=lambda item: -item[1])
    answers = ", ".join(f"{label} {share:.0%}" for label, share in shares[:MAX_ANSWERS])
    facts = [*_list_recommendations(plan), ("Trial", pluralise(plan.spent, "run"))]
    if answers:
        facts.append(("Answers to the seed cases", f"{answers}{', ...' if len(shares) > MAX_ANSWERS else ''}"))
    if plan.unfinished:
        facts.append(("Not finished", ", ".join(plan.unfinished)))
    return Page(
        title=f"Plan of an exploration of {plan.subject}",
        subject=plan.subject,
        lead="Each strategy made a few walks. What they found and cost is what more walks may be expected to find and cost.",
        verdict=plan.headline,
        state="good" if plan.best else "warn",
        facts=facts,
        sections=[
            _build_strategies(plan, brief),
            *_build_distances(plan, brief),
            *([] if brief else _build_formula(plan)),
        ]
        if plan.best
        else [],
    )


def _list_recommendations(plan: ExplorationPlan) -> list[tuple[str, str]]:
    distance = f"walk distance {plan.walk_distance}{_format_steps(plan)}"
    if plan.best == "random_target":
        return [("Recommended", plan.best), ("For random walks", distance)]
    return [("Recommended", f"{plan.best}, {distance}")] if plan.best else []


def _build_strategies(plan: ExplorationPlan, brief: bool) -> Section:
    rows = [
        [
            row.strategy,
            f"{row.capability:.1%}",
            f"{row.pairs:,.0f}",
            f"{row.runs:,.0f}",
            _format_time(row.seconds),
            f"{row.cost:.1f}" if row.capability else None,
        ]
        for row in plan.table.itertuples()
    ]
    return Section(
        heading=f"What {pluralise(plan.walks, 'walk')} of each strategy may be expected to find and cost",
        text=""
        if brief
        else "Capability: the share of walks that find a border pair. Cost: runs for each of a pair's two cases.",
        table=Table(columns=["strategy", "capability", "pairs", "runs", "time", "cost"], rows=rows, sortable=False),
    )


def _build_distances(plan: ExplorationPlan, brief: bool) -> list[Section]:
    """Return the yield by walk distance of the strategy that the walk distance is recommended for, if it was tried."""
    strategy = "random_walk" if plan.best == "random_target" else plan.best
    curve = plan.curve[(plan.curve.strategy == strategy) & (plan.curve.step_factor == plan.step_factor)]
    if not len(curve):
        return []
    best = max(curve.balance.max(), 1e-300)
    rows = [
        [row.walk_distance, f"{row.capability:.1%}", f"{row.cost:.1f}", f"{row.balance / best:.0%}"]
        for row in curve[curve.walk_distance.isin({*DISTANCES_LISTED, plan.walk_distance})].itertuples()
    ]
    return [
        Section(
            heading=f"{strategy} by walk distance{_format_steps(plan)}",
            text="" if brief else "A walk of more steps meets more borders, and costs more runs.",
            table=Table(
                columns=["walk distance", "capability", "cost", "balance"],
                rows=rows,
                note="balance: capability times capability per cost, compared with the best distance",
                sortable=False,
            ),
        )
    ]


def _build_formula(plan: ExplorationPlan) -> list[Section]:
    """Return what the strategies find by formula, if the seed cases were answered."""
    if not plan.shares:
        return []
    rows = [
        [row.strategy, f"{row.capability:.1%}", f"{row.cost:.1f}" if row.capability else None]
        for row in plan.predict().itertuples()
    ]
    return [
        Section(
            heading=f"By formula, at walk distance {plan.walk_distance}",
            text="Random target: how often two random answers differ. Walks: the crossings of their first step, times the steps. That is "
            "an upper bound, which walks miss where borders are near to each other.",
            table=Table(columns=["strategy", "capability", "cost"], rows=rows, sortable=False),
        )
    ]


def _format_steps(plan: ExplorationPlan) -> str:
    return "" if plan.step_factor == 1 else f", steps {plan.step_factor:g} times as large"


def _format_time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
