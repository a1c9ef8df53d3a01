"""The check "drift": what changed between the reference and the data, and what of it costs accuracy."""
