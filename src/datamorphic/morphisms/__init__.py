"""Test systems: marked functions of a class or module, and their laws."""
