"""Routes on maps: section 6.6 of Ying (2024) on Google Maps and Baidu Maps, ours on Valhalla and the centre of Helsinki.

The section has no table; it reports violations among 100 groups per relation in its text.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..relations.catalogue.routes import route_relations
from ..relations.check.run import check
from ..systems.router import ValhallaRouter, find_sample_extract
from .intervals import estimate_share, label_figure
from .rows import Row
from .workload import Figures, Job, Scale, Workbench

#: violations among 100 groups, by relation and system
PUBLISHED_VIOLATIONS = {
    ("routes.MR2", "Google Maps"): 0,
    ("routes.MR2", "Baidu Maps"): 0,
    ("routes.HMR4", "Google Maps"): 4,
    ("routes.HMR4", "Baidu Maps"): 5,
}
OWN_RELATIONS = ("routes.symmetry", "routes.sub-route", "routes.waypoint")
COLUMN = "violations per 100 groups"
SYSTEM_NOTE = "Ours is Valhalla on the centre of Helsinki, on foot, between random named places."
THRESHOLD_NOTE = "Coordinates have 4 decimals; routes are similar up to 10% or 0.1 km, and 10% or 1 min. The thesis states no thresholds."
OWN_NOTE = "Not published."


def format_amount(scale: Scale) -> str:
    """Describe how much is measured."""
    return f"{scale.inputs} groups per relation"


@dataclass(frozen=True)
class RouteCheck(Job):
    """The violations of one relation of routes."""

    relation: str
    groups: int

    def _compute_figures(self, seed: int) -> Figures:
        with ValhallaRouter(find_sample_extract()) as router:
            relation = route_relations(router)[self.relation]
            report = check(
                router,
                router.draw_routes(self.groups, seed=seed),
                [relation],
                inputs=self.groups,
                seed=seed,
                shrink=False,
                progress=False,
            )
        (entry,) = report.entries
        return label_figure(COLUMN, estimate_share(entry.violated, entry.judged))


def build_route_table(bench: Workbench) -> list[Row]:
    """Build the comparison of section 6.6, with our own relations below."""
    rows = []
    for (relation, system), violations in PUBLISHED_VIOLATIONS.items():
        ours = bench.estimate(RouteCheck(relation, bench.scale.inputs), COLUMN)
        notes = [SYSTEM_NOTE, *([THRESHOLD_NOTE] if relation == "routes.HMR4" else [])]
        rows.append(ours.to_row(f"{relation}, {system}", COLUMN, " ".join(notes), violations))
    for relation in OWN_RELATIONS:
        ours = bench.estimate(RouteCheck(relation, bench.scale.inputs), COLUMN)
        rows.append(ours.to_row(relation, COLUMN, OWN_NOTE))
    return rows
