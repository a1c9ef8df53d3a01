"""Hunts: relations put to a system, group after group, until one is violated."""
