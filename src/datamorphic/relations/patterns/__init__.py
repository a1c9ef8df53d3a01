"""Patterns of metamorphic relations: input and output patterns that compose into relations with ``>>``."""
