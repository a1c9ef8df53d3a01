"""Loan books: a synthetic one with a known law of default, and readers of real ones."""
