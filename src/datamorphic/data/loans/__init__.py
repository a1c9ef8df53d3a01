"""Loan books: a synthetic one whose true risk is known, and readers of real ones."""
