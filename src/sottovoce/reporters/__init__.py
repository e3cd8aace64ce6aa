"""Everything that reports: one contract, and each kind as exact integers."""
