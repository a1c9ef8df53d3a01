"""What a test says of a model, in one line; with pytest and without."""
