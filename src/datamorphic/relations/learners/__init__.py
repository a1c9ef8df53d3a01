"""Relations of learners: changes of training data and their effect on labels."""
