"""Ready-made relations of models, texts, images, routes, searches, translations and credit decisions, all by name."""
