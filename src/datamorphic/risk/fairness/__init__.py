"""Fairness as relations: decisions that depend on protected attributes, alone, together, or through stand-ins."""
