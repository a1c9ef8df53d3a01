"""Hunt violations of relations, group after group, until one is found; and measure regions, groups and generators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import list_modules, make_getattr

if TYPE_CHECKING:
    from .generators import make_generator as make_generator
    from .measures import discrepancy as discrepancy
    from .measures import dispersion as dispersion
    from .measures import measure_spread as measure_spread
    from .regions import draw_region as draw_region
    from .selectors import make_selector as make_selector
    from .violation_regions import classify_region as classify_region

_MODULES = list_modules(
    {
        "generators": "make_generator",
        "measures": "discrepancy dispersion measure_spread",
        "regions": "draw_region",
        "selectors": "make_selector",
        "violation_regions": "classify_region",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = make_getattr(__name__, _MODULES)
