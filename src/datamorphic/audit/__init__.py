"""Audits of models: `dm.test`, and drafts of test systems for ``datamorphic init``."""
