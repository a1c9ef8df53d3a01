"""What all capabilities share: options, the door through which they run, and results."""
