"""New test cases from old ones: combination and optimisation."""
