"""What every answer is made of: counts in, checks, units, arithmetic, and a word about a better design."""
