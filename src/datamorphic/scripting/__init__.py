"""Scripts: record what is done with a test system, edit it, and replay it."""
