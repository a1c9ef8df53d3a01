"""Defects of all kinds in models, data and references, and good models: tested on rows that the models were not fitted to."""
