"""Systems under test: anything that answers a batch of inputs."""
