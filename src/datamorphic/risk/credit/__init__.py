"""Credit-risk models: how well they rank borrowers, and whether they keep what a lender expects of them."""
