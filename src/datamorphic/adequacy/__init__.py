"""Is a test set good enough for trees: which leaves it reaches, which mutants it kills, and what is missing."""
