"""Differences, comparisons, trends, quantities."""
