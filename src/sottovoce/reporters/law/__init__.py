"""The exact law of a reporter: operator, moments, worst case."""
