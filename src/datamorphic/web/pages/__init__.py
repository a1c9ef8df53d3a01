"""The pages of the studio, one module per entry of the navigation."""
