"""Decision trees as arrays: read, evaluate, mutate and cover them."""
