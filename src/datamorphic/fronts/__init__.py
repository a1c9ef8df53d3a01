"""Fronts: the border points an exploration returns, and what can be learned from them."""
