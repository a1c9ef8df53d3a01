"""Decision trees as arrays: reading them, sending rows through them, mutating and covering them."""
