"""Decision trees as arrays: how rows fall through them, which leaves they reach, and trees that stand in for systems."""
