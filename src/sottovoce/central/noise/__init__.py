"""Exact integer noise of the central model."""
