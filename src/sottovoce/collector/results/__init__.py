"""What is published, and the process that computes it."""
