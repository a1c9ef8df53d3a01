"""Data sets, loan books, product catalogues, coded classifiers, reference learners and programs.

Names are imported on first use: most users need one of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .loans.attributes import replace_sentinels as replace_sentinels
    from .loans.book import make_loan_book as make_loan_book
    from .loans.book_file import read_loan_book as read_loan_book
    from .loans.freddie_mac import read_freddie_mac as read_freddie_mac
    from .loans.german_credit import load_german_credit as load_german_credit
    from .loans.true_risk import default_probability as default_probability
    from .pattern_examples import ExampleSystem as ExampleSystem
    from .pattern_examples import example_systems as example_systems
    from .products import make_product_queries as make_product_queries
    from .products import make_products as make_products
    from .sets import available as available
    from .sets import load as load

_MODULES = {
    "ExampleSystem": "pattern_examples",
    "available": "sets",
    "default_probability": "loans.true_risk",
    "example_systems": "pattern_examples",
    "load": "sets",
    "load_german_credit": "loans.german_credit",
    "make_loan_book": "loans.book",
    "make_product_queries": "products",
    "make_products": "products",
    "read_freddie_mac": "loans.freddie_mac",
    "read_loan_book": "loans.book_file",
    "replace_sentinels": "loans.attributes",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
