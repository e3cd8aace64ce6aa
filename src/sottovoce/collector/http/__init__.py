"""What HTTP asks for: bodies, limits, problems."""
