"""Metamorphic groups: which inputs to try next, and which relation on them."""
