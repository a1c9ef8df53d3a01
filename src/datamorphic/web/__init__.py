"""The studio: a web page where a tester works with clicks (``datamorphic web``)."""
