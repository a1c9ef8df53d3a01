"""Data sets, loan books, coded classifiers, reference learners and programs."""

from .loans.attributes import replace_sentinels
from .loans.book import make_loan_book
from .loans.law import default_probability
from .sets import available, load

__all__ = ["available", "default_probability", "load", "make_loan_book", "replace_sentinels"]
