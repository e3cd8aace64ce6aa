"""Designs: ways to choose the numbers of a mechanism. They may use floats; privacy never depends on it."""
