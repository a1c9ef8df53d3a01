"""Test systems: marked functions, collected and verified, and the laws they must keep."""
