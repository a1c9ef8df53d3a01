"""The check of features that know the label. Its modules build on each other in the order rows, skills, signs, encodings, check."""
