"""`dm.optimise`: improve a test set by the genetic algorithms of Morphy."""
