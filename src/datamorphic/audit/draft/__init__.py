"""Drafts of test systems, written from a model and data."""
