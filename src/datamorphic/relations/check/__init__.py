"""``dm.check``: check learners and models against relations."""
