"""Arrays in, axes out; tables of results."""
