"""Metamorphic relations: a known change of inputs and its effect on answers."""
