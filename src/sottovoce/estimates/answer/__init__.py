"""Counting, units, arithmetic, a better design: what every answer is made of."""
