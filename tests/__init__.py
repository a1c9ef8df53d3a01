"""Tests of datamorphic: a package, so that no installed package of the same name hides them from child processes."""
