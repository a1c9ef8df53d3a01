"""Metamorphic relations: change the input in a known way, and the answer must change in a known way."""
