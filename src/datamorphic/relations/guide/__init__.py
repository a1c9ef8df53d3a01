"""The guide: a walk from a pattern to a relation of a system, saved as code with a test (Ying 2024, section 6.4)."""
