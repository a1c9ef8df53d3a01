"""Strategies: they ask questions and are told answers, and know neither systems nor stores."""
