"""Relations of clusterers: changes of rows and their effect on the clusters."""
