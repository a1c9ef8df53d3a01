"""A test system written for a model: what might be done to its inputs, what it might promise, and that as code."""
