"""Canonical text, digest, checked JSON: text only, knows no reporter."""
