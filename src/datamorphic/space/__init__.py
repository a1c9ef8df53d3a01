"""Inputs and answers: features, spaces, points, outputs, and the geometry of spaces."""
