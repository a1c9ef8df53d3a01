"""Trees in PMML files: read and written."""
