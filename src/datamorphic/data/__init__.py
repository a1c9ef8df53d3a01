"""Data sets, loan books, product catalogues, coded classifiers, reference learners and programs.

Names are imported on first use: most users need one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import list_modules, make_getattr

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

_MODULES = list_modules(
    {
        "loans.attributes": "replace_sentinels",
        "loans.book": "make_loan_book",
        "loans.book_file": "read_loan_book",
        "loans.freddie_mac": "read_freddie_mac",
        "loans.german_credit": "load_german_credit",
        "loans.true_risk": "default_probability",
        "pattern_examples": "ExampleSystem example_systems",
        "products": "make_product_queries make_products",
        "sets": "available load",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = make_getattr(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
