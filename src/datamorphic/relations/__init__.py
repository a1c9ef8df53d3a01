"""Metamorphic relations: a known change of the input implies a known change of the answer."""
