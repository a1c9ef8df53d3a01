"""The layout: which room may import which, and what every module keeps to."""
