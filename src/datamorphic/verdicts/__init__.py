"""What became of relations that were put to a learner or a model: reports, examples, pages."""
