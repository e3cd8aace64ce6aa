"""The exact ε of anything that reports."""
