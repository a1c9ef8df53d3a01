"""What relations are made of: changes of inputs, expectations about answers, verdicts, and one shrinker."""
