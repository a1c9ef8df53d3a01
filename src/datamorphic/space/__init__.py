"""Feature spaces: what inputs there are, and how one gets from one to another."""
