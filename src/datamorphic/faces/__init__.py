"""Faces: the command line; every face calls verbs only."""
