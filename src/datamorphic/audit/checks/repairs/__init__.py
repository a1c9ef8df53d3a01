"""The repair search: changes of inputs, or of answers, after which the answers fit the labels clearly better."""
