"""The public functions: they put floors together and hold no algorithm."""
