"""Data sets, loan books, product catalogues, coded classifiers, reference learners and programs."""

from .example_systems import ExampleSystem, example_systems
from .loans.attributes import replace_sentinels
from .loans.book import make_loan_book
from .loans.book_file import read_loan_book
from .loans.freddie_mac import read_freddie_mac
from .loans.german_credit import load_german_credit
from .loans.true_risk import default_probability
from .products import make_product_queries, make_products
from .sets import available, load

__all__ = [
    "ExampleSystem",
    "available",
    "default_probability",
    "example_systems",
    "load",
    "load_german_credit",
    "make_loan_book",
    "make_product_queries",
    "make_products",
    "read_freddie_mac",
    "read_loan_book",
    "replace_sentinels",
]
