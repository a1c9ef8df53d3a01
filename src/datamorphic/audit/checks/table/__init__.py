"""What the table itself shows, without a model: copies, spellings, codes for missing values, units, impossible values."""
