"""Test systems: marked functions of a class or module, and the laws of their moves and distances."""
