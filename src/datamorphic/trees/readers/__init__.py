"""Readers of the trees of models, one for each library."""
