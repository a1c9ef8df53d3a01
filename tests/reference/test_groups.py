"""Compiled generators make the groups of the plain ones, bit by bit."""
