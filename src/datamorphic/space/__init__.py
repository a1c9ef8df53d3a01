"""Inputs and answers: features, spaces, points, outputs and geometry."""
