"""The central ε of mixed reports."""
