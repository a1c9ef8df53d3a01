"""Relations of learners: training data change in a known way, and so must the labels."""
