"""Parts that several pages of the studio share."""
