"""Hunt violations of relations, group after group, until one is found."""
