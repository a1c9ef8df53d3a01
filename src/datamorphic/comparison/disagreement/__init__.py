"""Search for inputs on which two systems that must be one answer differently."""
