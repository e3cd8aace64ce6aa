"""Integers where floats would leak: bounds of e^ε, budgets, rows that keep ε by counting."""
